"""Trees that bend an axis of a score: they find what cells of one part say only together."""

from __future__ import annotations

import numpy as np
import pytest

from models.bends import Bends, Exchanges, Tree, bends
from models.embedding import Embedded
from models.exchanges import pairings
from models.randomness import Seed
from models.table import Booleans, Floats

ROWS = 1000
RANDOM = np.random.default_rng(1)


def exchanges(own: Floats, other: Floats) -> Exchanges:
    first, second = pairings(np.arange(len(own)), 4, Seed.of(1))
    sides = {(0, 1): own[:, None].astype(np.float32), (1, 0): other[:, None].astype(np.float32)}
    return Exchanges(first, second, Embedded(2, sides).margins(first, second))


def loss(found: Bends, answers: list[Booleans], axes: dict[tuple[int, int], Floats], asked: Exchanges) -> float:
    return float(np.logaddexp(0, -asked.bent(axes, found.added(answers))).mean())


def test_what_two_cells_say_only_together_is_learnt():
    """The other part's number follows whether the two answers differ; each of them alone tells nothing of it."""
    answers = RANDOM.integers(0, 2, (ROWS, 2)).astype(bool)
    other = np.where(answers[:, 0] != answers[:, 1], 1.0, -1.0)
    axes = {(0, 1): np.zeros(ROWS), (1, 0): other}
    told = [answers, np.zeros((ROWS, 1), dtype=bool)]
    asked = exchanges(axes[0, 1], other)
    found = bends(told, axes, asked, 30)
    side = found.added(told)[0, 1]
    assert side[other > 0].min() > side[other < 0].max()
    assert loss(found, told, axes, asked) < loss(found.first(5), told, axes, asked) < 0.69


def test_the_other_side_that_can_be_asked_nothing_is_left_straight():
    answers = [RANDOM.integers(0, 2, (ROWS, 2)).astype(bool), np.zeros((ROWS, 1), dtype=bool)]
    axes = {(0, 1): RANDOM.normal(size=ROWS), (1, 0): RANDOM.normal(size=ROWS)}
    added = bends(answers, axes, exchanges(axes[0, 1], axes[1, 0]), 3).added(answers)
    assert np.ptp(added[1, 0]) == 0


def test_rows_outside_the_exchanges_teach_nothing():
    answers = [RANDOM.integers(0, 2, (ROWS, 3)).astype(bool) for _ in range(2)]
    axes = {(0, 1): RANDOM.normal(size=ROWS), (1, 0): RANDOM.normal(size=ROWS)}
    asked = exchanges(axes[0, 1][:500], axes[1, 0][:500])
    found = bends(answers, axes, asked, 3)
    turned = [np.vstack([each[:500], ~each[500:]]) for each in answers]
    again = bends(turned, axes, asked, 3)
    for pair, trees in found.trees.items():
        assert all(
            np.array_equal(one.values, other.values) for one, other in zip(trees, again.trees[pair], strict=True)
        )


def test_a_leaf_of_fewer_than_five_rows_adds_nothing():
    answers = np.zeros((ROWS, 1), dtype=bool)
    answers[:4] = True
    other = np.where(answers[:, 0], 50.0, 0.0)
    axes = {(0, 1): np.zeros(ROWS), (1, 0): other}
    told = [answers, np.zeros((ROWS, 1), dtype=bool)]
    found = bends(told, axes, exchanges(axes[0, 1], other), 1)
    assert (found.added(told)[0, 1][:4] == 0).all()


def test_margins_follow_the_bent_sides():
    axes = {(0, 1): RANDOM.normal(size=ROWS), (1, 0): RANDOM.normal(size=ROWS)}
    added = {pair: RANDOM.normal(size=ROWS) for pair in axes}
    straight = exchanges(axes[0, 1], axes[1, 0])
    bent = exchanges(axes[0, 1] + added[0, 1], axes[1, 0] + added[1, 0])
    assert straight.bent(axes, added) == pytest.approx(bent.margins, abs=1e-4)


def test_a_tree_is_a_table_of_the_answers():
    tree = Tree([1, 0], np.array([0.0, 1.0, 2.0, 3.0]))
    assert tree(np.array([[False, False], [True, False], [False, True], [True, True]])).tolist() == [0, 1, 2, 3]
