"""Parts beside one another: of equal length, each in an order of its own."""

from __future__ import annotations

import numpy as np
import pytest

from models.errors import SynthesisError
from models.pairing import aligned, orders, shuffled
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table


def part(rows: int, name: str = "a") -> Table:
    column = Column(name=name, kind=Kind.INTEGER, dtype="int64", bounds=(0, 9999))
    return Table.of([column], [np.arange(float(rows))], rows)


def test_parts_of_equal_length_have_that_many_rows():
    assert aligned([part(3), part(3, "b")]) == 3


def test_parts_of_different_length_are_refused_with_their_counts():
    with pytest.raises(SynthesisError, match="part 1 has 3, part 2 has 1,200"):
        aligned([part(3), part(1200, "b")])


def test_no_part_is_refused():
    with pytest.raises(SynthesisError, match="no part"):
        aligned([])


def test_every_part_has_an_order_of_its_own():
    first, second = orders(50, 2, Seed.of(1))
    assert sorted(first) == sorted(second) == list(range(50))
    assert list(first) != list(second)


def test_shuffling_keeps_the_rows_of_each_part():
    a, b = shuffled([part(50), part(50, "b")], Seed.of(1))
    assert sorted(a["a"]) == sorted(b["b"]) == list(range(50))
    assert list(a["a"]) != list(b["b"])
