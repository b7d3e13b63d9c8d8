"""From blocks of column positions to a partition: sizes, names, the ratio, and the words of its reason."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.association import association, ratio
from models.errors import Fault, SpecError
from models.partition import Part, Partition
from models.randomness import Seed
from models.table import Floats, Table

ROWS = 50_000
"""The associations are those of at most so many rows, drawn at random."""

LITTLE_SIGNAL = 0.3
"""The ratio below which the validator of arXiv 2507.19700 lost to plain concatenation."""


def too_many(parts: int, columns: int) -> list[Fault]:
    """The fault of asking for more parts than there are columns, if it is made."""
    if parts <= columns:
        return []
    remedy = f"ask for at most {columns} parts" if columns else "give the schema a column that can be modelled"
    return [Fault("partitioner", f"{parts} parts for {columns} columns", remedy)]


def divisible(table: Table, parts: int) -> None:
    """Raises SpecError when ``table`` has fewer columns than ``parts``."""
    faults = too_many(parts, len(table.columns))
    if faults:
        raise SpecError(faults)


def sampled_association(table: Table, seed: Seed) -> Floats:
    """The associations of ``table``, from a random ``ROWS`` of its rows where it has more."""
    if len(table) > ROWS:
        chosen = seed.child("association/rows").generator().choice(len(table), ROWS, replace=False)
        table = table.take(np.sort(chosen))
    return association(table)


def sizes(columns: int, parts: int) -> list[int]:
    """As equal as they can be, the larger ones first."""
    return [columns // parts + (number < columns % parts) for number in range(parts)]


def part_names(count: int) -> tuple[str, ...]:
    """``part-1`` to ``part-<count>``."""
    return tuple(f"part-{number}" for number in range(1, count + 1))


def numbered(table: Table, blocks: Sequence[Sequence[int]], matrix: Floats, rule: str) -> Partition:
    """Parts ``part-1`` ... in the order of their first columns, the columns of a part in table order."""
    ordered = sorted(sorted(block) for block in blocks)
    parts = tuple(
        Part(name=name, columns=tuple(table.names[j] for j in block))
        for name, block in zip(part_names(len(ordered)), ordered, strict=True)
    )
    return explained(parts, ordered, matrix, rule)


def explained(parts: Sequence[Part], blocks: Sequence[Sequence[int]], matrix: Floats, rule: str) -> Partition:
    """The partition with its ratio and a reason: the ``rule``, the sizes, and what the ratio means for a join."""
    found = ratio(matrix, blocks)
    count, most = sum(len(block) for block in blocks), max(len(block) for block in blocks)
    if len(blocks) == 1:
        reason = f"one part holds all {count} columns: one generator learns the undivided table"
    else:
        reason = f"{rule}: {count} columns in {len(blocks)} parts of at most {most}; {_meaning(found)}"
    return Partition(parts=tuple(parts), reason=reason, ratio=found)


def _meaning(found: float | None) -> str:
    if found is None:
        return "no two columns within a part are associated, so there is no ratio"
    told = f"associations between parts are {found:.2f} times those within parts"
    return f"{told}, too little for a validator to go by" if found < LITTLE_SIGNAL else told
