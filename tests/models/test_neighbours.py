"""Nearest neighbours are exact, ties included, whatever the kinds of columns."""

import numpy as np
import pytest
from crowd import COLUMNS, cells, crowd

from models import neighbours
from models.neighbours import GRID, Space, credit, nearest
from models.schema import Column
from models.table import Table

NUMBER = Column(name="x", kind="integer", dtype="int64", bounds=(0, 100), nullable=True)
LEVEL = Column(name="l", kind="categorical", dtype="string", levels=("a", "b", "c"), nullable=True)


def plain_distances(queries, reference, *real):
    """Gower's sum cell by cell in units of the grid, numbers by their place among the distinct real values."""
    total = np.zeros((len(queries), len(reference)))
    for j, column in enumerate(queries.columns):
        one, other = queries.values[:, j][:, None], reference.values[:, j][None, :]
        gaps = np.isnan(one), np.isnan(other)
        if column.numeric:
            knots = np.unique(np.concatenate([table.values[:, j] for table in real]))
            knots = knots[~np.isnan(knots)]
            one, other = (np.rint(np.interp(side, knots, np.linspace(0, GRID, len(knots)))) for side in (one, other))
        apart = np.abs(one - other) if column.numeric else GRID * (one != other)
        total += np.where(gaps[0] & gaps[1], 0, np.where(gaps[0] | gaps[1], GRID, apart))
    return total


@pytest.mark.parametrize("cells_at_once", [1, 100, 2**18])
def test_distances_equal_those_of_brute_force_in_blocks_of_any_size(monkeypatch, cells_at_once):
    monkeypatch.setattr(neighbours, "CELLS", cells_at_once)
    train, holdout, drawn = crowd(60, 1), crowd(40, 2), crowd(50, 3)
    space = Space.of(train, holdout)
    found = nearest(space.place(drawn), space.place(train))
    plain = plain_distances(drawn, train, train, holdout)
    assert (found.distances * GRID).tolist() == plain.min(axis=1).tolist()
    assert plain[np.arange(50), found.rows].tolist() == plain.min(axis=1).tolist()


def test_equal_rows_are_at_distance_zero_and_the_order_of_rows_does_not_matter():
    train = crowd(80, 1)
    space = Space.of(train)
    backwards = train.take(np.arange(80)[::-1])
    assert nearest(space.place(train), space.place(backwards)).distances.tolist() == [0.0] * 80


def test_a_missing_cell_is_at_one_from_a_present_one_and_at_zero_from_a_missing_one():
    real = Table((NUMBER, LEVEL), np.array([[0.0, 0.0], [50.0, 1.0], [100.0, 2.0]]))
    gaps = Table((NUMBER, LEVEL), np.array([[np.nan, np.nan]]))
    space = Space.of(real)
    assert nearest(space.place(gaps), space.place(real)).distances.tolist() == [2.0]
    assert nearest(space.place(gaps), space.place(gaps)).distances.tolist() == [0.0]


def test_a_tail_does_not_shrink_the_differences_of_the_rest():
    real = Table((NUMBER,), np.array([[0.0], [1.0], [2.0], [100.0]]))
    space = Space.of(real)
    asked = Table((NUMBER,), np.array([[1.0]]))
    others = Table((NUMBER,), np.array([[0.0], [100.0]]))
    assert nearest(space.place(asked), space.place(others)).distances[0] == pytest.approx(1 / 3, abs=1e-4)


def test_a_query_gives_its_tied_nearest_rows_equal_credit():
    real = Table((NUMBER,), np.array([[0.0], [2.0], [2.0], [4.0]]))
    space = Space.of(real)
    asked = Table((NUMBER,), np.array([[0.0], [2.0], [3.0]]))
    assert credit(space.place(asked), space.place(real)) == pytest.approx([1, 1 / 2 + 1 / 3, 1 / 2 + 1 / 3, 1 / 3])


def test_credit_equals_counting_and_adds_up_to_the_number_of_queries():
    wanted = ["age", "region", "smoker"]
    train, drawn = crowd(70, 1).select(wanted), crowd(90, 2).select(wanted)
    space = Space.of(train)
    given = credit(space.place(drawn), space.place(train))
    plain = plain_distances(drawn, train, train)
    tied = plain == plain.min(axis=1, keepdims=True)
    assert tied.sum() > 90
    assert given == pytest.approx((tied / tied.sum(axis=1, keepdims=True)).sum(axis=0))
    assert given.sum() == pytest.approx(90)


def test_only_levels_or_only_numbers_or_nothing_but_gaps_can_be_compared():
    for wanted in (["region", "smoker"], ["age", "weight"]):
        table = crowd(30, 1).select(wanted)
        assert not nearest(Space.of(table).place(table), Space.of(table).place(table)).distances.any()
    empty = cells(crowd(5, 1), np.full((5, len(COLUMNS)), np.nan))
    assert not nearest(Space.of(empty).place(empty), Space.of(empty).place(empty)).distances.any()


def test_more_than_255_levelled_columns_do_not_overflow():
    many = tuple(Column(name=f"l{j}", kind="categorical", dtype="string", levels=("a", "b")) for j in range(300))
    zeros, ones = Table(many, np.zeros((1, 300))), Table(many, np.ones((1, 300)))
    space = Space.of(zeros)
    assert nearest(space.place(zeros), space.place(ones)).distances.tolist() == [300.0]


def test_no_query_has_no_answer():
    table = crowd(5, 1)
    space = Space.of(table)
    assert len(nearest(space.place(table.take(slice(0, 0))), space.place(table)).distances) == 0
