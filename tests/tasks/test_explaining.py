"""Columns and releases say where they came from, from manifests and lineage events alone."""

import shutil
from pathlib import Path

import pytest
from small_world import SCHEMA, write_workspace

from models.errors import SpecError, TamperedError
from tasks.explaining import explain, made
from tasks.spec import load
from tasks.stages import STAGES
from tasks.synthesis import read_partition
from tasks.yaml_files import yaml_text


def test_a_column_tells_what_it_is_what_learned_it_and_together_with_which_others(finished):
    assert explain("income", finished.path) == {
        "column": "income", "kind": "continuous", "role": "sensitive", "type": "double",
        "what happens to it": "drawn by a generator, missing values included",
        "learned by": "marginal, in part 'money', together with age", "newest release": "people@v1",
    }  # fmt: skip


def test_a_column_that_is_made_anew_was_learned_by_nothing(finished):
    said = explain("person", finished.path)
    assert said["what happens to it"] == "made anew: no value of the source is used"
    assert "learned by" not in said


def test_before_the_first_release_a_column_is_told_from_the_schema(tmp_path):
    assert explain("age", write_workspace(tmp_path))["released"] == "not yet"


def test_a_column_may_have_the_sign_of_a_release_in_its_name(tmp_path):
    schema = {"columns": [*SCHEMA["columns"], {"name": "e@v1", "kind": "text", "dtype": "string", "include": False}]}
    said = explain("e@v1", write_workspace(tmp_path, schema=schema))
    assert said["what happens to it"] == "left out of the release"


def test_a_release_tells_source_parts_join_audit_code_seed_and_run(finished):
    said = explain("people@v1", finished.path)
    assert said["release"] == "people@v1"
    assert said["rows"] == "420 from 420 training rows; 180 held out"
    assert said["source"].startswith("parquet, 600 rows; version committed to as ")
    assert said["parts"] == "money (marginal): age, income\nhabits (marginal): sex, smoker, visit"
    assert said["join"] == "shuffled: 420 of 420 proposed rows"
    assert said["audit"].startswith("pass: All ")
    assert said["seed"] == f"committed to as {finished.workspace.seed().commitment()[:16]}…"
    assert [file.stem for file in finished.workspace.lineage.glob("*.ndjson")] == [said["run"]]
    assert said["published"].startswith("20")


def test_a_releases_folder_says_the_same_as_its_name_from_wherever_one_stands(finished, monkeypatch):
    folder = finished.workspace.released / "people" / "v1"
    monkeypatch.chdir(folder.parent)
    assert explain(str(folder), finished.path) == explain("v1", finished.path) == explain("people@v1", finished.path)


def test_a_release_that_was_handed_on_tells_all_but_its_run(finished, tmp_path):
    shutil.copytree(finished.workspace.released / "people" / "v1", tmp_path / "handed" / "on")
    said = explain(str(tmp_path / "handed" / "on"), tmp_path / "no spec needed")
    assert said["release"] == "people@v1"
    assert not {"run", "published"} & set(said)


def test_every_stage_tells_what_it_made_and_where_it_lies(finished):
    said = {stage.name: made(stage.name, finished) for stage in STAGES}
    workspace = finished.workspace
    assert said["ingest"] == [
        ("Training rows", f"420 in {workspace.train}"), ("Held-out rows", f"180 in {workspace.holdout}"),
    ]  # fmt: skip
    assert said["partition"][0] == ("money", "age, income")
    assert said["train"][1] == ("habits", f"marginal in {workspace.sampler('habits')}")
    assert said["join"] == [("Synthetic rows", f"420 in {workspace.synthetic}; not audited yet")]
    assert said["audit"][0][1].startswith("pass All ")
    folder = workspace.released / "people" / "v1"
    assert said["release"] == [
        ("Release", f"people@v1 in {folder}"), ("Synthetic table", str(folder / "synthetic.parquet")),
        ("Report", str(folder / "audit.html")),
    ]  # fmt: skip
    for _, told in said["release"] + said["audit"][1:] + said["partition"][2:]:
        assert Path(told.rpartition(" ")[2]).exists()


def test_what_is_neither_is_refused_with_the_nearest_name(finished, tmp_path):
    with pytest.raises(SpecError, match=r"incom: neither a column nor a release .did you mean 'income'"):
        explain("incom", finished.path)
    with pytest.raises(SpecError, match=r"people@v7: no such release .did you mean 'people@v1'"):
        explain("people@v7", finished.path)
    with pytest.raises(SpecError, match=r"no such release .nothing was released yet"):
        explain("people@v1", write_workspace(tmp_path))


def test_a_broken_manifest_is_told_as_such(workspace):
    plan = load(workspace)
    (plan.workspace.released / "people" / "v1" / "manifest.json").write_text("{")
    for what in ("age", "people@v1"):
        with pytest.raises(TamperedError, match="is no manifest of format 1"):
            explain(what, plan.path)


def test_a_name_without_a_spec_is_refused(tmp_path):
    (tmp_path / "spec.yaml").write_text(yaml_text({"name": "x"}))
    with pytest.raises(SpecError):
        explain("age", tmp_path / "spec.yaml")


def test_clusters_of_rows_are_explained_by_column_by_release_and_by_stage(clustered):
    learned = explain("income", clustered.path)["learned by"]
    assert learned == "marginal and copula, in 2 clusters of rows, together with age, sex, smoker, visit"
    said = explain("people@v1", clustered.path)
    shares = [cluster.share for cluster in read_partition(clustered).told.clusters]
    rows = [f"about {100 * share:.0f} % of the rows; sex: {sex}" for share, sex in zip(shares, "fm", strict=True)]
    assert said["clusters"] == f"cluster-1 (marginal): {rows[0]}\ncluster-2 (copula): {rows[1]}"
    assert "parts" not in said
    assert made("partition", clustered)[:2] == [("cluster-1", rows[0]), ("cluster-2", rows[1])]
    assert made("train", clustered)[1] == ("cluster-2", f"copula in {clustered.workspace.sampler('cluster-2')}")
