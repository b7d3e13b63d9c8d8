"""Bins come from the schema alone, a draw falls back into its bin, and codes tell apart only what k rows share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.bins import LIMIT, Bins, Codes, frequencies, packed_codes, unpacked_codes
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Floats

NAN = np.nan


def continuous(low: float, high: float, **more: object) -> Column:
    return Column(name="x", kind=Kind.CONTINUOUS, dtype="double", bounds=(low, high), **more)


def integer(low: int, high: int, **more: object) -> Column:
    return Column(name="x", kind=Kind.INTEGER, dtype="int64", bounds=(low, high), **more)


def levelled(*levels: str, **more: object) -> Column:
    return Column(name="x", kind=Kind.CATEGORICAL, dtype="string", levels=levels, **more)


def drawn(bins: Bins, each: int = 40) -> tuple[np.ndarray, Floats]:
    codes = np.repeat(np.arange(bins.count), each)
    return codes, bins.draw(codes, Seed.of(1).generator())


def test_every_value_of_a_small_grid_is_a_bin():
    bins = Bins.of(integer(17, 20))
    assert bins.count == 4
    assert bins.centres.tolist() == [17, 18, 19, 20]
    assert bins.index(np.array([20.0, 17.0, 19.0])).tolist() == [3, 0, 2]


def test_a_wide_range_is_cut_into_a_bounded_number_of_equal_bins_of_whole_steps():
    bins = Bins.of(integer(0, 9_999), limit=100)
    assert bins.count == 100
    assert bins.firsts[:3].tolist() == [0, 100, 200]
    assert bins.lasts[-1] == 9_999


def test_values_beyond_the_bounds_fall_into_the_outermost_bins():
    assert Bins.of(integer(0, 3)).index(np.array([-7.0, 12.0])).tolist() == [0, 3]


def test_drawn_decimals_are_the_numbers_that_one_would_write():
    _, values = drawn(Bins.of(continuous(0.1, 12.3, decimals=1)))
    assert set(values) == {float(f"{tenths / 10:.1f}") for tenths in range(1, 124)}


def test_a_log_scale_is_fine_near_zero_and_coarse_far_out_on_both_sides():
    bins = Bins.of(integer(-100_000, 100_000, scale="log"))
    width = bins.lasts - bins.firsts + 1
    zero = int(bins.index(np.zeros(1))[0])
    assert bins.count <= LIMIT
    assert width[zero] == 1
    assert width[0] > 1000
    assert width[-1] > 1000


def test_a_log_scale_without_step_has_bins_of_equal_ratio():
    bins = Bins.of(continuous(1e-6, 1e6, scale="log"))
    ratios = bins.centres[60:] / bins.centres[59:-1]
    assert ratios.max() == pytest.approx(ratios.min(), rel=1e-4)


def test_a_peak_is_a_bin_of_its_own_and_its_neighbours_leave_it_out():
    bins = Bins.of(integer(0, 99_999, peaks=(0, 7_688)))
    at = int(bins.index(np.array([7_688.0]))[0])
    assert bins.peaks[at]
    assert bins.firsts[at] == bins.lasts[at] == 7_688
    assert bins.lasts[at - 1] == 7_687
    assert bins.firsts[at + 1] == 7_689
    assert np.count_nonzero(bins.peaks) == 2


def test_a_peak_of_a_column_without_step_is_met_by_that_number_alone():
    bins = Bins.of(continuous(0.0, 1.0, peaks=(0.0, 0.25, 1.0)))
    at = bins.index(np.array([0.25, np.nextafter(0.25, 1), np.nextafter(0.25, 0), 0.0, 1.0]))
    assert bins.peaks[at].tolist() == [True, False, False, True, True]


def test_bounds_off_the_grid_are_kept():
    _, values = drawn(Bins.of(continuous(0.14, 0.46, decimals=1)))
    assert set(values) == {0.2, 0.3, 0.4}


def test_bounds_without_a_grid_point_between_them_are_kept_too():
    _, values = drawn(Bins.of(continuous(0.12, 0.13, decimals=1)))
    assert set(values) <= {0.12, 0.13}


def test_one_value_is_one_bin():
    _, values = drawn(Bins.of(continuous(5.0, 5.0)))
    assert set(values) == {5.0}


def test_microseconds_of_two_centuries_are_drawn_as_whole_ticks():
    column = Column(name="t", kind=Kind.DATETIME, dtype="timestamp[us]", resolution="microsecond",
                    bounds=("1900-01-01", "2100-01-01"))  # fmt: skip
    codes, values = drawn(Bins.of(column))
    assert np.all(values == np.rint(values))
    assert np.array_equal(Bins.of(column).index(values), codes)
    assert column.low <= values.min() <= values.max() <= column.high


def test_days_of_a_short_span_are_bins():
    column = Column(name="d", kind=Kind.DATE, dtype="date32", resolution="day", bounds=("2020-01-30", "2020-02-02"))
    assert Bins.of(column).centres.tolist() == [18291, 18292, 18293, 18294]


def test_steps_that_doubles_cannot_tell_apart_are_no_steps():
    codes, values = drawn(Bins.of(continuous(0.0, 1e6, decimals=18, scale="log", peaks=(0.0,))))
    assert np.array_equal(Bins.of(continuous(0.0, 1e6, decimals=18, scale="log", peaks=(0.0,))).index(values), codes)


@st.composite
def columns(draw: st.DrawFn) -> Column:
    low = draw(st.integers(-10_000, 10_000)) / 10
    high = low + draw(st.integers(0, 10**7)) / 10
    decimals = draw(st.sampled_from([0, 1, 3]))
    peaks = tuple(round(low + (high - low) * share, 1) for share in draw(st.lists(st.floats(0, 1), max_size=4)))
    scale = draw(st.sampled_from(["linear", "log"]))
    within = tuple(peak for peak in peaks if low <= peak <= high)
    return continuous(low, high, decimals=decimals, scale=scale, peaks=within)


@given(columns())
def test_whatever_the_schema_a_draw_is_in_bounds_and_in_its_bin(column: Column):
    bins = Bins.of(column)
    codes, values = drawn(bins, each=3)
    assert bins.count <= LIMIT + 2 * len(column.peaks)
    assert values.min() >= column.low
    assert values.max() <= column.high
    if bins.count > 1:
        assert np.array_equal(bins.index(values), codes)
        assert np.array_equal(values, np.round(values, column.decimals or 0))


def test_codes_of_levels_are_their_places_and_missing_is_the_last():
    codes = Codes.of(levelled("a", "b", nullable=True))
    assert codes.encode(np.array([1.0, NAN, 0.0])).tolist() == [1, 2, 0]
    decoded = codes.decode(np.array([1, 2, 0]), Seed.of(1).generator())
    assert np.array_equal(decoded, np.array([1.0, NAN, 0.0]), equal_nan=True)


def test_missing_counts_as_a_code_where_it_may_occur():
    assert Codes.of(levelled("a", "b")).size == 2
    assert Codes.of(levelled("a", "b", nullable=True)).size == 3
    assert Codes.of(levelled(nullable=True)).size == 1


def ranges(values: list[float], k: int, **more: object) -> list[tuple[int, int]]:
    codes = Codes.of(integer(0, 9, **more)).shared(np.array(values, dtype=np.float64), k)
    return list(zip(codes.starts.tolist(), codes.ends.tolist(), strict=True))


def test_bins_that_k_rows_share_stay_alone_and_emptier_ones_between_them_are_taken_together():
    assert ranges([1, 1, 1, 3, 4, 6, 6], k=2) == [(1, 1), (3, 4), (6, 6)]


def test_what_is_left_over_counts_to_the_range_below_and_is_never_drawn():
    values = np.array([1.0, 1.0, 2.0, 3.0, 9.0, NAN])
    codes = Codes.of(integer(0, 9, nullable=True)).shared(values, k=2)
    assert codes.encode(values).tolist() == [0, 0, 1, 1, 1, 2]
    made = codes.decode(np.ones(200, dtype=np.int64), Seed.of(1).generator())
    assert set(made) == {2.0, 3.0}


def test_what_is_left_over_at_the_lower_end_counts_to_the_range_above():
    assert ranges([0, 7, 7], k=2) == [(7, 7)]
    assert Codes.of(integer(0, 9)).shared(np.array([0.0, 7.0, 7.0]), k=2).encode(np.array([0.0])).tolist() == [0]


def test_a_crowded_bin_is_not_smeared_over_its_empty_neighbours():
    assert ranges([4, 5, 5, 5, 5, 6], k=3) == [(5, 5)]


def test_a_peak_stays_alone_however_few_rows_have_it():
    assert ranges([0, 3, 4, 5], k=3, peaks=(0,)) == [(0, 0), (3, 5)]


def test_fewer_than_k_rows_tell_nothing_but_the_bounds():
    assert ranges([4, 5], k=3) == [(0, 9)]
    assert ranges([NAN], k=3) == [(0, 9)]


def test_levels_are_shared_as_the_schema_lists_them():
    codes = Codes.of(levelled("a", "b", "c"))
    assert codes.shared(np.array([0.0]), k=10) is codes


def test_frequencies_are_shares_with_rows_spread_evenly_on_top():
    codes = Codes.of(levelled("a", "b", nullable=True))
    values = np.array([0.0, 0.0, NAN])
    assert frequencies(codes, values, 0.0).tolist() == pytest.approx([2 / 3, 0, 1 / 3])
    assert frequencies(codes, values, 3.0).tolist() == pytest.approx([3 / 6, 1 / 6, 2 / 6])


def test_missing_values_are_not_counted_where_there_may_be_none():
    codes = Codes.of(levelled("a", "b"))
    assert frequencies(codes, np.array([0.0, NAN]), 0.0).tolist() == [1.0, 0.0]
    assert frequencies(codes, np.array([NAN]), 0.0).tolist() == [0.5, 0.5]


def test_packed_codes_come_back_for_the_same_columns():
    column = integer(0, 9)
    codes = Codes.of(column).shared(np.array([1.0, 1.0, 3.0, 4.0]), k=2)
    (again,) = unpacked_codes([column], packed_codes([codes]))
    assert again.starts.tolist() == [1, 3]
    assert again.ends.tolist() == [1, 4]
