"""From a synthetic table to findings and a verdict."""

from __future__ import annotations

from prefect import flow

from tasks.orchestration import ends, job, named, stage
from tasks.stages import AUDIT


@flow(name="audit", flow_run_name=named, persist_result=False)
@ends
def audit(spec: str, run: str) -> bool:
    """Whether anything had to be done."""
    with job(spec, run) as under_way:
        return not stage(AUDIT, under_way).fresh
