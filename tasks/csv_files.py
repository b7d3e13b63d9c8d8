"""A table as CSV for people and programs that do not read Parquet, and whether a CSV holds the same rows.

Text is quoted, a missing cell is nothing between two commas: so an empty text can be told from a missing one. Durations
are seconds, exact to their unit.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from models.errors import Fault, StateError
from tasks.arrow_types import plain
from tasks.store import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

DECIMALS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def write_csv(table: pa.Table, path: Path) -> None:
    import pyarrow.csv as pc

    with whole_file(path) as beside:
        pc.write_csv(_writable(table), beside)


def same_rows(table: pa.Table, path: Path) -> bool:
    """Whether the CSV at ``path`` holds the rows of ``table``, cell by cell. Raises StateError if it is no such CSV."""
    import pyarrow as pa
    import pyarrow.csv as pc

    wanted = _writable(table)
    types = {field.name: pa.string() if _read_by_text(field.type) else field.type for field in wanted.schema}
    parse = pc.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
    convert = pc.ConvertOptions(
        column_types=types, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    try:
        found = pc.read_csv(path, parse_options=parse, convert_options=convert)
        return bool(found.cast(wanted.schema).equals(wanted))
    except (pa.ArrowInvalid, ValueError):
        raise StateError(Fault(path.name, "its columns are not those of the table", "write it again")) from None


def _read_by_text(kind: pa.DataType) -> bool:
    """Whether Arrow's reader does not know the type; text can be cast to it."""
    import pyarrow as pa

    return bool(pa.types.is_float16(kind) or pa.types.is_decimal(kind))


def _writable(table: pa.Table) -> pa.Table:
    """The table in types that Arrow's CSV writer knows: no dictionaries, no durations."""
    import pyarrow as pa

    columns = [plain(cells) for cells in table.columns]
    exact = [_seconds(cells) if pa.types.is_duration(cells.type) else cells for cells in columns]
    return pa.table(exact, names=table.column_names)


def _seconds(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Durations as exact decimals: in float64, nanoseconds beyond 104 days would be rounded."""
    import pyarrow as pa
    import pyarrow.compute as pc

    counts, decimals = cells.cast(pa.int64()), DECIMALS[cells.type.unit]
    if not decimals:
        return counts
    unit = pa.scalar(Decimal(1).scaleb(-decimals), pa.decimal128(decimals + 1, decimals))
    return pc.multiply(counts.cast(pa.decimal128(19, 0)), unit)
