"""What holds for every kind of source."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.errors import SourceError, SpecError
from tasks.sources import catalog, file_source, suffix_kind

SETTINGS = {
    "csv": {"path": "nowhere/x.csv"},
    "parquet": {"path": "nowhere/x.parquet"},
    "duckdb": {"path": "nowhere/x.duckdb", "table": "x"},
    "postgres": {"connection_env": "NOT_SET_ANYWHERE", "table": "x"},
}


def test_every_kind_is_tested_here():
    assert set(SETTINGS) == set(catalog.kinds())


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_source_that_is_not_there_is_told(kind, tmp_path):
    source = catalog.build({"kind": kind, **SETTINGS[kind]}).below(tmp_path)
    for look in (source.read, source.version):
        with pytest.raises(SourceError):
            look()


@pytest.mark.parametrize("kind", SETTINGS)
def test_unknown_keys_are_refused(kind):
    with pytest.raises(SpecError, match="unknown key"):
        catalog.build({"kind": kind, **SETTINGS[kind], "password": "CANARY-7431"})


def test_a_kind_is_suggested_by_the_name_of_the_file(tmp_path):
    names = ("a.csv", "a.CSV.GZ", "a.parquet", "a.duckdb", "a.txt")
    assert [suffix_kind(Path(name)) for name in names] == ["csv", "csv", "parquet", "duckdb", None]
    assert suffix_kind(tmp_path) == "parquet"


def test_a_file_on_its_own_is_a_source_if_its_name_tells_which(tmp_path):
    (tmp_path / "x.csv").write_text("a\n1\n")
    assert file_source(tmp_path / "x.csv").read().num_rows == 1
    assert file_source(tmp_path / "x.csv", {"null_values": ("1",)}).read()["a"].null_count == 1
    assert file_source(tmp_path / "x.parquet", {"delimiter": ";"}).kind == "parquet"
    with pytest.raises(SpecError, match="is no CSV or Parquet file by its name"):
        file_source(tmp_path / "x.duckdb")
