"""What a run would do, shown before it is done."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from models.errors import ContractError
from models.partition import Clustering, Partition
from models.schema import subset
from models.synthesis import divide, given_columns
from tasks.codec import breaches, encode
from tasks.ingest import fetch, split
from tasks.spec import Plan, load
from tasks.synthesis import unused

WEAK, STRONG = 0.3, 1.0
"""Between/within ratios: below one a validator has too little to go by, above the other no join can recover it all."""


@dataclass(frozen=True)
class PlannedPart:
    """``width`` is how many numbers the generator makes of a row before it learns, those of columns that the part is
    given included; ``rows`` says which rows are in a cluster, and is empty for a part of columns.
    """

    name: str
    columns: tuple[str, ...]
    generator: str
    width: int
    rows: str = ""


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
    """Read the source and divide it as a run would: same rows, same seed, same parts.

    Raises ContractError for rows that break the schema.
    """
    plan = load(path)
    table, _ = fetch(plan.source)
    found = breaches(table, plan.schema)
    if found:
        raise ContractError(breach.fault() for breach in found)
    train, _ = split(table, plan.schema, plan.spec.split.holdout, plan.spec.split.entity, plan.workspace.seed())
    told = divide(encode(train, plan.schema), plan.spec.partition, plan.workspace.seed()).told
    said = (*remarks(told), *_seen(plan, told), *unused(plan.spec, told))
    return Preview(plan.spec.name, table.num_rows, _parts(plan, told), told.of_columns.ratio, said)


def _parts(plan: Plan, told: Partition | Clustering) -> tuple[PlannedPart, ...]:
    rows = {c.name: c.said for c in told.clusters} if isinstance(told, Clustering) else {}

    def planned(name: str) -> PlannedPart:
        generator, columns = plan.spec.generator_of(name), told.columns_of(name)
        seen = subset(plan.schema.modelled, (*given_columns(plan.spec.join, told, name), *columns))
        return PlannedPart(name, columns, generator.kind, generator.width(seen), rows.get(name, ""))

    return tuple(planned(name) for name in told.names)


def _seen(plan: Plan, told: Partition | Clustering) -> list[str]:
    """Which models will have seen other parts than their own."""
    given = [name for name in told.names if plan.spec.join.given(told.names, name)]
    return [f"The models of {', '.join(given)} learn from the parts before theirs, too."] if given else []


def remarks(found: Partition | Clustering) -> list[str]:
    """How the table was divided, and what the between/within association ratio says about joining parts of columns."""
    if isinstance(found, Clustering) or found.ratio is None:
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
