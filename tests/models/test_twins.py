"""Equal rows are found among any number of rows, by keys."""

import numpy as np
import pytest
from crowd import crowd, shuffled

from models.schema import Column
from models.table import Table
from models.twins import combined, copies, row_keys, times

NUMBER = Column(name="x", kind="continuous", dtype="double", bounds=(-1, 1), decimals=1, nullable=True)
FREE = Column(name="y", kind="continuous", dtype="double", bounds=(-1, 1), nullable=True)


def keys(*numbers):
    return np.array(numbers, dtype=np.uint64)


@pytest.mark.parametrize(("one", "other"), [(0.3, 0.1 + 0.2), (np.nan, np.nan), (0.0, -0.0)], ids=str)
def test_cells_are_equal_by_their_steps_and_when_both_are_missing(one, other):
    table = Table((NUMBER,), np.array([[one], [other], [0.9]]))
    first, second, third = row_keys(table)
    assert first == second != third


def test_without_a_step_numbers_are_equal_to_the_last_bit():
    assert len(set(row_keys(Table((FREE,), np.array([[0.3], [0.1 + 0.2], [0.3]]))).tolist())) == 2


def test_keys_belong_to_rows_and_tell_columns_apart():
    people = crowd(500, 1)
    assert len(np.unique(row_keys(people))) == 500
    assert sorted(row_keys(people)) == sorted(row_keys(shuffled(people)))
    one, other = row_keys(Table((NUMBER, FREE), np.array([[0.1, 0.2], [0.2, 0.1]])))
    assert one != other


def test_combined_keys_are_equal_where_all_parts_are():
    first, second, third = combined([keys(1, 1, 2), keys(2, 2, 1)], 3)
    assert first == second != third


def test_a_table_without_columns_has_one_key():
    assert len(set(row_keys(Table((), np.empty((3, 0)))).tolist())) == 1


def test_times_counts_how_often_each_key_is_found():
    assert times(keys(1, 2, 3), keys(3, 1, 3)).tolist() == [1, 0, 2]
    assert times(keys(1, 2), keys()).tolist() == [0, 0]


def test_copies_count_for_rows_that_no_other_real_row_equals():
    known, unseen = copies(keys(1, 2, 2, 3), keys(3, 4, 5), keys(1, 1, 2, 3, 4))
    assert known.tolist() == [2, 0, 0, 0]
    assert unseen.tolist() == [0, 1, 0]


def test_where_all_rows_are_alike_nobody_is_copied():
    assert copies(keys(1, 1), keys(1), keys(1))[0].tolist() == [0, 0]
