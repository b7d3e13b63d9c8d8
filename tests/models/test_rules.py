"""Rules of the schema say one of three things, and what they ask of the columns is checked before a row is read."""

import pytest

from models.errors import SpecError
from models.rules import Implication, Order, Total, code_of, rule_faults
from models.schema import Column
from models.spec import faults_between, parse_schema, parse_spec

COLUMNS = [
    {"name": "admission", "kind": "date", "dtype": "date32[day]", "resolution": "day", "bounds": ["2020-01-01"] * 2},
    {"name": "discharge", "kind": "datetime", "dtype": "t", "resolution": "second", "bounds": ["2020-01-01"] * 2},
    {"name": "stay", "kind": "duration", "dtype": "duration[s]", "resolution": "second", "bounds": [0, 9]},
    {"name": "visits", "kind": "integer", "dtype": "int64", "bounds": [0, 9]},
    {"name": "costs", "kind": "continuous", "dtype": "double", "bounds": [0, 9]},
    {"name": "sex", "kind": "categorical", "dtype": "string", "levels": ["male", "female"]},
    {"name": "pregnant", "kind": "boolean", "dtype": "bool", "nullable": True},
    {"name": "id", "kind": "identifier", "role": "identifier", "dtype": "string"},
]
ORDER = {"lower": "admission", "upper": "discharge"}
TOTAL = {"total": "costs", "of": ["visits", "costs"], "tolerance": 0.5}
IMPLICATION = {"when": {"column": "sex", "is": ["male"]}, "then": {"column": "pregnant", "is": [False, None]}}
RANGE = {"when": {"column": "visits", "at_least": 1, "at_most": 3}, "then": {"column": "admission", "is": [None]}}


def schema(*rules):
    return parse_schema({"columns": COLUMNS, "rules": list(rules)})


def told(*rules):
    found = schema(*rules)
    return "; ".join(map(str, rule_faults(found.rules, found.modelled)))


def refusal(rule):
    with pytest.raises(SpecError) as error:
        schema(rule)
    return str(error.value)


def test_the_three_forms_are_told_by_their_keys_and_read_aloud():
    rules = schema(ORDER, TOTAL, IMPLICATION, RANGE).rules
    assert [type(rule) for rule in rules] == [Order, Total, Implication, Implication]
    assert [rule.text for rule in rules] == [
        "admission <= discharge",
        "costs = visits + costs to within 0.5",
        "if sex is male, then pregnant is false or missing",
        "if visits is at least 1 and at most 3, then admission is missing",
    ]


def test_sound_rules_have_no_faults():
    assert told(ORDER, TOTAL, IMPLICATION, RANGE) == ""


def test_rules_that_were_written_down_are_read_again():
    found = schema(ORDER, TOTAL, IMPLICATION, RANGE)
    assert parse_schema(found.model_dump(mode="json", exclude_defaults=True)) == found


def test_a_rule_of_no_form_is_told_the_forms():
    assert "a rule has the keys 'lower' and 'upper', or 'total' and 'of', or" in refusal({"smaller": "visits"})
    assert "a rule has the keys" in refusal("visits <= costs")


def test_an_unknown_key_is_told_the_keys_of_its_form():
    assert "order.uper: unknown key (did you mean 'upper'? valid: lower, upper)" in refusal({"lower": "a", "uper": "b"})
    wrong = {**IMPLICATION, "then": {"colum": "pregnant", "is": [None]}}
    assert "then.colum: unknown key (did you mean 'column'?" in refusal(wrong)


def test_a_condition_asks_something():
    assert "a condition needs 'is'" in refusal({**IMPLICATION, "then": {"column": "pregnant"}})


def test_the_fault_of_a_rule_is_told_with_the_spec_s():
    spec = parse_spec(
        {"name": "p", "source": {}, "schema": "s", "partition": "random", "generator": "cart", "join": "shuffled"}
    )
    faults = faults_between(spec, schema({**ORDER, "upper": "dischage"}))
    assert [fault.found for fault in faults] == ["'dischage' is no column that is modelled"]


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ({**ORDER, "upper": "dischage"}, "'dischage' is no column that is modelled (did you mean 'discharge'?"),
        ({**ORDER, "upper": "id"}, "'id' is no column that is modelled"),
        ({**ORDER, "upper": "visits"}, "admission <= visits: dates and numbers cannot be compared"),
        ({**ORDER, "upper": "sex"}, "'sex' is categorical and has no order that a rule can use"),
        ({**TOTAL, "of": ["visits", "stay"]}, "'stay' is duration: only numbers are added up"),
        ({**TOTAL, "total": "sum"}, "'sum' is no column that is modelled"),
        ({**IMPLICATION, "when": {"column": "sx", "is": ["male"]}}, "'sx' is no column that is modelled (did you mean"),
        ({**IMPLICATION, "when": {"column": "sex", "is": ["mal"]}}, "'sex' has no level 'mal' (did you mean 'male'?"),
        ({**IMPLICATION, "then": {"column": "pregnant", "is": [0]}}, "'pregnant' has no level '0'"),
        ({**IMPLICATION, "then": {"column": "sex", "at_least": 1}}, "'sex' is categorical: levels have no range (list"),
        (
            {**RANGE, "then": {"column": "admission", "at_least": "soon"}},
            "'admission' is compared with what is no date",
        ),
        ({**RANGE, "then": {"column": "costs", "is": [True]}}, "'costs' is compared with what is no continuous"),
    ],
)
def test_what_columns_cannot_answer_is_told(rule, fault):
    assert fault in told(rule)


def test_truth_is_no_number():
    bits = Column(name="bits", kind="categorical", dtype="int64", levels=(1, 0))
    flag = Column(name="flag", kind="boolean", dtype="bool")
    assert code_of(bits, 1) == 0
    assert code_of(bits, True) is None
    assert code_of(flag, True) == 1
    assert code_of(flag, 1) is None
