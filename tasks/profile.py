"""What a table's columns look like, as far as drafting a schema needs to know."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from models.draft import Booleans, Levels, Moments, Numbers, Profile, Unsupported, draft_column
from models.errors import ContractError, Fault
from models.schema import TICKS_PER_DAY, Kind, Resolution, Scalar, Schema
from models.table import Integers
from tasks.arrow_types import UNITS_PER_DAY, family, plain, unit_of, value_type
from tasks.contract import floats
from tasks.date_text import FRACTION, parse, render

EXACT = 2.0**63 - 1024
UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
LONGEST_MASK = 64
SAMPLE = 200

DATE_FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d-%b-%Y", "%d %b %Y", "%d %B %Y",
    "%B %d, %Y",
)  # fmt: skip
TIME_FORMATS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f")
ISO_FORMATS = tuple(f"%Y-%m-%d{mark}%H:%M:%S{end}" for mark in "T " for end in ("", "Z", FRACTION))
FORMATS: dict[str, Kind] = (
    dict.fromkeys(DATE_FORMATS, Kind.DATE)
    | dict.fromkeys(TIME_FORMATS, Kind.TIME)
    | dict.fromkeys(ISO_FORMATS, Kind.DATETIME)
    | {f"{day} {clock}": Kind.DATETIME for day in DATE_FORMATS for clock in TIME_FORMATS}
    | {"%Y-%m-%dT%H:%M": Kind.DATETIME}
)


def draft(table: pa.Table, k: int) -> tuple[Schema, dict[str, str]]:
    """A schema for review, and for every column the reason why it is so.

    Raises ContractError where there is nothing to draft from: no row, a column without a name or two of one name.
    """
    names = table.column_names
    faults = [Fault(name, f"{names.count(name)} columns have this name", "rename all but one")
              for name in dict.fromkeys(names) if names.count(name) > 1]
    faults += [Fault(f"column {j + 1}", "has no name", "give it one") for j, name in enumerate(names) if not name]
    faults += [] if table.num_rows else [Fault("table", "has no row", "draft from a table with rows")]
    if faults:
        raise ContractError(faults)
    drafted = [draft_column(profile(name, cells, k), k) for name, cells in zip(names, table.columns, strict=True)]
    return Schema(columns=tuple(each.column for each in drafted), k=k), {each.column.name: each.why for each in drafted}


def profile(name: str, cells: pa.ChunkedArray, k: int) -> Profile:
    """The profile of one column; exact values are in it, so it is not to be kept."""
    kind = family(cells.type)
    missing = int(cells.null_count)
    if kind == "number" and not pa.types.is_dictionary(cells.type):
        values = floats(cells)
        missing = int(np.isnan(values).sum())
        return Profile(name, str(cells.type), len(cells), missing, _numbers(values, cells.type))
    readers = {"text": _texts, "boolean": _booleans, "timestamp": _moments, "date": _moments, "time": _moments,
               "duration": _moments}  # fmt: skip
    if kind in ("null", "other") or missing == len(cells):
        return Profile(name, str(cells.type), len(cells), missing, Unsupported() if kind == "other" else None)
    if pa.types.is_dictionary(cells.type) and kind in ("text", "number", "boolean"):
        return Profile(name, str(cells.type), len(cells), missing, _dictionary(cells, k))
    if kind == "text":
        return Profile(name, str(cells.type), len(cells), missing, _texts(plain(cells), len(cells), k))
    return Profile(name, str(cells.type), len(cells), missing, readers[kind](plain(cells)))
