"""Unfinished training is kept, and taken up by the same fit alone."""

import numpy as np
import pytest

from models.state import State
from tasks.unfinished import Unfinished

STATE = State("training", 1, {"step": 3}, {"weights": np.arange(3.0)})


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "unfinished" / "money"


def test_what_was_saved_last_is_loaded(folder):
    keeper = Unfinished(folder, "key")
    assert keeper.load() is None
    keeper.save(State("training", 1, {"step": 1}, STATE.arrays))
    keeper.save(STATE)
    found = Unfinished(folder, "key").load()
    assert (found.kind, found.facts) == ("training", {"step": 3})
    assert np.array_equal(found.arrays["weights"], STATE.arrays["weights"])


def test_training_of_another_fit_is_not_taken_up(folder):
    Unfinished(folder, "key").save(STATE)
    assert Unfinished(folder, "other key").load() is None


@pytest.mark.parametrize("file", ["of.json", "state/state.json", "state/arrays.safetensors"])
@pytest.mark.parametrize("damage", ["cut short", "gone"])
def test_what_was_damaged_is_not_taken_up(folder, file, damage):
    keeper = Unfinished(folder, "key")
    keeper.save(STATE)
    path = folder / file
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-3])
    assert keeper.load() is None
