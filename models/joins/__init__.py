"""Joins: how the drawn rows of disjoint parts become rows of one table. One file per kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from models.catalog import Catalog
from models.errors import Fault
from models.randomness import Seed
from models.schema import Frozen
from models.table import Table

Draw = Callable[[int, int], list[Table]]
"""``draw(round, n)``: ``n`` rows of every part, the same for the same round; a join may ask for several rounds."""

Each = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""``each(do, work)``: what ``do`` makes of every piece of ``work``, in that order, wherever it is carried out."""


def in_turn(do: Callable[[Any], Any], work: Sequence[Any]) -> list[Any]:
    """An ``Each`` in this process."""
    return [do(piece) for piece in work]


@dataclass(frozen=True)
class Joined:
    """The joined rows and how they came about. Fewer rows than asked for is a result with a name, never padding."""

    table: Table
    proposed: int
    accepted: int
    facts: dict[str, Any] = field(default_factory=dict)
    shortfall: int = 0


class Joiner(ABC):
    """A fitted join."""

    @abstractmethod
    def join(self, draw: Draw, n: int, seed: Seed) -> Joined:
        """Up to ``n`` joined rows, columns in the order of the parts."""


class Blockwise(Joiner, ABC):
    """A joiner whose blocks of rows do not depend on one another."""

    def join(self, draw: Draw, n: int, seed: Seed) -> Joined:
        return self.join_blocks(draw, n, seed, in_turn)

    @abstractmethod
    def join_blocks(self, draw: Draw, n: int, seed: Seed, each: Each) -> Joined:
        """The same, with the blocks joined by ``each``: it may carry them out in processes of their own."""


class Join(Frozen, ABC):
    """A join's settings. Subclasses add ``kind: Literal["<file name>"]`` and their own fields."""

    kind: str

    def faults(self, by: str) -> list[Fault]:
        """What cannot be joined of a table that was divided ``by`` columns or rows, told before any row is read."""
        if by == "columns":
            return []
        return [Fault("join", f"'{self.kind}' cannot join clusters of rows", "write 'join: concatenation'")]

    def given(self, parts: Sequence[str], part: str) -> tuple[str, ...]:
        """Those of the ``parts`` (names in order) that ``part`` is learnt and drawn given: none where all stand alone.

        They come before it.
        """
        return ()

    @abstractmethod
    def fit(self, parts: list[Table], seed: Seed) -> Joiner:
        """Learn how real parts belong together: row i of every part is row i of the real table."""


catalog: Catalog[Join] = Catalog("models.joins", Join)  # type: ignore[type-abstract]
