"""A stage of the pipeline: what it reads, what it writes, and whether it must be carried out at all.

A stage's work is a plain function. The Prefect flow, ``dvc repro`` and ``parquetry run --only`` all come through
``carry_out``, so they make the same files.
"""

from __future__ import annotations

import hashlib
import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import UUID

from models.errors import Fault, InternalError, ParquetryError, StateError
from tasks import versions
from tasks.datasets import found, run_of, source
from tasks.lineage import Dataset, Run, emit
from tasks.parallel import Each, place_of
from tasks.spec import Plan, load
from tasks.store import canonical, read_json, refused, sha256_of, whole_file, write_json
from tasks.versions import Unversioned, Versions
from tasks.workspace import Workspace

log = logging.getLogger("parquetry")


@dataclass(frozen=True)
class Job:
    """A plan under way: ``each`` spreads work over processes, ``run`` is what lineage calls all of it."""

    plan: Plan
    each: Each
    versions: Versions | Unversioned
    run: Run


@dataclass(frozen=True)
class Stage:
    """``sections`` are the parts of the spec that its result depends on; ``reads`` and ``writes`` are its files."""

    name: str
    sections: tuple[str, ...]
    reads: Callable[[Workspace], tuple[Path, ...]]
    writes: Callable[[Workspace], tuple[Path, ...]]
    work: Callable[[Job], Any]
    outside: Callable[[Job], str] = lambda job: ""
    """What the result depends on beside the spec and the files it reads, such as the version token of the source."""
    afterwards: Callable[[Job], Any] = lambda job: None
    """What follows once the result is recorded; it must bear being done again."""
    ordered: bool = False
    """Whether the order of the keys in its sections means something."""


@dataclass(frozen=True)
class Outcome:
    """``fresh``: nothing had changed, so nothing was done."""

    stage: str
    fresh: bool


def carry_out(stage: Stage, job: Job) -> Outcome:
    """Carry out ``stage`` unless its last record shows the same inputs and untouched outputs."""
    with Sealed(stage.name, job.plan.workspace.secret):
        key = fingerprint(stage, job)
        fresh = is_fresh(stage, job, key)
        if fresh:
            log.info("%s: nothing has changed", stage.name)
            if isinstance(job.versions, Versions) and not job.versions.recorded(stage):
                job.versions.record(stage)
        else:
            log.info("%s: begins", stage.name)
            _work(stage, job, key)
        stage.afterwards(job)
    return Outcome(stage.name, fresh)


def _work(stage: Stage, job: Job, key: str) -> None:
    """Do the work of ``stage``, and only then record that it was done."""
    workspace = job.plan.workspace
    with Told(stage, job):
        stage.work(job)
    versions.blind(stage.writes(workspace), workspace)
    if isinstance(job.versions, Versions):
        job.versions.record(stage)
    write_json(
        {"key": key, "outputs": _hashes(stage.writes(workspace), workspace)}, workspace.records / f"{stage.name}.json"
    )


def job_for(path: Path, each: Each, run: UUID) -> Job:
    """The job that the spec at ``path`` states, with the version history that its workspace has."""
    plan = load(path)
    return Job(plan, each, versions.open(plan.workspace.root), run_of(plan, run))


class Told:
    """Tells lineage that a stage began, and how it ended."""

    def __init__(self, stage: Stage, job: Job):
        self.stage = stage
        self.job = job

    def __enter__(self) -> None:
        emit(self.job.run, self.stage.name, "START", inputs=self._inputs())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            emit(self.job.run, self.stage.name, "FAIL", inputs=self._inputs(), error=error)
            return
        outputs = found(self.job.plan, self.stage.writes(self.job.plan.workspace))
        emit(self.job.run, self.stage.name, "COMPLETE", inputs=self._inputs(), outputs=outputs)

    def _inputs(self) -> list[Dataset]:
        """What the stage reads; a stage that reads no file reads the source."""
        reads = self.stage.reads(self.job.plan.workspace)
        return found(self.job.plan, reads) if reads else [source(self.job.plan)]


class Sealed:
    """Lets our own errors through; of any other tells only type and place, because its message may quote a cell.

    The whole traceback is kept for the owner below ``secret``, which neither git nor DVC nor Prefect looks at.
    """

    def __init__(self, stage: str, secret: Path):
        self.stage = stage
        self.secret = secret

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(error, Exception) or isinstance(error, ParquetryError):
            return
        if isinstance(error, OSError) and (told := refused(error, str(error.filename or self.stage))):
            raise told from None
        raise InternalError(Fault(self.stage, f"{type(error).__name__} {place_of(error)}", self._kept(error))) from None

    def _kept(self, error: Exception) -> str:
        """Where the owner finds the whole traceback; a full disk or a read-only one has no place for it."""
        path = self.secret / f"fault-{self.stage}.txt"
        try:
            with whole_file(path) as beside:
                beside.touch(0o600)
                beside.write_text("".join(traceback.format_exception(error)))
        except (OSError, StateError) as failed:
            return f"the whole traceback could not be kept ({failed})"
        return f"the whole traceback, which may hold values, is in {path}"


def is_fresh(stage: Stage, job: Job, key: str) -> bool:
    """Whether the record of ``stage`` has this key and every output still is what was recorded."""
    workspace = job.plan.workspace
    try:
        record = read_json(workspace.records / f"{stage.name}.json")
    except StateError:
        return False
    outputs = stage.writes(workspace)
    return (
        record.get("key") == key
        and all(path.exists() for path in outputs)
        and record.get("outputs") == _hashes(outputs, workspace)
    )


def fingerprint(stage: Stage, job: Job) -> str:
    """SHA-256 over all that the result of ``stage`` depends on, the code included."""
    plan = job.plan
    return hashlib.sha256(
        canonical(
            {
                "stage": stage.name,
                "sections": {name: plan.spec.section(name) for name in stage.sections},
                "schema": schema_digest(plan),
                "reads": _hashes(stage.reads(plan.workspace), plan.workspace),
                "outside": stage.outside(job),
                "seed": plan.workspace.seed().commitment(),
                "code": code_digest(),
            }
        )
    ).hexdigest()


def schema_digest(plan: Plan) -> str:
    """SHA-256 of the schema's meaning."""
    return hashlib.sha256(canonical(plan.schema.model_dump(mode="json"))).hexdigest()


@cache
def code_digest() -> str:
    """SHA-256 of the files of code that make releases: after a change of code nothing is taken for fresh."""
    root = Path(__file__).parent.parent
    files = sorted(
        path for room in ("models", "tasks") for path in (root / room).rglob("*") if path.suffix in {".py", ".j2"}
    )
    return hashlib.sha256(
        "\n".join(f"{path.relative_to(root).as_posix()} {sha256_of(path)}" for path in files).encode()
    ).hexdigest()


def _hashes(paths: tuple[Path, ...], workspace: Workspace) -> dict[str, str]:
    lacking = [path for path in paths if not path.exists()]
    if lacking:
        remedy = "run the stage that makes it"
        raise StateError([Fault(str(path), "no such file or folder", remedy) for path in lacking])
    return {path.relative_to(workspace.root).as_posix(): sha256_of(path) for path in paths}
