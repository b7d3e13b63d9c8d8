"""Associated columns put into different parts, so that a join has something to recover the rows by."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from models.blocks import divisible, numbered, part_names, sampled_association, too_many
from models.errors import Fault
from models.partition import Partition
from models.partitioners import Partitioner
from models.randomness import Seed
from models.schema import Schema
from models.table import Floats, Table


class Correlated(Partitioner):
    """The rule of Disjoint Generative Models (arXiv 2507.19700): the most associated remaining pair is separated.

    With ``parts`` parts, the pair is joined by the columns that are most associated with those already taken, one
    column for each part, until no column remains. Parts differ in size by one column at most.

    NOTE[DIFF]: the reference takes |Pearson's r| of level codes; here it is ``models.association``, which is meant for
    levels, too. The reference knows two parts and does not say which column of a pair goes where; here a column goes to
    the part whose columns it is least associated with, which leaves the most association between parts.
    """

    kind: Literal["correlated"] = "correlated"
    parts: int = Field(default=2, ge=1)

    def partition(self, table: Table, seed: Seed) -> Partition:
        divisible(table, self.parts)
        matrix = sampled_association(table, seed)
        blocks: list[list[int]] = [[] for _ in range(self.parts)]
        remaining = list(range(len(table.columns)))
        while remaining:
            taken = _most_associated(matrix, remaining, self.parts)
            _separate(matrix, taken, blocks)
            remaining = [j for j in remaining if j not in taken]
        return numbered(table, blocks, matrix, "associated columns put into different parts")

    def names(self) -> tuple[str, ...]:
        return part_names(self.parts)

    def faults(self, schema: Schema) -> list[Fault]:
        return too_many(self.parts, len(schema.modelled))


def _most_associated(matrix: Floats, remaining: list[int], count: int) -> list[int]:
    """Up to ``count`` remaining columns: the most associated pair, then what is most associated with those taken."""
    if len(remaining) <= count:
        return remaining
    among = matrix[np.ix_(remaining, remaining)].copy()
    np.fill_diagonal(among, -1.0)
    taken = [int(among.argmax()) // len(remaining)]
    while len(taken) < count:
        strength = among[taken].max(axis=0)
        strength[taken] = -1.0
        taken.append(int(strength.argmax()))
    return [remaining[position] for position in taken]


def _separate(matrix: Floats, taken: list[int], blocks: list[list[int]]) -> None:
    """Puts each of the taken columns into a part of its own, the one whose columns it is least associated with."""
    free = list(range(len(blocks)))
    for column in taken:
        home = min(free, key=lambda number: (float(np.sum(matrix[column, blocks[number]] ** 2)), number))
        blocks[home].append(column)
        free.remove(home)
