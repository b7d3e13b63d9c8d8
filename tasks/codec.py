"""From Arrow to model form and back: the border where every question of storage is settled.

Going in, the cells of the modelled columns become numbers (``models.table``), or a ContractError tells all that is
wrong with them. Coming out, every released column has the Arrow type, the format, the grid and the gaps that the schema
describes; identifiers are made anew and constants are filled in.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from models.errors import ContractError, Fault, SpecError
from models.randomness import Seed
from models.schema import IDENTIFIER_SLOT, TEMPORAL, TICKS_PER_DAY, Column, Kind, Scalar, Schema, identifier_capacity
from models.table import Booleans, Floats, Integers, Table
from tasks.arrow_types import arrow_type, family, is_text, units_per_day, value_type
from tasks.contract import Breach, breaches, exact_levels, present, read, structure
from tasks.date_text import FRACTION, render
from tasks.frames import from_pandas, to_pandas

__all__ = ["Breach", "breaches", "decode", "encode", "from_pandas", "to_pandas"]

MADE_ANEW = frozenset({Kind.IDENTIFIER, Kind.CONSTANT})
EXACT = 2.0**63


def encode(table: pa.Table, schema: Schema) -> Table:
    """The modelled columns of ``table`` in model form.

    Columns that are not modelled may be absent; columns that the schema does not know may not be there. Raises
    ContractError with every column that breaks the contract and by how many rows.
    """
    found = structure(table, schema, schema.modelled)
    readings = [read(column, table.column(column.name)) for column in present(table, schema.modelled)]
    found.extend(breach for reading in readings for breach in reading.breaches)
    if found:
        raise ContractError(breach.fault() for breach in found)
    return Table.of(schema.modelled, [reading.cells for reading in readings], table.num_rows)


def decode(table: Table, schema: Schema, seed: Seed, like: pa.Schema | None = None) -> pa.Table:
    """The released columns in the order of the schema, each with the Arrow type of its ``dtype``.

    ``like`` overrides the types of the columns that it names and hands on what its pandas metadata says of them.
    ``seed`` makes identifiers of the format ``uuid``. Raises ContractError for what cannot be written as its column
    wants it: text, more rows than an identifier's format can number, numbers beyond a type's range.
    """
    columns: dict[str, pa.Array] = {}
    faults: list[Fault] = []
    for column in schema.released:
        try:
            target = _target(column, like)
            if column.kind in MADE_ANEW:
                columns[column.name] = _made_anew(column, target, len(table), seed)
            elif column.kind is Kind.TEXT:
                raise _UnwritableError(
                    "free text is not modelled", "set 'include: false', or another kind if it is none"
                )
            else:
                columns[column.name] = _written(column, target, table[column.name])
        except _UnwritableError as problem:
            faults.append(Fault(column.name, problem.found, problem.remedy))
    if faults:
        raise ContractError(faults)
    decoded = pa.table(list(columns.values()), names=list(columns))
    return decoded.replace_schema_metadata(_metadata(like, schema.released)) if like is not None else decoded


@dataclass
class _UnwritableError(Exception):
    """Why one column cannot be written; gathered by ``decode`` and never seen outside."""

    found: str
    remedy: str = ""


def _target(column: Column, like: pa.Schema | None) -> pa.DataType:
    if like is not None and like.names.count(column.name) == 1:
        return like.field(column.name).type
    try:
        return arrow_type(column.dtype)
    except ValueError:
        raise SpecError(
            Fault(column.name, f"dtype '{column.dtype}' cannot be written", "set 'include: false'")
        ) from None


def _made_anew(column: Column, target: pa.DataType, rows: int, seed: Seed) -> pa.Array:
    """Cells that owe nothing to any row: identifiers, or the constant."""
    if column.kind is Kind.CONSTANT:
        return _constant(column, target, rows)
    cells = _identifiers(column, rows, seed.child(column.name))
    if pa.types.is_integer(value_type(target)):
        numbers = cells if pa.types.is_integer(cells.type) else cells.cast(pa.int64())
        return _as(target, _integers(numbers.to_numpy(), np.zeros(rows, dtype=np.bool_), value_type(target)))
    return _as(target, cells)


def _identifiers(column: Column, rows: int, seed: Seed) -> pa.Array:
    """Running numbers from 1: alone, or in the slots of the format with leading zeros; or random UUIDs."""
    if column.format is None:
        return pa.array(np.arange(1, rows + 1))
    if column.format == "uuid":
        return _uuids(rows, seed)
    if rows > identifier_capacity(column.format):
        raise _UnwritableError(
            f"the format '{column.format}' numbers {identifier_capacity(column.format):,} rows, not {rows:,}",
            "give the format more # signs",
        )
    slots = [len(slot) for slot in IDENTIFIER_SLOT.findall(column.format)]
    literals = IDENTIFIER_SLOT.split(column.format)
    numbers = np.arange(1, rows + 1) % identifier_capacity(column.format)
    digits = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), sum(slots), "0")
    ends = np.cumsum([0, *slots])
    parts: list[pa.Array | str] = [literals[0]]
    for start, stop, literal in zip(ends[:-1], ends[1:], literals[1:], strict=True):
        parts += [pc.utf8_slice_codeunits(digits, int(start), int(stop)), literal]
    return pc.binary_join_element_wise(*parts, "")


def _uuids(rows: int, seed: Seed) -> pa.Array:
    """UUIDs of version 4 from the stream ``seed``."""
    octets = np.frombuffer(seed.generator().bytes(16 * rows), dtype=np.uint8).reshape(rows, 16).copy()
    octets[:, 6] = (octets[:, 6] & 0x0F) | 0x40
    octets[:, 8] = (octets[:, 8] & 0x3F) | 0x80
    digits = pa.array(np.frombuffer(octets.tobytes().hex().encode(), dtype="S32").astype("U32"))
    return pc.binary_join_element_wise(
        *(pc.utf8_slice_codeunits(digits, a, b) for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))), "-"
    )


def _constant(column: Column, target: pa.DataType, rows: int) -> pa.Array:
    values = value_type(target)
    if not column.levels:
        return _as(target, pa.nulls(rows, values))
    level = column.levels[0]
    naive = pa.timestamp(values.unit) if pa.types.is_timestamp(values) else values
    try:
        cells = pa.repeat(_typed((level,), naive)[0], rows)
        return _as(target, _zoned(cells, values))
    except (OverflowError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _UnwritableError(
            f"the constant cannot be written as {target}", "correct the level or the dtype"
        ) from None


def _written(column: Column, target: pa.DataType, cells: Floats) -> pa.Array:
    missing = np.isnan(cells)
    filled = np.where(missing, 0.0, cells)
    if column.kind in TEMPORAL:
        return _as(target, _moments(column, value_type(target), filled, missing))
    if column.numeric:
        return _as(target, _numbers(column, value_type(target), filled, missing))
    return _levels(column, target, filled, missing)


def _numbers(column: Column, target: pa.DataType, cells: Floats, missing: Booleans) -> pa.Array:
    if pa.types.is_integer(target):
        return _integers(np.rint(cells), missing, target)
    decimals = 0 if column.kind is Kind.INTEGER else column.decimals
    if pa.types.is_decimal(target):
        return _decimals(cells, target.scale if decimals is None else min(decimals, target.scale), missing, target)
    if not pa.types.is_floating(target):
        raise _UnwritableError(f"kind {column.kind} cannot be written as {target}", "give it a dtype of numbers")
    rounded = cells if decimals is None else np.round(cells, decimals)
    with np.errstate(over="ignore"):
        narrow = rounded.astype(target.to_pandas_dtype())
    _refuse_beyond(np.isinf(narrow), target)
    return pa.array(narrow, mask=missing)


def _integers(numbers: Floats | Integers, missing: Booleans, target: pa.DataType) -> pa.Array:
    limits = np.iinfo(target.to_pandas_dtype())
    _refuse_beyond((numbers < float(limits.min)) | (numbers >= float(limits.max) + 1), target)
    return pa.array(numbers.astype(target.to_pandas_dtype()), mask=missing)


def _decimals(cells: Floats, decimals: int, missing: Booleans, target: pa.DataType) -> pa.Array:
    """Exact decimals: whole numbers of units of 10^-decimals, then told to be that."""
    units = np.rint(cells * 10.0**decimals)
    _refuse_beyond(np.abs(units) >= min(EXACT, 10.0 ** (target.precision - target.scale + decimals)), target)
    low = units.astype(np.int64)
    words = np.stack([low, np.where(low < 0, -1, 0)], axis=1)
    buffers = [pa.array(~missing).buffers()[1], pa.py_buffer(words.tobytes())]
    return pa.Array.from_buffers(pa.decimal128(38, decimals), len(cells), buffers).cast(target)


def _refuse_beyond(beyond: Booleans, target: pa.DataType) -> None:
    if beyond.any():
        raise _UnwritableError(
            f"{int(beyond.sum()):,} numbers do not fit {target}", "narrow the bounds, or widen the dtype"
        )


def _moments(column: Column, target: pa.DataType, cells: Floats, missing: Booleans) -> pa.Array:
    """Ticks as dates, times, timestamps (local time in the zone of the type), durations, or text in their format."""
    per_day = TICKS_PER_DAY[column.resolution or "day"]
    if is_text(target):
        fraction = FRACTION in (column.format or "")
        stamp = pa.timestamp("ms" if column.resolution == "millisecond" else "us") if fraction else pa.timestamp("s")
        return render(_clock(cells, missing, per_day, stamp), column.format or "%Y-%m-%dT%H:%M:%S")
    if family(target) not in ("timestamp", "date", "time", "duration"):
        raise _UnwritableError(f"kind {column.kind} cannot be written as {target}", "give it a dtype of dates or times")
    naive = pa.timestamp(target.unit) if pa.types.is_timestamp(target) else target
    return _zoned(_clock(cells, missing, per_day, naive), target)


def _clock(cells: Floats, missing: Booleans, per_day: int, target: pa.DataType) -> pa.Array:
    stored = units_per_day(target)
    whole = np.rint(cells)
    _refuse_beyond(np.abs(whole) * (stored / per_day) >= EXACT, target)
    exact = whole.astype(np.int64)
    counts = exact * (stored // per_day) if stored >= per_day else exact // (per_day // stored)
    width = pa.int32() if target.bit_width == 32 else pa.int64()
    return pa.array(counts, mask=missing).cast(width).cast(target)


def _zoned(cells: pa.Array, target: pa.DataType) -> pa.Array:
    """Local times become moments: the earlier of two that a clock shows twice, the next one that a clock does show."""
    if pa.types.is_timestamp(target) and target.tz is not None:
        return pc.assume_timezone(cells, target.tz, ambiguous="earliest", nonexistent="latest")
    return cells


def _levels(column: Column, target: pa.DataType, cells: Floats, missing: Booleans) -> pa.Array:
    codes = pa.array(cells.astype(np.int64), mask=missing)
    values = pa.large_string() if is_text(value_type(target)) else value_type(target)
    try:
        levels = _typed(column.alphabet, values)
    except (OverflowError, pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        raise _UnwritableError(f"its levels cannot be written as {values}", "correct the levels or the dtype") from None
    if not pa.types.is_dictionary(target):
        return levels.take(codes).cast(target)
    index = target.index_type if len(levels) <= np.iinfo(target.index_type.to_pandas_dtype()).max else pa.int32()
    return pa.DictionaryArray.from_arrays(codes.cast(index), levels.cast(target.value_type), ordered=target.ordered)


def _typed(levels: Sequence[Scalar], kind: pa.DataType) -> pa.Array:
    """Levels as values of ``kind``. Raises ArrowInvalid, or another error of Arrow, for what it cannot hold."""
    exact = exact_levels(levels, kind)
    if exact is None:
        return pa.array(levels).cast(kind) if levels else pa.nulls(0, kind)
    if exact.null_count:
        raise pa.ArrowInvalid("no value of the type")
    return exact


def _as(target: pa.DataType, cells: pa.Array) -> pa.Array:
    """Cells in the encoding of ``target``: plain, or with a dictionary of the values that occur."""
    if not pa.types.is_dictionary(target):
        return cells.cast(target)
    coded = pc.dictionary_encode(cells.cast(target.value_type))
    return pa.DictionaryArray.from_arrays(
        coded.indices.cast(target.index_type), coded.dictionary, ordered=target.ordered
    )


def _metadata(like: pa.Schema, columns: Sequence[Column]) -> dict[bytes, bytes]:
    """What pandas needs to know of the released columns; index and attributes of the frame are left out."""
    said = json.loads((like.metadata or {}).get(b"pandas", b"{}"))
    if not said:
        return {}
    names = {column.name for column in columns}
    kept = {key: said[key] for key in ("column_indexes", "creator", "pandas_version") if key in said}
    described = [entry for entry in said.get("columns", []) if entry.get("field_name") in names]
    return {b"pandas": json.dumps({**kept, "index_columns": [], "columns": described}).encode()}
