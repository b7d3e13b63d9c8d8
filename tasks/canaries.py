"""Canaries, planted and looked for: everything is trained once more, in memory, and nothing of it is kept."""

from __future__ import annotations

import logging

from models.canaries import Canaries, CanarySettings, CanaryTest, untried
from models.errors import ParquetryError
from models.evidence import Evidence
from models.finding import Finding
from models.partition import Divided
from models.randomness import Seed
from models.spec import Recipe
from models.synthesis import synthesize_parts
from models.table import Table
from tasks.spec import Plan
from tasks.synthesis import read_partition

log = logging.getLogger("parquetry")


def canary_findings(plan: Plan, evidence: Evidence) -> tuple[Finding, ...]:
    """The finding on canaries where the spec asks for one."""
    settings = plan.spec.audit.canaries
    if settings is None:
        return ()
    rows, seed = len(evidence.synthetic), plan.workspace.seed().child("canaries")
    recipe, partition = Recipe.of(plan.spec), read_partition(plan)
    return (canary_run(evidence.train, partition, recipe, settings, rows=rows, seed=seed),)


def canary_run(
    train: Table, partition: Divided, recipe: Recipe, settings: CanarySettings, *, rows: int, seed: Seed
) -> Finding:
    """What can be told of canaries from ``rows`` rows that were learned from ``train`` and the canaries that are in.

    Parts are trained one after the other in this process, and joined as those of the release; where rows were divided,
    canaries go to the clusters of people like them. Where that is refused, the finding says why and has no estimate.
    """
    log.info("training once more with canaries: %s made-up people, about half of them planted", f"{settings.count:,}")
    canaries = Canaries.of(train.columns, settings.count, seed.child("people"))
    try:
        divided = recipe.partition.extended(partition, train, canaries.rows.take(canaries.inside))
        joined = synthesize_parts(canaries.among(train), divided, recipe, rows, seed.child("synthesis"))
    except ParquetryError as error:
        return untried(settings, str(error))
    if not len(joined.table):
        return untried(settings, f"0 of {rows:,} rows were joined")
    return CanaryTest.of(canaries, joined.table, train, partition.told.of_columns, settings).finding()
