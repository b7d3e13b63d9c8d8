"""From training rows to a synthetic table: partition, one generator per part in parallel, join."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from prefect import flow
from prefect.task_runners import ThreadPoolTaskRunner

from tasks.orchestration import PrefectEach, stage
from tasks.parallel import Crew
from tasks.stages import JOIN, PARTITION, TRAIN
from tasks.step import job_for


@flow(name="synthesize", flow_run_name="synthesize", persist_result=False, task_runner=ThreadPoolTaskRunner(max_workers=16))
def synthesize(spec: str, run: str) -> bool:
    """Whether anything had to be done."""
    with Crew() as crew:
        job = job_for(Path(spec), PrefectEach(crew), UUID(run))
        return not all([stage(what, job).fresh for what in (PARTITION, TRAIN, JOIN)])
