"""Exact and near copies of training people, in excess of what chance brings about, for whole rows and for each part."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import Literal

import numpy as np
from pydantic import Field

from models.estimates import Estimate, excess, mean_count, scaled, share
from models.evidence import Closeness, Evidence, place
from models.finding import Finding, Group, Unit
from models.measures import Measure
from models.randomness import Seed
from models.schema import Frozen
from models.table import Floats, Table

SOURCE = (
    "Project policy: no official body gives a figure for copies in synthetic tables. A copy counts where the real row "
    "is unique, as in the replicated uniques of statistical disclosure control."
)
EXACT = "How many synthetic rows are, cell by cell, the row of one training person, beyond chance?"
NEAR = "How many training people have a synthetic row as close to them as hardly any stranger is, beyond chance?"


class Ceilings(Frozen):
    """Limits as shares of rows or people; null reports without gating."""

    exact: float | None = Field(default=None, ge=0, le=1)
    near: float | None = Field(default=None, ge=0, le=1)


class Copies(Measure):
    """Copies, counted on all rows.

    *Exact*: the share of synthetic rows that equal, in all columns of the view, a training row that is unique among all
    real rows. Control: the same for held-out rows, times the ratio of the two sets' sizes.

    *Near*: the share of training people who have a synthetic row at most as far away as the nearest 1 % of held-out
    people (``quantile``) are from a training person. Control: the same share of held-out people. Where the release
    has fewer rows than the training table, both shares are multiplied by the ratio, so that they count against the
    rows that were released.

    These controls are the chance rate of any synthetic table that was made without the held-out rows, whichever real
    rows it resembles most. NOTE[DIFF]: the usual control puts held-out rows in the place of the synthetic ones. Its
    rate is the chance rate only for a perfect generator; one that prefers typical rows comes closer to everybody, and
    would fail.

    With a control rate c, ``tolerance`` standard deviations of one match, sqrt(c (1 - c)), are added to the limits:
    where many strangers match by chance (a part of few columns), a match tells little about anybody, and a difference
    is harder to see. A tenth is what about 1,500 held-out people can resolve. The default limits, 0.1 and 0.5
    percentage points for whole rows and 1 for parts, are project policy. A release without any copy is certain to
    have none; otherwise the interval is that of a difference of two rates.
    """

    kind: Literal["copies"] = "copies"
    whole: Ceilings = Ceilings(exact=0.001, near=0.005)
    parts: Ceilings = Ceilings(exact=0.01, near=0.01)
    tolerance: float = Field(default=0.1, ge=0, le=1, description="standard deviations of a match, added to limits")
    quantile: float = Field(default=0.01, gt=0, lt=1, description="share of held-out people who count as near")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        return tuple(finding for view in evidence.views for finding in self._of_view(evidence, view))

    def _of_view(self, evidence: Evidence, view: str) -> tuple[Finding, Finding]:
        limits, columns = self.parts if view else self.whole, evidence.views[view]
        train, holdout, synthetic = (t.select(columns) for t in (evidence.train, evidence.holdout, evidence.synthetic))
        ratio = len(train) / len(synthetic)
        counts, control = _exact(train, holdout, synthetic)
        near, usual = self._near(evidence.closeness[view])
        return (
            self._finding("Exact copies", EXACT, counts, control, ratio, view, limits.exact, len(holdout)),
            self._finding("Near copies", NEAR, near, usual, max(1.0, ratio), view, limits.near, len(holdout)),
        )

    def _near(self, closeness: Closeness) -> tuple[Floats, Estimate | None]:
        if not len(closeness.strangers):
            return np.zeros(0), None
        near = float(np.quantile(closeness.strangers, self.quantile, method="inverted_cdf"))
        unseen = share(int(np.count_nonzero(closeness.holdout <= near)), len(closeness.holdout))
        return (closeness.train <= near).astype(np.float64), unseen

    def _finding(
        self,
        name: str,
        question: str,
        counts: Floats,
        control: Estimate | None,
        scale: float,
        view: str,
        limit: float | None,
        n: int,
    ) -> Finding:
        chance = scaled(control, scale) if control else None
        beyond = excess(counts, chance, scale) if chance else None
        return Finding(
            measure=self.kind,
            name=name,
            question=question,
            group=Group.PRIVACY,
            unit=Unit.SHARE,
            estimate=beyond.value if beyond else None,
            interval=beyond.interval if beyond else None,
            observed=float(counts.mean()) * scale if len(counts) else None,
            control=chance.value if chance else None,
            n=n,
            limit=limit if limit is None or chance is None else limit + self.tolerance * _spread(chance.value),
            where=place(view),
            reason="" if chance else "without held-out rows nothing tells a copy from a chance match",
            source=SOURCE,
        )


def _spread(rate: float) -> float:
    """Standard deviation of a match that happens at this rate."""
    return sqrt(min(rate, 1.0) * (1.0 - min(rate, 1.0)))


def _exact(train: Table, holdout: Table, synthetic: Table) -> tuple[Floats, Estimate | None]:
    """How many synthetic rows equal each training row that no other real row equals, and the mean of held-out rows."""
    known, unseen, drawn = _row_keys(train), _row_keys(holdout), Counter(_row_keys(synthetic))
    once = {key for key, rows in Counter(known + unseen).items() if rows == 1}
    copies, chance = (np.array([drawn[key] * (key in once) for key in keys], dtype=float) for keys in (known, unseen))
    return copies, mean_count(chance) if unseen else None


def _row_keys(table: Table) -> list[bytes]:
    """Every row as bytes that are equal exactly for equal rows. Numbers are counted in their column's steps."""
    cells = table.values.copy(order="C")
    for j, column in enumerate(table.columns):
        if column.numeric and column.step is not None:
            cells[:, j] = np.rint(cells[:, j] / column.step)
    cells = np.where(np.isnan(cells), -np.inf, cells) + 0.0
    return [row.tobytes() for row in np.ascontiguousarray(cells)]
