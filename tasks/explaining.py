"""Where a column or a release came from, told from manifests and lineage events; and what a stage made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from models.column_trace import ColumnTrace, treatment
from models.errors import Fault, SpecError, nearest
from models.manifest import Manifest
from models.partition import Cluster, Clustering
from models.schema import Column
from tasks.lineage import read_events
from tasks.release import latest, read_manifest
from tasks.spec import Plan, load
from tasks.store import read_json
from tasks.synthesis import join_told, read_partition


def made(stage: str, plan: Plan) -> list[tuple[str, str]]:
    """What the finished stage ``stage`` made, and where it lies."""
    return MADE[stage](plan)


def _ingested(plan: Plan) -> list[tuple[str, str]]:
    intake = read_json(plan.workspace.intake)
    return [
        ("Training rows", f"{intake['training_rows']:,} in {plan.workspace.train}"),
        ("Held-out rows", f"{intake['holdout_rows']:,} in {plan.workspace.holdout}"),
    ]


def _partitioned(plan: Plan) -> list[tuple[str, str]]:
    told = read_partition(plan).told
    if isinstance(told, Clustering):
        shown = [(cluster.name, cluster.said) for cluster in told.clusters]
    else:
        shown = [(part.name, ", ".join(part.columns)) for part in told.parts]
    return [*shown, ("Partition", str(plan.workspace.division))]


def _trained(plan: Plan) -> list[tuple[str, str]]:
    names = read_partition(plan).told.names
    return [(name, f"{plan.spec.generator_of(name).kind} in {plan.workspace.sampler(name)}") for name in names]


def _joined(plan: Plan) -> list[tuple[str, str]]:
    return [("Synthetic rows", f"{join_told(plan)['rows']:,} in {plan.workspace.synthetic}; not audited yet")]


def _audited(plan: Plan) -> list[tuple[str, str]]:
    said = read_json(plan.workspace.audit / "audit.json")
    return [("Verdict", f"{said['verdict']} {said['reason']}"), ("Report", str(plan.workspace.audit / "audit.html"))]


def _released(plan: Plan) -> list[tuple[str, str]]:
    newest = latest(plan.workspace, plan.spec.name)
    assert newest is not None, "the release stage passed"
    files = {"Synthetic table": "synthetic.parquet", "Report": "audit.html"}
    version = ("Release", f"{newest.name}@v{newest.version} in {newest.folder}")
    return [version, *((label, str(newest.folder / file)) for label, file in files.items())]


MADE = {
    "ingest": _ingested,
    "partition": _partitioned,
    "train": _trained,
    "join": _joined,
    "audit": _audited,
    "release": _released,
}


def explain(what: str, spec: Path) -> dict[str, Any]:
    """The answer for a release (its folder, or ``name@v1``) or for a column of the spec's schema.

    Raises SpecError, with the nearest valid name, for what is neither.
    """
    folder = Path(what).resolve()
    if (folder / "manifest.json").is_file():
        return _release(folder, folder.parent.parent.parent / "lineage")
    plan = load(spec)
    if what in plan.schema.names:
        return _column(plan, plan.schema[what])
    name, at, version = what.partition("@")
    folder = plan.workspace.released / name / version
    if at and (folder / "manifest.json").is_file():
        return _release(folder, plan.workspace.lineage)
    known = _releases(plan) if at else [*plan.schema.names, *_releases(plan)]
    remedy = nearest(what, known) if known else "nothing was released yet"
    raise SpecError(Fault(what, "no such release" if at else "neither a column nor a release", remedy))


def _releases(plan: Plan) -> list[str]:
    return [f"{folder.parent.name}@{folder.name}" for folder in sorted(plan.workspace.released.glob("*/v*"))]


def _column(plan: Plan, column: Column) -> dict[str, Any]:
    """What the schema says of a column, and what the newest release did with it."""
    said: dict[str, Any] = {
        "column": column.name,
        "kind": str(column.kind),
        "role": str(column.role),
        "type": column.dtype,
        "what happens to it": treatment(column, plan.schema.k),
    }
    newest = latest(plan.workspace, plan.spec.name)
    if newest is None:
        return {**said, "released": "not yet"}
    manifest = read_manifest(newest.folder)
    trace = next((trace for trace in manifest.columns if trace.name == column.name), None)
    return {**said, **(_learned(trace) if trace else {}), "newest release": f"{newest.name}@v{newest.version}"}


def _learned(trace: ColumnTrace) -> dict[str, Any]:
    if not trace.how:
        return {}
    together = ", ".join(trace.learned_with) or "no other column"
    where = f"{len(trace.clusters)} clusters of rows" if trace.clusters else f"part '{trace.part}'"
    return {"learned by": f"{trace.generator}, in {where}, together with {together}"}


def _release(folder: Path, lineage: Path) -> dict[str, Any]:
    """Source, code, settings, audit and run of a release."""
    manifest = read_manifest(folder)
    source, join = manifest.source, manifest.join
    return {
        "release": f"{manifest.name}@v{manifest.version}",
        "rows": f"{manifest.rows:,} from {source.training_rows:,} training rows; {source.holdout_rows:,} held out",
        "source": f"{source.kind}, {source.rows:,} rows; version committed to as {source.version[:16]}…",
        **_parts(manifest),
        "join": f"{join['settings']['kind']}: {join['accepted']:,} of {join['proposed']:,} proposed rows",
        "audit": f"{manifest.verdict}: {manifest.reason}",
        "privacy": manifest.privacy_statement,
        "code": _code(manifest),
        "spec": f"digest {manifest.spec_digest[:16]}…, schema {manifest.schema_digest[:16]}…",
        "seed": f"committed to as {manifest.seed_commitment[:16]}…",
        **_run(manifest, lineage),
    }


def _parts(manifest: Manifest) -> dict[str, str]:
    """What each generator learned: columns, or rows."""
    said = manifest.partition
    shown = {part["name"]: ", ".join(part["columns"]) for part in said.get("parts", ())}
    shown |= {cluster["name"]: Cluster.model_validate(cluster).said for cluster in said.get("clusters", ())}
    lines = [f"{name} ({manifest.generators[name]['kind']}): {what}" for name, what in shown.items()]
    return {"clusters" if "clusters" in said else "parts": "\n".join(lines)}


def _code(manifest: Manifest) -> str:
    code = manifest.code
    changes = ", with changes that are in no revision" if code.modified else ""
    return f"Parquetry {code.version}, {code.revision or 'no git revision'}{changes}"


def _run(manifest: Manifest, lineage: Path) -> dict[str, str]:
    """When, and in which run, the release was published; nothing where its lineage is not at hand."""
    name = f"{manifest.name}@v{manifest.version}"
    published = [event for event in read_events(lineage) if any(output["name"] == name for output in event["outputs"])]
    if not published:
        return {}
    first = published[0]
    return {"published": str(first["eventTime"]), "run": str(first["run"]["facets"]["parent"]["run"]["runId"])}
