"""Associated columns kept together, so that little dependence is left for a join to recover."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from models.blocks import divisible, numbered, part_names, sampled_association, sizes, too_many
from models.errors import Fault
from models.partition import Partition
from models.partitioners import Partitioner
from models.randomness import Seed
from models.schema import Schema
from models.table import Floats, Integers, Table

STARTS = 8
"""So many ways of cutting the ring are tried."""


class Clustered(Partitioner):
    """``parts`` parts of equal size, give or take one column, with as much association within them as can be found.

    Columns are lined up by average-linkage clustering of 1 - association, the line is closed to a ring and cut into
    equal pieces at several places, and pairs of columns change places as long as that moves squared association from
    between parts to within; the best end counts. It lowers ``Partition.ratio``, which is what plain concatenation
    wants; a validator wants the opposite (``correlated``).
    """

    kind: Literal["clustered"] = "clustered"
    parts: int = Field(default=2, ge=1)

    def partition(self, table: Table, seed: Seed) -> Partition:
        divisible(table, self.parts)
        matrix = sampled_association(table, seed)
        label = np.repeat(np.arange(self.parts), sizes(len(table.columns), self.parts))
        if self.parts > 1:
            ends = [_improved(matrix, start, self.parts) for start in _starts(_line(matrix), label)]
            label = max(ends, key=lambda end: _within(matrix, end))
        blocks = [np.flatnonzero(label == number).tolist() for number in range(self.parts)]
        return numbered(table, blocks, matrix, "associated columns kept together")

    def names(self) -> tuple[str, ...]:
        return part_names(self.parts)

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


def _starts(line: Integers, label: Integers) -> list[Integers]:
    """The parts of the columns when the ring is cut at different places; ``label`` is the parts of a straight line."""
    turns = np.unique(np.linspace(0, np.count_nonzero(label == 0), STARTS, endpoint=False).astype(np.int64))
    return [label[np.argsort(np.roll(line, -turn))] for turn in turns]


def _within(matrix: Floats, label: Integers) -> float:
    return float(np.sum(matrix[label[:, None] == label[None, :]] ** 2))


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
