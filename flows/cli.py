"""The command line: parse, call, print, exit code. What the commands do lies in the rooms they call."""

from __future__ import annotations

import json
import logging
import secrets
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.logging import RichHandler
from rich.table import Table

from models import errors
from models.errors import ParquetryError, WithheldError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Turn a sensitive table into a synthetic one that was audited before it was released.",
    epilog="Exit codes: 0 done · 1 fault in Parquetry · 2 wrong call · "
    + " · ".join(f"{kind.exit_code} {kind.title.split(';')[0].lower()}" for kind in errors.KINDS),
)
out = Console()
err = Console(stderr=True)

SpecPath = Annotated[Path, typer.Argument(help="the spec", show_default=True)]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON for machines, and nothing else, on standard output")]


@app.callback()
def everywhere(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress, results only")] = False,
) -> None:
    level = logging.WARNING if quiet else logging.INFO
    log = logging.getLogger("parquetry")
    log.handlers = [
        RichHandler(level, console=err, show_path=False, show_level=False, log_time_format="%H:%M:%S", markup=False)
    ]
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
    delimiter: Annotated[
        str | None, typer.Option(help="what parts the cells of a CSV file; a comma by default")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="how the text of a CSV file is encoded; utf8 by default")] = None,
    force: Annotated[bool, typer.Option(help="replace a spec and schema that are there already")] = False,
) -> None:
    """Look at a table and write a commented [bold]spec.yaml[/] and a schema to review."""
    from tasks.drafting import write_drafts

    drafts = write_drafts(
        source, table=table, name=name, into=into, k=k, replace=force, delimiter=delimiter, encoding=encoding
    )
    shown = Table(
        "column",
        "kind",
        "role",
        "what will happen",
        "why",
        title=f"{drafts.rows:,} rows, {len(drafts.columns)} columns",
    )
    for column in drafts.columns:
        shown.add_row(column.name, column.kind, column.role, column.treatment, column.why)
    out.print(shown)
    for warning in drafts.warnings:
        out.print(f"Warning: {warning}", markup=False, soft_wrap=True)
    out.print(f"Written: {drafts.spec} and {drafts.schema}. Review bounds, levels and roles: they are published facts.")
    out.print(f"Next: parquetry check {drafts.spec}")


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
        out.print(
            f"[green]{plan.spec.name}[/]: spec and schema are sound "
            f"({len(plan.schema.columns)} columns, {modelled} modelled)."
        )


@app.command()
def plan(spec: SpecPath = Path("spec.yaml"), as_json: AsJson = False) -> None:
    """Read the source and show what a run would do: parts, generators, sizes. Only a missing seed is written."""
    from tasks.planning import preview

    seen = preview(spec)
    if as_json:
        _json(seen.as_dict())
        return
    shown = Table("part", "columns", "generator", "numbers per row", title=f"{seen.name}: {seen.rows:,} rows")
    for part in seen.parts:
        shown.add_row(part.name, ", ".join(part.columns), part.generator, f"{part.width:,}")
    out.print(shown)
    for line in seen.remarks:
        out.print(line, markup=False)


@app.command()
def run(
    spec: SpecPath = Path("spec.yaml"),
    only: Annotated[
        str | None, typer.Option(metavar="STAGE", help="carry out one stage in this process, without a Prefect server")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the pipeline: ingest, partition, train, join, audit, release. What has not changed is not done again."""
    from flows.running import run_all, run_one

    ended = run_one(spec, only) if only else run_all(spec)
    if as_json:
        _json(ended.as_dict())
    else:
        _print_ended(ended)
    if ended.withheld:
        raise WithheldError(ended.withheld)


def _print_ended(ended: Any) -> None:
    if ended.findings:
        out.print(_findings_table(ended.findings))
    if ended.verdict:
        out.print(f"Verdict: [bold]{ended.verdict}[/] ", end="")
        out.print(ended.reason, markup=False)
    for label, value in ended.facts:
        out.print(f"{label}: {value}", markup=False, soft_wrap=True)


def _findings_table(rows: list[dict[str, str]]) -> Table:
    shown = Table(*rows[0], title="Audit")
    colours = {"pass": "green", "fail": "red", "inconclusive": "yellow"}
    for row in rows:
        *cells, verdict = row.values()
        colour = colours.get(verdict)
        shown.add_row(*cells, f"[{colour}]{verdict}[/]" if colour else verdict)
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
    report: Annotated[Path, typer.Option(help="where the HTML report goes")] = Path("audit.html"),
    as_json: AsJson = False,
) -> None:
    """Audit anybody's synthetic table against the real one. Exit code 8 if it does not pass."""
    from tasks.audit import audit_files, published_rows

    said = audit_files(real, synthetic, holdout, targets=tuple(target or ()), report=report)
    if as_json:
        _json(said)
    else:
        out.print(_findings_table(published_rows(said)))
        out.print(f"Verdict: [bold]{said['verdict']}[/] ", end="")
        out.print(said["reason"], markup=False)
        out.print(f"Report: {report}", markup=False, soft_wrap=True)
    if said["verdict"] != "pass":
        raise WithheldError(
            errors.Fault(str(synthetic), f"verdict '{said['verdict']}': {said['reason']}", f"read {report}")
        )


@app.command()
def synthesize(
    source: Annotated[Path, typer.Argument(metavar="IN", help="a CSV or Parquet file")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="the file to write, CSV or Parquet")],
    spec: Annotated[Path | None, typer.Option(help="take partition, generators and join from this spec")] = None,
    generator: Annotated[str, typer.Option(help="kind of generator (see 'parquetry kinds')")] = "cart",
    parts: Annotated[int, typer.Option(min=1, help="number of column parts")] = 1,
    join: Annotated[str, typer.Option(help="kind of join")] = "shuffled",
    rows: Annotated[int | None, typer.Option(min=0, help="rows to make; as many as were read by default")] = None,
    seed: Annotated[
        int | None, typer.Option(help="a number makes the result repeatable; without it a secret one is drawn")
    ] = None,
) -> None:
    """Make a synthetic file from a file in one process, for trying things. [bold]Nothing is audited.[/]"""
    from tasks.trial import WARNING, synthesize_file

    made = synthesize_file(source, target, spec=spec, generator=generator, parts=parts, join=join, rows=rows, seed=seed)
    err.print(f"[bold yellow]{WARNING}[/]")
    out.print(f"{made:,} rows written to {target}", markup=False, soft_wrap=True)


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
        shown.add_row(f"[bold]{key}[/]", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
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
        out.print(f"[green]{manifest.name} v{manifest.version}[/]: {len(manifest.files)} files are as published.")


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
        typer.main.get_command(app)(prog_name="parquetry")
    except ParquetryError as error:
        _refuse(error)
        sys.exit(error.exit_code)


def _refuse(error: ParquetryError) -> None:
    err.print(f"[bold red]{error.title}[/]")
    for fault in error.faults:
        err.print(f"  • {fault}", markup=False, highlight=False, soft_wrap=True)


def _refuse_unforeseen(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """An error of another make is told without its message, which may quote a cell: screens are recorded, too."""
    from tasks.step import Sealed

    try:
        with Sealed("parquetry", Path(tempfile.gettempdir()) / f"parquetry-{secrets.token_hex(8)}"):
            raise error
    except ParquetryError as sealed:
        _refuse(sealed)
