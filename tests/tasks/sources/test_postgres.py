"""PostgreSQL tables arrive with their types; what goes wrong is told without cells and without the password."""

from __future__ import annotations

import threading
import time
from decimal import Decimal

import pyarrow as pa
import pytest

from models.errors import SourceError, SpecError
from tasks.sources import catalog
from tasks.sources.postgres import Postgres

CANARY = "CANARY-7431"
VISITS = """
    CREATE TABLE visits AS SELECT
        n AS id, (n / 4.0)::numeric(10, 2) AS price, n::numeric AS big, 'x' || n AS word, 'low'::mood AS mood,
        gen_random_uuid() AS key,
        TIMESTAMPTZ '2020-01-01 12:00+02' AS at, DATE '2020-01-01' AS day, TIME '10:30' AS clock,
        n % 2 = 0 AS even, 1.5::real AS share, '{"a": 1}'::jsonb AS facts, NULL::text AS nothing
    FROM generate_series(1, 5) AS n
"""


@pytest.fixture(scope="session")
def warehouse(postgres):
    postgres.execute(
        "CREATE TYPE mood AS ENUM ('low', 'high')",
        VISITS,
        'CREATE TABLE "odd ""name" (cell text)',
        f'INSERT INTO "odd ""name" VALUES (\'{CANARY}\')',
        "CREATE TABLE edited (id int, seen int)",
        "INSERT INTO edited SELECT n, n FROM generate_series(1, 5) AS n",
    )
    return postgres


@pytest.fixture
def source(warehouse, monkeypatch):
    monkeypatch.setenv("WAREHOUSE_URL", warehouse.uri)
    return lambda **settings: catalog.build({"kind": "postgres", "connection_env": "WAREHOUSE_URL", **settings})


def test_types_arrive_and_numeric_is_exact(source):
    table = source(table="visits").read()
    assert {field.name: str(field.type) for field in table.schema} == {
        "id": "int32", "price": "decimal128(38, 2)", "big": "decimal128(38, 0)", "word": "string", "mood": "string",
        "key": "string", "at": "timestamp[us, tz=UTC]", "day": "date32[day]", "clock": "time64[us]", "even": "bool",
        "share": "float", "facts": "string", "nothing": "string",
    }  # fmt: skip
    assert table["price"].to_pylist()[2] == Decimal("0.75")
    assert table["at"].to_pylist()[0].isoformat() == "2020-01-01T10:00:00+00:00"


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("SELECT 'NaN'::numeric AS x UNION ALL SELECT 1", pa.float64()),
        ("SELECT repeat('9', 50)::numeric AS x", pa.float64()),
        ("SELECT NULL::numeric AS x", pa.decimal128(38, 0)),
        ("SELECT -0.5::numeric AS x UNION ALL SELECT NULL", pa.decimal128(38, 1)),
    ],
)
def test_numeric_that_is_no_decimal_becomes_a_float(source, query, kind):
    assert source(query=query).read().schema.field("x").type == kind


def test_a_query_keeps_its_order_and_may_end_as_queries_end(source):
    table = source(query="SELECT id FROM visits ORDER BY id DESC; ").read()
    assert table["id"].to_pylist() == [5, 4, 3, 2, 1]
    assert source(query="SELECT 1 AS one -- a remark").read().num_rows == 1


def test_names_are_quoted(source):
    assert source(table='odd "name').read()["cell"].to_pylist() == [CANARY]
    assert source(table="public.visits").read().num_rows == 5


def test_nothing_can_be_written(source, warehouse):
    warehouse.execute("CREATE OR REPLACE FUNCTION erase() RETURNS int LANGUAGE sql AS 'DELETE FROM visits RETURNING 1'")
    with pytest.raises(SourceError):
        source(query="SELECT erase()").read()
    assert source(table="visits").read().num_rows == 5


def test_the_version_notices_every_edit(source, warehouse):
    whole, marked = source(table="edited"), source(table="edited", watermark="seen")
    before = whole.version(), marked.version()
    assert (whole.version(), marked.version()) == before
    assert before[0].rows == 5
    warehouse.execute("UPDATE edited SET id = 99 WHERE seen = 2")
    assert whole.version() != before[0]
    assert marked.version() == before[1], "a watermark does not see late edits; its docstring says so"
    warehouse.execute("INSERT INTO edited VALUES (6, 6)")
    assert marked.version() != before[1]


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"table": "nowhere"}, "there is no such table"),
        ({"table": "visits", "watermark": "nowhen"}, "there is no such column"),
        ({"query": "SELECT id, id FROM visits"}, "two columns have the same name"),
        ({"query": f"SELECT {CANARY}, FROM"}, "the query is no SQL"),
        ({"query": 'SELECT cell::int FROM "odd ""name"'}, "the query fails on some of the rows"),
        ({"query": "SELECT 1 / (id - id) FROM visits"}, "the query fails on some of the rows"),
        ({"query": "SELECT pg_read_file('/nowhere')"}, "the server refused"),
    ],
)
def test_what_the_server_objects_to_is_told_without_its_message(source, caplog, settings, found):
    asked = source(**settings)
    with pytest.raises(SourceError) as caught:
        asked.version() if "watermark" in settings else asked.read()
    assert found in str(caught.value)
    assert not caught.value.transient
    assert CANARY not in str(caught.value) + caplog.text


@pytest.mark.parametrize("uri", ["postgresql://someone:CANARY-7431@127.0.0.1:1/x", "CANARY-7431"])
def test_without_a_connection_the_password_is_not_told(monkeypatch, caplog, uri):
    monkeypatch.setenv("ELSEWHERE", uri)
    with pytest.raises(SourceError, match=r"no connection \(check the connection string in \$ELSEWHERE") as caught:
        Postgres(table="visits", connection_env="ELSEWHERE").read()
    assert CANARY not in str(caught.value) + caplog.text


def test_a_server_that_dies_while_it_is_read_is_told_so(mortal_postgres, monkeypatch):
    monkeypatch.setenv("MORTAL", mortal_postgres.uri)
    query = f"SELECT n, repeat('{CANARY}', 20) AS cell FROM generate_series(1, 50000000) AS n"
    crash = threading.Thread(target=lambda: (time.sleep(1.0), mortal_postgres.stop()))
    crash.start()
    with pytest.raises(
        SourceError, match=r"query: the connection was lost \(run again when the server is up\)"
    ) as caught:
        Postgres(query=query, connection_env="MORTAL").read()
    crash.join()
    assert caught.value.transient
    assert CANARY not in str(caught.value)
    with pytest.raises(SourceError, match="no connection"):
        Postgres(query=query, connection_env="MORTAL").version()


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(SourceError, match="the environment variable NOT_SET_ANYWHERE is not set"):
        Postgres(table="visits", connection_env="NOT_SET_ANYWHERE").read()


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"connection_env": "X"}, "either 'table' or 'query'"),
        ({"connection_env": "X", "table": "a", "query": "b"}, "either 'table' or 'query'"),
        ({"table": "a"}, "either 'connection_env' or 'connection_block'"),
        (
            {"table": "a", "connection_env": "X", "connection_block": "y"},
            "either 'connection_env' or 'connection_block'",
        ),
    ],
)
def test_settings_say_what_to_read_and_how_to_connect(settings, found):
    with pytest.raises(SpecError, match=found):
        catalog.build({"kind": "postgres", **settings})


def test_a_missing_driver_is_told_with_its_remedy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "adbc_driver_postgresql", None)
    with pytest.raises(SourceError, match=r"pip install 'parquetry\[postgres\]'"):
        Postgres(table="a", connection_env="X").read()


@pytest.mark.slow
def test_the_connection_may_come_from_a_prefect_block(warehouse):
    from prefect.blocks.system import Secret
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=300):
        Secret(value=warehouse.uri).save("warehouse")
        assert Postgres(table="visits", connection_block="warehouse").read().num_rows == 5
        with pytest.raises(SourceError, match="there is no Secret block 'elsewhere'"):
            Postgres(table="visits", connection_block="elsewhere").read()
