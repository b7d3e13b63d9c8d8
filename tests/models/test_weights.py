"""Weights between features of parts."""

from __future__ import annotations

import numpy as np
import pytest

from models.basis import Features
from models.embedding import Embedded
from models.randomness import Seed
from models.weights import ROUNDS, Problem

ROWS = np.arange(1500)
FIRST, SECOND = np.random.default_rng(1).normal(size=(2, 1500, 3)).astype(np.float32)
SECOND[:, 0] = 0.6 * FIRST[:, 0] + 0.8 * SECOND[:, 0]


def problem(second: Features = SECOND) -> Problem:
    return Problem([FIRST, second], [np.arange(3), np.arange(second.shape[1])])


@pytest.fixture(scope="module")
def found():
    return problem().fitted(ROWS, [1.0, 10.0], ROUNDS, Seed.of(1))


def test_the_pair_of_columns_that_hangs_together_has_the_weight(found):
    weights = np.abs(found[10.0, ROUNDS][0, 1])
    assert weights[0, 0] == pytest.approx(0.6 / (1 - 0.36), rel=0.25)
    assert weights.sum() - weights[0, 0] < 0.1 * weights[0, 0]


def test_reweighting_and_a_larger_penalty_leave_less_to_pairs_that_do_not(found):
    others = {choice: np.abs(weights[0, 1]).sum() - np.abs(weights[0, 1][0, 0]) for choice, weights in found.items()}
    assert len(found) == 2 * ROUNDS
    assert others[1.0, 1] > others[10.0, 1] > others[10.0, ROUNDS]


def test_other_rows_teach_nothing():
    changed = problem(np.vstack([SECOND[:800], -SECOND[800:]]))
    for asked in (problem(), changed):
        few = asked.fitted(ROWS[:800], [1.0], 1, Seed.of(1))[1.0, 1][0, 1]
        assert few == pytest.approx(problem().fitted(ROWS[:800], [1.0], 1, Seed.of(1))[1.0, 1][0, 1])


def test_factors_make_the_scores_of_the_weights_in_fewer_dimensions(found):
    asked, weights = problem(), found[10.0, ROUNDS]
    sides = {pair: asked.features[pair[0]] @ factor for pair, factor in asked.factored(weights, 2.0).items()}
    assert sides[0, 1].shape[1] == 1
    whole = asked.embedded(weights).scores([ROWS] * 2)
    assert np.corrcoef(Embedded(2, sides).scores([ROWS] * 2), 2 * whole)[0, 1] > 0.999


def test_a_part_without_features_has_no_weights():
    asked = problem(SECOND[:, :0])
    assert asked.pairs == []
    assert (asked.embedded({}).scores([ROWS] * 2) == 0).all()
    assert {pair: factor.shape for pair, factor in asked.factored({}, 1.0).items()} == {(0, 1): (3, 0), (1, 0): (0, 0)}
