"""The six stages in their order: what each reads, writes and depends on.

The flow, ``run --only`` and dvc.yaml follow this list.
"""

from __future__ import annotations

from tasks import audit, ingest, release, synthesis
from tasks.step import Job, Stage
from tasks.store import sha256_of


def _suite(job: Job) -> str:
    """The content of the owner's own expectation suite; the spec tells only its name."""
    return "" if job.plan.expectations is None else sha256_of(job.plan.expectations)


def _source_and_suite(job: Job) -> str:
    return f"{job.plan.source.version().token} {_suite(job)}"


INGEST = Stage(
    "ingest",
    sections=("source", "schema", "expectations", "split"),
    reads=lambda workspace: (),
    writes=lambda workspace: (workspace.raw,),
    work=ingest.ingest,
    outside=_source_and_suite,
)
PARTITION = Stage(
    "partition",
    sections=("partition",),
    reads=lambda workspace: (workspace.train,),
    writes=lambda workspace: (workspace.partition,),
    work=synthesis.partition,
    ordered=True,
)
TRAIN = Stage(
    "train",
    sections=("generator", "generators", "join"),  # whether later parts are learnt given earlier ones
    reads=lambda workspace: (workspace.train, workspace.partition),
    writes=lambda workspace: (workspace.samplers,),
    work=synthesis.train,
)
JOIN = Stage(
    "join",
    sections=("join", "rows", "expectations"),
    reads=lambda workspace: (workspace.train, workspace.partition, workspace.samplers),
    writes=lambda workspace: (workspace.joined,),
    work=synthesis.join,
    outside=_suite,
)
AUDIT = Stage(
    "audit",
    sections=("name", "audit", "partition", "generator", "generators", "join"),
    reads=lambda workspace: (workspace.raw, workspace.partition, workspace.joined),
    writes=lambda workspace: (workspace.audit,),
    work=audit.audit,
)
RELEASE = Stage(
    "release",
    sections=("name", "generator", "generators", "join"),
    reads=lambda workspace: (workspace.raw, workspace.partition, workspace.joined, workspace.audit),
    writes=lambda workspace: (workspace.released,),
    work=release.release,
    afterwards=release.tag,
)
STAGES = (INGEST, PARTITION, TRAIN, JOIN, AUDIT, RELEASE)
BY_NAME = {stage.name: stage for stage in STAGES}
