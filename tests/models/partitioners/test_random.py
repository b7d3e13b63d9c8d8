"""Columns dealt at random."""

from __future__ import annotations

import numpy as np

from models.partitioners.random_ import Random
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table


def test_another_seed_deals_other_parts():
    columns = [Column(name=f"c{j}", kind=Kind.INTEGER, dtype="int64", bounds=(0, 1)) for j in range(20)]
    table = Table.of(columns, [np.arange(6.0) % 2] * 20, 6)
    dealt = {Random(parts=2).partition(table, Seed.of(number)).parts for number in range(5)}
    assert len(dealt) == 5


def test_the_rows_have_no_say():
    columns = [Column(name=f"c{j}", kind=Kind.CONTINUOUS, dtype="double", bounds=(-9, 9)) for j in range(9)]
    rows = np.random.default_rng(1).normal(size=(9, 50))
    one, other = Table.of(columns, list(rows), 50), Table.of(columns, list(rows[::-1] ** 3), 50)
    assert Random(parts=3).partition(one, Seed.of(1)).parts == Random(parts=3).partition(other, Seed.of(1)).parts
