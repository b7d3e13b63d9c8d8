"""What a classifier sees in synthetic rows."""

import numpy as np
import pytest
from crowd import cells, crowd, evidence, found, independent, shuffled

from models.finding import Verdict
from models.measures.propensity import Propensity
from models.randomness import Seed

TRAIN, HOLDOUT, FRESH = crowd(400, 1), crowd(300, 2), crowd(400, 3)


def measured(synthetic, holdout=HOLDOUT, **more):
    return Propensity(**{"rounds": 15, **more}).measure(evidence(synthetic, train=TRAIN, holdout=holdout), Seed.of(1))


def test_strangers_are_taken_for_real_people():
    told, error = measured(FRESH)
    assert told.interval.low < 0.5 < told.interval.high
    assert error.estimate == pytest.approx(error.control, abs=0.01)


def test_rows_that_fit_together_badly_are_told_apart_though_every_column_is_right():
    told, _ = measured(independent(TRAIN))
    assert told.interval.low > max(0.5, told.control - 0.03)


def heavier(table):
    changed = table.values.copy()
    changed[:, 3] += 500
    return cells(table, changed)


def test_one_column_written_otherwise_tells_all_rows_apart():
    told, error = measured(heavier(FRESH), rounds=60)
    assert told.estimate > 0.99
    assert error.estimate == pytest.approx(0.25, abs=0.01)
    assert error.interval is None


def test_a_copy_is_at_or_below_one_half_in_any_order():
    assert found(measured(TRAIN), "Told apart").estimate < 0.5
    assert measured(TRAIN) == measured(shuffled(TRAIN))


def test_both_comparisons_have_as_many_rows_as_the_smallest_table():
    assert {finding.n for finding in measured(FRESH)} == {300}
    assert {finding.n for finding in measured(FRESH, rows=200)} == {200}
    assert {finding.n for finding in measured(FRESH, holdout=HOLDOUT.take(slice(0, 20)))} == {400}


def test_few_held_out_rows_are_no_control():
    told, _ = measured(FRESH, holdout=HOLDOUT.take(slice(0, 20)))
    assert told.control is None
    assert told.estimate is not None


def test_few_rows_teach_nothing_and_the_finding_says_so():
    told, error = measured(FRESH.take(np.arange(30)))
    assert told.estimate is error.estimate is None
    assert "at least 50" in told.reason


def test_the_auc_is_gated_only_when_it_has_a_limit():
    assert {finding.verdict for finding in measured(heavier(FRESH))} == {None}
    assert found(measured(heavier(FRESH), limit=0.55), "Told apart").verdict is Verdict.FAIL
    assert found(measured(FRESH, limit=0.75), "Told apart").verdict is Verdict.PASS


def test_the_interval_covers_one_half_for_equal_tables_about_as_often_as_it_says():
    covered = 0
    for draw in range(12):
        equal = [crowd(60, 3 * draw + k) for k in range(3)]
        told = Propensity(rounds=3).measure(evidence(equal[0], train=equal[1], holdout=equal[2]), Seed.of(draw))[0]
        covered += told.interval.low <= 0.5 <= told.interval.high
    assert covered >= 10
