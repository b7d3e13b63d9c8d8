"""What a run would do, shown before it is done."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from models.errors import ContractError
from models.joins import Join
from models.partition import Clustering, Partition
from models.schema import subset
from models.synthesis import divide, given_columns
from tasks.codec import breaches, encode
from tasks.ingest import fetch, split
from tasks.spec import Plan, load
from tasks.synthesis import ensure_possible, unused

WEAK, STRONG = 0.3, 1.0
"""Between/within ratios: below one little would be lost by a random order, above the other much has to be recovered."""

MUCH = "More association lies between the parts than within them"
TOGETHER = "'partition: {kind: clustered}' keeps dependent columns together."


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

    Raises ContractError for rows that break the schema, SpecError for what cannot be done with its parts.
    """
    plan = load(path)
    table, _ = fetch(plan.source)
    found = breaches(table, plan.schema)
    if found:
        raise ContractError(breach.fault() for breach in found)
    train, _ = split(table, plan.schema, plan.spec.split.holdout, plan.spec.split.entity, plan.workspace.seed())
    told = divide(encode(train, plan.schema), plan.spec.partition, plan.workspace.seed()).told
    ensure_possible(plan, told, train.num_rows)
    said = (*remarks(told, plan.spec.join), *unused(plan.spec, told))
    return Preview(plan.spec.name, table.num_rows, _parts(plan, told), told.of_columns.ratio, said)


def _parts(plan: Plan, told: Partition | Clustering) -> tuple[PlannedPart, ...]:
    rows = {c.name: c.said for c in told.clusters} if isinstance(told, Clustering) else {}

    def planned(name: str) -> PlannedPart:
        generator, columns = plan.spec.generator_of(name), told.columns_of(name)
        seen = subset(plan.schema.modelled, (*given_columns(plan.spec.join, told, name), *columns))
        return PlannedPart(name, columns, generator.kind, generator.width(seen), rows.get(name, ""))

    return tuple(planned(name) for name in told.names)


def remarks(found: Partition | Clustering, join: Join) -> list[str]:
    """How the table was divided, what the between/within association ratio says about joining parts of columns, and
    which models will have seen other parts than their own.
    """
    if isinstance(found, Clustering) or found.ratio is None:
        return [found.reason, *_seen(found, join)]
    told = f"Association between parts over within parts: {found.ratio:.2f}."
    return [found.reason, told, *_meaning(found.ratio, bool(_seen(found, join))), *_seen(found, join)]


def _seen(told: Partition | Clustering, join: Join) -> list[str]:
    given = [name for name in told.names if join.given(told.names, name)]
    return [f"The models of {', '.join(given)} learn from the parts before theirs, too."] if given else []


def _meaning(ratio: float, conditioned: bool) -> list[str]:
    """What is said of a ratio that is high or low, for parts that are drawn given one another or stand alone."""
    if ratio > STRONG:
        if conditioned:
            return [f"{MUCH}, for the later models to learn of the parts before theirs. {TOGETHER}"]
        return [f"Warning: {MUCH[0].lower()}{MUCH[1:]}. No join recovers all of it; use fewer parts. {TOGETHER}"]
    if ratio < WEAK:
        little = "Little association lies between the parts:"
        if conditioned:
            return [f"{little} 'join: shuffled' would lose little, and no model would see another part than its own."]
        return [f"{little} a validator has too little to go by here, and 'join: shuffled' loses little."]
    return []
