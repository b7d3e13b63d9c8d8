"""A partition: the columns of a table in disjoint parts, with the reason."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from models.schema import Frozen


class Part(Frozen):
    """Columns that one generator learns together."""

    name: str
    columns: tuple[str, ...]


class Partition(Frozen):
    """Disjoint parts that cover the modelled columns.

    ``ratio`` is the Frobenius norm of the associations between parts over that within parts (Disjoint Generative
    Models, arXiv 2507.19700): below about 0.3 a validator has too little to go by, and much above it there is much
    that a join must recover. None where there is one part.
    """

    parts: tuple[Part, ...]
    reason: str
    ratio: float | None = None

    @model_validator(mode="after")
    def _disjoint(self) -> Self:
        columns = [name for part in self.parts for name in part.columns]
        if len(set(columns)) != len(columns):
            raise ValueError("a column stands in two parts")
        if len({part.name for part in self.parts}) != len(self.parts):
            raise ValueError("two parts have the same name")
        if any(not part.columns for part in self.parts):
            raise ValueError("a part has no column")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.columns)
