"""Whether the release tells who was in the training data."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Literal

import numpy as np
from pydantic import Field

from models.estimates import Estimate, Z, auc
from models.evidence import WHOLE, Closeness, Evidence, place
from models.finding import Finding, Group, Interval, Unit
from models.measures import Measure
from models.neighbours import Space, credit, nearest
from models.randomness import Seed
from models.table import Floats, Table, stack

SOURCE = (
    "Project policy: no official body gives a figure for membership attacks on synthetic tables. 0.5 is a coin's "
    "guess. Distances can miss what attacks that know the generator find (arXiv 2505.01524)."
)
CLOSER = "Are synthetic rows closer to the people they were learned from than to people whom no model has seen?"
UNSEEN = "Were the held-out people really kept from the models, and are they like the training people?"
ATTACK = "Can someone who knows a person's row tell from the release whether that person was in the training data?"
FEWEST = 20
"""Below so many rows on either side, intervals that lean on the normal distribution mean nothing."""


class Membership(Measure):
    """Membership by nearness, on all training rows.

    *Closer to training rows*: each synthetic row credits the nearest of all real rows, ties in equal parts. With r the
    credit of an average training row over that of an average held-out one, the figure is r / (1 + r). It is 0.5 where
    the release was made without the held-out rows and copies nobody, as the labels "training" and "held out" could then
    be exchanged, and 1 where only training rows are credited; groups of any two sizes can be compared, without a
    subsample of the larger one. The interval is that of log r by the delta method over people, their credits' spread at
    least Poisson's.

    *Closer to held-out rows* is the same turned round: well above 0.5, something has seen the held-out rows, or the two
    groups are not alike, and no control means anything.

    *Membership attack*: how well the distance to the nearest synthetic row tells training from held-out people (AUC,
    ties one half). Every person asks the same synthetic rows, so the sizes of the two groups do not matter. It is
    asked of the whole row and of each part, since parts are learned apart.

    Controls: one random half of the held-out rows plays the release against the training rows and the other half. They
    differ from 0.5 where training and held-out rows are not alike. Limits default to 0.55: as little over a guess as
    about 400 held-out rows can show.
    """

    kind: Literal["membership"] = "membership"
    closer: float | None = Field(default=0.55, ge=0.5, le=1, description="limit of both shares; null reports only")
    attack: float | None = Field(default=0.55, ge=0.5, le=1, description="limit of the attack's AUC; null reports only")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        play, others = _halves(evidence.holdout, seed)
        closer = _closer(evidence.train, evidence.holdout, evidence.synthetic)
        usual = _closer(evidence.train, others, play)
        return (
            self._finding("Closer to training rows", CLOSER, evidence, closer, usual, self.closer),
            self._finding("Closer to held-out rows", UNSEEN, evidence, _turned(closer), _turned(usual), self.closer),
            *(
                self._finding(
                    "Membership attack",
                    ATTACK,
                    evidence,
                    _attack(closeness),
                    _usual_attack(evidence, play, others) if view == WHOLE else None,
                    self.attack,
                    view,
                )
                for view, closeness in evidence.closeness.items()
            ),
        )

    def _finding(
        self,
        name: str,
        question: str,
        evidence: Evidence,
        estimate: Estimate | None,
        control: Estimate | None,
        limit: float | None,
        view: str = WHOLE,
    ) -> Finding:
        rows = f"{len(evidence.train):,} training and {len(evidence.holdout):,} held-out rows"
        return Finding(
            measure=self.kind,
            name=name,
            question=question,
            group=Group.PRIVACY,
            unit=Unit.SCORE,
            estimate=estimate.value if estimate else None,
            interval=estimate.interval if estimate else None,
            control=control.value if control else None,
            baseline=0.5,
            n=len(evidence.holdout),
            limit=limit,
            where=place(view),
            reason="" if estimate else f"{rows}, and at least {FEWEST} of each are needed",
            source=SOURCE,
        )


def _halves(table: Table, seed: Seed) -> tuple[Table, Table]:
    order = seed.child("halves").generator().permutation(len(table))
    return table.take(np.sort(order[: len(table) // 2])), table.take(np.sort(order[len(table) // 2 :]))


def _closer(train: Table, holdout: Table, synthetic: Table) -> Estimate | None:
    if min(len(train), len(holdout)) < FEWEST or not len(synthetic):
        return None
    space = Space.of(train, holdout)
    received = credit(space.place(synthetic), space.place(stack([train, holdout])))
    known, known_variance = _log_mean(received[: len(train)])
    unseen, unseen_variance = _log_mean(received[len(train) :])
    middle, half = known - unseen, Z * sqrt(known_variance + unseen_variance)
    return Estimate(_logistic(middle), Interval(low=_logistic(middle - half), high=_logistic(middle + half)))


def _log_mean(received: Floats) -> tuple[float, float]:
    """The logarithm of the mean credit, half a synthetic row added so that it is finite, and its variance."""
    mean = (float(received.sum()) + 0.5) / len(received)
    return log(mean), max(float(received.var(ddof=1)), mean) / (len(received) * mean**2)


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x))


def _turned(estimate: Estimate | None) -> Estimate | None:
    if estimate is None:
        return None
    return Estimate(1 - estimate.value, Interval(low=1 - estimate.interval.high, high=1 - estimate.interval.low))


def _attack(closeness: Closeness) -> Estimate | None:
    if min(len(closeness.train), len(closeness.holdout)) < FEWEST:
        return None
    return auc(-closeness.train, -closeness.holdout)


def _usual_attack(evidence: Evidence, play: Table, others: Table) -> Estimate | None:
    if min(len(evidence.train), len(play), len(others)) < FEWEST:
        return None
    space = Space.of(evidence.train, evidence.holdout)
    known, unseen, drawn = (space.place(table) for table in (evidence.train, others, play))
    return auc(-nearest(known, drawn).distances, -nearest(unseen, drawn).distances)
