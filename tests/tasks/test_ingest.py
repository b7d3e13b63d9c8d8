"""Rows are read as one state of the source, split by person, and stripped of what says who it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pytest

from models.errors import ContractError, SourceError
from models.randomness import Seed
from models.schema import Column, Schema
from tasks.ingest import fetch, ingest, split, strip
from tasks.sources import Source, Version
from tasks.sources.csv_ import Csv
from tasks.step import Job, job_for
from tasks.store import read_table

SCHEMA = Schema(
    columns=(
        Column(name="person", kind="identifier", role="identifier", dtype="string"),
        Column(name="value", kind="integer", dtype="int64", bounds=(0, 100_000)),
        Column(name="note", kind="text", dtype="string", include=False),
        Column(name="site", kind="constant", dtype="string", levels=("north",)),
    )
)


def visits(rows: int, people: int) -> pa.Table:
    """Every person has every ``people``-th row; ``value`` is the number of the row."""
    return pa.table(
        {
            "person": [f"CANARY-{i % people}" for i in range(rows)],
            "value": list(range(rows)),
            "note": ["seen"] * rows,
            "site": ["north"] * rows,
        }
    )


def test_only_what_is_modelled_goes_on():
    assert strip(visits(3, 3), SCHEMA).column_names == ["value"]


def test_the_share_that_is_asked_for_is_held_out_and_no_row_is_lost():
    train, holdout = split(visits(100, 100), SCHEMA, 0.3, None, Seed.of(1))
    assert (len(train), len(holdout)) == (70, 30)
    assert sorted(train["value"].to_pylist() + holdout["value"].to_pylist()) == list(range(100))
    assert train["value"].to_pylist() == sorted(train["value"].to_pylist())


def test_the_rows_of_a_person_stay_together():
    train, holdout = split(visits(100, 10), SCHEMA, 0.3, "person", Seed.of(1))
    people = [{value % 10 for value in side["value"].to_pylist()} for side in (train, holdout)]
    assert people[0].isdisjoint(people[1])
    assert [len(side) for side in people] == [7, 3]


def test_rows_without_a_person_stand_for_themselves():
    table = visits(40, 1).set_column(0, "person", pa.nulls(40, pa.string()))
    assert [len(side) for side in split(table, SCHEMA, 0.5, "person", Seed.of(1))] == [20, 20]


@pytest.mark.parametrize("entity", [None, "person"])
def test_the_seed_decides_alone(entity):
    first, again, other = (
        split(visits(60, 20), SCHEMA, 0.3, entity, Seed.of(n))[1]["value"].to_pylist() for n in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.parametrize("entity", [None, "person"])
def test_most_people_stay_on_their_side_when_rows_are_added(entity):
    before = set(split(visits(1000, 1000), SCHEMA, 0.3, entity, Seed.of(1))[1]["value"].to_pylist())
    after = set(split(visits(1100, 1100), SCHEMA, 0.3, entity, Seed.of(1))[1]["value"].to_pylist())
    assert len(before & after) > 0.9 * len(before)


@pytest.mark.parametrize("holdout", [0.001, 0.999])
def test_both_sides_have_a_row_if_there_are_two(holdout):
    assert [len(side) for side in split(visits(2, 2), SCHEMA, holdout, None, Seed.of(1))] == [1, 1]
    assert [len(side) for side in split(visits(5, 2), SCHEMA, holdout, "person", Seed.of(1))] in ([2, 3], [3, 2])


def test_a_single_row_is_learned_from():
    assert [len(side) for side in split(visits(1, 1), SCHEMA, 0.3, None, Seed.of(1))] == [1, 0]


def test_persons_kept_as_numbers_or_in_a_dictionary_are_persons_too():
    table = visits(100, 10)
    plain = split(table, SCHEMA, 0.3, "person", Seed.of(1))[1]
    coded = table.set_column(0, "person", table["person"].dictionary_encode())
    numbered = table.set_column(0, "person", pa.array(np.arange(100) % 10))
    assert split(coded, SCHEMA, 0.3, "person", Seed.of(1))[1].equals(plain)
    assert len(split(numbered, SCHEMA, 0.3, "person", Seed.of(1))[1]) == 30


def test_a_column_of_persons_that_is_missing_is_told():
    with pytest.raises(ContractError, match="persons: the column that says whose row it is"):
        split(visits(3, 3), SCHEMA, 0.3, "persons", Seed.of(1))


def test_a_table_is_fetched_with_its_version(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    table, version = fetch(Csv(path=str(path)))
    assert (table.num_rows, version) == (1, Csv(path=str(path)).version())


class Restless(Source):
    """A source that somebody writes to while it is read."""

    kind: Literal["restless"] = "restless"
    path: Path

    def read(self) -> pa.Table:
        self.path.write_text(self.path.read_text() + "CANARY-7431\n")
        return pa.table({"a": ["CANARY-7431"]})

    def version(self) -> Version:
        return Version(kind="restless", token=str(self.path.stat().st_size))


def test_a_source_that_changes_while_it_is_read_is_refused(tmp_path, caplog):
    path = tmp_path / "x.csv"
    path.write_text("a\n")
    with pytest.raises(SourceError, match="it changed while it was read") as caught:
        fetch(Restless(path=path))
    assert caught.value.transient
    assert "CANARY" not in str(caught.value) + caplog.text


def test_a_source_without_rows_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n")
    with pytest.raises(SourceError, match="it has no row"):
        fetch(Csv(path=str(path)))


def job_of(folder: Path, rows: str) -> Job:
    """The job of a spec about ``people.csv``, whose content is ``rows``."""
    (folder / "people.csv").write_text("person,value\n" + rows)
    schema = {"columns": [column.model_dump(mode="json") for column in SCHEMA.columns[:2]]}
    (folder / "schema.yaml").write_text(json.dumps(schema))
    spec = {
        "name": "people",
        "source": {"kind": "csv", "path": "people.csv"},
        "schema": "schema.yaml",
        "partition": {"kind": "random", "parts": 1},
        "generator": "marginal",
        "join": "concatenation",
    }
    (folder / "spec.yaml").write_text(json.dumps(spec))
    return job_for(folder / "spec.yaml", one_by_one, uuid4())


def one_by_one(function, work, names):
    return [function(each) for each in work]


def test_the_stage_leaves_rows_without_persons_and_a_record(tmp_path):
    job = job_of(tmp_path, "".join(f"CANARY-{i},{i}\n" for i in range(10)))
    ingest(job)
    workspace = job.plan.workspace
    train, holdout = read_table(workspace.train), read_table(workspace.holdout)
    assert (train.column_names, len(train), len(holdout)) == (["value"], 7, 3)
    record = workspace.intake.read_text()
    assert (json.loads(record)["rows"], json.loads(record)["training_rows"]) == (10, 7)
    assert json.loads(record)["version"] == job.plan.source.version().token
    assert "CANARY" not in record


def test_a_table_that_breaks_its_contract_goes_no_further(tmp_path, caplog):
    job = job_of(tmp_path, "CANARY-7431,5\nCANARY-7431,777125\n")
    with pytest.raises(ContractError, match=r"value: .*1 cell outside the bounds") as caught:
        ingest(job)
    assert not job.plan.workspace.raw.exists()
    assert not any(value in str(caught.value) + caplog.text for value in ("CANARY", "777125"))
