"""Ingest as a flow: a source that may come back is asked again, any other ends the run with a clean message."""

import subprocess
import sys

import duckdb
import pyarrow as pa
import pytest
from command_line import until
from small_world import CANARY_INCOME, CANARY_NAME, people, write_workspace

pytestmark = pytest.mark.slow


def test_a_missing_source_ends_the_run_with_what_is_missing(served, server, tmp_path):
    spec = write_workspace(tmp_path / "workspace", name="lost")
    (spec.parent / "people.parquet").unlink()
    done = served("run", spec)
    assert (done.returncode, done.stdout) == (4, "")
    assert "The source cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
    whole, room = server.pipelines("lost")[0], server.flow_runs("lost")[0]
    for run in (whole, room):
        assert (run["state_type"], run["state_name"]) == ("FAILED", "Failed")
        assert run["state"]["message"].startswith("The source cannot be read: ")
        assert "people.parquet: no such file" in run["state"]["message"]
    (task,) = server.task_runs(room)
    assert (task["name"], task["state_name"], task["run_count"]) == ("ingest", "Failed", 1)
    assert not [log for log in server.logs(whole, room) if "Traceback" in log["message"]]


def test_data_that_broke_its_contract_ends_the_run_with_columns_and_counts_alone(served, server, tmp_path):
    table = people(100).set_column(3, "income", pa.array([CANARY_INCOME * 10] * 100))
    done = served("run", write_workspace(tmp_path / "workspace", table=table, name="breach"))
    assert done.returncode == 5
    message = server.pipelines("breach")[0]["state"]["message"]
    assert message.startswith("The data broke its contract: ")
    assert "income" in message
    assert "100" in message
    assert f"{CANARY_INCOME * 10}".encode() not in server.stored()
    assert CANARY_NAME.encode() not in server.stored()


def test_a_warehouse_that_is_locked_for_a_moment_is_asked_again(served, server, tmp_path):
    """DuckDB lets one process write, and meanwhile nobody read."""
    spec = write_workspace(
        tmp_path / "workspace",
        name="patient",
        source={"kind": "duckdb", "path": "people.duckdb", "table": "people", "patience": 0},
    )
    parquet, path = spec.parent / "people.parquet", spec.parent / "people.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(f"create table people as select * from '{parquet}'")
    code = f"import duckdb\nheld = duckdb.connect({str(path)!r})\nprint(flush=True)\ninput()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    holder.stdout.readline()
    running = served.start("run", spec)
    try:
        until(
            lambda: (
                "AwaitingRetry"
                in [task["state_name"] for run in server.flow_runs("patient") for task in server.task_runs(run)]
            ),
            60,
        )
    finally:
        holder.communicate("\n")
    _, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    assert "it is asked again after 5 and 30 s" in err
    assert server.pipelines("patient")[0]["state_name"] == "Released"
