"""How far each column's distribution is from that of the training rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field

from models.classes import Classes
from models.evidence import Evidence
from models.finding import Finding, Group, Unit
from models.measures import Measure
from models.randomness import Seed
from models.schema import Column
from models.table import Floats, Integers, Table

SOURCE = "Project policy: wide, so that it stops a table in which a column was not modelled, and no more than that."
MOVED = "Wasserstein distance of order 1, in units of the training values' mean distance from their median."
VARIETY = "Shannon entropy of a column's classes; HydraGAN (arXiv 2111.07015) has the diversity of columns as an agent."
CLASSES = 20
"""Classes of a column whose variety is measured."""


class Marginals(Measure):
    """Distances of single columns, beside those of held-out rows; by default only the worst column is gated.

    *Worst column* and *mean over columns*: 0 (the same) to 1 (nothing in common). Levels: total variation, missing
    being a level. Numbers: the larger of the Kolmogorov-Smirnov distance of the present values and the difference of
    the missing shares. The worst column is the one that exceeds the held-out rows' distance by most, so that what few
    rows and many levels bring about by chance is not held against it; by default its excess is gated at 0.2.

    *Values moved*: how far the present values of a number would have to be moved, on average, to be distributed as the
    training values are (Wasserstein), over the training values' mean distance from their median: 0 the same, 1 what one
    value for everybody, the median, would give, and no upper end. Unlike the distances above it tells how far off the
    wrong values are. A column whose training values are all the same is measured in units of its schema bounds.

    *Variety lost*: how much smaller the entropy of a column is than in the training rows, as a share, on average. More
    variety than there was does not make up for less elsewhere. 0 also where the training rows have none.

    All are facts about the given tables and have no interval; a bootstrap of a distance is always larger than the
    distance. What chance does is seen in ``control``, and held-out rows are mostly fewer, so it is rather too large. No
    figure of single columns sees whether columns fit together. A limit of null reports without gating.
    """

    kind: Literal["marginals"] = "marginals"
    worst: float | None = Field(default=0.2, ge=0, le=1, description="limit of the worst column's excess")
    mean: float | None = Field(default=None, ge=0, le=1, description="limit of the mean distance")
    moved: float | None = Field(default=None, ge=0, description="limit of how far a column's values were moved")
    variety: float | None = Field(default=None, ge=0, le=1, description="limit of the variety lost")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        return (*self._distances(evidence), self._moved(evidence), self._variety(evidence))

    def _distances(self, evidence: Evidence) -> tuple[Finding, Finding]:
        drawn = column_distances(evidence.train, evidence.synthetic)
        unseen = column_distances(evidence.train, evidence.holdout)
        at = int(np.argmax(drawn - unseen))
        known, shared = bool(len(evidence.holdout)), {**self._shared(evidence), "unit": Unit.SHARE, "source": SOURCE}
        return (
            Finding(
                name="Worst column",
                question="How far is the worst column's distribution from the real one, beyond chance?",
                estimate=float(drawn[at] - unseen[at]),
                observed=float(drawn[at]),
                control=float(unseen[at]) if known else None,
                limit=self.worst,
                where=evidence.train.names[at],
                **shared,
            ),
            Finding(
                name="Mean over columns",
                question="How far are the columns' distributions from the real ones on average?",
                estimate=float(drawn.mean()),
                control=float(unseen.mean()) if known else None,
                limit=self.mean,
                **shared,
            ),
        )

    def _moved(self, evidence: Evidence) -> Finding:
        numbers = [column.name for column in evidence.train.columns if column.numeric]
        real, drawn, unseen = (t.select(numbers) for t in (evidence.train, evidence.synthetic, evidence.holdout))
        far, usual = moved(real, drawn), moved(real, unseen)
        known = ~np.isnan(far)
        at = int(np.nanargmax(far)) if known.any() else None
        return Finding(
            name="Values moved, worst column",
            question="How far from their place are the values of the number that was moved furthest?",
            unit=Unit.SCORE,
            estimate=None if at is None else float(far[at]),
            control=None if at is None or np.isnan(usual[at]) else float(usual[at]),
            baseline=1.0,
            limit=self.moved,
            where="" if at is None else numbers[at],
            reason="no number has values in both tables" if at is None else "",
            source=MOVED,
            **self._shared(evidence),
        )

    def _variety(self, evidence: Evidence) -> Finding:
        lost, usual = (variety_lost(evidence.train, table) for table in (evidence.synthetic, evidence.holdout))
        return Finding(
            name="Variety lost",
            question="How much less variety have the columns than in the training rows, on average?",
            unit=Unit.SHARE,
            estimate=float(lost.mean()),
            control=float(usual.mean()) if len(evidence.holdout) else None,
            baseline=1.0,
            limit=self.variety,
            source=VARIETY,
            **self._shared(evidence),
        )

    def _shared(self, evidence: Evidence) -> dict[str, Any]:
        return {"measure": self.kind, "group": Group.FIDELITY, "n": len(evidence.synthetic)}


def column_distances(one: Table, other: Table) -> Floats:
    """The distance of each column's two distributions, shape (columns,), in [0, 1]; 0 where a table has no rows."""
    if not len(one) or not len(other):
        return np.zeros(len(one.columns))
    return np.array([_distance(c, one.values[:, j], other.values[:, j]) for j, c in enumerate(one.columns)])


def moved(train: Table, other: Table) -> Floats:
    """The Wasserstein distance of each number's present values from those of ``train`` in units of their spread there.

    Shape (columns,); NaN where either side has no value. All columns are numbers.
    """
    return np.array(
        [
            _wasserstein(one[~np.isnan(one)], two[~np.isnan(two)], column)
            for column, one, two in zip(train.columns, train.values.T, other.values.T, strict=True)
        ]
    )


def variety_lost(train: Table, other: Table) -> Floats:
    """By how much the entropy of each column falls short of that in ``train``, as a share: shape (columns,)."""
    lost = np.zeros(len(train.columns))
    for j, column in enumerate(train.columns):
        classes = Classes.of(column, train.values[:, j], CLASSES)
        before, after = (_entropy(classes.shares(table.values[:, j])) for table in (train, other))
        lost[j] = max(0.0, 1 - after / before) if before > 0 else 0.0
    return lost


def _entropy(shares: Floats) -> float:
    present = shares[shares > 0]
    return -float(present @ np.log(present))


def _wasserstein(train: Floats, other: Floats, column: Column) -> float:
    """The area between the two distribution functions over the mean distance of ``train`` from its median."""
    if not len(train) or not len(other):
        return float("nan")
    at, below = _distribution_functions(train, other)
    area = float(np.abs(below[0] - below[1])[:-1] @ np.diff(at))
    spread = float(np.abs(train - np.median(train)).mean()) or column.high - column.low
    return area / spread if spread > 0 else 0.0


def _distance(column: Column, one: Floats, other: Floats) -> float:
    if not column.numeric:
        return _total_variation(_codes(column, one), _codes(column, other))
    missing = abs(float(np.isnan(one).mean()) - float(np.isnan(other).mean()))
    return max(missing, _kolmogorov_smirnov(one[~np.isnan(one)], other[~np.isnan(other)]))


def _codes(column: Column, cells: Floats) -> Integers:
    return np.nan_to_num(cells, nan=len(column.alphabet)).astype(np.int64)


def _total_variation(one: Integers, other: Integers) -> float:
    """Half the summed difference of the shares of each code; both not empty."""
    size = int(max(one.max(), other.max())) + 1
    p, q = (np.bincount(codes, minlength=size) / len(codes) for codes in (one, other))
    return float(np.abs(p - q).sum() / 2)


def _kolmogorov_smirnov(one: Floats, other: Floats) -> float:
    """The largest difference of the distribution functions; 1 where only one side has values, 0 where neither has."""
    if not len(one) or not len(other):
        return float(len(one) != len(other))
    _, below = _distribution_functions(one, other)
    return float(np.abs(below[0] - below[1]).max())


def _distribution_functions(one: Floats, other: Floats) -> tuple[Floats, list[Floats]]:
    """All values that occur, sorted, and for either side the share of its values at or below each of them."""
    at = np.unique(np.concatenate([one, other]))
    return at, [np.searchsorted(np.sort(side), at, side="right") / len(side) for side in (one, other)]
