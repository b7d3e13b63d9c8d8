"""Rows in model form: one number per cell, whatever the column's type.

Numbers are themselves, times are ticks (``Column.number``), levels are their position in ``Column.alphabet``, and a
missing value is NaN. Generators, joins and measures know no other form; ``tasks/codec.py`` translates at the border.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from models.schema import Column, subset

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Table:
    """``values`` has shape (rows, columns), float64, read-only; column j is described by ``columns[j]``."""

    columns: tuple[Column, ...]
    values: Floats

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != len(self.columns):
            raise ValueError(f"{len(self.columns)} columns described, values have shape {self.values.shape}")
        values = self.values.view()
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def __getitem__(self, name: str) -> Floats:
        """The cells of one column, shape (rows,)."""
        return self.values[:, self.names.index(name)]

    def select(self, names: Iterable[str]) -> Table:
        wanted = tuple(names)
        if wanted == self.names:
            return self
        position = {name: j for j, name in enumerate(self.names)}
        return Table(subset(self.columns, wanted), self.values[:, [position[name] for name in wanted]])

    def take(self, rows: Integers | Booleans | slice) -> Table:
        return Table(self.columns, self.values[rows])

    @cached_property
    def missing(self) -> Booleans:
        """Shape (rows, columns)."""
        return np.isnan(self.values)

    @classmethod
    def of(cls, columns: Sequence[Column], cells: Sequence[Floats], rows: int) -> Table:
        """A table from one array per column; ``rows`` matters when there is no column at all."""
        values = np.empty((rows, len(columns)), dtype=np.float64, order="F")
        for j, column_cells in enumerate(cells):
            values[:, j] = column_cells
        return cls(tuple(columns), values)


def beside(tables: Sequence[Table]) -> Table:
    """Tables of equal length put side by side, row by row."""
    columns = tuple(column for table in tables for column in table.columns)
    return Table(columns, np.hstack([table.values for table in tables]))


def stack(tables: Sequence[Table]) -> Table:
    """Tables of the same columns put below one another."""
    if any(table.names != tables[0].names for table in tables):
        raise ValueError("tables of different columns cannot be stacked")
    return Table(tables[0].columns, np.vstack([table.values for table in tables]))


def digest(table: Table) -> str:
    """SHA-256 of the columns' names and all cells in their order: equal for equal tables, whatever made them."""
    cells = np.where(table.missing, np.nan, table.values) + 0.0
    text = hashlib.sha256(repr((table.names, cells.shape)).encode())
    text.update(np.ascontiguousarray(cells, dtype="<f8").tobytes())
    return text.hexdigest()
