"""Rows as a network sees them: normal scores for numbers, indicators for levels and for what is missing.

NOTE[DIFF]: CTGAN (arXiv 1907.00503) gives a number as its mode and its place within it. Here it is one normal score of
its code, drawn evenly from the stretch of the normal scale that the code takes up. Every number then looks standard
normal whatever its modes, nothing discrete gives real rows away, and nothing is kept but how many rows share a code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from models.bins import Codes, frequencies, packed_codes, unpacked_codes
from models.ordering import features, natural, places
from models.randomness import Seed
from models.schema import Column
from models.state import packed, unpacked
from models.table import Booleans, Floats, Integers, Table

LEVELS = 50
"""A levelled column of more codes is put in order and seen as a score."""

FEW = 12
"""A number of at most so many codes is seen as levels."""

TELLING = 10
"""A level that fewer rows share has no place of its own among ordered levels."""

LOOKED_AT = 10_000
"""So many rows decide about the order of levels."""

INDICATORS = 4
FEATURES = 200
"""So many indicators of each other column, and so many features in all, decide about the order of levels."""

EDGE = 1e-4
"""Scores stay within the normal scale's quantiles of this order: 3.7 standard deviations."""

Single = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Field:
    """How one column is seen.

    ``order``: its codes that occur, with their ``shares``. As levels (``hot``) the code for missing is one of them; as
    a score it is not, and ``missing`` is its share. ``cuts``: where on the network's scale one code of a score ends and
    the next begins.
    """

    codes: Codes
    hot: bool
    order: Integers
    shares: Floats
    missing: float
    cuts: Floats

    @property
    def gaps(self) -> bool:
        """Whether a score has indicators beside it that tell whether there is a value."""
        return not self.hot and self.missing > 0

    @property
    def width(self) -> int:
        return len(self.order) if self.hot else 1 + 2 * self.gaps

    @property
    def levels(self) -> int:
        """How many indicators the field has."""
        return len(self.order) if self.hot else 2 * self.gaps


@dataclass(frozen=True, eq=False)
class Layout:
    """Where things stand in an encoded row: ``scores`` are positions, ``starts`` and ``sizes`` tell the blocks of
    indicators (one indicator of each is 1), and ``gates`` tells for each score the position of the indicator that it
    has a value, or -1. ``owners`` are the columns by position.
    """

    width: int
    scores: Integers
    gates: Integers
    starts: Integers
    sizes: Integers
    owners: Integers

    @cached_property
    def hot(self) -> Integers:
        """The positions of all indicators, block by block: the entries of a condition."""
        return np.setdiff1d(np.arange(self.width), self.scores)

    @cached_property
    def entries(self) -> Integers:
        """The entry of a condition that each position has, or -1."""
        entries = np.full(self.width, -1)
        entries[self.hot] = np.arange(len(self.hot))
        return entries


@dataclass(frozen=True, eq=False)
class Encoded:
    """All rows of a table: the positions of their indicators, shape (rows, blocks), and for each score the stretch
    ``low`` to ``high`` of the uniform scale that it lies in, shape (rows, scores), where it is ``known``.
    """

    layout: Layout
    positions: Integers
    low: Floats
    high: Floats
    known: Booleans

    def rows(self, chosen: Integers, shares: Floats | float) -> Single:
        """Rows ``chosen``, shape (chosen, width); ``shares`` (0 to 1) tells where in their stretches scores lie."""
        from scipy.special import ndtri

        low, high = self.low[chosen], self.high[chosen]
        rows = np.zeros((len(chosen), self.layout.width), dtype=np.float32)
        rows[np.arange(len(chosen))[:, None], self.positions[chosen]] = 1.0
        score = ndtri(np.clip(low + shares * (high - low), EDGE, 1 - EDGE))
        rows[:, self.layout.scores] = np.where(self.known[chosen], score, 0.0)
        return rows


@dataclass(frozen=True, eq=False)
class Encoding:
    """A table's columns as fields, one after the other."""

    fields: tuple[Field, ...]

    @classmethod
    def of(cls, table: Table, k: int, seed: Seed) -> Self:
        """Numbers are told apart by ranges that ``k`` rows share (``Codes.shared``)."""
        codes = [Codes.of(column).shared(table.values[:, j], k) for j, column in enumerate(table.columns)]
        fields = [_field(each, table.values[:, j]) for j, each in enumerate(codes)]
        unordered = [j for j, field in enumerate(fields) if not field.hot and not natural(field.codes.column)]
        if unordered and len(table) > LOOKED_AT:
            table = table.take(np.sort(seed.generator().choice(len(table), LOOKED_AT, replace=False)))
        for j in unordered:
            fields[j] = _ordered(fields[j], _order(codes, table, j))
        return cls(tuple(fields))

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(field.codes.column for field in self.fields)

    @cached_property
    def layout(self) -> Layout:
        ends = np.cumsum([field.width for field in self.fields], dtype=np.int64)
        spots = [(end - field.width, field) for end, field in zip(ends.tolist(), self.fields, strict=True)]
        blocks = [(start + (not field.hot), field.levels) for start, field in spots if field.levels]
        return Layout(
            width=int(ends[-1]),
            scores=np.array([start for start, field in spots if not field.hot], dtype=np.int64),
            gates=np.array([start + 1 if field.gaps else -1 for start, field in spots if not field.hot], np.int64),
            starts=np.array([start for start, _ in blocks], dtype=np.int64),
            sizes=np.array([size for _, size in blocks], dtype=np.int64),
            owners=np.repeat(np.arange(len(self.fields)), [field.width for field in self.fields]),
        )

    def encode(self, table: Table, seed: Seed) -> Encoded:
        """Cells missing where the schema allows none get a code by the column's shares."""
        layout, rows = self.layout, len(table)
        positions = np.empty((rows, len(layout.starts)), dtype=np.int64)
        low, high = np.zeros((rows, len(layout.scores))), np.ones((rows, len(layout.scores)))
        known = np.ones((rows, len(layout.scores)), dtype=bool)
        block = score = 0
        for j, field in enumerate(self.fields):
            coded = _filled(field, table.values[:, j], seed.child(f"column/{field.codes.column.name}"))
            place = _places(field, coded)
            if field.hot:
                positions[:, block] = layout.starts[block] + place
            else:
                ends = np.cumsum(field.shares)
                known[:, score] = coded < field.codes.count
                low[:, score], high[:, score] = (ends - field.shares)[place], ends[place]
                if field.gaps:
                    positions[:, block] = layout.starts[block] + ~known[:, score]
                score += 1
            block += bool(field.levels)
        return Encoded(layout, positions, low, high, known)

    def decode(self, rows: NDArray[Any], seed: Seed) -> Table:
        """Rows of the schema's values from encoded ones; of a block the largest entry counts."""
        ends = np.cumsum([field.width for field in self.fields])
        cells = []
        for end, field in zip(ends.tolist(), self.fields, strict=True):
            seen = rows[:, end - field.width : end]
            if field.hot:
                coded = field.order[seen.argmax(axis=1)]
            else:
                coded = field.order[np.searchsorted(field.cuts, seen[:, 0], side="right")]
                if field.gaps:
                    coded = np.where(seen[:, 2] > seen[:, 1], field.codes.count, coded)
            rng = seed.child(f"column/{field.codes.column.name}").generator()
            cells.append(field.codes.decode(coded, rng))
        return Table.of(self.columns, cells, len(rows))

    def calibrated(self, rows: NDArray[Any]) -> Encoding:
        """The encoding whose cuts give drawn ``rows`` the shares of the table: a monotone correction per score."""
        fields, scores = list(self.fields), iter(zip(self.layout.scores, self.layout.gates, strict=True))
        for j, field in enumerate(fields):
            if not field.hot:
                place, gate = next(scores)
                drawn = rows[rows[:, gate] > 0.5, place] if gate >= 0 else rows[:, place]
                if len(drawn):
                    cuts = np.quantile(drawn.astype(np.float64), np.minimum(np.cumsum(field.shares)[:-1], 1.0))
                    fields[j] = replace(field, cuts=cuts)
        return Encoding(tuple(fields))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a state keeps beside the columns."""
        arrays = packed_codes([field.codes for field in self.fields])
        arrays |= packed("order", [field.order for field in self.fields])
        arrays |= packed("shares", [field.shares for field in self.fields])
        arrays |= packed("cuts", [field.cuts for field in self.fields])
        arrays["missing"] = np.array([field.missing for field in self.fields])
        arrays["hot"] = np.array([field.hot for field in self.fields])
        return arrays

    @classmethod
    def restore(cls, columns: Sequence[Column], arrays: Mapping[str, NDArray[Any]]) -> Self:
        parts = zip(
            unpacked_codes(columns, arrays), arrays["hot"].tolist(), unpacked("order", arrays),
            unpacked("shares", arrays), arrays["missing"].tolist(), unpacked("cuts", arrays), strict=True,
        )  # fmt: skip
        return cls(tuple(Field(*part) for part in parts))


def width(columns: Sequence[Column]) -> int:
    """At least as many numbers as a row of ``columns`` takes once encoded, whatever the rows."""
    return sum(
        FEW if column.numeric else max(1, min(len(column.alphabet) + column.nullable, LEVELS)) for column in columns
    )


def _field(codes: Codes, values: Floats) -> Field:
    shares = frequencies(codes, values, 0.0)
    present = np.flatnonzero(shares)
    if len(present) <= (FEW if codes.column.numeric else LEVELS):
        return Field(codes, True, present, shares[present], 0.0, np.zeros(0))
    missing = float(shares[codes.count]) if codes.size > codes.count else 0.0
    known = present[present < codes.count]
    return _ordered(Field(codes, False, known, shares[known] / shares[known].sum(), missing, np.zeros(0)), known)


def _ordered(field: Field, order: Integers) -> Field:
    """The score's field with its codes in ``order`` (codes that do not occur are left out)."""
    from scipy.special import ndtri

    share = np.zeros(field.codes.count)
    share[field.order] = field.shares
    kept = order[share[order] > 0]
    cuts = ndtri(np.clip(np.cumsum(share[kept])[:-1], EDGE, 1 - EDGE))
    return replace(field, order=kept, shares=share[kept], cuts=cuts)


def _order(codes: Sequence[Codes], table: Table, column: int) -> Integers:
    """The codes of a column without an order, lined up by what their rows have in the other columns."""
    mine = codes[column].encode(table.values[:, column])
    most = max(1, min(INDICATORS, FEATURES // len(codes)))
    others = [
        features(each, each.encode(table.values[:, j]), most) for j, each in enumerate(codes[:FEATURES]) if j != column
    ]
    if not others:
        return np.arange(codes[column].count)
    place = places(mine, codes[column].count + 1, np.hstack(others), TELLING)
    return np.argsort(place[: codes[column].count], kind="stable")


def _places(field: Field, coded: Integers) -> Integers:
    """The place in ``order`` of each code."""
    place = np.zeros(field.codes.count + 1, dtype=np.int64)
    place[field.order] = np.arange(len(field.order))
    return place[coded]


def _filled(field: Field, values: Floats, seed: Seed) -> Integers:
    coded = field.codes.encode(values)
    lacking = coded >= field.codes.size
    coded[lacking] = seed.generator().choice(field.order, int(lacking.sum()), p=field.shares / field.shares.sum())
    return coded
