import pytest

from models.schema import Column, Kind, Schema
from models.validation import Check, Validation, promised


def check(passed: bool) -> Check:
    return Check(column="age", check="bounds", source="schema", passed=passed, rows_failed=0 if passed else 2)


def test_a_validation_passes_when_every_check_does():
    assert Validation(checks=(check(True), check(True))).passed
    assert not Validation(checks=(check(True), check(False))).passed


def test_failed_checks_are_told_apart():
    assert Validation(checks=(check(True), check(False))).failed == (check(False),)


def test_nothing_checked_is_nothing_passed():
    assert not Validation(checks=()).passed


def test_a_check_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        check(True).passed = False


def column(name: str, **more: object) -> Column:
    return Column(name=name, kind=Kind.CATEGORICAL, dtype="string", levels=("a", "b"), nullable=True, **more)


def test_a_release_is_promised_without_the_columns_left_out():
    schema = Schema(columns=(column("kept"), column("left", include=False)))
    assert promised(schema).names == ("kept",)


def test_a_release_is_promised_to_hold_no_unlisted_level():
    schema = Schema(
        columns=(
            column("refused"),
            column("emptied", unlisted="missing"),
            column("renamed", unlisted="other", other="rest"),
            Column(name="age", kind=Kind.INTEGER, dtype="int64", bounds=(0, 9)),
        )
    )
    levels = {found.name: found.levels for found in promised(schema).columns}
    assert levels == {"refused": ("a", "b"), "emptied": ("a", "b"), "renamed": ("a", "b", "rest"), "age": None}
    assert {found.unlisted for found in promised(schema).columns} == {"refuse"}


def test_what_is_promised_is_a_valid_schema():
    schema = promised(Schema(columns=(column("renamed", unlisted="other", other="rest"),)))
    assert Schema.model_validate(schema.model_dump()) == schema
