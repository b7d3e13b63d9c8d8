import json
import logging
import subprocess
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from uuid import UUID

import pytest

from models.column_trace import ColumnTrace
from models.errors import ContractError, Fault, StateError
from models.manifest import CodeFacts, Manifest, SourceFacts
from models.schema import Kind, Role
from tasks.lineage import Dataset, Run, emit, read_events

CANARY = "canary-2718"
COLUMNS = (("age", "int64"), ("sex", "string"))
TRAIN = Dataset("train", "data/raw/train.parquet", sha256="aa" * 32, rows=70, columns=COLUMNS)
DRAWN = "drawn by a generator"


def trace(name: str, **more: object) -> ColumnTrace:
    return ColumnTrace(name=name, kind=Kind.INTEGER, role=Role.PLAIN, dtype="int64", treatment=DRAWN, **more)


MANIFEST = Manifest(
    name="visits",
    version=1,
    rows=70,
    files=(),
    source=SourceFacts(kind="csv", rows=100, training_rows=70, holdout_rows=30, version="ff" * 32),
    spec_digest="",
    schema_digest="",
    seed_commitment="",
    partition={},
    generators={},
    join={},
    verdict="pass",
    reason="all gated findings pass",
    code=CodeFacts(version="0.1.0", revision=None, modified=False, digest="", packages={}),
    columns=(
        trace("age", part="body", generator="cart", learned_with=("sex",)),
        trace("sex", part="body", generator="cart", learned_with=("age",)),
        trace("id").model_copy(update={"treatment": "made anew"}),
        trace("notes").model_copy(update={"treatment": "left out of the release"}),
    ),
)
RELEASED = Dataset(
    "visits",
    "data/released/visits/v1/synthetic.parquet",
    sha256="bb" * 32,
    rows=70,
    columns=(*COLUMNS, ("id", "string")),
    private=False,
    manifest=MANIFEST,
)


@pytest.fixture(autouse=True)
def _no_collector(monkeypatch):
    for name in ("OPENLINEAGE_URL", "OPENLINEAGE_API_KEY", "OPENLINEAGE_ENDPOINT", "OPENLINEAGE_DISABLED"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(tmp_path) -> Run:
    return Run(UUID(int=7), "parquetry/visits", "warehouse.visits", tmp_path / "lineage")


def test_a_stage_is_told_when_it_begins_and_when_it_ends(run):
    emit(run, "train", "START", inputs=[TRAIN])
    emit(run, "train", "COMPLETE", inputs=[TRAIN], outputs=[Dataset("samplers", "data/interim/samplers")])
    start, complete = read_events(run.folder)
    assert [start["eventType"], complete["eventType"]] == ["START", "COMPLETE"]
    assert start["run"]["runId"] == complete["run"]["runId"]
    assert start["job"]["name"] == "parquetry.train"
    assert start["run"]["facets"]["parent"]["run"]["runId"] == str(run.id)
    assert [found["name"] for found in complete["outputs"]] == ["samplers"]


def test_stages_of_one_run_are_told_apart_and_so_are_runs_of_one_stage(run, tmp_path):
    other = Run(UUID(int=8), run.namespace, run.source, run.folder)
    for one, stage in ((run, "train"), (run, "join"), (other, "train")):
        emit(one, stage, "START")
    assert len({event["run"]["runId"] for event in read_events(run.folder)}) == 3
    assert sorted(path.name for path in run.folder.iterdir()) == sorted([f"{run.id}.ndjson", f"{other.id}.ndjson"])


def test_a_data_set_is_told_by_columns_types_rows_and_hash(run):
    emit(run, "train", "COMPLETE", inputs=[TRAIN])
    facets = read_events(run.folder)[0]["inputs"][0]["facets"]
    assert [(field["name"], field["type"]) for field in facets["schema"]["fields"]] == list(COLUMNS)
    assert facets["version"]["datasetVersion"] == "sha256:" + "aa" * 32
    assert facets["dataSource"]["uri"] == "file:data/raw/train.parquet"
    assert read_events(run.folder)[0]["inputs"][0]["inputFacets"]["inputStatistics"]["rowCount"] == 70


def test_a_released_column_is_traced_to_its_source_column_its_part_and_its_generator(run):
    emit(run, "release", "COMPLETE", outputs=[RELEASED])
    lineage = read_events(run.folder)[0]["outputs"][0]["facets"]["columnLineage"]
    assert list(lineage["fields"]) == ["age", "id", "sex"]
    (own,) = lineage["fields"]["age"]["inputFields"]
    assert (own["namespace"], own["name"], own["field"]) == ("parquetry/visits", "warehouse.visits", "age")
    assert own["transformations"][0]["type"] == "DIRECT"
    assert own["transformations"][0]["masking"] is True
    assert lineage["fields"]["age"]["transformationDescription"] == f"{DRAWN}; part 'body', generator 'cart'"
    assert lineage["fields"]["id"]["inputFields"] == []
    assert [field["field"] for field in lineage["dataset"]] == ["age", "sex"]


def test_a_column_of_divided_rows_is_traced_to_its_clusters_and_their_generators(run):
    clusters = {"clusters": ("cluster-1", "cluster-2"), "generator": "cart and copula", "part": None}
    columns = (trace("age").model_copy(update=clusters), *MANIFEST.columns[2:])
    released = replace(RELEASED, manifest=MANIFEST.model_copy(update={"columns": columns}))
    emit(run, "release", "COMPLETE", outputs=[released])
    lineage = read_events(run.folder)[0]["outputs"][0]["facets"]["columnLineage"]
    described = lineage["fields"]["age"]["transformationDescription"]
    assert described == f"{DRAWN}; 2 clusters of rows, generator 'cart and copula'"
    (age,) = lineage["dataset"]
    assert (age["field"], age["transformations"][0]["description"]) == ("age", "clusters joined")


def test_a_release_tells_its_verdict_and_what_is_claimed_of_privacy(run):
    emit(run, "release", "COMPLETE", outputs=[RELEASED])
    facets = read_events(run.folder)[0]["outputs"][0]["facets"]
    assert facets["parquetry_verdict"]["verdict"] == "pass"
    assert facets["parquetry_verdict"]["_schemaURL"] == "urn:parquetry:facet:verdict:1"
    assert "No end-to-end differential privacy" in facets["parquetry_privacy"]["statement"]
    assert "epsilon" not in facets["parquetry_privacy"]


def test_an_error_of_ours_is_told_in_its_words_and_any_other_by_its_type_only(run):
    emit(run, "ingest", "FAIL", error=ContractError(Fault("age", "2 cells outside the bounds")))
    emit(run, "ingest", "FAIL", error=ValueError(f"could not convert {CANARY}"))
    ours, other = [event["run"]["facets"]["errorMessage"] for event in read_events(run.folder)]
    assert ours["message"] == "age: 2 cells outside the bounds"
    assert other["message"] == "ValueError"
    assert CANARY not in run.file.read_text()


def test_the_file_holds_nothing_of_the_surroundings(run, tmp_path, monkeypatch):
    """OpenLineage's own client would add the address of the git remote, which may hold a password."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    remote = f"https://me:{CANARY}@example.org/x"
    subprocess.run(["git", "-C", str(tmp_path), "remote", "add", "origin", remote], check=True)
    (tmp_path / "openlineage.yml").write_text("facets: {environment_variables: [TOKEN]}\n")
    monkeypatch.setenv("TOKEN", CANARY)
    monkeypatch.chdir(tmp_path)
    emit(run, "train", "COMPLETE", inputs=[TRAIN])
    assert CANARY not in run.file.read_text()
    assert str(tmp_path) not in run.file.read_text()


@pytest.fixture
def collector(monkeypatch):
    """A collector on this machine, and the events that it got."""
    got: list[tuple[str, str | None, str]] = []

    class Taker(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            got.append((self.path, self.headers.get("Authorization"), body))
            self.send_response(500 if "refused" in body else 201)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Taker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OPENLINEAGE_URL", f"http://127.0.0.1:{server.server_port}")
    yield got
    server.shutdown()
    server.server_close()


def test_a_collector_gets_the_events_without_the_hashes_of_private_files(run, collector, monkeypatch):
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "key")
    emit(run, "release", "COMPLETE", inputs=[TRAIN], outputs=[RELEASED])
    ((path, authorised, body),) = collector
    assert (path, authorised) == ("/api/v1/lineage", "Bearer key")
    assert "aa" * 32 not in body
    assert "bb" * 32 in body
    assert "aa" * 32 in run.file.read_text()


def test_a_collector_that_refuses_is_logged_and_stops_nothing(run, collector, caplog):
    with caplog.at_level(logging.WARNING, "parquetry"):
        emit(run, "refused", "START")
    assert "did not take an event" in caplog.text
    assert len(read_events(run.folder)) == 1


def test_a_collector_that_is_switched_off_gets_nothing(run, collector, monkeypatch):
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
    emit(run, "train", "START")
    assert collector == []
    assert len(read_events(run.folder)) == 1


def test_events_of_all_runs_are_read_in_the_order_of_their_times(tmp_path):
    for name, days in (("a", (3,)), ("b", (1, 2))):
        lines = [json.dumps({"eventTime": f"2024-01-0{day}T00:00:00+00:00", "n": day}) for day in days]
        (tmp_path / f"{name}.ndjson").write_text("\n".join(lines))
    assert [event["n"] for event in read_events(tmp_path)] == [1, 2, 3]


def test_where_no_run_was_there_are_no_events(tmp_path):
    assert read_events(tmp_path / "lineage") == []


def test_every_line_that_is_no_event_is_named(tmp_path):
    good = json.dumps({"eventTime": "2024-01-01T00:00:00+00:00"})
    (tmp_path / "a.ndjson").write_text(f'{good}\n{{"eventTime\n[]\n{{}}\n{good}\n')
    with pytest.raises(StateError) as refused:
        read_events(tmp_path)
    assert [fault.where.rpartition("line ")[2] for fault in refused.value.faults] == ["2", "3", "4"]


def test_importing_the_module_does_not_import_openlineage():
    code = "import sys, tasks.lineage; assert 'openlineage' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=True)
