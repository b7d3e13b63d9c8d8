"""What became of a contract's checks on a table: which were made, for whom, and which rows failed how."""

from __future__ import annotations

from typing import Literal

from models.schema import Column, Frozen, Kind, Schema


class Check(Frozen):
    """One check of one column. ``column`` is None where the table as a whole was checked.

    ``source`` says who asks for it: the reviewed schema, or the owner's own suite. ``rows_failed`` is None where nobody
    counted: an owner's expectation may be about a mean as well as about rows. ``found`` and ``remedy`` speak of names,
    counts and bounds, never of values.
    """

    column: str | None
    check: str
    source: Literal["schema", "user"]
    passed: bool
    rows_failed: int | None = None
    found: str = ""
    remedy: str = ""


class Validation(Frozen):
    """All checks that were made on a table."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed. Where none was made nothing is known, and nothing passed."""
        return bool(self.checks) and not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.passed)


def promised(schema: Schema) -> Schema:
    """The contract of a released table: the columns that a release has, and no level that the schema does not list.

    What the source may hold beyond the levels has become ``other`` or missing by then.
    """
    return schema.model_copy(update={"columns": tuple(_listed(column) for column in schema.released)})


def _listed(column: Column) -> Column:
    if column.kind is not Kind.CATEGORICAL:
        return column
    return column.model_copy(update={"levels": column.alphabet, "unlisted": "refuse", "other": None})
