"""Exact nearest neighbours among rows of mixed types, in memory that grows with the rows and not with their square.

The distance of two rows is Gower's (Biometrics 27, 1971) without its division by the number of columns: the sum over
columns of a difference between 0 and 1. Levels differ by 0 or 1. Numbers differ by the share of the distinct real
values that lies between them, so that neither a long tail nor a peak that many rows share decides alone. Two missing
cells differ by 0, a missing and a present one by 1.

Distances are counted in whole 65536ths, so sums are exact and equal distances are equal, whatever the order of rows.

The reference rows are cut in two again and again (a k-d tree; Bentley, Communications of the ACM 18, 1975), and a box
is kept of what each piece holds. All queries go down the tree together: first each to the piece that the cuts lead to,
then to every other whose box is no farther away than the nearest row they have met. There they are compared with all
rows. Where columns go together, as they do among people, few pieces are left to visit. Where many numbers are
independent all are, and this is a comparison of all with all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil, isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.schema import Column
from models.table import Booleans, Floats, Integers, Table

GRID = 2**16
GAP = 2 * GRID
"""A missing number: farther than ``GRID`` from every present one, and differences are capped at ``GRID``."""
FARTHEST = int(np.iinfo(np.int32).max)

CELLS = 2**16
"""So many distances are held at once; about what a core's cache holds."""
WIDE = 2**12
"""So many of them make up a row of the array at most. Short rows are slow, so it is the longer side that makes rows."""
SMALLEST, LARGEST = 128, 1024
"""A piece of the tree is not cut if it has no more rows than the square root of all, or than the first of these."""
SAMPLE = 128
"""So many rows of a piece decide where it is cut."""
CODES = 256
"""Boxes take codes modulo this: they tell less of longer alphabets, but nothing wrong."""
TOGETHER = 2**16
VISITS = 40_000_000
"""At most ``TOGETHER`` queries go down a tree at once, and no more than make ``VISITS`` if each visits every piece."""

Grid = NDArray[np.int32]
Codes = NDArray[np.signedinteger[Any]]
Rows = NDArray[np.int32]
Cut = tuple[int, int]
Pieces = list[tuple[Rows, Cut | None]]


@dataclass(frozen=True, eq=False)
class Points:
    """Rows placed in a ``Space``: ``numbers`` (p, rows) on the grid, ``levels`` (q, rows) as codes, -1 if missing."""

    numbers: Grid
    levels: Codes

    def __len__(self) -> int:
        return int(self.numbers.shape[1])

    def take(self, rows: Integers | Rows) -> Points:
        return Points(np.take(self.numbers, rows, axis=1), np.take(self.levels, rows, axis=1))

    def part(self, rows: slice) -> Points:
        """The same memory, not a copy."""
        return Points(self.numbers[:, rows], self.levels[:, rows])

    @cached_property
    def gapped(self) -> Booleans:
        """Which numeric columns have a missing cell, shape (p,)."""
        gapped: Booleans = (self.numbers == GAP).any(axis=1)
        return gapped

    @cached_property
    def tree(self) -> Tree:
        """Made when these rows are first the reference, and kept."""
        return _tree(self)


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
        longest = max((len(self.columns[j].alphabet) for j in levelled), default=1)
        levels = np.empty((len(levelled), len(table)), dtype=np.min_scalar_type(-longest))
        for codes, j in zip(levels, levelled, strict=True):
            codes[:] = np.nan_to_num(table.values[:, j], nan=-1)
        return Points(numbers, levels)


def _on_grid(cells: Floats, knots: Floats) -> Grid:
    """Each number's place among the distinct real values, between them in proportion."""
    if not len(knots):
        return np.where(np.isnan(cells), GAP, 0).astype(np.int32)
    place = np.interp(cells, knots, np.linspace(0.0, GRID, len(knots)))
    return np.where(np.isnan(cells), GAP, np.rint(np.nan_to_num(place))).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Box:
    """What the points ``start:stop`` of a tree hold: their lowest and highest numbers, shape (p,), and which codes none
    of them has, 1 or 0, shape (q * CODES,).

    ``parts`` are the two boxes that it is cut into, or none. Rows whose cell in ``column`` (numbers first, then levels)
    is less than ``cut`` are in the first.
    """

    start: int
    stop: int
    low: Grid
    high: Grid
    absent: NDArray[np.uint8]
    parts: tuple[Box, ...] = ()
    column: int = 0
    cut: int = FARTHEST


@dataclass(frozen=True, eq=False)
class Tree:
    """The distinct rows of a table, like ones side by side, under the box ``root``; ``leaves`` boxes are not cut.

    ``first`` (points,) is the first row of the table that is the point, ``place`` (rows of the table,) the point that a
    row of the table is. In a box that is not cut, ``first`` ascends.
    """

    points: Points
    first: Integers
    place: Integers
    root: Box
    leaves: int


@dataclass(frozen=True, eq=False)
class Nearest:
    """``distances`` (queries,) to the nearest reference row, and ``rows`` (queries,): the first of those so near."""

    distances: Floats
    rows: Integers


def nearest(queries: Points, reference: Points) -> Nearest:
    """The nearest row of ``reference``, which is not empty, for every query."""
    first, of_query = distinct(queries)
    tree = reference.tree
    distances = np.empty(len(first))
    rows = np.full(len(first), len(reference))
    for block in _blocks(len(first), tree.leaves):
        found = _found(queries.take(first[block]), tree)
        distances[block] = found.best
        for query, points, tied in found.tied():
            point = tied.argmax(axis=1)
            row = np.where(tied[np.arange(len(point)), point], tree.first[points][point], len(reference))
            rows[block][query] = np.minimum(rows[block][query], row)
    return Nearest(distances[of_query] / GRID, rows[of_query])


def credit(queries: Points, reference: Points) -> Floats:
    """How many queries each row of ``reference``, which is not empty, is nearest to, shape (reference,).

    A query whose nearest rows are tied gives each of them an equal share of one, so the sum is the number of queries.
    """
    first, of_query = distinct(queries)
    tree = reference.tree
    weights = np.bincount(of_query, minlength=len(first)).astype(np.float64)
    copies = np.bincount(tree.place, minlength=len(tree.points)).astype(np.float64)
    received = np.zeros(len(tree.points))
    for block in _blocks(len(first), tree.leaves):
        found = _found(queries.take(first[block]), tree)
        rows = np.zeros(len(found.best))
        for query, points, tied in found.tied():
            rows[query] += tied @ copies[points]
        for query, points, tied in found.tied():
            received[points] += (weights[block] / rows)[query] @ tied
    return received[tree.place]


@dataclass(frozen=True, eq=False)
class Ties:
    """All nearest rows of each query: the rows of the reference that are one of its ``points`` of ``tree``."""

    tree: Tree
    points: list[Integers]

    @cached_property
    def _copies(self) -> Integers:
        """How many rows each point is."""
        return np.bincount(self.tree.place, minlength=len(self.tree.points))

    @cached_property
    def _by_point(self) -> tuple[Integers, Integers]:
        """All rows, those of one point side by side, and where the first of each point is."""
        return np.argsort(self.tree.place, kind="stable"), np.cumsum(self._copies) - self._copies

    @cached_property
    def counts(self) -> Integers:
        """How many nearest rows each query has, shape (queries,)."""
        return np.array([self._copies[points].sum() for points in self.points], dtype=np.int64)

    def rows(self, query: int) -> Integers:
        """The nearest rows of one query."""
        points, (rows, starts) = self.points[query], self._by_point
        counts = self._copies[points]
        runs: Integers = np.repeat(starts[points] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        found: Integers = rows[runs]
        return found


def ties(queries: Points, reference: Points) -> Ties:
    """All rows of ``reference``, which is not empty, that are nearest to each query."""
    tree = reference.tree
    points: list[Integers] = []
    for block in _blocks(len(queries), tree.leaves):
        found = _found(queries.part(block), tree)
        met = [(query[q], where.start + p) for query, where, tied in found.tied() for q, p in [tied.nonzero()]]
        query, point = (np.concatenate(each) for each in zip(*met, strict=True))
        ends = np.cumsum(np.bincount(query, minlength=len(found.best)))
        points += np.split(point[np.argsort(query, kind="stable")], ends[:-1])
    return Ties(tree, points)


def _blocks(queries: int, leaves: int) -> Iterator[slice]:
    """As few as there may be, of about equal size."""
    blocks = ceil(queries / max(1, min(TOGETHER, VISITS // leaves)))
    return _slices(queries, ceil(queries / max(1, blocks)))


def _slices(length: int, step: int) -> Iterator[slice]:
    """Of ``step`` each, or of one if that is less."""
    step = max(1, step)
    return (slice(start, min(start + step, length)) for start in range(0, length, step))


def distinct(points: Points) -> tuple[Integers, Integers]:
    """For each distinct row the first row that is it, and for each row the distinct one that it is.

    The cells of a row make up one number, which is replaced by its rank among all rows when it would grow too long.
    """
    key, span = np.zeros(len(points), dtype=np.int64), 1
    for cells in (*points.numbers, *points.levels) if len(points) else ():
        low = int(cells.min())
        width = int(cells.max()) - low + 1
        if span * width > 2**62:
            ranks, key = np.unique(key, return_inverse=True)
            span = len(ranks)
        key, span = key * width + cells - low, span * width
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first, inverse


def _tree(points: Points) -> Tree:
    first, of_row = distinct(points)
    pieces = _pieces(np.vstack([np.take(part, first, axis=1) for part in (points.numbers, points.levels)]), points)
    leaves = [rows[np.argsort(first[rows])] for rows, cut in pieces if not cut]
    order = np.concatenate(leaves)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    ordered = points.take(first[order])
    return Tree(ordered, first[order], place[of_row], _boxes(ordered, pieces), len(leaves))


def _pieces(cells: Grid, points: Points) -> Pieces:
    """The pieces that the distinct rows, whose ``cells`` have shape (p + q, distinct), are cut into, and all cuts.

    A cut, with no rows, comes right before the first of its two parts, and all that this is cut into before the second.
    """
    numeric = np.arange(len(cells)) < len(points.numbers)
    most = min(max(SMALLEST, isqrt(cells.shape[1])), LARGEST)
    pieces: Pieces = []
    todo = [np.arange(cells.shape[1], dtype=np.int32)]
    while todo:
        rows = todo.pop()
        if len(rows) <= most:
            pieces.append((rows, None))
            continue
        column, value = cut = _cut(np.take(cells, rows[:: max(1, len(rows) // SAMPLE)], axis=1), numeric)
        below = cells[column, rows] < value if value < FARTHEST else np.arange(len(rows)) < len(rows) // 2
        pieces.append((rows[:0], cut))
        todo += [rows[~below], rows[below]]
    return pieces


def _cut(cells: Grid, numeric: Booleans) -> Cut:
    """The column, and the value in it, at which a sample of rows, shape (p + q, rows), is best divided.

    Each column could be cut at its median, before or after all rows that have it, whichever is nearer the middle. Best
    is what puts the most rows on the smaller side times the farthest apart: 1 for levels, the distance of the two means
    for numbers. The value is FARTHEST if the rows are all the same. Then the piece is halved as it lies.
    """
    cells = np.sort(cells, axis=1)
    rows = cells.shape[1]
    median = cells[:, rows // 2]
    before, after = (cells < median[:, None]).sum(axis=1), (cells <= median[:, None]).sum(axis=1)
    upper = (before == 0) | (np.abs(after - rows / 2) < np.abs(before - rows / 2))
    below = np.where(upper, after, before)
    lower = np.where(np.arange(rows) < below[:, None], cells, 0).sum(axis=1)
    means = lower / below, (cells.sum(axis=1) - lower) / np.maximum(rows - below, 1)
    gain = np.minimum(below, rows - below) * np.where(numeric, np.minimum(means[1] - means[0], GRID), GRID)
    column = int(gain.argmax())
    return column, int(median[column]) + int(upper[column]) if gain[column] > 0 else FARTHEST


def _boxes(points: Points, pieces: Pieces) -> Box:
    boxes: list[Box] = []
    stop = len(points)
    for rows, cut in reversed(pieces):
        if not cut:
            start = stop - len(rows)
            held = points.part(slice(start, stop))
            absent = np.ones(len(held.levels) * CODES, dtype=np.uint8)
            absent[_box_codes(held)] = 0
            boxes.append(Box(start, stop, held.numbers.min(axis=1), held.numbers.max(axis=1), absent))
            stop = start
        else:
            one, two = boxes.pop(), boxes.pop()
            low, high = np.minimum(one.low, two.low), np.maximum(one.high, two.high)
            boxes.append(Box(one.start, two.stop, low, high, one.absent & two.absent, (one, two), *cut))
    return boxes.pop()


def _box_codes(points: Points) -> Integers:
    """Where the ``absent`` of a box tells of each cell, shape (q, points)."""
    return points.levels % np.int64(CODES) + CODES * np.arange(len(points.levels))[:, None]


@dataclass(frozen=True, eq=False)
class _Found:
    """How far each of some distinct queries is from its nearest points of a tree: ``best`` (queries,).

    ``hits`` are boxes, the queries that had met nothing nearer before they came there than there, and how near that is.
    """

    asked: Points
    tree: Tree
    best: Grid
    hits: list[tuple[Box, Rows, Grid]]

    def tied(self) -> Iterator[tuple[Rows, slice, Booleans]]:
        """Which of some points are nearest to some queries, shape (queries, points), until all that are have come."""
        for box, queries, least in self.hits:
            still = queries[least == self.best[queries]]
            for some, points, tile in _tiles(self.asked, still, self.tree.points, box):
                yield still[some], points, tile == self.best[still[some]][:, None]


def _found(asked: Points, tree: Tree) -> _Found:
    best = np.full(len(asked), FARTHEST, dtype=np.int32)
    hits = []
    for box, queries in _visits(asked, tree.root, best):
        least = np.full(len(queries), FARTHEST, dtype=np.int32)
        for some, _, tile in _tiles(asked, queries, tree.points, box):
            least[some] = np.minimum(least[some], tile.min(axis=1))
        close = least <= best[queries]
        hits.append((box, queries[close], least[close]))
        best[queries[close]] = least[close]
    return _Found(asked, tree, best, hits)


def _visits(asked: Points, root: Box, best: Grid) -> Iterator[tuple[Box, Rows]]:
    """Boxes that are not cut, and the queries that may have a nearest point in each; no pair comes twice.

    ``best`` is the distance that each query has met, which falls from visit to visit.
    """
    home = np.empty(len(asked), dtype=np.int64)
    for box, queries in _homes(asked, root):
        home[queries] = box.start
        yield box, queries
    codes = _box_codes(asked)
    todo = [(root, np.arange(len(asked), dtype=np.int32))]
    while todo:
        box, queries = todo.pop()
        parts = [queries[some] for some in _slices(len(queries), WIDE)]
        queries = np.concatenate([part[_bounds(asked, part, codes, box) <= best[part]] for part in parts])
        if len(queries) and box.parts:
            todo += [(part, queries) for part in reversed(box.parts)]
        elif len(queries):
            yield box, queries[home[queries] != box.start]


def _homes(asked: Points, root: Box) -> Iterator[tuple[Box, Rows]]:
    """The boxes that queries come to when they go where the cuts send them."""
    cells = np.vstack([asked.numbers, asked.levels])
    todo = [(root, np.arange(len(asked), dtype=np.int32))]
    while todo:
        box, queries = todo.pop()
        if len(queries) and box.parts:
            below = cells[box.column, queries] < box.cut
            todo += [(box.parts[1], queries[~below]), (box.parts[0], queries[below])]
        elif len(queries):
            yield box, queries


def _bounds(asked: Points, queries: Rows, codes: Integers, box: Box) -> Grid:
    """No point in the box is nearer than this, shape (queries,). ``codes`` are the box codes of all that is asked."""
    absent = np.take(box.absent, np.take(codes, queries, axis=1)).sum(axis=0, dtype=np.int32)
    numbers = np.take(asked.numbers, queries, axis=1)
    apart = np.maximum(box.low[:, None] - numbers, numbers - box.high[:, None])
    # Arrays, as numpy is slow to compare with a scalar.
    np.maximum(apart, np.zeros_like(apart), out=apart)
    np.minimum(apart, np.full_like(apart, GRID), out=apart)
    bounds: Grid = absent * np.int32(GRID) + apart.sum(axis=0, dtype=np.int32)
    return bounds


def _tiles(asked: Points, queries: Rows, known: Points, box: Box) -> Iterator[tuple[slice, slice, Grid]]:
    """Distances, shape (queries in the first slice, points in the second), from ``queries`` to all points of a box."""
    gapped = asked.gapped | known.gapped
    size, many = box.stop - box.start, len(queries)
    wide = min(WIDE, max(size, many))
    steps = (wide, CELLS // wide) if many > size else (CELLS // wide, wide)
    for some in _slices(many, steps[0]):
        one = asked.take(queries[some])
        for part in _slices(size, steps[1]):
            points = slice(box.start + part.start, box.start + part.stop)
            other = known.part(points)
            yield some, points, _apart(other, one, gapped).T if many > size else _apart(one, other, gapped)


def _apart(one: Points, other: Points, gapped: Booleans) -> Grid:
    """All distances, shape (one, other). ``gapped`` (p,): in which numeric columns cells may be missing."""
    shape = (len(one), len(other))
    unlike, mismatches = np.empty(shape, np.bool_), np.zeros(shape, np.uint8 if len(one.levels) < 256 else np.uint16)
    for code, codes in zip(one.levels, other.levels, strict=True):
        np.not_equal(code[:, None], codes, out=unlike)
        np.add(mismatches, unlike.view(np.uint8), out=mismatches)
    total: Grid = np.multiply(mismatches, np.int32(GRID), dtype=np.int32)
    step = np.empty_like(total)
    full = np.full_like(total, GRID) if gapped.any() else step
    for number, numbers, gaps in zip(one.numbers, other.numbers, gapped, strict=True):
        np.subtract(number[:, None], numbers, out=step)
        np.abs(step, out=step)
        if gaps:
            np.minimum(step, full, out=step)
        np.add(total, step, out=total)
    return total
