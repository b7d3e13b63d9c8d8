"""Trees split where the target differs more than by chance, and draw what was counted at a row's leaf."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from models.randomness import Seed
from models.trees import ConditionalTree, Growth, Splits, _quantile, _spread
from models.trees import grow as grow_chosen

GROWTH = Growth(min_leaf=5, significance=0.01)


def rng(number: int = 1) -> np.random.Generator:
    return Seed.of(number).generator()


def predictors(*columns: np.ndarray) -> np.ndarray:
    return np.stack(columns, axis=1).astype(np.float32)


def grow(seen: np.ndarray, target: np.ndarray, growth: Growth, seed: int) -> Splits:
    """Where the predictors' codes have an order of their own."""
    return grow_chosen(seen, np.full(seen.shape[1], 2), target, growth, seed)


def scores(*columns: np.ndarray) -> np.ndarray:
    stacked = np.stack(columns, axis=1).astype(np.float64)
    return (stacked - stacked.mean(axis=0)) / stacked.std(axis=0)


def two_levels_deep() -> Splits:
    """Root: feature 0 <= 1 is leaf 1; else node 2: feature 1 <= 0 is leaf 3, else leaf 4."""
    return Splits(
        feature=np.array([0, -1, 1, -1, -1]),
        threshold=np.array([1, -1, 0, -1, -1]),
        left=np.array([1, -1, 3, -1, -1]),
        right=np.array([2, -1, 4, -1, -1]),
        strength=np.array([10.0, np.inf, 4.0, np.inf, np.inf]),
    )


ROWS = predictors(np.array([0, 1, 2, 2, 3]), np.array([5, 5, 0, 1, 0]))


def test_a_row_goes_left_when_it_is_at_most_the_threshold():
    assert two_levels_deep().descend(ROWS).tolist() == [1, 1, 3, 4, 3]


def test_no_rows_and_no_splits_are_fine():
    assert two_levels_deep().descend(ROWS[:0]).tolist() == []
    assert Splits.none().descend(ROWS).tolist() == [0] * 5


def test_a_weak_split_is_pruned():
    pruned = two_levels_deep().pruned(np.full(5, 5.0))
    assert pruned.left.tolist() == [1, -1, -1]
    assert pruned.descend(ROWS).tolist() == [1, 1, 2, 2, 2]


def test_a_weak_split_above_a_strong_one_stays():
    pruned = two_levels_deep().pruned(np.array([20.0, 0, 1.0, 0, 0]))
    assert pruned.left.tolist() == two_levels_deep().left.tolist()


def test_pruning_everything_leaves_one_leaf():
    pruned = two_levels_deep().pruned(np.full(5, 99.0))
    assert pruned.left.tolist() == [-1]
    assert pruned.descend(ROWS).tolist() == [0] * 5


def test_classes_that_follow_a_predictor_are_split_at_a_whole_number_between_its_codes():
    codes = np.repeat([0, 1, 7, 8], 10)
    splits = grow(predictors(codes), (codes > 4).astype(np.int64), GROWTH, 0)
    assert splits.feature.tolist() == [0, -1, -1]
    assert splits.threshold[0] in range(1, 7)


def test_scores_that_follow_a_predictor_are_split():
    codes = np.repeat([0, 1], 20)
    splits = grow(predictors(codes), scores(codes + rng().normal(0, 0.1, 40)), GROWTH, 0)
    assert splits.feature[0] == 0


def test_a_difference_in_spread_of_being_missing_is_seen_beside_that_of_values():
    codes = np.repeat([0, 1], 200)
    missing = codes * (np.arange(400) % 2)
    splits = grow(predictors(codes), scores(rng().normal(size=400), missing), GROWTH, 0)
    assert splits.feature[0] == 0


def test_what_chance_would_split_as_well_is_left_whole():
    whole = 0
    for number in range(20):
        random = rng(number)
        seen = predictors(*random.integers(0, 20, (5, 300)))
        whole += len(grow(seen, random.integers(0, 3, 300), Growth(15, 0.001), 0).left) == 1
    assert whole >= 15


def test_levels_put_in_order_by_the_target_itself_have_to_differ_by_more():
    split = {2: 0, 100: 0}
    for number in range(10):
        level, target = rng(number).integers(0, 100, 3000), rng(50 + number).normal(size=3000)
        means = np.bincount(level, weights=target) / np.bincount(level)
        seen = predictors(np.argsort(np.argsort(means))[level])
        for choices in split:
            found = grow_chosen(seen, np.array([choices]), scores(target), Growth(15, 0.001), 0)
            split[choices] += len(found.left) > 1
    assert split[2] == 10
    assert split[100] <= 1


def test_an_interaction_that_no_first_split_shows_is_found():
    first, second = np.repeat([0, 0, 1, 1], 100), np.tile(np.repeat([0, 1], 100), 2)
    splits = grow(predictors(first, second), first ^ second, GROWTH, 0)
    assert len(splits.left) == 7


def test_a_rule_within_a_rare_group_is_found():
    rare = np.repeat([0, 1, 2], [5000, 10, 10])
    splits = grow(predictors(rare), rare, GROWTH, 0)
    assert len(np.unique(splits.descend(predictors(rare)))) == 3


@pytest.mark.parametrize("rows", [0, 1, 9])
def test_fewer_rows_than_two_leaves_are_not_split(rows: int):
    codes = np.arange(rows)
    assert len(grow(predictors(codes), codes % 2, GROWTH, 0).left) == 1


def test_without_predictors_or_differences_there_is_one_leaf():
    codes = np.arange(50)
    assert len(grow(np.empty((50, 0), dtype=np.float32), codes % 2, GROWTH, 0).left) == 1
    assert len(grow(predictors(codes), np.zeros(50, dtype=np.int64), GROWTH, 0).left) == 1
    assert len(grow(predictors(codes), np.zeros((50, 1)), GROWTH, 0).left) == 1


def test_every_leaf_has_the_rows_that_were_asked_for():
    codes = rng().integers(0, 100, 500)
    seen = predictors(codes)
    splits = grow(seen, codes // 10, Growth(17, 0.05), 0)
    assert np.bincount(splits.descend(seen))[splits.left < 0].min() >= 17


def test_the_quantile_is_that_of_chi_square():
    freedom = np.arange(1.0, 32.0)
    assert _quantile(freedom, 0.001) * freedom == pytest.approx(chi2.isf(0.001, freedom), rel=0.04)


def tree_of(shrinkage: float) -> ConditionalTree:
    return ConditionalTree.of(two_levels_deep(), ROWS, np.array([0, 0, 1, 2, 1]), shrinkage)


def test_a_row_is_drawn_from_the_codes_counted_at_its_leaf():
    drawn = tree_of(0.0).draw(np.repeat(ROWS, 50, axis=0), rng()).reshape(5, 50)
    assert [set(each.tolist()) for each in drawn] == [{0}, {0}, {1}, {2}, {1}]


def test_the_rows_of_any_node_are_one_run():
    tree = tree_of(0.0)
    assert tree.rows.tolist() == [5, 2, 3, 2, 1]
    assert tree.first.tolist() == [0, 0, 2, 2, 4]
    assert np.repeat(tree.codes, tree.counts).tolist() == [0, 0, 1, 1, 2]


def test_without_shrinkage_even_a_split_of_no_strength_lends_nothing():
    splits = replace(two_levels_deep(), strength=np.array([0.0, np.inf, 4.0, np.inf, np.inf]))
    assert ConditionalTree.of(splits, ROWS, np.zeros(5, dtype=np.int64), 0.0).handed.tolist() == [0.0] * 5


def test_a_doubtful_split_lends_to_its_leaves_and_a_clear_one_does_not():
    assert tree_of(1.0).handed.tolist() == pytest.approx([0, 0.1, 0.1, 0.25, 0.25])
    assert tree_of(5.0).handed.tolist() == pytest.approx([0, 0.5, 0.5, 1, 1])
    drawn = tree_of(1.0).draw(np.repeat(ROWS[3:4], 4000, axis=0), rng())
    # leaf 4 hands a quarter to its parent, that a tenth of it to the root: code 0 is drawn from the root alone
    assert np.mean(drawn == 0) == pytest.approx(0.25 * 0.1 * 2 / 5, abs=0.005)
    assert np.mean(drawn == 1) == pytest.approx(0.25 * (0.9 * 2 / 3 + 0.1 * 2 / 5), abs=0.03)


def test_rows_that_end_in_one_node_get_its_codes_in_nearly_their_shares():
    spread = _spread(np.repeat([4, 9], [1000, 10]), np.random.default_rng(0))
    for numbers, rows in ((spread[:1000], 1000), (spread[1000:], 10)):
        assert np.array_equal(np.sort((numbers * rows).astype(int)), np.arange(rows))
    assert not np.array_equal(np.argsort(spread[:1000]), np.arange(1000))
