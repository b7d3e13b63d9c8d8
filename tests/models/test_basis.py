"""A basis: columns of any kind as features, missing cells among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from models.basis import MOST_FEATURES, MOST_LEVELS, Basis, bases
from models.schema import Column, Kind
from models.table import Table

NAN = np.nan


def number(name: str = "a") -> Column:
    return Column(name=name, kind=Kind.CONTINUOUS, dtype="double", nullable=True, bounds=(-1e9, 1e9))


def levels(name: str = "a", ordered: bool = False) -> Column:
    listed = tuple(range(1000))
    return Column(name=name, kind=Kind.CATEGORICAL, dtype="string", nullable=True, levels=listed, ordered=ordered)


def alone(column: Column, cells: Any) -> Table:
    return Table.of([column], [np.asarray(cells, dtype=np.float64)], len(cells))


def width(column: Column, cells: Any, detail: Any = "steps") -> int:
    return len(Basis.of(alone(column, cells), detail).owner)


def test_a_number_has_a_value_a_score_a_bend_and_steps():
    assert width(number(), np.arange(100.0)) == 3 + 7
    assert width(number(), np.arange(100.0), "curves") == 3
    assert width(number(), np.arange(100.0), "lines") == 1


def test_features_of_the_cells_they_were_made_of_are_centred():
    table = alone(number(), np.random.default_rng(1).lognormal(size=500))
    assert np.abs(Basis.of(table, "steps").features(table).mean(axis=0)).max() < 1e-5


def test_a_level_has_a_feature_unless_fewer_than_five_rows_share_it():
    assert width(levels(), [0.0] * 10 + [1.0] * 10) == 1
    assert width(levels(), [0.0] * 10 + [1.0] * 10 + [2.0] * 10) == 2
    assert width(levels(), [0.0] * 10 + [1.0] * 10 + [2.0] * 4) == 2
    assert width(levels(), np.repeat(np.arange(40.0), 10)) == MOST_LEVELS


def test_an_ordered_level_is_looked_at_as_a_number():
    assert width(levels(ordered=True), np.repeat(np.arange(40.0), 10)) == 3 + 7


def test_being_missing_has_a_feature():
    assert width(number(), [*range(50), NAN, NAN], "lines") == 2
    assert width(levels(), [0.0] * 10 + [NAN] * 10) == 2


def test_missing_cells_and_unheard_of_ones_give_finite_features():
    for column in (number(), levels()):
        basis = Basis.of(alone(column, [*np.repeat([0.0, 1.0, 2.0], 10), NAN]), "steps")
        assert np.isfinite(basis.features(alone(column, [NAN, -1e9, 1e9, 7.0]))).all()


@pytest.mark.parametrize("cells", [np.ones(30), np.full(30, NAN), np.empty(0)])
@pytest.mark.parametrize("column", [number(), levels()])
def test_where_nothing_varies_there_is_no_feature(column: Column, cells: Any):
    table = alone(column, cells)
    assert Basis.of(table, "steps").features(table).shape == (len(cells), 0)


def test_a_rare_level_weighs_less_than_a_common_one():
    table = alone(levels(), [0.0] * 500 + [1.0] * 494 + [2.0] * 6)
    spread = Basis.of(table, "steps").features(table).std(axis=0)
    assert np.allclose(spread, [1.0, spread[1]], atol=1e-3)
    assert 0.1 < spread[1] < 0.9


def test_each_feature_knows_its_column():
    table = Table.of([number("a"), levels("b")], [np.arange(60.0), np.arange(60.0) % 3], 60)
    assert Basis.of(table, "curves").owner.tolist() == [0, 0, 0, 1, 1]


def test_many_columns_are_described_in_less_detail():
    def parts(columns: int) -> list[Table]:
        return [Table.of([number(f"{p}{j}") for j in range(columns)], [np.arange(60.0)] * columns, 60) for p in "ab"]

    assert sum(len(basis.owner) for basis in bases(parts(12))) == MOST_FEATURES
    assert sum(len(basis.owner) for basis in bases(parts(13))) == 2 * 13 * 3
    assert sum(len(basis.owner) for basis in bases(parts(200))) == 2 * 200
