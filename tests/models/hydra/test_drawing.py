"""Which rows and conditions a step sees."""

from __future__ import annotations

import numpy as np
import pytest

from models.hydra.drawing import Rows, frequencies_of, natural_conditions
from models.hydra.encoding import Encoded, Encoding
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table

SEED = Seed.of(1)


def encoded(common: int, rare: int) -> Encoded:
    """One column of two levels, a constant one, and a number."""
    rows = common + rare
    columns = [
        Column(name="l", kind=Kind.CATEGORICAL, dtype="int64", levels=(0, 1)),
        Column(name="one", kind=Kind.CATEGORICAL, dtype="int64", levels=(0,)),
        Column(name="x", kind=Kind.CONTINUOUS, dtype="double", bounds=(0, 1)),
    ]
    level = np.repeat([0.0, 1.0], [common, rare])
    table = Table.of(columns, [level, np.zeros(rows), np.linspace(0, 1, rows)], rows)
    return Encoding.of(table, 10, SEED).encode(table, SEED)


def test_a_rare_level_is_seen_far_more_often_than_it_occurs():
    known = encoded(990, 10)
    rows, conditions = Rows(known, [np.arange(1000)]).draw(2000, SEED.generator())
    assert rows.shape == (1, 2000, 4)
    asked = conditions[0, :, :2].any(axis=1)
    assert asked.mean() == pytest.approx(0.5, abs=0.05)
    share = np.log(11) / (np.log(11) + np.log(991))
    assert rows[0, asked, 1].mean() == pytest.approx(share, abs=0.05)


def test_every_row_has_what_its_condition_asks_for():
    known = encoded(30, 10)
    rows, conditions = Rows(known, [np.arange(20), np.arange(20, 40)]).draw(50, SEED.generator())
    indicators = rows[:, :, known.layout.hot]
    assert (indicators * conditions).sum(axis=2).tolist() == np.ones((2, 50)).tolist()


def test_each_head_sees_its_own_rows_alone():
    known = encoded(20, 20)
    rows, _ = Rows(known, [np.arange(20), np.arange(20, 40)]).draw(50, SEED.generator())
    assert set(rows[0, :, 1]) == {0.0}
    assert set(rows[1, :, 1]) == {1.0}


def twins(rows: int) -> Encoded:
    """Two columns of the same two levels, and a number that tells them, the last of these features secret."""
    columns = [Column(name=name, kind=Kind.CATEGORICAL, dtype="int64", levels=(0, 1)) for name in ("known", "secret")]
    columns.append(Column(name="x", kind=Kind.CONTINUOUS, dtype="double", bounds=(0, 1)))
    level = np.arange(rows) % 2
    table = Table.of(columns, [level, level, (level + np.linspace(0, 1, rows)) / 2], rows)
    return Encoding.of(table, 10, SEED).encode(table, SEED)


SECRET = np.array([False, False, True, True, False])


@pytest.mark.parametrize("loose", [0.0, 0.3, 1.0])
def test_what_secret_features_have_to_do_with_the_others_is_weaker_by_the_share_of_loose_rows(loose: float):
    rows, _ = Rows(twins(400), [np.arange(400)], SECRET, loose).draw(4000, SEED.generator())
    together = np.corrcoef(rows[0].T)
    assert together[1, 3] == pytest.approx(1 - loose, abs=0.05)
    assert together[3, 4] == pytest.approx((1 - loose) * together[1, 4], abs=0.05)
    assert together[1, 4] > 0.7


@pytest.mark.parametrize("loose", [0.3, 1.0])
def test_loose_rows_have_what_their_condition_asks_for_too(loose: float):
    known = twins(400)
    rows, conditions = Rows(known, [np.arange(400)], SECRET, loose).draw(500, SEED.generator())
    assert (rows[:, :, known.layout.hot] * conditions).sum(axis=2).tolist() == [[1.0] * 500]


def test_secret_features_of_loose_rows_are_those_of_the_whole_table_and_the_others_those_of_the_head():
    known = twins(400)
    heads = [np.arange(0, 400, 2), np.arange(1, 400, 2)]
    rows, conditions = Rows(known, heads, SECRET, 1.0).draw(2000, SEED.generator())
    free = ~conditions[0, :, 2:4].any(axis=1)
    assert set(rows[0, :, 1]) == {0.0}
    assert rows[0, free, 3].mean() == pytest.approx(0.5, abs=0.05)


def test_natural_conditions_come_as_often_as_the_rows_have_them():
    known = encoded(360, 40)
    shares = frequencies_of(known, [np.arange(400)])
    assert shares.tolist() == [[0.9, 0.1, 1.0]]
    conditions = natural_conditions(known.layout, shares, 4000, SEED.generator())
    assert conditions[0].mean(axis=0) == pytest.approx([0.45, 0.05, 0.5], abs=0.03)


def test_a_table_of_numbers_alone_has_no_conditions():
    column = Column(name="x", kind=Kind.CONTINUOUS, dtype="double", bounds=(0, 1))
    table = Table.of([column], [np.linspace(0, 1, 400)], 400)
    known = Encoding.of(table, 10, SEED).encode(table, SEED)
    rows, conditions = Rows(known, [np.arange(200), np.arange(200, 400)]).draw(8, SEED.generator())
    assert rows.shape == (2, 8, 1)
    assert conditions.shape == (2, 8, 0)
    assert natural_conditions(known.layout, frequencies_of(known, [np.arange(400)]), 5, SEED.generator()).shape == (
        1,
        5,
        0,
    )
