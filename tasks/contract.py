"""Whether a table keeps the contract that its schema states, and its cells in model form where it does.

The same reading serves both: what is checked is what is then modelled. Findings name columns, counts and bounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from models.errors import Fault, nearest
from models.schema import LEVELLED, TEMPORAL, TICKS_PER_DAY, Column, Kind, Scalar, Schema
from models.table import Floats
from tasks.arrow_types import Family, arrow_type, family, plain, units_per_day
from tasks.date_text import parse

READABLE: dict[Kind, frozenset[Family]] = {
    Kind.CONTINUOUS: frozenset({"number"}),
    Kind.INTEGER: frozenset({"number"}),
    Kind.CATEGORICAL: frozenset({"text", "number", "boolean"}),
    Kind.BOOLEAN: frozenset({"boolean", "number"}),
    Kind.DATETIME: frozenset({"timestamp", "date", "text"}),
    Kind.DATE: frozenset({"timestamp", "date", "text"}),
    Kind.TIME: frozenset({"time", "text"}),
    Kind.DURATION: frozenset({"duration"}),
}

EXACT_FLOATS = 2**53


@dataclass(frozen=True)
class Breach:
    """One way in which ``rows`` rows of ``column`` break the contract."""

    column: str
    check: str
    rows: int
    found: str
    remedy: str = ""

    def fault(self) -> Fault:
        return Fault(self.column, self.found, self.remedy)


@dataclass(frozen=True)
class Reading:
    """One column in model form, shape (rows,), and what is wrong with it; breached cells are NaN."""

    cells: Floats
    breaches: tuple[Breach, ...] = ()


def breaches(table: pa.Table, schema: Schema) -> list[Breach]:
    """Every way in which ``table`` breaks ``schema``; none for a table that may be modelled or released.

    Columns with ``include: false`` may be absent. Checks are named ``duplicate``, ``missing``, ``extra``, ``type``,
    ``null``, ``finite``, ``whole``, ``bounds``, ``levels``, ``format``, ``unique`` and ``text``.
    """
    found = structure(table, schema, schema.released)
    for column in present(table, schema.released):
        found.extend(_column_breaches(column, table.column(column.name)))
    return found


def structure(table: pa.Table, schema: Schema, needed: Sequence[Column]) -> list[Breach]:
    """Columns of ``table`` that are named twice, not in ``schema``, or among ``needed`` and not there."""
    rows, names = table.num_rows, table.column_names
    there, known = set(names), set(schema.names)
    twice = sorted(name for name in there if names.count(name) > 1) if len(there) < len(names) else []
    extra = [name for name in dict.fromkeys(names) if name not in known]
    absent = [column.name for column in needed if column.name not in there]
    return [
        *(
            Breach(name, "duplicate", rows, f"{names.count(name)} columns have this name", "rename all but one")
            for name in twice
        ),
        *(
            Breach(name, "missing", rows, "the column is missing from the table", nearest(name, extra or names))
            for name in absent
        ),
        *(Breach(name, "extra", rows, "the schema has no such column", _where_extra(name, absent)) for name in extra),
    ]


def present(table: pa.Table, columns: Iterable[Column]) -> Iterable[Column]:
    """Those of ``columns`` that ``table`` has exactly once."""
    times = Counter(table.column_names)
    return (column for column in columns if times[column.name] == 1)


def read(column: Column, cells: pa.ChunkedArray) -> Reading:
    """A modelled column in model form. Dictionaries, widths and units of storage make no difference."""
    if cells.type.id == pa.null().id:
        return _missing_checked(column, np.full(len(cells), np.nan), len(cells))
    if problem := _type_problem(column, cells.type, len(cells)):
        return Reading(np.full(len(cells), np.nan), (problem,))
    if column.kind in LEVELLED:
        return _read_levels(column, plain(cells))
    return _read_moments(column, plain(cells)) if column.kind in TEMPORAL else _read_numbers(column, plain(cells))


def _where_extra(name: str, absent: Sequence[str]) -> str:
    return (
        nearest(name, absent)
        if absent
        else "leave it out, or add it to the schema ('include: false' keeps it from the release)"
    )


def _column_breaches(column: Column, cells: pa.ChunkedArray) -> Iterable[Breach]:
    if column.modelled:
        yield from read(column, cells).breaches
        return
    if column.kind is Kind.TEXT:
        yield Breach(
            column.name,
            "text",
            len(cells),
            "free text is not modelled",
            "set 'include: false', or another kind if it is none",
        )
        return
    missing = missing_count(cells)
    if missing and not column.nullable:
        yield _null_breach(column, missing)
    if column.kind is Kind.CONSTANT:
        yield from _other_than_constant(column, plain(cells), missing)
    elif column.unique:
        told = pc.drop_null(plain(cells))
        repeated = len(told) - pc.count_distinct(told).as_py()
        if repeated:
            yield Breach(
                column.name,
                "unique",
                repeated,
                f"{_cells_text(repeated)} with an identifier of another row",
                "remove the copies, or set 'unique: false'",
            )


def _other_than_constant(column: Column, cells: pa.ChunkedArray, missing: int) -> Iterable[Breach]:
    if cells.type.id == pa.null().id:
        return
    cells = wide_decimals(cells)
    try:
        constant = exact_levels(column.levels or (), cells.type)
        if constant is None:
            cells = _comparable(cells)
            constant = pa.array(column.levels or ()).cast(cells.type)
    except (OverflowError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        constant = pa.nulls(0, cells.type)
    other = len(cells) - missing - (pc.sum(pc.is_in(cells, value_set=constant)).as_py() or 0)
    if other:
        remedy = "give the column another kind (run init again), or correct the constant"
        yield Breach(column.name, "levels", other, f"{_cells_text(other)} other than the constant", remedy)


def _comparable(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers and booleans as float64, moments in local time, everything else as it is."""
    if family(cells.type) in ("number", "boolean"):
        return pa.chunked_array([floats(cells) + 0.0])
    return pc.local_timestamp(cells) if getattr(cells.type, "tz", None) is not None else cells


def wide_decimals(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Decimals of 32 and 64 bits as ones of 128, which Arrow's functions know."""
    narrow = pa.types.is_decimal32(cells.type) or pa.types.is_decimal64(cells.type)
    return cells.cast(pa.decimal128(38, cells.type.scale)) if narrow else cells


def exact_levels(levels: Sequence[Scalar], kind: pa.DataType) -> pa.Array | None:
    """Levels of integers, or of decimals beyond what float64 tells apart, as values of their type; else None.

    Decimals that float64 cannot hold are written as text in the schema. A level that the type cannot hold is null.
    """
    if pa.types.is_integer(kind):
        limits = np.iinfo(kind.to_pandas_dtype())
        numbers = [_decimal(level) for level in levels]
        inside = (n is not None and n == n.to_integral() and limits.min <= n <= limits.max for n in numbers)
        return pa.array([int(n) if fits else None for n, fits in zip(numbers, inside, strict=True)], kind)
    if pa.types.is_decimal(kind) and any(beyond_floats(level) for level in levels):
        numbers = [_decimal(level) for level in levels]
        limit = Decimal(10) ** (kind.precision - kind.scale)
        inside = (n is not None and n.copy_abs() < limit and _digits_after(n) <= kind.scale for n in numbers)
        return pa.array([n if fits else None for n, fits in zip(numbers, inside, strict=True)], kind)
    return None


def _decimal(level: Scalar) -> Decimal | None:
    """The number that a level writes; None for text that is none."""
    try:
        number = Decimal(int(level) if isinstance(level, bool) else str(level))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _digits_after(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def beyond_floats(level: Scalar) -> bool:
    """Whether a level of a column of numbers is more than float64 tells apart; text stands for such decimals."""
    return isinstance(level, str) or abs(level) > EXACT_FLOATS


def _type_problem(column: Column, actual: pa.DataType, rows: int) -> Breach | None:
    """Whether cells of the type ``actual`` can be read as what the schema says the column is."""
    try:
        wanted = arrow_type(column.dtype)
    except ValueError:
        return Breach(
            column.name,
            "type",
            rows,
            f"the schema's dtype '{column.dtype}' is no type that can be modelled",
            "set 'include: false'",
        )
    found, declared, expected = family(actual), family(wanted), READABLE[column.kind]
    dated = {"timestamp", "date"}
    if declared not in expected or (declared == "text" and column.kind in TEMPORAL and column.format is None):
        return Breach(
            column.name,
            "type",
            rows,
            f"kind {column.kind} cannot be kept as {column.dtype}",
            f"give it a dtype of {' or '.join(sorted(expected))}"
            + (" (text needs a format)" if "text" in expected else ""),
        )
    same = found == declared or (found in dated and declared in dated)
    zoned = [getattr(kind, "tz", None) is not None for kind in (actual, wanted)]
    if not same or (found == "timestamp" and zoned[0] != zoned[1]):
        return Breach(
            column.name,
            "type",
            rows,
            f"the table has {actual}, the schema says {column.dtype}",
            "correct the source, or the column's dtype in the schema",
        )
    return None


def _read_numbers(column: Column, cells: pa.ChunkedArray) -> Reading:
    values = floats(cells)
    infinite = np.isinf(values)
    fractional = (
        np.isfinite(values) & (values != np.rint(values)) if column.kind is Kind.INTEGER else np.zeros_like(infinite)
    )
    missing = int(np.isnan(values).sum())
    found = [
        (infinite, "finite", "infinite", "make them missing in the source"),
        (fractional, "whole", "with a fraction in an integer column", "set 'kind: continuous' and 'decimals'"),
        (
            _outside(column, values) & ~infinite,
            "bounds",
            f"outside the bounds {_bounds_text(column)}",
            "widen the bounds if such values are right",
        ),
    ]
    wrong = np.logical_or.reduce([rows for rows, *_ in found])
    if column.kind is Kind.CONTINUOUS and column.decimals is not None:
        values = np.clip(np.round(values, column.decimals), column.low, column.high)
    return _missing_checked(column, np.where(wrong, np.nan, values), missing, _counted(column, found))


def _read_moments(column: Column, cells: pa.ChunkedArray) -> Reading:
    unreadable = np.zeros(len(cells), dtype=np.bool_)
    missing = cells.null_count
    if family(cells.type) == "text":
        moments = parse(cells, column.format or "")
        unreadable = (moments.is_null().to_numpy() & cells.is_valid().to_numpy()).astype(np.bool_)
        cells = moments
    values = ticks(column, cells)
    found = [
        (unreadable, "format", f"not written as {column.format}", "correct them or the format"),
        (
            _outside(column, values),
            "bounds",
            f"outside the bounds {_bounds_text(column)}",
            "widen the bounds if such values are right",
        ),
    ]
    wrong = found[0][0] | found[1][0]
    return _missing_checked(column, np.where(wrong, np.nan, values), missing, _counted(column, found))


def _read_levels(column: Column, cells: pa.ChunkedArray) -> Reading:
    """Codes: positions in ``column.alphabet``; unlisted values by the column's policy."""
    numeric = family(cells.type) != "text"
    alphabet = column.alphabet
    cells = wide_decimals(cells)
    known = exact_levels(alphabet, cells.type)
    if known is None and numeric:
        values = floats(cells) + 0.0
        cells = pa.chunked_array([pa.array(values, mask=np.isnan(values))])
        known = pa.array([None if isinstance(level, str) else float(level) + 0.0 for level in alphabet], pa.float64())
    elif known is None:
        known = pa.array([level if isinstance(level, str) else None for level in alphabet], cells.type)
    codes = floats(pc.index_in(cells, value_set=known, skip_nulls=True))
    unlisted = np.isnan(codes) & cells.is_valid().to_numpy().astype(np.bool_)
    missing = cells.null_count
    if column.unlisted == "other" and column.other is not None:
        return _missing_checked(column, np.where(unlisted, float(alphabet.index(column.other)), codes), missing)
    if column.unlisted == "missing":
        return _missing_checked(column, codes, missing)
    mistyped = not numeric and any(not isinstance(level, str) for level in alphabet)
    remedy = (
        "levels of a text column are text: put them in quotes"
        if mistyped
        else "list them, or set 'unlisted' to 'other' or 'missing'"
    )
    found = [(unlisted, "levels", "with a value that 'levels' does not list", remedy)]
    return _missing_checked(column, codes, missing, _counted(column, found))


def missing_count(cells: pa.ChunkedArray) -> int:
    """Cells that are null or NaN."""
    nan = pc.sum(pc.is_nan(cells)).as_py() if pa.types.is_floating(cells.type) else 0
    return int(cells.null_count + (nan or 0))


def floats(cells: pa.ChunkedArray | pa.Array) -> Floats:
    """Numbers or booleans as float64, missing as NaN."""
    if pa.types.is_boolean(cells.type):
        cells = cells.cast(pa.uint8())
    values = cells.cast(pa.float64(), safe=False)
    return np.asarray(
        values.to_numpy(zero_copy_only=False) if isinstance(values, pa.Array) else values.to_numpy(), dtype=np.float64
    )


def ticks(column: Column, cells: pa.ChunkedArray) -> Floats:
    """Ticks of dates, times, timestamps or durations, in local time; what is finer than the resolution is cut off."""
    declared = arrow_type(column.dtype)
    if pa.types.is_timestamp(cells.type) and cells.type.tz is not None:
        cells = pc.local_timestamp(cells.cast(pa.timestamp(cells.type.unit, declared.tz)))
    stored, wanted = units_per_day(cells.type), TICKS_PER_DAY[column.resolution or "day"]
    missing = cells.is_null().to_numpy()
    width = pa.int32() if cells.type.bit_width == 32 else pa.int64()
    numbers = cells.cast(width).fill_null(0).to_numpy().astype(np.int64)
    values = (
        (numbers // (stored // wanted)).astype(np.float64)
        if stored >= wanted
        else numbers.astype(np.float64) * (wanted // stored)
    )
    values[missing.astype(np.bool_)] = np.nan
    return values


def _outside(column: Column, values: Floats) -> np.ndarray:
    return (values < column.low) | (values > column.high)


def _bounds_text(column: Column) -> str:
    low, high = column.bounds or ("", "")
    return f"[{_bound_text(low)}, {_bound_text(high)}]"


def _bound_text(bound: float | str) -> str:
    return bound if isinstance(bound, str) else f"{bound:.15g}"


def _cells_text(n: int) -> str:
    return f"{n:,} cell{'' if n == 1 else 's'}"


def _counted(column: Column, found: Iterable[tuple[np.ndarray, str, str, str]]) -> tuple[Breach, ...]:
    counted = ((int(rows.sum()), check, what, remedy) for rows, check, what, remedy in found)
    return tuple(
        Breach(column.name, check, n, f"{_cells_text(n)} {what}", remedy) for n, check, what, remedy in counted if n
    )


def _missing_checked(column: Column, cells: Floats, missing: int, found: tuple[Breach, ...] = ()) -> Reading:
    if missing and not column.nullable:
        found = (*found, _null_breach(column, missing))
    return Reading(cells, found)


def _null_breach(column: Column, missing: int) -> Breach:
    return Breach(
        column.name,
        "null",
        missing,
        f"{_cells_text(missing)} missing in a column that is not nullable",
        "set 'nullable: true' if gaps are right",
    )
