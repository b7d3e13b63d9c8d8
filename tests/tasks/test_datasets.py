"""Lineage knows the files of a stage as tables with columns, as folders, and as published versions."""

from uuid import UUID

import pytest
from small_world import write_workspace

from tasks.datasets import found, run_of, source, source_name
from tasks.spec import load
from tasks.store import sha256_of


@pytest.fixture
def fresh(tmp_path):
    """The plan of a workspace in which nothing was done."""
    return load(write_workspace(tmp_path))


def test_a_run_is_called_after_the_data_set_and_kept_in_its_workspace(fresh):
    run = run_of(fresh, UUID(int=7))
    assert (run.namespace, run.source, run.folder) == ("people", "people.source", fresh.workspace.lineage)


def test_the_source_has_the_columns_of_the_schema_and_no_place_or_hash(fresh):
    told = source(fresh)
    assert told.name == source_name(fresh)
    assert told.path == "parquet"
    assert told.columns[0] == ("person", "string")
    assert len(told.columns) == 6
    assert told.sha256 is None


def test_the_tables_of_a_folder_are_told_one_by_one_with_rows_columns_and_hash(finished):
    holdout, train = found(finished, (finished.workspace.raw,))
    assert (holdout.name, train.name) == ("people.raw.holdout", "people.raw.train")
    assert (train.path, train.rows, train.private) == ("data/raw/train.parquet", 420, True)
    assert train.columns[0] == ("age", "int64")
    assert train.sha256 == sha256_of(finished.workspace.train)


def test_a_folder_or_file_without_tables_is_told_as_a_whole(finished):
    workspace = finished.workspace
    samplers, partition = found(finished, (workspace.samplers, workspace.partition))
    assert (samplers.name, samplers.columns) == ("people.interim.samplers", ())
    assert (partition.name, partition.path) == ("people.interim.partition", "data/interim/partition")


def test_what_is_released_is_the_newest_version_with_its_manifest_and_public(finished):
    (released,) = found(finished, (finished.workspace.released,))
    assert (released.name, released.path) == ("people@v1", "data/released/people/v1/synthetic.parquet")
    assert not released.private
    assert released.manifest.version == 1
    assert dict(released.columns)["visit"] == "date32[day]"


def test_what_was_not_made_is_not_told(fresh):
    assert found(fresh, (fresh.workspace.train, fresh.workspace.released)) == []
    fresh.workspace.released.mkdir(parents=True)
    assert found(fresh, (fresh.workspace.released,)) == []
