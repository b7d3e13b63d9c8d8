"""What happened to each column on its way from the source to the release."""

from __future__ import annotations

from typing import Any

from models.partition import Clustering, Partition
from models.schema import Column, Frozen, Kind, Role, Schema
from models.spec import Spec


class ColumnTrace(Frozen):
    """One released column: what it is, what made its values, and together with which other columns.

    A column of a table that was divided by rows is of no part: the generators of all ``clusters`` made its values.
    """

    name: str
    kind: Kind
    role: Role
    dtype: str
    treatment: str
    part: str | None = None
    generator: str | None = None
    learned_with: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()

    @property
    def how(self) -> str:
        """What made its values, in words; empty where no generator did."""
        if self.clusters:
            return f"{len(self.clusters)} clusters of rows, generator '{self.generator}'"
        return f"part '{self.part}', generator '{self.generator}'" if self.part else ""


def traces(spec: Spec, schema: Schema, division: Partition | Clustering) -> tuple[ColumnTrace, ...]:
    """A trace for every column of the release, in order. Columns that are left out of it are not even named."""
    return tuple(
        ColumnTrace(
            name=column.name,
            kind=column.kind,
            role=column.role,
            dtype=column.dtype,
            treatment=treatment(column, schema.k),
            **_learning(spec, division, column.name),
        )
        for column in schema.released
    )


def _learning(spec: Spec, division: Partition | Clustering, name: str) -> dict[str, Any]:
    """How the column called ``name`` was learned: nothing where no generator saw it."""
    if isinstance(division, Clustering):
        if name not in division.columns:
            return {}
        kinds = dict.fromkeys(spec.generator_of(cluster).kind for cluster in division.names)
        together = division.columns
        said: dict[str, Any] = {"clusters": division.names, "generator": " and ".join(kinds)}
    else:
        part = next((part for part in division.parts if name in part.columns), None)
        if part is None:
            return {}
        together = part.columns
        said = {"part": part.name, "generator": spec.generator_of(part.name).kind}
    return {**said, "learned_with": tuple(other for other in together if other != name)}


def treatment(column: Column, k: int) -> str:
    """What the release holds in this column, in one sentence."""
    if not column.include:
        return "left out of the release"
    if column.kind is Kind.IDENTIFIER:
        return "made anew: no value of the source is used"
    if column.kind is Kind.CONSTANT:
        return "the one value that all rows share" if column.levels else "empty, as in the source"
    if column.kind is Kind.TEXT:
        return "refused: free text is not synthesised"
    sentence = "drawn by a generator" + (", missing values included" if column.nullable else "")
    if column.kind is Kind.CATEGORICAL and column.unlisted != "refuse":
        stand_in = "missing" if column.unlisted == "missing" else "one common level"
        sentence += f"; levels that fewer than {k} rows share become {stand_in}"
    return sentence
