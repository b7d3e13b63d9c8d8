"""From training rows to a synthetic table: partition, one generator per part in parallel, join."""

from __future__ import annotations

from prefect import flow
from prefect.task_runners import ThreadPoolTaskRunner

from tasks.orchestration import ends, job, named, stage
from tasks.stages import JOIN, PARTITION, TRAIN


@flow(
    name="synthesize",
    flow_run_name=named,
    persist_result=False,
    task_runner=ThreadPoolTaskRunner(max_workers=16),
)
@ends
def synthesize(spec: str, run: str) -> bool:
    """Whether anything had to be done."""
    with job(spec, run) as under_way:
        fresh = [stage(what, under_way).fresh for what in (PARTITION, TRAIN, JOIN)]
    return not all(fresh)
