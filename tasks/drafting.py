"""What ``init`` does: look at a table once, and write a spec and a schema for a person to review."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models import generators, joins, measures, partitioners
from models.column_trace import treatment
from models.errors import Fault, SpecError
from models.schema import Column, Kind, Role, Schema
from models.spec import NAME
from tasks.kinds import spec_json_schema
from tasks.profiles import draft_columns
from tasks.sources import SUFFIXES, Source, catalog, suffix_kind
from tasks.sources.csv_ import AS_USUAL, AsWritten, Csv
from tasks.store import ensure_writable, whole_file, write_json
from tasks.templates import render
from tasks.versions import exposed
from tasks.yaml_files import yaml_text

COLUMNS_PER_PART = 20


@dataclass(frozen=True)
class DraftedColumn:
    """One column as ``init`` shows it."""

    name: str
    kind: str
    role: str
    treatment: str
    why: str


@dataclass(frozen=True)
class Drafts:
    """The files that were written, what they say of each column, and what a person must not overlook."""

    spec: Path
    schema: Path
    rows: int
    columns: tuple[DraftedColumn, ...]
    warnings: tuple[str, ...] = ()


def write_drafts(
    said: str,
    *,
    table: str | None,
    name: str | None,
    into: Path,
    k: int,
    replace: bool,
    csv: AsWritten = AS_USUAL,
) -> Drafts:
    """Look at the table that ``said`` names and write spec.yaml and data/schemas/<name>.yaml below ``into``.

    Raises SpecError if the source cannot be understood or files would be overwritten.
    """
    settings = {**source_settings(said, table, into), **csv.settings([Path(said)])}
    name = _checked(name) if name else _slug(table or _stem(Path(said).name))
    spec_path, schema_path = into / "spec.yaml", into / "data" / "schemas" / f"{name}.yaml"
    there = [path for path in (spec_path, schema_path) if path.exists() and not replace]
    if there:
        remedy = "use --force to replace it, or --into another folder"
        raise SpecError([Fault(str(path), "exists already", remedy) for path in there])
    for path in (spec_path, schema_path):
        ensure_writable(path)
    source = catalog.build({**settings, **({"path": said} if "path" in settings else {})})
    rows = source.read()
    drafted = draft_columns(rows, k)
    schema = Schema(columns=tuple(each.column for each in drafted), k=k)
    whys = {each.column.name: each.why for each in drafted}
    settings, warnings = _csv_notes(source, settings)
    warnings += [f"{each.column.name}: {each.warning}" for each in drafted if each.warning]
    if isinstance(source, Csv) and any("a decimal comma" in each.warning for each in drafted):
        warnings.append("numbers with a decimal comma are read as numbers with --decimal-point ','")
    warnings += _git_warnings(said) if "path" in settings else []
    _write(schema_path, schema_text(name, schema, whys))
    _write(spec_path, spec_text(name, settings, schema))
    write_json(spec_json_schema(), into / "data" / "schemas" / "spec.schema.json")
    shown = tuple(_shown(column, whys, k) for column in schema.columns)
    return Drafts(spec_path, schema_path, rows.num_rows, shown, tuple(warnings))


def _csv_notes(source: Source, settings: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The settings with the texts that were read as missing spelled out, and what to warn of in a CSV file."""
    if not isinstance(source, Csv):
        return settings, []
    found = source.texts_read_as_missing()
    warnings = [f"{name}: the header has no name for this column" for name in source.unnamed()]
    for name, texts in found.items():
        counted = ", ".join(f"'{text}' in {n:,} cell{'' if n == 1 else 's'}" for text, n in texts.items())
        warnings.append(f"{name}: read as missing: {counted}; if that is wrong, change null_values in the spec")
    return {**settings, "null_values": list(source.null_values)} if found else settings, warnings


def _git_warnings(said: str) -> list[str]:
    """What to warn of where the source's file may get into a git history, from which nothing goes again."""
    seen = exposed(Path(said))
    if seen == "tracked":
        return [
            f"{said}: is TRACKED BY GIT, so that every clone holds it; if its rows are private, 'git rm --cached' "
            "it, add it to .gitignore, and take it out of the history"
        ]
    if seen == "untracked":
        return [
            f"{said}: lies in a git repository that does NOT IGNORE it and is easily committed: add it to "
            ".gitignore, or keep it elsewhere"
        ]
    return []


def _shown(column: Column, whys: dict[str, str], k: int) -> DraftedColumn:
    return DraftedColumn(column.name, column.kind, column.role, treatment(column, k), whys[column.name])


def source_settings(said: str, table: str | None, into: Path) -> dict[str, Any]:
    """The ``source`` section that a word on the command line means, with paths as seen from the spec's folder."""
    kind, _, rest = said.partition(":")
    if kind == "postgres" and rest:
        return {"kind": "postgres", "connection_env": rest, **_needed_table(table, said)}
    path = Path(said)
    found = suffix_kind(path)
    if found is None:
        remedy = "name a file that ends in .csv, .parquet or .duckdb, or a folder of Parquet files"
        raise SpecError(Fault(said, "is no CSV, Parquet or DuckDB file and no postgres:VARIABLE", remedy))
    seen = {"kind": found, "path": _seen_from(path, into)}
    return {**seen, **_needed_table(table, said)} if found == "duckdb" else seen


def _needed_table(table: str | None, said: str) -> dict[str, str]:
    if table is None:
        raise SpecError(Fault(said, "which table is not said", "add --table NAME"))
    return {"table": table}


def _seen_from(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path.absolute(), folder.resolve())).as_posix()


def _checked(name: str) -> str:
    """``name``, which becomes the name of files and folders. Raises SpecError, with a name like it, if it cannot."""
    if not re.fullmatch(NAME, name):
        found = "must be at most 63 lower-case letters, digits and hyphens"
        raise SpecError(Fault("--name", found, f"for example '{_slug(name)}'"))
    return name


def _stem(file: str) -> str:
    """A file's name without the suffix that says of what kind it is."""
    return next((file[: -len(suffix)] for suffix in SUFFIXES if file.lower().endswith(suffix)), file)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:63].strip("-") or "table"


def schema_text(name: str, schema: Schema, whys: dict[str, str]) -> str:
    """The schema as commented YAML: for each column why it was drafted so, and what will happen to it."""
    head = (
        f"# The schema of {name}, drafted for review. Bounds, levels and peaks are public facts once something is\n"
        "# released: correct what is wrong, and widen bounds that come too close to a real person's value.\n"
        f"# Kinds: {', '.join(Kind)}.\n"
        f"# Roles: {', '.join(Role)}. 'include: false' leaves a column out.\n\n"
        f"k: {schema.k}   # a level is listed only when at least this many rows share it\n\ncolumns:\n"
    )
    return head + "".join(_column_text(column, whys[column.name], schema.k) for column in schema.columns)


def _column_text(column: Column, why: str, k: int) -> str:
    said = column.model_dump(mode="json", exclude_defaults=True)
    lines = yaml_text(said).splitlines()
    body = "".join(f"  {'- ' if number == 0 else '  '}{line}\n" for number, line in enumerate(lines))
    return f"  # {_comment(why)}; {treatment(column, k)}\n{body}\n"


def _comment(text: str) -> str:
    """Text that cannot end a comment: formats and patterns in it are the source's."""
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))


def spec_text(name: str, source: dict[str, Any], schema: Schema) -> str:
    """A commented spec: as many parts as keep each at about twenty columns, and no entity unless one is obvious."""
    parts = max(1, round(len(schema.modelled) / COLUMNS_PER_PART))
    identifiers = [column.name for column in schema.having(Role.IDENTIFIER) if column.include]
    kinds = {
        "partitioners": partitioners.kinds("columns"),
        "row_partitioners": partitioners.kinds("rows"),
        "generators": generators.catalog.kinds(),
        "joins": joins.catalog.kinds(),
        "measures": measures.catalog.kinds(),
    }
    entity = identifiers[0] if len(identifiers) == 1 else None
    join = "shuffled" if parts == 1 else "swap"
    return render("spec.yaml.j2", name=name, source=source, parts=parts, entity=entity, join=join, **kinds)


def _write(path: Path, text: str) -> None:
    with whole_file(path) as beside:
        beside.write_text(text, encoding="utf-8")
