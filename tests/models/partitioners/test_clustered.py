"""Associated columns stay together."""

from __future__ import annotations

import numpy as np
import pytest

from models.partitioners.clustered import Clustered
from models.partitioners.random_ import Random
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table


def interleaved(count: int, each: int, rows: int = 300) -> Table:
    """Column j belongs to group j modulo ``count``; the columns of a group follow one hidden number."""
    random = np.random.default_rng(2)
    hidden = np.tile(random.normal(size=(count, rows)), (each, 1))
    cells = hidden + 0.4 * random.normal(size=hidden.shape)
    columns = [
        Column(name=f"g{j % count}-{j // count}", kind=Kind.CONTINUOUS, dtype="double", bounds=(-99, 99))
        for j in range(count * each)
    ]
    return Table.of(columns, list(cells), rows)


@pytest.mark.parametrize(("count", "each"), [(2, 3), (3, 4), (5, 6)])
def test_groups_of_equal_size_become_the_parts(count: int, each: int):
    parts = Clustered(parts=count).partition(interleaved(count, each), Seed.of(1)).parts
    assert [len({name.split("-")[0] for name in part.columns}) for part in parts] == [1] * count


def test_less_is_left_between_parts_than_a_random_deal_leaves():
    table = interleaved(3, 3)
    ratio = Clustered(parts=2).partition(table, Seed.of(1)).ratio
    dealt = [Random(parts=2).partition(table, Seed.of(number)).ratio for number in range(10)]
    assert ratio is not None
    assert ratio <= min(found or np.inf for found in dealt)
