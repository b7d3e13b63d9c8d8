"""Bounds are rounded outward: they hold every value and give none away."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.rounding import date_bounds, day_bounds, number_bounds

K = 10


def bounds(
    values: list[float], counts: list[int] | None = None, *, grid: float = 0.0, log: bool = False
) -> tuple[float, float]:
    """The bounds of values that 4 rows each share (too few to be told), unless ``counts`` says otherwise."""
    return number_bounds(np.array(values), np.array(counts or [4] * len(values)), K, grid, log)


@pytest.mark.parametrize(
    ("values", "grid", "expected"),
    [
        ([20, 47, 79], 1, (15, 80)),
        ([100, 150, 200], 1, (95, 205)),
        ([-40, -8, -3], 1, (-42, -2)),
        ([0.1, 0.2, 0.4], 0.1, (0.0, 0.5)),
        ([0.031, 5, 12.7], 0, (0.0, 13.0)),
        ([1_234, 5_000, 98_765], 1, (0, 100_000)),
    ],
)
def test_bounds_are_the_next_nice_numbers(values, grid, expected):
    assert bounds(values, grid=grid) == expected


def test_zero_one_and_what_k_rows_share_are_exact():
    assert bounds([0, 0.5, 1]) == (0, 1)
    assert bounds([1, 17, 31], grid=1)[0] == 1
    assert bounds([20, 47, 80], [10, 4, 300], grid=1) == (20, 80)


def test_shares_end_at_one_and_what_is_never_negative_starts_at_zero():
    assert bounds([0.02, 0.5, 0.98]) == (0.0, 1.0)
    assert bounds([-0.98, -0.5, -0.02]) == (-1.0, 0.0)


def test_a_log_scale_has_the_next_of_1_2_5():
    assert bounds([3e-6, 0.5, 3.4e8], log=True) == (2e-6, 5e8)
    assert bounds([2e-6, 0.5, 5e8], log=True) == (1e-6, 1e9)


def test_fewer_than_k_rows_in_all_are_told_the_power_of_ten():
    assert bounds([777.125], [9]) == (0.0, 1000.0)
    assert bounds([-3.5], [1]) == (-10.0, 0.0)
    assert bounds([0.0], [1]) == (0.0, 0.0)


@given(st.lists(st.floats(-1e9, 1e9, width=32), min_size=3, max_size=30, unique=True), st.booleans())
def test_every_value_lies_within_and_no_extreme_is_given_away(values, log):
    values = sorted(set(values))
    low, high = bounds(values, log=log)
    assert low <= values[0] <= values[-1] <= high
    assert low < values[0] or values[0] == 0
    assert high > values[-1] or values[-1] in (0, 1)


def days(*texts: str) -> np.ndarray:
    return np.array(texts, "datetime64[D]").astype(np.int64).astype(np.float64)


DAYS = (-719_162, 2_932_896)


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("2001-03-02", "2021-06-30", ("2001-01-01", "2021-12-31")),
        ("2001-01-01", "2021-12-31", ("2000-01-01", "2022-12-31")),
        ("2020-03-02", "2020-03-20", ("2020-03-01", "2020-03-31")),
        ("2020-03-02", "2020-03-05", ("2020-03-01", "2020-03-06")),
        ("1890-05-05", "9999-12-31", ("1890-01-01", "9999-12-31")),
    ],
)
def test_dates_are_rounded_to_years_months_or_days(first, last, expected):
    assert date_bounds(days(first, last), np.array([6, 6]), K, "day", DAYS) == expected


def test_dates_that_k_rows_share_may_be_bounds():
    assert date_bounds(days("2001-01-01", "2021-12-31"), np.array([10, 10]), K, "day", DAYS) == (
        "2001-01-01",
        "2021-12-31",
    )


def test_fewer_than_k_dates_in_all_are_told_the_decade():
    assert date_bounds(days("2004-02-03"), np.array([9]), K, "day", DAYS) == ("2000-01-01", "2009-12-31")
    assert date_bounds(days("1964-02-03"), np.array([9]), K, "day", DAYS) == ("1960-01-01", "1969-12-31")


def test_bounds_are_as_fine_as_the_resolution():
    hours = days("2020-03-02", "2020-05-20") * 24 + 5
    assert date_bounds(hours, np.array([6, 6]), K, "hour", (-1e9, 1e9)) == ("2020-03-01T00:00", "2020-05-31T23:00")
    assert day_bounds("minute") == ("00:00", "23:59")
    assert day_bounds("millisecond") == ("00:00:00.000", "23:59:59.999")
