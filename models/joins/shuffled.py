"""Row i beside row i after every part was shuffled."""

from __future__ import annotations

from typing import Literal

from models import pairing
from models.joins import Draw, Join, Joined, Joiner
from models.pairing import aligned
from models.randomness import Seed
from models.table import Table, beside


class Shuffled(Join):
    """Concatenation of parts that have been put in a random order first, each by a stream of its own.

    Parts are then independent whatever order their generators drew them in (a generator that draws its levels one after
    the other, or parts that were read from a file). Each part's rows are kept exactly.
    """

    kind: Literal["shuffled"] = "shuffled"

    def fit(self, parts: list[Table], seed: Seed) -> Joiner:
        aligned(parts)
        return InRandomOrder()


class InRandomOrder(Joiner):
    def join(self, draw: Draw, n: int, seed: Seed) -> Joined:
        parts = pairing.shuffled(draw(0, n), seed)
        count = aligned(parts)
        return Joined(beside(parts), proposed=count, accepted=count, shortfall=n - count)
