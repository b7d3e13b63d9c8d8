"""Whether a classifier can tell synthetic rows from real ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any, Literal

import numpy as np
from pydantic import Field

from models.estimates import Estimate, auc
from models.evidence import Evidence
from models.finding import Finding, Group, Interval, Unit
from models.learning import at_most, boosted_chances
from models.measures import Measure
from models.randomness import Seed
from models.table import Floats, Table, stack

TOLD = "How well can a classifier tell synthetic rows from training rows?"
SQUARED = "How far is the chance of being synthetic, as a classifier sees it, from one half, squared and on average?"
SOURCE = (
    "Classifier two-sample test (Lopez-Paz and Oquab, arXiv 1610.06545) and propensity score mean squared error "
    "(Woo et al., J. Privacy and Confidentiality 1, 2009; Snoke et al., J. R. Stat. Soc. A 181, 2018); scikit-learn's "
    "HistGradientBoosting, cross-fitted, on {:,} rows of either table."
)
FEWEST = 50
"""Fewer rows on a side teach a classifier nothing."""


class Propensity(Measure):
    """A gradient-boosted classifier told to tell synthetic from training rows; by default reported without gating.

    It learns from as many rows of either kind as the smallest of the three tables has, ``rows`` at most, and judges
    rows that it has not learned from (``folds`` cross-fits). ``control``: the same for held-out and training rows, as
    many of them.

    *Told apart*: the AUC of its scores, 0.5 where nobody can tell. The interval is DeLong's, widened for the cross-fit.
    More rows teach it more: figures of tables of other sizes do not compare. Below 0.5: rows of one table have twins in
    the other, as a copied table has, and what was learned of the one is wrong for the other.

    *Propensity error* (pMSE): the mean squared distance of its chances from one half, 0 to 0.25. A guess gives 0; any
    classifier that learned from few rows gives a little more, as ``control`` shows. It has no interval: what the
    classifiers happen to learn varies by more than the rows that they judge tell.

    A high figure does not say what is wrong: one column written with other decimals is enough to tell all rows apart.
    """

    kind: Literal["propensity"] = "propensity"
    limit: float | None = Field(default=None, ge=0.5, le=1, description="limit of the AUC; null reports without gating")
    rows: int = Field(default=5000, ge=100, le=1_000_000, description="rows of either kind that are looked at, at most")
    folds: int = Field(default=4, ge=2, le=20, description="parts that are judged by what the others teach")
    rounds: int = Field(default=60, ge=1, le=1000, description="trees of each classifier")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, Finding]:
        train, unseen, drawn = evidence.train, evidence.holdout, evidence.synthetic
        known = len(unseen) >= FEWEST
        rows = min(self.rows, len(train), len(drawn), len(unseen) if known else self.rows)
        real = at_most(train, rows, seed.child("real"))
        told = self._told(real, at_most(drawn, rows, seed.child("others")), seed)
        usual = self._told(real, at_most(unseen, rows, seed.child("others")), seed) if known else None
        reason = "" if told else f"{rows} rows of either kind, and at least {FEWEST} are needed"
        shared: dict[str, Any] = {
            "measure": self.kind,
            "group": Group.FIDELITY,
            "unit": Unit.SCORE,
            "n": rows,
            "reason": reason,
            "source": SOURCE.format(rows),
        }
        return (
            Finding(
                name="Told apart",
                question=TOLD,
                estimate=told.auc.value if told else None,
                interval=told.auc.interval if told else None,
                control=usual.auc.value if usual else None,
                baseline=0.5,
                limit=self.limit,
                **shared,
            ),
            Finding(
                name="Propensity error",
                question=SQUARED,
                estimate=told.error if told else None,
                control=usual.error if usual else None,
                baseline=0.0,
                **shared,
            ),
        )

    def _told(self, real: Table, others: Table, seed: Seed) -> _Scores | None:
        """The chance of being one of the others, of all rows, by classifiers that have not seen them."""
        if min(len(real), len(others)) < FEWEST:
            return None
        both, answers = stack([real, others]), np.repeat([0, 1], [len(real), len(others)])
        rng, chances = seed.child("parts").generator(), np.empty(len(both))
        parts = np.concatenate([rng.permutation(len(table)) % self.folds for table in (real, others)])
        for part in range(self.folds):
            asked = parts == part
            learned, known = both.take(~asked), answers[~asked]
            chances[asked] = boosted_chances(learned, known, both.take(asked), rounds=self.rounds, seed=seed)[:, 1]
        return _Scores(chances[answers == 0], chances[answers == 1])


@dataclass(frozen=True, eq=False)
class _Scores:
    """The chance of being one of the others, as seen in real rows and in the others."""

    real: Floats
    others: Floats

    @cached_property
    def auc(self) -> Estimate:
        """The chance that one of the others looks more like one of them than a real row does.

        NOTE[DIFF]: DeLong's variance twice over. It is that of scores that were fixed beforehand; here each pair of
        rows judges one another in turn, and counts twice. Without a difference between the tables that doubles the
        variance (over 100 pairs of equal tables the standard deviation was 1.3 to 1.4 times DeLong's).
        """
        plain = auc(self.others, self.real)
        half = sqrt(2) * max(plain.value - plain.interval.low, plain.interval.high - plain.value)
        low, high = max(0.0, plain.value - half), min(1.0, plain.value + half)
        return Estimate(plain.value, Interval(low=low, high=high))

    @property
    def error(self) -> float:
        """The mean squared distance from one half."""
        return float(((np.concatenate([self.real, self.others]) - 0.5) ** 2).mean())
