"""The conditional join asks of later parts that they are drawn given earlier ones, and leaves rows as they are."""

from __future__ import annotations

import numpy as np

from models.joins.conditional import SEEN, Conditional
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table


def part(name: str, cells: list[float]) -> Table:
    column = Column(name=name, kind=Kind.INTEGER, dtype="int64", bounds=(0, 99))
    return Table.of([column], [np.array(cells)], len(cells))


PARTS = [part("a", [1, 2, 3]), part("b", [5, 6, 7]), part("c", [9, 8, 9])]


def test_each_part_is_drawn_given_all_parts_before_it():
    names = ("first", "second", "third")
    assert [Conditional().given(names, name) for name in names] == [(), ("first",), ("first", "second")]


def test_rows_stay_as_they_were_drawn_and_the_facts_tell_what_the_models_have_seen():
    found = Conditional().fit(PARTS, Seed.of(1)).join(lambda round, n: PARTS, 3, Seed.of(2))
    assert found.table.values.tolist() == [[1, 5, 9], [2, 6, 8], [3, 7, 9]]
    assert found.facts == {"models": SEEN}


def test_one_part_is_drawn_given_nothing_and_nothing_is_told():
    assert Conditional().given(("all",), "all") == ()
    assert Conditional().fit(PARTS[:1], Seed.of(1)).join(lambda round, n: PARTS[:1], 3, Seed.of(2)).facts == {}
