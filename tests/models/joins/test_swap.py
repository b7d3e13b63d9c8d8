"""The join by swaps: dependence comes back, marginals stay, and the dial turns."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hidden_factor import UNINFORMED, correlation, parts_of, rejoined

from models.errors import SpecError
from models.joins import catalog

run = partial(rejoined, "swap")


def test_dependence_comes_back_as_strong_as_it_was_and_no_stronger():
    assert correlation(run()) == pytest.approx(0.8, abs=0.06)


def test_the_marginals_are_those_of_the_parts():
    found = run()
    for part in parts_of(600, 2):
        (name,) = part.names
        assert np.array_equal(np.sort(found.table[name]), np.sort(part[name]))


def test_beta_is_a_dial_from_concatenation_to_sharper_than_real():
    turned = [correlation(run(beta=beta)) for beta in (0, 0.3, 1, 5)]
    assert abs(turned[0]) < 0.15
    assert turned[0] + 0.2 < turned[1] < turned[2] - 0.1
    assert turned[3] > turned[2] + 0.03


def test_three_parts_are_joined_each_with_both_others():
    found = run(count=3)
    for one, other in (("a", "b"), ("a", "c"), ("b", "c")):
        assert correlation(found, one, other) == pytest.approx(0.8, abs=0.1)


def test_blocks_are_joined_on_their_own_and_none_is_lost():
    found = run(block=100)
    assert found.facts["blocks"] == 6
    assert len(np.unique(found.table["a"])) == 600
    assert correlation(found) == pytest.approx(0.8, abs=0.08)


def test_the_facts_tell_what_was_learnt_and_whether_the_chain_got_there():
    facts = run().facts
    assert facts["informed"]
    assert facts["log_loss"] < facts["log_loss_constant"]
    assert facts["beta"] == 1.0
    assert facts["converged"] == 1.0
    assert facts["split_r_hat"] < 1.1
    assert facts["sweeps"][-1] <= facts["sweeps_most"] == 1000
    assert len(facts["sweeps"]) == len(facts["score"]) == len(facts["acceptance"])
    assert facts["score"][-1] == pytest.approx(facts["score_real"], rel=0.3)
    assert "fallback" not in facts


def test_a_budget_that_is_too_small_is_told():
    facts = run(sweeps=5).facts
    assert facts["sweeps"] == [1, 5]
    assert facts["converged"] == 0.0


@pytest.mark.parametrize(("settings", "told"), UNINFORMED)
def test_without_anything_to_go_by_the_order_is_random_and_the_facts_say_why(settings: dict[str, Any], told: str):
    found = run(**settings)
    assert found.facts["informed"] is False
    assert told in found.facts["fallback"]
    assert found.shortfall == 0
    if found.table.names[1:]:
        assert abs(correlation(found)) < 0.5


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"beta": -1}, "beta"),
        ({"sweeps": 0}, "sweeps"),
        ({"block": 10}, "block"),
        ({"ratio": {"folds": 1}}, "ratio.folds"),
        ({"betta": 1}, "did you mean 'beta'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, Any], told: str):
    with pytest.raises(SpecError, match=told):
        catalog.build({"kind": "swap", **settings})
