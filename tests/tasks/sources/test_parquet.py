"""Parquet files are read whole or refused by name."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from models.errors import SourceError
from tasks.sources.parquet import Parquet

CANARY = "CANARY-7431"


def written(path: Path, **columns) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def test_files_folders_and_patterns_are_read_in_the_order_of_their_names(tmp_path):
    written(tmp_path / "b.parquet", a=[2])
    one = written(tmp_path / "a.parquet", a=[1])
    assert Parquet(path=str(one)).read()["a"].to_pylist() == [1]
    assert Parquet(path=str(tmp_path)).read()["a"].to_pylist() == [1, 2]
    assert Parquet(path=str(tmp_path / "b*")).read()["a"].to_pylist() == [2]
    assert Parquet(path="a.parquet").below(tmp_path).read()["a"].to_pylist() == [1]


def test_folders_of_keys_become_columns_but_only_below_the_folder_that_is_named(tmp_path):
    written(tmp_path / "run=7" / "year=2020" / "x.parquet", a=[1])
    assert Parquet(path=str(tmp_path / "run=7")).read().to_pylist() == [{"a": 1, "year": 2020}]
    assert Parquet(path=str(tmp_path / "run=7" / "year=2020" / "x.parquet")).read().column_names == ["a"]


def test_types_and_what_pandas_wrote_of_them_are_kept(tmp_path):
    path = tmp_path / "x.parquet"
    pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.Categorical(["x", "y"])}).to_parquet(path)
    table = Parquet(path=str(path)).read()
    assert pa.types.is_dictionary(table.schema.field("b").type)
    assert b"Int64" in table.schema.metadata[b"pandas"]


def test_a_file_that_is_cut_in_half_is_told(tmp_path):
    path = written(tmp_path / "x.parquet", a=[CANARY] * 1000)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(SourceError, match=r"x\.parquet: no whole Parquet file") as caught:
        Parquet(path=str(path)).read()
    assert CANARY not in str(caught.value)


def test_data_pages_that_are_damaged_are_told(tmp_path):
    path = written(tmp_path / "x.parquet", a=[f"{CANARY} {i}" for i in range(1000)])
    content = bytearray(path.read_bytes())
    content[4:4000] = bytes(3996)
    path.write_bytes(content)
    with pytest.raises(SourceError, match="its data pages cannot be read") as caught:
        Parquet(path=str(path)).read()
    assert CANARY not in str(caught.value)


def test_files_that_differ_are_told_with_all_their_differences(tmp_path):
    written(tmp_path / "a.parquet", a=[1], b=[2])
    written(tmp_path / "b.parquet", a=["1"], c=[2])
    written(tmp_path / "c.parquet", b=[1], a=[2])
    (tmp_path / "d.parquet").write_bytes(b"no such thing")
    with pytest.raises(SourceError) as caught:
        Parquet(path=str(tmp_path)).read()
    assert [(fault.where, fault.found) for fault in caught.value.faults] == [
        ("d.parquet", "no whole Parquet file"),
        ("b.parquet", "its columns differ from those of a.parquet: "
                      "'b' is in one of them only; 'c' is in one of them only; 'a' is string, not int64"),
        ("c.parquet", "its columns differ from those of a.parquet: their order"),
    ]  # fmt: skip


def test_two_columns_of_one_name_are_told(tmp_path):
    pq.write_table(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), tmp_path / "x.parquet")
    with pytest.raises(SourceError, match="2 columns are called 'a'"):
        Parquet(path=str(tmp_path / "x.parquet")).read()


def test_the_version_is_the_content_of_all_files(tmp_path):
    written(tmp_path / "a.parquet", a=[1])
    first = Parquet(path=str(tmp_path)).version()
    written(tmp_path / "b.parquet", a=[2])
    second = Parquet(path=str(tmp_path)).version()
    (tmp_path / "b.parquet").rename(tmp_path / "c.parquet")
    assert len({first.token, second.token, Parquet(path=str(tmp_path)).version().token}) == 3
