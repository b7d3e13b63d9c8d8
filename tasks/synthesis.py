"""The stages that make synthetic rows: partition, train, join. Their functions work on files of the workspace."""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from models import generators
from models.course import Course, course
from models.errors import Fault, SpecError, StateError, SynthesisError
from models.facts import rounded
from models.generators import Sampler
from models.joins import Each, in_turn
from models.partition import Assignment, Clustering, Divided, Division, Part, Partition, Rows, division
from models.schema import subset
from models.spec import Recipe, Spec, beyond_numbering
from models.synthesis import Fit, Pools, divide, draw_part, fit_parts, fits, given_columns, join_divided, with_given
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
from tasks.unfinished import Unfinished

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


def ensure_possible(plan: Plan, told: Partition | Clustering, training_rows: int) -> None:
    """Raises SpecError with all that the spec asks and these parts of so many rows do not allow."""
    asked = plan.spec.rows_for(training_rows)
    faults = [*Recipe.of(plan.spec).faults_of(told, plan.schema.modelled), *beyond_numbering(plan.schema, asked)]
    if faults:
        raise SpecError(faults)


def join_told(plan: Plan) -> dict[str, Any]:
    """How the join went, as it may be published."""
    said = read_json(plan.workspace.joined / "join.json")
    told = {name: said[name] for name in ("asked", "rows", "shortfall", "proposed", "accepted")}
    return {**told, "facts": rounded(said["facts"])}


@dataclass(frozen=True)
class FitWork:
    """One training of one spec, told by its name so that it can go to another process."""

    spec: Path
    fit: str


def train(job: Job) -> None:
    """The train stage: a sampler for each part, in parallel. Those that an earlier, failed run finished are kept.

    Raises SpecError, before any training, for what cannot be done with the parts and rows that were found.
    """
    plan = job.plan
    found = read_partition(plan)
    ensure_possible(plan, found.told, read_json(plan.workspace.intake)["training_rows"])
    trainings = fits(found, Recipe.of(plan.spec))
    _forget_other_parts(plan, found.told.names)
    waiting = [fit for fit in trainings if not _trained(plan, fit)]
    if len(waiting) < len(trainings):
        log.info("%d of %d parts were trained before", len(trainings) - len(waiting), len(trainings))
    work, names = [FitWork(plan.path, fit.name) for fit in waiting], [fit.said for fit in waiting]
    job.each(fit, work, names, "trained", plan.spec.limits.part_seconds)
    shutil.rmtree(plan.workspace.unfinished, ignore_errors=True)


def fit(work: FitWork) -> None:
    """Train and store samplers. Reads the seed itself: it is no argument that a run database could keep."""
    plan = load(work.spec)
    wanted = next(fit for fit in fits(read_partition(plan), Recipe.of(plan.spec)) if fit.name == work.fit)
    key = training_key(plan, wanted)
    keeper = Unfinished(plan.workspace.unfinished / wanted.name, key)
    with Sealed(f"train-{wanted.name}", plan.workspace.secret):
        samplers = fit_parts(training_rows(plan), wanted, plan.workspace.seed(), keeper)
    for part, sampler in zip(wanted.parts, samplers, strict=True):
        folder = plan.workspace.sampler(part.name)
        write_state(sampler.state(), folder)
        write_json({"key": key, "sha256": sha256_of(folder)}, _part_record(plan, part.name))


def courses(plan: Plan) -> tuple[Course, ...]:
    """How those trainings went that were made in steps."""
    told = (
        course(fit.said, [read_state(plan.workspace.sampler(part.name)).facts for part in fit.parts])
        for fit in fits(read_partition(plan), Recipe.of(plan.spec))
    )
    return tuple(each for each in told if each is not None)


@dataclass(frozen=True)
class DrawWork:
    """``n`` rows of one part, to be written to ``target``. ``given`` has the rows of the parts it is drawn given."""

    spec: Path
    part: str
    round: int
    n: int
    target: Path
    given: tuple[Path, ...] = ()


def draw(work: DrawWork) -> Path:
    """Draw from a stored sampler into a file of numbers (.npy, read without pickle)."""
    plan = load(work.spec)
    told = read_partition(plan).told
    names = plan.spec.join.given(told.names, work.part)
    given = [_drawn(plan, told, name, file) for name, file in zip(names, work.given, strict=True)]
    sampler = _sampler(plan, told, work.part)
    with Sealed(f"draw-{work.part}", plan.workspace.secret):
        rows = draw_part(sampler, work.part, work.round, work.n, plan.workspace.seed(), given)
    with whole_file(work.target) as beside, open(beside, "wb") as file:
        np.save(file, rows.values, allow_pickle=False)
    return work.target


def _sampler(plan: Plan, told: Division, part: str) -> Sampler:
    state = read_state(plan.workspace.sampler(part))
    columns = (*given_columns(plan.spec.join, told, part), *told.columns_of(part))
    return generators.catalog.settings(state.kind).sampler.restore(state, subset(plan.schema.modelled, columns))


def _drawn(plan: Plan, told: Division, part: str, file: Path) -> Table:
    return Table(subset(plan.schema.modelled, told.columns_of(part)), np.load(file, allow_pickle=False))


def join(job: Job) -> None:
    """The join stage: draw every part, join the parts, and write the synthetic table with its types restored."""
    plan = job.plan
    train_rows = training_rows(plan)
    found = read_partition(plan)
    n = plan.spec.rows_for(len(train_rows))
    pools = plan.workspace.data / "interim" / ".pools.part"
    try:
        draws, seed = _draws(job, found, pools), plan.workspace.seed()
        joined = join_divided(train_rows, found, plan.spec.join, draws, n, seed, _blocks(job))
    finally:
        shutil.rmtree(pools, ignore_errors=True)
    joined = with_given(joined, plan.spec.join, found.told, lambda part: _sampler(plan, found.told, part))
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


def _blocks(job: Job) -> Each:
    """Blocks of a join by the crew, several at a time; one alone stays here."""

    def each(do: Callable[[Any], Any], work: Sequence[Any]) -> list[Any]:
        if len(work) < 2:
            return in_turn(do, work)
        names = [f"block {number} of {len(work)}" for number in range(1, len(work) + 1)]
        return job.each(do, work, names, seconds=job.plan.spec.limits.part_seconds)

    return each


def _draws(job: Job, found: Divided, folder: Path) -> Pools:
    """Pools drawn by the crew, part by part; their rows pass through files that do not outlive the reading.

    Parts are drawn at the same time, except that one which is drawn given others waits for these.
    """
    plan, told = job.plan, found.told
    given = {name: plan.spec.join.given(told.names, name) for name in told.names}

    def draw_all(round: int, rows: Sequence[int]) -> list[Table]:
        files = {name: folder / f"{name}-{round}.npy" for name in told.names}
        work = {
            name: DrawWork(plan.path, name, round, n, files[name], tuple(files[other] for other in given[name]))
            for name, n in zip(told.names, rows, strict=True)
        }
        drawn: set[str] = set()
        while ready := [name for name in told.names if name not in drawn and drawn.issuperset(given[name])]:
            job.each(draw, [work[name] for name in ready], ready, seconds=plan.spec.limits.part_seconds)
            drawn.update(ready)
        tables = [_drawn(plan, told, name, file) for name, file in files.items()]
        for file in files.values():
            file.unlink()
        return tables

    return draw_all


def _part_record(plan: Plan, part: str) -> Path:
    return plan.workspace.records / "parts" / f"{part}.json"


def training_key(plan: Plan, fit: Fit) -> str:
    """All that the samplers of one training depend on."""
    return hashlib.sha256(
        canonical(
            {
                "parts": [_learned(part) for part in fit.parts],
                "given": fit.given,
                "generator": fit.generator.model_dump(mode="json"),
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


def _trained(plan: Plan, fit: Fit) -> bool:
    key = training_key(plan, fit)
    return all(_stored(plan, part.name, key) for part in fit.parts)


def _stored(plan: Plan, part: str, key: str) -> bool:
    folder = plan.workspace.sampler(part)
    try:
        record = read_json(_part_record(plan, part))
    except StateError:
        return False
    return folder.is_dir() and record == {"key": key, "sha256": sha256_of(folder)}


def _forget_other_parts(plan: Plan, names: Sequence[str]) -> None:
    for folder in plan.workspace.samplers.glob("*"):
        if folder.name not in names:
            shutil.rmtree(folder)
