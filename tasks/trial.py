"""Synthesis for trying things: from a DataFrame to a DataFrame, or from a file to a file, in one process, unaudited."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from models import generators, joins, partitioners
from models.errors import Fault, SpecError
from models.randomness import Seed
from models.schema import Kind, Schema
from models.spec import Spec
from models.synthesis import Recipe
from models.synthesis import synthesize as synthesize_rows
from tasks.codec import decode, encode, from_pandas, to_pandas
from tasks.csv_files import write_csv
from tasks.profiles import draft
from tasks.sources import file_source
from tasks.spec import load
from tasks.store import write_table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

log = logging.getLogger("parquetry")

WARNING = "NOT AUDITED: this table was made for trying things and may hold real records. Do not release it."


def synthesize(
    frame: pd.DataFrame,
    *,
    generator: str = "cart",
    parts: int = 1,
    join: str = "shuffled",
    rows: int | None = None,
    seed: int | None = None,
    k: int = 10,
) -> pd.DataFrame:
    """A synthetic DataFrame with the columns and dtypes of ``frame``; nothing is audited.

    Levels that fewer than ``k`` rows share are not reproduced. Raises SpecError for unknown kinds, free text and
    impossible sizes, ContractError for cells that no column can hold.
    """
    how = recipe(generator, parts, join)
    table = from_pandas(frame)
    return to_pandas(_make(table, drafted(table, k), how, rows, seed), frame)


def synthesize_file(
    source: Path,
    target: Path,
    *,
    spec: Path | None,
    generator: str,
    parts: int,
    join: str,
    rows: int | None,
    seed: int | None,
) -> int:
    """The same for files; the number of rows written. The warning goes into the Parquet metadata."""
    _ensure_writable(target, source)
    plan = None if spec is None else load(spec)
    how = recipe(generator, parts, join) if plan is None else _recipe_of(plan.spec)
    table = file_source(source).read()
    schema = drafted(table, k=10) if plan is None else plan.schema
    made = _make(table, schema, how, rows, seed)
    if target.suffix == ".parquet":
        write_table(made, target, {"parquetry": WARNING})
    else:
        write_csv(made, target)
    return int(made.num_rows)


def _ensure_writable(target: Path, source: Path) -> None:
    if target.suffix not in {".csv", ".parquet"}:
        found = f"cannot write '{target.suffix}' files" if target.suffix else "has no suffix that tells what to write"
        raise SpecError(Fault(str(target), found, "end the name in .parquet or .csv"))
    if target.resolve() == source.resolve():
        raise SpecError(Fault(str(target), "is the source itself", "give the synthetic table a name of its own"))


def _recipe_of(spec: Spec) -> Recipe:
    return Recipe(spec.partition, spec.generator, spec.generators, spec.join)


def recipe(generator: str, parts: int, join: str) -> Recipe:
    """The settings that the short form names: columns that belong together stay in one part."""
    partition = partitioners.catalog.build({"kind": "clustered", "parts": parts})
    return Recipe(partition, generators.catalog.build(generator), {}, joins.catalog.build(join))


def drafted(table: pa.Table, k: int) -> Schema:
    """The drafted schema of a table that nobody reviewed. Raises SpecError for free text and where nothing is left."""
    schema, _ = draft(table, k)
    faults = [
        Fault(column.name, "free text is not synthesised", "drop it, or run 'parquetry init' and review its schema")
        for column in schema.columns
        if column.kind is Kind.TEXT
    ]
    if not faults and not schema.modelled:
        found = f"none of its {len(schema.columns)} columns can be modelled"
        faults = [Fault("table", found, "give it one that is not an identifier or a constant")]
    if faults:
        raise SpecError(faults)
    return schema


def _make(table: pa.Table, schema: Schema, how: Recipe, rows: int | None, number: int | None) -> pa.Table:
    faults = how.partition.faults(schema)
    if rows is not None and rows < 0:
        faults.append(Fault("rows", f"{rows:,} rows cannot be made", "ask for 0 or more"))
    if faults:
        raise SpecError(faults)
    seed = Seed.draw() if number is None else Seed.of(number)
    joined = synthesize_rows(encode(table, schema), how, table.num_rows if rows is None else rows, seed).joined
    if joined.shortfall:
        log.warning("%s rows fewer than asked for: the join accepted no more", f"{joined.shortfall:,}")
    return decode(joined.table, schema, seed.child("identifiers"), like=table.schema)
