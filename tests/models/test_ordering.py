"""Levels are put in the order of what they tell, whatever their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from models.bins import Codes
from models.ordering import features, natural, places, standard
from models.schema import Column, Kind

LEVELS = Column(name="x", kind=Kind.CATEGORICAL, dtype="string", levels=("a", "b", "c"), nullable=True)
CODES = np.repeat([0, 1, 2], 10)


def ranks(position: np.ndarray) -> list[int]:
    found = np.argsort(np.argsort(position)).tolist()
    return found if found[0] < found[-1] else [len(found) - 1 - rank for rank in found]


def test_codes_stand_by_their_mean_of_one_feature():
    about = standard(np.repeat([5.0, 9.0, 7.0], 10)[:, None])
    assert ranks(places(CODES, 3, about, least=1)) == [0, 2, 1]


def test_codes_stand_by_their_share_of_one_of_two_classes():
    about = np.concatenate([np.arange(10) < 2, np.arange(10) < 9, np.arange(10) < 5]).astype(np.int64)
    assert ranks(places(CODES, 3, about, least=1)) == [0, 2, 1]


def test_among_many_classes_the_direction_of_the_greatest_difference_counts():
    # codes 0 and 2 share classes 0 and 1 in other proportions, code 1 has classes of its own
    about = np.concatenate([np.arange(10) < 3, np.repeat([2, 3], 5), np.arange(10) < 5]).astype(np.int64)
    position = places(CODES, 3, about, least=1)
    assert abs(position[0] - position[2]) < 0.2 * abs(position[0] - position[1])


def test_a_code_of_few_rows_says_nothing():
    codes = np.array([0] * 10 + [1] * 10 + [2])
    about = standard(np.array([-1.0] * 10 + [1.0] * 10 + [50.0])[:, None])
    position = places(codes, 4, about, least=5)
    assert position[2] == position[3] == 0.0
    assert position[0] != position[1]


def test_ranks_stand_for_an_order_and_indicators_for_levels():
    number = Column(name="n", kind=Kind.INTEGER, dtype="int64", bounds=(0, 2))
    assert features(Codes.of(number), CODES, most=8).shape == (30, 1)
    seen = features(Codes.of(LEVELS), np.repeat([2, 0, 3], [15, 10, 5]), most=2)
    assert (seen[:, 0] > 0).tolist() == [True] * 15 + [False] * 15
    assert (seen[:, 1] > 0).tolist() == [False] * 15 + [True] * 10 + [False] * 5


def test_features_have_mean_0_and_variance_1_and_constants_are_0():
    scaled = standard(np.array([[1.0, 4.0], [3.0, 4.0]]))
    assert scaled.tolist() == [[-1.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize(("ordered", "expected"), [(True, True), (False, False)])
def test_levels_have_an_order_where_the_schema_says_so(ordered: bool, expected: bool):
    assert natural(LEVELS.model_copy(update={"ordered": ordered})) is expected


def test_numbers_and_booleans_have_an_order():
    assert natural(Column(name="n", kind=Kind.INTEGER, dtype="int64", bounds=(0, 2)))
    assert natural(Column(name="b", kind=Kind.BOOLEAN, dtype="bool"))
