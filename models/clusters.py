"""Rows as points in which all columns count alike, and the step from labels of rows to an assignment of clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from models.partition import Assignment, Cluster, Clustering
from models.randomness import Seed, one_thread
from models.table import Floats, Integers, Table
from models.validator import Encoder

LEAST_ROWS, LEAST_SHARE = 50, 0.05
"""No cluster has fewer rows, nor a smaller share of them: too few to learn from, and too few to hide among."""

MOST = round(1 / LEAST_SHARE)
"""There cannot be more clusters."""

LOOKED_AT = 10_000
"""Centres are looked for among at most so many rows, drawn at random; all rows go to the nearest one."""

STARTS = 3
"""So many times centres are drawn anew (k-means++), and the best end counts."""

BLOCK = 65_536
"""So many rows at a time become points."""

Placing = Callable[[Table], Integers]
"""The cluster of every row of a table, shape (rows,)."""


def cluster_names(count: int) -> tuple[str, ...]:
    """``cluster-1`` to ``cluster-<count>``."""
    return tuple(f"cluster-{number}" for number in range(1, count + 1))


def fewest(rows: int) -> int:
    """How many of ``rows`` rows a cluster has at least."""
    return max(LEAST_ROWS, ceil(LEAST_SHARE * rows))


@dataclass(frozen=True)
class Scaling:
    """Turns rows into points between which every column counts alike: the variances of its features add up to 1.

    Features are those of ``models.validator.Encoder``: standardised numbers, one for each common level, one for missing
    cells where there are any. Had each of them the variance 1, a column of ten levels would outweigh nine numbers, and
    its rarest levels all others. Columns in which all rows are alike count nothing.
    """

    encoders: Mapping[str, Encoder]
    weights: Mapping[str, float]

    @classmethod
    def of(cls, table: Table) -> Scaling:
        encoders = {name: Encoder.of(table.select([name])) for name in table.names}
        variances = {
            name: float(encoder.encode(table.select([name])).var(axis=0, dtype=np.float64).sum())
            for name, encoder in encoders.items()
        }
        weights = {name: 1 / sqrt(variance) for name, variance in variances.items() if variance > 1e-12}
        return cls({name: encoders[name] for name in weights}, weights)

    def points(self, table: Table) -> Floats:
        """Shape (rows, features)."""
        weighted = [
            weight * self.encoders[name].encode(table.select([name])).astype(np.float64)
            for name, weight in self.weights.items()
        ]
        return np.hstack([np.zeros((len(table), 1)), *weighted])

    def nearest(self, table: Table, centres: Floats) -> Integers:
        """Which of ``centres``, shape (centres, features), each row is nearest to; of equally near ones the first."""
        found = [np.empty(0, dtype=np.int64)]
        with one_thread():
            for block in _blocks(len(table)):
                # The square of a point's own length, which all its distances share, is left out.
                points = self.points(table.take(block))
                found.append(np.argmin(np.sum(centres**2, axis=1) - 2 * points @ centres.T, axis=1))
        return np.concatenate(found)

    def centres(self, table: Table, labels: Integers, count: int) -> Floats:
        """The mean point of the rows of each label, shape (count, features); zeros where a label has no row."""
        sums = np.zeros((count, self.points(table.take(slice(0, 0))).shape[1]))
        for block in _blocks(len(table)):
            features = self.points(table.take(block)).T
            sums += np.stack([np.bincount(labels[block], feature, count) for feature in features], axis=1)
        means: Floats = sums / np.maximum(np.bincount(labels, minlength=count), 1)[:, None]
        return means


def elbow(curve: Floats) -> int:
    """The number of clusters at which the within-cluster sum of squares lies farthest below its chord.

    ``curve`` has it for 1, 2, ... clusters, three numbers at least, not growing but for bad luck. 1 where it is zero
    from the start, or nowhere below the chord.
    """
    fall = curve[0] - curve[-1]
    if fall <= 1e-9 * max(1.0, float(curve[0])):
        return 1
    chord = np.linspace(1.0, 0.0, len(curve))
    return int(np.argmax(chord - (curve - curve[-1]) / fall)) + 1


@dataclass(frozen=True, eq=False)
class Alike:
    """Rows that are alike: their labels, shape (rows,), not all of which need occur, of the ``sought`` ones."""

    labels: Integers
    sought: int


def alike(table: Table, k: int | None, most: int, seed: Seed) -> Alike:
    """``k`` clusters by k-means, or as many as the elbow says, up to ``most``; too small ones went to the nearest."""
    scaling = Scaling.of(table)
    points = scaling.points(_drawn(table, seed.child("rows")))
    centres = _centres(points, k, most, seed.child("kmeans").integer())
    return Alike(large_enough(table, scaling.nearest(table, centres), len(centres)), len(centres))


def _centres(points: Floats, k: int | None, most: int, random_state: int) -> Floats:
    """Shape (clusters, features); as many as there are different points where these are fewer."""
    different = len(np.unique(points, axis=0))
    if k is not None:
        return _fitted(points, min(k, different), random_state)[0]
    tried = [_fitted(points, count, random_state) for count in range(1, min(most, different) + 1)]
    curve = [within for _, within in tried] + [0.0] * (most - len(tried))
    return tried[elbow(np.array(curve)) - 1][0]


def _drawn(table: Table, seed: Seed) -> Table:
    if len(table) <= LOOKED_AT:
        return table
    return table.take(np.sort(seed.generator().choice(len(table), LOOKED_AT, replace=False)))


def _fitted(points: Floats, k: int, random_state: int) -> tuple[Floats, float]:
    """The centres, shape (k, features), and the sum of squared distances of points to theirs."""
    from sklearn.cluster import KMeans

    with one_thread():
        fitted = KMeans(k, n_init=STARTS, random_state=random_state).fit(points)
    return np.asarray(fitted.cluster_centers_, dtype=np.float64), float(fitted.inertia_)


def by_centres(train: Table, assignment: Assignment) -> Placing:
    """Rows belong to the cluster to which the mean point of its training rows is nearest."""
    scaling = Scaling.of(train)
    centres = scaling.centres(train, assignment.rows, len(assignment.names))
    return lambda table: scaling.nearest(table, centres)


def large_enough(table: Table, labels: Integers, count: int) -> Integers:
    """``labels`` in 0 ... ``count`` - 1, with the smallest group given to the one whose centre is nearest, again and
    again, until none has fewer rows than ``fewest``, or one is left.
    """
    sizes, centres = np.bincount(labels, minlength=count), Scaling.of(table).centres(table, labels, count)
    left, home = np.flatnonzero(sizes), np.arange(count)
    while len(left) > 1 and sizes[left].min() < fewest(len(table)):
        smallest = left[sizes[left].argmin()]
        left = left[left != smallest]
        nearest = left[np.sum((centres[left] - centres[smallest]) ** 2, axis=1).argmin()]
        both = sizes[[nearest, smallest]]
        centres[nearest] = both @ centres[[nearest, smallest]] / both.sum()
        sizes[nearest] = both.sum()
        home[home == smallest] = nearest
    return home[labels]


def assigned(table: Table, labels: Integers, order: Sequence[int], reason: str, what: Sequence[str] = ()) -> Assignment:
    """The assignment whose first cluster is the label that comes first in ``order``, and so on.

    ``what`` says of the clusters, in their order, which rows they are.
    """
    rows = np.empty(len(labels), dtype=np.int64)
    for place, label in enumerate(order):
        rows[labels == label] = place
    names, sizes = cluster_names(len(order)), np.bincount(rows, minlength=len(order))
    clusters = tuple(
        Cluster(name=name, share=round(int(size) / len(labels), 2), what=said)
        for name, size, said in zip(names, sizes, what or [""] * len(order), strict=True)
    )
    return Assignment(Clustering(reason=reason, clusters=clusters, columns=table.names), rows)


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, rows)) for start in range(0, rows, BLOCK))
