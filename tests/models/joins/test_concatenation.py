"""Row i beside row i."""

from __future__ import annotations

import numpy as np

from models.joins.concatenation import Concatenation
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table


def part(name: str, cells: list[float]) -> Table:
    column = Column(name=name, kind=Kind.INTEGER, dtype="int64", bounds=(0, 99))
    return Table.of([column], [np.array(cells)], len(cells))


PARTS = [part("a", [1, 2, 3, 4]), part("b", [5, 6, 7, 8])]


def test_rows_stand_beside_one_another_as_they_were_drawn():
    found = Concatenation().fit(PARTS, Seed.of(1)).join(lambda round, n: PARTS, 4, Seed.of(2))
    assert found.table.values.tolist() == [[1, 5], [2, 6], [3, 7], [4, 8]]
    assert (found.proposed, found.accepted, found.shortfall) == (4, 4, 0)


def test_generators_that_draw_too_little_leave_a_shortfall():
    found = Concatenation().fit(PARTS, Seed.of(1)).join(lambda round, n: PARTS, 10, Seed.of(2))
    assert (len(found.table), found.shortfall) == (4, 6)
