"""Schedules and triggers: the pipeline as a deployment of a Prefect server, one per spec."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from prefect import serve as prefect_serve
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.deployments.runner import RunnerDeployment
from prefect.events import DeploymentEventTrigger
from prefect.flows import EntrypointType
from prefect.schedules import Cron, Interval

from flows.pipeline import pipeline
from models.spec import Schedule, Spec, Trigger
from tasks.spec import load


def deployment(path: Path) -> RunnerDeployment:
    """The pipeline for one spec. Runs of one spec queue up; a run that finds nothing new ends as ``Unchanged``."""
    spec = load(path).spec
    return pipeline.to_deployment(
        name=spec.name,
        parameters={"spec": str(path.resolve())},
        concurrency_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE),
        entrypoint_type=EntrypointType.MODULE_PATH,
        **_schedule(spec),
        triggers=[_trigger(spec.trigger)] if spec.trigger else [],
    )


def _schedule(spec: Spec) -> dict[str, Any]:
    schedule: Schedule | None = spec.schedule
    if schedule is None:
        return {}
    if schedule.cron:
        return {"schedule": Cron(schedule.cron, timezone=schedule.timezone)}
    return {"schedule": Interval(timedelta(seconds=schedule.interval or 0), timezone=schedule.timezone)}


def _trigger(trigger: Trigger) -> DeploymentEventTrigger:
    """An event of this name about this resource starts a run. The server takes the same event id once only."""
    return DeploymentEventTrigger(expect={trigger.event}, match={"prefect.resource.id": trigger.resource})


def serve(paths: list[Path]) -> None:
    """Register the specs and carry out their runs until interrupted. Schedules stay active when this process ends."""
    prefect_serve(*[deployment(path) for path in paths], pause_on_shutdown=False)
