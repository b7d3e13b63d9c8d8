"""The audit stage, and the audit of anybody's synthetic table."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.auditing import audit as audited
from models.errors import AuditError, Fault, SpecError, StateError, nearest
from models.evidence import Evidence
from models.finding import Group, Verdict
from models.ledger import AuditEntry, Standing
from models.paper import paper_block
from models.partition import Divided, Part, Partition
from models.policy import Policy, Preset
from models.portrait import portrait
from models.randomness import Seed
from models.schema import Kind, Role, Schema
from models.table import digest
from models.validation import Validation
from tasks.arrow_types import family, plain
from tasks.canaries import canary_findings
from tasks.codec import encode
from tasks.ledger import enter
from tasks.profiles import draft
from tasks.report import Report, render_html, render_json, render_markdown, summary
from tasks.sources import file_source
from tasks.sources.csv_ import AS_USUAL, AsWritten
from tasks.step import schema_digest
from tasks.store import (
    canonical,
    ensure_writable,
    read_json,
    read_table,
    sha256_of,
    whole_file,
    whole_folder,
    write_json,
)
from tasks.synthesis import courses, join_told, read_partition

if TYPE_CHECKING:
    import pyarrow as pa

    from tasks.spec import Plan
    from tasks.step import Job

SHOWN_K = 10
"""Pictures of tables that nobody made a schema for show no group of fewer rows."""

REPORTS = {"audit.html": render_html, "audit.json": render_json, "audit.md": render_markdown}
LOOKED_AT = "looked-at.json"
"""The hashes of what an audit saw and said; it stays in the workspace, since most of them are of private files."""

NAMED = 10
"""So many columns are named where tables differ; the rest are counted."""
SLIP = 0.7
"""Names as alike as this are probably meant to be the same."""

WRITTEN_AS_TEXT = frozenset({"boolean", "date", "timestamp"})
"""What a CSV can only hold as text."""

log = logging.getLogger("parquetry")

published_rows = summary


def audit(job: Job) -> None:
    """The audit stage: every measure on all training rows, and the report in three forms."""
    plan, workspace = job.plan, job.plan.workspace
    looked_at = _looked_at(plan)
    _ensure_frozen(plan)
    partition = read_partition(plan)
    evidence = _evidence(plan, partition)
    _announce(evidence)
    learned_from = read_json(workspace.joined / "join.json")["training"]
    planted = canary_findings(plan, evidence)
    found = audited(evidence, plan.spec.audit, workspace.seed(), training=learned_from, more=planted)
    report = Report(
        name=plan.spec.name,
        audit=found,
        preset=plan.spec.audit.preset,
        audits=_entered(plan, looked_at, found.verdict),
        partition=partition.told,
        generators={name: plan.spec.generator_of(name).kind for name in partition.told.names},
        join=_join_facts(plan),
        validation=Validation.model_validate(read_json(workspace.joined / "validation.json")),
        portrait=portrait(evidence, plan.schema.k),
        paper=paper_block(evidence, workspace.seed().child("paper")),
        training=courses(plan),
    )
    with whole_folder(workspace.audit, replace=True) as beside:
        for name, written in REPORTS.items():
            (beside / name).write_text(written(report), encoding="utf-8")
        write_json({**looked_at, **_hashes(beside, REPORTS)}, beside / LOOKED_AT)


def _evidence(plan: Plan, partition: Divided) -> Evidence:
    train, holdout = (encode(read_table(path), plan.schema) for path in (plan.workspace.train, plan.workspace.holdout))
    return Evidence(
        train,
        holdout,
        _synthetic(plan),
        partition.told.of_columns,
        rules=plan.schema.rules,
        queries=plan.spec.audit.queries,
        clusters=plan.spec.partition.crowds(partition, train, holdout),
    )


def _entered(plan: Plan, looked_at: dict[str, str], verdict: Verdict) -> Standing:
    """Which audit of its data set this one is, once it stands in the ledger."""
    entry = AuditEntry(
        name=plan.spec.name,
        table=read_json(plan.workspace.intake)["version"],
        spec=plan.spec.digest(),
        seed=plan.workspace.seed().commitment(),
        audited=hashlib.sha256(canonical(looked_at)).hexdigest(),
        verdict=verdict,
    )
    return enter(plan.workspace, entry)


def _announce(evidence: Evidence) -> None:
    rows = (f"{len(table):,}" for table in (evidence.synthetic, evidence.train, evidence.holdout))
    log.info("auditing %s synthetic rows against %s training and %s held-out rows", *rows)


def _join_facts(plan: Plan) -> dict[str, Any]:
    """What the report tells of the join, without levels."""
    told = join_told(plan)
    facts = told.pop("facts")
    return {"kind": plan.spec.join.kind, **told, **facts}


def _looked_at(plan: Plan) -> dict[str, str]:
    """The hashes of all that an audit depends on and a release tells of: files, reviewed schema, limits."""
    workspace = plan.workspace
    joined = (workspace.synthetic, workspace.joined / "join.json", workspace.joined / "validation.json")
    divided = [workspace.division, *([workspace.assignment] if workspace.assignment.is_file() else [])]
    files = (workspace.train, workspace.holdout, workspace.intake, *divided, *joined)
    limits = hashlib.sha256(canonical(plan.spec.section("audit"))).hexdigest()
    names = (file.relative_to(workspace.data).as_posix() for file in files)
    return {"schema": schema_digest(plan), "audit section of the spec": limits, **_hashes(workspace.data, names)}


def _hashes(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """SHA-256 by name. Raises StateError with every file that is missing."""
    files = {name: folder / name for name in names}
    lacking = [name for name, file in files.items() if not file.is_file()]
    if lacking:
        raise StateError([Fault(name, "no such file", "run the stage that makes it") for name in lacking])
    return {name: sha256_of(file) for name, file in files.items()}


def read_audit(plan: Plan) -> dict[str, Any]:
    """What the audit says of the very rows that would be published now.

    Raises StateError where there is no whole audit, AuditError where it is one of other files, schema or limits, or was
    altered.
    """
    folder = plan.workspace.audit
    now = {**_looked_at(plan), **_hashes(folder, REPORTS)}
    then = read_json(folder / LOOKED_AT)
    others = [name for name, sha in now.items() if then.get(name) != sha]
    if others:
        raise AuditError([Fault(name, "is not what was audited", "run the audit stage again") for name in others])
    said: dict[str, Any] = read_json(folder / "audit.json")
    return said


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


def audit_files(
    real: Path,
    synthetic: Path,
    holdout: Path | None,
    *,
    report: Path,
    roles: Mapping[Role, Sequence[str]] | None = None,
    preset: Preset = Preset.PUBLIC,
    csv: AsWritten = AS_USUAL,
) -> dict[str, Any]:
    """The audit of ``synthetic`` as its published JSON; the HTML report goes to ``report``.

    Tables are matched by column name. Identifiers and free text are left out, and the log says so. Raises SpecError for
    columns that are missing, extra or of different types, and for columns in ``roles`` that cannot be audited;
    AuditError where there is no row or no column to look at. ``csv`` is how all tables that are CSV files are written.
    """
    files = {"real": real, "synthetic": synthetic} | ({"holdout": holdout} if holdout is not None else {})
    settings = csv.settings(files.values())
    _ensure_report(report, files)
    aligned = alike({name: file_source(file, settings).read() for name, file in files.items()})
    schema = _schema_of(aligned, roles or {})
    train, drawn = encode(aligned["real"], schema), encode(aligned["synthetic"], schema)
    unseen = encode(aligned["holdout"], schema) if holdout is not None else train.take(slice(0, 0))
    whole = Partition(parts=(Part(name="all", columns=train.names),), reason="one table")
    evidence = Evidence(train, unseen, drawn, whole)
    _announce(evidence)
    found = audited(evidence, Policy.of({"preset": preset}), Seed.of(0), training=digest(train))
    told = Report(
        name=synthetic.name,
        audit=found,
        partition=whole,
        portrait=portrait(evidence, SHOWN_K),
        preset=preset,
        paper=paper_block(evidence, Seed.of(0).child("paper")),
    )
    with whole_file(report) as beside:
        beside.write_text(render_html(told), encoding="utf-8")
    said: dict[str, Any] = json.loads(render_json(told))
    return said


def _ensure_report(report: Path, files: Mapping[str, Path]) -> None:
    taken = [name for name, file in files.items() if report.resolve() == file.resolve()]
    if taken:
        raise SpecError(Fault(str(report), f"is the {taken[0]} table itself", "give the report a name of its own"))
    ensure_writable(report)


def in_words(said: Mapping[str, Any]) -> str:
    """What the verdict of an audit, as published, means to someone who did not make the synthetic table."""
    failed = {Group(finding["group"]) for finding in said["findings"] if finding["verdict"] == Verdict.FAIL}
    unsafe = "leaks" if any(group.of_privacy for group in failed) else "too unlike the real table"
    return {
        Verdict.PASS: "passes",
        Verdict.FAIL: unsafe,
        Verdict.INCONCLUSIVE: "not shown to be safe",
        Verdict.INVALID: "cannot be judged by these tables",
    }[Verdict(said["verdict"])]


def alike(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The tables with the columns of the first in its order, each of the one type that holds all of them.

    Raises SpecError naming the columns that a table lacks or has in addition, and those of which the types do not fit.
    """
    import pyarrow as pa

    first, *_ = tables
    names = tables[first].column_names
    faults = [fault for name, table in tables.items() for fault in _differences(name, table, first, names)]
    if faults:
        raise SpecError(faults)
    columns = []
    for column in names:
        cells = [table[column] for table in tables.values()]
        together = _of_one_type(cells)
        if together is None:
            kinds = ", ".join(f"{name}: {each.type}" for name, each in zip(tables, cells, strict=True))
            faults.append(Fault(column, f"is kept in types of different sorts ({kinds})", "write the tables alike"))
        columns.append(together or cells)
    if faults:
        raise SpecError(faults)
    return {name: pa.table([cells[place] for cells in columns], names=names) for place, name in enumerate(tables)}


def _of_one_type(columns: Sequence[pa.ChunkedArray]) -> list[pa.ChunkedArray] | None:
    """The columns in the one type that holds all of them, or None. Text is read where others hold what text can mean:
    a CSV has no dates and no dictionaries.
    """
    import pyarrow as pa

    if len({column.type for column in columns}) == 1:
        return list(columns)
    cells = [plain(column) for column in columns]
    meant = {each.type for each in cells if family(each.type) in WRITTEN_AS_TEXT}
    try:
        if len(meant) == 1:
            cells = [each.cast(*meant) if family(each.type) == "text" else each for each in cells]
        kind = _common_type([each.type for each in cells])
        return [each.cast(kind, safe=not pa.types.is_floating(kind)) for each in cells]
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return None


def _common_type(kinds: Sequence[pa.DataType]) -> pa.DataType:
    """Raises an Arrow error where there is none."""
    import pyarrow as pa

    sorts = {family(kind) for kind in kinds} - {"null"}
    if sorts == {"number"} and not all(pa.types.is_integer(kind) or pa.types.is_null(kind) for kind in kinds):
        return pa.float64()
    if sorts == {"date", "timestamp"} and not any(getattr(kind, "tz", None) for kind in kinds):
        return pa.timestamp("us")
    return pa.unify_schemas([pa.schema([("", kind)]) for kind in kinds], promote_options="permissive").field(0).type


def _differences(name: str, table: pa.Table, first: str, names: Sequence[str]) -> list[Fault]:
    """One fault for all columns that set a table apart from the first, with what may be a slip of the pen."""
    there, known = set(table.column_names), set(names)
    lacking = [column for column in names if column not in there]
    extra = [column for column in table.column_names if column not in known]
    ours = f"of the {first} table"
    found = [f"lacks {len(lacking):,} column{_s(lacking)} {ours}: {_columns(lacking, extra)}"] if lacking else []
    found += [f"has {len(extra):,} other{_s(extra)}: {_columns(extra, [])}"] if extra else []
    return [Fault(f"{name} table", "; ".join(found), "give the tables the same columns")] if found else []


def _columns(names: Sequence[str], meant: Sequence[str]) -> str:
    """The first of ``names``, each with the one of ``meant`` that it may be but for a slip or for capitals."""
    lower = {name.casefold(): name for name in meant}
    said = []
    for name in names[:NAMED]:
        close = get_close_matches(name.casefold(), lower, n=1, cutoff=SLIP)
        said.append(f"'{name}' (is it '{lower[close[0]]}'?)" if close else f"'{name}'")
    return ", ".join(said) + (f" and {len(names) - NAMED:,} more" if len(names) > NAMED else "")


def _s(names: Sequence[str]) -> str:
    return "" if len(names) == 1 else "s"


def _schema_of(tables: Mapping[str, pa.Table], roles: Mapping[Role, Sequence[str]]) -> Schema:
    """A schema that holds every value of all tables, without what is no trait of a person: identifiers and free text.

    Which columns these are is asked of the real table alone: rows that were copied would otherwise hide them.
    """
    import pyarrow as pa

    _ensure_rows(tables)
    alone, _ = draft(tables["real"], 1)
    schema, _ = draft(pa.concat_tables(tables.values()), 1)
    role_of = {name: role for role, names in roles.items() for name in names}
    columns = []
    for known, column in zip(alone.columns, schema.columns, strict=True):
        kind = next((each.kind for each in (known, column) if each.kind in (Kind.TEXT, Kind.IDENTIFIER)), None)
        if kind is not None:
            log.warning("'%s' is left out of the audit: %s", column.name, kind)
            column = column.model_copy(update={"include": False})
        columns.append(column.model_copy(update={"role": role_of.get(column.name, column.role)}))
    found = Schema(columns=tuple(columns), k=1)
    modelled = [column.name for column in found.modelled]
    if not modelled:
        found_none = f"none of the {len(columns)} columns can be audited"
        raise AuditError(Fault("tables", found_none, "identifiers, free text and constants cannot"))
    faults = _role_faults(roles, modelled)
    if faults:
        raise SpecError(faults)
    return found


def _role_faults(roles: Mapping[Role, Sequence[str]], modelled: Sequence[str]) -> list[Fault]:
    named = [(role, name) for role, names in roles.items() for name in dict.fromkeys(names)]
    times = Counter(name for _, name in named)
    return [
        *(
            Fault(f"--{role}", f"no column '{name}' is audited", nearest(name, modelled))
            for role, name in named
            if name not in modelled
        ),
        *(
            Fault(name, f"is given {count} roles", "give each column one of them")
            for name, count in times.items()
            if count > 1
        ),
    ]


def _ensure_rows(tables: Mapping[str, pa.Table]) -> None:
    empty = [name for name in ("real", "synthetic") if not tables[name].num_rows]
    if empty:
        raise AuditError([Fault(f"{name} table", "has no row", "an audit needs both") for name in empty])
