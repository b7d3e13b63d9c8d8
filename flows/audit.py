"""From a synthetic table to findings and a verdict."""

from __future__ import annotations

from prefect import flow

from tasks.audit import published_rows
from tasks.orchestration import ends, job, show_audit, stage
from tasks.stages import AUDIT
from tasks.store import read_json


@flow(name="audit", flow_run_name="audit", persist_result=False)
@ends
def audit(spec: str, run: str) -> bool:
    """Whether anything had to be done."""
    with job(spec, run) as under_way:
        outcome = stage(AUDIT, under_way)
        plan = under_way.plan
    said = read_json(plan.workspace.audit / "audit.json")
    show_audit(plan.spec.name, published_rows(said), said["verdict"], said["reason"])
    return not outcome.fresh
