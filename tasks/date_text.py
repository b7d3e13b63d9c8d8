"""Dates and times kept as text: read by a strptime format and written in it again.

A format may hold ``.%f`` once, after the seconds: three or six digits of a second, which Arrow's own formats do not
know. Two-digit years (``%y``) are those from 1969 to 2068.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

FRACTION = ".%f"
FOUR_DIGITS = 1000


def parse(texts: pa.ChunkedArray, format: str) -> pa.ChunkedArray:
    """``timestamp[us]``, null where a text does not follow ``format`` or names no day (30 February).

    Leading zeros and the case of month names do not matter, but a year (``%Y``) has four digits. A format
    without a date is read on 1 January 1970.
    """
    return _by_value(texts, lambda distinct: _parse(distinct, format))


def render(moments: pa.ChunkedArray | pa.Array, format: str) -> pa.ChunkedArray:
    """Timestamps as text; with ``.%f``, milliseconds or microseconds as the type of ``moments`` has them."""
    return _by_value(moments, lambda distinct: _render(distinct, format))


def _by_value(cells: pa.ChunkedArray | pa.Array, change: Callable[[pa.Array], pa.Array]) -> pa.ChunkedArray:
    """``change`` applied to every cell, once for each distinct value: dates repeat, and reading them is slow."""
    coded = pc.dictionary_encode(cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells)
    return pa.chunked_array([change(coded.dictionary).take(coded.indices)])


def _parse(texts: pa.Array, format: str) -> pa.Array:
    if FRACTION in format:
        return _parse_fractions(texts, format)
    dated = "%Y" in format or "%y" in format
    whole = format if dated else f"%Y-%m-%d {format}"
    full = texts if dated else pc.binary_join_element_wise(*_midnight(texts))
    moments = pc.strptime(full, format=whole, unit="us", error_is_null=True)
    written = _render(moments, format)
    # strptime turns 30 February into 1 March; only what can be written back as it was is a date.
    faithful = pc.equal(written, texts)
    if not pc.all(faithful, min_count=0).as_py():
        long_year = pc.greater_equal(pc.year(moments), FOUR_DIGITS) if "%Y" in format else pa.scalar(True)
        faithful = pc.or_(faithful, pc.and_(pc.equal(_loosely(written), _loosely(texts)), long_year))
    return pc.if_else(faithful, moments, pa.scalar(None, moments.type))


def _parse_fractions(texts: pa.Array, format: str) -> pa.Array:
    before, _, after = format.partition(FRACTION)
    parts = pc.extract_regex(texts, r"^(?P<head>.*)\.(?P<fraction>\d{3}|\d{6})" + re.escape(after) + "$")
    head = _parse(pc.struct_field(parts, "head"), before)
    fraction = pc.utf8_rpad(pc.struct_field(parts, "fraction"), 6, "0").cast(pa.int64())
    return pc.add(head.cast(pa.int64()), fraction).cast(pa.timestamp("us"))


def _render(moments: pa.Array, format: str) -> pa.Array:
    if FRACTION in format:
        return pc.strftime(moments, format=format.replace(FRACTION, ""))
    return pc.strftime(moments.cast(pa.timestamp("s"), safe=False), format=format)


def _loosely(texts: pa.Array) -> pa.Array:
    return pc.utf8_lower(pc.replace_substring_regex(texts, r"\b0+(\d)", r"\1"))


def _midnight(texts: pa.Array) -> tuple[pa.Scalar, pa.Array, pa.Scalar]:
    """What to join so that a time of day becomes a moment of 1 January 1970."""
    return pa.scalar("1970-01-01", texts.type), texts, pa.scalar(" ", texts.type)
