"""Partitioners: rules that put the columns of a table into disjoint parts. One file per kind."""

from __future__ import annotations

from abc import ABC, abstractmethod

from models.catalog import Catalog
from models.errors import Fault
from models.partition import Partition
from models.randomness import Seed
from models.schema import Frozen, Schema
from models.table import Table


class Partitioner(Frozen, ABC):
    """A partitioner's settings. Subclasses add ``kind: Literal["<file name>"]`` and their own fields."""

    kind: str

    @abstractmethod
    def partition(self, table: Table, seed: Seed) -> Partition:
        """Every column of ``table`` in exactly one part; ``ratio`` filled in."""

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names that the parts will have, in order; known from the settings alone."""

    def faults(self, schema: Schema) -> list[Fault]:
        """What cannot be followed for this schema, told before any row is read."""
        return []


catalog: Catalog[Partitioner] = Catalog("models.partitioners", Partitioner)  # type: ignore[type-abstract]
