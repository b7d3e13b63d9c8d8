"""A CSV says the same as the Parquet file beside it, whatever the types."""

from decimal import Decimal

import pyarrow as pa
import pytest

from models.errors import StateError
from tasks.csv_files import same_rows, write_csv

DURATIONS = [1, -2, None, 2**62 + 1]
COLUMNS = {
    "text, empty and missing": pa.array(["a", "", None, "NA"]),
    "text with marks": pa.array(['say "x", y', "two\nlines", None, " "], pa.large_string()),
    "text of another layout": pa.array(["a", "", None, "b"], pa.string_view()),
    "dictionary": pa.array(["a", "", None, "a"]).dictionary_encode(),
    "dictionary of numbers": pa.array([1, 2, None, 1]).dictionary_encode(),
    "whole": pa.array([1, -2, None, 2**63 - 1]),
    "unsigned": pa.array([1, 2, None, 2**64 - 1], pa.uint64()),
    "double": pa.array([0.1, 1e300, None, 5e-324]),
    "single": pa.array([0.1, 1e30, None, 2], pa.float32()),
    "half": pa.array([0.1, 2, None, 3], pa.float16()),
    "true or false": pa.array([True, False, None, True]),
    "date": pa.array([0, 18_000, None, -5], pa.int32()).cast(pa.date32()),
    "date64": pa.array([0, 86_400_000, None, 0]).cast(pa.date64()),
    "time": pa.array([0, 86_399, None, 60], pa.int32()).cast(pa.time32("s")),
    "time64": pa.array([0, 1, None, 60]).cast(pa.time64("ns")),
    "moment": pa.array([0, 1, None, -1]).cast(pa.timestamp("us")),
    "moment with a zone": pa.array([0, 1_600_000_000, None, -1]).cast(pa.timestamp("s", "Europe/Berlin")),
    "nothing": pa.nulls(4),
    **{
        f"decimal{bits}": pa.array([Decimal("1.50"), Decimal("-0.05"), None, Decimal(0)], kind)
        for bits, kind in ((32, pa.decimal32(5, 2)), (128, pa.decimal128(10, 2)), (256, pa.decimal256(50, 2)))
    },
    **{f"duration in {unit}": pa.array(DURATIONS).cast(pa.duration(unit)) for unit in ("s", "ms", "us", "ns")},
}


@pytest.mark.parametrize("name", COLUMNS)
def test_every_type_comes_back_cell_by_cell(tmp_path, name):
    table = pa.table({name: COLUMNS[name], "row": [1, 2, 3, 4]})
    write_csv(table, tmp_path / "t.csv")
    assert same_rows(table, tmp_path / "t.csv")


def test_a_missing_cell_is_nothing_and_an_empty_text_is_two_quotes(tmp_path):
    write_csv(pa.table({"a": ["x", "", None], "b": [1, 2, 3]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == '"a","b"\n"x",1\n"",2\n,3\n'


def test_durations_are_seconds_to_the_last_nanosecond(tmp_path):
    write_csv(pa.table({"d": pa.array([10**18 + 1]).cast(pa.duration("ns"))}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == '"d"\n1000000000.000000001\n'


def test_awkward_names_are_names(tmp_path):
    table = pa.table({'a "b"': [1], "c,\nd": [2], "- e": [3], "ü": [4]})
    write_csv(table, tmp_path / "t.csv")
    assert same_rows(table, tmp_path / "t.csv")


def test_gaps_in_a_single_column_and_a_table_without_rows_come_back(tmp_path):
    for table in (pa.table({"a": [None, 1, None]}), pa.table({"a": pa.array([], pa.int64())})):
        write_csv(table, tmp_path / "t.csv")
        assert same_rows(table, tmp_path / "t.csv")


def test_another_cell_another_row_or_a_gap_is_another_table(tmp_path):
    write_csv(pa.table({"a": ["x", ""]}), tmp_path / "t.csv")
    for cells in (["x", "y"], ["x", None], ["x"], ["", "x"]):
        assert not same_rows(pa.table({"a": cells}), tmp_path / "t.csv")


@pytest.mark.parametrize("text", ["", '"b"\n1\n', '"a"\nword\n', '"a","b"\n1,2\n', '"a"\n1,2\n', b'"a"\n\xff\n'])
def test_what_has_other_columns_or_cells_of_another_type_is_no_such_csv(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(StateError, match=r"t\.csv: its columns are not those of the table"):
        same_rows(pa.table({"a": [1]}), path)
