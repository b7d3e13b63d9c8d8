"""Generators: settings that can be fitted to a table, and the samplers that come of it. One file per kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

from models.catalog import Catalog
from models.randomness import Seed
from models.schema import Column, Frozen
from models.state import State
from models.table import Table


class Sampler(ABC):
    """A fitted generator. It holds no training row and no training value.

    Bounds, bins and levels come from the schema.
    """

    columns: tuple[Column, ...]

    @abstractmethod
    def sample(self, n: int, seed: Seed) -> Table:
        """``n`` new rows of ``columns``. The same seed gives the same rows."""

    @abstractmethod
    def state(self) -> State:
        """All of it, as facts and arrays; ``restore`` of the state samples the same rows for the same seed."""

    @classmethod
    @abstractmethod
    def restore(cls, state: State, columns: tuple[Column, ...]) -> Self: ...


class Generator(Frozen, ABC):
    """A generator's settings. Subclasses add ``kind: Literal["<file name>"]``, first, and their own fields."""

    kind: str

    sampler: ClassVar[type[Sampler]]
    """The class that ``fit`` returns, for restoring a stored state."""

    @abstractmethod
    def fit(self, table: Table, seed: Seed) -> Sampler:
        """Learn the rows of ``table`` (at least one row and one column). Raises SynthesisError if it cannot."""

    def width(self, columns: tuple[Column, ...]) -> int:
        """How many numbers per row the encoded table will take, estimated before anything is fitted."""
        return len(columns)


catalog: Catalog[Generator] = Catalog("models.generators", Generator)  # type: ignore[type-abstract]
