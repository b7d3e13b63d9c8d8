"""Row i beside row i of parts in random order."""

from __future__ import annotations

import numpy as np

from models.joins.shuffled import Shuffled
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table


def counting(name: str, rows: int) -> Table:
    column = Column(name=name, kind=Kind.INTEGER, dtype="int64", bounds=(0, 9999))
    return Table.of([column], [np.arange(float(rows))], rows)


def test_the_rows_of_each_part_are_kept_exactly():
    parts = [counting("a", 200), counting("b", 200)]
    found = Shuffled().fit(parts, Seed.of(1)).join(lambda round, n: parts, 200, Seed.of(2))
    assert sorted(found.table["a"]) == sorted(found.table["b"]) == list(range(200))
    assert found.shortfall == 0


def test_parts_that_were_drawn_in_the_same_order_become_independent():
    parts = [counting("a", 2000), counting("b", 2000)]
    found = Shuffled().fit(parts, Seed.of(1)).join(lambda round, n: parts, 2000, Seed.of(2)).table
    assert abs(np.corrcoef(found["a"], found["b"])[0, 1]) < 0.1
    assert not np.array_equal(found["a"], np.arange(2000))


def test_generators_that_draw_too_little_leave_a_shortfall():
    parts = [counting("a", 4), counting("b", 4)]
    assert Shuffled().fit(parts, Seed.of(1)).join(lambda round, n: parts, 10, Seed.of(2)).shortfall == 6
