"""Parts as a person has written them down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field

from models.blocks import explained, sampled_association
from models.errors import Fault, SpecError, nearest
from models.partition import Part, Partition
from models.partitioners import Partitioner
from models.randomness import Seed
from models.schema import Column, Schema
from models.table import Table

PartName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$")]
"""A part's name is also the name of a file and of a random stream."""


class Given(Partitioner):
    """``parts`` names the columns of every part. Each modelled column has to stand in exactly one of them."""

    kind: Literal["given"] = "given"
    parts: dict[PartName, tuple[str, ...]]

    def partition(self, table: Table, seed: Seed) -> Partition:
        """Raises SpecError with every column that stands in no part, in two, or is not in ``table``."""
        faults = list(self._faults(table.names, ()))
        if faults:
            raise SpecError(faults)
        parts = [Part(name=name, columns=columns) for name, columns in self.parts.items()]
        blocks = [[table.names.index(name) for name in part.columns] for part in parts]
        return explained(parts, blocks, sampled_association(table, seed), "as given")

    def names(self) -> tuple[str, ...]:
        return tuple(self.parts)

    def columns_of(self, name: str, schema: Schema) -> tuple[Column, ...]:
        return tuple(column for column in schema.modelled if column.name in self.parts[name])

    def faults(self, schema: Schema) -> list[Fault]:
        modelled = [column.name for column in schema.modelled]
        return list(self._faults(modelled, [name for name in schema.names if name not in modelled]))

    def _faults(self, modelled: Sequence[str], others: Sequence[str]) -> Iterable[Fault]:
        if not self.parts:
            yield Fault("partitioner", "no part is given", "list the columns of at least one part")
        for part, columns in self.parts.items():
            if not columns:
                yield Fault(f"part '{part}'", "has no column", "list its columns, or leave the part out")
            for name in columns:
                if name in others:
                    yield Fault(f"part '{part}'", f"column '{name}' is not modelled", "leave it out of the parts")
                elif name not in modelled:
                    yield Fault(f"part '{part}'", f"unknown column '{name}'", nearest(name, modelled))
        times = Counter(name for columns in self.parts.values() for name in columns)
        for name, count in times.items():
            if count > 1:
                yield Fault(name, f"stands in the parts {count} times", "name it once")
        for name in modelled:
            if name not in times:
                yield Fault(name, "stands in no part", "add it to one")
