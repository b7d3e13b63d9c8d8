"""A draft tells what a column is without telling what anybody's value is."""

from __future__ import annotations

import numpy as np
import pytest

from models.draft import (
    Booleans,
    Drafted,
    Levels,
    Moments,
    Numbers,
    Profile,
    Unsupported,
    decimals_of,
    draft_column,
    heavily_skewed,
    peaks,
    suggested_role,
)
from models.schema import Kind, Role

K = 10
DOUBLE = (-1e308, 1e308)


def numbers(values: list[float], counts: list[int] | int = 1, **more) -> Numbers:
    rows = np.full(len(values), counts) if isinstance(counts, int) else np.array(counts)
    return Numbers(
        **{"values": np.array(values, float), "counts": rows, "precision": 2.0**-52, "limits": DOUBLE, **more}
    )


def drafted(cells, *, name: str = "x", rows: int | None = None, missing: int = 0) -> Drafted:
    if rows is None:
        rows = missing + (int(cells.counts.sum()) if isinstance(cells, (Numbers, Moments)) else 100)
    return draft_column(Profile(name, "double", rows, missing, cells), K)


def test_numbers_have_a_grid_bounds_and_a_kind():
    whole = drafted(numbers([3.0 + 7 * i for i in range(40)])).column
    parts = drafted(numbers([0.25 * i for i in range(40)])).column
    assert (whole.kind, whole.decimals, whole.bounds) == (Kind.INTEGER, None, (0, 280))
    assert (parts.kind, parts.decimals, parts.bounds) == (Kind.CONTINUOUS, 2, (0.0, 10.0))


def test_bounds_end_where_the_type_ends():
    assert drafted(numbers([-100, 0, 126], 5, limits=(-128, 127))).column.bounds == (-120, 127)


def test_few_numbers_that_k_rows_share_are_ordered_levels():
    column = drafted(numbers([1, 2, 3], [10, 50, 40])).column
    assert (column.kind, column.levels, column.ordered) == (Kind.CATEGORICAL, (1, 2, 3), True)


@pytest.mark.parametrize("counts", [[9, 50, 41], [10] * 11])
def test_a_rare_number_or_many_of_them_are_no_levels(counts):
    assert drafted(numbers(list(range(len(counts))), counts)).column.kind is Kind.INTEGER


def test_one_value_is_a_constant_only_if_k_rows_share_it_and_none_lacks_it():
    assert drafted(numbers([5], [10])).column.levels == (5,)
    assert drafted(numbers([5], [10])).column.kind is Kind.CONSTANT
    assert drafted(numbers([5], [9])).column.kind is Kind.INTEGER
    assert drafted(numbers([5], [10]), missing=1).column.kind is Kind.CATEGORICAL


def test_whole_numbers_without_gaps_or_repeats_count_rows():
    counting = numbers(list(range(1000, 1030)))
    assert drafted(counting).column.kind is Kind.IDENTIFIER
    assert drafted(counting).column.unique
    assert drafted(numbers([i**2 for i in range(30)])).column.kind is Kind.INTEGER
    assert drafted(numbers([i**2 for i in range(30)]), name="patientId").column.kind is Kind.IDENTIFIER


def test_an_identifier_of_people_with_several_rows_is_one_but_not_unique():
    column = drafted(numbers([100, 205, 317], 4), name="person_id").column
    assert (column.kind, column.unique, column.role) == (Kind.IDENTIFIER, False, Role.IDENTIFIER)


def test_infinite_cells_are_told_and_do_not_move_the_bounds():
    found = drafted(numbers([1.5, 2.5], 4, infinite=3), rows=11)
    assert "3 infinite cells break the contract" in found.why
    assert np.isfinite(found.column.high)
    assert "2 infinite" in drafted(numbers([], infinite=2), rows=2).why


def levels(*shared: tuple[str, int], distinct: int, covered: int | None = None, **more) -> Levels:
    return Levels(shared, distinct, sum(n for _, n in shared) if covered is None else covered, **more)


def test_text_levels_are_those_that_k_rows_share():
    column = drafted(levels(("a", 60), ("b", 40), distinct=2)).column
    assert (column.levels, column.unlisted) == (("a", "b"), "refuse")


def test_rarer_texts_become_a_level_of_their_own():
    found = drafted(levels(("a", 60), ("b", 30), distinct=9))
    assert (found.column.unlisted, found.column.other) == ("other", "(rare)")
    assert "10 % of the cells" in found.why


def test_rarer_values_of_a_dictionary_give_way():
    cells = levels(("a", 30), ("b", 60), distinct=9, dictionary=True)
    assert drafted(cells).column.other == "b"
    assert drafted(cells, missing=5).column.unlisted == "missing"
    assert drafted(levels(distinct=5, dictionary=True)).column.nullable


def test_texts_that_hardly_repeat_are_identifiers():
    column = drafted(levels(distinct=95, mask="P-###")).column
    assert (column.kind, column.format, column.unique) == (Kind.IDENTIFIER, "P-###", False)
    assert drafted(levels(distinct=100)).column.unique
    assert drafted(levels(distinct=50)).column.kind is Kind.CATEGORICAL


def test_a_pattern_that_spells_out_what_fewer_than_k_rows_share_is_not_told():
    def formatted(mask, rows):
        return drafted(levels(distinct=rows, mask=mask), name="patient_id", rows=rows).column.format

    assert formatted("WARD-7-##", 9) is None
    assert formatted("WARD-7-##", 10) == "WARD-7-##"
    assert (formatted("#####", 9), formatted("uuid", 9)) == ("#####", "uuid")


def test_long_texts_are_refused_with_advice():
    found = drafted(levels(distinct=99, words=12.0))
    assert found.column.kind is Kind.TEXT
    assert "include: false" in found.why


def test_true_and_false():
    assert drafted(Booleans(true=3, false=97)).column.kind is Kind.BOOLEAN
    assert drafted(Booleans(true=0, false=100)).column.levels == (False,)


def test_nothing_and_the_unknown():
    assert drafted(None, rows=3, missing=3).column.levels == ()
    assert not drafted(Unsupported()).column.include


def moments(kind: Kind, values: list[int], resolution: str) -> Moments:
    return Moments(kind, np.array(values, float), np.full(len(values), 4), resolution, (-1e12, 1e12))


def test_moments_have_a_resolution_and_bounds_of_their_kind():
    day = drafted(moments(Kind.DATE, [11_000, 12_000, 18_000], "day")).column
    clock = drafted(moments(Kind.TIME, [60, 600, 900], "minute")).column
    span = drafted(moments(Kind.DURATION, [3, 40, 200], "minute")).column
    assert day.bounds == ("2000-01-01", "2019-12-31")
    assert clock.bounds == ("00:00", "23:59")
    assert (span.bounds, span.resolution) == ((0.0, 12_600.0), "minute")


def test_peaks_are_values_that_stand_out_of_their_surroundings():
    values, counts = np.arange(100.0), np.full(100, 12)
    counts[[0, 40, 99]] = 200
    assert peaks(values, counts, K) == (0.0, 40.0, 99.0)
    assert peaks(values, np.full(100, 12), K) == ()


def test_a_slope_has_no_peaks_and_a_value_of_few_rows_is_none():
    assert peaks(np.arange(8.0), np.array([800, 400, 200, 100, 50, 25, 12, 6]), K) == (0.0,)
    assert peaks(np.arange(3.0), np.array([1, 9, 1]), K) == ()


def test_there_are_at_most_a_hundred_peaks_the_most_striking_ones():
    counts = np.ones(2000, dtype=int)
    counts[::6] = np.arange(len(counts[::6])) + 50
    found = peaks(np.arange(2000.0), counts, K)
    assert len(found) == 100
    assert found[-1] == 1998.0


def test_decimals_are_judged_by_the_precision_of_the_type():
    single = np.array([0.1, 0.2], np.float32).astype(float)
    assert decimals_of(single, 2.0**-23, None) == 1
    assert decimals_of(single, 2.0**-52, None) is None
    assert decimals_of(np.array([1.25, 2.5]), 0.0, 4) == 2


def test_a_long_upper_tail_asks_for_a_log_scale():
    tail = np.exp(np.linspace(0, 12, 200))
    assert heavily_skewed(tail, np.ones(200))
    assert not heavily_skewed(tail - 5, np.ones(200))
    assert not heavily_skewed(np.arange(200.0), np.ones(200))


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("age", Role.QUASI_IDENTIFIER),
        ("dateOfBirth", Role.QUASI_IDENTIFIER),
        ("ZIP", Role.QUASI_IDENTIFIER),
        ("household_income", Role.SENSITIVE),
        ("Diagnosis code", Role.SENSITIVE),
        ("outcome", Role.TARGET),
        ("package", Role.PLAIN),
        ("sextant", Role.PLAIN),
        ("y", Role.PLAIN),
    ],
)
def test_roles_are_suggested_by_the_words_of_a_name(name, role):
    assert suggested_role(name) is role


def test_text_that_looks_like_numbers_is_refused_not_made_anew():
    found = drafted(levels(distinct=100, looks_like="numbers with a unit"))
    assert found.column.kind is Kind.TEXT
    assert "LOOKS LIKE numbers with a unit: convert it in the source" in found.warning
    assert found.warning in found.why
    assert drafted(levels(distinct=100, looks_like="numbers with a unit"), name="id").column.kind is Kind.IDENTIFIER
    shared = drafted(levels(("4 kg", 60), ("5 kg", 40), distinct=2, looks_like="numbers with a unit"))
    assert (shared.column.kind, shared.warning != "") == (Kind.CATEGORICAL, True)


def test_a_column_that_would_be_mostly_rare_is_warned_of():
    assert "60 % of the cells BECOME '(rare)'" in drafted(levels(("a", 40), distinct=30)).warning
    assert "100 % of the cells BECOME missing" in drafted(levels(distinct=30, dictionary=True)).warning
    assert drafted(levels(("a", 60), distinct=30)).warning == ""


def test_exact_numbers_that_hardly_repeat_are_identifiers_and_rare_ones_give_way():
    assert drafted(levels(distinct=50, numeric=True)).column.kind is Kind.IDENTIFIER
    assert drafted(levels((2**60, 90), distinct=3, numeric=True)).column.other == 2**60


def test_a_bound_that_few_rows_hold_far_from_the_rest_is_warned_of():
    near = [float(number) + 0.5 for number in range(100)]
    assert "the upper BOUND HANGS ON FEWER THAN 10 ROWS" in drafted(numbers([*near, 999.0])).warning
    assert "the lower and upper BOUND" in drafted(numbers([-777.0, *near, 999.0])).warning
    assert drafted(numbers(near)).warning == ""
    assert drafted(numbers([*near, 999.0], [1] * 100 + [10])).warning == ""
    assert drafted(numbers([1.5, 99.5])).warning == ""


def test_a_day_stands_out_only_if_a_hundredth_of_the_rows_has_it():
    counts = np.full(3000, 1)
    counts[[100, 200]] = 20, 40
    cells = Moments(Kind.DATE, np.arange(3000.0), counts, "day", (-1e12, 1e12))
    assert drafted(cells).column.peaks == ("1970-07-20",)


@pytest.mark.parametrize(("kind", "resolution", "tick", "written"), [
    (Kind.DATE, "day", 18_292, "2020-01-31"), (Kind.DATETIME, "hour", 439_018, "2020-01-31T10:00"),
    (Kind.DATETIME, "microsecond", 1_580_464_800_000_001, "2020-01-31T10:00:00.000001"),
    (Kind.TIME, "minute", 1320, "22:00"), (Kind.TIME, "nanosecond", 45_296_123_456_789, "12:34:56.123456789"),
    (Kind.DURATION, "minute", 90, 5400), (Kind.DURATION, "millisecond", 1_234_567, 1234.567),
])  # fmt: skip
def test_a_peak_of_dates_and_times_is_written_so_that_a_person_can_read_it(kind, resolution, tick, written):
    limits = (0.0, 86_400e9) if kind is Kind.TIME else (-1e18, 1e18)
    column = drafted(Moments(kind, np.array([tick], float), np.array([40]), resolution, limits)).column
    assert column.peaks == (written,)
    assert column.peak_numbers == (tick,)
    assert "1 frequent value is kept exactly (peaks)" in drafted(numbers([*range(50), 80.0], [1] * 50 + [40])).why
