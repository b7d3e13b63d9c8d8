"""Whether rows form groups."""

from __future__ import annotations

import numpy as np
import pytest

from models.hydra import grouping
from models.hydra.grouping import grouped, left
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Floats, Table

SEED = Seed.of(1)
ROWS = 600
GROUP = np.arange(ROWS) % 3


def numbers(values: Floats) -> Table:
    columns = [Column(name=f"x{j}", kind=Kind.CONTINUOUS, dtype="double", bounds=(-99, 99)) for j in range(len(values))]
    return Table.of(columns, list(values), values.shape[1])


def of_groups() -> Table:
    """Three of 200 rows each, apart in two numbers, and a level that goes with them."""
    rng = Seed.of(2).generator()
    level = Column(name="l", kind=Kind.CATEGORICAL, dtype="int64", levels=(0, 1, 2))
    known = numbers(np.array([30.0 * (GROUP == 1), 30.0 * (GROUP == 2)]) + rng.normal(size=(2, ROWS)))
    return Table.of([*known.columns, level], [*known.values.T, GROUP], ROWS)


def test_groups_that_lie_apart_are_found():
    labels = grouped(of_groups(), SEED)
    assert [len(np.unique(labels[group == GROUP])) for group in range(3)] == [1, 1, 1]
    assert len(np.unique(labels)) == 3


@pytest.mark.parametrize("tie", [0.0, 0.95])
def test_rows_of_one_crowd_are_not_divided_however_their_columns_hang_together(tie: float):
    rng = Seed.of(3).generator()
    shared, own = rng.normal(size=ROWS), rng.normal(size=(4, ROWS))
    assert not grouped(numbers(tie * shared + (1 - tie**2) ** 0.5 * own), SEED).any()


def test_the_levels_of_one_column_are_no_groups():
    level = Column(name="l", kind=Kind.CATEGORICAL, dtype="int64", levels=(0, 1))
    assert not grouped(Table.of([level], [np.arange(200) % 2], 200), SEED).any()


def test_some_of_the_rows_decide_about_all(monkeypatch: pytest.MonkeyPatch):
    whole = grouped(of_groups(), SEED)
    monkeypatch.setattr(grouping, "LOOKED_AT", 150)
    assert np.array_equal(grouped(of_groups(), SEED), whole)


def test_rows_that_are_all_the_same_are_one_group():
    assert len(np.unique(grouped(numbers(np.ones((2, 50))), SEED))) == 1


def test_what_clusters_leave_of_the_variance():
    assert left(numbers(np.array([[0.0, 2.0, 10.0, 12.0]])), np.array([0, 0, 1, 1])) == pytest.approx(4 / 104)
    assert left(numbers(np.array([[0.0, 2.0, 10.0, 12.0]])), np.zeros(4, dtype=np.int64)) == pytest.approx(1.0)
