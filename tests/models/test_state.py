"""A state holds numbers and facts, never objects that code would have to revive."""

import numpy as np
import pytest

from models.errors import StateError
from models.state import State, packed, unpacked


def test_arrays_of_objects_or_text_are_refused():
    with pytest.raises(TypeError, match="only numbers are stored"):
        State("cart", 1, arrays={"names": np.array(["a"], dtype=object)})
    with pytest.raises(TypeError, match="only numbers are stored"):
        State("cart", 1, arrays={"names": np.array(["a"])})


def test_numbers_of_every_sort_are_kept():
    sorts = ("bool", "int8", "uint32", "float32", "float64")
    state = State("cart", 1, arrays={name: np.zeros(1, dtype=name) for name in sorts})
    assert tuple(state.arrays) == sorts


def test_arrays_packed_end_to_end_come_apart_again():
    arrays = [np.array([1, 2]), np.array([], dtype=np.int64), np.array([3])]
    assert [each.tolist() for each in unpacked("rows", packed("rows", arrays))] == [[1, 2], [], [3]]


def test_a_state_of_another_kind_or_format_is_refused():
    state = State("cart", 1)
    state.expect("cart", 1)
    with pytest.raises(StateError, match="kind 'cart', format 1"):
        state.expect("cart", 2)
    with pytest.raises(StateError, match="kind 'cart'"):
        state.expect("copula", 1)
