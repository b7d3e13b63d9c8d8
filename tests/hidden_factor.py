"""Real parts of one column each that follow one hidden number, and what a join makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.joins import Joined, catalog
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table

UNINFORMED: list[tuple[dict[str, Any], str]] = [
    ({"strength": 0}, "no better than the constant"),
    ({"rows": 20}, "20 real rows are too few"),
    ({"count": 1}, "single part"),
    ({"beta": 0}, "random order"),
]
"""Settings of ``rejoined`` with which a ratio has nothing to go by, and what the facts say then."""


def parts_of(rows: int, strength: float, count: int = 2) -> list[Table]:
    """Parts ``a``, ``b``, ...: with ``strength`` 2, any two correlate by 0.8."""
    hidden, *noise = np.random.default_rng(5).normal(size=(count + 1, rows))
    columns = [Column(name=name, kind=Kind.CONTINUOUS, dtype="double", bounds=(-99, 99)) for name in "abc"]
    return [Table.of([column], [strength * hidden + more], rows) for column, more in zip(columns, noise, strict=False)]


def rejoined(kind: str, rows: int = 600, strength: float = 2, count: int = 2, **settings: Any) -> Joined:
    """Real parts, each in an order of its own, joined again."""
    parts = parts_of(rows, strength, count)
    join = catalog.build({"kind": kind, **settings}).fit(parts, Seed.of(1))
    orders = [np.random.default_rng(number).permutation(rows) for number in range(count)]
    return join.join(lambda round, n: [p.take(o[:n]) for p, o in zip(parts, orders, strict=True)], rows, Seed.of(2))


def correlation(found: Joined, one: str = "a", other: str = "b") -> float:
    return float(np.corrcoef(found.table[one], found.table[other])[0, 1])
