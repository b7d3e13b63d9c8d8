"""From a synthetic table to findings and a verdict."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from tasks.audit import published_rows
from tasks.orchestration import show_audit, stage
from tasks.parallel import Crew
from tasks.spec import load
from tasks.stages import AUDIT
from tasks.step import Job
from tasks.store import read_json


@flow(name="audit", flow_run_name="audit", persist_result=False)
def audit(spec: str) -> bool:
    """Whether anything had to be done."""
    plan = load(Path(spec))
    outcome = stage(AUDIT, Job(plan, Crew()))
    said = read_json(plan.workspace.audit / "audit.json")
    show_audit(plan.spec.name, published_rows(said), said["verdict"], said["reason"])
    return not outcome.fresh
