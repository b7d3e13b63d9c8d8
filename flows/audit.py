"""From a synthetic table to findings and a verdict."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from prefect import flow

from tasks.audit import published_rows
from tasks.orchestration import show_audit, stage
from tasks.parallel import Crew
from tasks.stages import AUDIT
from tasks.step import job_for
from tasks.store import read_json


@flow(name="audit", flow_run_name="audit", persist_result=False)
def audit(spec: str, run: str) -> bool:
    """Whether anything had to be done."""
    job = job_for(Path(spec), Crew(), UUID(run))
    plan = job.plan
    outcome = stage(AUDIT, job)
    said = read_json(plan.workspace.audit / "audit.json")
    show_audit(plan.spec.name, published_rows(said), said["verdict"], said["reason"])
    return not outcome.fresh
