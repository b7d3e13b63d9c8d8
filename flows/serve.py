"""Schedules and triggers: the pipeline as a deployment of a Prefect server, one per spec."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from prefect import serve as prefect_serve
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.deployments.runner import RunnerDeployment
from prefect.events import DeploymentEventTrigger
from prefect.flows import EntrypointType
from prefect.schedules import Cron, Interval
from prefect.schedules import Schedule as PrefectSchedule

from flows.pipeline import pipeline
from models.spec import Schedule, Trigger
from tasks.spec import Plan

ANCHOR = datetime(2000, 1, 1, tzinfo=UTC)
"""Intervals are counted from here: counted from the registration, each restart of ``serve`` would put runs off."""


def deployment(plan: Plan) -> RunnerDeployment:
    """The pipeline for one spec. Runs of one spec queue up; a run that finds nothing new ends as ``Unchanged``.

    A schedule or trigger that the spec no longer has is withdrawn when the deployment is registered again.
    """
    spec = plan.spec
    return pipeline.to_deployment(
        name=spec.name,
        parameters={"spec": str(plan.path.resolve())},
        concurrency_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE),
        entrypoint_type=EntrypointType.MODULE_PATH,
        schedules=[_schedule(spec.schedule)] if spec.schedule else [],
        triggers=[_trigger(spec.trigger)] if spec.trigger else [],
        tags=[spec.name],
    )


def _schedule(schedule: Schedule) -> PrefectSchedule:
    if schedule.cron:
        return Cron(schedule.cron, timezone=schedule.timezone)
    return Interval(timedelta(seconds=schedule.interval or 0), anchor_date=ANCHOR, timezone=schedule.timezone)


def _trigger(trigger: Trigger) -> DeploymentEventTrigger:
    """An event of this name about this resource starts a run. The server takes the same event id once only."""
    return DeploymentEventTrigger(expect={trigger.event}, match={"prefect.resource.id": trigger.resource})


def serve(served: list[Plan]) -> None:
    """Register plans and carry out their runs until interrupted. Schedules stay active when this process ends."""
    prefect_serve(*[deployment(plan) for plan in served], pause_on_shutdown=False)
