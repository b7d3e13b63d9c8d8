"""From blocks of columns to a partition that says what it means."""

from __future__ import annotations

import numpy as np
import pytest

from models import blocks
from models.errors import SpecError
from models.partition import Part
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table


def table(columns: int, rows: int = 8) -> Table:
    described = [Column(name=f"c{j}", kind=Kind.INTEGER, dtype="int64", bounds=(0, 9)) for j in range(columns)]
    cells = np.random.default_rng(1).integers(0, 9, (columns, rows)).astype(np.float64)
    return Table.of(described, list(cells), rows)


def test_sizes_differ_by_one_at_most():
    assert blocks.sizes(7, 3) == [3, 2, 2]
    assert blocks.sizes(4, 4) == [1, 1, 1, 1]


def test_parts_are_numbered_by_their_first_column_and_keep_table_order():
    found = blocks.numbered(table(4), [[3, 1], [2, 0]], np.eye(4), "some rule")
    assert found.parts == (Part(name="part-1", columns=("c0", "c2")), Part(name="part-2", columns=("c1", "c3")))


def test_more_parts_than_columns_is_a_fault_that_names_both_counts():
    with pytest.raises(SpecError, match=r"5 parts for 4 columns.*at most 4"):
        blocks.divisible(table(4), 5)
    assert blocks.too_many(4, 4) == []
    assert "0 columns" in str(blocks.too_many(1, 0)[0])


def test_the_reason_tells_how_much_a_join_has_to_recover():
    strong, weak = np.eye(4), np.eye(4)
    strong[0, 2] = strong[2, 0] = weak[0, 1] = weak[1, 0] = 0.8
    strong[0, 1] = strong[1, 0] = weak[0, 2] = weak[2, 0] = 0.2
    assert "4.00 times" in blocks.numbered(table(4), [[0, 1], [2, 3]], strong, "rule").reason
    assert "too little for a validator" in blocks.numbered(table(4), [[0, 1], [2, 3]], weak, "rule").reason
    assert "no ratio" in blocks.numbered(table(4), [[0], [1], [2], [3]], strong, "rule").reason


def test_one_part_has_no_ratio_and_says_that_the_table_is_undivided():
    found = blocks.numbered(table(4), [[0, 1, 2, 3]], np.ones((4, 4)), "rule")
    assert found.ratio is None
    assert "undivided" in found.reason


def test_associations_of_a_long_table_are_those_of_a_sample(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(blocks, "ROWS", 100)
    first, again, other = (blocks.sampled_association(table(2, rows=1000), Seed.of(number)) for number in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
