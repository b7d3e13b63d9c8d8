"""Scores of joined rows as dot products: each part's side of its score with each other part, computed once per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from models.basis import Features
from models.table import Floats, Integers

Pair = tuple[int, int]

Sides = Mapping[Pair, Features]
"""``sides[i, j]``, shape (rows, dimensions), is part i's side of its score with part j."""


@dataclass(frozen=True)
class Embedded:
    """Rows of ``parts`` parts."""

    parts: int
    sides: Sides

    @cached_property
    def own(self) -> list[Features]:
        """For every part its sides of all its scores, shape (rows, dimensions)."""
        return [np.hstack([self.sides[i, j] for j in range(self.parts) if j != i]) for i in range(self.parts)]

    def others(self, part: int, rows: Sequence[Integers]) -> Features:
        """The other parts' sides, in the order of ``own[part]``; row ``rows[j][k]`` of part j stands in place k."""
        return np.hstack([self.sides[j, part][rows[j]] for j in range(self.parts) if j != part])

    def bent(self, added: Mapping[Pair, Floats], stretch: float = 1.0) -> Embedded:
        """With ``added`` on the first axis of sides, and all scores times ``stretch``."""
        sides = {pair: side.copy() for pair, side in self.sides.items()}
        for pair, more in added.items():
            sides[pair][:, 0] += more
        return Embedded(self.parts, {(i, j): side * stretch if i < j else side for (i, j), side in sides.items()})

    def scores(self, rows: Sequence[Integers]) -> Floats:
        """The score of each joined row: log r up to terms of one part alone, in nats."""
        total = np.zeros(len(rows[0]))
        for i, j in combinations(range(self.parts), 2):
            total += np.einsum("kd,kd->k", self.sides[i, j][rows[i]], self.sides[j, i][rows[j]])
        return total

    def margins(self, first: Integers, second: Integers) -> Floats:
        """Shape (pairs, parts): the score of two rows less that of the same with one part exchanged, each in turn.

        Of two parts it does not matter which one is.
        """
        margins = np.zeros((len(first), self.parts))
        for i, j in combinations(range(self.parts), 2):
            one, other = (self.sides[pair][first] - self.sides[pair][second] for pair in ((i, j), (j, i)))
            margins[:, [i, j]] += np.einsum("kd,kd->k", one, other)[:, None]
        return margins
