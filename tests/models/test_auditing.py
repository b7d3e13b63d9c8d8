"""The audit asks every measure and fails closed."""

from typing import Literal

import pytest
from crowd import TWO_PARTS, crowd, evidence, shuffled

from models.auditing import Audit, audit, every_measure
from models.errors import AuditError, Fault
from models.finding import Finding, Group, Interval, Verdict
from models.measures import Measure, catalog
from models.measures.copies import Copies
from models.measures.marginals import Marginals
from models.randomness import Seed
from models.table import digest

TRAIN, HOLDOUT, FRESH = crowd(150, 1), crowd(100, 2), crowd(140, 3)
SEED = Seed.of(1)


class Refusing(Measure):
    kind: Literal["refusing"] = "refusing"

    def measure(self, evidence, seed):
        raise AuditError(Fault("age", "cannot be measured"))


class Broken(Measure):
    kind: Literal["broken"] = "broken"

    def measure(self, evidence, seed):
        raise ZeroDivisionError


def audited(synthetic, policy):
    case = evidence(synthetic, train=TRAIN, holdout=HOLDOUT, partition=TWO_PARTS)
    return audit(case, policy, SEED, training=digest(TRAIN))


def test_a_copy_fails_and_the_reason_names_what_failed():
    found = audited(shuffled(TRAIN), every_measure())
    assert found.verdict is Verdict.FAIL
    assert "gated checks failed: Exact copies (100.00 %, limit 0.10 %)" in found.reason
    assert (found.training_rows, found.holdout_rows, found.synthetic_rows, found.columns) == (150, 100, 140 + 10, 6)


def test_every_kind_of_measure_is_asked_and_privacy_comes_first():
    found = audited(FRESH, every_measure())
    assert {finding.measure for finding in found.findings} == set(catalog.kinds())
    groups = [finding.group for finding in found.findings]
    assert groups == sorted(groups, key=list(Group).index)
    assert found.worth.startswith("Models of ill score")


def test_the_same_seed_gives_the_same_audit():
    assert audited(FRESH, every_measure()) == audited(FRESH, every_measure())


@pytest.mark.parametrize("other", [TRAIN.take(slice(1, None)), shuffled(TRAIN)], ids=["a row less", "another order"])
def test_rows_that_are_not_all_training_rows_are_refused(other):
    with pytest.raises(AuditError, match="not those that the synthesis learned from"):
        audit(evidence(FRESH, train=other, holdout=HOLDOUT), {}, SEED, training=digest(TRAIN))


def test_a_measure_that_refuses_keeps_the_gate_shut():
    found = audited(FRESH, {"marginals": Marginals(), "refusing": Refusing()})
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "1 of 2 gated checks could not be decided: Refusing (age: cannot be measured)" in found.reason


def test_a_fault_of_the_program_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        audited(FRESH, {"broken": Broken()})


def test_nothing_gated_is_no_pass():
    found = audited(FRESH, {"marginals": Marginals(worst=None)})
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason.startswith("No check has a limit")
    assert found.worth == ""


def test_a_pass_is_told_in_people():
    found = audited(FRESH, {"marginals": Marginals()})
    assert found.verdict is Verdict.PASS
    assert found.reason.startswith("All 1 gated checks passed: within their limits, the synthetic rows tell no more ")
    assert "about the 150 people they were learned from than about 100 others" in found.reason


def test_without_held_out_rows_copies_stay_undecided():
    case = evidence(FRESH, train=TRAIN, holdout=HOLDOUT.take(slice(0, 0)))
    found = audit(case, {"copies": Copies()}, SEED, training=digest(TRAIN))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "without held-out rows" in found.reason


def test_a_long_list_is_cut_and_counted():
    certain = Interval(low=1, high=1)
    failed = Finding(measure="m", name="A", question="?", estimate=1.0, interval=certain, n=1, limit=0.5)
    found = Audit(findings=(failed,) * 5, training_rows=1, holdout_rows=1, synthetic_rows=1, columns=1)
    assert found.reason == f"5 of 5 gated checks failed: {'; '.join(['A (1.000, limit 0.500)'] * 3)}; and 2 more."
