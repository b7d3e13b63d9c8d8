"""What held-out rows say of a score: its loss, its slope, and whether another one is better."""

from __future__ import annotations

import numpy as np
import pytest

from models.embedding import Embedded
from models.exchanges import STEEPEST, Answers, gained, losses, pairings, quality, slope_of, wanted
from models.randomness import Seed
from models.table import Floats

ROWS = np.arange(2000)


def embedded(own: Floats, other: Floats) -> Embedded:
    return Embedded(2, {(0, 1): own[:, None].astype(np.float32), (1, 0): other[:, None].astype(np.float32)})


def answers(scale: float) -> list[Answers]:
    """To scores of normal numbers with a correlation of 0.6, in two folds; right at a scale of 1."""
    a, noise = np.random.default_rng(1).normal(size=(2, 2000))
    b = 0.6 * a + 0.8 * noise
    scores = embedded(scale * a, b * 0.6 / (1 - 0.36))
    return [Answers.of(scores, ROWS[fold::2], Seed.of(fold)) for fold in (0, 1)]


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0])
def test_the_slope_makes_up_for_the_scale_of_scores(scale: float):
    found = quality(answers(scale), 1.0, 1, 2000)
    assert found.slope * scale == pytest.approx(1, rel=0.15)
    assert found.log_loss == pytest.approx(quality(answers(1.0), 1.0, 1, 2000).log_loss, abs=1e-3)
    assert found.score_real == pytest.approx(0.36 / (1 - 0.36), rel=0.15)


def test_scores_that_are_wrong_are_worth_nothing():
    found = quality(answers(-1.0), 1.0, 1, 2000)
    assert found.slope == 0
    assert found.log_loss == pytest.approx(found.log_loss_constant)
    assert not found.informed


def test_a_slope_ends_at_its_bound():
    assert slope_of(np.full(100, 0.01)) == STEEPEST
    assert slope_of(np.full(100, -0.01)) == slope_of(np.zeros(100)) == 0


def test_the_slope_is_where_the_loss_is_least():
    margins = np.random.default_rng(2).normal(0.5, 2, size=500)
    tried = np.linspace(0, 3, 3001)
    least = tried[np.argmin([np.logaddexp(0, -slope * margins).mean() for slope in tried])]
    assert slope_of(margins) == pytest.approx(least, abs=1e-3)


def test_one_fold_is_judged_with_the_slope_of_the_others():
    first, second = answers(1.0)
    turned = Answers(-second.margins, second.first, second.second, -second.lift)
    assert losses([first, turned])[0] == pytest.approx(np.log(2))
    assert losses([turned, first])[0].mean() > np.log(2)


def test_a_better_score_of_the_same_pairs_gains_and_the_same_one_gains_nothing():
    some, none = answers(1.0), [Answers(0 * each.margins, each.first, each.second, 0.0) for each in answers(1.0)]
    gain, error = gained(none, some)
    assert gain > 10 * error > 0
    assert gained(some, some) == (0, 0)


def test_all_rows_are_paired_and_never_with_themselves():
    first, second = pairings(ROWS[:7], 3, Seed.of(1))
    assert len(first) == 9
    assert (first != second).all()
    assert set(pairings(ROWS[:8], 1, Seed.of(1))[0]) | set(pairings(ROWS[:8], 1, Seed.of(1))[1]) == set(range(8))


@pytest.mark.parametrize(("rows", "times"), [(10, 20), (10_000, 5), (1_000_000, 2)])
def test_the_more_rows_the_less_often_each_is_paired(rows: int, times: int):
    assert wanted(50_000, rows, 2, 20) == times
