"""The values a column may take, as codes: bins for numbers, levels for the rest.

Edges come from the reviewed schema alone (bounds, decimals, scale, peaks), never from rows, so that a histogram or a
threshold over codes tells nothing of a training value beyond the bin that it lies in, and, where codes stand for what
at least k rows share (``Codes.shared``), not even that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.schema import Column, Kind
from models.state import packed, unpacked
from models.table import Booleans, Floats, Integers

LIMIT = 512
"""A column of more values is cut into so many bins."""

EXACT = 2.0**53
"""Beyond it, a double does not tell one whole number from the next."""


@dataclass(frozen=True, eq=False)
class Bins:
    """The value grid of a numeric column, cut into bins that are numbered from low to high.

    With a step, ``firsts`` and ``lasts`` are grid positions (value times ``per``, whole numbers, both inclusive);
    without one (``per`` is None) they are values. ``peaks`` marks the bins that hold one schema peak and nothing else.
    """

    firsts: Floats
    lasts: Floats
    peaks: Booleans
    per: float | None
    low: float
    high: float

    @classmethod
    def of(cls, column: Column, limit: int = LIMIT) -> Bins:
        """One bin per value where the column has at most ``limit`` values, else at most ``limit`` bins of equal width
        on the column's scale, each a whole number of steps; every peak is cut out as a bin of its own on top of that.
        """
        per = _per(column)
        first, last = (column.low, column.high) if per is None else _grid(column, per)
        starts = _starts(first, last, limit, _unit(column, per), stepped=per is not None)
        peaks = np.asarray(column.peak_numbers, dtype=np.float64)
        if per is None:
            after = np.nextafter(peaks, np.inf)
        else:
            peaks = np.clip(np.rint(peaks * per), first, last)
            after = peaks + 1.0
        starts = np.unique(np.concatenate([starts, peaks, after[after <= last]]))
        before = np.nextafter(starts[1:], -np.inf) if per is None else starts[1:] - 1.0
        return cls(starts, np.append(before, last), np.isin(starts, peaks), per, column.low, column.high)

    @property
    def count(self) -> int:
        return len(self.firsts)

    @property
    def centres(self) -> Floats:
        """The middle of each bin as a value, not snapped to the step; ascending."""
        return self._value(self.firsts + (self.lasts - self.firsts) / 2)

    def index(self, values: Floats) -> Integers:
        """The bin of each value; the outermost bins take what lies beyond the bounds. Values must not be NaN."""
        positions = values if self.per is None else np.rint(values * self.per)
        return np.maximum(np.searchsorted(self.firsts, positions, side="right") - 1, 0)

    def draw(self, codes: NDArray[np.integer], rng: np.random.Generator) -> Floats:
        """One value per code: uniform over the bin's values, on the step, within the bounds."""
        first, last = self.firsts[codes], self.lasts[codes]
        share = rng.random(len(codes))
        if self.per is None:
            return self._value(np.minimum(first + share * (last - first), last))
        return self._value(np.minimum(np.floor(first + share * (last - first + 1.0)), last))

    def _value(self, positions: Floats) -> Floats:
        """Dividing by a power of ten gives the double nearest to the decimal: values compare equal to parsed ones."""
        values = positions if self.per is None else positions / self.per
        clipped: Floats = np.clip(values, self.low, self.high)
        return clipped + 0.0  # no negative zero


@dataclass(frozen=True, eq=False)
class Codes:
    """Any modelled column as codes 0 to ``count`` - 1, and ``count`` itself for a missing value.

    A level's code is its place in the alphabet. A number's code stands for the bins ``starts[code]`` to ``ends[code]``
    (inclusive); these ranges ascend, do not overlap, and need not cover every bin.
    """

    column: Column
    bins: Bins | None
    starts: Integers
    ends: Integers

    @classmethod
    def of(cls, column: Column, ranges: tuple[Integers, Integers] | None = None) -> Codes:
        """One code per bin, or per range of bins where ``ranges`` (starts, ends) are given."""
        bins = Bins.of(column) if column.numeric else None
        each = np.arange(bins.count if bins is not None else len(column.alphabet))
        return cls(column, bins, *(ranges or (each, each)))

    @property
    def count(self) -> int:
        return len(self.starts)

    @property
    def size(self) -> int:
        """How many codes a row may have, the one for missing included where the column is nullable."""
        return self.count + int(self.column.nullable or self.count == 0)

    def shared(self, values: Floats, k: int) -> Codes:
        """Codes that tell apart only what at least ``k`` of ``values`` share.

        A bin with k rows, and every peak that occurs, stays alone. Emptier bins between them are taken together from
        low to high until they hold k rows; what is left over before the next bin with k rows counts to the range below
        (above, where there is none) without widening it, as a top code would. Levels stay as the schema lists them.
        """
        if self.bins is None:
            return self
        counts = np.bincount(self.bins.index(values[~np.isnan(values)]), minlength=self.bins.count)
        ranges = list(_ranges(counts, self.bins.peaks, k)) or [(0, self.bins.count - 1)]
        starts, ends = np.array(ranges, dtype=np.int64).T
        return Codes(self.column, self.bins, starts, ends)

    def encode(self, values: Floats) -> Integers:
        """Codes of model numbers, shape (rows,); NaN becomes ``count``."""
        known = ~np.isnan(values)
        codes = np.full(len(values), self.count, dtype=np.int64)
        if self.bins is None:
            codes[known] = values[known].astype(np.int64)
        else:
            places = np.searchsorted(self.starts, self.bins.index(values[known]), side="right") - 1
            codes[known] = np.maximum(places, 0)
        return codes

    def decode(self, codes: Integers, rng: np.random.Generator) -> Floats:
        """Model numbers of codes: levels as they are, numbers drawn evenly over their bins, NaN for ``count``."""
        known = codes < self.count
        values = np.full(len(codes), np.nan)
        if self.bins is None:
            values[known] = codes[known]
        else:
            first, last = self.starts[codes[known]], self.ends[codes[known]]
            values[known] = self.bins.draw(first + (rng.random(len(first)) * (last - first + 1)).astype(np.int64), rng)
        return values


def _ranges(counts: Integers, peaks: Booleans, k: int) -> Iterator[tuple[int, int]]:
    """The ranges of bins that ``Codes.shared`` tells apart, from low to high."""
    start, rows = -1, 0
    for place in np.flatnonzero(counts).tolist():
        if peaks[place] or counts[place] >= k:
            yield place, place
            start, rows = -1, 0
            continue
        start = place if start < 0 else start
        rows += int(counts[place])
        if rows >= k:
            yield start, place
            start, rows = -1, 0


def frequencies(codes: Codes, values: Floats, smoothing: float) -> Floats:
    """The share of each code among ``values``, shape (codes.size,), once ``smoothing`` rows are spread evenly on top.

    Missing values of a column that may have none are not counted. Without any row, all shares are equal.
    """
    counts = np.bincount(codes.encode(values), minlength=codes.size)[: codes.size].astype(np.float64)
    spread = smoothing if counts.sum() else 1.0
    shares: Floats = (counts + spread / codes.size) / (counts.sum() + spread)
    return shares


def packed_codes(codes: Sequence[Codes]) -> dict[str, NDArray[Any]]:
    """What a state keeps of codes beside their columns."""
    return packed("starts", [each.starts for each in codes]) | packed("ends", [each.ends for each in codes])


def unpacked_codes(columns: Sequence[Column], arrays: Mapping[str, NDArray[Any]]) -> tuple[Codes, ...]:
    """What ``packed_codes`` kept."""
    ranges = zip(unpacked("starts", arrays), unpacked("ends", arrays), strict=True)
    return tuple(Codes.of(column, each) for column, each in zip(columns, ranges, strict=True))


def _per(column: Column) -> float | None:
    """Steps per unit; None without a step, or where the bounds are so far out that doubles do not resolve it."""
    if column.step is None:
        return None
    per = float(10 ** (column.decimals or 0)) if column.kind is Kind.CONTINUOUS else 1.0
    return per if max(abs(column.low), abs(column.high)) * per < EXACT else None


def _grid(column: Column, per: float) -> tuple[float, float]:
    """The first and the last grid position within the bounds; where no grid point lies within, one next to them."""
    first, last = float(np.rint(column.low * per)), float(np.rint(column.high * per))
    first += float(first / per < column.low)
    last -= float(last / per > column.high)
    return first, max(first, last)


def _unit(column: Column, per: float | None) -> float | None:
    """On the log scale, the positions that count as near to zero: one step, or a positive lower bound."""
    if column.scale == "linear":
        return None
    if per is not None:
        return 1.0
    return column.low if column.low > 0 else column.step


def _starts(first: float, last: float, limit: int, unit: float | None, *, stepped: bool) -> Floats:
    """Where bins begin, before peaks are cut out.

    With a ``unit`` they are equally wide in asinh(position / unit): linear within one unit of zero and logarithmic
    beyond it on either side, so bounds may touch or cross zero.
    """
    if stepped and last - first < limit:
        return np.arange(first, last + 1.0)
    end = last + 1.0 if stepped else last
    if unit is None:
        starts = np.linspace(first, end, limit + 1)[:-1]
    else:
        starts = np.sinh(np.linspace(np.arcsinh(first / unit), np.arcsinh(end / unit), limit + 1)[:-1]) * unit
    starts[0] = first
    return np.unique(np.clip(np.ceil(starts) if stepped else starts, first, last))
