"""Generators: settings that can be fitted to a table, and the samplers that come of it. One file per kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol, Self

from models.catalog import Catalog
from models.errors import Fault
from models.randomness import Seed
from models.schema import Column, Frozen
from models.state import State
from models.table import Integers, Table


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

    def faults(self, columns: Sequence[Column]) -> list[Fault]:
        """What cannot be followed for a part of these ``columns``, told before any row is read; ``fit`` raises it, too.

        Faults stand at a setting. More columns bring no further fault, so that what all columns of a table cannot meet
        no part of them can.
        """
        return []

    def width(self, columns: tuple[Column, ...]) -> int:
        """How many numbers per row the encoded table will take, estimated before anything is fitted."""
        return len(columns)


class ConditionalSampler(Sampler, ABC):
    """Draws its columns for rows whose other columns, ``given``, are there already; it may have been given none.

    ``restore`` takes the columns given and, after them, those drawn.
    """

    given: tuple[Column, ...]

    @property
    @abstractmethod
    def informed(self) -> bool:
        """Whether what it draws depends on the rows given; not where none were, or nothing was learnt from them."""

    @abstractmethod
    def sample_given(self, rows: Table, seed: Seed) -> Table:
        """A row of ``columns`` beside each of ``rows``, which have the columns ``given`` and may have others."""

    def sample(self, n: int, seed: Seed) -> Table:
        """The same where nothing was given."""
        return self.sample_given(Table.of((), (), n), seed)


class ConditionalGenerator(Generator, ABC):
    """One that can also learn columns given others."""

    def fit(self, table: Table, seed: Seed) -> ConditionalSampler:
        return self.fit_given(table, Table.of((), (), len(table)), seed)

    @abstractmethod
    def fit_given(self, table: Table, given: Table, seed: Seed) -> ConditionalSampler:
        """Learn the rows of ``table`` (at least one row and one column) given those of the same people in ``given``."""


class Keeper(Protocol):
    """Where an unfinished training is kept, and found again after a kill."""

    def load(self) -> State | None:
        """What was saved last, if anything."""

    def save(self, state: State) -> None: ...


class Resumable(Generator, ABC):
    """One that trains for long: it saves unfinished training, and clusters of rows share one training, each with a part
    of its own.
    """

    def fit(self, table: Table, seed: Seed) -> Sampler:
        return self.resume(table, seed, None)

    @abstractmethod
    def resume(self, table: Table, seed: Seed, keeper: Keeper | None) -> Sampler:
        """``fit`` that goes on from what ``keeper`` has of the same fit, if anything, and ends the same."""

    @abstractmethod
    def resume_clusters(self, table: Table, labels: Integers, seed: Seed, keeper: Keeper | None) -> tuple[Sampler, ...]:
        """A sampler for each cluster. ``labels`` say of which one a row is, shape (rows,): 0, 1, ..., each with a row.

        Raises SynthesisError for others.
        """


catalog: Catalog[Generator] = Catalog("models.generators", Generator)  # type: ignore[type-abstract]
