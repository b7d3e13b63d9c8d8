"""Nearest neighbours are exact, ties included, whatever the kinds of columns."""

from fractions import Fraction

import numpy as np
import pytest
from crowd import COLUMNS, cells, crowd
from hypothesis import given, settings
from hypothesis import strategies as st

from models import neighbours
from models.neighbours import GRID, Space, credit, nearest, ties
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
        knots = np.unique(np.concatenate([table.values[:, j] for table in real]))
        knots = knots[~np.isnan(knots)]
        if column.numeric and len(knots):
            one, other = (np.rint(np.interp(side, knots, np.linspace(0, GRID, len(knots)))) for side in (one, other))
        apart = np.abs(one - other) if column.numeric else GRID * (one != other)
        total += np.where(gaps[0] & gaps[1], 0, np.where(gaps[0] | gaps[1], GRID, apart))
    return total


def plain_credit(distances):
    """Counted in fractions, row by row and pair by pair."""
    given = [Fraction(0)] * distances.shape[1]
    for row in distances:
        tied = [j for j, distance in enumerate(row) if distance == row.min()]
        for j in tied:
            given[j] += Fraction(1, len(tied))
    return [float(share) for share in given]


def numbered(numbers, levels):
    """Columns x0, x1, ... of numbers and l0, l1, ... of levels."""
    return tuple(NUMBER.model_copy(update={"name": f"x{j}"}) for j in range(numbers)) + tuple(
        LEVEL.model_copy(update={"name": f"l{j}"}) for j in range(levels)
    )


@st.composite
def pairs_of_tables(draw):
    """Queries and reference of the same few columns, with so few values that rows repeat, tie and have gaps."""
    columns = numbered(draw(st.integers(0, 3)), draw(st.integers(0, 3)))
    cell = {True: st.sampled_from([np.nan, 0, 1, 2, 5, 9]), False: st.sampled_from([np.nan, 0, 1, 2])}
    row = st.tuples(*(cell[column.numeric] for column in columns))
    asked, known = draw(st.lists(row, max_size=12)), draw(st.lists(row, min_size=1, max_size=24))
    return tuple(
        Table(columns, np.array(rows, dtype=float).reshape(len(rows), len(columns))) for rows in (asked, known)
    )


CONSTANTS = {
    "as they are": {},
    "a tree of single rows": {"SMALLEST": 1, "LARGEST": 1},
    "cut where few rows say": {"SMALLEST": 1, "LARGEST": 2, "SAMPLE": 2},
    "halved as they lie": {"SMALLEST": 1, "LARGEST": 2, "SAMPLE": 1},
    "boxes that tell two kinds of levels apart": {"SMALLEST": 1, "LARGEST": 3, "CODES": 2},
    "few distances and few queries at once": {"SMALLEST": 2, "LARGEST": 4, "CELLS": 3, "WIDE": 2, "TOGETHER": 3},
    "one query at once": {"SMALLEST": 2, "LARGEST": 2, "VISITS": 1},
}


@pytest.mark.parametrize("constants", CONSTANTS.values(), ids=CONSTANTS)
@settings(max_examples=40, deadline=None)
@given(tables=pairs_of_tables())
def test_all_is_as_if_every_pair_were_compared(constants, tables):
    asked, known = tables
    plain = plain_distances(asked, known, known)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in constants.items():
            patch.setattr(neighbours, name, value)
        space = Space.of(known)
        found = nearest(space.place(asked), space.place(known))
        given = credit(space.place(asked), space.place(known))
        tied = ties(space.place(asked), space.place(known))
    assert (found.distances * GRID).tolist() == plain.min(axis=1).tolist()
    assert found.rows.tolist() == plain.argmin(axis=1).tolist()
    assert given.tolist() == pytest.approx(plain_credit(plain))
    for query, distances in enumerate(plain):
        rows = np.flatnonzero(distances == distances.min()).tolist()
        assert sorted(tied.rows(query)) == rows
        assert tied.counts[query] == len(rows)


@pytest.mark.parametrize("names", [None, ["age", "weight", "income"], ["region", "smoker", "ill"], ["weight"]])
def test_all_is_so_for_thousands_of_people(names):
    train, holdout, drawn = (t.select(names or t.names) for t in (crowd(3000, 1), crowd(100, 2), crowd(400, 3)))
    space = Space.of(train, holdout)
    plain = plain_distances(drawn, train, train, holdout)
    found = nearest(space.place(drawn), space.place(train))
    assert (found.distances * GRID).tolist() == plain.min(axis=1).tolist()
    assert found.rows.tolist() == plain.argmin(axis=1).tolist()
    tied = plain == plain.min(axis=1, keepdims=True)
    given = credit(space.place(drawn), space.place(train))
    assert np.allclose(given, (tied / tied.sum(axis=1, keepdims=True)).sum(axis=0), rtol=1e-12, atol=0)


def test_few_pairs_of_people_are_compared(monkeypatch):
    compared = []

    def counting(one, other, gapped, apart=neighbours._apart):
        compared.append(len(one) * len(other))
        return apart(one, other, gapped)

    monkeypatch.setattr(neighbours, "_apart", counting)
    train, drawn = crowd(20_000, 1), crowd(500, 2)
    space = Space.of(train)
    nearest(space.place(drawn), space.place(train))
    assert sum(compared) < 0.1 * 500 * 20_000


def test_equal_rows_are_at_distance_zero_and_the_order_of_rows_does_not_matter():
    train = crowd(80, 1)
    space = Space.of(train)
    backwards = train.take(np.arange(80)[::-1])
    found = nearest(space.place(train), space.place(backwards))
    assert found.distances.tolist() == [0.0] * 80
    assert found.rows.tolist() == list(range(80))[::-1]


def test_of_several_nearest_rows_the_first_is_told():
    real = Table((NUMBER,), np.array([[9.0], [4.0], [2.0], [4.0], [2.0]]))
    asked = Table((NUMBER,), np.array([[2.0], [4.0], [3.0]]))
    space = Space.of(real)
    assert nearest(space.place(asked), space.place(real)).rows.tolist() == [2, 1, 1]


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


def test_credit_adds_up_to_the_number_of_queries_where_many_rows_tie():
    wanted = ["age", "region", "smoker"]
    train, drawn = crowd(70, 1).select(wanted), crowd(90, 2).select(wanted)
    space = Space.of(train)
    given = credit(space.place(drawn), space.place(train))
    plain = plain_distances(drawn, train, train)
    assert np.count_nonzero(plain == plain.min(axis=1, keepdims=True)) > 90
    assert given.sum() == pytest.approx(90)


def test_only_levels_or_only_numbers_or_nothing_but_gaps_can_be_compared():
    for wanted in (["region", "smoker"], ["age", "weight"]):
        table = crowd(30, 1).select(wanted)
        assert not nearest(Space.of(table).place(table), Space.of(table).place(table)).distances.any()
    empty = cells(crowd(5, 1), np.full((5, len(COLUMNS)), np.nan))
    assert not nearest(Space.of(empty).place(empty), Space.of(empty).place(empty)).distances.any()


def test_rows_without_columns_are_all_the_same():
    nothing = Table((), np.empty((3, 0)))
    space = Space.of(nothing)
    assert nearest(space.place(nothing), space.place(nothing)).rows.tolist() == [0, 0, 0]
    assert credit(space.place(nothing), space.place(nothing)).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("levels", [128, 129, 40_000])
def test_long_alphabets_keep_their_levels_apart(levels):
    column = LEVEL.model_copy(update={"levels": tuple(range(levels))})
    known = Table((column,), np.arange(0.0, levels, max(1, levels // 400))[:, None])
    space = Space.of(known)
    found = nearest(space.place(known), space.place(known))
    assert not found.distances.any()
    assert found.rows.tolist() == list(range(len(known)))
    last = Table((column,), np.array([[levels - 1.0], [np.nan]]))
    assert nearest(space.place(last), space.place(last)).rows.tolist() == [0, 1]


def test_more_than_255_levelled_columns_do_not_overflow():
    many = tuple(Column(name=f"l{j}", kind="categorical", dtype="string", levels=("a", "b")) for j in range(300))
    zeros, ones = Table(many, np.zeros((1, 300))), Table(many, np.ones((1, 300)))
    space = Space.of(zeros)
    assert nearest(space.place(zeros), space.place(ones)).distances.tolist() == [300.0]


def test_long_rows_that_differ_in_one_cell_are_told_apart():
    values = np.zeros((3, 70))
    values[1, 0], values[2] = 1, 1
    known = Table(numbered(0, 70), values)
    space = Space.of(known)
    found = nearest(space.place(known), space.place(known))
    assert not found.distances.any()
    assert found.rows.tolist() == [0, 1, 2]


def test_no_query_has_no_answer():
    table = crowd(5, 1)
    space = Space.of(table)
    nobody = space.place(table.take(slice(0, 0)))
    assert len(nearest(nobody, space.place(table)).distances) == 0
    assert credit(nobody, space.place(table)).tolist() == [0.0] * 5
