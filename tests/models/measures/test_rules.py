"""A rule is broken where both sides are known and disagree; every rule is looked at before and after synthesis."""

import numpy as np
import pytest
from crowd import found

from models.evidence import Evidence
from models.finding import Verdict
from models.measures.rules import Rules, broken
from models.partition import Part, Partition
from models.randomness import Seed
from models.rules import Condition, Implication, Order, Total
from models.schema import Column
from models.table import Table

GAP = np.nan
DAY = Column(name="day", kind="date", dtype="d", resolution="day", bounds=("1970-01-01", "1970-12-31"), nullable=True)
SECOND = Column(name="second", kind="datetime", dtype="t", resolution="second", bounds=DAY.bounds, nullable=True)
NUMBERS = tuple(
    Column(name=name, kind="continuous", dtype="double", bounds=(0, 9), decimals=1, nullable=True) for name in "xyz"
)
SEX = Column(name="sex", kind="categorical", dtype="string", levels=("male", "female"), nullable=True)
PREGNANT = Column(name="pregnant", kind="boolean", dtype="bool", nullable=True)


def table(columns, *rows):
    return Table(tuple(columns), np.array(rows, dtype=float))


def condition(column, *values, **ends):
    return Condition(column=column, is_=values, **ends)


def test_an_order_holds_where_either_side_is_missing():
    rows = table(NUMBERS[:2], [1, 2], [2, 2], [3, 2], [3, GAP], [GAP, 2])
    assert broken(Order(lower="x", upper="y"), rows).tolist() == [False, False, True, False, False]


def test_times_of_any_resolution_are_compared():
    rows = table((DAY, SECOND), [1, 86_400], [1, 86_399], [1, 86_401])
    assert broken(Order(lower="day", upper="second"), rows).tolist() == [False, True, False]
    assert broken(Order(lower="second", upper="day"), rows).tolist() == [False, False, True]


def test_a_sum_holds_to_within_its_tolerance_and_where_a_part_is_missing():
    rows = table(NUMBERS, [0.3, 0.1, 0.2], [0.4, 0.1, 0.2], [9, GAP, 1], [GAP, 1, 1])
    assert broken(Total(total="x", of=("y", "z")), rows).tolist() == [False, True, False, False]
    assert not broken(Total(total="x", of=("y", "z"), tolerance=0.1), rows).any()


def test_an_implication_asks_only_where_its_condition_holds():
    rule = Implication(when=condition("sex", "male"), then=condition("pregnant", False, None))
    rows = table((SEX, PREGNANT), [0, 0], [0, 1], [0, GAP], [1, 1], [GAP, 1])
    assert broken(rule, rows).tolist() == [False, True, False, False, False]


def test_a_missing_cell_meets_a_condition_that_lists_null_alone():
    rows = table(NUMBERS[:2], [1, 5], [1, 1], [1, GAP], [1, 9])
    one = condition("x", 1)
    assert broken(Implication(when=one, then=condition("y", at_least=5, at_most=8)), rows).tolist() == [
        False,
        True,
        True,
        True,
    ]
    assert broken(Implication(when=one, then=condition("y", None, 9, at_least=5, at_most=8)), rows).tolist() == [
        False,
        True,
        False,
        False,
    ]


RULE = Order(lower="x", upper="y")
KEPT, BROKEN = [1, 2], [2, 1]


def measured(*, rules=(RULE,), holdout=(KEPT, BROKEN), **settings):
    train, drawn = table(NUMBERS[:2], KEPT, KEPT, KEPT, BROKEN), table(NUMBERS[:2], KEPT, BROKEN, BROKEN, BROKEN)
    unseen = Table(NUMBERS[:2], np.array(holdout, dtype=float).reshape(-1, 2))
    parts = Partition(parts=(Part(name="all", columns=("x", "y")),), reason="")
    return Rules(**settings).measure(Evidence(train, unseen, drawn, parts, rules), Seed.of(1))


def test_rules_are_counted_after_and_before_and_reported():
    findings = measured()
    after, before = (found(findings, name, "x <= y") for name in ("Broken rules", "Broken rules, training rows"))
    assert (after.estimate, before.estimate, after.control) == (0.75, 0.25, 0.5)
    assert after.verdict is before.verdict is None


def test_a_limit_gates_the_synthetic_rows_alone():
    findings = measured(limit=0.01)
    assert [finding.verdict for finding in findings] == [Verdict.FAIL, None]


def test_without_held_out_rows_there_is_no_control():
    assert measured(holdout=())[0].control is None


@pytest.mark.parametrize("limit", [None, 0.01])
def test_a_schema_without_rules_keeps_nothing_back(limit):
    (one,) = measured(rules=(), limit=limit)
    assert one.estimate is None
    assert one.verdict is None
    assert "no rule" in one.reason
