"""Independent columns, each drawn from its own histogram: no dependence at all, the floor to compare with."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from pydantic import Field

from models.bins import Codes, frequencies, packed_codes, unpacked_codes
from models.generators import Generator, Sampler
from models.randomness import Seed
from models.schema import Column
from models.state import State, packed, unpacked
from models.table import Floats, Table

FORMAT = 1


class MarginalSampler(Sampler):
    """One distribution over codes per column; ``shares[j]`` has ``codes[j].size`` numbers that sum to 1."""

    def __init__(self, codes: tuple[Codes, ...], shares: tuple[Floats, ...]):
        self.columns = tuple(each.column for each in codes)
        self.codes = codes
        self.shares = shares

    def sample(self, n: int, seed: Seed) -> Table:
        cells = []
        for codes, shares in zip(self.codes, self.shares, strict=True):
            rng = seed.child(f"column/{codes.column.name}").generator()
            drawn = np.searchsorted(np.cumsum(shares[:-1]), rng.random(n), side="right")
            cells.append(codes.decode(drawn, rng))
        return Table.of(self.columns, cells, n)

    def state(self) -> State:
        return State("marginal", FORMAT, arrays=packed_codes(self.codes) | packed("shares", self.shares))

    @classmethod
    def restore(cls, state: State, columns: tuple[Column, ...]) -> Self:
        state.expect("marginal", FORMAT)
        return cls(unpacked_codes(columns, state.arrays), tuple(unpacked("shares", state.arrays)))


class Marginal(Generator):
    """Independent columns from histograms over bins and levels, missing values included."""

    kind: Literal["marginal"] = "marginal"
    k: int = Field(default=10, ge=1, description="so many training rows a range of numbers has at least, peaks apart")
    smoothing: float = Field(default=1.0, ge=0, description="so many rows are spread evenly on top of those counted")

    sampler = MarginalSampler

    def fit(self, table: Table, seed: Seed) -> MarginalSampler:
        codes = [Codes.of(column).shared(table.values[:, j], self.k) for j, column in enumerate(table.columns)]
        shares = [frequencies(each, table.values[:, j], self.smoothing) for j, each in enumerate(codes)]
        return MarginalSampler(tuple(codes), tuple(shares))
