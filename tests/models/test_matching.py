"""Metropolis on a matching: the right frequencies, every row once, and a word on whether it got there."""

from __future__ import annotations

import numpy as np
import pytest

from models.embedding import Embedded
from models.matching import FIRST_LOOK, STATIONARY, matching, split_r_hat
from models.randomness import Seed
from models.table import Floats


def two_parts(rows: int, strength: float = 1.0) -> Embedded:
    """Two parts of one number; the score of a joined row is their product times ``strength``."""
    cells = np.linspace(-1, 1, rows, dtype=np.float32)[:, None]
    return Embedded(2, {(0, 1): cells * np.float32(strength), (1, 0): cells})


def three_parts(rows: int) -> Embedded:
    cells = np.linspace(-2, 2, rows, dtype=np.float32)[:, None]
    nothing = np.zeros((rows, 0), dtype=np.float32)
    sides = {(0, 1): cells, (1, 0): cells, (1, 2): cells, (2, 1): cells, (0, 2): nothing, (2, 0): nothing}
    return Embedded(3, sides)


def test_two_rows_are_exchanged_as_often_as_the_scores_say():
    embedded = two_parts(2)
    kept = [matching(embedded, 0.5, 9, Seed.of(number)).rows[1][0] == 0 for number in range(300)]
    # as they stand both rows score 1, exchanged -1: the difference is 4, halved by beta
    assert np.mean(kept) == pytest.approx(1 / (1 + np.exp(-2)), abs=0.06)


@pytest.mark.parametrize("embedded", [two_parts(101), three_parts(100)])
def test_every_row_of_every_part_is_used_once(embedded: Embedded):
    found = matching(embedded, 1.0, 60, Seed.of(1))
    for rows in found.rows:
        assert sorted(rows) == list(range(len(rows)))


def test_the_trace_is_the_score_of_the_matching():
    embedded = three_parts(100)
    found = matching(embedded, 1.0, 30, Seed.of(1))
    start = embedded.scores([np.arange(100)] * 3)
    assert found.score[-1] == pytest.approx((embedded.scores(found.rows) - start).mean(), abs=1e-5)


def order_of(embedded: Embedded, beta: float) -> float:
    rows = matching(embedded, beta, 200, Seed.of(1)).rows
    return float(np.corrcoef(rows[1], rows[2])[0, 1])


def test_parts_other_than_the_first_find_one_another():
    assert order_of(three_parts(300), beta=1.0) > 0.5


def test_a_larger_beta_is_sharper():
    assert order_of(three_parts(300), beta=5.0) > order_of(three_parts(300), beta=0.3) > 0.1


def test_without_anything_to_gain_every_exchange_is_made_and_the_trace_is_level():
    found = matching(two_parts(50, strength=0.0), 1.0, 1000, Seed.of(1))
    assert found.acceptance.tolist() == [1.0] * FIRST_LOOK
    assert found.split_r_hat == 1.0


def test_it_stops_when_the_trace_is_level_and_says_when_it_did_not():
    shuffled = np.random.default_rng(1).permutation(400)
    sides = {pair: side[shuffled] if pair == (1, 0) else side for pair, side in two_parts(400, 3.0).sides.items()}
    patient, hasty = (matching(Embedded(2, sides), 1.0, sweeps, Seed.of(1)) for sweeps in (2000, 6))
    assert patient.sweeps < 2000
    assert patient.converged
    assert patient.split_r_hat < STATIONARY
    assert hasty.sweeps == 6
    assert not hasty.converged


@pytest.mark.parametrize("rows", [0, 1])
def test_nothing_to_exchange_is_no_error(rows: int):
    assert matching(two_parts(rows), 1.0, 3, Seed.of(1)).rows[1].tolist() == list(range(rows))


@pytest.mark.parametrize(
    ("trace", "least", "most"),
    [
        (np.arange(400.0), 1.5, np.inf),
        (np.resize([0.0, 1.0], 400), 0.9, 1.05),
        (np.concatenate([np.arange(200.0), np.resize([199.0, 201.0], 200)]), 0.9, 1.05),
        (np.ones(400), 1.0, 1.0),
        (np.zeros(7), np.inf, np.inf),
        (np.repeat([0.0, 0.0, 0.0, 1.0], 10), np.inf, np.inf),
    ],
)
def test_a_level_trace_has_a_statistic_of_about_one_whatever_came_before(trace: Floats, least: float, most: float):
    assert least <= split_r_hat(trace) <= most
