"""Synthetic rows credit the real rows that they are nearest to."""

import numpy as np
import pytest
from crowd import crowd, shuffled

from models.crediting import GROUPS, credited
from models.schema import Column
from models.table import Table

NUMBER = Column(name="x", kind="integer", dtype="int64", bounds=(0, 100))


def numbers(*values):
    return Table((NUMBER,), np.array(values, dtype=float)[:, None])


def test_each_row_credits_one_in_all():
    train, holdout = crowd(60, 1), crowd(40, 2)
    known, unseen = credited(crowd(50, 3), train, holdout)
    assert (len(known), len(unseen)) == (60, 40)
    assert known.sum() + unseen.sum() == pytest.approx(50)


def test_the_nearest_row_is_credited_whichever_table_it_is_in():
    known, unseen = credited(numbers(10, 11, 50), numbers(10, 30), numbers(50, 70))
    assert known.tolist() == [2, 0]
    assert unseen.tolist() == [1, 0]


def test_rows_that_are_about_as_near_share():
    known, unseen = credited(numbers(30), numbers(10, 100), numbers(49, 0))
    assert known.tolist() == [0.5, 0]
    assert unseen.tolist() == [0.5, 0]


def test_equal_rows_share_in_equal_parts():
    known, unseen = credited(numbers(5), numbers(5, 5, 90), numbers(5, 5))
    assert known.tolist() == [0.25, 0.25, 0]
    assert unseen.tolist() == [0.25, 0.25]


def test_a_copy_is_shared_with_nobody_else():
    train = crowd(200, 1)
    known, unseen = credited(train, train, crowd(200, 2))
    assert known.tolist() == [1.0] * 200
    assert not unseen.any()


def test_the_order_of_real_rows_does_not_matter():
    train, holdout, drawn = crowd(60, 1), crowd(40, 2), crowd(50, 3)
    once = credited(drawn, train, holdout)[0]
    order = np.random.default_rng(0).permutation(60)
    assert credited(shuffled(drawn), train.take(order), holdout)[0] == pytest.approx(once[order])


def test_fewer_rows_than_groups_are_enough():
    few = crowd(GROUPS // 4, 1)
    assert credited(crowd(5, 2), few, few.take(slice(0, 0)))[0].sum() == pytest.approx(5)
