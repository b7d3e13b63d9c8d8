"""Strata follow the levels of a column in the schema's order; small ones go to the most alike."""

import numpy as np
import pytest

from models.partitioners.strata import Strata
from models.randomness import Seed
from models.schema import Column, Schema
from models.table import Table

SEX = Column(name="sex", kind="categorical", dtype="string", levels=("f", "m", "x"), nullable=True)
SMOKER = Column(name="smoker", kind="boolean", dtype="bool")
AGE = Column(name="age", kind="integer", dtype="int64", bounds=(0, 120))
NAME = Column(name="name", kind="identifier", role="identifier", dtype="string")
HIDDEN = Column(name="hidden", kind="boolean", dtype="bool", include=False)
SCHEMA = Schema(columns=(NAME, SEX, SMOKER, AGE, HIDDEN))


def people(*sexes):
    """100 people of each sex given, one in four of whom smokes; people of one sex are of one age."""
    codes = np.repeat(np.array([np.nan if sex is None else "fmx".index(sex) for sex in sexes]), 100)
    age = np.repeat([{"f": 30, "m": 60, "x": 61, None: 20}[sex] for sex in sexes], 100)
    return Table.of([SEX, SMOKER, AGE], [codes, np.arange(len(codes)) % 4 == 0, age], len(codes))


def test_strata_come_in_the_order_of_the_levels_and_missing_cells_last():
    found = Strata(column="sex").partition(people(None, "m", "f"), Seed.of(1))
    assert [cluster.what for cluster in found.told.clusters] == ["sex: f", "sex: m", "sex: missing"]
    assert found.rows[[0, 100, 200]].tolist() == [2, 1, 0]


def test_a_boolean_divides_too():
    found = Strata(column="smoker").partition(people("f", "m"), Seed.of(1))
    assert [(cluster.what, cluster.share) for cluster in found.told.clusters] == [
        ("smoker: False", 0.75), ("smoker: True", 0.25),
    ]  # fmt: skip


def test_a_small_stratum_goes_to_the_most_alike():
    table = people("f", "m", "x").take(slice(0, 220))
    found = Strata(column="sex").partition(table, Seed.of(1))
    assert [cluster.what for cluster in found.told.clusters] == ["sex: f", "sex: m, x"]
    assert found.sizes == (100, 120)


def test_other_rows_belong_to_their_level_and_an_unseen_one_to_the_largest_stratum():
    table = people("f", "m", "m")
    strata = Strata(column="sex")
    place = strata.placing(table, strata.partition(table, Seed.of(1)))
    assert place(people("m", "x", None, "f"))[::100].tolist() == [1, 1, 1, 0]


def test_many_levels_of_a_stratum_are_counted_not_named():
    many = Column(name="sex", kind="categorical", dtype="string", levels=tuple(f"level-{n}" for n in range(40)))
    table = Table.of([many], [np.arange(400.0) % 40], 400)
    (cluster,) = Strata(column="sex").partition(table, Seed.of(1)).told.clusters
    assert cluster.what.endswith("level-7 and 32 more")


@pytest.mark.parametrize(("column", "where", "found"), [
    ("sox", "partition.column", "unknown column 'sox'"),
    ("age", "age", "kind integer has no levels to divide by"),
    ("name", "name", "kind identifier has no levels to divide by"),
    ("hidden", "hidden", "is not modelled"),
])  # fmt: skip
def test_a_column_that_cannot_divide_is_refused_before_rows_are_read(column, where, found):
    (fault,) = Strata(column=column).faults(SCHEMA)
    assert (fault.where, fault.found) == (where, found)
    assert "sex" in fault.remedy
    assert Strata(column="sex").faults(SCHEMA) == []


def test_without_a_column_of_levels_columns_must_be_divided():
    (fault,) = Strata(column="age").faults(Schema(columns=(AGE,)))
    assert fault.remedy == "the schema has no column with levels: divide columns"
