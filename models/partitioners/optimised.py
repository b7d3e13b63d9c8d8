"""As many parts as the expected loss allows, of columns that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np
from pydantic import Field

from models.blocks import divisible, numbered, part_names, sampled_association, too_many
from models.errors import Fault, SpecError
from models.grouping import grouped, within
from models.partition import Partition
from models.partitioners import Partitioner
from models.randomness import Seed
from models.ratio import LEAST_ROWS
from models.schema import Column, Role, Schema
from models.table import Floats, Integers, Table

CHANCE = 3.0
"""Associations of fewer standard errors, those of a rank correlation of independent columns, count as none."""

RECOVERED = 0.85
"""The share of the dependence between parts that ``join: swap`` brings back: 0.8 to 1 of it was measured, in two to
four parts of tables with 242 and 3,219 rows (``benchmarks/join.py real``).
"""


class Optimised(Partitioner):
    """As many parts as possible while the expected loss stays within ``loss``, with what belongs together in one part.

    Each part has ``most`` columns at most, which is what its generator can bear, and the fewer columns a generator sees
    the less it can give away; but of what two parts have in common the join brings back a share only. The *expected
    loss* is the norm of the associations between parts, times the share that the join is not expected to bring back,
    over the norm of all associations of the table: 0 where nothing is lost, 1 where all is. Associations that chance
    alone may show count as none.

    ``recovery`` is the share that the join brings back: 0 for ``shuffled`` and ``concatenation``. By default it is what
    ``swap`` was measured to do, and 0 where the rows are too few to train on. With ``sensitive: apart`` no part holds
    a column of role sensitive together with one of role quasi-identifier, so that no generator learns which people have
    which secret; the join, which sees whole rows, brings some of it back.

    Up to ``at_most`` parts are tried. Where even the fewest that sizes and roles allow would lose more than ``loss``,
    it is these, and the reason says so. ``parts`` asks for a certain number instead. Parts are found like those of
    ``clustered``, but may be half as large again as an equal share, or half as large, and of any size where roles ask
    for it.
    """

    kind: Literal["optimised"] = "optimised"
    parts: int | None = Field(default=None, ge=1, description="exactly so many; by default as many as 'loss' allows")
    at_most: int = Field(default=4, ge=1, le=100, description="no more parts than that, where 'parts' is not set")
    most: int | None = Field(default=None, ge=1, description="columns of a part that its generator can bear")
    loss: float = Field(default=0.1, ge=0, le=1, description="share of the associations that may be lost")
    recovery: float | None = Field(default=None, ge=0, le=1, description="share that the join brings back")
    sensitive: Literal["apart", "anywhere"] = "apart"

    def partition(self, table: Table, seed: Seed) -> Partition:
        columns = table.columns
        divisible(table, self.parts or 1)
        matrix = sampled_association(table, seed)
        real = np.where(matrix > CHANCE / np.sqrt(len(table)), matrix, 0.0)
        options = [
            _Option.of(label, real, count, self._recovered(len(table)))
            for count in self._counts(len(columns))
            if (label := self._divided(real, count, columns)) is not None
        ]
        if not options:
            raise SpecError(self._impossible(columns))
        chosen = max(
            (each for each in options if each.loss <= self.loss), default=options[0], key=lambda each: each.parts
        )
        partition = numbered(table, chosen.blocks, matrix, "associated columns kept together")
        more = next((each for each in options if each.parts == chosen.parts + 1), None)
        return partition.model_copy(update={"reason": f"{partition.reason}; {self._told(chosen, more)}"})

    def names(self) -> tuple[str, ...]:
        """Those of the largest number of parts; of fewer, the last ones are absent."""
        return part_names(self.parts or self.at_most)

    def faults(self, schema: Schema) -> list[Fault]:
        columns = schema.modelled
        possible = not columns or len(self.names()) >= self._fewest(columns)
        return too_many(self.parts or 1, len(columns)) or ([] if possible else [self._impossible(columns)])

    def _counts(self, columns: int) -> range:
        """The numbers of parts to try."""
        fewest = ceil(columns / self.most) if self.most else 1
        wanted = range(self.parts, self.parts + 1) if self.parts else range(1, min(self.at_most, columns) + 1)
        return range(max(fewest, wanted.start), wanted.stop)

    def _divided(self, matrix: Floats, count: int, columns: Sequence[Column]) -> Integers | None:
        """The part of every column, or None where sizes and roles cannot be followed with so many parts."""
        most, sides = self.most or len(columns), self._sides(columns)
        share = len(columns) / count
        for bounds in ((max(1, int(share / 2)), min(most, ceil(1.5 * share))), (1, most)):
            label = grouped(matrix, count, bounds, sides)
            if not any({-1, 1} <= set(sides[label == number].tolist()) for number in range(count)):
                return label
        return None

    def _sides(self, columns: Sequence[Column]) -> Integers:
        """1 for sensitive columns and -1 for those that no part may hold together with them."""
        sides = {Role.SENSITIVE: 1, Role.QUASI_IDENTIFIER: -1} if self.sensitive == "apart" else {}
        return np.array([sides.get(column.role, 0) for column in columns], dtype=np.int64)

    def _fewest(self, columns: Sequence[Column]) -> int:
        """With fewer parts, sizes and roles cannot be followed."""
        most, sides = self.most or len(columns), self._sides(columns)
        one, other = (ceil(np.count_nonzero(sides == side) / most) for side in (1, -1))
        return max(one + other, ceil(len(columns) / most))

    def _impossible(self, columns: Sequence[Column]) -> Fault:
        sides = self._sides(columns)
        limits = [f"{len(columns)} columns in at most {len(self.names())} parts"]
        if self.most:
            limits.append(f"of at most {self.most}")
        if {-1, 1} <= set(sides.tolist()):
            secret, known = (np.count_nonzero(sides == side) for side in (1, -1))
            limits.append(f"with {secret} sensitive apart from {known} quasi-identifying ones")
        remedy = "allow more parts with 'at_most' (or 'parts'), larger ones with 'most', or set 'sensitive: anywhere'"
        return Fault("partitioner", f"{' '.join(limits)} cannot be had", remedy)

    def _recovered(self, rows: int) -> float:
        if self.recovery is not None:
            return self.recovery
        return 0.0 if rows < LEAST_ROWS else RECOVERED

    def _told(self, chosen: _Option, more: _Option | None) -> str:
        """What is expected to be lost, and why there are not more parts, or fewer."""
        said = [chosen.told] if chosen.parts > 1 else []
        if self.parts is None and chosen.loss > self.loss:
            said.append(
                f"that is more than the {self.loss:.0%} allowed, but with fewer parts sizes or roles do not fit"
            )
        elif self.parts is None and more is not None:
            said.append(f"{more.parts} parts would lose {more.loss:.0%}, more than the {self.loss:.0%} allowed")
        return "; ".join(said) or "it is as many as may be"


@dataclass(frozen=True)
class _Option:
    """A number of parts: their columns, the share ``between`` of the associations' norm that lies between them, and
    how much of that is ``recovered``.
    """

    blocks: list[list[int]]
    between: float
    recovered: float

    @classmethod
    def of(cls, label: Integers, matrix: Floats, parts: int, recovered: float) -> _Option:
        strength = matrix**2
        np.fill_diagonal(strength, 0.0)
        total = float(strength.sum())
        between = np.sqrt(max(0.0, 1 - within(strength, label) / total)) if total else 0.0
        return cls([np.flatnonzero(label == number).tolist() for number in range(parts)], float(between), recovered)

    @property
    def parts(self) -> int:
        return len(self.blocks)

    @property
    def loss(self) -> float:
        return (1 - self.recovered) * self.between

    @property
    def told(self) -> str:
        if not self.between:
            return "no more association lies between them than chance shows, so nothing is expected to be lost"
        return (
            f"{self.between:.0%} of the table's association lies between them, and a join is expected to bring back "
            f"{self.recovered:.0%} of that, so {self.loss:.0%} is expected to be lost"
        )
