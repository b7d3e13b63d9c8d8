"""Exact nearest neighbours among rows of mixed types, in memory that grows with the rows and not with their square.

The distance of two rows is Gower's (Biometrics 27, 1971) without its division by the number of columns: the sum over
columns of a difference between 0 and 1. Levels differ by 0 or 1. Numbers differ by the share of the distinct real
values that lies between them, so that neither a long tail nor a peak that many rows share decides alone. Two missing
cells differ by 0, a missing and a present one by 1.

Distances are counted in whole 65536ths, so sums are exact and equal distances are equal, whatever the order of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.schema import Column
from models.table import Floats, Integers, Table

GRID = 2**16
GAP = 2 * GRID
"""A missing number: farther than ``GRID`` from every present one, and differences are capped at ``GRID``."""

CELLS = 2**18
"""So many distances are held at once; about what a core's cache holds."""

Grid = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Points:
    """Rows placed in a ``Space``: ``numbers`` (p, rows) on the grid, ``levels`` (q, rows) as codes, -1 if missing."""

    numbers: Grid
    levels: Grid

    def __len__(self) -> int:
        return int(self.numbers.shape[1])

    def take(self, rows: Integers) -> Points:
        return Points(np.ascontiguousarray(self.numbers[:, rows]), np.ascontiguousarray(self.levels[:, rows]))


@dataclass(frozen=True, eq=False)
class Space:
    """The common scale of all compared rows. ``knots`` are each numeric column's distinct real values, sorted."""

    columns: tuple[Column, ...]
    knots: tuple[Floats, ...]

    @classmethod
    def of(cls, *tables: Table) -> Space:
        """The space of real rows. All of them count alike, so it favours none of the ``tables``."""
        columns = tables[0].columns
        pooled = [np.concatenate([table.values[:, j] for table in tables]) for j, c in enumerate(columns) if c.numeric]
        return cls(columns, tuple(np.unique(cells[~np.isnan(cells)]) for cells in pooled))

    def place(self, table: Table) -> Points:
        numeric = [j for j, column in enumerate(self.columns) if column.numeric]
        levelled = [j for j, column in enumerate(self.columns) if not column.numeric]
        numbers = np.empty((len(numeric), len(table)), dtype=np.int32)
        for row, j, knots in zip(numbers, numeric, self.knots, strict=True):
            row[:] = _on_grid(table.values[:, j], knots)
        return Points(numbers, np.nan_to_num(table.values[:, levelled], nan=-1).T.astype(np.int32, order="C"))


def _on_grid(cells: Floats, knots: Floats) -> Grid:
    """Each number's place among the distinct real values, between them in proportion."""
    if not len(knots):
        return np.where(np.isnan(cells), GAP, 0).astype(np.int32)
    place = np.interp(cells, knots, np.linspace(0.0, GRID, len(knots)))
    return np.where(np.isnan(cells), GAP, np.rint(np.nan_to_num(place))).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Nearest:
    """``distances`` (queries,) to the nearest reference row, and ``rows`` (queries,): one that is at that distance."""

    distances: Floats
    rows: Integers


def nearest(queries: Points, reference: Points) -> Nearest:
    """The nearest row of ``reference``, which is not empty, for every query."""
    asked, of_query, _ = _distinct(queries)
    known, _, first = _distinct(reference)
    distances = np.empty(len(asked))
    rows = np.empty(len(asked), dtype=np.int64)
    for block, tile in _tiles(asked, known):
        rows[block] = tile.argmin(axis=1)
        distances[block] = tile[np.arange(len(tile)), rows[block]]
    return Nearest(distances[of_query] / GRID, first[rows][of_query])


def credit(queries: Points, reference: Points) -> Floats:
    """How many queries each reference row is nearest to, shape (reference,).

    A query whose nearest rows are tied gives each of them an equal share of one, so the sum is the number of queries.
    """
    asked, of_query, _ = _distinct(queries)
    known, of_reference, _ = _distinct(reference)
    weights = np.bincount(of_query, minlength=len(asked)).astype(np.float64)
    copies = np.bincount(of_reference, minlength=len(known)).astype(np.float64)
    received = np.zeros(len(known))
    for block, tile in _tiles(asked, known):
        query, row = np.divmod(np.flatnonzero(tile == tile.min(axis=1, keepdims=True)), len(known))
        per_row = weights[block] / np.bincount(query, weights=copies[row])
        np.add.at(received, row, per_row[query])
    return received[of_reference]


def _distinct(points: Points) -> tuple[Points, Integers, Integers]:
    """The distinct rows, for each row the one that it equals, and for each distinct one the first row that is it."""
    together = np.ascontiguousarray(np.vstack([points.numbers, points.levels]).T)
    if not together.shape[1]:
        together = np.zeros((len(points), 1), dtype=np.int32)
    whole = together.view([("row", f"V{together.itemsize * together.shape[1]}")])["row"].ravel()
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    return points.take(first), inverse, first


def _tiles(queries: Points, reference: Points) -> Iterator[tuple[slice, Grid]]:
    """Distances from a few queries at a time to every reference row: int32, shape (queries of the slice, reference).

    The array is written over for the next slice.
    """
    height = max(1, min(len(queries), CELLS // len(reference)))
    shape = (height, len(reference))
    total, difference, cap = np.empty(shape, np.int32), np.empty(shape, np.int32), np.full(shape, GRID, np.int32)
    gapped = (queries.numbers == GAP).any(axis=1) | (reference.numbers == GAP).any(axis=1)
    unlike = np.empty(shape, np.bool_)
    mismatches = np.empty(shape, np.uint8 if len(queries.levels) < 256 else np.uint16)
    for start in range(0, len(queries), height):
        block = slice(start, min(start + height, len(queries)))
        tile, step, full = (array[: block.stop - start] for array in (total, difference, cap))
        flags, counts = unlike[: len(tile)], mismatches[: len(tile)]
        counts[:] = 0
        for asked, known in zip(queries.levels, reference.levels, strict=True):
            np.not_equal(asked[block, None], known[None, :], out=flags)
            np.add(counts, flags.view(np.uint8), out=counts)
        np.multiply(counts, np.int32(GRID), out=tile, dtype=np.int32)
        for asked, known, gaps in zip(queries.numbers, reference.numbers, gapped, strict=True):
            np.subtract(asked[block, None], known[None, :], out=step)
            np.abs(step, out=step)
            if gaps:
                np.minimum(step, full, out=step)
            np.add(tile, step, out=tile)
        yield block, tile
