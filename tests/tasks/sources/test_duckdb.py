"""DuckDB files are read when no writer holds them; what DuckDB objects to is told without its message."""

from __future__ import annotations

import subprocess
import sys

import duckdb
import pytest

from models.errors import SourceError, SpecError
from tasks.sources import catalog
from tasks.sources.duckdb_ import DuckDb

CANARY = "CANARY-7431"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('low', 'high')")
        connection.execute(
            "CREATE TABLE visits AS SELECT i::INT AS id, (i / 4)::DECIMAL(10, 2) AS price, 'low'::mood AS mood, "
            "TIMESTAMPTZ '2020-01-01 12:00+02' AS at FROM range(5) AS r(i)"
        )
        connection.execute(f'CREATE TABLE "odd ""name" AS SELECT \'{CANARY}\' AS cell')
    return str(path)


def test_tables_and_queries_are_read_with_their_types(path):
    table = DuckDb(path=path, table="visits").read()
    assert {field.name: str(field.type) for field in table.schema} == {
        "id": "int32",
        "price": "decimal128(10, 2)",
        "mood": "dictionary<values=string, indices=uint8, ordered=0>",
        "at": "timestamp[us, tz=UTC]",
    }
    assert DuckDb(path=path, query="SELECT id FROM visits ORDER BY id DESC LIMIT 1").read()["id"].to_pylist() == [4]
    assert DuckDb(path=path, table='main.odd "name').read()["cell"].to_pylist() == [CANARY]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"table": "visit"}, r"table 'visit': is not in the database \(did you mean 'visits'"),
        ({"query": 'SELECT cell::INT FROM "odd ""name"'}, "query: DuckDB ended with a ConversionException"),
        ({"query": f"SELEC {CANARY}"}, "query: DuckDB ended with a ParserException"),
        ({"query": "CREATE TABLE x (a INT)"}, "query: DuckDB ended with"),
    ],
)
def test_what_duckdb_objects_to_is_told_without_a_cell(path, caplog, asked, found):
    with pytest.raises(SourceError, match=found) as caught:
        DuckDb(path=path, **asked).read()
    assert CANARY not in str(caught.value) + caplog.text


def test_a_writer_is_waited_for(path):
    script = f"import duckdb, time; c = duckdb.connect({path!r}); print('open', flush=True); time.sleep(1.5)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as writer:
        writer.stdout.readline()
        with pytest.raises(SourceError, match=r"another process has held it open for writing for 0 s") as caught:
            DuckDb(path=path, table="visits", patience=0).read()
        assert caught.value.transient
        assert DuckDb(path=path, table="visits", patience=30).read().num_rows == 5


@pytest.mark.parametrize("keep", [1000, 5000])
def test_a_file_that_is_cut_short_is_told(path, tmp_path, keep):
    broken = tmp_path / "broken.duckdb"
    with open(path, "rb") as whole:
        broken.write_bytes(whole.read(keep))
    with pytest.raises(SourceError, match=r"broken\.duckdb: "):
        DuckDb(path=str(broken), table="visits").read()


def test_a_file_of_another_format_is_told(tmp_path):
    other = tmp_path / "other.duckdb"
    other.write_text(CANARY * 1000)
    with pytest.raises(SourceError, match="no whole DuckDB file") as caught:
        DuckDb(path=str(other), table="x").read()
    assert CANARY not in str(caught.value)


def test_the_version_changes_with_the_file_and_with_what_is_asked(path):
    asked = DuckDb(path=path, table="visits")
    first = asked.version()
    asked.read()
    assert asked.version() == first
    assert DuckDb(path=path, query="FROM visits").version() != first
    with duckdb.connect(path) as connection:
        connection.execute("UPDATE visits SET price = 0 WHERE id = 1")
    assert asked.version() != first


@pytest.mark.parametrize("asked", [{}, {"table": "a", "query": "b"}])
def test_either_a_table_or_a_query_is_asked_for(asked):
    with pytest.raises(SpecError, match="give either 'table' or 'query'"):
        catalog.build({"kind": "duckdb", "path": "x", **asked})


def test_a_path_is_seen_from_the_folder_of_the_spec(path, tmp_path):
    assert DuckDb(path="clinic.duckdb", table="visits").below(tmp_path).read().num_rows == 5
