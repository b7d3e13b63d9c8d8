"""Whether the held-out people can serve as a control: strangers to the models, and like the training people."""

from __future__ import annotations

from math import sqrt
from typing import Any, Literal

import numpy as np
from pydantic import Field

from models.estimates import (
    Estimate,
    Z,
    auc,
    clustered,
    excess,
    leaning,
    mean_count,
    scaled,
    spread,
    turned,
)
from models.evidence import Evidence
from models.finding import Finding, Group, Interval, Unit
from models.learning import at_most, boosted_chances
from models.measures import Measure
from models.randomness import Seed
from models.table import Table, stack
from models.twins import Keys, copies, row_keys

SOURCE = (
    "Project policy. Every other privacy finding compares training with held-out people, and needs them to compare."
)
NONE = "Held-out people"
SHARED = "Held-out people among the training people"
APART = "Training and held-out people told apart"
CLOSER = "Closer to held-out rows"
COPIED = "Copies of held-out rows"
QUESTIONS = {
    NONE: "Are there people whom no model has seen, to compare the training people with?",
    SHARED: "How many held-out rows equal a training row, beyond the training rows that equal another one?",
    APART: "How well can a classifier tell held-out from training people?",
    CLOSER: "Are synthetic rows closer to people whom no model should have seen than to those they were learned from?",
    COPIED: "How many synthetic rows are, cell by cell, the row of one held-out person, beyond chance?",
}
MISSING = (
    "there are no held-out rows: whether synthetic rows are nearer to training people than to others, and whether they "
    "tell more about them, cannot be answered. Hold out some rows (a fifth, or 2,000) before anything is fitted"
)
FEWEST = 50
"""Fewer rows on a side teach a classifier nothing."""


class Preconditions(Measure):
    """What has to hold for held-out people to be a control. Where it does not, the audit is invalid.

    *Held-out people among the training people*: the share of held-out rows that equal a training row, minus the share
    of training rows that equal another one, which is what chance gives people of the same kind (the coverage of a
    sample; Good, Biometrika 40, 1953). They are counted in full: where there is none, there is none.

    *Told apart*: boosted trees learn from some training and held-out people to tell them apart (``rows`` of either at
    most, ``folds`` cross-fits) and are asked about the others. The AUC is 0.5 if the split was random. The variance is
    twice DeLong's: what two rows have in common by accident is learned from the one and met in the other, and the other
    way round.

    *Closer to held-out rows* and *Copies of held-out rows*: the measures ``membership`` and ``copies`` turned round. A
    release that resembles held-out people more than training people was made by something that has seen them, or the
    two have been mistaken for each other.

    Limits: 0.58 is what 500 held-out people can show to be more than a guess; a copied hundredth would shift an
    attack's AUC by 0.005. With a chance rate c, ``tolerance`` standard deviations of one match are added to limits of
    equal rows.
    """

    kind: Literal["preconditions"] = "preconditions"
    shared: float = Field(default=0.01, ge=0, le=1, description="limit of held-out rows that are training rows")
    apart: float = Field(default=0.58, ge=0.5, le=1, description="limit of the classifier's AUC")
    closer: float = Field(default=0.58, ge=0.5, le=1, description="limit of the share closer to held-out rows")
    copied: float = Field(default=0.005, ge=0, le=1, description="limit of synthetic rows that are held-out rows")
    tolerance: float = Field(default=0.15, ge=0, le=1, description="standard deviations of a match, added to limits")
    rows: int = Field(
        default=5000, ge=100, le=1_000_000, description="rows of either kind that are told apart, at most"
    )
    folds: int = Field(default=3, ge=2, le=20, description="parts that are judged by what the others teach")
    rounds: int = Field(default=30, ge=1, le=1000, description="trees of each classifier")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        if not len(evidence.holdout):
            return (self._finding(NONE, None, evidence, limit=0.0, reason=MISSING),)
        train, holdout, synthetic = (
            row_keys(table) for table in (evidence.train, evidence.holdout, evidence.synthetic)
        )
        return (
            self._shared(train, holdout, evidence),
            self._apart(evidence, seed),
            self._closer(evidence),
            self._copied(train, holdout, synthetic, evidence),
        )

    def _shared(self, train: Keys, holdout: Keys, evidence: Evidence) -> Finding:
        among, usual = np.isin(holdout, train).astype(np.float64), _covered(train)
        return self._finding(
            SHARED,
            excess(among, usual, 1.0, facts=True),
            evidence,
            unit=Unit.SHARE,
            observed=float(among.mean()),
            control=usual.value,
            limit=self._raised(self.shared, usual.value),
        )

    def _apart(self, evidence: Evidence, seed: Seed) -> Finding:
        train, holdout = (at_most(t, self.rows, seed.child("asked")) for t in (evidence.train, evidence.holdout))
        known = min(len(train), len(holdout)) >= FEWEST
        told = self._told(train, holdout, seed) if known else None
        reason = "" if known else _too_few(evidence, FEWEST)
        return self._finding(APART, told, evidence, n=len(holdout), baseline=0.5, limit=self.apart, reason=reason)

    def _told(self, train: Table, holdout: Table, seed: Seed) -> Estimate:
        """The AUC of scores from trees that have not seen the rows that they score."""
        both, answers = stack([train, holdout]), np.repeat([0, 1], [len(train), len(holdout)])
        rng, scores = seed.child("parts").generator(), np.empty(len(both))
        parts = np.concatenate([rng.permutation(len(table)) % self.folds for table in (train, holdout)])
        for part in range(self.folds):
            asked = parts == part
            chances = boosted_chances(
                both.take(~asked), answers[~asked], both.take(asked), rounds=self.rounds, seed=seed.child("trees")
            )
            scores[asked] = chances[:, 1]
        return _widened(auc(scores[answers == 1], scores[answers == 0]), sqrt(2))

    def _closer(self, evidence: Evidence) -> Finding:
        known = min(len(evidence.train), len(evidence.holdout)) >= FEWEST
        estimate = turned(leaning(*evidence.credits)) if known else None
        reason = "" if known else _too_few(evidence, FEWEST)
        return self._finding(CLOSER, estimate, evidence, baseline=0.5, limit=self.closer, reason=reason)

    def _copied(self, train: Keys, holdout: Keys, synthetic: Keys, evidence: Evidence) -> Finding:
        usual, counts = copies(train, holdout, synthetic)
        ratio = len(holdout) / len(synthetic)
        chance = scaled(mean_count(usual, clustered(counts)), ratio)
        return self._finding(
            COPIED,
            excess(counts, chance, ratio, facts=True),
            evidence,
            unit=Unit.SHARE,
            observed=float(counts.mean()) * ratio,
            control=chance.value,
            limit=self._raised(self.copied, chance.value),
        )

    def _raised(self, limit: float, rate: float) -> float:
        return limit + self.tolerance * spread(rate)

    def _finding(self, name: str, estimate: Estimate | None, evidence: Evidence, **said: Any) -> Finding:
        figures = {"estimate": estimate.value, "interval": estimate.interval} if estimate else {"estimate": None}
        known = {"measure": self.kind, "name": name, "question": QUESTIONS[name], "group": Group.SETUP}
        return Finding(
            **{**known, "n": len(evidence.holdout), "source": SOURCE, "precondition": True, **figures, **said}
        )


def _widened(estimate: Estimate, by: float) -> Estimate:
    low, high = estimate.value - estimate.interval.low, estimate.interval.high - estimate.value
    return Estimate(estimate.value, Interval(low=estimate.value - by * low, high=estimate.value + by * high))


def _too_few(evidence: Evidence, least: int) -> str:
    rows = f"{len(evidence.train):,} training and {len(evidence.holdout):,} held-out rows"
    return f"{rows}, and at least {least} of each are needed"


def _covered(keys: Keys) -> Estimate:
    """The chance that a new row equals one of these, which is the share of rows that equal another one of them.

    The variance is Esty's (Ann. Stat. 11, 1983): that of the share, plus what follows from cells that are seen twice.
    """
    times, cells = np.unique(np.unique(keys, return_counts=True)[1], return_counts=True)
    often = dict(zip(times.tolist(), cells.tolist(), strict=True))
    n, once, twice = len(keys), often.get(1, 0), often.get(2, 0)
    covered = 1.0 - once / n
    half = Z * sqrt(once * (1 - once / n) + 2 * twice) / n
    return Estimate(covered, Interval(low=max(0.0, covered - half), high=min(1.0, covered + half)))
