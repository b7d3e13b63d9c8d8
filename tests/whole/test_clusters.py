"""Rows in clusters go the whole way: to a release that is verified, explained, made again and taken up after a kill."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import PROJECT, environment
from small_world import run_stages, with_seed, write_workspace

from tasks.explaining import explain
from tasks.release import verify
from tasks.spec import load
from tasks.stages import STAGES
from tasks.store import read_json, sha256_of

pytestmark = pytest.mark.slow

IN_CLUSTERS = {
    "partition": {"by": "rows", "kind": "kmeans", "k": 2},
    "generator": "copula",
    "generators": {"cluster-2": "cart"},
    "join": "concatenation",
}


def git(folder, *words):
    named = ("-c", "user.name=owner", "-c", "user.email=owner@localhost")
    return subprocess.run(["git", "-C", str(folder), *named, *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def spec(tmp_path):
    """A workspace with a seed of its own in a git repository; nothing was done in it."""
    spec = with_seed(write_workspace(tmp_path / "workspace", **IN_CLUSTERS), "ab" * 32 + "\n")
    git(spec.parent, "init", "-q")
    git(spec.parent, "add", "spec.yaml", "schema.yaml")
    git(spec.parent, "commit", "-qm", "the spec")
    return spec


def artifacts(plan):
    made = [path for stage in STAGES for path in stage.writes(plan.workspace)]
    return {path.relative_to(plan.workspace.root).as_posix(): sha256_of(path) for path in made}


def test_a_release_is_made_told_of_made_again_by_dvc_and_holds_no_assignment(spec, crew):
    assert run_stages(spec, crew) == [stage.name for stage in STAGES]
    assert run_stages(spec, crew) == []
    plan = load(spec)
    workspace = plan.workspace
    release = verify(workspace.released / "people" / "v1")
    assert [cluster["name"] for cluster in release.partition["clusters"]] == ["cluster-1", "cluster-2"]
    assert {said["kind"] for said in release.generators.values()} == {"copula", "cart"}
    assert explain("people@v1", spec)["clusters"].startswith("cluster-1 (copula): about ")
    assert "in 2 clusters of rows" in explain("income", spec)["learned by"]
    events = [json.loads(line) for file in workspace.lineage.glob("*.ndjson") for line in file.read_text().splitlines()]
    told = [event for event in events if event["eventType"] == "COMPLETE" and "release" in event["job"]["name"]]
    assert "2 clusters of rows, generator 'copula and cart'" in json.dumps(told)

    rows = np.load(workspace.assignment, allow_pickle=False)
    assert np.bincount(rows).min() >= 50
    assert sha256_of(workspace.assignment) not in json.dumps(told)
    assert not git(spec.parent, "ls-tree", "-r", "--name-only", "people@v1", "data")

    lock, made = (spec.parent / "dvc.lock").read_bytes(), artifacts(plan)
    shutil.rmtree(workspace.records)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    repro = [sys.executable, "-m", "dvc", "repro", "--force"]
    done = subprocess.run(repro, cwd=spec.parent, env={**os.environ, "PATH": path}, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert artifacts(plan) == made
    assert (spec.parent / "dvc.lock").read_bytes() == lock


ONE_TRAINING = {
    **IN_CLUSTERS,
    "generator": {"kind": "hydragan", "steps": 10, "hidden": 8, "noise": 4, "batch": 32, "checkpoints": 5},
    "generators": {},
}


@pytest.mark.parametrize(
    ("said", "points"),
    [
        (IN_CLUSTERS, ("interim/partition", "samplers/cluster-2", "interim/joined")),
        (ONE_TRAINING, ("unfinished/cluster-1", "unfinished/cluster-1#4", "samplers/cluster-2")),
    ],
)
def test_a_run_that_is_killed_between_clusters_ends_the_same_byte_for_byte(spec, tmp_path, said, points):
    if said is ONE_TRAINING:
        pytest.importorskip("torch")
    write_workspace(spec.parent, **said)
    (tmp_path / "copies").mkdir()
    variables = environment(tmp_path, OMP_NUM_THREADS="1", PYTHONPATH=f"{PROJECT}:{PROJECT / 'tests'}")
    command = [sys.executable, "-m", "killing", spec.parent, tmp_path / "copies", *points]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    whole, *others = [json.loads(line) for line in done.stdout.splitlines()]
    assert "data/interim/partition/rows.npy" in whole["files"]
    assert [(run["point"], run["ended"], run["again"]) for run in others] == [(point, 9, 0) for point in points]
    for run in others:
        assert (run["point"], run["files"]) == (run["point"], whole["files"])


def test_strata_by_another_column_than_before_train_anew(spec, crew):
    run_stages(spec, crew)
    write_workspace(spec.parent, **{**IN_CLUSTERS, "partition": {"kind": "strata", "column": "smoker"}})
    assert run_stages(spec, crew)[:3] == ["partition", "train", "join"]
    whats = [cluster["what"] for cluster in read_json(load(spec).workspace.division)["clusters"]]
    assert whats == ["smoker: False", "smoker: True"]
