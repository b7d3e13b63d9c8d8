"""What models learn from synthetic rows, tested on real people."""

import numpy as np
import pytest
from crowd import COLUMNS, cells, crowd, evidence, found, independent, shuffled

from models.evidence import Evidence
from models.finding import Verdict
from models.measures.usefulness import Usefulness
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column
from models.table import Table

TRAIN, HOLDOUT, FRESH = crowd(400, 1), crowd(300, 2), crowd(400, 3)
SEED = Seed.of(1)
LEARNED = ("Prediction, boosted trees", "Prediction, linear model", "Prediction, random forest")
AGREED = ("Coefficients, mean", "Coefficients, worst", "Coefficients, standardised")


def measured(synthetic, train=TRAIN, holdout=HOLDOUT, **more):
    return Usefulness(rounds=15, **more).measure(evidence(synthetic, train=train, holdout=holdout), SEED)


def predictions(*given, **more):
    return [finding for finding in measured(*given, **more) if finding.name.startswith("Prediction")]


def without_target(table):
    plain = tuple(column.model_copy(update={"role": "plain"}) for column in table.columns)
    return Table(plain, table.values)


def test_the_declared_target_is_predicted_by_three_learners_and_a_copy_loses_nothing():
    findings = measured(shuffled(TRAIN))
    assert [finding.name for finding in findings] == [*LEARNED, *AGREED]
    assert {finding.where for finding in findings} == {"ill"}
    for finding in findings[:3]:
        assert finding.estimate == finding.interval.low == finding.interval.high == 0
        assert 0.7 < finding.observed == finding.control
        assert finding.baseline == pytest.approx(finding.control - 0.5)


def test_independent_columns_teach_nothing():
    for finding in predictions(independent(TRAIN)):
        assert finding.observed == pytest.approx(0.5, abs=0.17)
        assert 0.1 < finding.interval.low < finding.estimate < finding.interval.high


def test_without_a_target_the_columns_that_others_tell_most_about_are_predicted():
    findings = measured(without_target(FRESH), without_target(TRAIN), without_target(HOLDOUT), targets=2)
    assert {finding.where for finding in findings} == {"age", "ill"}
    assert {finding.name for finding in findings} == set(LEARNED)


def test_numbers_are_scored_by_r_squared():
    findings = measured(without_target(TRAIN), without_target(TRAIN), without_target(HOLDOUT), targets=2)
    ages = [finding for finding in findings if finding.where == "age"]
    assert len(ages) == 3
    for age in ages:
        assert 0.1 < age.control < 1
        assert age.baseline == age.control
        assert age.estimate == 0


def test_a_class_that_the_synthetic_rows_lack_cannot_be_told():
    changed = FRESH.values.copy()
    changed[:, 5] = 1.0
    findings = measured(cells(FRESH, changed))
    assert [finding.observed for finding in findings[:3]] == [0.5] * 3
    assert [found(findings, name, "ill").estimate for name in AGREED] == [1, 1, None]
    assert found(findings, AGREED[2], "ill").reason == "the synthetic rows decide no coefficient"


def test_a_target_with_one_value_among_held_out_people_cannot_be_scored():
    changed = HOLDOUT.values.copy()
    changed[:, 5] = 1.0
    (only,) = predictions(FRESH, holdout=cells(HOLDOUT, changed))
    assert only.estimate is None
    assert "same value" in only.reason


def test_a_target_that_nobody_has_cannot_be_looked_at():
    changed = TRAIN.values.copy()
    changed[:, 5] = np.nan
    prediction, coefficients = measured(FRESH, train=cells(TRAIN, changed))
    assert "missing in all training" in prediction.reason
    assert coefficients.reason == "the training rows decide no coefficient"


def test_one_column_leaves_nothing_to_predict_it_from():
    one = Partition(parts=(Part(name="all", columns=("ill",)),), reason="")
    tables = [table.select(["ill"]) for table in (TRAIN, HOLDOUT, FRESH)]
    (only,) = Usefulness().measure(Evidence(*tables, partition=one), SEED)
    assert "one column" in only.reason


def test_two_held_out_people_leave_the_interval_open():
    one_of_each = np.array([int(np.argmax(HOLDOUT["ill"])), int(np.argmin(HOLDOUT["ill"]))])
    only = predictions(FRESH, holdout=HOLDOUT.take(one_of_each), limit=0.9)[0]
    assert only.verdict is Verdict.INCONCLUSIVE
    assert only.remark == "its precision could not be determined"


def test_more_than_six_classes_are_scored_as_six():
    letter = Column(name="letter", kind="categorical", dtype="string", role="target", levels=tuple("abcdefghij"))
    ages = np.random.default_rng(0).integers(18, 90, (3, 200)).astype(float)
    tables = [Table((COLUMNS[0], letter), np.column_stack([age, age // 9 % 10])) for age in ages]
    one = Partition(parts=(Part(name="all", columns=("age", "letter")),), reason="")
    trees = Usefulness(rounds=15).measure(Evidence(*tables, partition=one), SEED)[0]
    assert trees.control > 0.9


def test_models_learn_from_no_more_rows_than_they_may_and_say_so():
    few, many = (predictions(FRESH, rows=rows)[0] for rows in (100, 400))
    assert few.control < many.control
    assert "100 rows of a table at most" in few.source


def test_models_are_tested_on_no_more_held_out_rows_than_asked_for_and_the_finding_says_on_how_many():
    few, all = (predictions(FRESH, tested=tested)[0] for tested in (100, 300))
    assert (few.n, all.n) == (100, 300)
    assert few.observed != all.observed


def test_the_loss_is_gated_only_when_it_has_a_limit():
    assert {finding.verdict for finding in measured(independent(TRAIN))} == {None}
    assert {finding.verdict for finding in predictions(independent(TRAIN), limit=0.05)} == {Verdict.FAIL}
    assert {finding.verdict for finding in predictions(TRAIN, limit=0.05)} == {Verdict.PASS}


def test_coefficients_of_a_copy_overlap_wholly_and_those_of_strangers_as_held_out_ones_do():
    copied, fresh = measured(TRAIN), measured(FRESH)
    for name in AGREED:
        assert found(copied, name, "ill").estimate == pytest.approx(0, abs=1e-9)
    mean = found(fresh, AGREED[0], "ill")
    assert mean.estimate < mean.control + 0.2
    assert mean.observed == pytest.approx(1 - mean.estimate)
    assert found(fresh, AGREED[2], "ill").estimate < 2.5


def test_independent_columns_lose_the_coefficient_that_counts_and_it_is_named():
    findings = measured(independent(TRAIN), coefficients=0.05)
    worst = found(findings, AGREED[1], "ill")
    assert worst.estimate == worst.baseline == 1
    assert "one of age" in worst.question
    assert found(findings, AGREED[2], "ill").estimate > found(findings, AGREED[2], "ill").control
    assert found(findings, AGREED[0], "ill").verdict is Verdict.FAIL
