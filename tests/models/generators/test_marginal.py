"""Independent columns: every column keeps its distribution, and no two of them know of each other."""

from __future__ import annotations

import numpy as np
import pytest

from models.generators.marginal import Marginal
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table

LEVEL = Column(name="level", kind=Kind.CATEGORICAL, dtype="string", levels=("a", "b", "unseen"))
NUMBER = Column(name="number", kind=Kind.INTEGER, dtype="int64", bounds=(0, 100))


def table(rows: int = 2000) -> Table:
    """``number`` is 10 where ``level`` is a, and 90 where it is b, which a quarter of the rows are."""
    level = (np.arange(rows) % 4 == 0).astype(np.float64)
    return Table.of([LEVEL, NUMBER], [level, 10 + 80 * level], rows)


def test_columns_keep_their_shares_and_lose_their_tie():
    drawn = Marginal(smoothing=0).fit(table(), Seed.of(1)).sample(4000, Seed.of(2))
    assert np.mean(drawn["level"] == 1) == pytest.approx(0.25, abs=0.03)
    assert np.mean(drawn["number"] == 90) == pytest.approx(0.25, abs=0.03)
    assert set(drawn["number"]) == {10, 90}
    assert np.corrcoef(drawn["level"], drawn["number"])[0, 1] == pytest.approx(0.0, abs=0.05)


def test_smoothing_gives_a_level_that_no_row_has_its_part_of_the_rows_on_top():
    drawn = Marginal(smoothing=1000).fit(table(2000), Seed.of(1)).sample(9000, Seed.of(2))
    assert np.mean(drawn["level"] == 2) == pytest.approx(1000 / 3 / 3000, abs=0.015)
    assert 2 not in Marginal(smoothing=0).fit(table(), Seed.of(1)).sample(4000, Seed.of(2))["level"]


def test_a_number_that_fewer_than_k_rows_have_is_not_told_from_its_neighbours():
    cells = np.repeat([40.0, 60.0, 61.0, 62.0], [50, 4, 3, 3])
    drawn = Marginal(k=10).fit(Table.of([NUMBER], [cells], 60), Seed.of(1)).sample(6000, Seed.of(2))["number"]
    assert np.mean(drawn == 40) == pytest.approx(5 / 6, abs=0.02)
    assert [np.mean(drawn == value) for value in (60, 61, 62)] == pytest.approx([1 / 18] * 3, abs=0.015)
