"""A finding's verdict is read off the interval, never off the estimate."""

import pytest

from models.finding import Finding, Group, Interval, Override, Unit, Verdict, overall


def finding(estimate, low=None, high=None, limit=None, **more):
    interval = None if low is None else Interval(low=low, high=high)
    said = {"measure": "m", "name": "Name", "question": "?", "group": "linking", "n": 100, **more}
    return Finding(estimate=estimate, interval=interval, limit=limit, **said)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.0, 0.1, Verdict.PASS),
        (0.0, 0.2, Verdict.INCONCLUSIVE),
        (0.1, 0.2, Verdict.INCONCLUSIVE),
        (0.11, 0.2, Verdict.FAIL),
    ],
)
def test_the_interval_decides(low, high, verdict):
    assert finding(0.05, low, high, limit=0.1).verdict is verdict


def test_without_an_interval_the_estimate_decides():
    assert finding(0.1, limit=0.1).verdict is Verdict.PASS
    assert finding(0.2, limit=0.1).verdict is Verdict.FAIL


def test_a_finding_without_limit_is_reported_only():
    assert finding(0.2).verdict is None
    assert not finding(0.2).gated


@pytest.mark.parametrize("estimate", [None, float("nan"), float("inf")])
def test_what_could_not_be_computed_is_inconclusive(estimate):
    assert finding(estimate, limit=0.1).verdict is Verdict.INCONCLUSIVE


def test_an_endless_interval_is_inconclusive_and_says_so():
    endless = finding(0.0, float("-inf"), float("inf"), limit=0.1)
    assert endless.verdict is Verdict.INCONCLUSIVE
    assert endless.remark == "its precision could not be determined"


def test_an_inconclusive_finding_tells_how_many_rows_would_decide_it():
    half_as_wide = finding(0.0, -0.2, 0.2, limit=0.1)
    assert half_as_wide.rows_needed == 400
    assert "about 400" in half_as_wide.remark


def test_more_rows_do_not_help_an_estimate_beyond_the_limit():
    beyond = finding(0.12, 0.05, 0.2, limit=0.1)
    assert beyond.rows_needed is None
    assert "cannot prove" in beyond.remark


def test_a_reason_is_the_remark_and_a_decided_finding_has_none():
    assert finding(None, limit=0.1, reason="no rows").remark == "no rows"
    assert finding(0.0, 0.0, 0.05, limit=0.1).remark == ""
    assert finding(0.0, 0.0, 0.05, limit=0.1).rows_needed is None


def test_a_title_names_the_place():
    assert finding(0.1, where="part a").title == "Name, part a"


def test_figures_are_published_rounded():
    assert Unit.SHARE.say(0.012345) == "1.23 %"
    assert Unit.SCORE.say(0.51249) == "0.512"
    assert Unit.SCORE.say(-0.0001) == "0.000"
    assert Unit.SHARE.say(None) == "not known"


def test_the_gate_fails_closed():
    passed, failed, undecided = (finding(0, low, high, limit=0.1) for low, high in ((0, 0.1), (0.2, 0.3), (0, 0.3)))
    assert overall([passed, passed]) is Verdict.PASS
    assert overall([passed, undecided]) is Verdict.INCONCLUSIVE
    assert overall([undecided, failed, passed]) is Verdict.FAIL
    assert overall([finding(0.0, group=Group.FIDELITY)]) is Verdict.INCONCLUSIVE
    assert overall([]) is Verdict.INCONCLUSIVE


def test_many_checks_need_more_evidence_to_fail_but_none_less_to_pass():
    alone, one_of_many = finding(0.3, 0.15, 0.45, limit=0.1), finding(0.3, 0.15, 0.45, limit=0.1, family=30)
    assert (alone.verdict, one_of_many.verdict) == (Verdict.FAIL, Verdict.INCONCLUSIVE)
    assert finding(0.3, 0.15, 0.45, limit=0.45, family=30).verdict is Verdict.PASS


def test_a_level_divided_by_its_family_widens_the_interval():
    """1.960 standard errors leave 2.5 % above them, 2.807 leave 0.25 %."""
    edge = (2.807 / 1.96) * 0.1
    assert finding(0.3, 0.2, 0.4, limit=0.3 - edge + 0.001, family=10).verdict is Verdict.INCONCLUSIVE
    assert finding(0.3, 0.2, 0.4, limit=0.3 - edge - 0.001, family=10).verdict is Verdict.FAIL


def test_an_attack_that_even_a_copy_withstands_cannot_pass():
    toothless = finding(0.01, 0.0, 0.02, limit=0.1, planted=0.05)
    assert toothless.verdict is Verdict.INCONCLUSIVE
    assert toothless.rows_needed is None
    assert toothless.remark == "on these rows even a copy of the training table would reach 0.050 only"
    assert finding(0.01, 0.0, 0.02, limit=0.1, planted=0.5).verdict is Verdict.PASS


def test_a_broken_precondition_is_invalid_and_goes_before_a_failure():
    broken, failed = finding(0.2, limit=0.1, precondition=True), finding(0.2, limit=0.1)
    assert broken.verdict is Verdict.INVALID
    assert overall([failed, broken]) is Verdict.INVALID


def test_what_a_person_overrides_does_not_block():
    decided = Override(check="Name", by="somebody", reason="for a good reason")
    assert overall([finding(0.2, limit=0.1, override=decided)]) is Verdict.PASS
    assert overall([finding(0.2, limit=0.1, override=decided, precondition=True)]) is Verdict.INVALID
    assert overall([finding(0.2, limit=0.1, override=decided), finding(0.2, limit=0.1)]) is Verdict.FAIL
