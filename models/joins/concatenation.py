"""Row i beside row i."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from models.errors import Fault
from models.joins import Draw, Join, Joined, Joiner
from models.pairing import aligned
from models.randomness import Seed
from models.table import Table, beside


class Concatenation(Join):
    """Parts put side by side as they are drawn: rows of one draw belong together only if the generators made it so.

    Parts come from independent streams, so the join keeps each part's rows exactly and all dependence between parts is
    lost. Nothing is learnt from the real rows. Clusters of rows are put below one another, in their proportions and a
    random order (``models.synthesis.join_clusters``).

    NOTE[DIFF]: the reference (arXiv 2507.19700) draws all parts from one seed, which makes rows of the same position
    depend on one another although nothing in the data does.
    """

    kind: Literal["concatenation"] = "concatenation"

    def faults(self, by: str) -> list[Fault]:
        return []

    def fit(self, parts: list[Table], seed: Seed) -> Joiner:
        aligned(parts)
        return SideBySide()


@dataclass(frozen=True)
class SideBySide(Joiner):
    """Also the join of parts that were drawn given one another; ``known`` are its facts."""

    known: dict[str, Any] = field(default_factory=dict)

    def join(self, draw: Draw, n: int, seed: Seed) -> Joined:
        parts = draw(0, n)
        count = aligned(parts)
        return Joined(beside(parts), proposed=count, accepted=count, facts=self.known, shortfall=n - count)
