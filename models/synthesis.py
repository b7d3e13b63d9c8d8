"""Synthesis as pure functions: divide, fit each part, draw, join. The flow runs the same functions, part by part.

Parts are columns, or clusters of rows. Streams: ``partition``, ``fit/<first part>``, ``draw/<part>/<round>``,
``join/fit``, ``join/draw``, ``join/order`` below the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from models.errors import Fault, SpecError, SynthesisError
from models.generators import ConditionalGenerator, ConditionalSampler, Generator, Keeper, Resumable, Sampler
from models.joins import Blockwise, Draw, Each, Join, Joined, in_turn
from models.partition import Assignment, Divided, Division, Part, Partition, Rows
from models.partitioners import Partitioner
from models.randomness import Seed, torch_stream
from models.spec import Recipe
from models.table import Table, beside, stack

Pools = Callable[[int, Sequence[int]], list[Table]]
"""``pools(round, rows)``: so many rows of each part, the same for the same round."""


@dataclass(frozen=True)
class Synthesis:
    """Synthetic rows in model form, columns in the order of the training table, and how they came about."""

    joined: Joined
    partition: Divided


def divide(train: Table, partitioner: Partitioner, seed: Seed) -> Divided:
    if not len(train):
        raise SynthesisError(Fault("training rows", "0 rows", "check the source and the split"))
    return partitioner.partition(train, seed.child("partition"))


@dataclass(frozen=True)
class Fit:
    """Parts that are learnt in one training: one, or several clusters of rows by a generator that has a head for each.

    It is called like its first part in files and streams. ``given`` are the columns of other parts that a part is
    learnt given.
    """

    parts: tuple[Part | Rows, ...]
    generator: Generator
    given: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.parts[0].name

    @property
    def said(self) -> str:
        """Its parts, in words."""
        more = len(self.parts) - 1
        return f"{self.name} and {more} more" if more else self.name


def given_columns(join: Join, told: Division, part: str) -> tuple[str, ...]:
    """The columns of other parts that ``part`` is learnt and drawn given, in the order of the parts."""
    return tuple(column for other in join.given(told.names, part) for column in told.columns_of(other))


def fits(partition: Divided, recipe: Recipe) -> list[Fit]:
    """Who is learnt with whom: clusters whose generators are alike and resumable share a training."""
    found: list[Fit] = []
    for part in partition.parts:
        generator = recipe.generator_of(part.name)
        shared = isinstance(part, Rows) and isinstance(generator, Resumable)
        at = next((place for place, fit in enumerate(found) if shared and fit.generator == generator), None)
        if at is None:
            found.append(Fit((part,), generator, given_columns(recipe.join, partition.told, part.name)))
        else:
            found[at] = Fit((*found[at].parts, part), generator)
    return found


def fit_parts(train: Table, fit: Fit, seed: Seed, keeper: Keeper | None = None) -> tuple[Sampler, ...]:
    """The samplers of the parts of ``fit``, in their order. Only here a generator meets rows."""
    stream = seed.child(f"fit/{fit.name}")
    first, generator = fit.parts[0], fit.generator
    with torch_stream(stream):
        if fit.given:
            assert isinstance(generator, ConditionalGenerator)
            return (generator.fit_given(first.of(train), train.select(fit.given), stream),)
        if not isinstance(generator, Resumable):
            return (generator.fit(first.of(train), stream),)
        if isinstance(first, Part):
            return (generator.resume(first.of(train), stream, keeper),)
        chosen = np.stack([part.chosen for part in fit.parts if isinstance(part, Rows)])
        rows = np.flatnonzero(chosen.any(axis=0))
        return generator.resume_clusters(train.take(rows), chosen.argmax(axis=0)[rows], stream, keeper)


def draw_part(sampler: Sampler, part: str, round: int, n: int, seed: Seed, given: Sequence[Table] = ()) -> Table:
    """``n`` rows of a part, beside those of the parts that it is drawn given, if there are any."""
    stream = seed.child(f"draw/{part}/{round}")
    with torch_stream(stream):
        if not given:
            return sampler.sample(n, stream)
        assert isinstance(sampler, ConditionalSampler)
        return sampler.sample_given(beside(given), stream)


def join_divided(
    train: Table, partition: Divided, join: Join, pools: Pools, n: int, seed: Seed, each: Each = in_turn
) -> Joined:
    """``n`` joined rows, columns in the order of ``train``. A shortfall is in the result, not an error. Blocks of rows
    that do not depend on one another are joined by ``each``.

    Raises SpecError for a join that is not for what was divided.
    """
    faults = join.faults(partition.told.by)
    if faults:
        raise SpecError(faults)
    if isinstance(partition, Assignment):
        return join_clusters(partition, pools, n, seed)

    def draw(round: int, rows: int) -> list[Table]:
        return pools(round, [rows] * len(partition.parts))

    return join_parts(train, partition, join, draw, n, seed, each)


def join_parts(
    train: Table, partition: Partition, join: Join, draw: Draw, n: int, seed: Seed, each: Each = in_turn
) -> Joined:
    """The join of parts of columns, which learns from ``train`` how they belong together."""
    real = [train.select(part.columns) for part in partition.parts]
    joiner, stream = join.fit(real, seed.child("join/fit")), seed.child("join/draw")
    joined = (
        joiner.join_blocks(draw, n, stream, each) if isinstance(joiner, Blockwise) else joiner.join(draw, n, stream)
    )
    return replace(joined, table=joined.table.select(train.names))


def with_given(joined: Joined, join: Join, told: Division, sampler_of: Callable[[str], Sampler]) -> Joined:
    """The same with the facts which parts were drawn given which, and for which nothing was learnt from what was given.

    No fact is added where all parts stand alone.
    """
    given = {part: others for part in told.names if (others := list(join.given(told.names, part)))}
    if not given:
        return joined
    heedless = [part for part in given if not _informed(sampler_of(part))]
    facts = {
        **joined.facts,
        "conditioned": [{"part": part, "given": others} for part, others in given.items()],
        "informed": len(heedless) < len(given),
    }
    if heedless:
        facts["fallback"] = f"nothing was learnt from the parts before for {' and '.join(heedless)}: a random order"
    return replace(joined, facts=facts)


def _informed(sampler: Sampler) -> bool:
    return isinstance(sampler, ConditionalSampler) and sampler.informed


def join_clusters(assignment: Assignment, pools: Pools, n: int, seed: Seed) -> Joined:
    """Rows of each cluster in its proportion, in a random order, so that a row's place does not tell its cluster."""
    table = stack(pools(0, assignment.quota(n)))
    order = seed.child("join/order").generator().permutation(len(table))
    facts = {"clusters": len(assignment.names)}
    return Joined(table.take(order), len(table), len(table), facts, shortfall=n - len(table))


def synthesize(train: Table, recipe: Recipe, n: int, seed: Seed) -> Synthesis:
    """``n`` synthetic rows like those of ``train``, in one process."""
    partition = divide(train, recipe.partition, seed)
    return Synthesis(synthesize_parts(train, partition, recipe, n, seed), partition)


def synthesize_parts(train: Table, partition: Divided, recipe: Recipe, n: int, seed: Seed) -> Joined:
    """The same with parts that are given; ``recipe.partition`` is not asked.

    Raises SpecError where the join is not for what was divided, or the generators not for their parts.
    """
    faults = recipe.faults_of(partition.told, train.columns)
    if faults:
        raise SpecError(faults)
    told, samplers = partition.told, _samplers(train, partition, recipe, seed)
    joined = join_divided(train, partition, recipe.join, _drawn(samplers, told, recipe.join, seed), n, seed)
    return with_given(joined, recipe.join, told, samplers.__getitem__)


def fitted(train: Table, partition: Divided, recipe: Recipe, seed: Seed) -> Pools:
    """Learns all parts, and draws from them."""
    return _drawn(_samplers(train, partition, recipe, seed), partition.told, recipe.join, seed)


def _samplers(train: Table, partition: Divided, recipe: Recipe, seed: Seed) -> dict[str, Sampler]:
    """The samplers of all parts, by name."""
    return {
        part.name: sampler
        for fit in fits(partition, recipe)
        for part, sampler in zip(fit.parts, fit_parts(train, fit, seed), strict=True)
    }


def _drawn(samplers: Mapping[str, Sampler], told: Division, join: Join, seed: Seed) -> Pools:
    def pools(round: int, rows: Sequence[int]) -> list[Table]:
        drawn: dict[str, Table] = {}
        for name, count in zip(told.names, rows, strict=True):
            given = [drawn[other] for other in join.given(told.names, name)]
            drawn[name] = draw_part(samplers[name], name, round, count, seed, given)
        return list(drawn.values())

    return pools
