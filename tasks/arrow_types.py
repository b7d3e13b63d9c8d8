"""Arrow types as the schema writes them, and the families that can stand for one another."""

from __future__ import annotations

import re
from typing import Literal

import pyarrow as pa

Family = Literal["number", "text", "boolean", "timestamp", "date", "time", "duration", "null", "other"]

UNITS_PER_DAY: dict[str, int] = {"s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}

_ZONED = re.compile(r"timestamp\[(s|ms|us|ns), tz=(.+)\]")
_DECIMAL = re.compile(r"decimal(32|64|128|256)\((\d+), (-?\d+)\)")
_DICTIONARY = re.compile(r"dictionary<values=(.+), indices=(\w+), ordered=([01])>")
_DECIMALS = {"32": "decimal32", "64": "decimal64", "128": "decimal128", "256": "decimal256"}


def arrow_type(text: str) -> pa.DataType:
    """The type whose ``str`` is ``text``. Raises ValueError for a type that no column of a release can have."""
    if zoned := _ZONED.fullmatch(text):
        return pa.timestamp(zoned[1], zoned[2])
    if decimal := _DECIMAL.fullmatch(text):
        return getattr(pa, _DECIMALS[decimal[1]])(int(decimal[2]), int(decimal[3]))
    if dictionary := _DICTIONARY.fullmatch(text):
        return pa.dictionary(arrow_type(dictionary[2]), arrow_type(dictionary[1]), dictionary[3] == "1")
    return pa.type_for_alias(text)


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values themselves, where a dictionary holds them."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def family(kind: pa.DataType) -> Family:
    """What the values of a type are, whatever their width, unit or encoding."""
    kind = value_type(kind)
    tests: tuple[tuple[Family, bool], ...] = (
        ("number", pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)),
        ("text", is_text(kind)),
        ("boolean", pa.types.is_boolean(kind)),
        ("timestamp", pa.types.is_timestamp(kind)),
        ("date", pa.types.is_date(kind)),
        ("time", pa.types.is_time(kind)),
        ("duration", pa.types.is_duration(kind)),
        ("null", pa.types.is_null(kind)),
    )
    return next((name for name, is_so in tests if is_so), "other")


def is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def plain(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same values without a dictionary, and text of any layout as ``large_string``."""
    values = value_type(cells.type)
    if is_text(values):
        return cells.cast(values).cast(pa.large_string())
    return cells.cast(values) if pa.types.is_dictionary(cells.type) else cells


def unit_of(kind: pa.DataType) -> str:
    """The unit of a date, time, timestamp or duration; ``day`` for date32."""
    if pa.types.is_date32(kind):
        return "day"
    return "ms" if pa.types.is_date64(kind) else str(kind.unit)


def units_per_day(kind: pa.DataType) -> int:
    return 1 if pa.types.is_date32(kind) else UNITS_PER_DAY[unit_of(kind)]
