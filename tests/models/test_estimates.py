"""Estimates and their intervals against textbook values and against counting."""

import numpy as np
import pytest

from models.estimates import (
    Estimate,
    auc,
    clustered,
    difference,
    excess,
    leaning,
    mean_count,
    recall,
    scaled,
    share,
    spread,
    turned,
)
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


def test_ten_copies_where_the_control_has_none_are_no_accident():
    """The lower end leaves out what ten copies may be by chance if chance brings about none: 3.84 in 2,000 at most."""
    counts = np.zeros(2000)
    counts[:10] = 1
    ten = excess(counts, mean_count(np.zeros(2000)), 1.0)
    assert ten.value == 0.005
    assert ten.interval.low * 2000 == pytest.approx(10 - 3.84, abs=0.01)
    assert ten.interval.high * 2000 == pytest.approx(10 + 1.96 * np.sqrt(10), abs=0.02)


def test_facts_are_no_estimate_from_above():
    one = np.zeros(2000)
    one[0] = 1
    control = mean_count(np.zeros(2000))
    assert excess(one, control, 1.0, facts=True).interval.high == pytest.approx(1 / 2000)
    assert excess(one, control, 1.0).interval.high > 1 / 1000
    assert excess(one, control, 1.0, facts=True).interval.low == excess(one, control, 1.0).interval.low


def test_below_an_excess_stands_the_spread_of_what_chance_brings_about():
    counts, control = np.zeros(1000), share(100, 1000)
    counts[:200] = 1
    under = np.hypot(1.96 * np.sqrt(0.1 * 0.9 / 1000), control.interval.high - 0.1)
    assert excess(counts, control, 1.0).interval.low == pytest.approx(0.1 - under, abs=1e-4)


def test_one_person_copied_ten_times_is_less_certain_than_ten_people():
    ten, one = np.zeros(2000), np.zeros(2000)
    ten[:10], one[0] = 1, 10
    low = [excess(counts, mean_count(np.zeros(2000), clustered(counts)), 1.0).interval.low for counts in (ten, one)]
    assert low[1] < 0 < low[0]


def test_counts_are_clustered_by_their_variance_over_their_mean():
    assert clustered(np.zeros(5)) == clustered(np.array([3.0])) == 1.0
    assert clustered(np.array([8.0] + [0.0] * 99)) == pytest.approx(8, rel=0.02)


def test_a_match_is_most_uncertain_at_one_half():
    assert [spread(rate) for rate in (0.0, 0.5, 1.0, 1.3)] == [0, 0.5, 0, 0]


def test_a_difference_of_rates_has_newcombes_interval():
    """Table II of Newcombe (1998), method 10: 56 of 70 and 48 of 80."""
    found = difference(share(56, 70), share(48, 80))
    assert found.value == pytest.approx(0.2)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.0524, 0.3339), abs=1e-4)


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


def test_recall_counts_the_positives_that_few_negatives_reach():
    negatives = np.arange(99.0)
    assert recall(np.array([98.5, 98.0, 5.0, 200.0]), negatives, 0.01).value == 0.5
    assert recall(np.array([98.5, 98.0, 5.0, 200.0]), negatives, 0.02).value == 0.75


def test_among_equal_scores_nobody_is_recalled():
    assert recall(np.ones(50), np.ones(200), 0.01).value == 0


def test_recall_of_strangers_is_the_rate_and_its_interval_covers_it():
    rng = np.random.default_rng(0)
    found = [recall(rng.normal(size=500), rng.normal(size=400), 0.05) for _ in range(200)]
    assert np.mean([each.value for each in found]) == pytest.approx(0.05, abs=0.005)
    assert np.mean([each.interval.low <= 0.05 <= each.interval.high for each in found]) >= 0.93


def test_leaning_compares_what_an_average_member_of_each_group_receives():
    assert leaning(np.array([3.0] * 100), np.array([1.0] * 50)).value == pytest.approx(0.75, abs=0.002)
    assert turned(leaning(np.array([3.0] * 100), np.array([1.0] * 50))).value == pytest.approx(0.25, abs=0.002)


def test_a_group_that_receives_nothing_is_not_known_to_receive_nothing():
    leaned = leaning(np.ones(100), np.zeros(100))
    assert leaned.value > 0.99
    assert leaned.interval.low < 0.95 < leaned.interval.high < 1


def test_leaning_covers_the_truth():
    rng = np.random.default_rng(0)
    found = [leaning(rng.poisson(0.5, 400), rng.poisson(0.5, 200)).interval for _ in range(300)]
    assert 0.92 <= np.mean([each.low <= 0.5 <= each.high for each in found]) <= 0.98
