"""What chance shows is known from the split, from other levels, and from the same count once before."""

from math import comb

import numpy as np
import pytest

from models.rarity import allowed, foreseen, surprise, unforeseen

ALL = np.ones(1, dtype=bool)


def test_a_held_out_person_s_level_stands_for_as_many_as_the_split_makes_of_it():
    none, one = np.array([0]), np.array([1])
    assert foreseen(ALL, none, one, 5, (50, 50)) == 1
    both_train = comb(50, 2) / comb(100, 2)
    assert foreseen(ALL, one, one, 5, (50, 50)) == pytest.approx(both_train / (1 - both_train))


def test_levels_that_many_have_or_the_release_hides_or_nobody_has_stand_for_none():
    one = np.array([1])
    assert foreseen(ALL, 4 * one, one, 5, (50, 50)) == 0
    assert foreseen(~ALL, one, one, 5, (50, 50)) == 0
    assert foreseen(ALL, 0 * one, 0 * one, 5, (50, 50)) == 0
    assert foreseen(ALL, one, 0 * one, 5, (50, 0)) == 0


def test_what_is_foreseen_is_without_bias_for_groups_of_any_size():
    rng = np.random.default_rng(1)
    people = np.repeat(np.arange(40), np.tile([1, 2, 3, 5], 10))
    differences = []
    for _ in range(1000):
        first = np.zeros(len(people), dtype=bool)
        first[rng.permutation(len(people))[:80]] = True
        train, holdout = (np.bincount(people[who], minlength=40) for who in (first, ~first))
        alone = np.count_nonzero((holdout == 0) & (train < 6))
        differences.append(alone - foreseen(np.ones(40, dtype=bool), train, holdout, 6, (80, len(people) - 80)))
    assert abs(np.mean(differences)) < 4 * np.std(differences) / np.sqrt(1000)


SIZES = (2000, 2000, 2000)


def test_beside_levels_that_are_frequent_alike_a_lone_rare_one_is_not_to_be_expected():
    assert unforeseen(np.full(10, 200), SIZES) < 1e-9
    assert unforeseen(np.array([1000, 1000, 0]), SIZES) < 1e-9


def test_beside_levels_of_all_sizes_it_is():
    assert unforeseen(np.array([1500, 300, 120, 50, 20, 8, 2]), SIZES) > 0.005


def test_a_few_held_out_people_expect_more_than_many():
    assert unforeseen(np.full(10, 4), (2000, 40, 2000)) > unforeseen(np.full(10, 40), (2000, 400, 2000))


@pytest.mark.parametrize("counts", [[], [0, 0], [2000, 0]])
def test_one_known_level_tells_nothing(counts):
    assert unforeseen(np.array(counts, dtype=np.int64), SIZES) == 1


def test_surprise_is_the_chance_of_so_many_where_as_many_were_expected():
    assert surprise(1, 1.0) == surprise(3, 3.5) == 1
    assert surprise(2, 1.0) == pytest.approx(1 - 0.5 - 0.25)
    assert surprise(1, 0.0) == 0
    assert surprise(1, 1e-6) == pytest.approx(1e-6 * np.log(2), rel=1e-3)
    assert surprise(10**4, 9_000.0) < 1e-6


def test_chance_is_allowed_what_it_hardly_exceeds():
    assert allowed(0.0, 0.001) == 0
    assert allowed(1e-5, 0.001) == 0
    most = allowed(2.5, 0.001)
    assert surprise(most + 1, 2.5) <= 0.001 < surprise(most, 2.5)


def test_as_many_as_were_counted_are_seldom_exceeded_by_more_than_allowed():
    rng = np.random.default_rng(1)
    counted, again = rng.poisson(20, 4000), rng.poisson(20, 4000)
    most = np.array([allowed(float(count), 0.01) for count in counted])
    assert np.mean(again > most) < 0.015
