"""What happened to each column on its way from the source to the release."""

from __future__ import annotations

from models.partition import Partition
from models.schema import Column, Frozen, Kind, Role, Schema
from models.spec import Spec


class ColumnTrace(Frozen):
    """One released column: what it is, what made its values, and together with which other columns."""

    name: str
    kind: Kind
    role: Role
    dtype: str
    treatment: str
    part: str | None = None
    generator: str | None = None
    learned_with: tuple[str, ...] = ()


def traces(spec: Spec, schema: Schema, partition: Partition) -> tuple[ColumnTrace, ...]:
    """A trace for every column of the release, in order. Columns that are left out of it are not even named."""
    part_of = {name: part for part in partition.parts for name in part.columns}
    found = []
    for column in schema.released:
        part = part_of.get(column.name)
        found.append(
            ColumnTrace(
                name=column.name,
                kind=column.kind,
                role=column.role,
                dtype=column.dtype,
                treatment=treatment(column, schema.k),
                part=part.name if part else None,
                generator=spec.generator_of(part.name).kind if part else None,
                learned_with=tuple(name for name in part.columns if name != column.name) if part else (),
            )
        )
    return tuple(found)


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
