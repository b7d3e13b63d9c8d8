"""From the source to rows that may be learned: read, checked, stripped of identifiers, and split."""

from __future__ import annotations

import hmac
import logging
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from models.errors import ContractError, Fault, SourceError, nearest
from models.randomness import Seed
from models.schema import Schema
from models.table import Integers
from tasks.arrow_types import plain
from tasks.expectations import ensure, validate
from tasks.sources import Source, Version
from tasks.store import write_json, write_table

if TYPE_CHECKING:
    from tasks.step import Job

log = logging.getLogger("parquetry")


def ingest(job: Job) -> None:
    """The ingest stage: training and held-out rows of a table that keeps its contract, and a record of the reading."""
    plan, workspace = job.plan, job.plan.workspace
    table, version = fetch(plan.source)
    validation = validate(table, plan.schema, plan.expectations)
    ensure(validation)
    spec = plan.spec.split
    train, holdout = split(table, plan.schema, spec.holdout, spec.entity, workspace.seed())
    log.info(
        "%s rows read; %s to learn from, %s held out", f"{table.num_rows:,}", f"{len(train):,}", f"{len(holdout):,}"
    )
    written = {
        name: write_table(rows, path)
        for name, rows, path in (("train", train, workspace.train), ("holdout", holdout, workspace.holdout))
    }
    write_json(
        {
            "source": version.kind,
            "version": version.token,
            "rows": table.num_rows,
            "training_rows": train.num_rows,
            "holdout_rows": holdout.num_rows,
            "hashes": {name: artifact.sha256 for name, artifact in written.items()},
            "validation": validation.model_dump(mode="json"),
        },
        workspace.intake,
    )


def fetch(source: Source) -> tuple[pa.Table, Version]:
    """The whole table and the version it is of.

    Raises SourceError if the source has no row, or changed between the look before and the look after reading.
    """
    before = source.version()
    table = source.read()
    if source.version().token != before.token:
        fault = Fault(source.kind, "it changed while it was read", "run again when nothing writes to it")
        raise SourceError(fault, transient=True)
    if not table.num_rows:
        raise SourceError(Fault(source.kind, "it has no row", "check the path, table or query"))
    return table, before


def split(table: pa.Table, schema: Schema, holdout: float, entity: str | None, seed: Seed) -> tuple[pa.Table, pa.Table]:
    """Training and held-out rows, in the order of ``table``, stripped of what is not modelled.

    The share ``holdout`` of the rows is held out; with ``entity``, of the entities, whose rows stay together (a row
    without an entity stands for itself). Both sides get at least one row if there are two. Who is held out depends on
    the seed and the entity (or the row's place) alone, so that most stay on their side when rows are added.
    """
    member, ranks = _members(table, entity, seed.child("split"))
    held_out = min(max(1, round(holdout * len(ranks))), len(ranks) - 1)
    held = np.zeros(len(ranks), dtype=np.bool_)
    held[np.argsort(ranks, kind="stable")[:held_out]] = True
    outside = pa.array(held[member])
    stripped = strip(table, schema)
    return stripped.filter(pc.invert(outside)), stripped.filter(outside)


def strip(table: pa.Table, schema: Schema) -> pa.Table:
    """The modelled columns alone: no identifier, no text and nothing that is left out goes any further."""
    return table.select([column.name for column in schema.modelled])


def _members(table: pa.Table, entity: str | None, seed: Seed) -> tuple[Integers, np.ndarray]:
    """For every row the number of its member (itself, or its entity), and for every member a rank."""
    if entity is None:
        return np.arange(table.num_rows), seed.generator().random(table.num_rows)
    if table.column_names.count(entity) != 1:
        raise ContractError(
            Fault(entity, "the column that says whose row it is, is missing", nearest(entity, table.column_names))
        )
    coded = pc.dictionary_encode(plain(table.column(entity)).combine_chunks())
    member = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy().copy()
    alone = np.flatnonzero(member < 0)
    member[alone] = len(coded.dictionary) + np.arange(len(alone))
    names = [*(f"entity/{value}" for value in coded.dictionary.to_pylist()), *(f"row/{row}" for row in alone)]
    digests = (hmac.digest(seed.key, name.encode(), "sha256") for name in names)
    return member, np.array([int.from_bytes(digest[:8], "big") for digest in digests], dtype=np.uint64)
