"""Latents are cut by shares, and their correlations are recovered from what the cuts leave of them."""

from __future__ import annotations

import numpy as np
import pytest

from models.latents import LEAST, Scale, correlations, within
from models.randomness import Seed

HALVES = Scale(np.array([0.5, 0.5]))
LOPSIDED = Scale(np.array([0.9, 0.1]))
FIFTHS = Scale(np.full(5, 0.2))


def pair(rho: float, rows: int, number: int = 1) -> np.ndarray:
    both = Seed.of(number).generator().standard_normal((rows, 2))
    both[:, 1] = rho * both[:, 0] + np.sqrt(1 - rho**2) * both[:, 1]
    return both


def scored(latents: np.ndarray, *scales: Scale) -> np.ndarray:
    return np.stack([scale.scores[scale.answers(x)] for scale, x in zip(scales, latents.T, strict=True)], axis=1)


def none(count: int) -> np.ndarray:
    return np.eye(count, dtype=bool)


def test_two_halves_meet_at_zero():
    assert HALVES.cuts.tolist() == pytest.approx([0.0])
    assert HALVES.scores.tolist() == pytest.approx([-0.7979, 0.7979], abs=1e-4)
    assert HALVES.answers(np.array([-0.1, 0.1])).tolist() == [0, 1]


def test_answers_come_in_their_shares():
    answers = LOPSIDED.answers(Seed.of(1).generator().standard_normal(20_000))
    assert np.mean(answers == 1) == pytest.approx(0.1, abs=0.01)


def test_the_first_coefficient_is_the_variance_of_the_scores_and_halves_have_odd_ones_alone():
    assert HALVES.coefficients[0] == pytest.approx(2 / np.pi)
    assert HALVES.coefficients[1::2].tolist() == pytest.approx([0.0] * 10)
    assert FIFTHS.coefficients[0] == pytest.approx(np.mean(FIFTHS.scores**2))


@pytest.mark.parametrize("rho", [-0.8, 0.0, 0.4, 0.9])
@pytest.mark.parametrize("scales", [(HALVES, HALVES), (LOPSIDED, FIFTHS), (FIFTHS, FIFTHS)], ids=["2x2", "2x5", "5x5"])
def test_a_latent_correlation_is_recovered_from_coarse_answers(rho: float, scales: tuple[Scale, Scale]):
    scores = scored(pair(rho, 40_000), *scales)
    assert correlations(scores, scales, none(2))[0, 1] == pytest.approx(rho, abs=0.04)


def test_rows_in_which_one_of_the_two_is_unknown_do_not_count():
    scores = scored(pair(0.7, 20_000), FIFTHS, FIFTHS)
    scores[::2, 1] = np.nan
    assert correlations(scores, (FIFTHS, FIFTHS), none(2))[0, 1] == pytest.approx(0.7, abs=0.04)


def test_latents_that_are_set_apart_and_those_hardly_ever_known_together_do_not_correlate():
    scores = scored(pair(0.9, 1000), FIFTHS, FIFTHS)
    assert correlations(scores, (FIFTHS, FIFTHS), np.ones((2, 2), dtype=bool))[0, 1] == 0.0
    scores[5:, 1] = np.nan
    assert correlations(scores, (FIFTHS, FIFTHS), none(2))[0, 1] == 0.0


def test_chance_correlations_of_few_rows_are_shrunk():
    scales = (FIFTHS,) * 30
    scores = scored(Seed.of(1).generator().standard_normal((20, 30)), *scales)
    off = correlations(scores, scales, none(30)) - np.eye(30)
    assert np.abs(off).max() < 0.35
    assert np.abs(np.corrcoef(scores.T) - np.eye(30)).max() > 0.6


def test_pairs_that_contradict_one_another_still_make_a_correlation_matrix():
    # a goes with b where c is unknown, b with c where a is, and a against c where b is
    a, b, c = (np.full(300, np.nan) for _ in range(3))
    one, two, three = slice(0, 100), slice(100, 200), slice(200, 300)
    answers = np.tile(FIFTHS.scores, 20)
    a[one] = b[one] = b[two] = c[two] = a[three] = answers
    c[three] = -answers
    matrix = correlations(np.stack([a, b, c], axis=1), (FIFTHS,) * 3, none(3))
    assert np.diag(matrix) == pytest.approx(np.ones(3))
    assert np.linalg.eigvalsh(matrix)[0] >= LEAST / 3
    assert matrix[0, 1] > 0.3
    assert matrix[0, 2] < -0.3


def test_an_answer_is_a_stretch_of_its_latent_and_an_unknown_one_all_of_it():
    low, high = HALVES.stretches(np.array([0, 1, -1]))
    assert low.tolist() == pytest.approx([-np.inf, 0.0, -np.inf])
    assert high.tolist() == pytest.approx([0.0, np.inf, np.inf])


def test_latents_are_drawn_within_their_stretches_and_correlate_as_they_did():
    latents = pair(0.8, 20_000)
    ends = [HALVES.stretches(HALVES.answers(each)) for each in latents.T]
    low, high = (np.stack(each, axis=1) for each in zip(*ends, strict=True))
    drawn = within(low, high, np.array([[1.0, 0.8], [0.8, 1.0]]), Seed.of(5))
    assert np.all((low <= drawn) & (drawn <= high))
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(0.8, abs=0.02)
    assert drawn.std(axis=0).tolist() == pytest.approx([1.0, 1.0], abs=0.03)


def test_a_known_latent_moves_an_unknown_one():
    low, high = np.array([[1.0, -np.inf]] * 20_000), np.array([[1.1, np.inf]] * 20_000)
    drawn = within(low, high, np.array([[1.0, 0.8], [0.8, 1.0]]), Seed.of(5))
    assert drawn[:, 1].mean() == pytest.approx(0.8 * 1.05, abs=0.03)
    assert drawn[:, 1].std() == pytest.approx(0.6, abs=0.03)


@pytest.mark.parametrize("end", [9.0, 40.0])
def test_stretches_far_out_in_either_tail_are_kept_to(end: float):
    low, high = np.array([[end, -np.inf]]), np.array([[np.inf, -end]])
    drawn = within(low, high, np.eye(2), Seed.of(5))[0]
    assert end <= drawn[0] <= end + 1
    assert -end - 1 <= drawn[1] <= -end
