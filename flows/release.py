"""From a passed audit to a published version; the gate is the release stage itself."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from prefect import flow

from tasks.orchestration import show_release, stage
from tasks.parallel import Crew
from tasks.release import latest
from tasks.stages import RELEASE
from tasks.step import job_for


@flow(name="release", flow_run_name="release", persist_result=False)
def release(spec: str, run: str) -> bool:
    """Whether anything had to be done."""
    job = job_for(Path(spec), Crew(), UUID(run))
    plan = job.plan
    outcome = stage(RELEASE, job)
    published = latest(plan.workspace, plan.spec.name)
    if published:
        show_release(plan.spec.name, published.folder, published.folder / "audit.html")
    return not outcome.fresh
