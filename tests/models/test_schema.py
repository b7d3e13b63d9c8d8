"""A schema says what may come in; what contradicts itself is refused in words that name the contradiction."""

import pytest
from pydantic import ValidationError

from models.errors import SpecError
from models.schema import Column, Kind, Role, Schema, identifier_capacity, subset


def column(**said):
    return Column(**{"name": "c", "kind": "integer", "dtype": "int64", "bounds": (0, 9), **said})


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"bounds": None}, "needs bounds"),
        ({"bounds": (9, 0)}, "the lower one first"),
        ({"bounds": (0, float("inf"))}, "finite"),
        ({"bounds": ("x", "y")}, "cannot be read"),
        ({"peaks": (10,)}, "a peak lies outside"),
        ({"kind": "continuous", "scale": "log"}, "needs decimals"),
        ({"levels": (1, 2)}, "takes no levels"),
        ({"kind": "categorical", "bounds": None}, "needs levels"),
        ({"kind": "categorical"}, "takes no bounds"),
        ({"kind": "categorical", "bounds": None, "levels": ("a", "a")}, "listed twice"),
        ({"kind": "categorical", "bounds": None, "levels": ()}, "no level is left"),
        ({"kind": "categorical", "bounds": None, "levels": ("a",), "unlisted": "other"}, "needs the value 'other'"),
        ({"kind": "categorical", "bounds": None, "levels": ("a",), "unlisted": "missing"}, "needs 'nullable: true'"),
        ({"kind": "constant", "bounds": None, "levels": ("a", "b")}, "at most one level, not 2"),
        ({"kind": "date", "bounds": ("2020-01-01", "2021-01-01")}, "needs a resolution"),
        ({"unique": True}, "only identifiers can be unique"),
        ({"colour": "blue"}, "Extra inputs"),
        ({"kind": "numeric"}, "Input should be"),
    ],
)
def test_a_contradiction_is_refused(said, complaint):
    with pytest.raises(ValidationError, match=complaint):
        column(**said)


def test_a_column_that_is_left_out_needs_no_bounds():
    assert not column(kind="continuous", bounds=None, include=False).modelled


@pytest.mark.parametrize(
    ("kind", "resolution", "value", "number"),
    [
        ("date", "day", "1970-01-02", 1),
        ("date", "day", "9999-12-31", 2_932_896),
        ("datetime", "nanosecond", "1970-01-01T00:00:00.000000001", 1),
        ("datetime", "minute", "1970-01-01T01:00:00", 60),
        ("datetime", "second", "1969-12-31T23:59:59", -1),
        ("time", "minute", "07:30", 450),
        ("time", "second", "00:00:30", 30),
        ("duration", "second", 90, 90),
        ("duration", "minute", 90, 1.5),
        ("integer", None, 7, 7),
    ],
)
def test_a_bound_is_a_number_of_ticks(kind, resolution, value, number):
    assert column(kind=kind, resolution=resolution, bounds=(value, value)).low == number


def test_the_alphabet_ends_with_the_stand_in_for_unlisted_levels():
    letters = {"kind": "categorical", "bounds": None, "levels": ("a", "b"), "unlisted": "other"}
    assert column(**letters, other="(rare)").alphabet == ("a", "b", "(rare)")
    assert column(**letters, other="a").alphabet == ("a", "b")
    assert column(kind="boolean", bounds=None).alphabet == (False, True)


def test_steps_are_those_of_the_grid():
    assert column().step == 1
    assert column(kind="continuous", decimals=2).step == pytest.approx(0.01)
    assert column(kind="continuous").step is None


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(ValidationError, match="column named twice: c"):
        Schema(columns=(column(), column()))


def test_a_schema_knows_which_columns_are_modelled_and_which_are_released():
    schema = Schema(
        columns=(
            column(name="id", kind="identifier", bounds=None, role="identifier"),
            column(name="age"),
            column(name="notes", kind="text", bounds=None, include=False),
        )
    )
    assert [c.name for c in schema.modelled] == ["age"]
    assert [c.name for c in schema.released] == ["id", "age"]
    assert [c.name for c in schema.having(Role.IDENTIFIER)] == ["id"]
    assert schema["age"].kind is Kind.INTEGER


def test_an_unknown_column_is_named_with_the_nearest_one():
    with pytest.raises(SpecError, match="did you mean 'age'"):
        Schema(columns=(column(name="age"),))["aeg"]


def test_a_subset_comes_in_the_order_asked_for():
    a, b = column(name="a"), column(name="b")
    assert subset((a, b), ["b", "a"]) == (b, a)


def test_an_identifier_pattern_numbers_as_many_rows_as_its_digits_allow():
    assert identifier_capacity("P-###") == 1000
    assert identifier_capacity("##-##") == 10_000
