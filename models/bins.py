"""The values a column may take, as codes: bins for numbers, levels for the rest.

Edges come from the reviewed schema alone (bounds, decimals, scale, peaks), never from rows, so that a histogram or a
threshold over codes tells nothing of any training value beyond the bin it lies in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.schema import Column
from models.table import Booleans, Floats, Integers

LIMIT = 512


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
        per = None if column.step is None else float(10 ** (column.decimals or 0))
        first, last = _grid(column, per)
        starts = _starts(first, last, limit, stepped=per is not None, log=column.scale == "log")
        peaks = np.unique(np.asarray(column.peaks, dtype=np.float64))
        if per is not None:
            peaks = np.unique(np.clip(np.rint(peaks * per), first, last))
        after = _next(peaks, per)
        starts = np.unique(np.concatenate([starts, peaks, after[after <= last]]))
        lasts = np.append(starts[1:] - 1.0 if per is not None else np.nextafter(starts[1:], -np.inf), last)
        return cls(starts, lasts, np.isin(starts, peaks), per, column.low, column.high)

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


def _grid(column: Column, per: float | None) -> tuple[float, float]:
    """The first and the last grid position within the bounds; where no grid point lies within, the nearest to low."""
    if per is None:
        return column.low, column.high
    first, last = np.rint(column.low * per), np.rint(column.high * per)
    first += float(first / per < column.low)
    last -= float(last / per > column.high)
    return float(first), float(max(first, last))


def _next(positions: Floats, per: float | None) -> Floats:
    return np.nextafter(positions, np.inf) if per is None else positions + 1.0


def _starts(first: float, last: float, limit: int, *, stepped: bool, log: bool) -> Floats:
    """Where bins begin, before peaks are cut out.

    The log scale is asinh(position / unit): linear within one unit of zero and logarithmic beyond it on either side,
    so bounds may touch or cross zero. The unit is one step, or the lower bound (then positive) where there is no step.
    """
    if stepped and last - first < limit:
        return np.arange(first, last + 1.0)
    end = last + 1.0 if stepped else last
    if log:
        unit = 1.0 if stepped else first
        starts = np.sinh(np.linspace(np.arcsinh(first / unit), np.arcsinh(end / unit), limit + 1)[:-1]) * unit
    else:
        starts = np.linspace(first, end, limit + 1)[:-1]
    starts[0] = first
    return np.unique(np.clip(np.ceil(starts) if stepped else starts, first, last))
