"""Parts joined as the real table joins them, each drawn row used exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil
from typing import Any, Literal

import numpy as np
from pydantic import Field

from models import pairing
from models.exchanges import Quality
from models.joins import Blockwise, Draw, Each, Join, Joined, Joiner
from models.joins.shuffled import InRandomOrder
from models.matching import Matching, matching
from models.pairing import aligned
from models.randomness import Seed
from models.ratio import Affinity, Ratio, hindrance
from models.table import Floats, Integers, Table, beside

TOLD = (1, 10, 100, 1000, 10_000)
"""The sweeps whose score and acceptance are told, as far as they were made, with the last one."""


class Swap(Join):
    """Parts are put in a random order, and then rows of a part change places: Metropolis on the matching.

    The target is the density ratio r of the real table (``models.ratio``), to the power ``beta``: 0 is concatenation
    in random order, 1 (the default) is as dependent as the real table, more is sharper. Every drawn row of a part
    is used exactly once, so the join leaves each part's marginals as they were drawn; nothing is dropped or repeated.

    Rows are joined in blocks of at most ``block``, drawn at random, each by a stream of its own: the cost grows with
    the number of rows, and a block's result does not depend on the others. A block ends when the trace of its score
    is level (split R-hat), after ``sweeps`` sweeps at the latest; ``facts`` tell what share of blocks got there.

    Where held-out rows show that nothing was learnt, parts are joined in random order and ``facts["fallback"]`` says
    so, as with too few real rows or too little that varies.
    """

    kind: Literal["swap"] = "swap"
    ratio: Ratio = Field(default_factory=Ratio)
    beta: float = Field(default=1.0, ge=0, le=100)
    sweeps: int = Field(default=1000, ge=1)
    block: int = Field(default=8192, ge=100)

    def fit(self, parts: list[Table], seed: Seed) -> Joiner:
        aligned(parts)
        settings = {"beta": self.beta, "sweeps_most": self.sweeps, "block": self.block}
        reason = hindrance(parts) if self.beta else "beta 0 asks for a random order"
        if reason:
            return InRandomOrder({**settings, "informed": False, "fallback": reason})
        affinity = self.ratio.fit(parts, seed)
        known = {**settings, **known_of(affinity.quality)}
        return BySwaps(self, affinity, known) if affinity.quality.informed else InRandomOrder(known)


def known_of(quality: Quality) -> dict[str, Any]:
    """What the facts of a join tell of its ratio, with the reason for a random order if nothing was learnt."""
    told = {("training_rows" if name == "rows" else name): value for name, value in asdict(quality).items()}
    reason = {} if quality.informed else {"fallback": "on held-out rows the ratio is no better than the constant"}
    return {"informed": quality.informed, **told, **reason}


@dataclass(frozen=True)
class BySwaps(Blockwise):
    """Joins by a ratio that was learnt."""

    settings: Swap
    affinity: Affinity
    known: dict[str, Any]

    def join_blocks(self, draw: Draw, n: int, seed: Seed, each: Each) -> Joined:
        parts = draw(0, n)
        count = aligned(parts)
        shuffled = pairing.orders(count, len(parts), seed.child("order"))
        blocks = np.array_split(np.arange(count), max(ceil(count / self.settings.block), 1))
        work = [
            Block(self, [part.take(order[rows]) for part, order in zip(parts, shuffled, strict=True)], number, seed)
            for number, rows in enumerate(blocks)
        ]
        done = each(join, work)
        table = _joined(parts, shuffled, blocks, done)
        return Joined(table, count, count, {**self.known, **_course(done)}, shortfall=n - count)


@dataclass(frozen=True)
class Block:
    """Block ``number`` of a join with ``seed``, its rows in a random order."""

    by: BySwaps
    parts: Sequence[Table]
    number: int
    seed: Seed


def join(block: Block) -> Matching:
    """Who stands beside whom in a block."""
    settings, embedded = block.by.settings, block.by.affinity.embed(block.parts)
    return matching(embedded, settings.beta, settings.sweeps, block.seed.child(f"block/{block.number}"))


def _joined(
    parts: Sequence[Table], shuffled: Sequence[Integers], blocks: Sequence[Integers], done: Sequence[Matching]
) -> Table:
    rows = [
        np.concatenate([order[block][each.rows[at]] for block, each in zip(blocks, done, strict=True)])
        for at, order in enumerate(shuffled)
    ]
    return beside([part.take(each) for part, each in zip(parts, rows, strict=True)])


def _course(done: Sequence[Matching]) -> dict[str, Any]:
    """How the chains went: means over blocks of equal weight; a block that has ended keeps its last value."""
    longest = max(each.sweeps for each in done)
    at = [sweep for sweep in TOLD if sweep < longest] + [longest]

    def mean(traces: Sequence[Floats]) -> list[float]:
        return [round(float(np.mean([trace[min(sweep, len(trace)) - 1] for trace in traces])), 4) for sweep in at]

    return {
        "blocks": len(done),
        "converged": float(np.mean([each.converged for each in done])),
        "split_r_hat": round(min(max(each.split_r_hat for each in done), 1e6), 4),
        "sweeps": at,
        "score": mean([each.score for each in done]),
        "acceptance": mean([each.acceptance for each in done]),
    }
