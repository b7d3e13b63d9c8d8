"""From a passed audit to a published version; the gate is the release stage itself."""

from __future__ import annotations

from prefect import flow

from tasks.orchestration import ends, job, named, stage
from tasks.stages import RELEASE


@flow(name="release", flow_run_name=named, persist_result=False)
@ends
def release(spec: str, run: str) -> bool:
    """Whether anything had to be done."""
    with job(spec, run) as under_way:
        return not stage(RELEASE, under_way).fresh
