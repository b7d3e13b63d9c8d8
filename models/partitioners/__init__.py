"""Partitioners: rules that divide a table, its columns into parts or its rows into clusters. One file per kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np
from pydantic import field_validator

from models.catalog import Catalog
from models.clusters import Placing
from models.errors import Fault
from models.evidence import Crowd
from models.partition import Assignment, Divided
from models.randomness import Seed
from models.schema import Column, Frozen, Schema
from models.table import Table


class Partitioner(Frozen, ABC):
    """A partitioner's settings. Subclasses add ``kind: Literal["<file name>"]`` and their own fields.

    ``by`` says what is divided. A kind divides either columns or rows, so that it may be left out.
    """

    kind: str
    by: Literal["columns", "rows"] = "columns"

    @field_validator("by", mode="after")
    @classmethod
    def _as_the_kind_has_it(cls, by: str) -> str:
        own = cls.model_fields["by"].default
        if by != own:
            raise ValueError(f"this kind divides {own}, not {by}; {by} are divided by: {', '.join(kinds(by))}")
        return by

    @abstractmethod
    def partition(self, table: Table, seed: Seed) -> Divided:
        """Every column of ``table`` in exactly one part, and ``ratio`` filled in; or every row in one cluster."""

    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names that the pieces may have, in order; known from the settings alone."""

    def columns_of(self, name: str, schema: Schema) -> tuple[Column, ...]:
        """The columns that the piece called ``name`` may have: all of them where the settings alone do not tell."""
        return schema.modelled

    def extended(self, partition: Divided, train: Table, more: Table) -> Divided:
        """The division of the rows of ``train`` and, below them, ``more`` rows, by what was made of ``train``."""
        return partition

    def crowds(self, partition: Divided, train: Table, holdout: Table) -> tuple[Crowd, ...]:
        """The people of each cluster among training and held-out rows, by one rule for both; none where one has all."""
        return ()

    def faults(self, schema: Schema) -> list[Fault]:
        """What cannot be followed for this schema, told before any row is read."""
        return []


class RowPartitioner(Partitioner):
    """A partitioner that divides rows into clusters, the same columns in each."""

    by: Literal["columns", "rows"] = "rows"

    @abstractmethod
    def partition(self, table: Table, seed: Seed) -> Assignment:
        """Every row of ``table``, which has at least one, in exactly one cluster; none is too small to learn from."""

    @abstractmethod
    def placing(self, train: Table, assignment: Assignment) -> Placing:
        """To which cluster other rows belong, such as held-out ones, by what was assigned to the rows of ``train``."""

    def extended(self, partition: Divided, train: Table, more: Table) -> Divided:
        assert isinstance(partition, Assignment)
        return Assignment(partition.told, np.concatenate([partition.rows, self.placing(train, partition)(more)]))

    def crowds(self, partition: Divided, train: Table, holdout: Table) -> tuple[Crowd, ...]:
        assert isinstance(partition, Assignment)
        if len(partition.names) < 2:
            return ()
        place = self.placing(train, partition)
        known, unseen = place(train), place(holdout)
        return tuple(Crowd(name, known == at, unseen == at) for at, name in enumerate(partition.names))


catalog: Catalog[Partitioner] = Catalog("models.partitioners", Partitioner)  # type: ignore[type-abstract]


def kinds(by: str) -> tuple[str, ...]:
    """The kinds that divide columns, or rows (imports every kind)."""
    return tuple(kind for kind in catalog.kinds() if catalog.settings(kind).model_fields["by"].default == by)
