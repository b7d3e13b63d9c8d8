"""Rows as a network sees them, and back."""

from __future__ import annotations

import numpy as np
import pytest

from models.hydra.encoding import Encoding, width
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table

NAN = np.nan
SEED = Seed.of(1)


def number(name: str, high: float = 100, **more: object) -> Column:
    return Column(name=name, kind=Kind.CONTINUOUS, dtype="double", bounds=(-high, high), **more)


def levels(name: str, count: int, **more: object) -> Column:
    return Column(name=name, kind=Kind.CATEGORICAL, dtype="int64", levels=tuple(range(count)), **more)


def table(rows: int = 400) -> Table:
    """A skewed number with holes, a level, and the same number in a few values."""
    rng = Seed.of(2).generator()
    x = np.exp(rng.normal(size=rows))
    holes = np.where(rng.random(rows) < 0.25, NAN, x)
    columns = [number("x", 20, nullable=True), levels("l", 3), number("few", decimals=0)]
    return Table.of(columns, [holes, rng.integers(0, 3, rows), np.clip(np.round(x), 0, 4)], rows)


def encoding(of: Table, k: int = 10) -> Encoding:
    return Encoding.of(of, k, SEED)


def test_a_number_is_a_score_with_indicators_for_missing_and_few_values_are_levels():
    layout = encoding(table()).layout
    assert layout.scores.tolist() == [0]
    assert layout.gates.tolist() == [1]
    assert layout.starts.tolist() == [1, 3, 6]
    assert layout.sizes.tolist()[:2] == [2, 3]
    assert layout.owners.tolist()[:6] == [0, 0, 0, 1, 1, 1]


def test_scores_are_standard_normal_whatever_the_number_looks_like():
    known = table()
    shares = Seed.of(3).generator().random((len(known), 1))
    rows = encoding(known).encode(known, SEED).rows(np.arange(len(known)), shares)
    scores = rows[rows[:, 1] == 1, 0]
    assert scores.mean() == pytest.approx(0, abs=0.05)
    assert scores.std() == pytest.approx(1, abs=0.05)


def test_every_block_has_one_indicator_and_a_missing_number_scores_nothing():
    known = table()
    fitted = encoding(known)
    rows = fitted.encode(known, SEED).rows(np.arange(len(known)), 0.5)
    for start, size in zip(fitted.layout.starts, fitted.layout.sizes, strict=True):
        assert set(rows[:, start : start + size].sum(axis=1)) == {1.0}
    assert not rows[known.missing[:, 0], 0].any()


def test_decoding_gives_the_levels_back_and_numbers_of_the_same_range():
    known = table()
    fitted = encoding(known)
    back = fitted.decode(fitted.encode(known, SEED).rows(np.arange(len(known)), 0.5), SEED)
    assert np.array_equal(back["l"], known["l"])
    assert np.array_equal(np.isnan(back["x"]), np.isnan(known["x"]))
    codes = fitted.fields[0].codes
    assert np.array_equal(codes.encode(back["x"]), codes.encode(known["x"]))


def test_cuts_are_moved_to_where_drawn_scores_have_the_shares_of_the_table():
    known = table()
    fitted = encoding(known)
    drawn = fitted.encode(known, SEED).rows(np.arange(len(known)), Seed.of(4).generator().random((len(known), 1)))
    drawn[:, 0] = 3 * drawn[:, 0] + 5
    off = fitted.decode(drawn, SEED)
    right = fitted.calibrated(drawn).decode(drawn, SEED)
    assert np.nanmedian(off["x"]) > 2 * np.nanmedian(known["x"])
    assert np.nanmedian(right["x"]) == pytest.approx(np.nanmedian(known["x"]), rel=0.1)


def test_a_cell_missing_against_the_schema_is_encoded_as_some_value():
    known = Table.of([levels("l", 2), number("x")], [np.array([0.0, NAN, 1.0]), np.full(3, NAN)], 3)
    rows = encoding(known).encode(known, SEED).rows(np.arange(3), 0.5)
    assert rows.shape == (3, 3)
    assert rows[:, :2].sum(axis=1).tolist() == [1.0, 1.0, 1.0]


def test_many_levels_are_a_score_in_the_order_of_what_they_tell():
    rng = Seed.of(5).generator()
    place = rng.integers(0, 60, 3000)
    x = np.where(place % 2, 50.0, -50.0) + rng.normal(size=3000)
    known = Table.of([levels("l", 60), number("x")], [place, x], 3000)
    order = encoding(known).fields[0].order % 2
    assert np.abs(np.diff(order)).sum() == 1


def test_many_levels_alone_stay_as_they_are_listed():
    known = Table.of([levels("l", 60)], [np.arange(600) % 60], 600)
    assert encoding(known).fields[0].order.tolist() == list(range(60))


def test_what_is_restored_decodes_the_same():
    known = table()
    fitted = encoding(known)
    rows = fitted.encode(known, SEED).rows(np.arange(len(known)), 0.3)
    restored = Encoding.restore(known.columns, fitted.arrays())
    assert restored.decode(rows, SEED).values.tobytes() == fitted.decode(rows, SEED).values.tobytes()


def test_the_width_is_known_before_the_rows():
    assert width([number("x"), levels("l", 3, nullable=True), levels("many", 5000)]) == 12 + 4 + 50
    known = table()
    assert encoding(known).layout.width <= width(known.columns)
