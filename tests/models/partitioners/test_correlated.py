"""Associated columns are separated."""

from __future__ import annotations

import numpy as np

from models.partitioners.correlated import Correlated
from models.partitioners.random_ import Random
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table


def groups(count: int, each: int, rows: int = 300) -> Table:
    """``count`` groups of ``each`` columns that follow one hidden number; ``g1-2`` is the third of the second."""
    random = np.random.default_rng(2)
    names = [f"g{group}-{member}" for group in range(count) for member in range(each)]
    hidden = np.repeat(random.normal(size=(count, rows)), each, axis=0)
    cells = hidden + 0.4 * random.normal(size=hidden.shape)
    columns = [Column(name=name, kind=Kind.CONTINUOUS, dtype="double", bounds=(-99, 99)) for name in names]
    return Table.of(columns, list(cells), rows)


def test_the_two_columns_of_every_pair_stand_in_different_parts():
    for part in Correlated(parts=2).partition(groups(4, 2), Seed.of(1)).parts:
        assert len({name.split("-")[0] for name in part.columns}) == 4


def test_with_three_parts_every_group_of_three_is_spread_over_all():
    for part in Correlated(parts=3).partition(groups(3, 3), Seed.of(1)).parts:
        assert len({name.split("-")[0] for name in part.columns}) == 3


def test_a_number_and_the_levels_cut_from_it_are_separated():
    random = np.random.default_rng(3)
    value, other = random.normal(size=(2, 200))
    level = Column(name="level", kind=Kind.CATEGORICAL, dtype="string", levels=("low", "high", "middle"))
    cut = np.where(np.abs(value) < 0.5, 2.0, (value > 0) * 1.0)
    numbers = [Column(name=name, kind=Kind.CONTINUOUS, dtype="double", bounds=(-9, 9)) for name in ("value", "other")]
    table = Table.of([*numbers, level], [value, other, cut], 200)
    parts = Correlated(parts=2).partition(table, Seed.of(1)).parts
    assert not any({"value", "level"} <= set(part.columns) for part in parts)


def test_more_is_left_between_parts_than_a_random_deal_leaves():
    table = groups(4, 3)
    ratio = Correlated(parts=2).partition(table, Seed.of(1)).ratio
    dealt = [Random(parts=2).partition(table, Seed.of(number)).ratio for number in range(10)]
    assert ratio is not None
    assert ratio >= max(found or 0.0 for found in dealt)
