"""CSV files are typed by all of their cells; what is wrong with them is told by row, column and byte."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from models.errors import SourceError, SpecError
from tasks.sources import catalog
from tasks.sources.csv_ import AsWritten, Csv, typed

CANARY = "CANARY-7431"


def written(folder: Path, content: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(folder: Path, content: str | bytes, **settings) -> pa.Table:
    return Csv(path=str(written(folder, content)), **settings).read()


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2", None], pa.int64()),
        (["00123", "45"], pa.string()),
        (["1.50", "2", ".5", "1e-3"], pa.float64()),
        (["01.5"], pa.string()),
        (["1", "inf"], pa.float64()),
        (["12345678901234567890"], pa.string()),
        (["1", "<5"], pa.string()),
        (["true", "false"], pa.bool_()),
        (["True", "False"], pa.string()),
        (["2020-01-01"], pa.string()),
        (["1,5"], pa.string()),
        ([None, None], pa.null()),
    ],
)
def test_a_column_has_a_type_only_if_all_its_cells_are_written_so(cells, kind):
    assert typed(pa.chunked_array([cells], pa.string()), ".").type == kind


def test_a_cell_far_down_counts_as_much_as_the_first(tmp_path):
    table = read(tmp_path, "a,b\n" + "1,2\n" * 300_000 + "1,x\n")
    assert [str(kind) for kind in table.schema.types] == ["int64", "string"]
    assert table["b"][0].as_py() == "2"


def test_decimal_commas_are_read_where_they_are_announced(tmp_path):
    table = read(tmp_path, "a;b\n1,5;1.234,5\n2;x\n", delimiter=";", decimal_point=",")
    assert table.to_pydict() == {"a": [1.5, 2.0], "b": ["1.234,5", "x"]}


def test_the_texts_that_mean_missing_can_be_set(tmp_path):
    assert read(tmp_path, "a,b\nNA,.\n1,NA\n", null_values=(".",)).to_pydict() == {"a": ["NA", "1"], "b": [None, "NA"]}
    assert read(tmp_path, "a,b\nNA,x\n1,\n").to_pydict() == {"a": [None, 1], "b": ["x", None]}


@pytest.mark.parametrize("encoding", ["utf8", "latin-1", "cp1252", "utf16"])
def test_encodings_are_read(tmp_path, encoding):
    assert read(tmp_path, "naïve\né\n".encode(encoding), encoding=encoding).to_pydict() == {"naïve": ["é"]}


def test_quotes_newlines_and_a_byte_order_mark_are_read(tmp_path):
    assert read(tmp_path, '\ufeffa,b\n"x,\ny",1\n').to_pydict() == {"a": ["x,\ny"], "b": [1]}


def test_packed_files_folders_and_patterns_are_read(tmp_path):
    written(tmp_path, "a\n1\n", "one.csv")
    written(tmp_path, "a\nx\n", "two.csv")
    assert Csv(path=str(tmp_path)).read()["a"].to_pylist() == ["1", "x"]
    assert Csv(path=str(tmp_path / "o*.csv")).read()["a"].to_pylist() == [1]
    packed = written(tmp_path, gzip.compress(b"a\n7\n"), "packed.csv.gz")
    assert Csv(path=str(packed)).read()["a"].to_pylist() == [7]


def test_a_path_is_seen_from_the_folder_of_the_spec(tmp_path):
    written(tmp_path, "a\n1\n")
    assert Csv(path="table.csv").below(tmp_path).read().num_rows == 1


def test_a_column_without_a_name_is_called_after_its_place(tmp_path):
    assert read(tmp_path, ",b\n1,2\n").column_names == ["unnamed_1", "b"]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (f"a,b\n{CANARY},2\n{CANARY}\n3,4,{CANARY}\n", "2 rows with more or fewer than 2 cells: row 3, 4"),
        ("a\n" + f"{CANARY},\n" * 7, "7 rows with more or fewer than 1 cells: row 2, 3, 4, 5, 6, ..."),
        (
            f"a,b\n1,{CANARY}é\n".encode("latin-1"),
            "byte 17 is not utf8 (use --encoding, or set 'encoding' in the source,",
        ),
        (
            f"a,b\n1,{CANARY}\n".encode("utf16"),
            "byte 0 is not utf8 (use --encoding, or set 'encoding' in the source, for example to utf16)",
        ),
        (b"", "the file is empty"),
        (b"\n\n", "cannot be read as rows of text"),
        (f"a,a,b\n1,2,{CANARY}\n", "2 columns are called 'a'"),
        (f"a,,b,\n1,2,3,{CANARY}\n", "the header has no name for 2 of 4 columns: column 2, 4 (name them in its first"),
        ("," * 8 + "\n", "the header has no name for 9 of 9 columns: column 1, 2, 3, 4, 5, ... (name them"),
        (f",unnamed_1\n1,{CANARY}\n", "2 columns are called 'unnamed_1'"),
        (f'a,b\n1,2\n3,"{CANARY}\n4,5\n', "a quote that opens in row 3 is never closed"),
    ],
)
def test_what_is_wrong_is_told_by_place_without_a_cell(tmp_path, caplog, content, found):
    with pytest.raises(SourceError) as caught:
        read(tmp_path, content)
    assert f"table.csv: {found}" in str(caught.value)
    assert CANARY not in str(caught.value) + caplog.text


def test_a_byte_that_is_cut_off_at_the_end_is_told(tmp_path):
    with pytest.raises(SourceError, match="byte 2 is not utf8"):
        read(tmp_path, b"a\n\xc3")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", [1, 300_000])
def test_uneven_rows_that_are_not_the_encoding_either_are_told_as_such_and_print_nothing(tmp_path, rows, capfd):
    with pytest.raises(SourceError, match=f"byte {4 + 4 * rows} is not utf8".replace("1200004", "1,200,004")):
        read(tmp_path, b"a,b\n" + b"1,2\n" * rows + b"\xe9\n")
    assert capfd.readouterr() == ("", "")


def test_a_packed_file_that_is_cut_short_is_told(tmp_path):
    packed = written(tmp_path, gzip.compress(b"a\n" + bytes(range(48, 58)) * 5000)[:60], "packed.csv.gz")
    with pytest.raises(SourceError, match=r"packed\.csv\.gz: cannot be unpacked or read"):
        Csv(path=str(packed)).read()


def test_files_of_different_headers_are_told(tmp_path):
    written(tmp_path, "a\n1\n", "one.csv")
    written(tmp_path, "b\n1\n", "two.csv")
    with pytest.raises(SourceError, match=r"two\.csv: its columns are not those of one\.csv"):
        Csv(path=str(tmp_path)).read()


def test_all_that_is_wrong_with_a_header_is_told(tmp_path):
    with pytest.raises(SourceError) as caught:
        read(tmp_path, "a,,a,\n1,2,3,4\n")
    assert len(caught.value.faults) == 2


def test_what_a_command_says_of_csv_files_is_for_them_alone(tmp_path):
    files = [Path("real.parquet"), Path("drawn.csv.gz")]
    assert AsWritten("\\t", decimal_point=",").settings(files) == {"delimiter": "\t", "decimal_point": ","}
    assert AsWritten().settings(files[:1]) == {}
    with pytest.raises(SpecError) as caught:
        AsWritten(";", "latin-1", ",").settings(files[:1])
    assert [fault.where for fault in caught.value.faults] == ["--delimiter", "--encoding", "--decimal-point"]


def test_the_version_is_the_content(tmp_path):
    path = written(tmp_path, "a\n1\n")
    first = Csv(path=str(path)).version()
    assert first.token.startswith("sha256:")
    written(tmp_path, "a\n2\n")
    assert Csv(path=str(path)).version() != first


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"delimiter": ";;"}, "a delimiter is one character"),
        ({"encoding": "klingon"}, "no such encoding is known"),
        ({"decimal_point": "x"}, "decimal_point"),
        ({"seperator": ";"}, "unknown key"),
    ],
)
def test_settings_are_checked(settings, found):
    with pytest.raises(SpecError, match=found):
        catalog.build({"kind": "csv", "path": "x.csv", **settings})


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_a_header_of_one_name_that_holds_another_delimiter_is_refused(tmp_path, mark):
    with pytest.raises(SourceError, match=r"the delimiter seems to be .*use --delimiter"):
        read(tmp_path, f"a{mark}b\n1{mark}2\n")
    assert read(tmp_path, f"a{mark}b\n1{mark}2\n", delimiter=mark).column_names == ["a", "b"]


def test_uneven_rows_may_have_another_delimiter(tmp_path):
    with pytest.raises(SourceError, match="or set another delimiter"):
        read(tmp_path, "a,b\n1\n")


def test_the_texts_that_were_read_as_missing_are_counted(tmp_path):
    path = written(tmp_path, "a,b\nNA,x\nnull,\nNA,NA2\n")
    assert Csv(path=str(path)).texts_read_as_missing() == {"a": {"NA": 2, "null": 1}}
    assert Csv(path=str(path), null_values=("",)).texts_read_as_missing() == {}


def test_columns_without_a_name_are_known(tmp_path):
    assert Csv(path=str(written(tmp_path, "a,b,\n1,2,3\n"))).unnamed() == ["unnamed_3"]
