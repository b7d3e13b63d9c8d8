"""Associated columns kept together, so that little dependence is left for a join to recover."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from models.blocks import divisible, numbered, part_names, sampled_association, too_many
from models.errors import Fault
from models.grouping import grouped
from models.partition import Partition
from models.partitioners import Partitioner
from models.randomness import Seed
from models.schema import Schema
from models.table import Table


class Clustered(Partitioner):
    """``parts`` parts of equal size, give or take one column, with as much association within them as can be found.

    ``models.grouping`` searches. It lowers ``Partition.ratio``, which is what plain concatenation wants; a validator
    wants the opposite (``correlated``).
    """

    kind: Literal["clustered"] = "clustered"
    parts: int = Field(default=2, ge=1)

    def partition(self, table: Table, seed: Seed) -> Partition:
        divisible(table, self.parts)
        matrix = sampled_association(table, seed)
        label = grouped(matrix, self.parts)
        blocks = [np.flatnonzero(label == number).tolist() for number in range(self.parts)]
        return numbered(table, blocks, matrix, "associated columns kept together")

    def names(self) -> tuple[str, ...]:
        return part_names(self.parts)

    def faults(self, schema: Schema) -> list[Fault]:
        return too_many(self.parts, len(schema.modelled))
