"""Release as a flow: a link to the report where it passed; a Failed state, and no table, where it was withheld."""

import json

import pytest
from small_world import write_workspace

from tasks.spec import load

pytestmark = pytest.mark.slow


def test_a_release_and_its_report_are_an_artifact_of_the_run(runs, server):
    folder = load(runs.spec).workspace.released / "people" / "v1"
    shown = server.ask("/artifacts/people-release/latest")
    assert f"Published: `{folder}`" in shown["data"]
    assert (folder / "audit.html").as_uri() in shown["data"]
    assert (folder / "audit.md").read_text() in shown["data"]
    newest = server.pipelines("people")[0]
    assert shown["flow_run_id"] == newest["id"]
    assert newest["state"]["message"] == f"still people@v1 in {folder}"


def test_a_withheld_run_ends_as_such_and_publishes_nothing(served, server, tmp_path):
    strict = {"copies": {"whole": {"exact": 0, "near": 0}}}
    spec = write_workspace(tmp_path / "workspace", name="strict", audit=strict)
    done = served("run", spec, "--json")
    said = json.loads(done.stdout)
    assert (done.returncode, said["state"]) == (8, "withheld")
    assert said["verdict"] in ("fail", "inconclusive")
    assert "Withheld by the audit; nothing is published" in done.stderr
    assert "Traceback" not in done.stderr
    workspace = load(spec).workspace
    assert not workspace.released.exists()
    assert (workspace.withheld / "strict" / "audit.html").is_file()
    assert not list(workspace.withheld.rglob("*.parquet")) + list(workspace.withheld.rglob("*.csv"))
    run = server.pipelines("strict")[0]
    assert (run["state_type"], run["state_name"]) == ("FAILED", "Withheld")
    assert run["state"]["message"].startswith(f"strict: verdict '{said['verdict']}'")
    assert served("run", spec, "--only", "release").returncode == 8
    assert not workspace.released.exists()
