"""The audit asks every measure and fails closed."""

from typing import Literal

import numpy as np
import pytest
from crowd import TWO_PARTS, cells, crowd, evidence, shuffled

from models.auditing import Audit, audit
from models.errors import AuditError, Fault
from models.finding import Finding, Group, Interval, Override, Verdict
from models.measures import Measure, catalog
from models.measures.copies import Copies
from models.measures.marginals import Marginals
from models.policy import Policy
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


def asking(*measures, **more):
    return Policy(measures={measure.kind: measure for measure in measures}, **more)


def audited(synthetic, policy):
    case = evidence(synthetic, train=TRAIN, holdout=HOLDOUT, partition=TWO_PARTS)
    return audit(case, policy, SEED, training=digest(TRAIN))


def test_a_copy_fails_and_the_reason_names_what_failed():
    found = audited(shuffled(TRAIN), Policy.of({}))
    assert found.verdict is Verdict.FAIL
    assert "gated checks failed: Exact copies (100.00 %, limit 0.10 %)" in found.reason
    assert (found.training_rows, found.holdout_rows, found.synthetic_rows, found.columns) == (150, 100, 140 + 10, 6)


def test_every_kind_of_measure_is_asked_and_privacy_comes_first():
    found = audited(FRESH, Policy.of({}))
    assert {finding.measure for finding in found.findings} == set(catalog.kinds())
    groups = [finding.group for finding in found.findings]
    assert groups == sorted(groups, key=list(Group).index)
    assert found.worth.startswith("Models of ill score")


def test_the_same_seed_gives_the_same_audit():
    assert audited(FRESH, Policy.of({})) == audited(FRESH, Policy.of({}))


@pytest.mark.parametrize("other", [TRAIN.take(slice(1, None)), shuffled(TRAIN)], ids=["a row less", "another order"])
def test_rows_that_are_not_all_training_rows_are_refused(other):
    with pytest.raises(AuditError, match="not those that the synthesis learned from"):
        audit(evidence(FRESH, train=other, holdout=HOLDOUT), asking(), SEED, training=digest(TRAIN))


def test_a_measure_that_refuses_keeps_the_gate_shut():
    found = audited(FRESH, asking(Marginals(), Refusing()))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "1 of 2 gated checks could not be decided: Refusing (age: cannot be measured)" in found.reason


def test_a_fault_of_the_program_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        audited(FRESH, asking(Broken()))


def test_nothing_gated_is_no_pass():
    found = audited(FRESH, asking(Marginals(worst=None)))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason.startswith("No check has a limit")
    assert found.worth == ""


def test_a_pass_is_told_in_people():
    found = audited(FRESH, asking(Marginals()))
    assert found.verdict is Verdict.PASS
    assert found.reason.startswith("All 1 gated checks passed: within their limits, the synthetic rows tell no more ")
    assert "about the 150 people they were learned from than about 100 others" in found.reason


def test_without_held_out_rows_copies_stay_undecided():
    case = evidence(FRESH, train=TRAIN, holdout=HOLDOUT.take(slice(0, 0)))
    found = audit(case, asking(Copies()), SEED, training=digest(TRAIN))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "without held-out rows" in found.reason


def test_findings_are_judged_as_a_family():
    found = audited(FRESH, Policy.of({}))
    assert {finding.family for finding in found.findings} == {len(found.gated)}


def test_findings_that_were_made_elsewhere_are_judged_with_the_others():
    case = evidence(FRESH, train=TRAIN, holdout=HOLDOUT)
    policy = asking(Marginals(), overrides=(DECIDED,))
    found = audit(case, policy, SEED, training=digest(TRAIN), more=[made(0.1)])
    assert [finding.family for finding in found.gated] == [2, 2]
    assert [finding.override for finding in found.overridden] == [DECIDED]


def made(limit, **more):
    """A finding of 0.3 [0.2, 0.4]."""
    interval = Interval(low=0.2, high=0.4)
    return Finding(
        measure="m", name="A", question="?", group="linking", estimate=0.3, interval=interval, n=9, limit=limit, **more
    )


def told(*findings):
    return Audit(findings=findings, training_rows=9, holdout_rows=9, synthetic_rows=9, columns=1)


DECIDED = Override(check="A", by="The data board", reason="two of its members looked at the rows")


def test_a_broken_set_up_is_told_before_anything_that_failed():
    found = told(made(0.1), made(0.1, precondition=True, where="age"))
    assert found.verdict is Verdict.INVALID
    assert found.reason == (
        "The audit's own set-up is broken, so its figures mean nothing: A, age (0.300, limit 0.100)."
    )


def test_an_undecided_check_is_told_with_the_end_of_the_interval_that_decided():
    assert "A (0.300, at most 0.400; limit 0.350)" in told(made(0.35)).reason


@pytest.mark.parametrize("limit", [0.1, 0.35], ids=["failed", "undecided"])
def test_a_decision_to_publish_all_the_same_is_told_with_its_reason(limit):
    found = told(made(0.5), made(limit, override=DECIDED))
    assert found.verdict is Verdict.PASS
    assert found.reason.startswith("1 of 2 gated checks passed. The others did not, and were overridden")
    assert "A (The data board: two of its members looked at the rows)" in found.reason


def test_nobody_can_override_a_broken_set_up():
    assert told(made(0.1, precondition=True, override=DECIDED)).verdict is Verdict.INVALID


def test_an_override_reaches_the_finding_that_it_names():
    decided = Override(check="Worst column", where="age", by="The data board", reason="age is coarsened on purpose")
    shifted = cells(FRESH, FRESH.values + np.array([40.0, 0, 0, 0, 0, 0]))
    found = audited(shifted, asking(Marginals(), overrides=(decided,)))
    assert [finding.override for finding in found.overridden] == [decided]
    assert found.verdict is Verdict.PASS


def test_an_override_of_no_check_is_refused_with_the_nearest_one():
    typo = Override(check="Worst colum", by="The data board", reason="a reason of some length")
    with pytest.raises(AuditError, match=r"Worst colum: no gated check has this name.*did you mean 'Worst column"):
        audited(FRESH, asking(Marginals(), overrides=(typo,)))


def test_a_long_list_is_cut_and_counted():
    found = told(*[made(0.1)] * 5)
    assert found.reason == f"5 of 5 gated checks failed: {'; '.join(['A (0.300, limit 0.100)'] * 3)}; and 2 more."
