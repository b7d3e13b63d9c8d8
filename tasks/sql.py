"""What SQL sources have in common."""

from __future__ import annotations

from typing import Protocol, TypeVar


class Asked(Protocol):
    """Settings that ask a database for a table or for a query's rows."""

    @property
    def table(self) -> str | None: ...

    @property
    def query(self) -> str | None: ...


Settings = TypeVar("Settings", bound=Asked)


def one_of_table_and_query(settings: Settings) -> Settings:
    """``settings`` if exactly one of the two is given; raises ValueError otherwise, for pydantic to report."""
    if bool(settings.table) == bool(settings.query):
        raise ValueError("give either 'table' or 'query'")
    return settings


def quoted(table: str) -> str:
    """A table's name, with or without its schema, as SQL reads it whatever characters it holds."""
    return ".".join(quoted_name(part) for part in table.split("."))


def quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
