"""Canaries, planted and looked for: everything is trained once more, in memory, and nothing of it is kept."""

from __future__ import annotations

import logging

from models.canaries import Canaries, CanarySettings, CanaryTest, untried
from models.errors import ParquetryError
from models.evidence import Evidence
from models.finding import Finding
from models.partition import Partition
from models.randomness import Seed
from models.synthesis import Recipe, synthesize_parts
from models.table import Table
from tasks.spec import Plan

log = logging.getLogger("parquetry")


def canary_findings(plan: Plan, evidence: Evidence) -> tuple[Finding, ...]:
    """The finding on canaries where the spec asks for one."""
    settings = plan.spec.audit.canaries
    if settings is None:
        return ()
    rows, seed = len(evidence.synthetic), plan.workspace.seed().child("canaries")
    return (canary_run(evidence.train, evidence.partition, Recipe.of(plan.spec), settings, rows=rows, seed=seed),)


def canary_run(
    train: Table, partition: Partition, recipe: Recipe, settings: CanarySettings, *, rows: int, seed: Seed
) -> Finding:
    """What can be told of canaries from ``rows`` rows that were learned from ``train`` and the canaries that are in.

    Parts are trained one after the other in this process, and joined as those of the release. Where that is refused,
    the finding says why and has no estimate.
    """
    log.info("training once more with canaries: %s made-up people, about half of them planted", f"{settings.count:,}")
    canaries = Canaries.of(train.columns, settings.count, seed.child("people"))
    try:
        joined = synthesize_parts(canaries.among(train), partition, recipe, rows, seed.child("synthesis"))
    except ParquetryError as error:
        return untried(settings, str(error))
    if not len(joined.table):
        return untried(settings, f"0 of {rows:,} rows were joined")
    return CanaryTest.of(canaries, joined.table, train, partition, settings).finding()
