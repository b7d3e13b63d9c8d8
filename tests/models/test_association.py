"""Association: one scale for numbers and levels, with missing cells, that many levels cannot inflate."""

from __future__ import annotations

import numpy as np
import pytest

from models.association import LEVELS, association, commonest, rank_correlation, ranks, ratio
from models.schema import Column, Kind
from models.table import Floats, Table

NAN = np.nan


def number(name: str) -> Column:
    return Column(name=name, kind=Kind.CONTINUOUS, dtype="double", nullable=True, bounds=(-1e9, 1e9))


def levels(name: str, count: int = 4) -> Column:
    return Column(name=name, kind=Kind.CATEGORICAL, dtype="string", nullable=True, levels=tuple(range(count)))


def table(**cells: tuple[str, object]) -> Table:
    columns = [number(name) if kind == "number" else levels(name, 10**5) for name, (kind, _) in cells.items()]
    arrays = [np.asarray(values, dtype=np.float64) for _, values in cells.values()]
    return Table.of(columns, arrays, len(arrays[0]))


def pair(first: tuple[str, object], second: tuple[str, object]) -> float:
    return float(association(table(a=first, b=second))[0, 1])


EVEN = [0, 1, 2, 3, 4, 5, 6, 7]


def test_two_numbers_are_compared_by_rank_whatever_their_scale_and_direction():
    assert pair(("number", EVEN), ("number", np.exp(EVEN))) == pytest.approx(1.0)
    assert pair(("number", EVEN), ("number", -np.exp(EVEN))) == pytest.approx(1.0)


def test_spearman_of_known_ranks():
    # squared rank differences 1 + 1 + 1 + 1, rho = 1 - 6 * 4 / (6 * 35)
    assert pair(("number", [1, 2, 3, 4, 5, 6]), ("number", [2, 1, 4, 3, 5, 6])) == pytest.approx(1 - 24 / 210)


def test_equal_levels_are_perfectly_associated_and_renaming_them_changes_nothing():
    assert pair(("levels", [0] * 5 + [1] * 5), ("levels", [7] * 5 + [3] * 5)) == pytest.approx(1.0)


def test_levels_that_separate_the_ranks_of_a_two_valued_number_are_perfectly_associated():
    assert pair(("levels", [0] * 5 + [1] * 5), ("number", [2.5] * 5 + [9.0] * 5)) == pytest.approx(1.0)


def test_a_number_that_depends_on_a_level_without_order_is_seen():
    middle_high = [0, 9, 1] * 20
    assert pair(("levels", [0, 1, 2] * 20), ("number", middle_high)) == pytest.approx(1.0)


def test_many_levels_and_few_rows_do_not_look_like_dependence():
    random = np.random.default_rng(1)
    a, b = random.integers(0, 20, 300), random.integers(0, 20, 300)
    assert pair(("levels", a), ("levels", b)) < 0.15
    assert pair(("levels", a), ("number", random.normal(size=300))) < 0.25


def test_levels_of_one_row_each_say_nothing():
    assert pair(("levels", np.arange(50)), ("number", np.arange(50))) == 0.0
    assert pair(("levels", np.arange(50)), ("levels", np.arange(50))) == 0.0


def test_the_commonest_levels_are_told_apart_among_very_many():
    random = np.random.default_rng(2)
    common = random.integers(0, 3, 4000).astype(float)
    rare = random.random(4000) < 0.3
    common[rare] = random.integers(1000, 51_000, int(rare.sum()))
    assert pair(("levels", common), ("levels", np.minimum(common, 3))) > 0.95
    assert LEVELS < 100


def test_numbers_are_compared_where_both_are_present():
    a = np.array([*EVEN, 3.0, NAN, 1.0, NAN])
    b = np.array([*EVEN, NAN, 2.0, NAN, 5.0])
    assert pair(("number", a), ("number", b)) == pytest.approx(1.0, abs=0.02)


def test_a_number_that_is_missing_where_another_column_says_so_depends_on_it():
    skipped = np.array([0, 1] * 20, dtype=float)
    answer = np.where(skipped == 1, NAN, np.tile([3.0, 3.0, 5.0, 5.0], 10))
    assert pair(("levels", skipped), ("number", answer)) == pytest.approx(1.0)


def test_a_handful_of_cells_missing_together_is_not_a_strong_dependence():
    random = np.random.default_rng(3)
    a, b = random.normal(size=(2, 2000))
    a[:10] = b[:10] = NAN
    assert pair(("number", a), ("number", b)) < 0.1


def test_a_missing_level_is_a_level():
    a = np.array([0.0, NAN] * 10)
    assert pair(("levels", a), ("levels", [2, 5] * 10)) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["number", "levels"])
@pytest.mark.parametrize("cells", [[1.0] * 12, [NAN] * 12], ids=["constant", "all missing"])
def test_constant_and_wholly_missing_columns_depend_on_nothing(kind: str, cells: list[float]):
    random = np.random.default_rng(4)
    found = association(table(a=(kind, cells), b=("number", random.normal(size=12)), c=("levels", [0, 1, 2] * 4)))
    assert found[0].tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_too_few_rows_show_no_dependence(rows: int):
    cells = np.arange(rows, dtype=float)
    assert association(table(a=("number", cells), b=("number", cells))).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_table_without_columns_has_an_empty_matrix():
    assert association(Table.of([], [], 9)).shape == (0, 0)


def test_the_matrix_is_symmetric_and_within_zero_and_one():
    random = np.random.default_rng(5)
    base = random.normal(size=(200, 6)) + random.normal(size=(200, 1))
    base[:, 3:] = np.clip(np.round(base[:, 3:]), -2, 2) + 2
    base[random.random(base.shape) < 0.2] = NAN
    mixed = Table((number("a"), number("b"), number("c"), levels("d", 5), levels("e", 5), levels("f", 5)), base)
    found = association(mixed)
    assert np.array_equal(found, found.T)
    assert found.min() >= 0
    assert found.max() <= 1
    assert (found > 0.1).all()


def test_ranks_are_averages_within_the_present_cells():
    assert ranks(np.array([7.0, NAN, 1.0, 7.0, 9.0])).tolist()[2:] == [-0.375, 0.0, 0.375]
    assert np.isnan(ranks(np.array([7.0, NAN]))[1])


def test_commonest_codes_come_by_count_then_by_code():
    assert commonest(np.array([5.0, 4, 4, 3, 3, NAN, NAN, NAN]), most=2).tolist() == [3.0, 4.0]
    assert commonest(np.array([5.0, 4, 4]), most=9, few=2).tolist() == [4.0]


MATRIX: Floats = np.array([[1.0, 0.3, 0.0], [0.3, 1.0, 0.4], [0.0, 0.4, 1.0]])


def test_ratio_is_the_norm_between_over_the_norm_within():
    assert ratio(MATRIX, [[0, 1], [2]]) == pytest.approx(0.4 / 0.3)


@pytest.mark.parametrize("parts", [[[0, 1, 2]], [[0], [1], [2]], [[0, 2], [1]]], ids=["one", "single", "unrelated"])
def test_ratio_is_none_without_anything_to_compare(parts: list[list[int]]):
    assert ratio(MATRIX, parts) is None


def test_rank_correlations_have_a_sign_and_are_those_of_numbers_alone() -> None:
    up = np.arange(10.0)
    found = rank_correlation(Table((number("a"), number("b"), levels("l")), np.column_stack([up, 9 - up, up % 2])))
    assert found[0, 1] == found[1, 0] == pytest.approx(-1)
    assert not found[2].any()
    assert rank_correlation(Table((levels("l"),), up[:, None] % 2)).tolist() == [[0]]
