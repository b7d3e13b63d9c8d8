"""The stages that make synthetic rows: partition, train, join. Their functions work on files of the workspace."""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from models import generators
from models.errors import Fault, StateError, SynthesisError
from models.joins import rounded
from models.partition import Assignment, Divided, Division, Part, Partition, Rows, division
from models.schema import subset
from models.spec import Spec
from models.synthesis import Pools, divide, draw_part, fit_part, join_divided
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


def read_partition(plan: Plan) -> Divided:
    """What the partition stage made. Raises StateError where it did not."""
    told = division(read_json(plan.workspace.division))
    if isinstance(told, Partition):
        return told
    path = plan.workspace.assignment
    if not path.is_file():
        raise StateError(Fault(str(path), "no such file", "run the partition stage again"))
    return Assignment(told, np.load(path, allow_pickle=False).astype(np.int64))


def partition(job: Job) -> Divided:
    """The partition stage: columns into disjoint parts, or rows into disjoint clusters.

    The cluster of every row is kept as numbers beside what may be told, and leaves the workspace no more than they do.
    """
    plan = job.plan
    found = divide(training_rows(plan), plan.spec.partition, plan.workspace.seed())
    with whole_folder(plan.workspace.partition, replace=True) as beside:
        write_json(found.told.model_dump(mode="json"), beside / plan.workspace.division.name)
        if isinstance(found, Assignment):
            np.save(beside / plan.workspace.assignment.name, found.rows.astype(np.int8), allow_pickle=False)
    log.info(found.told.reason)
    for remark in unused(plan.spec, found.told):
        log.warning(remark)
    return found


def unused(spec: Spec, told: Division) -> list[str]:
    """What is said of clusters that were not found: how many there are shows only when rows are divided."""
    lost = [name for name in spec.generators if name not in told.names]
    return [f"No part is called {' or '.join(lost)}: what 'generators' says of it is not used."] if lost else []


def join_told(plan: Plan) -> dict[str, Any]:
    """How the join went, as it may be published."""
    said = read_json(plan.workspace.joined / "join.json")
    told = {name: said[name] for name in ("asked", "rows", "shortfall", "proposed", "accepted")}
    return {**told, "facts": rounded(said["facts"])}


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
    state = read_state(plan.workspace.sampler(work.part))
    settings = generators.catalog.settings(state.kind)
    columns = read_partition(plan).told.columns_of(work.part)
    sampler = settings.sampler.restore(state, subset(plan.schema.modelled, columns))
    with Sealed(f"draw-{work.part}", plan.workspace.secret):
        rows = draw_part(sampler, work.part, work.round, work.n, plan.workspace.seed())
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
        joined = join_divided(train_rows, found, plan.spec.join, _draws(job, found, pools), n, plan.workspace.seed())
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


def _draws(job: Job, found: Divided, folder: Path) -> Pools:
    """Pools drawn by the crew, part by part; their rows pass through files that do not outlive the reading."""
    plan, names = job.plan, found.told.names

    def draw_all(round: int, rows: Sequence[int]) -> list[Table]:
        work = [
            DrawWork(plan.path, name, round, n, folder / f"{name}-{round}.npy")
            for name, n in zip(names, rows, strict=True)
        ]
        files = job.each(draw, work, names, seconds=plan.spec.limits.part_seconds)
        tables = [
            Table(subset(plan.schema.modelled, found.told.columns_of(name)), np.load(file, allow_pickle=False))
            for name, file in zip(names, files, strict=True)
        ]
        for file in files:
            file.unlink()
        return tables

    return draw_all


def _part(plan: Plan, name: str) -> Part | Rows:
    return next(part for part in read_partition(plan).parts if part.name == name)


def _part_record(plan: Plan, part: str) -> Path:
    return plan.workspace.records / "parts" / f"{part}.json"


def _part_key(plan: Plan, part: Part | Rows) -> str:
    """All that one part's sampler depends on."""
    generator = plan.spec.generator_of(part.name)
    return hashlib.sha256(
        canonical(
            {
                "part": _learned(part),
                "generator": generator.model_dump(mode="json"),
                "schema": schema_digest(plan),
                "train": sha256_of(plan.workspace.train),
                "seed": plan.workspace.seed().commitment(),
                "code": code_digest(),
            }
        )
    ).hexdigest()


def _learned(part: Part | Rows) -> dict[str, Any]:
    """Of which columns, or of which rows, a part is."""
    if isinstance(part, Part):
        return part.model_dump(mode="json")
    return {"name": part.name, "rows": hashlib.sha256(np.packbits(part.chosen).tobytes()).hexdigest()}


def _trained(plan: Plan, part: Part | Rows) -> bool:
    folder = plan.workspace.sampler(part.name)
    try:
        record = read_json(_part_record(plan, part.name))
    except StateError:
        return False
    return folder.is_dir() and record == {"key": _part_key(plan, part), "sha256": sha256_of(folder)}


def _forget_other_parts(plan: Plan, parts: Sequence[Part | Rows]) -> None:
    names = {part.name for part in parts}
    for folder in plan.workspace.samplers.glob("*"):
        if folder.name not in names:
            shutil.rmtree(folder)
