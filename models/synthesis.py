"""Synthesis as pure functions: partition, fit each part, draw, join. The flow runs the same functions, part by part.

Streams: ``partition``, ``fit/<part>``, ``draw/<part>/<round>``, ``join/fit``, ``join/draw`` below the seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from models.errors import Fault, SynthesisError
from models.generators import Generator, Sampler
from models.joins import Draw, Join, Joined
from models.partition import Part, Partition
from models.partitioners import Partitioner
from models.randomness import Seed, torch_stream
from models.spec import Spec
from models.table import Table


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
    partition: Partition


def divide(train: Table, partitioner: Partitioner, seed: Seed) -> Partition:
    if not len(train):
        raise SynthesisError(Fault("training rows", "0 rows", "check the source and the split"))
    return partitioner.partition(train, seed.child("partition"))


def fit_part(train: Table, part: Part, generator: Generator, seed: Seed) -> Sampler:
    stream = seed.child(f"fit/{part.name}")
    with torch_stream(stream):
        return generator.fit(train.select(part.columns), stream)


def draw_part(sampler: Sampler, part: str, round: int, n: int, seed: Seed) -> Table:
    stream = seed.child(f"draw/{part}/{round}")
    with torch_stream(stream):
        return sampler.sample(n, stream)


def join_parts(train: Table, partition: Partition, join: Join, draw: Draw, n: int, seed: Seed) -> Joined:
    """``n`` joined rows, columns in the order of ``train``. A shortfall is in the result, not an error."""
    real = [train.select(part.columns) for part in partition.parts]
    joined = join.fit(real, seed.child("join/fit")).join(draw, n, seed.child("join/draw"))
    return Joined(joined.table.select(train.names), joined.proposed, joined.accepted, joined.facts, joined.shortfall)


def synthesize(train: Table, recipe: Recipe, n: int, seed: Seed) -> Synthesis:
    """``n`` synthetic rows like those of ``train``, in one process."""
    partition = divide(train, recipe.partition, seed)
    return Synthesis(synthesize_parts(train, partition, recipe, n, seed), partition)


def synthesize_parts(train: Table, partition: Partition, recipe: Recipe, n: int, seed: Seed) -> Joined:
    """The same with parts that are given; ``recipe.partition`` is not asked."""
    samplers = {part.name: fit_part(train, part, recipe.generator_of(part.name), seed) for part in partition.parts}

    def draw(round: int, rows: int) -> list[Table]:
        return [draw_part(samplers[part.name], part.name, round, rows, seed) for part in partition.parts]

    return join_parts(train, partition, recipe.join, draw, n, seed)
