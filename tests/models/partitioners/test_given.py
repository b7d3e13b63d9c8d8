"""Parts that a person has written down, and what can be wrong with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from models.errors import SpecError
from models.partitioners import catalog
from models.partitioners.given import Given
from models.randomness import Seed
from models.schema import Column, Kind, Schema
from models.table import Table

AGE = Column(name="age", kind=Kind.INTEGER, dtype="int64", bounds=(0, 99))
SEX = Column(name="sex", kind=Kind.CATEGORICAL, dtype="string", levels=("f", "m"))
WEIGHT = Column(name="weight", kind=Kind.CONTINUOUS, dtype="double", bounds=(0, 300))
KEY = Column(name="key", kind=Kind.IDENTIFIER, dtype="string")
SCHEMA = Schema(columns=(KEY, AGE, SEX, WEIGHT))


def given(**parts: list[str]) -> Any:
    return catalog.build({"kind": "given", "parts": parts})


def told(**parts: list[str]) -> str:
    return "\n".join(str(fault) for fault in given(**parts).faults(SCHEMA))


def test_the_parts_are_taken_as_they_are_written():
    table = Table.of([AGE, SEX, WEIGHT], [np.arange(8.0), np.arange(8.0) % 2, np.arange(8.0)], 8)
    found = given(body=["weight", "age"], person=["sex"]).partition(table, Seed.of(1))
    assert [(part.name, part.columns) for part in found.parts] == [("body", ("weight", "age")), ("person", ("sex",))]


def test_the_columns_of_a_part_are_known_before_rows_are_read_but_for_those_that_there_are_not():
    parts = given(body=["weight", "wieght", "age"], person=["sex", "key"])
    assert parts.columns_of("body", SCHEMA) == (AGE, WEIGHT)
    assert parts.columns_of("person", SCHEMA) == (SEX,)


def test_right_parts_have_no_fault():
    assert given(body=["weight", "age"], person=["sex"]).faults(SCHEMA) == []


def test_all_faults_are_told_at_once():
    faults = told(body=["weigth", "age"], person=["age", "key"], empty=[])
    assert "did you mean 'weight'" in faults
    assert "age: stands in the parts 2 times" in faults
    assert "column 'key' is not modelled" in faults
    assert "part 'empty': has no column" in faults
    assert "sex: stands in no part" in faults
    assert "weight: stands in no part" in faults


def test_no_part_is_a_fault():
    assert "no part is given" in told()


def test_the_faults_are_raised_when_rows_come_without_a_check():
    table = Table.of([AGE, SEX], [np.arange(8.0), np.arange(8.0) % 2], 8)
    with pytest.raises(SpecError, match="sex: stands in no part"):
        Given(parts={"one": ("age",)}).partition(table, Seed.of(1))


@pytest.mark.parametrize("name", ["", "../up", "a/b", "a b", "-a"])
def test_a_part_that_could_not_name_a_file_is_refused(name: str):
    with pytest.raises(SpecError):
        catalog.build({"kind": "given", "parts": {name: ["age"]}})
