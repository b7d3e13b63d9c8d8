"""Scores as dot products of the parts' sides."""

from __future__ import annotations

import numpy as np
import pytest

from models.embedding import Embedded

RANDOM = np.random.default_rng(1)
SIDES = {(i, j): RANDOM.normal(size=(6, 2)).astype(np.float32) for i in range(3) for j in range(3) if i != j}
THREE = Embedded(3, SIDES)
ROWS = np.arange(6)


def test_a_score_is_the_sum_over_pairs_of_parts():
    rows = [np.array([0]), np.array([1]), np.array([2])]
    expected = sum(SIDES[i, j][i] @ SIDES[j, i][j] for i, j in ((0, 1), (0, 2), (1, 2)))
    assert THREE.scores(rows) == pytest.approx([expected], abs=1e-5)


def test_a_margin_is_what_the_score_loses_when_two_rows_exchange_a_part():
    first, second = ROWS[:3], ROWS[3:]
    whole = THREE.scores([ROWS] * 3)
    for part in range(3):
        rows = [ROWS.copy() for _ in range(3)]
        rows[part] = np.concatenate([second, first])
        exchanged = THREE.scores(rows)
        lost = (whole - exchanged)[first] + (whole - exchanged)[second]
        assert THREE.margins(first, second)[:, part] == pytest.approx(lost, abs=1e-5)


def test_what_bends_and_stretches_sides_changes_scores_accordingly():
    bent = THREE.bent({(0, 1): np.full(6, 2.0)}, stretch=3.0)
    more = 3 * (THREE.scores([ROWS] * 3) + 2 * SIDES[1, 0][:, 0])
    assert bent.scores([ROWS] * 3) == pytest.approx(more, abs=1e-4)
    assert THREE.sides[0, 1] is SIDES[0, 1]
