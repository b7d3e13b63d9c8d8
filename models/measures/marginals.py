"""How far each column's distribution is from that of the training rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field

from models.evidence import Evidence
from models.finding import Finding, Group, Unit
from models.measures import Measure
from models.randomness import Seed
from models.schema import Column
from models.table import Floats, Integers, Table

SOURCE = "Project policy: wide, so that it stops a table in which a column was not modelled, and no more than that."


class Marginals(Measure):
    """Distances of single columns, 0 (the same) to 1 (nothing in common), beside those of held-out rows.

    Levels: total variation, missing being a level. Numbers: the larger of the Kolmogorov-Smirnov distance of the
    present values and the difference of the missing shares. The distances are facts about the given tables, so they
    have no interval. The worst column is the one that exceeds the held-out rows' distance by most, so that what few
    rows and many levels bring about by chance is not held against it; by default its excess is gated at 0.2. A limit of
    null reports without gating.
    """

    kind: Literal["marginals"] = "marginals"
    worst: float | None = Field(default=0.2, ge=0, le=1, description="limit of the worst column's excess")
    mean: float | None = Field(default=None, ge=0, le=1, description="limit of the mean distance")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        drawn = column_distances(evidence.train, evidence.synthetic)
        unseen = column_distances(evidence.train, evidence.holdout)
        at = int(np.argmax(drawn - unseen))
        shared: dict[str, Any] = {
            "measure": self.kind,
            "group": Group.FIDELITY,
            "unit": Unit.SHARE,
            "n": len(evidence.synthetic),
            "source": SOURCE,
        }
        known = bool(len(evidence.holdout))
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


def column_distances(one: Table, other: Table) -> Floats:
    """The distance of each column's two distributions, shape (columns,), in [0, 1]; 0 where a table has no rows."""
    if not len(one) or not len(other):
        return np.zeros(len(one.columns))
    return np.array([_distance(c, one.values[:, j], other.values[:, j]) for j, c in enumerate(one.columns)])


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
    at = np.concatenate([one, other])
    below = [np.searchsorted(np.sort(side), at, side="right") / len(side) for side in (one, other)]
    return float(np.abs(below[0] - below[1]).max())
