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
        ({"peaks": ("noon",)}, "peaks of kind integer cannot be read"),
        ({"kind": "time", "resolution": "minute", "bounds": ("08:00", "20:00"), "peaks": ("07:59",)}, "a peak lies"),
        ({"kind": "time", "resolution": "minute", "bounds": ("00:00", "00:00:inf")}, "cannot be read"),
        (
            {"kind": "datetime", "resolution": "minute", "bounds": ("2020-01-01", "2020-01-02T00:00+01:00")},
            "bounds of kind datetime cannot be read",
        ),
        (
            {"kind": "date", "resolution": "day", "bounds": ("2020-01-01", "2020-01-09"), "peaks": ("31.1.2020",)},
            "peaks of kind date cannot be read",
        ),
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


@pytest.mark.parametrize(
    ("kind", "resolution", "bounds", "peak", "number"),
    [
        ("date", "day", ("2020-01-01", "2021-12-31"), "2020-01-31", 18_292),
        ("date", "day", ("2020-01-01", "2021-12-31"), 18_292, 18_292),
        ("datetime", "minute", ("2020-01-01T00:00", "2020-12-31T23:59"), "2020-01-01T00:01", 26_297_281),
        ("time", "minute", ("00:00", "23:59"), "22:00", 1320),
        ("time", "minute", ("00:00", "23:59"), 1320.0, 1320),
        ("time", "nanosecond", ("00:00", "23:59:59.999999999"), "12:34:56.123456789", 45_296_123_456_789),
        ("duration", "minute", (0, 7200), 5400, 90),
        ("integer", None, (0, 9), 7, 7),
    ],
)
def test_a_peak_is_written_as_bounds_are_or_in_ticks(kind, resolution, bounds, peak, number):
    assert column(kind=kind, resolution=resolution, bounds=bounds, peaks=(peak,)).peak_numbers == (number,)


def test_the_last_nanosecond_of_a_day_is_exact():
    assert column(kind="time", resolution="nanosecond", bounds=("00:00", "23:59:59.999999999")).high == 86_400e9 - 1


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
