"""Rows that are equal in every cell, found among millions by 64-bit keys.

Two different rows share a key with a chance of 2^-64: among three million rows, of 2^-22 for any two at all.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from models.table import Floats, Table

Keys = NDArray[np.uint64]

STRIDE = 0x9E3779B97F4A7C15
"""An odd number without pattern (2^64 over the golden ratio): equal cells of different columns get different bits."""


def row_keys(table: Table) -> Keys:
    """One key per row, equal for equal rows. Numbers are equal by their column's steps; missing cells are equal."""
    steps = [column.step if column.numeric else None for column in table.columns]
    return combined((_cell_bits(cells, step) for cells, step in zip(table.values.T, steps, strict=True)), len(table))


def combined(parts: Iterable[Keys], rows: int) -> Keys:
    """One key per row of what several say of it, in this order."""
    keys = np.zeros(rows, dtype=np.uint64)
    for number, part in enumerate(parts, start=1):
        keys += _scrambled(part ^ np.uint64(number * STRIDE % 2**64))
    return keys


def times(keys: Keys, among: Keys) -> Floats:
    """How often each of ``keys`` is found ``among`` others."""
    kinds, often = np.unique(among, return_counts=True)
    if not len(kinds):
        return np.zeros(len(keys))
    at = np.minimum(np.searchsorted(kinds, keys), len(kinds) - 1)
    return np.where(kinds[at] == keys, often[at], 0).astype(np.float64)


def copies(known: Keys, unseen: Keys, drawn: Keys) -> tuple[Floats, Floats]:
    """How many of ``drawn`` equal each of ``known``, and each of ``unseen``, that no other of these two equals."""
    both = np.concatenate([known, unseen])
    counts = np.where(times(both, both) == 1, times(both, drawn), 0.0)
    return counts[: len(known)], counts[len(known) :]


def _cell_bits(cells: Floats, step: float | None) -> Keys:
    """The cells as 64 bits that are equal exactly for equal cells."""
    steps = cells if step is None else np.rint(cells / step)
    return (np.where(np.isnan(steps), -np.inf, steps) + 0.0).view(np.uint64)


def _scrambled(bits: Keys) -> Keys:
    """Bits of which each depends on all of the given ones, one to one: the mixer of the generator SplitMix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
