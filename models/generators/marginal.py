"""Independent columns, each drawn from its own histogram: no dependence at all, the floor to compare with."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from pydantic import Field

from models.bins import Codes, frequencies
from models.generators import Generator, Sampler
from models.randomness import Seed
from models.schema import Column
from models.state import State, packed, unpacked
from models.table import Floats, Table


class MarginalSampler(Sampler):
    """One distribution over codes per column; ``shares[j]`` has ``Codes.size`` numbers that sum to 1."""

    def __init__(self, columns: tuple[Column, ...], shares: tuple[Floats, ...]):
        self.columns = columns
        self.shares = shares

    def sample(self, n: int, seed: Seed) -> Table:
        cells = []
        for column, shares in zip(self.columns, self.shares, strict=True):
            rng = seed.child(column.name).generator()
            codes = np.searchsorted(np.cumsum(shares[:-1]), rng.random(n), side="right")
            cells.append(Codes.of(column).decode(codes, rng))
        return Table.of(self.columns, cells, n)

    def state(self) -> State:
        return State("marginal", 1, arrays=packed("shares", self.shares))

    @classmethod
    def restore(cls, state: State, columns: tuple[Column, ...]) -> Self:
        state.expect("marginal", 1)
        return cls(columns, tuple(unpacked("shares", state.arrays)))


class Marginal(Generator):
    """Independent columns from histograms over the schema's bins and levels, missing values included.

    ``smoothing`` is the number of rows, spread evenly over a column's codes, that are added to what was counted.
    """

    kind: Literal["marginal"] = "marginal"
    smoothing: float = Field(default=1.0, ge=0)

    sampler = MarginalSampler

    def fit(self, table: Table, seed: Seed) -> MarginalSampler:
        shares = [frequencies(Codes.of(column), table[column.name], self.smoothing) for column in table.columns]
        return MarginalSampler(table.columns, tuple(shares))
