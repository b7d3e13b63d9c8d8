"""Parts joined by importance resampling: each row draws its partner from a pool, in proportion to the density ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

import numpy as np
from pydantic import Field

from models import pairing
from models.joins import Draw, Join, Joined, Joiner
from models.joins.shuffled import InRandomOrder
from models.joins.swap import known_of
from models.pairing import aligned
from models.randomness import Seed, one_thread
from models.ratio import Affinity, Ratio, hindrance
from models.table import Floats, Integers, Table, beside

ITERATIONS = 200
"""Scalings of rows and columns at most."""

EVEN = 0.01
"""Scaling ends when every row of a part is wanted once, give or take so much."""


class Resample(Join):
    """Every row of the first part draws a partner from the second, in proportion to r to the power ``beta``.

    r is the density ratio of the real table (``models.ratio``); with more parts, what has been joined is taken for one
    part and the next one is joined to it, with a ratio of its own. Partners come from pools of ``block`` rows, scaled
    so that each is drawn once on average (Sinkhorn). Rows of the first part are used exactly once, but a row of another
    part may be drawn several times or never: its marginals vary as in any sample, and about a third of its rows is
    left out. ``swap`` has no such noise. There is no chain that has to converge.

    ``facts["steps"]`` tell of each step what was learnt, among how many partners a row could choose (the effective
    sample size, mean over rows), and what share of the part's rows was used.
    """

    kind: Literal["resample"] = "resample"
    ratio: Ratio = Field(default_factory=Ratio)
    beta: float = Field(default=1.0, ge=0, le=100)
    block: int = Field(default=1024, ge=100, le=8192)

    def fit(self, parts: list[Table], seed: Seed) -> Joiner:
        aligned(parts)
        steps = [self._step(parts, number, seed.child(f"step/{number}")) for number in range(1, len(parts))]
        if any(step.affinity for step in steps):
            return ByDrawing(self, steps, {"beta": self.beta, "block": self.block, "informed": True})
        reason = steps[0].known["fallback"] if steps else hindrance(parts)
        return InRandomOrder({"beta": self.beta, "informed": False, "fallback": reason})

    def _step(self, parts: list[Table], number: int, seed: Seed) -> Step:
        both = [beside(parts[:number]), parts[number]]
        reason = hindrance(both) if self.beta else "beta 0 asks for a random order"
        if reason:
            return Step(None, {"informed": False, "fallback": reason})
        affinity = self.ratio.fit(both, seed)
        return Step(affinity if affinity.quality.informed else None, known_of(affinity.quality))


@dataclass(frozen=True)
class Step:
    """How one more part is joined: by an affinity, or in random order where there is none."""

    affinity: Affinity | None
    known: dict[str, Any]


@dataclass(frozen=True)
class ByDrawing(Joiner):
    """Joins by the ratios that were learnt."""

    settings: Resample
    steps: Sequence[Step]
    known: dict[str, Any]

    def join(self, draw: Draw, n: int, seed: Seed) -> Joined:
        parts = pairing.shuffled(draw(0, n), seed.child("order"))
        count, joined, told = aligned(parts), parts[0], []
        for number, (part, step) in enumerate(zip(parts[1:], self.steps, strict=True), start=1):
            if step.affinity is None:
                joined = beside([joined, part])
                told.append(step.known)
            else:
                partners, choice = self._partners(step.affinity, joined, part, seed.child(f"step/{number}"))
                joined = beside([joined, part.take(partners)])
                used = len(np.unique(partners)) / max(count, 1)
                told.append({**step.known, "effective_sample_size": round(choice, 2), "used": round(used, 4)})
        return Joined(joined, count, count, {**self.known, "steps": told}, shortfall=n - count)

    def _partners(self, affinity: Affinity, joined: Table, part: Table, seed: Seed) -> tuple[Integers, float]:
        """Which row of ``part`` each row of ``joined`` drew, and among how many it could choose, on average."""
        blocks = np.array_split(np.arange(len(part)), max(ceil(len(part) / self.settings.block), 1))
        found, choices = [], []
        for number, block in enumerate(blocks):
            embedded = affinity.embed([joined.take(block), part.take(block)])
            with one_thread():
                scores = embedded.sides[0, 1].astype(np.float64) @ embedded.sides[1, 0].T.astype(np.float64)
                chances = doubly_even(self.settings.beta * scores)
            found.append(block[drawn(chances, seed.child(f"block/{number}"))])
            choices.append(1 / np.maximum((chances**2).sum(axis=1), 1e-300))
        return np.concatenate(found), float(np.concatenate([*choices, [0.0] if not len(part) else []]).mean())


def doubly_even(scores: Floats) -> Floats:
    """The matrix exp(scores) with rows and columns scaled until both sum to about one; rows do exactly.

    NOTE[DIFF]: Sinkhorn and Knopp (Pac. J. Math. 21, 1967) scale on without end.
    """
    if not len(scores):
        return scores
    matrix = np.exp(np.maximum(scores - scores.max(axis=1, keepdims=True), -200))
    columns = np.ones(len(matrix))
    for _ in range(ITERATIONS):
        rows = 1 / (matrix @ columns)
        sums = columns * (rows @ matrix)
        if np.abs(sums - 1).max() < EVEN:
            break
        columns = columns / sums
    scaled = matrix * columns
    return np.asarray(scaled / scaled.sum(axis=1, keepdims=True), dtype=np.float64)


def drawn(chances: Floats, seed: Seed) -> Integers:
    """One column for every row of ``chances``, by its share of the row."""
    at = seed.generator().random(len(chances))[:, None]
    passed: Integers = np.sum(np.cumsum(chances, axis=1) < at, axis=1, dtype=np.int64)
    return np.minimum(passed, max(chances.shape[-1] - 1, 0), dtype=np.int64)
