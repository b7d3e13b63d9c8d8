"""Associated columns kept together, so that little dependence is left for a join to recover."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from models.blocks import divisible, numbered, sampled_association, sizes, too_many
from models.errors import Fault
from models.partition import Partition
from models.partitioners import Partitioner
from models.randomness import Seed
from models.schema import Schema
from models.table import Floats, Integers, Table


class Clustered(Partitioner):
    """``parts`` parts of equal size, give or take one column, with as much association within them as can be found.

    Columns are lined up by average-linkage clustering of 1 - association, the line is cut into equal pieces, and pairs
    of columns change places as long as that moves squared association from between parts to within. It lowers
    ``Partition.ratio``, which is what plain concatenation wants; a validator wants the opposite (``correlated``).
    """

    kind: Literal["clustered"] = "clustered"
    parts: int = Field(default=2, ge=1)

    def partition(self, table: Table, seed: Seed) -> Partition:
        divisible(table, self.parts)
        matrix = sampled_association(table, seed)
        label = np.repeat(np.arange(self.parts), sizes(len(table.columns), self.parts))
        if self.parts > 1:
            line = _line(matrix)
            label[line] = label.copy()
            label = _improved(matrix, label, self.parts)
        blocks = [np.flatnonzero(label == number).tolist() for number in range(self.parts)]
        return numbered(table, blocks, matrix, "associated columns kept together")

    def faults(self, schema: Schema) -> list[Fault]:
        return too_many(self.parts, len(schema.modelled))


def _line(matrix: Floats) -> Integers:
    """The columns in the order of the clustering tree's leaves: what is close in it is associated."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distance = 1.0 - matrix
    np.fill_diagonal(distance, 0.0)
    leaves: Integers = leaves_list(linkage(squareform(distance, checks=False), "average")).astype(np.int64)
    return leaves


def _improved(matrix: Floats, label: Integers, parts: int) -> Integers:
    """``label`` (one part per column) after the exchanges that gain most, one at a time, until none gains."""
    strength = matrix**2
    np.fill_diagonal(strength, 0.0)
    label = label.copy()
    columns = np.arange(len(label))
    for _ in range(10 * len(label)):
        towards = strength @ (label[:, None] == np.arange(parts)).astype(np.float64)
        move = towards[:, label] - towards[columns, label][:, None]
        gain = move + move.T - 2 * strength
        gain[label[:, None] == label[None, :]] = 0.0
        first, second = divmod(int(gain.argmax()), len(label))
        if gain[first, second] <= 1e-9:
            break
        label[[first, second]] = label[[second, first]]
    return label
