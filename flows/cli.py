"""The command line: parse, call, print, exit code. What the commands do lies in the rooms they call."""

from __future__ import annotations

import json
import logging
import os
import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.logging import RichHandler
from rich.table import Table
from rich.text import Text

from models import errors
from models.errors import ParquetryError, WithheldError
from models.policy import Preset
from models.schema import Role

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Turn a sensitive table into a synthetic one that was audited before it was released.",
    epilog="Exit codes: 0 done · 1 fault in Parquetry · 2 wrong call · "
    + " · ".join(f"{kind.exit_code} {kind.title.split(';')[0].lower()}" for kind in errors.KINDS)
    + f" · {INTERRUPTED} interrupted",
)
out = Console(markup=False, emoji=False)
err = Console(stderr=True, markup=False, emoji=False)
"""Names of columns and files are printed as they are: ``income [usd]`` is no markup."""

SpecPath = Annotated[Path, typer.Argument(help="the spec", show_default=True)]
Delimiter = Annotated[str | None, typer.Option(help="what parts the cells of a CSV file; a comma by default")]
Encoding = Annotated[str | None, typer.Option(help="how the text of a CSV file is encoded; utf8 by default")]
DecimalPoint = Annotated[
    str | None, typer.Option(help="what stands before the decimals of a number in a CSV file; a point by default")
]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON for machines, and nothing else, on standard output")]


@app.callback()
def everywhere(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress, results only")] = False,
) -> None:
    level = logging.WARNING if quiet else logging.INFO
    log = logging.getLogger("parquetry")
    log.handlers = [RichHandler(level, console=err, show_path=False, show_level=False, log_time_format="%H:%M:%S")]
    log.propagate = False


@app.command()
def init(
    source: Annotated[
        str,
        typer.Argument(
            help="a CSV, Parquet or DuckDB file, or postgres:VARIABLE (the environment variable with the connection)"
        ),
    ],
    table: Annotated[str | None, typer.Option(help="table to read, for DuckDB and PostgreSQL")] = None,
    name: Annotated[
        str | None, typer.Option(help="name of the data set; the file's or table's name by default")
    ] = None,
    into: Annotated[Path, typer.Option(help="folder for spec.yaml and data/schemas/")] = Path(),
    k: Annotated[int, typer.Option(min=1, help="list only levels that at least this many rows share")] = 10,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal_point: DecimalPoint = None,
    force: Annotated[bool, typer.Option(help="replace a spec and schema that are there already")] = False,
) -> None:
    """Look at a table and write a commented [bold]spec.yaml[/] and a schema to review."""
    from tasks.drafting import write_drafts
    from tasks.sources.csv_ import AsWritten

    csv = AsWritten(delimiter, encoding, decimal_point)
    drafts = write_drafts(source, table=table, name=name, into=into, k=k, replace=force, csv=csv)
    shown = Table(title=f"{drafts.rows:,} rows, {len(drafts.columns)} columns")
    for title in ("column", "kind", "role", "why, and what will happen"):
        shown.add_column(title, overflow="fold")
    for column in drafts.columns:
        shown.add_row(column.name, column.kind, column.role, f"{column.why}; {column.treatment}")
    out.print(shown)
    for warning in drafts.warnings:
        out.print(f"Warning: {warning}", soft_wrap=True)
    out.print(f"Written: {drafts.spec} and {drafts.schema}", soft_wrap=True)
    out.print("Review bounds, levels, peaks and roles in the schema: they are published facts.", soft_wrap=True)
    out.print(f"Next: parquetry check {drafts.spec}", soft_wrap=True)


@app.command()
def check(spec: SpecPath = Path("spec.yaml"), as_json: AsJson = False) -> None:
    """Check a spec and its schema, wholly, before any row is read."""
    from tasks.spec import load

    plan = load(spec)
    modelled = len(plan.schema.modelled)
    if as_json:
        _json(
            {
                "ok": True,
                "name": plan.spec.name,
                "columns": len(plan.schema.columns),
                "modelled": modelled,
                "digest": plan.spec.digest(),
            }
        )
    else:
        sound = f": spec and schema are sound ({len(plan.schema.columns)} columns, {modelled} modelled)."
        out.print(Text.assemble((plan.spec.name, "green"), sound))


@app.command()
def plan(spec: SpecPath = Path("spec.yaml"), as_json: AsJson = False) -> None:
    """Read the source and show what a run would do: parts, generators, sizes. Only a missing seed is written."""
    from tasks.planning import preview

    seen = preview(spec)
    if as_json:
        _json(seen.as_dict())
        return
    what = ("cluster", "training rows") if any(part.rows for part in seen.parts) else ("part", "columns")
    shown = Table(*what, "generator", "a row becomes", title=f"{seen.name}: {seen.rows:,} rows")
    for part in seen.parts:
        numbers = f"{part.width:,} number{'' if part.width == 1 else 's'}"
        shown.add_row(part.name, part.rows or ", ".join(part.columns), part.generator, numbers)
    out.print(shown)
    for line in seen.remarks:
        out.print(line)


@app.command()
def run(
    spec: SpecPath = Path("spec.yaml"),
    only: Annotated[
        str | None, typer.Option(metavar="STAGE", help="carry out one stage in this process, without a Prefect server")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the pipeline: ingest, partition, train, join, audit, release. What has not changed is not done again."""
    from flows.running import run_all

    ended = _one_stage(spec, only) if only else run_all(spec)
    if as_json:
        _json(ended.as_dict())
    else:
        _print_ended(ended)
    if ended.withheld:
        raise WithheldError(ended.withheld)


def _one_stage(spec: Path, stage: str) -> Any:
    """How one stage ended, with what it made."""
    from flows.running import run_one
    from tasks.explaining import made
    from tasks.spec import load

    ended = run_one(spec, stage)
    return replace(ended, facts=(*ended.facts, *made(stage, load(spec))))


def _print_ended(ended: Any) -> None:
    if ended.findings:
        out.print(_findings_table(ended.findings))
    if ended.verdict:
        out.print(Text.assemble("Verdict: ", (ended.verdict, "bold"), f". {ended.reason}"))
    for label, value in ended.facts:
        out.print(f"{label}: {value}", soft_wrap=True)


def _findings_table(rows: list[dict[str, str]]) -> Table:
    shown = Table(*rows[0], title="Audit: the checks that decide (the report has all figures)")
    colours = {"pass": "green", "fail": "red", "inconclusive": "yellow", "invalid": "red"}
    for row in rows:
        *cells, verdict = row.values()
        shown.add_row(*cells, Text(verdict, style=colours.get(verdict, "")))
    return shown


@app.command()
def audit(
    real: Annotated[
        Path, typer.Argument(help="the real table (CSV or Parquet): the rows the synthesizer was trained on")
    ],
    synthetic: Annotated[Path, typer.Argument(help="the synthetic table, made by any tool")],
    holdout: Annotated[
        Path | None,
        typer.Option(
            help="real rows that the synthesizer never saw; without them half of what can be asked stays open"
        ),
    ] = None,
    target: Annotated[list[str] | None, typer.Option(help="column that a model is to predict; may be repeated")] = None,
    sensitive: Annotated[
        list[str] | None, typer.Option(help="column that people keep to themselves; may be repeated")
    ] = None,
    quasi_identifier: Annotated[
        list[str] | None,
        typer.Option(help="column that an attacker knows of people; may be repeated; all columns by default"),
    ] = None,
    preset: Annotated[Preset, typer.Option(help="for whom the table is: limits are strictest for the public")] = (
        Preset.PUBLIC
    ),
    report: Annotated[Path, typer.Option(help="where the HTML report goes")] = Path("audit.html"),
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal_point: DecimalPoint = None,
    as_json: AsJson = False,
) -> None:
    """Audit anybody's synthetic table against the real one. Exit code 8 if it does not pass."""
    from tasks.audit import audit_files, in_words, published_rows
    from tasks.sources.csv_ import AsWritten

    csv = AsWritten(delimiter, encoding, decimal_point)
    named = {Role.TARGET: target, Role.SENSITIVE: sensitive, Role.QUASI_IDENTIFIER: quasi_identifier}
    roles = {role: names for role, names in named.items() if names}
    said = audit_files(real, synthetic, holdout, report=report, roles=roles, preset=preset, csv=csv)
    if as_json:
        _json(said)
    else:
        if rows := published_rows(said):
            out.print(_findings_table(rows))
        out.print(Text.assemble("Verdict: ", (in_words(said), "bold"), f" ({said['verdict']}). {said['reason']}"))
        out.print(f"Report: {report}", soft_wrap=True)
    if said["verdict"] != "pass":
        raise typer.Exit(WithheldError.exit_code)


@app.command()
def synthesize(
    source: Annotated[Path, typer.Argument(metavar="IN", help="a CSV or Parquet file")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="the file to write, CSV or Parquet")],
    spec: Annotated[Path | None, typer.Option(help="take partition, generators and join from this spec")] = None,
    generator: Annotated[str, typer.Option(help="kind of generator (see 'parquetry kinds')")] = "cart",
    parts: Annotated[int, typer.Option(min=1, help="number of column parts")] = 1,
    clusters: Annotated[
        int | None, typer.Option(min=1, help="number of clusters of rows that are alike, in place of parts")
    ] = None,
    join: Annotated[
        str | None, typer.Option(help="kind of join; 'shuffled' for columns and 'concatenation' for rows by default")
    ] = None,
    rows: Annotated[int | None, typer.Option(min=0, help="rows to make; as many as were read by default")] = None,
    seed: Annotated[
        int | None, typer.Option(help="a number makes the result repeatable; without it a secret one is drawn")
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal_point: DecimalPoint = None,
) -> None:
    """Make a synthetic file from a file in one process, for trying things. [bold]Nothing is audited.[/]"""
    from tasks.sources.csv_ import AsWritten
    from tasks.trial import WARNING, synthesize_file

    made = synthesize_file(
        source,
        target,
        spec=spec,
        generator=generator,
        parts=parts,
        clusters=clusters,
        join=join,
        rows=rows,
        seed=seed,
        csv=AsWritten(delimiter, encoding, decimal_point),
    )
    err.print(WARNING, style="bold yellow")
    out.print(f"{made:,} row{'' if made == 1 else 's'} written to {target}", soft_wrap=True)


@app.command()
def explain(
    what: Annotated[str, typer.Argument(help="a column's name, a release (nhanes@v1) or its folder")],
    spec: Annotated[Path, typer.Option(help="the spec whose releases are asked about")] = Path("spec.yaml"),
    as_json: AsJson = False,
) -> None:
    """Tell where a column or a release came from."""
    from tasks.explaining import explain as answer

    said = answer(what, spec)
    if as_json:
        _json(said)
        return
    shown = Table.grid(padding=(0, 2))
    for key, value in said.items():
        shown.add_row(
            Text(key, style="bold"), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        )
    out.print(shown)


@app.command()
def verify(
    release: Annotated[Path, typer.Argument(help="folder of a published version")],
    as_json: AsJson = False,
) -> None:
    """Recompute all that a release claims of itself. Exit code 9 if a single byte is not as published."""
    from tasks.release import verify as verified

    manifest = verified(release)
    if as_json:
        _json({"ok": True, "name": manifest.name, "version": manifest.version, "files": len(manifest.files)})
    else:
        as_published = f": {len(manifest.files)} files are as published."
        out.print(Text.assemble((f"{manifest.name} v{manifest.version}", "green"), as_published))


@app.command()
def kinds(
    as_json: AsJson = False,
    json_schema: Annotated[bool, typer.Option(help="print the JSON Schema of a spec, for editors")] = False,
) -> None:
    """List the kinds of source, partitioner, generator, join and measure there are."""
    from tasks.kinds import described, spec_json_schema

    if json_schema:
        _json(spec_json_schema())
        return
    listed = described()
    if as_json:
        _json(listed)
        return
    shown = Table("family", "kind", "what it is")
    for row in listed:
        shown.add_row(row["family"], row["kind"], row["what"])
    out.print(shown)


@app.command()
def serve(specs: Annotated[list[Path], typer.Argument(help="specs whose schedules and triggers to serve")]) -> None:
    """Register specs with a running Prefect server and carry out their runs until interrupted."""
    from tasks.spec import load_all

    plans = load_all(specs)
    from flows.server import standing

    with standing():
        from flows.serve import serve as serve_all

        serve_all(plans)


def _json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def main() -> None:
    """Run the command line; a refusal becomes its list of faults and its exit code."""
    sys.excepthook = _refuse_unforeseen
    try:
        with _system_errors_told():
            typer.main.get_command(app)(prog_name="parquetry")
    except ParquetryError as error:
        _refuse(error)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != INTERRUPTED:
            raise
        err.print("Interrupted. Nothing is left half-written, and what was finished is kept.")
        sys.exit(INTERRUPTED)


@contextmanager
def _system_errors_told() -> Iterator[None]:
    """Within it, what the operating system refuses becomes an error of ours; standard output is written to the end."""
    try:
        try:
            yield
        finally:
            _flush()
    except OSError as error:
        from tasks.store import refused

        told = refused(error, str(error.filename or "standard output"))
        if told is None:
            raise
        raise told from None


def _flush() -> None:
    """Write standard output to its end now: at the end of the process, nobody would tell what went wrong."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # who reads no further has read enough
            raise


def _refuse(error: ParquetryError) -> None:
    err.print(error.title, style="bold red")
    for fault in error.faults:
        err.print(f"  • {fault}", highlight=False, soft_wrap=True)


def _refuse_unforeseen(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """An error of another make is told without its message, which may quote a cell: screens are recorded, too."""
    from tasks.step import Sealed

    try:
        with Sealed("parquetry", Path(tempfile.gettempdir()) / f"parquetry-{secrets.token_hex(8)}"):
            raise error
    except ParquetryError as sealed:
        _refuse(sealed)
