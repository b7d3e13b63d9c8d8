"""What models learn from synthetic rows, tested on real people."""

import numpy as np
import pytest
from crowd import COLUMNS, cells, crowd, evidence, independent

from models.evidence import Evidence
from models.finding import Verdict
from models.measures.usefulness import Usefulness
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column
from models.table import Table

TRAIN, HOLDOUT, FRESH = crowd(400, 1), crowd(300, 2), crowd(400, 3)
SEED = Seed.of(1)


def measured(synthetic, train=TRAIN, holdout=HOLDOUT, **more):
    return Usefulness(rounds=15, **more).measure(evidence(synthetic, train=train, holdout=holdout), SEED)


def without_target(table):
    plain = tuple(column.model_copy(update={"role": "plain"}) for column in table.columns)
    return Table(plain, table.values)


def test_the_declared_target_is_predicted_and_a_copy_loses_nothing():
    (only,) = measured(TRAIN)
    assert only.where == "ill"
    assert only.estimate == 0
    assert 0.7 < only.observed == only.control
    assert only.baseline == pytest.approx(only.control - 0.5)


def test_independent_columns_teach_nothing():
    (only,) = measured(independent(TRAIN))
    assert only.observed == pytest.approx(0.5, abs=0.12)
    assert 0.1 < only.interval.low < only.estimate < only.interval.high


def test_without_a_target_the_columns_that_others_tell_most_about_are_predicted():
    findings = measured(without_target(FRESH), without_target(TRAIN), without_target(HOLDOUT), targets=2)
    assert {finding.where for finding in findings} == {"age", "ill"}


def test_numbers_are_scored_by_r_squared():
    findings = measured(without_target(TRAIN), without_target(TRAIN), without_target(HOLDOUT), targets=2)
    (age,) = [finding for finding in findings if finding.where == "age"]
    assert 0.1 < age.control < 1
    assert age.baseline == age.control
    assert age.estimate == 0


def test_a_class_that_the_synthetic_rows_lack_cannot_be_told():
    changed = FRESH.values.copy()
    changed[:, 5] = 1.0
    (only,) = measured(cells(FRESH, changed))
    assert only.observed == 0.5


def test_a_target_with_one_value_among_held_out_people_cannot_be_scored():
    changed = HOLDOUT.values.copy()
    changed[:, 5] = 1.0
    (only,) = measured(FRESH, holdout=cells(HOLDOUT, changed))
    assert only.estimate is None
    assert "same value" in only.reason


def test_a_target_that_nobody_has_cannot_be_scored():
    changed = TRAIN.values.copy()
    changed[:, 5] = np.nan
    (only,) = measured(FRESH, train=cells(TRAIN, changed))
    assert "missing in all training" in only.reason


def test_two_held_out_people_leave_the_interval_open():
    one_of_each = np.array([int(np.argmax(HOLDOUT["ill"])), int(np.argmin(HOLDOUT["ill"]))])
    (only,) = measured(FRESH, holdout=HOLDOUT.take(one_of_each), limit=0.9)
    assert only.verdict is Verdict.INCONCLUSIVE
    assert only.remark == "its precision could not be determined"


def test_more_than_six_classes_are_scored_as_six():
    letter = Column(name="letter", kind="categorical", dtype="string", role="target", levels=tuple("abcdefghij"))
    ages = np.random.default_rng(0).integers(18, 90, (3, 200)).astype(float)
    tables = [Table((COLUMNS[0], letter), np.column_stack([age, age // 9 % 10])) for age in ages]
    one = Partition(parts=(Part(name="all", columns=("age", "letter")),), reason="")
    (only,) = Usefulness(rounds=15).measure(Evidence(*tables, partition=one), SEED)
    assert only.control > 0.9


def test_the_loss_is_gated_only_when_it_has_a_limit():
    assert measured(independent(TRAIN))[0].verdict is None
    assert measured(independent(TRAIN), limit=0.05)[0].verdict is Verdict.FAIL
    assert measured(TRAIN, limit=0.05)[0].verdict is Verdict.PASS
