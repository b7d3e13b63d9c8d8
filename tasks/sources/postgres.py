"""PostgreSQL, read through ADBC straight into Arrow."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

from models.errors import Fault, SourceError
from tasks.sources import Source, Version
from tasks.sql import one_of_table_and_query, quoted, quoted_name

if TYPE_CHECKING:
    import pyarrow as pa

SESSION = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO'",
    # The order of rows is then that of the table, on every run.
    "SET LOCAL synchronize_seqscans = off",
    "SET LOCAL max_parallel_workers_per_gather = 0",
)
RETRY = "run again when the server is up"
STATES = {
    "42P01": ("there is no such table", "check its name, its schema and the search path"),
    "42703": ("there is no such column", "check the query and 'watermark'"),
    "42702": ("two columns have the same name", "rename one in the query"),
    "42701": ("two columns have the same name", "rename one in the query"),
    "42501": ("the login may not read it", "grant SELECT to the login"),
    "42601": ("the query is no SQL", "try it in psql"),
    "57014": ("the server cancelled the query", "raise its statement_timeout, or ask for less"),
}
CLASSES = {
    "08": ("the connection broke", RETRY),
    "22": ("the query fails on some of the rows", "try it in psql"),
    "28": ("the login was refused", "check the connection string"),
    "53": ("the server has no resources left", RETRY),
    "57": ("the server is going down", RETRY),
}
PLAIN_NUMBER = r"^-?[0-9]+(\.[0-9]+)?$"
WIDEST = 38

PASSING = ("08", "40", "53", "57")
"""Classes of SQLSTATE that may have passed when the server is asked again: connection, conflict, shutdown."""


class Postgres(Source):
    """A table, or the rows of a query.

    The connection string never stands in the spec: ``connection_env`` names the environment variable, or
    ``connection_block`` the Prefect Secret block, that holds it. ``numeric`` becomes decimals as exact as the rows
    are; what Arrow has no type for (uuid, json, inet, ...) becomes text; ``money`` arrives in cents.

    The version is the number of rows and a hash over all of them, computed by the server (a scan with every look). With
    ``watermark``, a column that grows with every insert, it is the number of rows and the highest watermark: cheap
    where that is indexed, but blind to rows that were edited later without a new watermark, and to a delete that is
    made up for by a late insert below the highest.
    """

    kind: Literal["postgres"] = "postgres"
    table: str | None = None
    query: str | None = None
    connection_env: str | None = None
    connection_block: str | None = None
    watermark: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _one(self) -> Self:
        if bool(self.connection_env) == bool(self.connection_block):
            raise ValueError("give either 'connection_env' or 'connection_block'")
        return one_of_table_and_query(self)

    def read(self) -> pa.Table:
        import pyarrow as pa

        with self._transaction() as cursor:
            cursor.execute(f"SELECT * FROM {self._asked} LIMIT 0")  # noqa: S608
            fields = cursor.fetch_arrow_table().schema
            cursor.execute(f"SELECT {', '.join(map(_selected, fields)) or '*'} FROM {self._asked}")  # noqa: S608
            table = cursor.fetch_arrow_table()
        return pa.table([decimals(cells) for cells in table.columns], names=table.column_names)

    def version(self) -> Version:
        mark = (
            f"max({quoted_name(self.watermark)})::text"
            if self.watermark
            else "sum(hashtextextended(asked::text, 0)::numeric)::text"
        )
        with self._transaction() as cursor:
            cursor.execute(f"SELECT count(*), {mark} FROM {self._asked}")  # noqa: S608 (names are quoted, the query is the owner's)
            rows, seen = cursor.fetchone()
        digest = hashlib.sha256(f"{self._asked}\n{rows}\n{seen}".encode()).hexdigest()
        return Version(kind=self.kind, token=f"sha256:{digest}", rows=rows)

    @property
    def _asked(self) -> str:
        if self.table:
            return f"{quoted(self.table)} AS asked"
        return f"(\n{(self.query or '').rstrip().rstrip(';')}\n) AS asked"

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        """A cursor in a read-only REPEATABLE READ transaction. Whatever fails in it is raised as SourceError."""
        try:
            import adbc_driver_manager as manager
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise SourceError(
                Fault("postgres", "its driver is not installed", "pip install 'parquetry[postgres]'")
            ) from None
        where = f"table '{self.table}'" if self.table else "query"
        connection = None
        try:
            connection = dbapi.connect(self._connection_string())
            with connection.cursor() as cursor:
                for statement in SESSION:
                    cursor.execute(statement)
                yield cursor
        except (manager.Error, OSError) as error:
            state = getattr(error, "sqlstate", None)
            fault = _fault(where, state, connected=connection is not None, held_in=self._held_in)
            raise SourceError(
                fault, transient=state is None or (state[:2] in PASSING and state not in STATES)
            ) from None
        finally:
            if connection is not None:
                _closed(connection)

    @property
    def _held_in(self) -> str:
        return f"${self.connection_env}" if self.connection_env else f"the block '{self.connection_block}'"

    def _connection_string(self) -> str:
        if self.connection_block:
            return _from_block(self.connection_block)
        found = os.environ.get(self.connection_env or "", "")
        if not found:
            raise SourceError(
                Fault(
                    "connection_env",
                    f"the environment variable {self.connection_env} is not set",
                    "set it to postgresql://user:password@host:port/database",
                )
            )
        return found


def _from_block(name: str) -> str:
    from prefect.blocks.system import Secret

    try:
        return str(Secret.load(name).get())
    except ValueError:
        raise SourceError(
            Fault("connection_block", f"there is no Secret block '{name}'", "create it in Prefect")
        ) from None


def _fault(where: str, state: str | None, *, connected: bool, held_in: str) -> Fault:
    """What went wrong by its SQLSTATE; the server's message is left out, it may quote cells or the login."""
    if not connected:
        return Fault(
            "postgres", "no connection", f"check the connection string in {held_in}, and that the server is up"
        )
    if state is None:
        return Fault(where, "the connection was lost", RETRY)
    found, remedy = STATES.get(state) or CLASSES.get(state[:2]) or ("the server refused", "try it in psql")
    return Fault(where, f"{found} (SQLSTATE {state})", remedy)


def _selected(field: pa.Field) -> str:
    """A column as it is asked for: as it is, or as text where Arrow has no type for it."""
    import pyarrow as pa

    name = quoted_name(field.name)
    foreign = isinstance(field.type, pa.BaseExtensionType) and not _is_numeric(field.type)
    return f"{name}::text AS {name}" if foreign else name


def _is_numeric(kind: pa.DataType) -> bool:
    return getattr(kind, "type_name", None) == "numeric"


def decimals(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """``numeric``, which arrives as text, as decimals with as many places as the longest; as float64 if one is NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _is_numeric(cells.type):
        return cells
    texts = cells.cast(pa.string())
    if not pc.all(pc.match_substring_regex(texts, PLAIN_NUMBER), min_count=0).as_py():
        return texts.cast(pa.float64())
    parts = pc.extract_regex(texts, r"^-?(?P<whole>[0-9]+)(?:\.(?P<places>[0-9]+))?$")
    whole, places = (pc.max(pc.utf8_length(pc.struct_field(parts, name))).as_py() or 0 for name in ("whole", "places"))
    if whole + places > WIDEST:
        return texts.cast(pa.float64())
    return texts.cast(pa.decimal128(WIDEST, places))


def _closed(connection: Any) -> None:
    """Close a connection that may be broken already; what it held is read-only, so nothing can be lost."""
    import adbc_driver_manager as manager

    with suppress(manager.Error):
        connection.close()
