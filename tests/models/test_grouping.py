"""Columns that are associated find one another."""

from __future__ import annotations

import numpy as np

from models.grouping import grouped, within
from models.table import Floats


def pairs(strengths: list[tuple[int, int, float]], columns: int) -> Floats:
    matrix = np.eye(columns)
    for i, j, strength in strengths:
        matrix[i, j] = matrix[j, i] = strength
    return matrix


def companions(label: Floats) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(label == part).tolist()) for part in set(label.tolist())}


def test_associated_pairs_stand_together():
    matrix = pairs([(0, 3, 0.9), (1, 4, 0.8), (2, 5, 0.7)], 6)
    assert companions(grouped(matrix, 3)) == {frozenset({0, 3}), frozenset({1, 4}), frozenset({2, 5})}


def test_without_bounds_parts_are_of_equal_size_whatever_the_associations():
    matrix = pairs([(i, j, 0.9) for i in range(5) for j in range(i)], 6)
    assert sorted(map(len, companions(grouped(matrix, 2)))) == [3, 3]


def test_within_bounds_a_group_of_four_is_kept_whole():
    matrix = pairs([(i, j, 0.9) for i in range(4) for j in range(i)] + [(4, 5, 0.5)], 6)
    assert companions(grouped(matrix, 2, (2, 4))) == {frozenset({0, 1, 2, 3}), frozenset({4, 5})}
    assert sorted(map(len, companions(grouped(matrix, 2, (3, 3))))) == [3, 3]


def test_columns_of_opposite_sides_part_however_strongly_they_are_associated():
    matrix = pairs([(0, 1, 0.99), (2, 3, 0.99)], 4)
    label = grouped(matrix, 2, (1, 4), np.array([1, -1, 1, -1]))
    assert companions(label) == {frozenset({0, 2}), frozenset({1, 3})}


def test_one_part_holds_all():
    assert grouped(np.eye(3), 1).tolist() == [0, 0, 0]


def test_within_counts_every_ordered_pair_of_a_part():
    strength = np.array([[0.0, 2.0, 3.0], [2.0, 0.0, 5.0], [3.0, 5.0, 0.0]])
    assert within(strength, np.array([0, 0, 1])) == 4
