"""Columns in coarse classes."""

import numpy as np

from models.classes import Classes
from models.schema import Column

NUMBER = Column(name="x", kind="integer", dtype="int64", bounds=(0, 10), nullable=True)
LEVEL = Column(name="l", kind="categorical", dtype="string", levels=("a", "b", "c", "d"), nullable=True)


def cells(*values):
    return np.array(values, dtype=float)


def test_numbers_are_cut_at_the_quantiles_of_training_rows():
    halves = Classes.of(NUMBER, cells(1, 2, 3, 4), 2)
    assert halves.codes(cells(0, 2, 3, 9)).tolist() == [0, 0, 1, 1]


def test_the_commonest_levels_have_a_class_and_the_others_share_one():
    two_and_rest = Classes.of(LEVEL, cells(0, 0, 1, 1, 2, 3), 3)
    assert two_and_rest.codes(cells(0, 1, 2, 3)).tolist() == [0, 1, 2, 2]


def test_missing_cells_are_a_class_after_all_others():
    for column in (NUMBER, LEVEL):
        assert Classes.of(column, cells(1, 2, np.nan), 4).codes(cells(np.nan)).tolist() == [4]


def test_a_column_without_values_has_one_class():
    assert Classes.of(NUMBER, cells(np.nan), 4).codes(cells(3, 7)).tolist() == [0, 0]


def test_shares_of_all_classes_sum_to_one_unless_there_are_no_cells():
    halves = Classes.of(NUMBER, cells(1, 2, 3, 4), 2)
    assert halves.shares(cells(1, 1, 4, np.nan)).tolist() == [0.5, 0.25, 0.25]
    assert halves.shares(cells()).tolist() == [0, 0, 0]
