"""Publishing: a folder that appears whole or not at all, and its verification.

    data/released/<name>/v1/   synthetic.parquet  synthetic.csv  schema.yaml  README.md
                               audit.html  audit.json  audit.md  manifest.json  manifest.sha256
    data/released/<name>/index.jsonl   one line per version, each with the SHA-256 of the line before
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version as installed
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import ValidationError

from models.errors import Fault, StateError, TamperedError, WithheldError
from models.finding import Verdict
from models.manifest import FORMAT, CodeFacts, Manifest, PublishedFile, SourceFacts
from models.schema import Schema
from models.spec import parse_schema
from models.column_trace import traces
from tasks.codec import breaches
from tasks.templates import render
from tasks.spec import Plan
from tasks.step import Job, code_digest, schema_digest
from tasks.store import canonical, read_json, read_table, sha256_of, whole_file, whole_folder, write_table
from tasks.synthesis import read_partition
from tasks.versions import Unversioned, code_revision, package_versions
from tasks.workspace import Workspace
from tasks.yaml_files import read_yaml, yaml_text

PACKAGES = ("numpy", "pandas", "pyarrow", "pydantic", "scikit-learn", "scipy", "torch", "great-expectations", "prefect", "dvc")
PUBLISHED_REPORTS = ("audit.html", "audit.json", "audit.md")

log = logging.getLogger("parquetry")


@dataclass(frozen=True)
class Release:
    """A published version."""

    folder: Path
    name: str
    version: int


def release(job: Job) -> Release:
    """The release stage: publish if the audit passed. Raises WithheldError, with a report for the owner, if not."""
    plan = job.plan
    audit = read_json(plan.workspace.audit / "audit.json")
    if audit["verdict"] != Verdict.PASS:
        _withhold(plan)
        raise WithheldError(refusal(plan, audit))
    return _publish(plan, audit)


def refusal(plan: Plan, audit: dict[str, Any]) -> Fault:
    """Why nothing was published, and where the owner reads more."""
    report = plan.workspace.withheld / plan.spec.name / "audit.html"
    return Fault(plan.spec.name, f"verdict '{audit['verdict']}': {audit['reason']}",
                 f"read {report.relative_to(plan.workspace.root)}; no table was published")


def tag(job: Job) -> None:
    """Give the newest version its tag in the version history, unless it has it."""
    published = latest(job.plan.workspace, job.plan.spec.name)
    if isinstance(job.versions, Unversioned):
        log.info("No version history: %s", job.versions.reason)
    elif published and not job.versions.tagged(published.name, published.version):
        job.versions.tag_release(job.plan, published.version)


def latest(workspace: Workspace, name: str) -> Release | None:
    """The newest published version of ``name``."""
    versions = [int(folder.name[1:]) for folder in (workspace.released / name).glob("v*") if folder.name[1:].isdigit()]
    return Release(workspace.released / name / f"v{max(versions)}", name, max(versions)) if versions else None


def _withhold(plan: Plan) -> None:
    """The owner's report of a run that the gate stopped; no table."""
    folder = plan.workspace.withheld / plan.spec.name
    with whole_folder(folder, replace=True) as beside:
        for report in PUBLISHED_REPORTS:
            (beside / report).write_bytes((plan.workspace.audit / report).read_bytes())


def _publish(plan: Plan, audit: dict[str, Any]) -> Release:
    workspace, name = plan.workspace, plan.spec.name
    before = latest(workspace, name)
    if before and _same_content(plan, before):
        _index(workspace.released / name, before.version, before.folder)
        return before
    version = before.version + 1 if before else 1
    folder = workspace.released / name / f"v{version}"
    with whole_folder(folder, replace=False) as beside:
        _write_data(plan, beside)
        for report in PUBLISHED_REPORTS:
            (beside / report).write_bytes((workspace.audit / report).read_bytes())
        manifest = _manifest(plan, audit, version, beside)
        (beside / "README.md").write_text(render("card.md.j2", manifest=manifest, schema=plan.schema))
        manifest = manifest.model_copy(update={"files": _listing(beside)})
        (beside / "manifest.json").write_bytes(canonical(manifest.model_dump(mode="json")))
        (beside / "manifest.sha256").write_text(sha256_of(beside / "manifest.json") + "\n")
    _index(workspace.released / name, version, folder)
    return Release(folder, name, version)


def _same_content(plan: Plan, before: Release) -> bool:
    """Whether ``before`` already holds this table, this audit and this spec.

    A run that was killed just after publishing, or that made the same again with other code, publishes nothing twice.
    """
    said = Manifest.model_validate(read_json(before.folder / "manifest.json"))
    published = {file.path: file.sha256 for file in said.files}
    with TemporaryDirectory() as folder:
        _write_data(plan, Path(folder))
        made = {file.path: file.sha256 for file in _listing(Path(folder))}
    made["audit.json"] = sha256_of(plan.workspace.audit / "audit.json")
    return said.spec_digest == plan.spec.digest() and all(published.get(path) == sha for path, sha in made.items())


def _write_data(plan: Plan, folder: Path) -> None:
    import pyarrow.csv as pc

    table = read_table(plan.workspace.synthetic)
    write_table(table, folder / "synthetic.parquet", {"parquetry": "synthetic data; see manifest.json"})
    with whole_file(folder / "synthetic.csv") as beside:
        pc.write_csv(csv_ready(table), beside)
    schema = plan.schema.model_dump(mode="json", exclude_defaults=True)
    (folder / "schema.yaml").write_text(yaml_text(schema))


def csv_ready(table: Any) -> Any:
    """The table with the types that a CSV writer knows: dictionaries as their values, durations as seconds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def plain(column: Any) -> Any:
        if pa.types.is_dictionary(column.type):
            return column.cast(column.type.value_type)
        if pa.types.is_duration(column.type):
            per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[column.type.unit]
            return pc.divide(column.cast(pa.int64()).cast(pa.float64()), float(per_second))
        return column

    return pa.table({name: plain(table[name]) for name in table.column_names})


def _manifest(plan: Plan, audit: dict[str, Any], version: int, folder: Path) -> Manifest:
    workspace, spec = plan.workspace, plan.spec
    intake, joined, found = read_json(workspace.intake), read_json(workspace.joined / "join.json"), read_partition(plan)
    revision, modified = code_revision(Path(__file__).parent.parent)
    return Manifest(
        name=spec.name,
        version=version,
        rows=joined["rows"],
        files=_listing(folder),
        source=SourceFacts(
            kind=plan.source.kind, rows=intake["rows"], training_rows=intake["training_rows"], holdout_rows=intake["holdout_rows"],
            version=hmac.new(workspace.seed().child("source").key, intake["version"].encode(), hashlib.sha256).hexdigest(),
        ),
        spec_digest=spec.digest(),
        schema_digest=schema_digest(plan),
        seed_commitment=workspace.seed().commitment(),
        partition=found.model_dump(mode="json"),
        generators={part.name: spec.generator_of(part.name).model_dump(mode="json") for part in found.parts},
        join={"settings": spec.join.model_dump(mode="json"), **{key: value for key, value in joined.items() if key != "training"}},
        verdict=audit["verdict"],
        reason=audit["reason"],
        code=CodeFacts(version=installed("parquetry"), revision=revision, modified=modified, digest=code_digest(),
                       packages={name: found or "not installed" for name, found in package_versions(PACKAGES).items()}),
        columns=traces(spec, plan.schema, found),
    )


def _listing(folder: Path) -> tuple[PublishedFile, ...]:
    return tuple(
        PublishedFile(path=file.name, sha256=sha256_of(file), bytes=file.stat().st_size)
        for file in sorted(folder.iterdir())
        if file.name not in {"manifest.json", "manifest.sha256"}
    )


def _index(folder: Path, version: int, published: Path) -> None:
    """Append the version to the chained index. A version whose line is missing (a kill in between) is added first."""
    path = folder / "index.jsonl"
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    indexed = {json.loads(line)["version"] for line in lines}
    for number in range(1, version + 1):
        if number not in indexed:
            before = hashlib.sha256(lines[-1]).hexdigest() if lines else ""
            lines.append(canonical({"version": number, "manifest": sha256_of(published.parent / f"v{number}" / "manifest.json"), "before": before}))
    with whole_file(path) as beside:
        beside.write_bytes(b"".join(lines))


def verify(folder: Path) -> Manifest:
    """The manifest of a release whose every byte is as published. Raises TamperedError with all that is not."""
    if not (folder / "manifest.json").is_file():
        raise StateError(Fault(str(folder), "no manifest.json", "name the folder of a published version"))
    faults = [*_manifest_faults(folder), *_chain_faults(folder)]
    try:
        manifest = Manifest.model_validate(read_json(folder / "manifest.json"))
    except (ValidationError, StateError):
        raise TamperedError([*faults, Fault("manifest.json", f"is no manifest of format {FORMAT}")]) from None
    faults += _file_faults(folder, manifest)
    if not faults:
        faults += _content_faults(folder, manifest)
    if faults:
        raise TamperedError(faults)
    return manifest


def _manifest_faults(folder: Path) -> Iterator[Fault]:
    said = folder / "manifest.sha256"
    if not said.is_file():
        yield Fault("manifest.sha256", "is missing")
    elif said.read_bytes() != (sha256_of(folder / "manifest.json") + "\n").encode():
        yield Fault("manifest.json", "its SHA-256 is not the one in manifest.sha256")


def _file_faults(folder: Path, manifest: Manifest) -> Iterator[Fault]:
    listed = {file.path: file for file in manifest.files}
    present = {file.name for file in folder.iterdir()} - {"manifest.json", "manifest.sha256"}
    yield from (Fault(name, "is listed in the manifest but missing") for name in sorted(set(listed) - present))
    yield from (Fault(name, "is not listed in the manifest") for name in sorted(present - set(listed)))
    for name in sorted(present & set(listed)):
        if sha256_of(folder / name) != listed[name].sha256:
            yield Fault(name, "its SHA-256 is not the one in the manifest")


def _content_faults(folder: Path, manifest: Manifest) -> Iterator[Fault]:
    """What the manifest claims about the content, computed again from the content."""
    if manifest.verdict != Verdict.PASS or read_json(folder / "audit.json")["verdict"] != Verdict.PASS:
        yield Fault("manifest.json", "its verdict is not 'pass'")
    table = read_table(folder / "synthetic.parquet")
    if table.num_rows != manifest.rows:
        yield Fault("synthetic.parquet", f"has {table.num_rows:,} rows, the manifest says {manifest.rows:,}")
    schema: Schema = parse_schema(read_yaml(folder / "schema.yaml", "restore the release"))
    if hashlib.sha256(canonical(schema.model_dump(mode="json"))).hexdigest() != manifest.schema_digest:
        yield Fault("schema.yaml", "its digest is not the one in the manifest")
    for breach in breaches(table, schema):
        yield Fault(breach.column, f"{breach.check}: {breach.rows:,} rows", "the table breaks its own schema")


def _chain_faults(folder: Path) -> Iterator[Fault]:
    """Whether the index beside the versions, where there is one, is an unbroken chain that knows this manifest."""
    path = folder.parent / "index.jsonl"
    if not path.is_file():
        return
    before, known = "", set()
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), start=1):
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            yield Fault("index.jsonl", f"line {number} is no JSON")
            return
        if entry.get("before") != before:
            yield Fault("index.jsonl", f"the chain breaks at line {number}")
        before = hashlib.sha256(line).hexdigest()
        known.add((entry.get("version"), entry.get("manifest")))
    if (int(folder.name[1:]) if folder.name[1:].isdigit() else 0, sha256_of(folder / "manifest.json")) not in known:
        yield Fault("index.jsonl", f"does not know this manifest of {folder.name}")
