"""Whether held-out people can serve as a control."""

import numpy as np
import pytest
from crowd import cells, crowd, found, shuffled

from models.evidence import Evidence
from models.finding import Verdict
from models.measures.preconditions import Preconditions
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column
from models.table import Table, stack

TRAIN, HOLDOUT, FRESH = crowd(1000, 1), crowd(800, 2), crowd(1000, 3)
SHARED, APART = "Held-out people among the training people", "Training and held-out people told apart"
CLOSER, COPIED = "Closer to held-out rows", "Copies of held-out rows"


def measured(synthetic=FRESH, train=TRAIN, holdout=HOLDOUT, **more):
    one = Partition(parts=(Part(name="all", columns=train.names),), reason="")
    return Preconditions(**more).measure(Evidence(train, holdout, synthetic, one), Seed.of(1))


def test_a_random_split_can_be_a_control():
    findings = measured()
    assert {finding.verdict for finding in findings} == {Verdict.PASS}
    assert all(finding.precondition for finding in findings)


def test_held_out_people_who_were_trained_on_make_the_audit_invalid():
    mixed = stack([HOLDOUT.take(slice(100, None)), TRAIN.take(slice(0, 100))])
    among = found(measured(holdout=mixed), SHARED)
    assert among.estimate == pytest.approx(1 / 8)
    assert among.verdict is Verdict.INVALID


LEVEL = Column(name="l", kind="categorical", dtype="string", levels=("a", "b", "c", "d"))


def test_as_many_held_out_rows_equal_a_training_row_as_training_rows_equal_another():
    train = Table((LEVEL,), np.array([[0.0], [0.0], [0.0], [1.0]]))
    holdout = Table((LEVEL,), np.array([[0.0], [1.0], [2.0], [2.0]]))
    among = found(measured(train, train=train, holdout=holdout), SHARED)
    assert among.observed == 2 / 4
    assert among.control == 3 / 4
    assert among.estimate == pytest.approx(-1 / 4)


def test_tables_of_few_values_share_rows_by_chance_and_pass():
    names = ["region", "smoker", "ill"]
    among = found(measured(*(table.select(names) for table in (FRESH, TRAIN, HOLDOUT))), SHARED)
    assert among.observed == among.control == 1.0
    assert among.verdict is Verdict.PASS


def test_held_out_people_of_another_kind_make_the_audit_invalid():
    old = crowd(2000, 4)
    apart = found(measured(holdout=old.take(np.argsort(-old["age"])[:800])), APART)
    assert apart.estimate > 0.7
    assert apart.verdict is Verdict.INVALID


def test_the_interval_allows_for_what_two_rows_have_in_common_being_met_twice():
    apart = found(measured(), APART).interval
    delong = 1.96 * np.sqrt((1 / 1000 + 1 / 800) / 12)
    assert (apart.high - apart.low) / 2 == pytest.approx(np.sqrt(2) * delong, rel=0.05)


def test_copies_of_held_out_people_make_the_audit_invalid():
    findings = measured(shuffled(HOLDOUT))
    assert found(findings, CLOSER).verdict is found(findings, COPIED).verdict is Verdict.INVALID


def test_copies_of_training_people_are_no_matter_of_the_set_up():
    assert {finding.verdict for finding in measured(shuffled(TRAIN))} == {Verdict.PASS}


def test_training_and_held_out_people_who_were_mistaken_for_each_other_make_the_audit_invalid():
    findings = measured(shuffled(TRAIN), train=HOLDOUT, holdout=TRAIN)
    assert found(findings, CLOSER).verdict is Verdict.INVALID


def test_few_held_out_people_leave_it_open_and_say_how_many_would_not():
    few = measured(holdout=HOLDOUT.take(slice(100, 160)))
    assert found(few, APART).verdict is Verdict.INCONCLUSIVE
    assert found(few, APART).rows_needed > 60


def test_no_held_out_row_among_few_is_a_training_row_for_certain():
    shared = found(measured(holdout=HOLDOUT.take(slice(0, 100))), SHARED)
    assert (shared.estimate, shared.verdict) == (0, Verdict.PASS)


def test_below_fifty_rows_some_questions_are_not_asked():
    findings = measured(holdout=HOLDOUT.take(slice(0, 49)))
    assert found(findings, APART).reason == "1,000 training and 49 held-out rows, and at least 50 of each are needed"
    assert found(findings, APART).estimate is found(findings, CLOSER).estimate is None


def test_without_held_out_people_one_finding_says_what_cannot_be_answered():
    (none,) = measured(holdout=HOLDOUT.take(slice(0, 0)))
    assert none.precondition
    assert none.verdict is Verdict.INCONCLUSIVE
    assert "cannot be answered" in none.reason


def test_tables_of_ties_can_be_told_apart_by_nobody():
    same = cells(TRAIN, np.ones_like(TRAIN.values))
    assert found(measured(same, same, same.take(slice(0, 800))), APART).estimate == pytest.approx(0.5, abs=0.01)


def test_limits_are_settings():
    assert found(measured(shuffled(HOLDOUT), closer=1.0, copied=1.0), CLOSER).verdict is not Verdict.INVALID
