"""The join by resampling: dependence comes back at the price of rows drawn twice, and the price is told."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hidden_factor import UNINFORMED, correlation, parts_of, rejoined

from models.errors import SpecError
from models.joins import catalog
from models.joins.resample import doubly_even, drawn
from models.randomness import Seed
from models.table import Table

run = partial(rejoined, "resample")


def test_dependence_comes_back_as_strong_as_it_was():
    assert correlation(run()) == pytest.approx(0.8, abs=0.08)


def test_beta_is_a_dial():
    turned = [correlation(run(beta=beta)) for beta in (0, 0.3, 1, 5)]
    assert abs(turned[0]) < 0.15
    assert turned[0] + 0.2 < turned[1] < turned[2] - 0.1 < turned[3]


def test_the_first_part_is_kept_and_rows_of_the_second_are_drawn_again():
    found = run()
    assert len(np.unique(found.table["a"])) == 600
    used = len(np.unique(found.table["b"])) / 600
    assert used == pytest.approx(1 - np.exp(-1), abs=0.1)
    assert found.facts["steps"][0]["used"] == round(used, 4)
    assert 1 < found.facts["steps"][0]["effective_sample_size"] < 600


def test_the_mean_of_a_part_stays_about_where_it_was():
    part = parts_of(600, 2)[1]
    assert run().table["b"].mean() == pytest.approx(part["b"].mean(), abs=0.2)


def test_each_further_part_is_joined_to_all_before():
    found = run(count=3)
    assert [step["informed"] for step in found.facts["steps"]] == [True, True]
    for one, other in (("a", "b"), ("a", "c"), ("b", "c")):
        assert correlation(found, one, other) == pytest.approx(0.8, abs=0.12)


def test_a_part_that_tells_nothing_is_put_beside_in_random_order():
    parts = [*parts_of(300, 2), parts_of(300, 2, 3)[2]]
    parts[2] = Table(parts[2].columns, np.random.default_rng(9).normal(size=(300, 1)))
    join = catalog.build("resample").fit(parts, Seed.of(1))
    found = join.join(lambda round, n: parts, 300, Seed.of(2))
    assert [step["informed"] for step in found.facts["steps"]] == [True, False]
    assert len(np.unique(found.table["c"])) == 300


@pytest.mark.parametrize(("settings", "told"), UNINFORMED)
def test_without_anything_to_go_by_the_order_is_random_and_the_facts_say_why(settings: dict[str, Any], told: str):
    found = run(**settings)
    assert found.facts["informed"] is False
    assert told in found.facts["fallback"]


def test_scaling_makes_rows_and_columns_even():
    scores = np.random.default_rng(1).normal(size=(30, 30)) * 3
    even = doubly_even(scores)
    assert np.allclose(even.sum(axis=1), 1)
    assert np.abs(even.sum(axis=0) - 1).max() < 0.02
    # odds ratios, which are all that the scores mean, are kept
    odds = np.log(even[0, 0] * even[1, 1] / even[0, 1] / even[1, 0])
    assert odds == pytest.approx(scores[0, 0] + scores[1, 1] - scores[0, 1] - scores[1, 0])


def test_columns_are_drawn_by_their_chances():
    found = drawn(np.tile([0.0, 0.25, 0.75], (4000, 1)), Seed.of(1))
    assert (np.bincount(found) / 4000).tolist() == pytest.approx([0.0, 0.25, 0.75], abs=0.03)


@pytest.mark.parametrize(
    ("settings", "told"), [({"beta": -1}, "beta"), ({"block": 10}, "block"), ({"sweeps": 9}, "sweeps")]
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, Any], told: str):
    with pytest.raises(SpecError, match=told):
        catalog.build({"kind": "resample", **settings})
