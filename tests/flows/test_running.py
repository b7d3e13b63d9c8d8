"""A run that is killed is taken up where it was; a run that is interrupted leaves no process behind."""

import json
import shutil
import signal
import subprocess
import sys

import psutil
import pytest
from command_line import PROJECT, environment, until
from small_world import people, run_stages, with_seed, write_workspace

from flows.running import run_one
from models.errors import SpecError
from tasks.spec import load
from tasks.store import sha256_of

SEED = "ab" * 32 + "\n"


@pytest.fixture
def workspace(tmp_path):
    """A workspace with a seed of its own that nothing was done in: its spec."""
    return with_seed(write_workspace(tmp_path / "workspace"), SEED)


@pytest.fixture
def killed(tmp_path):
    """Runs of a workspace that are killed at points, and the run that is not."""

    def at(spec, *points):
        (tmp_path / "copies").mkdir()
        variables = environment(tmp_path, OMP_NUM_THREADS="1", PYTHONPATH=f"{PROJECT}:{PROJECT / 'tests'}")
        command = [sys.executable, "-m", "killing", spec.parent, tmp_path / "copies", *map(str, points)]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        whole, *others = [json.loads(line) for line in done.stdout.splitlines()]
        return whole, others

    return at


@pytest.mark.slow
def test_a_run_that_is_killed_between_parts_or_while_it_publishes_ends_the_same_byte_for_byte(workspace, killed):
    points = ("samplers/habits", "people/v1", "people/index.jsonl", "records/release.json")
    whole, others = killed(workspace, *points)
    assert {"data/released/people/v1/manifest.json", "data/interim/joined/synthetic.parquet"} < set(whole["files"])
    assert [(run["point"], run["ended"], run["again"]) for run in others] == [(point, 9, 0) for point in points]
    for run in others:
        assert (run["point"], run["files"]) == (run["point"], whole["files"])


@pytest.mark.slow
@pytest.mark.parametrize("history", ["in a git repository", "after a release of other rows"])
def test_a_run_that_is_killed_at_any_of_its_renames_is_taken_up_and_ends_the_same(workspace, killed, crew, history):
    if history == "in a git repository":
        subprocess.run(["git", "init", "-q", str(workspace.parent)], check=True)
    else:
        run_stages(workspace, crew)
        write_workspace(workspace.parent, table=people(seed=5))
    whole, others = killed(workspace, *range(1, 100, 15 if history == "in a git repository" else 6))
    assert sum(run["ended"] == signal.SIGKILL for run in others) >= 5
    for run in others:
        assert (run["point"], run["again"], run["files"]) == (run["point"], 0, whole["files"])
        assert (run["point"], run["tags"]) == (run["point"], ["people@v1"] if history == "in a git repository" else [])


@pytest.fixture
def training(tmp_path):
    """A workspace on the eve of training: one part takes no time, the other takes its time."""
    spec = write_workspace(tmp_path / "training", table=people(20_000), generators={"habits": "cart"})
    for stage in ("ingest", "partition"):
        run_one(spec, stage)
    return spec


def stopped(command, spec, how):
    """Train until one part is done, stop the run by a signal, and see that its workers are gone, too; its exit code."""
    plan = load(spec)
    process = command.start("run", spec, "--only", "train")
    until((plan.workspace.records / "parts" / "money.json").exists, 60)
    workers = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(how)
    out, err = process.communicate(timeout=30)
    _, alive = psutil.wait_procs(workers, timeout=5)
    assert len(workers) >= 2
    assert not alive
    assert (out, "Traceback" in err) == ("", False)
    assert not (plan.workspace.records / "train.json").exists()
    return process.returncode


def test_a_run_that_is_killed_in_the_middle_of_training_leaves_no_worker_and_its_finished_parts_are_kept(
    command, training, caplog
):
    plan = load(training)
    assert stopped(command, training, signal.SIGKILL) == -signal.SIGKILL
    before = sha256_of(plan.workspace.sampler("money"))
    caplog.clear()
    assert run_one(training, "train").state == "done"
    assert caplog.messages == ["train: begins", "1 of 2 parts were trained before", "trained habits (1 of 1)"]
    assert sha256_of(plan.workspace.sampler("money")) == before
    assert not list(plan.workspace.data.rglob(".*.part"))


@pytest.mark.slow
def test_a_run_that_is_terminated_or_interrupted_leaves_no_worker(command, training):
    assert stopped(command, training, signal.SIGTERM) == -signal.SIGTERM
    shutil.rmtree(load(training).workspace.records / "parts")
    assert stopped(command, training, signal.SIGINT) == 130


def test_a_part_that_takes_too_long_is_ended_and_named_and_finished_parts_are_kept(command, training):
    run_one(training, "train")
    plan, limits = load(training), {"part_seconds": 1}
    before = sha256_of(plan.workspace.sampler("money"))
    write_workspace(training.parent, generators={"habits": {"kind": "slow", "seconds": 600}}, limits=limits)
    process = command.with_kinds_for_tests().start("run", training, "--only", "train")
    until(lambda: workers_of(process), 60)
    workers = workers_of(process)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (6, False)
    assert "1 of 2 parts were trained before" in err
    assert "habits: took longer than 1 s and was ended (raise limits.part_seconds, or make parts smaller or" in err
    assert not [worker for worker in workers if worker.is_running()]
    write_workspace(training.parent, limits={"part_seconds": 600})
    again = command("run", training, "--only", "train")
    assert (again.returncode, "trained habits (1 of 1)" in again.stderr) == (0, True)
    assert sha256_of(plan.workspace.sampler("money")) == before


def workers_of(process):
    children = psutil.Process(process.pid).children()
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]


@pytest.mark.slow
def test_the_second_of_two_runs_at_once_is_refused_and_told_who_holds_the_workspace(command, training):
    first = command.start("run", training, "--only", "train")
    until((load(training).workspace.records / "parts" / "money.json").exists, 60)
    second = command("run", training, "--only", "train")
    first.communicate(timeout=60)
    assert (first.returncode, second.returncode) == (0, 10)
    assert f"another run holds this workspace (process {first.pid})" in second.stderr


def test_a_stage_that_does_not_exist_is_refused_with_the_nearest(workspace):
    with pytest.raises(SpecError, match="did you mean 'train'"):
        run_one(workspace, "trian")


def test_what_a_single_stage_ended_as(workspace):
    assert run_one(workspace, "ingest").as_dict()["facts"] == {"Stage": "ingest: done"}
    again = run_one(workspace, "ingest")
    assert (again.state, dict(again.facts)) == ("unchanged", {"Stage": "ingest: nothing had changed"})
    shutil.rmtree(load(workspace).workspace.raw)
    assert run_one(workspace, "ingest").state == "done"
