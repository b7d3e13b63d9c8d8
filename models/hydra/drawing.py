"""Which rows and conditions a training step sees, and under which conditions rows are generated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from models.hydra.encoding import Encoded, Layout, Single
from models.table import Booleans, Floats, Integers


@dataclass(frozen=True, eq=False)
class Levels:
    """The rows of one head by their indicators: block by block, ``members`` sorted by level, shape (blocks, rows).

    ``first`` and ``counts`` of each level have shape (blocks, largest size).
    """

    members: Integers
    first: Integers
    counts: Integers

    @classmethod
    def of(cls, encoded: Encoded, rows: Integers) -> Self:
        layout = encoded.layout
        level = (encoded.positions[rows] - layout.starts).T
        most = int(layout.sizes.max(initial=1))
        counts = np.array([np.bincount(each, minlength=most) for each in level]).reshape(-1, most)
        members = rows[np.argsort(level, axis=1, kind="stable")].reshape(len(level), len(rows))
        return cls(members, np.cumsum(counts, axis=1) - counts, counts)

    @cached_property
    def chances(self) -> Floats:
        """Cumulated chances of each block's levels, by the logarithm of their rows (training by sampling, CTGAN)."""
        weights = np.log1p(self.counts)
        return np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)

    def draw(self, count: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Rows, and the block that each is drawn for: any block, then a level, then a row that has it."""
        block = rng.integers(0, len(self.counts), count)
        level = (self.chances[block] <= rng.random((count, 1)) * self.chances[block, -1:]).sum(axis=1)
        level = np.minimum(level, self.counts.shape[1] - 1)
        place = self.first[block, level] + (rng.random(count) * self.counts[block, level]).astype(np.int64)
        return self.members[block, place], block


class Rows:
    """The training rows of all heads. ``members`` are the rows of each, at least one.

    A share ``loose`` of what is drawn is put together of two rows, so that ``secret`` features, shape (width,), have
    nothing to do with the others: the secret ones are those of any row of the table, or, where a condition asks for
    one of them, the others are those of any row of the head. Whoever learns these rows learns each head's as they are
    but for a dependence that is weaker by that share.

    NOTE[DIFF]: HydraGAN leaves rows as they are and sets a loss against the dependence that they have. What is left of
    it then is where two losses hold one another, which a weight does not tell: little goes for long, then all.
    """

    def __init__(
        self, encoded: Encoded, members: Sequence[Integers], secret: Booleans | None = None, loose: float = 0.0
    ):
        self.encoded = encoded
        self.members = tuple(members)
        self.levels = tuple(Levels.of(encoded, rows) for rows in members)
        self.secret = np.zeros(encoded.layout.width, dtype=bool) if secret is None else secret
        self.loose = loose

    def draw(self, each: int, rng: np.random.Generator) -> tuple[Single, Single]:
        """Encoded rows, shape (heads, each, width), and their conditions, shape (heads, each, entries)."""
        layout, heads = self.encoded.layout, len(self.members)
        if not len(layout.starts):
            rows = np.concatenate([rng.choice(members, each) for members in self.members])
            conditions = np.zeros((len(rows), 0), dtype=np.float32)
            asked = np.zeros(len(rows), dtype=bool)
        else:
            drawn = [levels.draw(each, rng) for levels in self.levels]
            rows, block = (np.concatenate(part) for part in zip(*drawn, strict=True))
            conditions = conditioned(layout, self.encoded.positions[rows, block])
            asked = self.secret[layout.starts[block]]
        encoded = self._seen(rows, rng)
        if self.loose:
            encoded = np.where(self._parted(asked, rng), self._seen(self._partners(asked, rng), rng), encoded)
        return encoded.reshape(heads, each, -1), conditions.reshape(heads, each, conditions.shape[1])

    def _seen(self, rows: Integers, rng: np.random.Generator) -> Single:
        return self.encoded.rows(rows, rng.random((len(rows), len(self.encoded.layout.scores))))

    def _parted(self, asked: Booleans, rng: np.random.Generator) -> Booleans:
        """Which features are those of a partner, shape (rows, width). ``asked``: a row's condition is a secret one."""
        parted: Booleans = (rng.random(len(asked)) < self.loose)[:, None] & (self.secret != asked[:, None])
        return parted

    def _partners(self, asked: Booleans, rng: np.random.Generator) -> Integers:
        everyone, each = np.concatenate(self.members), len(asked) // len(self.members)
        own = np.concatenate([rng.choice(members, each) for members in self.members])
        return np.where(asked, own, rng.choice(everyone, len(asked)))


def conditioned(layout: Layout, positions: Integers) -> Single:
    """Conditions that ask for the indicators at ``positions``, shape (positions, entries)."""
    conditions = np.zeros((len(positions), len(layout.hot)), dtype=np.float32)
    conditions[np.arange(len(positions)), layout.entries[positions]] = 1.0
    return conditions


def frequencies_of(encoded: Encoded, members: Sequence[Integers]) -> Floats:
    """The share of each head's rows that has each indicator, shape (heads, entries)."""
    layout = encoded.layout
    shares = np.zeros((len(members), len(layout.hot)))
    for head, rows in enumerate(members):
        seen = np.bincount(encoded.positions[rows].ravel(), minlength=layout.width)[layout.hot]
        shares[head] = seen / len(rows)
    return shares


def natural_conditions(layout: Layout, shares: Floats, count: int, rng: np.random.Generator) -> Single:
    """Conditions of ``count`` rows of each head, as often as its rows have them, shape (heads, count, entries)."""
    heads = len(shares)
    if not len(layout.starts):
        return np.zeros((heads, count, 0), dtype=np.float32)
    ends = np.cumsum(layout.sizes)
    block = rng.integers(0, len(ends), (heads, count))
    uniform = rng.random((heads, count))
    positions = np.empty((heads, count), dtype=np.int64)
    for head in range(heads):
        whole = np.cumsum(shares[head])  # every block adds 1
        entry = np.searchsorted(whole, block[head] + uniform[head], side="right")
        entry = np.clip(entry, (ends - layout.sizes)[block[head]], ends[block[head]] - 1)
        positions[head] = layout.hot[entry]
    return conditioned(layout, positions.ravel()).reshape(heads, count, -1)
