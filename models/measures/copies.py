"""Exact and near copies of training people, in excess of what chance brings about, for whole rows and for each part."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import Literal

import numpy as np
from pydantic import Field

from models.estimates import Estimate, excess, mean_count, scaled, share
from models.evidence import Closeness, Evidence
from models.finding import Finding, Group, Unit
from models.measures import Measure
from models.randomness import Seed
from models.schema import Frozen
from models.table import Floats, Table

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

    With a control rate c, ``tolerance`` standard deviations of one match, sqrt(c (1 - c)), are added to the limits in
    ``whole`` and ``parts``: where many strangers match by chance (a part of few columns), a match tells little about
    anybody, and a difference is harder to see. A tenth is what about 1,500 held-out people can resolve. The default 0.1 and 1 percentage points (whole), 1 and 1 (parts) are project policy. The intervals are those of a difference of
    two rates; a release without any copy is counted in full and is certain to have none.

    The near share on few rows: with n held-out people the 1 % quantile is the smallest distance until n reaches 100.
    """

    kind: Literal["copies"] = "copies"
    whole: Ceilings = Ceilings(exact=0.001, near=0.005)
    parts: Ceilings = Ceilings(exact=0.01, near=0.01)
    tolerance: float = Field(default=0.1, ge=0, le=1, description="standard deviations of a chance match, added to a limit")
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
        copies, chance = (np.array([drawn[key] * (key in once) for key in keys], dtype=np.float64) for keys in (known, unseen))
        return self._finding(
            name="Exact copies",
            question="How many synthetic rows are word for word the row of one training person, beyond what chance brings about?",
            counts=copies,
            control=mean_count(chance),
            scale=len(train) / len(synthetic),
            n=len(holdout),
            where=where,
            limit=limit,
        )

    def _near(self, closeness: Closeness, release: int, *, where: str, limit: float | None) -> Finding:
        near = float(np.quantile(closeness.strangers, self.quantile, method="inverted_cdf"))
        return self._finding(
            name="Near copies",
            question=f"How many training people have a synthetic row as close to them as only {self.quantile:.0%} of strangers are, "
                     "beyond what chance brings about?",
            counts=(closeness.train <= near).astype(np.float64),
            control=share(int(np.count_nonzero(closeness.holdout <= near)), len(closeness.holdout)),
            scale=max(1.0, len(closeness.train) / release),
            n=len(closeness.holdout),
            where=where,
            limit=limit,
        )

    def _finding(
        self, *, name: str, question: str, counts: Floats, control: Estimate, scale: float, n: int, where: str,
        limit: float | None,
    ) -> Finding:
        chance = scaled(control, scale)
        beyond = excess(counts, chance, scale)
        return Finding(
            measure=self.kind,
            name=name,
            question=question,
            group=Group.PRIVACY,
            unit=Unit.SHARE,
            estimate=beyond.value,
            interval=beyond.interval,
            observed=float(counts.mean()) * scale,
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
    """Standard deviation of a match that happens at this rate."""
    return sqrt(min(rate, 1.0) * (1.0 - min(rate, 1.0)))


def _row_keys(table: Table) -> list[bytes]:
    """Every row as bytes that are equal exactly for equal rows. Numbers are counted in their column's steps."""
    cells = table.values.copy(order="C")
    for j, column in enumerate(table.columns):
        if column.numeric and column.step is not None:
            cells[:, j] = np.rint(cells[:, j] / column.step)
    cells = np.where(np.isnan(cells), -np.inf, cells) + 0.0
    return [row.tobytes() for row in np.ascontiguousarray(cells)]
