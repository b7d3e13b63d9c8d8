"""The whole pipeline against a real Prefect server: what its runs end as, and what they leave there."""

import json
import shutil

import pytest
from command_line import until
from small_world import CANARY_INCOME, CANARY_NAME, run_stages, write_workspace

from tasks.spec import load

pytestmark = pytest.mark.slow

PICKLES = (b"cloudpickle", b"builtins")


def test_the_first_run_releases_and_the_second_finds_that_nothing_has_changed(runs, server):
    assert runs.first.returncode == 0, runs.first.stderr
    assert "Verdict: pass" in runs.first.stdout
    assert "data/released/people/v1" in runs.first.stdout
    said = json.loads(runs.second.stdout)
    assert (runs.second.returncode, said["state"], said["verdict"]) == (0, "unchanged", "pass")
    assert [(run["name"], run["state_name"], run["state_type"]) for run in server.pipelines("people")] == [
        ("people", "Unchanged", "COMPLETED"),
        ("people", "Released", "COMPLETED"),
    ]
    assert [folder.name for folder in (load(runs.spec).workspace.released / "people").glob("v*")] == ["v1"]


def test_progress_goes_to_standard_error_stage_by_stage_and_nothing_else_does(runs):
    told = [line[8:].strip() for line in runs.first.stderr.splitlines()]
    assert told[0].startswith("Prefect server at http://127.0.0.1:")
    stages = [line.removesuffix(": begins") for line in told if line.endswith(": begins")]
    assert stages == ["ingest", "partition", "train", "join", "audit", "release"]
    assert {line[-8:] for line in told if line.startswith("trained ")} == {"(1 of 2)", "(2 of 2)"}
    assert len(told) == 1 + len(stages) + 2 + 4
    assert not {"Traceback", "prefect.", "Warning"} & set(runs.first.stderr.split())


def test_rooms_are_named_after_the_data_set_and_task_runs_after_stages_and_parts(runs, server):
    rooms = server.rooms("people")
    assert {run["name"] for run in rooms} == {"people"}
    assert server.flows(*rooms) == {"ingest", "synthesize", "audit", "release"}
    states = [(task["name"], task["state_name"]) for task in server.task_runs(*rooms)]
    stages = ["ingest", "partition", "train", "join", "audit", "release"]
    parts = [f"{verb} {part}" for verb in ("fit", "draw") for part in ("money", "habits")]
    assert sorted(states) == sorted(
        [
            *((name, "Completed") for name in [*stages, *parts]),
            *((name, "Cached") for name in stages),
        ]
    )


def test_what_the_pipeline_logs_is_kept_with_its_runs(runs, server):
    (second, first), rooms = server.pipelines("people"), server.rooms("people")
    told = {log["message"] for log in server.logs(*rooms) if log["name"] == "parquetry"}
    assert {"train: begins", "train: nothing has changed", "600 rows read; 420 to learn from, 180 held out"} <= told
    assert {"trained money (1 of 2)", "trained money (2 of 2)"} & told
    whole = [log["message"] for log in server.logs(first)]
    assert [line for line in whole if line.endswith(": done")] == [
        f"{room}: done" for room in ("ingest", "synthesize", "audit", "release")
    ]
    assert [line for line in whole if line.startswith("pass: All ")]
    assert "synthesize: nothing had changed" in {log["message"] for log in server.logs(second)}


def test_no_cell_and_no_pickle_is_anywhere_where_prefect_keeps_its_things(runs, server, served):
    """A canary is a value that one person alone has. Names of columns are found, so the search can find something."""
    left = server.stored() + b"".join(
        path.read_bytes() for path in (served.home / "prefect").rglob("*") if path.is_file()
    )
    assert b"Released" in left
    assert b"income" in left
    for canary in (CANARY_NAME, f"{CANARY_INCOME}", f"{CANARY_INCOME:,.0f}"):
        assert canary.encode() not in left
    assert not [word for word in PICKLES if word in left]
    assert not list(server.home.rglob("storage")) + list((served.home / "prefect").rglob("storage"))


def test_a_run_that_was_killed_is_marked_as_crashed_by_the_next_one_of_its_workspace(served, server, tmp_path):
    slow = {"habits": {"kind": "slow", "seconds": 600}}
    spec = write_workspace(tmp_path / "workspace", name="killed", generators=slow)
    records = spec.parent / "data" / "interim" / "records"
    first = served.with_kinds_for_tests().start("run", spec)
    until((records / "parts" / "money.json").exists, 200)
    first.kill()
    first.communicate()
    (left,) = server.pipelines("killed")
    assert left["state_name"] == "Running"
    write_workspace(spec.parent, name="killed")
    done = served("run", spec)
    assert done.returncode == 0, done.stderr
    assert f"An earlier run ({left['id']}) ended without telling the server: it is marked as Crashed" in done.stderr
    assert [run["state_name"] for run in server.pipelines("killed")] == ["Released", "Crashed"]
    runs = server.flow_runs("killed")
    assert {run["state_type"] for run in [*runs, *server.task_runs(*runs)]} == {"COMPLETED", "CRASHED"}
    (note,) = (records / "flow-runs").iterdir()
    assert note.name == server.pipelines("killed")[0]["id"]


def test_the_same_run_by_hand_gives_the_same_table(runs, crew, tmp_path):
    """The flow equals the function: stage by stage in one process, from the same seed, every byte is the same."""
    spec = write_workspace(tmp_path / "by-hand")
    there, here = load(runs.spec).workspace, load(spec).workspace
    shutil.copytree(there.secret, here.secret)
    run_stages(spec, crew)
    for name in ("synthetic.parquet", "synthetic.csv", "manifest.json", "audit.html"):
        assert (here.released / "people" / "v1" / name).read_bytes() == (
            there.released / "people" / "v1" / name
        ).read_bytes()
