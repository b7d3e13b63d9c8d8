"""A state holds numbers and facts, never objects that code would have to revive."""

import numpy as np
import pytest

from models.state import State


def test_arrays_of_objects_or_text_are_refused():
    with pytest.raises(TypeError, match="only numbers are stored"):
        State("cart", 1, arrays={"names": np.array(["a"], dtype=object)})
    with pytest.raises(TypeError, match="only numbers are stored"):
        State("cart", 1, arrays={"names": np.array(["a"])})


def test_numbers_of_every_sort_are_kept():
    sorts = ("bool", "int8", "uint32", "float32", "float64")
    state = State("cart", 1, arrays={name: np.zeros(1, dtype=name) for name in sorts})
    assert tuple(state.arrays) == sorts
