"""The audit stage, and the audit of anybody's synthetic table."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.auditing import audit as audited
from models.auditing import every_measure
from models.errors import AuditError, Fault, SpecError, nearest
from models.evidence import Evidence
from models.partition import Part, Partition
from models.portrait import portrait
from models.randomness import Seed
from models.schema import Kind, Role, Schema
from models.table import digest
from models.validation import Validation
from tasks.codec import encode
from tasks.profiles import draft
from tasks.report import Report, render_html, render_json, render_markdown, summary
from tasks.sources import file_source
from tasks.store import read_json, read_table, sha256_of, whole_file, whole_folder
from tasks.synthesis import read_partition

if TYPE_CHECKING:
    import pyarrow as pa

    from tasks.spec import Plan
    from tasks.step import Job

SHOWN_K = 10
"""Pictures of tables that nobody made a schema for show no group of fewer rows."""

log = logging.getLogger("parquetry")

published_rows = summary


def audit(job: Job) -> None:
    """The audit stage: every measure on all training rows, and the report in three forms."""
    plan, workspace = job.plan, job.plan.workspace
    joined = read_json(workspace.joined / "join.json")
    _ensure_frozen(plan)
    evidence = Evidence(
        encode(read_table(workspace.train), plan.schema),
        encode(read_table(workspace.holdout), plan.schema),
        _synthetic(plan),
        read_partition(plan),
    )
    log.info("auditing %s synthetic rows against %s training and %s held-out rows",
             *(f"{len(table):,}" for table in (evidence.synthetic, evidence.train, evidence.holdout)))
    found = audited(evidence, plan.spec.audit, workspace.seed(), training=joined["training"])
    report = Report(
        name=plan.spec.name,
        audit=found,
        partition=evidence.partition,
        generators={part.name: plan.spec.generator_of(part.name).kind for part in evidence.partition.parts},
        join={"kind": plan.spec.join.kind, **{key: value for key, value in joined.items() if key != "training"}},
        validation=Validation.model_validate(read_json(workspace.joined / "validation.json")),
        portrait=portrait(evidence, plan.schema.k),
    )
    with whole_folder(workspace.audit, replace=True) as beside:
        (beside / "audit.html").write_text(render_html(report), encoding="utf-8")
        (beside / "audit.json").write_text(render_json(report), encoding="utf-8")
        (beside / "audit.md").write_text(render_markdown(report), encoding="utf-8")


def _ensure_frozen(plan: Plan) -> None:
    """Training and held-out rows are those that ingest froze. Raises AuditError naming the table that is not."""
    workspace = plan.workspace
    frozen = read_json(workspace.intake)["hashes"]
    faults = [
        Fault(path.name, "is not the table that was ingested", "run the ingest stage again")
        for name, path in (("train", workspace.train), ("holdout", workspace.holdout))
        if sha256_of(path) != frozen[name]
    ]
    if faults:
        raise AuditError(faults)


def _synthetic(plan: Plan) -> Any:
    """The synthetic rows as they will be published, back in model form: what is audited is what is released."""
    table = read_table(plan.workspace.synthetic)
    return encode(table.select([column.name for column in plan.schema.modelled]), plan.schema)


def audit_files(real: Path, synthetic: Path, holdout: Path | None, *, targets: tuple[str, ...], report: Path) -> dict[str, Any]:
    """The audit of ``synthetic`` as its published JSON; the HTML report goes to ``report``.

    Tables are matched by column name. Identifiers and free text are left out, and the log says so. Raises SpecError for
    columns that are missing, extra or of different types, and for targets that do not exist.
    """
    tables = {"real": file_source(real).read(), "synthetic": file_source(synthetic).read()}
    if holdout is not None:
        tables["holdout"] = file_source(holdout).read()
    aligned = alike(tables)
    schema = _schema_of(aligned, targets)
    train, drawn = encode(aligned["real"], schema), encode(aligned["synthetic"], schema)
    unseen = encode(aligned["holdout"], schema) if holdout is not None else train.take(slice(0, 0))
    evidence = Evidence(train, unseen, drawn, Partition(parts=(Part(name="all", columns=train.names),), reason="one table"))
    found = audited(evidence, every_measure(), Seed.of(0), training=digest(train))
    told = Report(name=synthetic.name, audit=found, partition=evidence.partition, portrait=portrait(evidence, SHOWN_K))
    with whole_file(report) as beside:
        beside.write_text(render_html(told), encoding="utf-8")
    said: dict[str, Any] = json.loads(render_json(told))
    return said


def alike(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The tables with the columns of the first in its order, each of the one type that holds all of them.

    Raises SpecError naming every column that a table lacks, has in addition, or keeps in a type of another sort.
    """
    import pyarrow as pa

    first, *_ = tables
    names = tables[first].column_names
    faults = [fault for name, table in tables.items() for fault in _differences(name, table, first, names)]
    if faults:
        raise SpecError(faults)
    together = {}
    for column in names:
        try:
            parts = [pa.table({column: table[column]}) for table in tables.values()]
            together[column] = pa.concat_tables(parts, promote_options="permissive").schema.field(0).type
        except pa.ArrowTypeError:
            kinds = ", ".join(f"{name}: {table[column].type}" for name, table in tables.items())
            faults.append(Fault(column, f"is kept in types of different sorts ({kinds})", "write the tables alike"))
    if faults:
        raise SpecError(faults)
    return {name: table.select(names).cast(pa.schema(together)) for name, table in tables.items()}


def _differences(name: str, table: pa.Table, first: str, names: Sequence[str]) -> list[Fault]:
    lacking = [column for column in names if column not in table.column_names]
    extra = [column for column in table.column_names if column not in names]
    return [
        *(Fault(f"{name} table", f"lacks the column '{column}'", nearest(column, extra or table.column_names)) for column in lacking),
        *(Fault(f"{name} table", f"has a column '{column}' that the {first} table lacks", "remove it") for column in extra),
    ]


def _schema_of(tables: Mapping[str, pa.Table], targets: tuple[str, ...]) -> Schema:
    """A schema that holds every value of all tables; what cannot be modelled is left out."""
    import pyarrow as pa

    schema, _ = draft(pa.concat_tables(tables.values()), 1)
    unknown = [Fault("--target", f"no column '{name}'", nearest(name, schema.names)) for name in targets if name not in schema.names]
    if unknown:
        raise SpecError(unknown)
    columns = []
    for column in schema.columns:
        if column.kind in (Kind.TEXT, Kind.IDENTIFIER):
            log.warning("'%s' is left out of the audit: %s", column.name, column.kind)
            column = column.model_copy(update={"include": False})
        columns.append(column.model_copy(update={"role": Role.TARGET}) if column.name in targets else column)
    return schema.model_copy(update={"columns": tuple(columns)})
