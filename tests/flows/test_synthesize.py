"""Synthesis as a flow: a part that fails is named, its message is not told, and the finished parts are kept."""

import subprocess
import sys
from base64 import b64decode
from xml.etree.ElementTree import fromstring

import pytest
from small_world import write_workspace

from tasks.spec import load

pytestmark = pytest.mark.slow

STUMBLING = """\
import dataclasses, os, sys
import flows.cli
import flows.synthesize as room

def stumble(job):
    raise KeyError("CANARY-7431")

room.PARTITION = dataclasses.replace(room.PARTITION, work=stumble)
flows.cli.main()
"""


def test_a_part_that_fails_is_named_and_the_next_run_trains_it_alone(served, server, tmp_path):
    spec = write_workspace(
        tmp_path / "workspace", name="half", generators={"habits": {"kind": "hydragan", "clusters": 1_000}}
    )
    done = served("run", spec)
    assert done.returncode == 6
    assert "habits: clusters: 1,000 clusters of 420 rows" in done.stderr
    assert "Traceback" not in done.stderr
    states = {task["name"]: task["state_name"] for run in server.flow_runs("half") for task in server.task_runs(run)}
    assert (states["fit money"], states["fit habits"], states["train"]) == ("Completed", "Failed", "Failed")
    assert load(spec).workspace.sampler("money").is_dir()
    write_workspace(spec.parent, name="half")
    again = served("run", spec, "--only", "train")
    assert again.returncode == 0, again.stderr
    assert "1 of 2 parts were trained before" in again.stderr
    assert "trained habits (1 of 1)" in again.stderr


def test_a_part_that_takes_too_long_is_a_failed_task_run_and_the_other_one_is_done(served, server, tmp_path):
    slow = {"kind": "slow", "seconds": 600}
    spec = write_workspace(
        tmp_path / "workspace", name="late", generators={"habits": slow}, limits={"part_seconds": 10}
    )
    done = served.with_kinds_for_tests()("run", spec)
    assert done.returncode == 6
    assert "habits: took longer than 10 s and was ended (raise limits.part_seconds" in done.stderr
    tasks = {task["name"]: task for run in server.flow_runs("late") for task in server.task_runs(run)}
    states = {name: tasks[name]["state_name"] for name in ("fit money", "fit habits", "train")}
    assert states == {"fit money": "Completed", "fit habits": "Failed", "train": "Failed"}
    assert "took longer than 10 s" in server.pipelines("late")[0]["state"]["message"]


def test_an_error_of_another_make_reaches_neither_the_screen_nor_the_server(served, server, tmp_path):
    """Its whole traceback is where only the owner of the workspace looks."""
    spec = write_workspace(tmp_path / "workspace", name="stumbling")
    command = [sys.executable, "-c", STUMBLING, "run", str(spec)]
    done = subprocess.run(command, env=served.variables, cwd=served.home, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "partition: KeyError in <string>, line 6" in done.stderr
    assert "CANARY-7431" not in done.stderr
    assert "CANARY-7431" in (spec.parent / "data" / "secret" / "fault-partition.txt").read_text()
    run = server.pipelines("stumbling")[0]
    assert (run["state_type"], run["state"]["message"].split(" (")[0]) == (
        "FAILED",
        "A fault in Parquetry: partition: KeyError in <string>, line 6",
    )
    assert b"CANARY-7431" not in server.stored()
    assert not list((served.home / "prefect").rglob("storage"))


def test_clusters_that_share_a_training_are_one_task_run_and_its_curves_a_picture(served, server, tmp_path):
    pytest.importorskip("torch")
    heads = {"kind": "hydragan", "steps": 10, "hidden": 8, "noise": 4, "batch": 32}
    by_sex = {"by": "rows", "kind": "strata", "column": "sex"}
    spec = write_workspace(
        tmp_path / "workspace", name="headed", partition=by_sex, generator=heads, join="concatenation"
    )
    done = served("run", spec)
    assert "trained cluster-1 and 1 more (1 of 1)" in done.stderr
    names = [task["name"] for run in server.flow_runs("headed") for task in server.task_runs(run)]
    assert [name for name in names if name.startswith("fit ")] == ["fit cluster-1 and 1 more"]
    shown = server.ask("/artifacts/headed-training-1/latest")
    assert shown["type"] == "image"
    assert shown["description"].startswith("Training of cluster-1 and 1 more: 10 steps of 2 heads")
    kind, _, text = shown["data"].partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert {"realism", "held-out score"} <= {node.text for node in fromstring(b64decode(text))}
