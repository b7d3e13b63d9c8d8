"""What a run would do, shown before it is done."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from models.errors import ContractError
from models.partition import Partition
from models.schema import subset
from models.synthesis import divide
from tasks.codec import breaches, encode
from tasks.ingest import fetch, split
from tasks.spec import Plan, load

WEAK, STRONG = 0.3, 1.0
"""Between/within ratios: below one a validator has too little to go by, above the other no join can recover it all."""


@dataclass(frozen=True)
class PlannedPart:
    """``width`` is how many numbers the generator makes of a row before it learns."""

    name: str
    columns: tuple[str, ...]
    generator: str
    width: int


@dataclass(frozen=True)
class Preview:
    """The parts as they would be made, and remarks on what to expect of them."""

    name: str
    rows: int
    parts: tuple[PlannedPart, ...]
    ratio: float | None
    remarks: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def preview(path: Path) -> Preview:
    """Read the source and divide its columns as a run would: same rows, same seed, same parts.

    Raises ContractError for rows that break the schema.
    """
    plan = load(path)
    table, _ = fetch(plan.source)
    found = breaches(table, plan.schema)
    if found:
        raise ContractError(breach.fault() for breach in found)
    train, _ = split(table, plan.schema, plan.spec.split.holdout, plan.spec.split.entity, plan.workspace.seed())
    divided = divide(encode(train, plan.schema), plan.spec.partition, plan.workspace.seed())
    return Preview(plan.spec.name, table.num_rows, _parts(plan, divided), divided.ratio, tuple(remarks(divided)))


def _parts(plan: Plan, found: Partition) -> tuple[PlannedPart, ...]:
    return tuple(
        PlannedPart(
            part.name,
            part.columns,
            plan.spec.generator_of(part.name).kind,
            plan.spec.generator_of(part.name).width(subset(plan.schema.modelled, part.columns)),
        )
        for part in found.parts
    )


def remarks(found: Partition) -> list[str]:
    """What the between/within association ratio says about joining these parts."""
    if found.ratio is None:
        return [found.reason]
    said = [found.reason, f"Association between parts over within parts: {found.ratio:.2f}."]
    if found.ratio > STRONG:
        said.append(
            "Warning: more association lies between the parts than within them. No join recovers all of it; "
            "use fewer parts, or 'partition: {kind: clustered}', which keeps dependent columns together."
        )
    elif found.ratio < WEAK:
        said.append(
            "Little association lies between the parts: a validator has too little to go by here, "
            "and 'join: shuffled' loses little."
        )
    return said
