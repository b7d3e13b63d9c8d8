"""The risk of an attack: what it reaches on training people beyond strangers, with an interval that is not cut off."""

import numpy as np
import pytest

from models.attacks import Attack, rate, sampled
from models.finding import Finding
from models.randomness import Seed
from models.schema import Column
from models.table import Table


def outcomes(successes, n):
    return np.repeat([1.0, 0.0], [successes, n - successes])


def test_the_risk_is_the_share_of_what_strangers_leave_to_reach():
    assert Attack(outcomes(60, 100), outcomes(20, 100)).risk.value == pytest.approx(0.5)
    assert Attack(outcomes(100, 100), outcomes(20, 100)).risk.value == 1


def test_the_risk_of_no_difference_is_zero_and_a_broken_control_shows_as_less():
    assert Attack(outcomes(20, 100), outcomes(40, 200)).risk.value == 0
    broken = Attack(outcomes(0, 100), outcomes(80, 100)).risk
    assert broken.value == pytest.approx(-4)
    assert broken.interval.low < -4


def test_both_rates_move_the_ends_by_their_wilson_intervals():
    risk = Attack(outcomes(10, 100), outcomes(0, 100)).risk
    # Wilson: 10 of 100 is within [0.0552, 0.1744], 0 of 100 within [0, 0.0370].
    assert risk.value == pytest.approx(0.1)
    assert risk.interval.high == pytest.approx(0.1744, abs=1e-4)
    by_control = 0.1 - (0.1 - 0.0370) / (1 - 0.0370)
    assert risk.interval.low == pytest.approx(0.1 - np.hypot(0.1 - 0.0552, by_control), abs=1e-4)


def test_the_interval_covers_the_true_risk_as_often_as_it_says():
    rng = np.random.default_rng(1)
    risks = [
        Attack(rng.binomial(1, 0.28, 300).astype(float), rng.binomial(1, 0.1, 300).astype(float)).risk
        for _ in range(1000)
    ]
    assert np.mean([r.interval.low <= 0.2 <= r.interval.high for r in risks]) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("holdout", [np.zeros(0), np.ones(5)], ids=["no strangers", "all strangers reached"])
def test_without_strangers_who_could_be_reached_there_is_no_risk_but_a_reason(holdout):
    attack = Attack(np.ones(5), holdout)
    assert attack.risk is None
    told = attack.told(Finding(measure="m", name="n", question="?", group="linking", estimate=None, n=0, limit=0.1))
    assert (told.estimate, told.interval) == (None, None)
    assert "stranger" in told.reason


def test_a_finding_is_told_the_risk_both_rates_and_the_risk_of_planted_rows():
    empty = Finding(measure="m", name="n", question="?", group="linking", estimate=None, n=0)
    told = Attack(outcomes(6, 10), outcomes(4, 20)).told(empty, Attack(outcomes(9, 10), outcomes(2, 10)))
    assert (told.observed, told.control, told.n, told.reason) == (0.6, 0.2, 10, "")
    assert told.estimate == pytest.approx(0.5)
    assert told.planted == pytest.approx(0.7 / 0.8)


def test_chances_count_in_part():
    assert rate(np.array([0.5, 0.5, 1.0, 0.0])).value == 0.5
    assert rate(np.zeros(100)).interval.high == pytest.approx(0.0370, abs=1e-4)


def test_a_sample_keeps_the_order_and_is_the_table_where_that_is_small():
    table = Table((Column(name="x", kind="integer", dtype="int64", bounds=(0, 9)),), np.arange(10.0)[:, None])
    some = sampled(table, 4, Seed.of(1))
    assert len(some) == 4
    assert (np.diff(some["x"]) > 0).all()
    assert sampled(table, 10, Seed.of(1)) is table
    assert list(sampled(table, 4, Seed.of(1))["x"]) == list(some["x"])
    assert list(sampled(table, 4, Seed.of(2))["x"]) != list(some["x"])
