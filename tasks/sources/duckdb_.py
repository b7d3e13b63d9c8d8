"""DuckDB database files."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from models.errors import Fault, SourceError, nearest
from tasks.files import content_version, matching, under
from tasks.sources import Source, Version
from tasks.sql import one_of_table_and_query, quoted

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

PAUSE = 0.25


class DuckDb(Source):
    """A table, or the rows of a query, of the database file ``path``.

    The file is opened for reading only and for as long as it takes; a writer excludes readers, so opening is tried
    again for ``patience`` seconds. The version is the content of the whole file (and of its write-ahead log): a change
    in any table of it counts, and the same rows written anew count as a change.
    """

    kind: Literal["duckdb"] = "duckdb"
    path: str = Field(min_length=1)
    table: str | None = None
    query: str | None = None
    patience: float = Field(default=10.0, ge=0)

    @model_validator(mode="after")
    def _one(self) -> Self:
        return one_of_table_and_query(self)

    def below(self, folder: Path) -> Self:
        return self.model_copy(update={"path": under(folder, self.path)})

    def read(self) -> pa.Table:
        import duckdb

        with self._connection() as connection:
            try:
                connection.execute("SET TimeZone = 'UTC'")
                return connection.sql(f"FROM {quoted(self.table)}" if self.table else str(self.query)).to_arrow_table()
            except duckdb.Error as error:
                raise SourceError(_fault(connection, self.table, type(error).__name__)) from None

    def version(self) -> Version:
        (file,) = matching(self.path, "*.duckdb")[:1]
        log = file.with_name(file.name + ".wal")
        seen = content_version(self.kind, [file, log] if log.exists() else [file])
        asked = hashlib.sha256((self.table or self.query or "").encode()).hexdigest()[:16]
        return seen.model_copy(update={"token": f"{seen.token}/{asked}"})

    @contextmanager
    def _connection(self) -> Iterator[duckdb.DuckDBPyConnection]:
        import duckdb

        (file,) = matching(self.path, "*.duckdb")[:1]
        deadline = time.monotonic() + self.patience
        while True:
            try:
                connection = duckdb.connect(str(file), read_only=True)
                break
            except duckdb.IOException as error:
                if "lock" not in str(error):
                    raise SourceError(
                        Fault(file.name, "no whole DuckDB file", "it may be cut short or of another format")
                    ) from None
                if time.monotonic() > deadline:
                    raise SourceError(
                        Fault(
                            file.name,
                            f"another process has held it open for writing for {self.patience:g} s",
                            "end the writer and run again, or raise 'patience'",
                        ),
                        transient=True,
                    ) from None
            except duckdb.Error:
                raise SourceError(
                    Fault(file.name, "cannot be opened", "open it with the DuckDB version that wrote it")
                ) from None
            time.sleep(PAUSE)
        try:
            yield connection
        finally:
            connection.close()


def _fault(connection: duckdb.DuckDBPyConnection, table: str | None, error: str) -> Fault:
    """What DuckDB objected to: a table that is not there, or the kind of its error (its message may quote cells)."""
    names = [row[0] for row in connection.execute("SELECT table_name FROM information_schema.tables").fetchall()]
    if table is not None and table.split(".")[-1] not in names:
        return Fault(f"table '{table}'", "is not in the database", nearest(table, names))
    return Fault(
        f"table '{table}'" if table else "query", f"DuckDB ended with a {error}", "try the query in DuckDB itself"
    )
