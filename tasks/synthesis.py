"""The stages that make synthetic rows: partition, train, join. Their functions work on files of the workspace."""

from __future__ import annotations

import hashlib
import logging
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from models import generators
from models.errors import Fault, StateError, SynthesisError
from models.joins import Draw
from models.partition import Part, Partition
from models.schema import subset
from models.synthesis import divide, draw_part, fit_part, join_parts
from models.table import Table, digest
from tasks.codec import decode, encode
from tasks.expectations import ensure, validate
from tasks.spec import Plan, load
from tasks.step import Job, Sealed, code_digest, schema_digest
from tasks.store import (
    canonical,
    read_json,
    read_state,
    read_table,
    sha256_of,
    whole_file,
    whole_folder,
    write_json,
    write_state,
    write_table,
)

log = logging.getLogger("parquetry")


def training_rows(plan: Plan) -> Table:
    """All training rows in model form."""
    return encode(read_table(plan.workspace.train), plan.schema)


def read_partition(plan: Plan) -> Partition:
    return Partition.model_validate(read_json(plan.workspace.partition))


def partition(job: Job) -> Partition:
    """The partition stage: columns into disjoint parts."""
    plan = job.plan
    found = divide(training_rows(plan), plan.spec.partition, plan.workspace.seed())
    write_json(found.model_dump(mode="json"), plan.workspace.partition)
    log.info(found.reason)
    return found


def join_told(plan: Plan) -> dict[str, Any]:
    """How the join went, as it may be published: to its last digit, a figure would be a fingerprint of real rows."""
    said = read_json(plan.workspace.joined / "join.json")
    facts = {name: round(value, 3) if isinstance(value, float) else value for name, value in said["facts"].items()}
    return {**{name: said[name] for name in ("asked", "rows", "shortfall", "proposed", "accepted")}, "facts": facts}


@dataclass(frozen=True)
class PartWork:
    """One part of one spec, told by names so that it can go to another process."""

    spec: Path
    part: str


def train(job: Job) -> None:
    """The train stage: one sampler per part, in parallel. Parts that an earlier, failed run finished are kept."""
    plan = job.plan
    parts = read_partition(plan).parts
    _forget_other_parts(plan, parts)
    waiting = [part for part in parts if not _trained(plan, part)]
    if len(waiting) < len(parts):
        log.info("%d of %d parts were trained before", len(parts) - len(waiting), len(parts))
    work, names = [PartWork(plan.path, part.name) for part in waiting], [part.name for part in waiting]
    job.each(fit, work, names, "trained", plan.spec.limits.part_seconds)


def fit(work: PartWork) -> None:
    """Fit one part and store its sampler. Reads the seed itself: it is no argument that a run database could keep."""
    plan = load(work.spec)
    part = _part(plan, work.part)
    with Sealed(f"train-{part.name}", plan.workspace.secret):
        sampler = fit_part(training_rows(plan), part, plan.spec.generator_of(part.name), plan.workspace.seed())
    write_state(sampler.state(), plan.workspace.sampler(part.name))
    write_json(
        {"key": _part_key(plan, part), "sha256": sha256_of(plan.workspace.sampler(part.name))},
        _part_record(plan, part.name),
    )


@dataclass(frozen=True)
class DrawWork:
    """``n`` rows of one part, to be written to ``target``."""

    spec: Path
    part: str
    round: int
    n: int
    target: Path


def draw(work: DrawWork) -> Path:
    """Draw from a stored sampler into a file of numbers (.npy, read without pickle)."""
    plan = load(work.spec)
    part = _part(plan, work.part)
    state = read_state(plan.workspace.sampler(part.name))
    settings = generators.catalog.settings(state.kind)
    sampler = settings.sampler.restore(state, subset(plan.schema.modelled, part.columns))
    with Sealed(f"draw-{part.name}", plan.workspace.secret):
        rows = draw_part(sampler, part.name, work.round, work.n, plan.workspace.seed())
    with whole_file(work.target) as beside, open(beside, "wb") as file:
        np.save(file, rows.values, allow_pickle=False)
    return work.target


def join(job: Job) -> None:
    """The join stage: draw every part, join the parts, and write the synthetic table with its types restored."""
    plan = job.plan
    train_rows = training_rows(plan)
    found = read_partition(plan)
    n = len(train_rows) if plan.spec.rows == "as-training" else plan.spec.rows
    pools = plan.workspace.data / "interim" / ".pools.part"
    try:
        joined = join_parts(train_rows, found, plan.spec.join, _draws(job, found, pools), n, plan.workspace.seed())
    finally:
        shutil.rmtree(pools, ignore_errors=True)
    if not len(joined.table):
        raise SynthesisError(
            Fault(
                "join",
                f"0 of {n:,} rows were joined from {joined.proposed:,} proposed",
                "lower the threshold's floor, raise the iteration limit, or choose another join",
            )
        )
    log.info("%s of %s proposed rows accepted", f"{joined.accepted:,}", f"{joined.proposed:,}")
    table = decode(joined.table, plan.schema, plan.workspace.seed().child("identifiers"))
    validation = validate(table, plan.schema, plan.expectations, released=True)
    ensure(validation)
    with whole_folder(plan.workspace.joined, replace=True) as beside:
        write_table(table, beside / "synthetic.parquet")
        write_json(
            {
                "asked": n,
                "rows": len(joined.table),
                "shortfall": joined.shortfall,
                "proposed": joined.proposed,
                "accepted": joined.accepted,
                "facts": joined.facts,
                "training": digest(train_rows),
            },
            beside / "join.json",
        )
        write_json(validation.model_dump(mode="json"), beside / "validation.json")


def _draws(job: Job, found: Partition, pools: Path) -> Draw:
    """Pools drawn by the crew, part by part; their rows pass through files that do not outlive the reading."""
    plan = job.plan

    def draw_all(round: int, n: int) -> list[Table]:
        work = [DrawWork(plan.path, part.name, round, n, pools / f"{part.name}-{round}.npy") for part in found.parts]
        files = job.each(draw, work, [part.name for part in found.parts], seconds=plan.spec.limits.part_seconds)
        tables = [
            Table(subset(plan.schema.modelled, part.columns), np.load(file, allow_pickle=False))
            for part, file in zip(found.parts, files, strict=True)
        ]
        for file in files:
            file.unlink()
        return tables

    return draw_all


def _part(plan: Plan, name: str) -> Part:
    return next(part for part in read_partition(plan).parts if part.name == name)


def _part_record(plan: Plan, part: str) -> Path:
    return plan.workspace.records / "parts" / f"{part}.json"


def _part_key(plan: Plan, part: Part) -> str:
    """All that one part's sampler depends on."""
    generator = plan.spec.generator_of(part.name)
    return hashlib.sha256(
        canonical(
            {
                "part": part.model_dump(mode="json"),
                "generator": generator.model_dump(mode="json"),
                "schema": schema_digest(plan),
                "train": sha256_of(plan.workspace.train),
                "seed": plan.workspace.seed().commitment(),
                "code": code_digest(),
            }
        )
    ).hexdigest()


def _trained(plan: Plan, part: Part) -> bool:
    folder = plan.workspace.sampler(part.name)
    try:
        record = read_json(_part_record(plan, part.name))
    except StateError:
        return False
    return folder.is_dir() and record == {"key": _part_key(plan, part), "sha256": sha256_of(folder)}


def _forget_other_parts(plan: Plan, parts: tuple[Part, ...]) -> None:
    names = {part.name for part in parts}
    for folder in plan.workspace.samplers.glob("*"):
        if folder.name not in names:
            shutil.rmtree(folder)
