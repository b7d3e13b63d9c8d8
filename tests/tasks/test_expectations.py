import datetime as dt
import decimal
import json
import logging
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from models.errors import ContractError, SpecError
from models.schema import Column, Kind, Role, Schema
from models.validation import Check, Validation
from tasks.contract import breaches
from tasks.expectations import _evaluate, _frame, ensure, load_suite, suite_of, validate

UTC = dt.UTC
DAY = dt.date(1980, 1, 1)
MOMENT = dt.datetime(2020, 6, 1, tzinfo=UTC)
CANARY = "canary-7315@secret.example"
CODED = "dictionary<values=string, indices=int32, ordered=0>"
YEAR = ("2020-01-01", "2020-12-31")


def column(name: str, kind: Kind, dtype: str, **more: object) -> Column:
    return Column(name=name, kind=kind, dtype=dtype, **more)


SCHEMA = Schema(
    columns=(
        column("id", Kind.IDENTIFIER, "int64", role=Role.IDENTIFIER, unique=True),
        column("age", Kind.INTEGER, "int64", bounds=(18, 120)),
        column("pay", Kind.CONTINUOUS, "decimal128(12, 2)", bounds=(0, 1e6), decimals=2, nullable=True),
        column("sex", Kind.CATEGORICAL, CODED, levels=("f", "m"), nullable=True),
        column("ward", Kind.CATEGORICAL, "int64", levels=(1, 2), unlisted="other", other=9),
        column("smokes", Kind.BOOLEAN, "bool", nullable=True),
        column("born", Kind.DATE, "date32[day]", bounds=("1900-01-01", "2005-12-31"), resolution="day"),
        column("seen", Kind.DATETIME, "timestamp[us, tz=Europe/Copenhagen]", bounds=YEAR, resolution="day"),
        column("told", Kind.DATE, "string", bounds=YEAR, resolution="day", format="%d.%m.%Y"),
        column("slept", Kind.TIME, "time32[s]", bounds=("20:00", "23:59"), resolution="minute"),
        column("stay", Kind.DURATION, "duration[s]", bounds=(0, 86_400), resolution="second"),
        column("site", Kind.CONSTANT, "string", levels=("north",)),
        column("notes", Kind.TEXT, "string", include=False),
    )
)


def rows(**changed: list[object]) -> pa.Table:
    """Four good rows, some columns of which are changed."""
    cells: dict[str, list[object]] = {
        "id": [1, 2, 3, 4],
        "age": [18, 40, 41, 120],
        "pay": [decimal.Decimal("0.10"), None, decimal.Decimal("999.99"), decimal.Decimal("7.00")],
        "sex": ["f", "m", None, "f"],
        "ward": [1, 2, 77, 1],
        "smokes": [True, None, False, True],
        "born": [dt.date(1900, 1, 1), dt.date(2005, 12, 31), dt.date(1980, 2, 29), dt.date(1990, 1, 1)],
        "seen": [dt.datetime(2020, 12, 31, 22, 59, tzinfo=UTC), MOMENT, MOMENT, MOMENT],
        "told": ["01.01.2020", "31.12.2020", "29.02.2020", "01.06.2020"],
        "slept": [dt.time(20), dt.time(23, 59, 30), dt.time(22), dt.time(21)],
        "stay": [dt.timedelta(0), dt.timedelta(days=1), dt.timedelta(hours=1), dt.timedelta(hours=2)],
        "site": ["north"] * 4,
        "notes": ["a", "b", "c", "d"],
    }
    types = {
        "id": pa.int64(),
        "age": pa.int64(),
        "pay": pa.decimal128(12, 2),
        "sex": pa.dictionary(pa.int32(), pa.string()),
        "ward": pa.int64(),
        "seen": pa.timestamp("us", "Europe/Copenhagen"),
        "slept": pa.time32("s"),
        "stay": pa.duration("s"),
    }
    return pa.table({name: pa.array(values, types.get(name)) for name, values in {**cells, **changed}.items()})


def alone(name: str, table: pa.Table) -> list[tuple[str | None, str, int | None]]:
    """What is broken when only the column ``name`` is looked at."""
    return broken(validate(table.select([name]), Schema(columns=(SCHEMA[name],))))


def broken(validation: Validation) -> list[tuple[str | None, str, int | None]]:
    return [(check.column, check.check, check.rows_failed) for check in validation.failed]


def suite(tmp_path: Path, *expectations: object) -> Path:
    path = tmp_path / "own.json"
    written = {"name": "own", "expectations": expectations, "meta": {"great_expectations_version": "1.24.1"}}
    path.write_text(json.dumps(written))
    return path


def expect(kind: str, **kwargs: object) -> dict[str, object]:
    return {"type": kind, "kwargs": kwargs, "meta": {}}


def test_a_table_that_keeps_its_contract_passes_and_every_check_is_told():
    validation = validate(rows(), SCHEMA)
    assert validation.passed, broken(validation)
    ensure(validation)
    told = {(check.column, check.check) for check in validation.checks}
    assert told >= {("id", "unique"), ("age", "bounds"), ("sex", "levels"), ("born", "null"), ("site", "missing")}
    assert "notes" not in {column for column, _ in told}
    assert {check.rows_failed for check in validation.checks} == {0}
    assert {check.source for check in validation.checks} == {"schema"}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"id": [1, 2, 2, 2]}, ("id", "unique", 2)),
        ({"age": [17, 40, 121, 200]}, ("age", "bounds", 3)),
        ({"age": [18, None, 40, None]}, ("age", "null", 2)),
        ({"pay": [decimal.Decimal("-0.01"), None, None, None]}, ("pay", "bounds", 1)),
        ({"sex": ["f", "x", None, "m"]}, ("sex", "levels", 1)),
        ({"born": [dt.date(1899, 12, 31), dt.date(2006, 1, 1), DAY, DAY]}, ("born", "bounds", 2)),
        ({"seen": [dt.datetime(2020, 12, 31, 23, 1, tzinfo=UTC), MOMENT, MOMENT, MOMENT]}, ("seen", "bounds", 1)),
        ({"told": ["01.01.2020", "31.12.2019", "29.02.2020", "01.06.2020"]}, ("told", "bounds", 1)),
        ({"told": ["01.01.2020", "30.02.2020", "29.02.2020", "01.06.2020"]}, ("told", "format", 1)),
        ({"slept": [dt.time(19, 59), dt.time(23), dt.time(22), dt.time(21)]}, ("slept", "bounds", 1)),
        ({"stay": [dt.timedelta(days=2), *[dt.timedelta(0)] * 3]}, ("stay", "bounds", 1)),
        ({"site": ["north", "south", "north", "north"]}, ("site", "levels", 1)),
    ],
)
def test_one_broken_rule_is_one_failed_check_with_its_number_of_rows(changed, expected):
    assert alone(expected[0], rows(**changed)) == [expected]


def test_a_column_that_the_schema_does_not_know_is_refused():
    assert broken(validate(rows(more=[1, 2, 3, 4]), SCHEMA)) == [("more", "extra", 4)]


def test_great_expectations_alone_finds_what_the_contract_finds():
    """The derived suite is a second reading: it fails for every rule whose breaches the contract counts."""
    bad = rows(
        id=[1, 1, 3, 4],
        age=[17, None, 40, 40],
        pay=[decimal.Decimal("-1.00"), None, None, None],
        sex=["x", "f", "m", "f"],
        born=[dt.date(1899, 1, 1), DAY, None, DAY],
        seen=[dt.datetime(2021, 1, 1, tzinfo=UTC), None, MOMENT, MOMENT],
        told=["01.01.1999", None, "01.01.2020", "01.01.2020"],
        slept=[dt.time(1), dt.time(22), None, dt.time(22)],
        stay=[dt.timedelta(days=9), None, dt.timedelta(0), dt.timedelta(0)],
        site=["south", None, "north", "north"],
    )
    outcomes = _evaluate(_frame(bad, SCHEMA, ticked=True), suite_of(SCHEMA).expectations)
    unmet = {(asked.kwargs["column"], asked.meta["check"]) for asked, met, _ in outcomes if not met}
    assert unmet == {(breach.column, breach.check) for breach in breaches(bad, SCHEMA)}
    assert len(unmet) == 17


def test_a_missing_column_is_told_once():
    assert broken(validate(rows().drop_columns(["age"]), SCHEMA)) == [("age", "missing", 4)]


def test_a_column_of_another_type_is_told_as_such():
    assert alone("age", pa.table({"age": ["18", "40", "41", "50"]})) == [("age", "type", 4)]


def test_columns_may_come_in_any_order_and_columns_left_out_need_not_come():
    table = rows()
    assert validate(table.select(table.column_names[-2::-1]), SCHEMA).passed


def test_a_column_named_twice_is_refused():
    table = rows()
    assert broken(validate(table.append_column("age", table["age"]), SCHEMA)) == [("age", "duplicate", 4)]


def test_an_empty_table_breaks_no_rule():
    assert validate(rows().slice(0, 0), SCHEMA).passed


def test_long_identifiers_with_gaps_are_not_run_together():
    schema = Schema(columns=(column("id", Kind.IDENTIFIER, "int64", unique=True, nullable=True), SCHEMA["age"]))
    table = pa.table({"id": pa.array([2**60, 2**60 + 1, None]), "age": [20, 20, 20]})
    assert validate(table, schema).passed


def test_bounds_at_the_end_of_the_calendar_can_be_checked():
    end = column("end", Kind.DATE, "date32[day]", bounds=("0001-01-01", "9999-12-31"), resolution="day")
    schema = Schema(columns=(end,))
    assert validate(pa.table({"end": [dt.date(9999, 12, 31), dt.date(1, 1, 1)]}), schema).passed


def test_levels_of_numbers_are_checked_as_numbers_with_gaps_or_without():
    schema = Schema(columns=(column("grade", Kind.CATEGORICAL, "int64", levels=(1, 2), nullable=True),))
    assert validate(pa.table({"grade": pa.array([1, 2, None], pa.int64())}), schema).passed
    assert broken(validate(pa.table({"grade": pa.array([1, 2, 3], pa.int64())}), schema)) == [("grade", "levels", 1)]


def test_a_synthetic_table_may_hold_the_stand_in_but_nothing_else_that_is_unlisted():
    released = rows(ward=[1, 2, 9, 1]).drop_columns(["notes"])
    assert validate(released, SCHEMA, released=True).passed
    assert broken(validate(rows().drop_columns(["notes"]), SCHEMA, released=True)) == [("ward", "levels", 1)]


def test_a_synthetic_table_must_not_hold_a_column_that_is_left_out():
    assert broken(validate(rows(ward=[1, 2, 9, 1]), SCHEMA, released=True)) == [("notes", "extra", 4)]


def test_all_failed_checks_are_told_at_once_with_count_and_remedy():
    validation = validate(rows(age=[17, 40, 41, 50], sex=["x", "y", "f", "m"]), SCHEMA)
    with pytest.raises(ContractError) as refused:
        ensure(validation)
    assert [fault.where for fault in refused.value.faults] == ["age", "sex"]
    age, sex = (str(fault) for fault in refused.value.faults)
    assert re.search(r"age: bounds: 1 .*18.*120.*\(widen the bounds", age)
    assert re.search(r"sex: levels: 2 .*\(list them", sex)


def test_a_validation_without_checks_is_refused():
    with pytest.raises(ContractError, match="not one check was made"):
        ensure(Validation(checks=()))


def test_a_check_that_only_great_expectations_finds_broken_is_refused_without_a_count():
    check = Check(column="age", check="bounds", source="schema", passed=False)
    with pytest.raises(ContractError, match="age: bounds: not met"):
        ensure(Validation(checks=(check,)))


def test_the_owners_suite_is_asked_beside_the_schema(tmp_path):
    own = suite(
        tmp_path,
        expect("expect_column_mean_to_be_between", column="age", min_value=18, max_value=60),
        expect("expect_column_pair_values_a_to_be_greater_than_b", column_A="age", column_B="ward"),
        expect("expect_column_values_to_be_between", column="age", min_value=100, mostly=0.9),
    )
    validation = validate(rows(ward=[1, 2, 9, 1]), SCHEMA, own)
    mine = [check for check in validation.checks if check.source == "user"]
    assert [(check.column, check.check, check.passed) for check in mine] == [
        ("age", "expect_column_mean_to_be_between", True),
        ("age, ward", "expect_column_pair_values_a_to_be_greater_than_b", True),
        ("age", "expect_column_values_to_be_between", False),
    ]
    told = r"age: expect_column_values_to_be_between of the owner's suite: not met .*expectation 3"
    with pytest.raises(ContractError, match=told):
        ensure(validation)


def test_an_owner_finds_moments_as_moments_and_times_of_day_and_durations_as_seconds(tmp_path):
    own = suite(
        tmp_path,
        expect("expect_column_min_to_be_between", column="born", min_value="1900-01-01", max_value="1900-01-01"),
        expect("expect_column_values_to_be_between", column="seen", max_value="2020-12-31T23:59:00"),
        expect("expect_column_values_to_be_between", column="told", min_value="2020-01-01", max_value="2020-12-31"),
        expect("expect_column_max_to_be_between", column="slept", min_value=86_370, max_value=86_370),
        expect("expect_column_sum_to_be_between", column="stay", min_value=97_200, max_value=97_200),
    )
    checks = [check for check in validate(rows(), SCHEMA, own).checks if check.source == "user"]
    assert [check.passed for check in checks] == [True] * 5, checks


def test_a_suite_that_great_expectations_wrote_is_read_back(tmp_path):
    path = tmp_path / "written.json"
    written = suite_of(SCHEMA)
    path.write_text(json.dumps(written.to_json_dict()))
    read = load_suite(path)
    assert [one.configuration.kwargs for one in read.expectations] == [
        one.configuration.kwargs for one in written.expectations
    ]


def test_of_a_synthetic_table_only_what_can_be_asked_is_asked(tmp_path):
    own = suite(
        tmp_path,
        expect("expect_column_value_lengths_to_equal", column="notes", value=1),
        expect("expect_table_row_count_to_equal", value=4),
        expect("expect_column_max_to_be_between", column="age", max_value=120),
    )
    source = [check.column for check in validate(rows(), SCHEMA, own).checks if check.source == "user"]
    assert source == ["notes", None, "age"]
    synthetic = validate(rows(ward=[1, 2, 9, 1]).drop_columns(["notes"]), SCHEMA, own, released=True)
    assert [check.column for check in synthetic.checks if check.source == "user"] == ["age"]


def test_every_expectation_that_cannot_be_read_is_named(tmp_path):
    own = suite(
        tmp_path,
        expect("expect_column_values_to_be_betwixt", column="age"),
        expect("expect_column_values_to_be_between", column="age", min_value="low", colour="red"),
        expect("expect_column_values_to_not_be_null"),
        {"expectation_type": "expect_column_values_to_not_be_null", "kwargs": {"column": "age"}},
        "nonsense",
        {"type": "expect_column_to_exist", "kwargs": ["age"]},
        expect("expect_column_values_to_be_between", column="age", min_value={"$PARAMETER": "low"}),
        expect("expect_column_to_exist", column="age"),
    )
    with pytest.raises(SpecError) as refused:
        load_suite(own)
    text = [str(fault) for fault in refused.value.faults]
    assert len(text) == 7
    assert all(str(own) in line for line in text)
    assert "expectation 1 (expect_column_values_to_be_betwixt): no such expectation" in text[0]
    assert "did you mean 'expect_column_values_to_be_between'?" in text[0]
    assert "wrong arguments: colour, min_value" in text[1]
    assert "wrong arguments: column" in text[2]
    assert "has no 'type'" in text[3]
    assert "has no 'type'" in text[4]
    assert "'kwargs' is no mapping" in text[5]
    assert "has a parameter" in text[6]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"{", "is no JSON"),
        (b"\xff\xfe", "is no JSON"),
        (b"[]", "holds no list"),
        (b'{"expectations": 3}', "holds no list"),
    ],
)
def test_a_file_that_is_no_suite_is_refused_by_name(tmp_path, content, found):
    path = tmp_path / "own.json"
    path.write_bytes(content)
    with pytest.raises(SpecError, match=found) as refused:
        load_suite(path)
    assert str(path) in str(refused.value)


def test_a_suite_that_is_not_there_is_refused_by_name(tmp_path):
    with pytest.raises(SpecError, match=r"gone\.json: no such file"):
        load_suite(tmp_path / "gone.json")


def test_an_expectation_about_a_column_that_nobody_knows_is_refused(tmp_path):
    own = suite(tmp_path, expect("expect_column_to_exist", column="aeg"))
    with pytest.raises(SpecError, match=r"no column 'aeg' in the schema .*did you mean 'age'"):
        validate(rows(), SCHEMA, own)


def test_an_expectation_that_cannot_be_evaluated_is_refused_and_not_taken_for_a_breach(tmp_path):
    own = suite(
        tmp_path,
        expect("expect_column_values_to_be_between", column="notes", min_value=1, max_value=2),
        expect("unexpected_rows_expectation", unexpected_rows_query="select * from {batch}"),
    )
    with pytest.raises(SpecError) as refused:
        validate(rows(), SCHEMA, own)
    assert [fault.found for fault in refused.value.faults] == ["cannot be evaluated on this table"] * 2


def test_no_value_of_the_table_is_in_anything_that_is_said_or_returned(tmp_path, caplog, capfd, monkeypatch):
    """Planted: texts, a number and a date in columns that break their rules, and in one that cannot be compared."""
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.DEBUG)
    table = rows(
        sex=["f", CANARY, None, "m"],
        notes=[CANARY, "b", "c", "d"],
        age=[18, 987_654_321, 40, 40],
        told=["01.01.2020", CANARY, CANARY, "x"],
        site=["north", CANARY, "north", "north"],
        born=[dt.date(1777, 7, 17), DAY, DAY, DAY],
    )
    own = suite(
        tmp_path,
        expect("expect_column_values_to_not_match_regex", column="notes", regex="canary"),
        expect("expect_column_max_to_be_between", column="age", max_value=100),
        expect("expect_column_distinct_values_to_be_in_set", column="sex", value_set=["f", "m"]),
    )
    validation = validate(table, SCHEMA, own)
    assert len(validation.failed) == 8
    with pytest.raises(ContractError) as refused:
        ensure(validation)
    uncomparable = suite(tmp_path, expect("expect_column_values_to_be_between", column="notes", min_value=1))
    with pytest.raises(SpecError) as unanswered:
        validate(table, SCHEMA, uncomparable)
    said = "".join(
        [
            caplog.text,
            *capfd.readouterr(),
            str(refused.value),
            str(unanswered.value),
            repr(validation),
            validation.model_dump_json(),
            pickle.dumps(validation).decode("latin-1"),
            *(path.read_text() for path in tmp_path.rglob("*") if path.is_file()),
            str(list(tmp_path.rglob("*"))),
        ]
    )
    for planted in ("7315", "987654321", "987,654,321", "1777"):
        assert planted not in said


def test_nothing_is_printed_and_nothing_is_written(tmp_path):
    """In a process of its own, with a home of its own and warnings shown."""
    code = (
        "import pyarrow as pa\n"
        "from models.schema import Column, Schema\n"
        "from tasks.expectations import validate\n"
        "schema = Schema(columns=(Column(name='age', kind='integer', dtype='int64', bounds=(0, 9)),))\n"
        "assert not validate(pa.table({'age': ['x', 'y']}), schema).passed\n"
        "assert not validate(pa.table({'age': [1, 99]}), schema).passed\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert (done.stdout, done.stderr) == ("", "")
    assert list(tmp_path.rglob("*")) == []


def test_importing_the_module_does_not_import_great_expectations():
    code = "import sys, tasks.expectations; assert not {'great_expectations', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=True)


def test_columns_whose_names_differ_in_case_alone_are_told_apart():
    schema = Schema(
        columns=(
            column("id", Kind.INTEGER, "int64", bounds=(0, 9)),
            column("ID", Kind.INTEGER, "int64", bounds=(100, 999), nullable=True),
        )
    )
    good = pa.table({"id": [1, 2], "ID": [None, 500]})
    assert validate(good, schema).passed
    broken = validate(pa.table({"id": [1, 2], "ID": [500, 5]}), schema)
    assert [(check.column, check.check) for check in broken.failed] == [("ID", "bounds")]


def test_levels_beyond_what_float64_tells_apart_are_judged_by_the_contract_alone():
    big = 1_500_000_000_000_000_001
    schema = Schema(columns=(column("branch", Kind.CATEGORICAL, "int64", levels=(big, big + 1)),))
    assert not validate(pa.table({"branch": [big, big + 1]}), schema).failed
    (check,) = validate(pa.table({"branch": [big, big + 2]}), schema).failed
    assert (check.column, check.check, check.rows_failed) == ("branch", "levels", 1)
