"""Synthesis for trying things: from a DataFrame to a DataFrame, or from a file to a file, in one process, unaudited."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models import generators, joins, partitioners
from models.errors import Fault, SpecError
from models.randomness import Seed
from models.schema import Kind, Schema
from models.spec import Recipe, beyond_numbering
from models.synthesis import synthesize as synthesize_rows
from tasks.codec import decode, encode, from_pandas, to_pandas
from tasks.csv_files import write_csv
from tasks.profiles import draft_columns
from tasks.sources import file_source
from tasks.sources.csv_ import AS_USUAL, AsWritten, Csv
from tasks.spec import Plan, load
from tasks.store import ensure_writable, write_table

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
    clusters: int | None = None,
    join: str | None = None,
    rows: int | None = None,
    seed: int | None = None,
    k: int = 10,
) -> pd.DataFrame:
    """A synthetic DataFrame with the columns and dtypes of ``frame``; nothing is audited.

    ``parts`` divides the columns, ``clusters`` the rows: as many clusters of rows that are alike, each learned by
    itself. Columns are joined by ``shuffled`` unless another join is named.

    Levels that fewer than ``k`` rows share are not reproduced. Raises SpecError for unknown kinds, free text and
    impossible sizes, ContractError for cells that no column can hold.
    """
    how = recipe(generator, parts, clusters, join)
    table = from_pandas(frame)
    return to_pandas(_make(table, drafted(table, k), how, rows, seed), frame)


def synthesize_file(
    source: Path,
    target: Path,
    *,
    spec: Path | None,
    generator: str,
    parts: int,
    clusters: int | None,
    join: str | None,
    rows: int | None,
    seed: int | None,
    csv: AsWritten = AS_USUAL,
) -> int:
    """The same for files; the number of rows written. The warning goes into the Parquet metadata.

    ``csv`` is how a CSV ``source`` is written; what it does not say, a spec with a CSV source says.
    """
    _ensure_target(target, source)
    settings = csv.settings([source])
    plan = None if spec is None else load(spec)
    how = recipe(generator, parts, clusters, join) if plan is None else Recipe.of(plan.spec)
    table = file_source(source, {**_csv_of(plan), **settings}).read()
    log.info("%s rows of %s columns read; learning from them", f"{table.num_rows:,}", f"{table.num_columns:,}")
    schema = drafted(table, k=10) if plan is None else plan.schema
    made = _make(table, schema, how, rows, seed)
    if target.suffix.lower() == ".parquet":
        write_table(made, target, {"parquetry": WARNING})
    else:
        write_csv(made, target)
    return int(made.num_rows)


def _csv_of(plan: Plan | None) -> dict[str, Any]:
    """How the CSV files of a plan are written; nothing where its source is of another kind."""
    return plan.source.model_dump(exclude={"kind", "path"}) if plan and isinstance(plan.source, Csv) else {}


def _ensure_target(target: Path, source: Path) -> None:
    if target.suffix.lower() not in {".csv", ".parquet"}:
        found = f"cannot write '{target.suffix}' files" if target.suffix else "has no suffix that tells what to write"
        raise SpecError(Fault(str(target), found, "end the name in .parquet or .csv"))
    if target.resolve() == source.resolve():
        raise SpecError(Fault(str(target), "is the source itself", "give the synthetic table a name of its own"))
    if source.is_dir() and source.resolve() in target.resolve().parents:
        found = f"would lie among the files of the source '{source}' and be read with them the next time"
        raise SpecError(Fault(str(target), found, "name another folder"))
    ensure_writable(target)


def recipe(generator: str, parts: int, clusters: int | None, join: str | None) -> Recipe:
    """The settings that the short form names: columns that belong together stay in one part, rows that are alike in one
    cluster. Raises SpecError where both are to be divided.
    """
    if clusters is not None and parts > 1:
        found = f"{parts} parts of columns and {clusters} clusters of rows"
        raise SpecError(Fault("partition", found, "divide either columns or rows"))
    said = {"kind": "clustered", "parts": parts} if clusters is None else {"kind": "kmeans", "k": clusters}
    joined = join or ("shuffled" if clusters is None else "concatenation")
    built = partitioners.catalog.build(said), generators.catalog.build(generator), joins.catalog.build(joined)
    return Recipe(built[0], built[1], {}, built[2])


def drafted(table: pa.Table, k: int) -> Schema:
    """The drafted schema of a table that nobody reviewed. Raises SpecError for free text and where nothing is left."""
    found = draft_columns(table, k)
    schema = Schema(columns=tuple(each.column for each in found), k=k)
    faults = [
        Fault(
            each.column.name,
            each.warning or "free text is not synthesised",
            "drop it, or run 'parquetry init' and review its schema",
        )
        for each in found
        if each.column.kind is Kind.TEXT
    ]
    if not faults and not schema.modelled:
        none = f"none of its {len(schema.columns)} columns can be modelled"
        faults = [Fault("table", none, "give it one that is not an identifier or a constant")]
    if faults:
        raise SpecError(faults)
    return schema


def _make(table: pa.Table, schema: Schema, how: Recipe, rows: int | None, number: int | None) -> pa.Table:
    faults = how.faults(schema)
    if rows is not None and rows < 0:
        faults.append(Fault("rows", f"{rows:,} rows cannot be made", "ask for 0 or more"))
    n = table.num_rows if rows is None else rows
    faults += beyond_numbering(schema, n)
    if faults:
        raise SpecError(faults)
    seed = Seed.draw() if number is None else Seed.of(number)
    joined = synthesize_rows(encode(table, schema), how, n, seed).joined
    if joined.shortfall:
        log.warning("%s rows fewer than asked for: the join accepted no more", f"{joined.shortfall:,}")
    return decode(joined.table, schema, seed.child("identifiers"), like=table.schema)
