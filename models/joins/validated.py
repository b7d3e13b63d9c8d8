"""The validator's join of Disjoint Generative Models: pairs that a classifier takes for real rows are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from models.joins import Draw, Join, Joined, Joiner
from models.joins.shuffled import InRandomOrder
from models.pairing import aligned, orders
from models.randomness import Seed
from models.schema import Frozen
from models.table import Floats, Integers, Table, beside, stack
from models.validator import Judge, Quality, Validator, hindrance

IDLE = 0.001
"""A round that accepts no larger share of its pairs counts as one without acceptance."""

Share = Annotated[float, Field(gt=0, le=1)]
Probability = Annotated[float, Field(ge=0, le=1)]


class Fixed(Frozen):
    """The same threshold in every round."""

    kind: Literal["fixed"] = "fixed"
    value: Probability = 0.5

    def first(self, scores: Floats) -> float:
        return self.value

    def lowered(self, threshold: float) -> float:
        return threshold


class _Best(Frozen):
    """Begins at the score that the best ``share`` of the first round's pairs reach, ``floor`` at least."""

    share: Share = 0.1
    floor: Probability = 0.5

    def first(self, scores: Floats) -> float:
        return max(self.floor, float(np.quantile(scores, 1 - self.share)))


class Auto(_Best):
    """Stays where the first round put it."""

    kind: Literal["auto"] = "auto"

    def lowered(self, threshold: float) -> float:
        return threshold


class Decaying(_Best):
    """Falls by ``step`` in a round without acceptance, to ``floor``; with ``start`` it begins there instead."""

    kind: Literal["decaying"] = "decaying"
    start: Probability | None = None
    step: Share = 0.01

    def first(self, scores: Floats) -> float:
        return max(self.floor, self.start) if self.start is not None else super().first(scores)

    def lowered(self, threshold: float) -> float:
        return max(self.floor, threshold - self.step)


BEHAVIOURS: Mapping[str, Mapping[str, Any]] = {
    "strict": {"threshold": Fixed(), "patience": 3},
    "adaptive": {"threshold": Decaying(), "patience": 5},
}
"""The two that the paper names, as defaults for what the spec does not say."""


class Validated(Join):
    """Parts are shuffled, paired by position and scored; pairs that score ``threshold`` or more are taken out; repeat.

    A pool of ``pool`` times the rows asked for is drawn. It is given up after ``patience`` rounds in a row without
    acceptance, or after ``rounds`` rounds, and the next one is drawn, ``draws`` pools at most. What is then lacking is
    the shortfall. ``behaviour`` names one of the paper's two (arXiv 2507.19700): *strict* means
    ``threshold: {kind: fixed, value: 0.5}`` and ``patience: 3``, *adaptive* ``threshold: {kind: decaying}`` and
    ``patience: 5``; what is set beside it counts.

    Scores are calibrated: at 0.5 a pair is as likely by chance as in the real table. The best-scoring pairs are the
    most typical ones, so the higher the threshold, the more the parts' marginals drift and dependence is overdone.

    A validator that tells held-out rows apart no better than chance would only drop rows at random: parts are then
    joined in random order, as they are with too few real rows to train one, and ``facts["fallback"]`` says so.

    NOTE[DIFF]: in the reference ``auto`` has no floor, a dry pool ends the join, rows of too high a number are cut by
    position, and patience also runs out while a threshold still decays. A round accepting under a thousandth of its
    pairs counts as one without acceptance, since in a large pool some pair always passes.
    """

    kind: Literal["validated"] = "validated"
    validator: Validator = Field(default_factory=Validator)
    behaviour: Literal["strict", "adaptive"] = "strict"
    threshold: Annotated[Fixed | Auto | Decaying, Field(discriminator="kind")] = Field(default_factory=Fixed)
    pool: float = Field(default=3.0, ge=1)
    patience: int = Field(default=3, ge=1)
    rounds: int = Field(default=100, ge=1)
    draws: int = Field(default=3, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _as_the_behaviour_has_it(cls, said: Any) -> Any:
        named = said.get("behaviour") if isinstance(said, Mapping) else None
        return {**BEHAVIOURS[named], **said} if isinstance(named, str) and named in BEHAVIOURS else said

    def fit(self, parts: list[Table], seed: Seed) -> Joiner:
        aligned(parts)
        if len(parts) == 1:
            return InRandomOrder({"validator": None})
        reason = hindrance(parts)
        if reason:
            return InRandomOrder({"validator": self.validator.kind, "informed": False, "fallback": reason})
        judge = self.validator.fit(parts, seed)
        known = _known(self.validator, judge.quality)
        if judge.quality.informed:
            return ByScore(self, judge, known)
        return InRandomOrder({**known, "fallback": "on held-out rows the validator is no better than chance"})


def _known(validator: Validator, quality: Quality) -> dict[str, Any]:
    return {
        "validator": validator.kind,
        "calibration": validator.calibration,
        "informed": quality.informed,
        **{("training_rows" if name == "rows" else name): value for name, value in asdict(quality).items()},
    }


@dataclass(frozen=True)
class ByScore(Joiner):
    """Accepts pairs by their score."""

    settings: Validated
    judge: Judge
    known: dict[str, Any]

    def join(self, draw: Draw, n: int, seed: Seed) -> Joined:
        search = _Search(self.settings, self.judge, wanted=n)
        tables: list[Table] = []
        while not tables or (search.wanted > 0 and len(tables) < self.settings.draws):
            pool = draw(len(tables), ceil(self.settings.pool * n))
            tables.append(search.through(pool, seed.child(f"pool/{len(tables)}")))
        accepted = n - search.wanted
        facts = {
            **self.known,
            "threshold_first": search.began,
            "threshold_last": search.threshold,
            "rounds": search.rounds,
            "draws": len(tables),
            "proposed": search.proposed,
            "accepted": accepted,
        }
        return Joined(stack(tables), search.proposed, accepted, facts, shortfall=search.wanted)


@dataclass
class _Search:
    """How far the search for acceptable pairs has come, over all pools."""

    settings: Validated
    judge: Judge
    wanted: int
    proposed: int = 0
    rounds: int = 0
    began: float | None = None
    threshold: float | None = None

    def through(self, pool: Sequence[Table], seed: Seed) -> Table:
        """The pairs accepted from one pool, each drawn row in one pair at most."""
        features = self.judge.encode(pool)
        rows = [np.arange(aligned(pool))] * len(pool)
        accepted: list[list[Integers]] = []
        idle = 0
        for number in range(self.settings.rounds):
            if not self.wanted or not len(rows[0]) or idle >= self.settings.patience:
                break
            permutations = orders(len(rows[0]), len(rows), seed.child(f"round/{number}"))
            rows = [row[order] for row, order in zip(rows, permutations, strict=True)]
            scores = self.judge.scores([block[row] for block, row in zip(features, rows, strict=True)])
            passed = self._passed(scores)
            accepted.append([row[passed] for row in rows])
            idle = 0 if self._moved(len(passed), len(scores)) else idle + 1
            rows = [np.delete(row, passed) for row in rows]
        return _taken(pool, accepted)

    def _passed(self, scores: Floats) -> Integers:
        """Positions of the pairs that are accepted: all that reach the threshold, or as many as are still wanted."""
        if self.threshold is None:
            self.began = self.threshold = self.settings.threshold.first(scores)
        passed = np.flatnonzero(scores >= self.threshold)[: self.wanted]
        self.wanted -= len(passed)
        self.proposed += len(scores)
        self.rounds += 1
        return passed

    def _moved(self, accepted: int, proposed: int) -> bool:
        """Whether the round brought anything: rows, or a lower threshold for the next one."""
        if accepted > IDLE * proposed:
            return True
        assert self.threshold is not None
        before, self.threshold = self.threshold, self.settings.threshold.lowered(self.threshold)
        return self.threshold < before


def _taken(pool: Sequence[Table], accepted: Sequence[Sequence[Integers]]) -> Table:
    rows = [[np.empty(0, dtype=np.int64), *(each[number] for each in accepted)] for number in range(len(pool))]
    return beside([part.take(np.concatenate(each)) for part, each in zip(pool, rows, strict=True)])
