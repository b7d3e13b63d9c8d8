"""How drawn parts stand beside one another: of equal length, and each in an order of its own."""

from __future__ import annotations

from collections.abc import Sequence

from models.errors import Fault, SynthesisError
from models.randomness import Seed
from models.table import Integers, Table


def aligned(parts: Sequence[Table]) -> int:
    """The number of rows that all parts have. Raises SynthesisError with the counts when they differ."""
    counts = [len(part) for part in parts]
    if not counts:
        raise SynthesisError(Fault("join", "no part to join", "give the partition at least one part"))
    if len(set(counts)) > 1:
        told = ", ".join(f"part {number} has {count:,}" for number, count in enumerate(counts, start=1))
        raise SynthesisError(
            Fault(
                "join",
                f"the parts have different numbers of rows ({told})",
                "draw the same number of rows from every part",
            )
        )
    return counts[0]


def orders(rows: int, parts: int, seed: Seed) -> list[Integers]:
    """One permutation of ``rows`` positions for every part, each from a stream of its own."""
    return [seed.child(f"part/{number}").generator().permutation(rows) for number in range(1, parts + 1)]


def shuffled(parts: Sequence[Table], seed: Seed) -> list[Table]:
    """Every part in an order of its own: whatever one row's position told about another part's row is gone."""
    return [part.take(order) for part, order in zip(parts, orders(aligned(parts), len(parts), seed), strict=True)]
