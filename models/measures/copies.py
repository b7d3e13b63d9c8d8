"""Exact and near copies of training people, in excess of what chance brings about, for whole rows and for each part."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import numpy as np
from pydantic import Field

from models.estimates import Estimate, mean_count, share
from models.evidence import Closeness, Evidence
from models.finding import Finding, Group, Interval, Unit
from models.measures import Measure
from models.randomness import Seed
from models.schema import Frozen
from models.table import Table

SOURCE = ("Project policy: no body gives figures for synthetic rows. A copy counts when the real row is unique, as official "
          "statistics count replicated uniques (synthpop's disclosure measures).")


class Ceilings(Frozen):
    """Limits as shares of rows or people; null reports without gating."""

    exact: float | None = Field(default=None, ge=0, le=1)
    near: float | None = Field(default=None, ge=0, le=1)


class Copies(Measure):
    """Copies, counted on all rows.

    *Exact*: the share of synthetic rows that equal, in all columns of the view, a training row that is unique among all
    real rows. Control: the same for held-out rows, times the ratio of the two sets' sizes. *Near*: the share of training
    people who have a synthetic row at most as far away as the nearest 1 % of held-out people are from a training person.
    Control: the same share of held-out people. Where the release has fewer rows than the training table, both near
    shares are multiplied by their ratio, so that they count against the rows that were released.

    The controls are the chance rate for any synthetic table that was made without the held-out rows, whichever real
    rows it resembles most; held-out rows put in the place of synthetic ones would be so only for a perfect generator.

    With a control rate c, ``tolerance`` times c (1 - c) is added to the limits in ``whole`` and ``parts``: where many
    strangers match by chance (a part of few columns), a match tells little about anybody, and a difference is harder to
    see. The default 0.1 and 1 percentage points (whole), 0.5 and 1 (parts) are project policy. The figure of the release itself is counted in
    full, so the interval holds what is uncertain about the control alone.

    The near share on few rows: with n held-out people the 1 % quantile is the smallest distance until n reaches 100.
    """

    kind: Literal["copies"] = "copies"
    whole: Ceilings = Ceilings(exact=0.001, near=0.01)
    parts: Ceilings = Ceilings(exact=0.005, near=0.01)
    tolerance: float = Field(default=0.25, ge=0, le=1, description="times c (1 - c) of a control rate c, added to a limit")
    quantile: float = Field(default=0.01, gt=0, lt=1, description="nearest share of held-out people whose distance is near")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        findings: list[Finding] = []
        for view, columns in evidence.views.items():
            limits = self.parts if view else self.whole
            tables = (table.select(columns) for table in (evidence.train, evidence.holdout, evidence.synthetic))
            findings.append(self._exact(*tables, where=_place(view), limit=limits.exact))
            release = len(evidence.synthetic)
            findings.append(self._near(evidence.closeness[view], release, where=_place(view), limit=limits.near))
        return tuple(findings)

    def _exact(self, train: Table, holdout: Table, synthetic: Table, *, where: str, limit: float | None) -> Finding:
        known, unseen, drawn = _row_keys(train), _row_keys(holdout), Counter(_row_keys(synthetic))
        once = {key for key, rows in Counter(known + unseen).items() if rows == 1}
        copied = sum(drawn[key] for key in known if key in once)
        hits = np.array([drawn[key] if key in once else 0 for key in unseen], dtype=np.float64)
        chance = _scaled(mean_count(hits), len(train) / len(synthetic))
        return self._finding(
            name="Exact copies",
            question="How many synthetic rows are word for word the row of one training person, beyond what chance brings about?",
            observed=copied / len(synthetic),
            chance=chance,
            n=len(holdout),
            where=where,
            limit=limit,
        )

    def _near(self, closeness: Closeness, release: int, *, where: str, limit: float | None) -> Finding:
        near = float(np.quantile(closeness.strangers, self.quantile, method="inverted_cdf"))
        scale = max(1.0, len(closeness.train) / release)
        unseen = share(int(np.count_nonzero(closeness.holdout <= near)), len(closeness.holdout))
        return self._finding(
            name="Near copies",
            question=f"How many training people have a synthetic row as close to them as only {self.quantile:.0%} of strangers are, "
                     "beyond what chance brings about?",
            observed=float(np.mean(closeness.train <= near)) * scale,
            chance=_scaled(unseen, scale),
            n=len(closeness.holdout),
            where=where,
            limit=limit,
        )

    def _finding(
        self, *, name: str, question: str, observed: float, chance: Estimate, n: int, where: str, limit: float | None
    ) -> Finding:
        return Finding(
            measure=self.kind,
            name=name,
            question=question,
            group=Group.PRIVACY,
            unit=Unit.SHARE,
            estimate=observed - chance.value,
            interval=Interval(low=observed - chance.interval.high, high=observed - chance.interval.low),
            observed=observed,
            control=chance.value,
            baseline=0.0,
            n=n,
            limit=None if limit is None else limit + self.tolerance * _spread(chance.value),
            where=where,
            source=SOURCE,
        )


def _place(view: str) -> str:
    return f"part {view}" if view else ""


def _spread(rate: float) -> float:
    """Of a match that happens at this rate: at its largest for one half, none where all or none match."""
    return min(rate, 1.0) * (1.0 - min(rate, 1.0))


def _scaled(estimate: Estimate, factor: float) -> Estimate:
    low, high = estimate.interval.low, estimate.interval.high
    return Estimate(estimate.value * factor, Interval(low=low * factor, high=high * factor))


def _row_keys(table: Table) -> list[bytes]:
    """Every row as bytes that are equal exactly for equal rows. Numbers are counted in their column's steps."""
    cells = table.values.copy(order="C")
    for j, column in enumerate(table.columns):
        if column.numeric and column.step is not None:
            cells[:, j] = np.rint(cells[:, j] / column.step)
    cells = np.where(np.isnan(cells), -np.inf, cells) + 0.0
    return [row.tobytes() for row in np.ascontiguousarray(cells)]
