"""Synthesis as pure functions: divide, fit each part, draw, join. The flow runs the same functions, part by part.

Parts are columns, or clusters of rows. Streams: ``partition``, ``fit/<part>``, ``draw/<part>/<round>``, ``join/fit``,
``join/draw``, ``join/order`` below the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from models.errors import Fault, SpecError, SynthesisError
from models.generators import Generator, Sampler
from models.joins import Draw, Join, Joined
from models.partition import Assignment, Divided, Part, Partition, Rows
from models.partitioners import Partitioner
from models.randomness import Seed, torch_stream
from models.spec import Spec
from models.table import Table, stack

Pools = Callable[[int, Sequence[int]], list[Table]]
"""``pools(round, rows)``: so many rows of each part, the same for the same round."""


@dataclass(frozen=True)
class Recipe:
    """The settings that synthesis depends on."""

    partition: Partitioner
    generator: Generator
    generators: Mapping[str, Generator]
    join: Join

    @classmethod
    def of(cls, spec: Spec) -> Self:
        return cls(spec.partition, spec.generator, spec.generators, spec.join)

    def generator_of(self, part: str) -> Generator:
        return self.generators.get(part, self.generator)


@dataclass(frozen=True)
class Synthesis:
    """Synthetic rows in model form, columns in the order of the training table, and how they came about."""

    joined: Joined
    partition: Divided


def divide(train: Table, partitioner: Partitioner, seed: Seed) -> Divided:
    if not len(train):
        raise SynthesisError(Fault("training rows", "0 rows", "check the source and the split"))
    return partitioner.partition(train, seed.child("partition"))


def fit_part(train: Table, part: Part | Rows, generator: Generator, seed: Seed) -> Sampler:
    """The sampler of one part. Only here a generator meets rows, so that one which learns all clusters at once, each
    with a head of its own, would come in here, given ``train`` and the cluster of every row.
    """
    stream = seed.child(f"fit/{part.name}")
    with torch_stream(stream):
        return generator.fit(part.of(train), stream)


def draw_part(sampler: Sampler, part: str, round: int, n: int, seed: Seed) -> Table:
    stream = seed.child(f"draw/{part}/{round}")
    with torch_stream(stream):
        return sampler.sample(n, stream)


def join_divided(train: Table, partition: Divided, join: Join, pools: Pools, n: int, seed: Seed) -> Joined:
    """``n`` joined rows, columns in the order of ``train``. A shortfall is in the result, not an error.

    Raises SpecError for a join that is not for what was divided.
    """
    faults = join.faults(partition.told.by)
    if faults:
        raise SpecError(faults)
    if isinstance(partition, Assignment):
        return join_clusters(partition, pools, n, seed)

    def draw(round: int, rows: int) -> list[Table]:
        return pools(round, [rows] * len(partition.parts))

    return join_parts(train, partition, join, draw, n, seed)


def join_parts(train: Table, partition: Partition, join: Join, draw: Draw, n: int, seed: Seed) -> Joined:
    """The join of parts of columns, which learns from ``train`` how they belong together."""
    real = [train.select(part.columns) for part in partition.parts]
    joined = join.fit(real, seed.child("join/fit")).join(draw, n, seed.child("join/draw"))
    return Joined(joined.table.select(train.names), joined.proposed, joined.accepted, joined.facts, joined.shortfall)


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
    """The same with parts that are given; ``recipe.partition`` is not asked."""
    samplers = {part.name: fit_part(train, part, recipe.generator_of(part.name), seed) for part in partition.parts}

    def pools(round: int, rows: Sequence[int]) -> list[Table]:
        return [
            draw_part(sampler, name, round, count, seed)
            for (name, sampler), count in zip(samplers.items(), rows, strict=True)
        ]

    return join_divided(train, partition, recipe.join, pools, n, seed)
