"""Estimates and their intervals against textbook values and against counting."""

import numpy as np
import pytest

from models.estimates import Estimate, auc, excess, mean_count, scaled, share
from models.finding import Interval


def test_a_share_has_wilsons_interval():
    found = share(10, 100)
    assert found.value == 0.1
    assert (found.interval.low, found.interval.high) == pytest.approx((0.0552, 0.1744), abs=1e-4)


def test_no_success_at_all_leaves_room_above():
    assert share(0, 100).interval.low == 0
    assert share(0, 100).interval.high == pytest.approx(0.0370, abs=1e-4)


def test_counts_of_zero_leave_room_above_and_clustered_counts_more_than_scattered_ones():
    assert mean_count(np.zeros(100)).interval.high == pytest.approx(0.0384, abs=1e-4)
    scattered, clustered = np.zeros(100), np.zeros(100)
    scattered[:8], clustered[0] = 1, 8
    assert mean_count(scattered).value == mean_count(clustered).value == 0.08
    assert mean_count(clustered).interval.high > mean_count(scattered).interval.high


def test_a_copy_free_table_is_certain_to_have_no_copies():
    none = excess(np.zeros(50), share(0, 50), 1.0)
    assert none.value == 0
    assert none.interval.high == 0
    assert none.interval.low == pytest.approx(-share(0, 50).interval.high)


def test_an_excess_is_scaled_and_lies_within_its_interval():
    counts = np.array([1.0] * 5 + [0.0] * 95)
    found = excess(counts, scaled(share(1, 100), 2.0), 2.0)
    assert found.value == pytest.approx(0.08)
    assert found.interval.low < 0.08 < found.interval.high


def test_scaling_scales_the_interval_too():
    assert scaled(Estimate(0.1, Interval(low=0.0, high=0.2)), 3.0).interval.high == pytest.approx(0.6)


def test_auc_counts_pairs_and_ties_one_half():
    positives, negatives = np.array([3.0, 1.0, 2.0]), np.array([1.0, 0.0])
    pairs = [(p > n) + 0.5 * (p == n) for p in positives for n in negatives]
    assert auc(positives, negatives).value == pytest.approx(np.mean(pairs))


def test_auc_interval_is_delongs_and_covers_the_truth():
    rng = np.random.default_rng(0)
    covered = [
        found.interval.low <= 0.5 <= found.interval.high
        for found in (auc(rng.normal(size=60), rng.normal(size=40)) for _ in range(300))
    ]
    assert 0.9 <= np.mean(covered) <= 0.99


def test_a_perfect_order_of_few_rows_is_not_certain():
    assert auc(np.array([2.0, 3.0, 4.0]), np.array([0.0, 1.0])).interval.low < 0.6


def test_equal_scores_tell_nobody_apart():
    assert auc(np.ones(5), np.ones(7)) == Estimate(0.5, Interval(low=0.5, high=0.5))


def test_one_row_on_a_side_still_has_an_interval():
    assert auc(np.array([1.0]), np.array([0.0])).interval.low < 0.1
