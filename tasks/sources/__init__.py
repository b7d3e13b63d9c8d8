"""Sources: where a table comes from. One file per kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from models.catalog import Catalog
from models.errors import Fault, SpecError
from models.schema import Frozen

if TYPE_CHECKING:
    import pyarrow as pa


class Version(Frozen):
    """Which state of a source was seen: equal tokens mean equal tables, as far as the kind can tell.

    ``token`` is computed from the raw table, so it is private like the table itself: a guess at a row could be checked
    against it. ``rows`` is known only where the source counts them anyway.
    """

    kind: str
    token: str
    rows: int | None = None


class Source(Frozen, ABC):
    """A source's settings. Subclasses add ``kind: Literal["<file name>"]``, which comes first, and their own fields.

    Nothing that a driver or parser says is passed on, since it may quote cells, host names or passwords.
    """

    @abstractmethod
    def read(self) -> pa.Table:
        """The whole table. Raises SourceError telling what is wrong and where, never with a cell's value."""

    @abstractmethod
    def version(self) -> Version:
        """The state that the source is in now. Raises SourceError as ``read`` does."""

    def below(self, folder: Path) -> Self:
        """The same source with its relative paths taken from ``folder``."""
        return self


SUFFIXES = {".csv": "csv", ".csv.gz": "csv", ".parquet": "parquet", ".pq": "parquet", ".duckdb": "duckdb"}


def suffix_kind(path: Path) -> str | None:
    """The kind of source that a file's name suggests; a folder is taken for one of Parquet files."""
    if path.is_dir():
        return "parquet"
    return next((kind for suffix, kind in SUFFIXES.items() if path.name.lower().endswith(suffix)), None)


catalog: Catalog[Source] = Catalog("tasks.sources", Source)


def file_source(path: Path, csv: Mapping[str, Any] | None = None) -> Source:
    """The source that a file on its own is, with the settings ``csv`` where it is a CSV file.

    Raises SpecError for a name that tells no kind of file.
    """
    kind = suffix_kind(path)
    if kind not in ("csv", "parquet"):
        raise SpecError(
            Fault(
                str(path), "is no CSV or Parquet file by its name", "name a file that ends in .csv, .csv.gz or .parquet"
            )
        )
    written = csv if csv and kind == "csv" else {}
    return catalog.build({"kind": kind, "path": str(path), **written})
