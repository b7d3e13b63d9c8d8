"""Membership: training people must not be told from held-out ones."""

import numpy as np
import pytest
from crowd import TWO_PARTS, cells, crowd, evidence, found, independent, shuffled

from models.finding import Verdict
from models.measures.membership import Membership
from models.randomness import Seed
from models.table import stack

TRAIN, HOLDOUT, FRESH = crowd(500, 1), crowd(400, 2), crowd(500, 3)
SEED = Seed.of(1)
CLOSER, UNSEEN, ATTACK = "Closer to training rows", "Closer to held-out rows", "Membership attack"


def measured(synthetic, train=TRAIN, holdout=HOLDOUT, **more):
    return Membership(**more).measure(evidence(synthetic, train=train, holdout=holdout, partition=TWO_PARTS), SEED)


@pytest.mark.parametrize("copy", [TRAIN, shuffled(TRAIN)], ids=["same order", "shuffled"])
def test_a_copy_tells_everybody_who_was_in(copy):
    findings = measured(copy)
    assert found(findings, CLOSER).estimate > 0.95
    assert found(findings, ATTACK).estimate > 0.95
    assert found(findings, CLOSER).verdict is found(findings, ATTACK).verdict is Verdict.FAIL


def test_strangers_tell_nobody():
    findings = measured(FRESH)
    assert [finding.estimate for finding in findings] == pytest.approx([0.5] * 5, abs=0.06)
    assert Verdict.FAIL not in [finding.verdict for finding in findings]
    assert found(findings, CLOSER).control == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize("rows", [100, 200, 500])
def test_strangers_are_as_close_to_both_groups_whatever_their_sizes(rows):
    drawn, unseen = stack([TRAIN.take(slice(0, 250)), FRESH.take(slice(0, 250))]), crowd(rows, 4)
    assert found(measured(FRESH, holdout=unseen), CLOSER).estimate == pytest.approx(0.5, abs=0.06)
    assert found(measured(drawn, holdout=unseen), CLOSER).estimate > 0.65


def test_a_copied_part_fails_in_its_part():
    changed = independent(FRESH).values.copy()
    changed[:, :3] = shuffled(TRAIN).values[:, :3]
    findings = measured(cells(TRAIN, changed))
    assert found(findings, ATTACK, "part a").verdict is Verdict.FAIL
    assert found(findings, ATTACK, "part b").verdict is not Verdict.FAIL


def test_noise_does_not_hide_a_copy():
    rng = np.random.default_rng(5)
    spread = np.where([column.numeric for column in TRAIN.columns], np.nanstd(TRAIN.values, axis=0) * 0.05, 0.0)
    noisy = cells(TRAIN, TRAIN.values + rng.normal(size=TRAIN.values.shape) * spread)
    assert found(measured(noisy), ATTACK).verdict is Verdict.FAIL


def test_copies_of_held_out_rows_raise_the_alarm_on_the_control_set():
    findings = measured(shuffled(HOLDOUT))
    assert found(findings, UNSEEN).verdict is Verdict.FAIL
    assert found(findings, ATTACK).verdict is Verdict.PASS


def test_tables_of_ties_tell_nobody():
    same = cells(TRAIN, np.ones_like(TRAIN.values))
    findings = measured(same, train=same, holdout=same.take(slice(0, 400)))
    assert [finding.estimate for finding in findings] == pytest.approx([0.5] * 5, abs=0.001)


def test_below_twenty_rows_nothing_is_computed():
    few = found(measured(FRESH, holdout=HOLDOUT.take(slice(0, 19))), ATTACK)
    assert few.estimate is None
    assert "500 training and 19 held-out rows" in few.reason
    assert few.verdict is Verdict.INCONCLUSIVE


def test_limits_are_settings():
    assert found(measured(TRAIN, attack=None), ATTACK).verdict is None
    assert found(measured(TRAIN, closer=1.0), CLOSER).verdict is Verdict.PASS


def test_three_hundred_people_are_too_few_to_pass_and_the_finding_says_how_many_are_not():
    few = found(measured(FRESH, train=TRAIN.take(slice(0, 240)), holdout=HOLDOUT.take(slice(0, 60))), ATTACK)
    assert few.verdict is Verdict.INCONCLUSIVE
    assert few.rows_needed is None or few.rows_needed > 60
