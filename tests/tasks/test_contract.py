"""A table keeps its contract or every breach is told: by column, check and count, never by value."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from models.errors import ContractError
from models.randomness import Seed
from models.schema import Column, Schema
from models.table import Table
from tasks.codec import decode, encode
from tasks.contract import breaches


def column(**fields) -> Column:
    return Column(**{"name": "x", "kind": "integer", "dtype": "int64", "bounds": (0, 100), **fields})


TEXT = {"kind": "categorical", "dtype": "string", "bounds": None, "levels": ("a", "b")}
DAY = {
    "kind": "date",
    "dtype": "string",
    "bounds": ("2000-01-01", "2020-12-31"),
    "resolution": "day",
    "format": "%Y-%m-%d",
}

BROKEN: list[tuple[str, Column, list, str, int]] = [
    ("outside the bounds", column(), [-777125, 5, 777125], "bounds", 2),
    ("infinite", column(kind="continuous", dtype="double"), [float("inf"), float("-inf"), 1.5], "finite", 2),
    ("with a fraction", column(dtype="double"), [77.7125, 5.0], "whole", 1),
    ("missing", column(), [None, 5], "null", 1),
    ("missing", column(kind="continuous", dtype="double"), [float("nan"), 5.0], "null", 1),
    ("missing", column(), [None, None], "null", 2),
    ("'levels' does not list", column(**TEXT), ["CANARY-7431", "a"], "levels", 1),
    ("'levels' does not list", column(**{**TEXT, "levels": (1, 2)}), ["1", "2"], "levels", 2),
    ("'levels' does not list", column(kind="boolean", bounds=None), [0, 1, 7], "levels", 1),
    ("not written as", column(**DAY), ["2000-02-30", "CANARY-7431", "2000-02-28"], "format", 2),
    ("outside the bounds", column(**DAY), ["1931-02-03"], "bounds", 1),
    ("the table has string", column(), ["CANARY-7431"], "type", 1),
    ("cannot be kept as string", column(dtype="string"), ["5"], "type", 1),
    ("no type that can be modelled", column(dtype="list<item: int64>"), [5], "type", 1),
    ("other than the constant", column(kind="constant", bounds=None, levels=(5,)), [5, 7431], "levels", 1),
    ("identifier of another row", column(kind="identifier", bounds=None, unique=True), [1, 2, 2], "unique", 1),
    ("free text", column(kind="text", bounds=None, dtype="string"), ["CANARY-7431"], "text", 1),
]


@pytest.mark.parametrize(("found", "wanted", "cells", "check", "rows"), BROKEN)
def test_a_breach_names_column_check_and_count_but_never_a_value(found, wanted, cells, check, rows):
    (breach,) = breaches(pa.table({"x": cells}), Schema(columns=(wanted,)))
    assert (breach.column, breach.check, breach.rows) == ("x", check, rows)
    said = str(breach.fault())
    assert found in said
    assert not any(canary in said for canary in ("CANARY", "7431", "777125", "7125", "1931"))
    if wanted.modelled:
        with pytest.raises(ContractError, match="x: "):
            encode(pa.table({"x": cells}), Schema(columns=(wanted,)))


@pytest.mark.parametrize(
    ("level", "cells"),
    [
        (5, pa.array([5.0, None])),
        (5, pa.array(["5"])),
        (True, pa.array([True])),
        ("a", pa.array(["a"]).dictionary_encode()),
        ("2020-02-29", pa.array([18321], pa.date32())),
        ("2020-02-29T01:00:00", pa.array([1582934400], pa.timestamp("s", "Europe/Copenhagen"))),
        (1.5, pa.array([Decimal("1.5")])),
    ],
)
def test_a_constant_is_written_as_the_contract_reads_it(level, cells):
    wanted = column(kind="constant", bounds=None, dtype=str(cells.type), levels=(level,), nullable=True)
    schema = Schema(columns=(wanted,))
    assert breaches(pa.table({"x": cells}), schema) == []
    assert decode(Table.of((), [], 3), schema, Seed.of(1))["x"].to_pylist() == [cells[0].as_py()] * 3


def test_a_constant_that_its_type_cannot_hold_is_a_breach():
    wanted = column(kind="constant", bounds=None, dtype="date32[day]", levels=("CANARY",))
    assert [
        breach.check for breach in breaches(pa.table({"x": pa.array([1], pa.date32())}), Schema(columns=(wanted,)))
    ] == ["levels"]


def test_moments_with_and_without_a_zone_are_not_the_same():
    wanted = column(kind="datetime", dtype="timestamp[s]", bounds=("2000-01-01", "2020-01-01"), resolution="second")
    table = pa.table({"x": pa.array([0], pa.timestamp("s", "UTC"))})
    assert [breach.check for breach in breaches(table, Schema(columns=(wanted,)))] == ["type"]


def test_a_name_that_occurs_twice_is_refused():
    table = pa.table([pa.array([1]), pa.array([2])], names=["x", "x"])
    assert [breach.check for breach in breaches(table, Schema(columns=(column(),)))] == ["duplicate"]


def test_excluded_columns_may_be_absent_and_empty_columns_untyped():
    schema = Schema(columns=(column(nullable=True), column(name="y", include=False)))
    assert breaches(pa.table({"x": pa.nulls(2)}), schema) == []


BIG = 1_500_000_000_000_000_001


@pytest.mark.parametrize(
    ("kind", "levels", "cells"),
    [
        (pa.int64(), (BIG, BIG + 1), [BIG, BIG + 1]),
        (pa.uint64(), (2**63, 2**63 + 1), [2**63, 2**63 + 1]),
        (pa.uint64(), (1, 2**63 + 1), [1, 2**63 + 1]),
        (pa.decimal64(18, 2), ("90071992547409.93", "90071992547409.94"), [Decimal("90071992547409.93")]),
        (pa.decimal128(38, 2), (f"{BIG}.25", f"{BIG}.26"), [Decimal(f"{BIG}.25"), Decimal(f"{BIG}.26")]),
    ],
)
def test_numbers_that_float64_confuses_are_told_apart_and_come_back(kind, levels, cells):
    schema = Schema(columns=(column(kind="categorical", bounds=None, dtype=str(kind), levels=levels),))
    table = pa.table({"x": pa.array(cells, kind)})
    coded = encode(table, schema)
    assert coded["x"].tolist() == list(range(len(cells)))
    assert decode(coded, schema, Seed.of(1)) == table


def test_a_large_number_next_to_a_level_or_a_constant_is_not_it():
    schema = Schema(columns=(column(kind="categorical", bounds=None, levels=(BIG,)),))
    assert [each.rows for each in breaches(pa.table({"x": [BIG, BIG + 1]}), schema)] == [1]
    constant = Schema(columns=(column(kind="constant", bounds=None, levels=(BIG,)),))
    assert [each.rows for each in breaches(pa.table({"x": [BIG, BIG + 1]}), constant)] == [1]
    assert decode(Table.of((), [], 2), constant, Seed.of(1))["x"].to_pylist() == [BIG, BIG]


def test_a_level_that_the_type_cannot_hold_matches_nothing():
    schema = Schema(columns=(column(kind="categorical", bounds=None, levels=("x", 2**70, 1.5, 5)),))
    assert encode(pa.table({"x": [5]}), schema)["x"].tolist() == [3.0]


def test_minus_zero_is_the_level_zero():
    schema = Schema(columns=(column(kind="categorical", bounds=None, dtype="double", levels=(0.0, 1.5)),))
    assert encode(pa.table({"x": [-0.0, 0.0]}), schema)["x"].tolist() == [0.0, 0.0]
    minus = Schema(columns=(column(kind="categorical", bounds=None, dtype="double", levels=(-0.0, 1.5)),))
    assert encode(pa.table({"x": [-0.0, 0.0]}), minus)["x"].tolist() == [0.0, 0.0]
    constant = Schema(columns=(column(kind="constant", bounds=None, dtype="double", levels=(0,)),))
    assert breaches(pa.table({"x": [-0.0, 0.0]}), constant) == []
