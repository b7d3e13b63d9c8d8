"""Row i beside row i after every part was shuffled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from models import pairing
from models.joins import Draw, Join, Joined, Joiner
from models.pairing import aligned
from models.randomness import Seed
from models.table import Table, beside


class Shuffled(Join):
    """Concatenation of parts that have been put in a random order first, each by a stream of its own.

    Parts are then independent whatever order their generators drew them in (a generator that draws its levels one after
    the other, or parts that were read from a file). Each part's rows are kept exactly. This is the random joining of
    Disjoint Generative Models (arXiv 2507.19700).

    NOTE[DIFF]: the reference shuffles its parts and then puts them together by the rows' old labels, as they were.
    """

    kind: Literal["shuffled"] = "shuffled"

    def fit(self, parts: list[Table], seed: Seed) -> Joiner:
        aligned(parts)
        return InRandomOrder()


@dataclass(frozen=True)
class InRandomOrder(Joiner):
    """Also what other joins fall back to; ``known`` are their facts."""

    known: dict[str, Any] = field(default_factory=dict)

    def join(self, draw: Draw, n: int, seed: Seed) -> Joined:
        parts = pairing.shuffled(draw(0, n), seed)
        count = aligned(parts)
        return Joined(beside(parts), proposed=count, accepted=count, facts=self.known, shortfall=n - count)
