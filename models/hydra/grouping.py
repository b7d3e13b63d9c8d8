"""Whether rows form groups at all, so that a head for each of them has something of its own to learn."""

from __future__ import annotations

import numpy as np

from models.clusters import Scaling, alike
from models.generators.copula import Copula
from models.randomness import Seed
from models.table import Integers, Table

MOST = 8
"""The elbow is looked for among so many clusters."""

GROUPED = 0.9
"""Clusters are groups where they leave less than so much of the variance that they would leave without any."""

LOOKED_AT = 5_000
"""So many rows decide about that."""

DRAWN = 3
"""So many tables without groups are drawn, and the best divided one counts: in small ones chance makes clusters."""


def grouped(table: Table, seed: Seed) -> Integers:
    """The cluster of every row by k-means and the elbow, or zeros where the rows form no groups. Not every label up to
    the largest need occur.

    Any table falls into clusters, those of correlated columns into large ones, and heads for these learn single rows
    rather than groups. So the variance within clusters is compared with the same for rows without groups: as many of a
    Gaussian copula's, which have the columns' distributions and correlations and nothing else.

    NOTE[DIFF]: the gap statistic (Tibshirani, Walther and Hastie, J. R. Stat. Soc. B 63, 2001) has uniform rows for
    that, beside which correlation alone is a group, and chooses the number of clusters, which the elbow does here.
    """
    labels = alike(table, None, MOST, seed).labels
    count = len(np.unique(labels))
    if count == 1:
        return labels
    looked = np.arange(len(table))
    if len(table) > LOOKED_AT:
        looked = np.sort(seed.child("looked at").generator().choice(looked, LOOKED_AT, replace=False))
    rows = table.take(looked)
    without = Copula().fit(rows, seed.child("copula"))
    least = 1.0
    for number in range(DRAWN):
        stream = seed.child(f"without groups/{number}")
        others = without.sample(len(rows), stream.child("rows"))
        least = min(least, left(others, alike(others, count, MOST, stream.child("clusters")).labels))
    return labels if left(rows, labels[looked]) < GROUPED * least else np.zeros_like(labels)


def left(table: Table, labels: Integers) -> float:
    """The share of the variance of all columns that is within clusters, 0 to 1, without errors of rounding."""
    scaling = Scaling.of(table)
    points = scaling.points(table)
    within = points - scaling.centres(table, labels, int(labels.max()) + 1)[labels]
    return round(float(np.sum(within**2) / np.sum((points - points.mean(axis=0)) ** 2)), 9)
