"""One cluster of rows for each level of a column."""

from __future__ import annotations

from typing import Literal

import numpy as np

from models.clusters import MOST, Placing, assigned, cluster_names, large_enough
from models.errors import Fault, nearest
from models.partition import Assignment
from models.partitioners import RowPartitioner
from models.randomness import Seed
from models.schema import LEVELLED, Column, Schema
from models.table import Floats, Integers, Table

MISSING = "missing"

NAMED = 8
"""So many levels of a stratum are named; the rest are counted."""


class Strata(RowPartitioner):
    """The rows of one level of ``column`` in one cluster, those in which it is missing in another.

    Levels of fewer than 50 rows, or of less than 5 % of them, go to the stratum whose rows they are most alike on
    average, all columns counting alike. Strata come in the order of the schema's levels. Rows are drawn in the strata's
    proportions to one row: a release as large as the training table tells how many people are in each, as far as its
    generator keeps to the level (``marginal`` may draw others).
    """

    kind: Literal["strata"] = "strata"
    column: str

    def partition(self, table: Table, seed: Seed) -> Assignment:
        column = table.columns[table.names.index(self.column)]
        levels = len(column.alphabet)
        labels = large_enough(table, _codes(table[self.column], levels), levels + 1)
        order = np.unique(labels).tolist()
        what = [self._what(column, table[self.column][labels == label]) for label in order]
        reason = f"rows divided by '{self.column}' into {len(order)} strata, small ones given to the most alike"
        if len(order) == 1:
            reason = f"one cluster holds all rows: no two strata of '{self.column}' are large enough to learn from"
        return assigned(table, labels, order, reason, what)

    def placing(self, train: Table, assignment: Assignment) -> Placing:
        """By level; one that no training row has belongs to the largest stratum."""
        column = train.columns[train.names.index(self.column)]
        home = np.full(len(column.alphabet) + 1, int(np.argmax(assignment.sizes)))
        home[_codes(train[self.column], len(column.alphabet))] = assignment.rows
        return lambda table: home[_codes(table[self.column], len(column.alphabet))]

    def names(self) -> tuple[str, ...]:
        return cluster_names(MOST)

    def faults(self, schema: Schema) -> list[Fault]:
        levelled = [column.name for column in schema.modelled if column.kind in LEVELLED]
        if self.column in levelled:
            return []
        remedy = nearest(self.column, levelled) if levelled else "the schema has no column with levels: divide columns"
        if self.column not in schema.names:
            return [Fault("partition.column", f"unknown column '{self.column}'", remedy)]
        kind = schema[self.column].kind
        found = f"kind {kind} has no levels to divide by" if kind not in LEVELLED else "is not modelled"
        return [Fault(self.column, found, remedy)]

    def _what(self, column: Column, cells: Floats) -> str:
        """The levels of a stratum's rows, which are the schema's."""
        codes = np.unique(cells[~np.isnan(cells)]).astype(np.int64).tolist()
        said = [str(column.alphabet[code]) for code in codes] + [MISSING] * bool(np.isnan(cells).any())
        more = f" and {len(said) - NAMED:,} more" if len(said) > NAMED else ""
        return f"{self.column}: {', '.join(said[:NAMED])}{more}"


def _codes(cells: Floats, levels: int) -> Integers:
    """Positions of levels, and ``levels`` for missing cells."""
    return np.where(np.isnan(cells), levels, cells).astype(np.int64)
