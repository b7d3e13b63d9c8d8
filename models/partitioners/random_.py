"""Columns dealt to parts at random."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from models.blocks import divisible, numbered, part_names, sampled_association, sizes, too_many
from models.errors import Fault
from models.partition import Partition
from models.partitioners import Partitioner
from models.randomness import Seed
from models.schema import Schema
from models.table import Table


class Random(Partitioner):
    """``parts`` parts of equal size, give or take one column, drawn without a look at the rows."""

    kind: Literal["random"] = "random"
    parts: int = Field(default=2, ge=1)

    def partition(self, table: Table, seed: Seed) -> Partition:
        divisible(table, self.parts)
        order = seed.child("columns").generator().permutation(len(table.columns)).tolist()
        blocks = []
        for size in sizes(len(order), self.parts):
            blocks.append(order[:size])
            order = order[size:]
        return numbered(table, blocks, sampled_association(table, seed), "dealt at random")

    def names(self) -> tuple[str, ...]:
        return part_names(self.parts)

    def faults(self, schema: Schema) -> list[Fault]:
        return too_many(self.parts, len(schema.modelled))
