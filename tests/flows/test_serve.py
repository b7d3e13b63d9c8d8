"""Schedules and triggers as deployments, and an event that starts a run on a real server within seconds."""

import signal
import subprocess
import time
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from command_line import until
from prefect.client.schemas.schedules import CronSchedule, IntervalSchedule
from small_world import write_workspace

from flows.pipeline import pipeline
from flows.serve import deployment
from models.errors import SpecError
from tasks.spec import load, load_all


def deployed(folder, **spec):
    return deployment(load(write_workspace(folder, **spec)))


def test_a_deployment_is_the_pipeline_for_one_spec_whose_runs_queue(tmp_path):
    made = deployed(tmp_path)
    assert (made.full_name, made.entrypoint, made.tags) == ("parquetry/people", "flows.pipeline.pipeline", ["people"])
    assert made.parameters == {"spec": str(tmp_path / "spec.yaml")}
    assert (made.concurrency_limit, made.concurrency_options.collision_strategy) == (1, "ENQUEUE")
    assert made.schedules == []
    assert made.triggers == []
    assert pipeline.name == "parquetry"


def test_a_cron_line_is_a_schedule_in_its_time_zone(tmp_path):
    (said,) = deployed(
        tmp_path, schedule={"cron": "*/15 8-18 1,15 jan-mar MON-FRI", "timezone": "Europe/Berlin"}
    ).schedules
    assert said.schedule == CronSchedule(cron="*/15 8-18 1,15 jan-mar MON-FRI", timezone="Europe/Berlin")


def test_an_interval_is_counted_from_a_day_that_no_restart_moves(tmp_path):
    (said,) = deployed(tmp_path, schedule={"interval": 3600}).schedules
    assert isinstance(said.schedule, IntervalSchedule)
    assert said.schedule.interval.total_seconds() == 3600
    assert said.schedule.anchor_date == datetime(2000, 1, 1, tzinfo=UTC)


def test_a_trigger_waits_for_the_event_about_the_resource(tmp_path):
    (trigger,) = deployed(tmp_path, trigger={"event": "warehouse.table.updated", "resource": "warehouse.*"}).triggers
    assert trigger.expect == {"warehouse.table.updated"}
    assert trigger.match.root == {"prefect.resource.id": "warehouse.*"}
    assert trigger.threshold == 1


def test_specs_are_checked_together_and_no_two_may_have_one_name(tmp_path):
    paths = [write_workspace(tmp_path / name) for name in ("one", "two")]
    with pytest.raises(SpecError, match=r"one/spec.yaml: name: 'people' is the name of 2 of these specs"):
        load_all(paths)
    write_workspace(tmp_path / "two", join="shufled")
    with pytest.raises(SpecError, match=r"two/spec.yaml: join: unknown kind 'shufled'"):
        load_all(paths)
    write_workspace(tmp_path / "two", name="others")
    assert [plan.spec.name for plan in load_all(paths)] == ["people", "others"]


@pytest.fixture
def serving(served):
    """Starts ``parquetry serve``, and ends it at last."""
    started = []

    def serve(*specs):
        started.append(served.start("serve", *specs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return started[-1]

    yield serve
    for process in started:
        stop(process)


def stop(process):
    process.send_signal(signal.SIGTERM)
    process.wait(30)


def post(server, event, resource="warehouse.visits"):
    """What a warehouse job posts, as the README says."""
    server.ask(
        "/events",
        [
            {
                "id": str(event),
                "occurred": datetime.now(UTC).isoformat(),
                "event": "warehouse.table.updated",
                "resource": {"prefect.resource.id": resource},
                "payload": {},
                "related": [],
            }
        ],
    )


def schedules(server, name):
    found = server.ask(f"/deployments/name/parquetry/{name}")
    return [said["schedule"] for said in found["schedules"] if said["active"]], found["id"]


def automations(server, deployment):
    return server.ask(f"/automations/related-to/prefect.deployment.{deployment}")


def registered(server, name):
    return name in [found["name"] for found in server.ask("/deployments/filter", {})]


@pytest.mark.slow
def test_an_event_starts_a_run_within_seconds_the_same_event_twice_starts_one_and_runs_queue(serving, server, tmp_path):
    spec = write_workspace(tmp_path / "workspace", name="triggered", trigger={"resource": "warehouse.*"})
    serving(spec)
    until(lambda: registered(server, "triggered") and automations(server, schedules(server, "triggered")[1]), 60)
    event, began = uuid4(), time.monotonic()
    post(server, uuid4(), resource="elsewhere.visits")
    post(server, event)
    post(server, event)
    until(lambda: "Running" in [run["state_name"] for run in server.pipelines("triggered")], 60)
    assert time.monotonic() - began < 30
    post(server, event)
    post(server, uuid4())
    until(lambda: sorted(run["state_name"] for run in server.pipelines("triggered")) == ["Released", "Unchanged"], 150)
    second, first = server.pipelines("triggered")
    assert first["end_time"] <= second["start_time"]


@pytest.mark.slow
def test_schedules_and_triggers_follow_the_spec_and_outlive_the_process(serving, server, tmp_path):
    spec = write_workspace(
        tmp_path / "workspace",
        name="planned",
        schedule={"cron": "0 3 * * *", "timezone": "Europe/Berlin"},
        trigger={"resource": "a"},
    )
    process = serving(spec)
    until(lambda: registered(server, "planned") and automations(server, schedules(server, "planned")[1]), 60)
    stop(process)
    (cron,), number = schedules(server, "planned")
    assert (cron["cron"], cron["timezone"]) == ("0 3 * * *", "Europe/Berlin")
    planned = server.ask("/flow_runs/filter", {"deployments": {"id": {"any_": [number]}}})
    assert all(run["state_name"] in ("Scheduled", "Late") for run in planned)
    write_workspace(spec.parent, name="planned", schedule={"interval": 86_400})
    process = serving(spec)
    until(lambda: "interval" in schedules(server, "planned")[0][0] and not automations(server, number), 60)
    stop(process)
    write_workspace(spec.parent, name="planned")
    process = serving(spec)
    until(lambda: not schedules(server, "planned")[0], 60)
