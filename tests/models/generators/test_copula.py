"""The copula: own distributions, and whatever rises and falls together does so again."""

from __future__ import annotations

import numpy as np
import pytest

from models.generators.copula import Copula
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Floats, Table

ROWS = 3000
NAN = np.nan


def number(name: str, nullable: bool = False) -> Column:
    return Column(name=name, kind=Kind.CONTINUOUS, dtype="double", bounds=(-50, 50), decimals=1, nullable=nullable)


def levelled(name: str, count: int, ordered: bool = False) -> Column:
    return Column(name=name, kind=Kind.CATEGORICAL, dtype="int64", levels=tuple(range(count)), ordered=ordered)


def redrawn(columns: list[Column], cells: list[Floats], rows: int = ROWS) -> Table:
    return Copula().fit(Table.of(columns, cells, len(cells[0])), Seed.of(1)).sample(rows, Seed.of(2))


def normal(number: int = 1) -> Floats:
    return Seed.of(number).generator().normal(size=ROWS)


def test_numbers_keep_their_correlation():
    x = normal(1)
    drawn = redrawn([number("x"), number("y")], [x * 10, 5 * (0.8 * x + 0.6 * normal(2))])
    assert np.corrcoef(drawn["x"], drawn["y"])[0, 1] == pytest.approx(0.8, abs=0.04)


def test_two_booleans_keep_theirs_although_scores_of_two_values_hardly_vary():
    columns = [Column(name=name, kind=Kind.BOOLEAN, dtype="bool") for name in "ab"]
    x = normal(1)
    cells = [x > 1.0, 0.8 * x + 0.6 * normal(2) > 1.0]
    drawn = redrawn(columns, [cell.astype(np.float64) for cell in cells])
    real, made = np.corrcoef(cells), np.corrcoef(drawn["a"], drawn["b"])
    assert made[0, 1] == pytest.approx(real[0, 1], abs=0.06)


def test_levels_without_order_get_the_one_in_which_a_number_follows_them():
    height = np.array([3.0, -1.0, 9.0, -7.0, 5.0])
    level = Seed.of(3).generator().integers(0, 5, ROWS)
    drawn = redrawn([levelled("level", 5), number("x")], [level, height[level] + normal() / 2])
    means = [drawn["x"][drawn["level"] == each].mean() for each in range(5)]
    assert np.argsort(means).tolist() == np.argsort(height).tolist()
    assert means == pytest.approx(height.tolist(), abs=1.5)


def test_ordered_levels_keep_their_order():
    level = Seed.of(3).generator().integers(0, 3, ROWS)
    table = Table.of([levelled("l", 3, ordered=True), number("x")], [level, -level], ROWS)
    assert Copula().fit(table, Seed.of(1)).margins[0].order.tolist() == [0, 1, 2]


def test_missingness_follows_another_column_and_the_value_does_not_follow_missingness():
    x, y = normal(1), normal(2)
    holed = np.where(x + normal(3) / 2 > 1, NAN, y * 10)
    drawn = redrawn([number("x"), number("y", nullable=True)], [x, holed])
    missing = np.isnan(drawn["y"])
    assert missing.mean() == pytest.approx(np.isnan(holed).mean(), abs=0.03)
    assert drawn["x"][missing].mean() == pytest.approx(x[np.isnan(holed)].mean(), abs=0.15)


def test_levels_that_no_row_has_are_not_drawn():
    drawn = redrawn([levelled("l", 9), number("x")], [np.arange(ROWS) % 2 * 4.0, normal()])
    assert set(drawn["l"]) == {0.0, 4.0}


def test_the_width_is_the_number_of_latents():
    assert Copula().width((number("x"), number("y", nullable=True), levelled("l", 5000))) == 4


def test_two_booleans_keep_their_correlation_where_one_is_given_and_another_stands_between_them():
    """A given boolean tells of its latent no more than the sign: where it lies is drawn given the other columns."""
    columns = [Column(name=name, kind=Kind.BOOLEAN, dtype="bool") for name in "abc"]
    x = normal(1)
    cells = [(0.9 * x + 0.45 * normal(j) > 0.5).astype(np.float64) for j in (2, 3, 4)]
    table = Table.of(columns, cells, ROWS)
    given = table.select(["a", "b"])
    drawn = Copula().fit_given(table.select(["c"]), given, Seed.of(1)).sample_given(given, Seed.of(2))
    for name in "ab":
        real, made = (np.corrcoef(table[name], each)[0, 1] for each in (table["c"], drawn["c"]))
        assert made == pytest.approx(real, abs=0.06)
