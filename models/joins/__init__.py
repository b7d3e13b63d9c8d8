"""Joins: how the drawn rows of disjoint parts become rows of one table. One file per kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from models.catalog import Catalog
from models.errors import Fault
from models.randomness import Seed
from models.schema import Frozen
from models.table import Table

Draw = Callable[[int, int], list[Table]]
"""``draw(round, n)``: ``n`` rows of every part, the same for the same round; a join may ask for several rounds."""


@dataclass(frozen=True)
class Joined:
    """The joined rows and how they came about. Fewer rows than asked for is a result with a name, never padding."""

    table: Table
    proposed: int
    accepted: int
    facts: dict[str, Any] = field(default_factory=dict)
    shortfall: int = 0


def rounded(facts: Any) -> Any:
    """Facts to three decimals, however nested: to its last digit, a figure would be a fingerprint of real rows."""
    if isinstance(facts, Mapping):
        return {name: rounded(each) for name, each in facts.items()}
    if isinstance(facts, (list, tuple)):
        return [rounded(each) for each in facts]
    return round(facts, 3) if isinstance(facts, float) else facts


class Joiner(ABC):
    """A fitted join."""

    @abstractmethod
    def join(self, draw: Draw, n: int, seed: Seed) -> Joined:
        """Up to ``n`` joined rows, columns in the order of the parts."""


class Join(Frozen, ABC):
    """A join's settings. Subclasses add ``kind: Literal["<file name>"]`` and their own fields."""

    kind: str

    def faults(self, by: str) -> list[Fault]:
        """What cannot be joined of a table that was divided ``by`` columns or rows, told before any row is read."""
        if by == "columns":
            return []
        return [Fault("join", f"'{self.kind}' cannot join clusters of rows", "write 'join: concatenation'")]

    @abstractmethod
    def fit(self, parts: list[Table], seed: Seed) -> Joiner:
        """Learn how real parts belong together: row i of every part is row i of the real table."""


catalog: Catalog[Join] = Catalog("models.joins", Join)  # type: ignore[type-abstract]
