"""Bounds for review: a range rounded outward to nice numbers, so that nobody's extreme value is written into a schema.

The rule. A bound is exact only where at least k rows share it or where it is a natural limit: 0 for anything, 1 as the
top of shares and the first of counts. Every other bound lies strictly beyond the extreme value on a grid of about a
twentieth of the range (1, 2 or 5 times a power of ten; whole years, months or days for dates); on a log scale it is the
next of 1, 2, 5, 10, ... . Where fewer than k rows have a value at all, it is the next power of ten, or decade.
"""

from __future__ import annotations

from math import ceil, floor, log10
from typing import Literal

import numpy as np

from models.schema import TICKS_PER_DAY, Resolution
from models.table import Floats, Integers

PARTS_OF_RANGE = 20
CalendarUnit = Literal["Y", "M", "D"]
CODES: dict[Resolution, Literal["D", "m", "s", "ms", "us", "ns"]] = {
    "day": "D",
    "hour": "m",
    "minute": "m",
    "second": "s",
    "millisecond": "ms",
    "microsecond": "us",
    "nanosecond": "ns",
}


def number_bounds(values: Floats, counts: Integers, k: int, grid: float, log: bool = False) -> tuple[float, float]:
    """Bounds of the sorted distinct ``values``, ``counts`` rows each; multiples of ``grid`` (0: any number)."""
    low, high = float(values[0]), float(values[-1])
    few = int(counts.sum()) < k
    step = 0.0 if log and low > 0 else _nice_above(max((high - low or abs(high) or 1.0) / PARTS_OF_RANGE, grid))
    lowest = low if _keeps(low, counts[0], k, few) or low == 1 == grid else _below(low, step, few)
    highest = high if _keeps(high, counts[-1], k, few) or (high == 1 and low >= 0) else _above(high, step, few)
    if low >= 0:
        lowest, highest = max(lowest, 0.0), min(highest, 1.0) if high <= 1 and grid != 1 else highest
    return lowest, min(highest, 0.0) if high <= 0 else highest


def _keeps(value: float, count: int, k: int, few: bool) -> bool:
    return value == 0 or (count >= k and not few)


def _below(value: float, step: float, few: bool) -> float:
    """The next nice number strictly below; ``step`` 0 stands for 1, 2, 5, 10, ..."""
    if few:
        return -_power_above(-value)
    return _magnitude_below(value) if step == 0 else _times(ceil(_steps(value, step)) - 1, step)


def _above(value: float, step: float, few: bool) -> float:
    if few:
        return _power_above(value)
    return _magnitude_above(value) if step == 0 else _times(floor(_steps(value, step)) + 1, step)


def _steps(value: float, step: float) -> float:
    """How many steps a value is, a whole number where it is one but for the rounding of floats."""
    steps = value / step
    return float(round(steps)) if abs(steps - round(steps)) < 1e-9 * max(1.0, abs(steps)) else steps


def _times(n: int, step: float) -> float:
    """``n`` steps, as the nearest number to the decimal one: 3 times 0.1 is 0.3."""
    exponent = floor(log10(step) + 1e-9)
    return float(f"{n * round(step / 10.0**exponent)}e{exponent}")


def _nice_above(value: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below ``value`` > 0."""
    exponent = floor(log10(value))
    return next(nice for nice in _ladder(exponent) if nice >= value * (1 - 1e-9))


def _power_above(value: float) -> float:
    return float(f"1e{floor(log10(value)) + 1}") if value > 0 else 0.0


def _magnitude_above(value: float) -> float:
    return next(nice for nice in _ladder(floor(log10(value))) if nice > value)


def _magnitude_below(value: float) -> float:
    return next(nice for nice in reversed(_ladder(floor(log10(value)) - 1)) if nice < value)


def _ladder(exponent: int) -> list[float]:
    """1, 2, 5 times 10^exponent and 10^(exponent + 1), then the power above."""
    return [float(f"{m}e{e}") for e in (exponent, exponent + 1) for m in (1, 2, 5)] + [float(f"1e{exponent + 2}")]


def date_bounds(
    values: Floats, counts: Integers, k: int, resolution: Resolution, limits: tuple[float, float]
) -> tuple[str, str]:
    """ISO bounds of the sorted distinct ticks ``values``: whole years, months or days, by the width of their range.

    Beyond ``limits``, in ticks, the column's type cannot tell a moment.
    """
    per_day = TICKS_PER_DAY[resolution]
    low, high, few = int(values[0]), int(values[-1]), int(counts.sum()) < k
    shared = bool(counts[0] >= k), bool(counts[-1] >= k)
    unit, width = _calendar_unit((high - low) / per_day, few)
    first = _unit_start(low, per_day, unit, width)
    if _tick(first, per_day) == low and not shared[0]:
        first -= np.timedelta64(width, unit)
    after = _unit_start(high, per_day, unit, width) + np.timedelta64(width, unit)
    if _tick(after, per_day) - 1 == high and not shared[1]:
        after += np.timedelta64(width, unit)
    lowest, highest = max(_tick(first, per_day), int(limits[0])), min(_tick(after, per_day) - 1, int(limits[1]))
    return iso_text(lowest, resolution), iso_text(highest, resolution)


def day_bounds(resolution: Resolution) -> tuple[str, str]:
    """The whole day, from midnight to its last tick."""
    first, last = iso_text(0, resolution), iso_text(TICKS_PER_DAY[resolution] - 1, resolution)
    return first.partition("T")[2], last.partition("T")[2]


def _calendar_unit(days: float, few: bool) -> tuple[CalendarUnit, int]:
    if few:
        return "Y", 10
    return ("Y", 1) if days >= 3 * 365 else ("M", 1) if days >= 7 else ("D", 1)


def _unit_start(tick: int, per_day: int, unit: CalendarUnit, width: int) -> np.datetime64:
    start: np.datetime64 = np.datetime64(tick // per_day, "D").astype(f"datetime64[{unit}]")
    return start if width == 1 else start - np.timedelta64(int(start.astype(np.int64) % width), unit)


def _tick(start: np.datetime64, per_day: int) -> int:
    return int(start.astype("datetime64[D]").astype(np.int64)) * per_day


def iso_text(tick: int, resolution: Resolution) -> str:
    """ISO text as fine as the resolution; hours are written with their minutes."""
    per_day = TICKS_PER_DAY[resolution]
    code = CODES[resolution]
    counts = tick * 60 if resolution == "hour" else tick
    text = str(np.datetime_as_string(np.datetime64(counts, code), unit=code))
    return text if per_day > 1 else text.partition("T")[0]
