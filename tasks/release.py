"""Publishing: a folder that appears whole or not at all, and its verification.

data/released/<name>/v1/   synthetic.parquet  synthetic.csv  schema.yaml  README.md
                           audit.html  audit.json  audit.md  manifest.json  manifest.sha256
data/released/<name>/index.jsonl   one line per version, each with the SHA-256 of the line before
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version as installed
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import ValidationError

from models.column_trace import traces
from models.errors import Fault, ParquetryError, StateError, TamperedError, WithheldError
from models.finding import Verdict
from models.ledger import Standing
from models.manifest import FORMAT, CodeFacts, IndexEntry, Manifest, PublishedFile, SourceFacts
from models.partition import Clustering, Partition
from models.schema import Schema
from models.spec import parse_schema
from models.validation import promised
from tasks.audit import REPORTS, read_audit
from tasks.chains import extended, read_chain, write_chain
from tasks.codec import breaches
from tasks.csv_files import same_rows, write_csv
from tasks.spec import Plan
from tasks.step import Job, code_digest
from tasks.store import canonical, read_json, read_table, sha256_of, whole_folder, write_table
from tasks.synthesis import join_told, read_partition
from tasks.templates import render
from tasks.versions import Unversioned, code_revision, package_versions
from tasks.workspace import Workspace
from tasks.yaml_files import read_yaml, yaml_text

PACKAGES = (
    "numpy", "pandas", "pyarrow", "pydantic", "scikit-learn", "scipy", "torch", "great-expectations", "prefect", "dvc",
)  # fmt: skip
OF_THE_MANIFEST = frozenset({"manifest.json", "manifest.sha256"})
INDEX = "index.jsonl"
RESTORE = "restore the release from where it was published"

log = logging.getLogger("parquetry")


@dataclass(frozen=True)
class Release:
    """A published version."""

    folder: Path
    name: str
    version: int


def release(job: Job) -> Release:
    """The release stage: publish if the audit passed. Raises WithheldError, with a report for the owner, if not.

    Without a whole audit of the very rows that would be published, an AuditError or StateError is raised.
    """
    plan = job.plan
    audit = read_audit(plan)
    if audit["verdict"] != Verdict.PASS:
        _withhold(plan)
        raise WithheldError(refusal(plan, audit))
    return _publish(plan, audit)


def refusal(plan: Plan, audit: dict[str, Any]) -> Fault:
    """Why nothing was published, and where the owner reads more."""
    report = plan.workspace.withheld / plan.spec.name / "audit.html"
    return Fault(
        plan.spec.name,
        f"verdict '{audit['verdict']}': {audit['reason']}",
        f"read {report.relative_to(plan.workspace.root)}; no table was published",
    )


def tag(job: Job) -> None:
    """Give the newest version its tag in the version history, unless it has it."""
    published = latest(job.plan.workspace, job.plan.spec.name)
    if isinstance(job.versions, Unversioned):
        log.info("No version history: %s", job.versions.reason)
    elif published and not job.versions.tagged(published.name, published.version):
        job.versions.tag_release(job.plan, published.version)


def latest(workspace: Workspace, name: str) -> Release | None:
    """The newest published version of ``name``."""
    versions = _folders(workspace.released / name)
    return Release(workspace.released / name / f"v{max(versions)}", name, max(versions)) if versions else None


def _folders(folder: Path) -> list[int]:
    return [int(version[1]) for path in folder.glob("v*") if (version := re.fullmatch(r"v([0-9]+)", path.name))]


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the version in ``folder``. Raises TamperedError for what is none."""
    try:
        return Manifest.model_validate(read_json(folder / "manifest.json"))
    except (ValidationError, StateError):
        found = f"is no manifest of format {FORMAT}"
        raise TamperedError(Fault(str(folder / "manifest.json"), found, RESTORE)) from None


def _withhold(plan: Plan) -> None:
    """The owner's report of a run that the gate stopped; no table."""
    with whole_folder(plan.workspace.withheld / plan.spec.name, replace=True) as beside:
        _copy_reports(plan, beside)


def _copy_reports(plan: Plan, folder: Path) -> None:
    for report in REPORTS:
        (folder / report).write_bytes((plan.workspace.audit / report).read_bytes())


def _publish(plan: Plan, audit: dict[str, Any]) -> Release:
    name, folder = plan.spec.name, plan.workspace.released / plan.spec.name
    index = _sound_index(folder)
    before = latest(plan.workspace, name)
    if before and _same_content(plan, before):
        _ensure(_folder_faults(before.folder))
        _add_to_index(folder, index, before.version)
        return before
    version = max([*_folders(folder), *(entry.version for entry in index), 0]) + 1
    with whole_folder(folder / f"v{version}", replace=False) as beside:
        schema = promised(plan.schema)
        _write_data(plan, schema, beside)
        _copy_reports(plan, beside)
        manifest = _manifest(plan, audit, version, schema)
        (beside / "README.md").write_text(render("card.md.j2", manifest=manifest, schema=schema), encoding="utf-8")
        manifest = manifest.model_copy(update={"files": _listing(beside)})
        (beside / "manifest.json").write_bytes(canonical(manifest.model_dump(mode="json")))
        (beside / "manifest.sha256").write_text(sha256_of(beside / "manifest.json") + "\n")
    _add_to_index(folder, index, version)
    return Release(folder / f"v{version}", name, version)


def _same_content(plan: Plan, before: Release) -> bool:
    """Whether ``before`` already holds this table, this audit and this spec.

    A run that was killed just after publishing, or that made the same again with other code, publishes nothing twice.
    """
    said = read_manifest(before.folder)
    published = {file.path: file.sha256 for file in said.files}
    with TemporaryDirectory() as folder:
        _write_data(plan, promised(plan.schema), Path(folder))
        made = {file.path: file.sha256 for file in _listing(Path(folder))}
    made["audit.json"] = sha256_of(plan.workspace.audit / "audit.json")
    return said.spec_digest == plan.spec.digest() and all(published.get(path) == sha for path, sha in made.items())


def _write_data(plan: Plan, schema: Schema, folder: Path) -> None:
    table = read_table(plan.workspace.synthetic)
    write_table(table, folder / "synthetic.parquet", {"parquetry": "synthetic data; see manifest.json"})
    write_csv(table, folder / "synthetic.csv")
    text = yaml_text(schema.model_dump(mode="json", exclude_defaults=True))
    (folder / "schema.yaml").write_text(text, encoding="utf-8")


def _manifest(plan: Plan, audit: dict[str, Any], version: int, schema: Schema) -> Manifest:
    """All but the list of files. ``schema`` is the published one: what a release leaves out is named nowhere in it."""
    workspace, spec = plan.workspace, plan.spec
    intake, joined, found = read_json(workspace.intake), join_told(plan), read_partition(plan).told
    return Manifest(
        name=spec.name,
        version=version,
        rows=joined["rows"],
        files=(),
        source=SourceFacts(
            kind=plan.source.kind,
            rows=intake["rows"],
            training_rows=intake["training_rows"],
            holdout_rows=intake["holdout_rows"],
            version=hmac.digest(workspace.seed().child("source").key, intake["version"].encode(), "sha256").hex(),
        ),
        spec_digest=spec.digest(),
        schema_digest=_digest(schema),
        seed_commitment=workspace.seed().commitment(),
        partition=_published(found),
        generators={name: spec.generator_of(name).model_dump(mode="json") for name in found.names},
        join={"settings": spec.join.model_dump(mode="json"), **joined},
        verdict=audit["verdict"],
        reason=audit["reason"],
        preset=spec.audit.preset,
        overrides=spec.audit.overrides,
        audits=Standing.model_validate(audit["audits"]),
        code=_code(),
        columns=traces(spec, plan.schema, found),
    )


def _published(found: Partition | Clustering) -> dict[str, Any]:
    """How the table was divided; to its last digit, a ratio would be a fingerprint of real rows."""
    said = found.model_dump(mode="json")
    return said if said.get("ratio") is None else {**said, "ratio": round(said["ratio"], 3)}


def _code() -> CodeFacts:
    revision, modified = code_revision(Path(__file__).parent.parent)
    packages = {package: version or "not installed" for package, version in package_versions(PACKAGES).items()}
    return CodeFacts(
        version=installed("parquetry"), revision=revision, modified=modified, digest=code_digest(), packages=packages
    )


def _digest(schema: Schema) -> str:
    return hashlib.sha256(canonical(schema.model_dump(mode="json"))).hexdigest()


def _listing(folder: Path) -> tuple[PublishedFile, ...]:
    return tuple(
        PublishedFile(path=file.name, sha256=sha256_of(file), bytes=file.stat().st_size)
        for file in sorted(folder.iterdir())
        if file.name not in OF_THE_MANIFEST
    )


def _sound_index(folder: Path) -> list[IndexEntry]:
    """The entries of the index of all versions. Raises TamperedError if the chain is broken: nothing is built on it."""
    entries, faults = read_chain(folder / INDEX, IndexEntry, RESTORE)
    _ensure(faults)
    return entries


def _add_to_index(folder: Path, index: list[IndexEntry], version: int) -> None:
    """Append the version to the chained index. One whose line is missing (a kill in between) is added first."""
    entries = list(index)
    for number in sorted({*_folders(folder), version} - {entry.version for entry in index}):
        manifest = sha256_of(folder / f"v{number}" / "manifest.json")
        entries = extended(entries, IndexEntry(version=number, manifest=manifest))
    write_chain(folder / INDEX, entries)


def _ensure(faults: Iterable[Fault]) -> None:
    found = list(faults)
    if found:
        raise TamperedError(found)


def verify(folder: Path) -> Manifest:
    """The manifest of a release whose every byte is as published. Raises TamperedError with all that is not.

    Where the index of all versions lies beside the folder, the manifest must be the one that it knows.
    """
    folder = folder.resolve()
    if not (folder / "manifest.json").is_file():
        raise StateError(Fault(str(folder), "no manifest.json", "name the folder of a published version"))
    _ensure([*_folder_faults(folder), *_index_faults(folder)])
    return read_manifest(folder)


def _folder_faults(folder: Path) -> list[Fault]:
    try:
        manifest = read_manifest(folder)
    except TamperedError as error:
        return [*_manifest_faults(folder), *error.faults]
    faults = [*_manifest_faults(folder), *_file_faults(folder, manifest)]
    if faults:
        return faults
    try:
        return list(_content_faults(folder, manifest))
    except ParquetryError as error:
        return list(error.faults)


def _manifest_faults(folder: Path) -> Iterator[Fault]:
    said = folder / "manifest.sha256"
    if not said.is_file():
        yield Fault("manifest.sha256", "is missing")
    elif said.read_bytes() != (sha256_of(folder / "manifest.json") + "\n").encode():
        yield Fault("manifest.json", "its SHA-256 is not the one in manifest.sha256")


def _file_faults(folder: Path, manifest: Manifest) -> Iterator[Fault]:
    listed = {file.path: file for file in manifest.files}
    present = {file.name for file in folder.iterdir()} - OF_THE_MANIFEST
    yield from (Fault(name, "is listed in the manifest but missing") for name in sorted(set(listed) - present))
    yield from (Fault(name, "is not listed in the manifest") for name in sorted(present - set(listed)))
    for name in sorted(present & set(listed)):
        if sha256_of(folder / name) != listed[name].sha256:
            yield Fault(name, "its SHA-256 is not the one in the manifest")


def _content_faults(folder: Path, manifest: Manifest) -> Iterator[Fault]:
    """What the manifest claims about the content, computed again from the content."""
    audit = read_json(folder / "audit.json")
    if manifest.verdict != Verdict.PASS or audit["verdict"] != Verdict.PASS:
        yield Fault("manifest.json", "its verdict is not 'pass'")
    table = read_table(folder / "synthetic.parquet")
    rows = {table.num_rows, manifest.rows, audit["rows"]["synthetic"]}
    if len(rows) > 1:
        yield Fault("synthetic.parquet", f"has {table.num_rows:,} rows, the manifest or the audit says otherwise")
    if not same_rows(table, folder / "synthetic.csv"):
        yield Fault("synthetic.csv", "does not hold the rows of synthetic.parquet")
    schema = parse_schema(read_yaml(folder / "schema.yaml", RESTORE))
    if _digest(schema) != manifest.schema_digest:
        yield Fault("schema.yaml", "its digest is not the one in the manifest")
    for breach in breaches(table, schema):
        yield Fault(breach.column, f"{breach.check}: {breach.rows:,} rows", "the table breaks its own schema")


def _index_faults(folder: Path) -> list[Fault]:
    """What is wrong with the index beside the versions, where there is one, or with what it says of those there are."""
    path = folder.parent / INDEX
    if not path.is_file():
        return []
    entries, faults = read_chain(path, IndexEntry, RESTORE)
    known = {entry.version: entry.manifest for entry in entries}
    there = {number: folder.parent / f"v{number}" / "manifest.json" for number in _folders(folder.parent)}
    return faults + [
        Fault(path.name, f"does not know this manifest of v{number}")
        for number, manifest in sorted(there.items())
        if manifest.is_file() and known.get(number) != sha256_of(manifest)
    ]
