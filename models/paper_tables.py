"""The three tables of an audit as SynthEval encodes them, for figures by its definitions (see ``models.paper``).

NOTE[DIFF]: as in SynthEval, rows with missing cells are left out. Unlike there, tables of more than ``ROWS`` rows are
sampled, all three by the same share, since distances of all pairs of rows are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.association import commonest
from models.evidence import Evidence
from models.randomness import Seed
from models.schema import Column, Role
from models.table import Booleans, Floats, Table

ROWS = 5_000
"""The largest table has no more rows than that."""

Figures = tuple[float | None, float | None]
"""By SynthEval's definition, and corrected; None where these tables have no such figure."""

FEW_VALUES = 10
"""A number with fewer distinct training values counts as levels."""

MOST_LEVELS = 50
"""Learners are asked about no more levels of one column."""


@dataclass(frozen=True, eq=False)
class PaperTables:
    """The evidence, and its rows without gaps as SynthEval encodes them: levels as whole numbers in the order of their
    labels, numbers so that all three tables together fill [0, 1]. ``train``, ``holdout`` and ``synthetic`` have shape
    (rows, columns). ``told`` says how the rows differ from those of the evidence.
    """

    evidence: Evidence
    train: Floats
    holdout: Floats
    synthetic: Floats
    levels: Booleans
    told: str
    seed: Seed

    @classmethod
    def of(cls, evidence: Evidence, seed: Seed) -> PaperTables:
        given = (evidence.train, evidence.holdout, evidence.synthetic)
        whole = [table.take(np.flatnonzero(~table.missing.any(axis=1))) for table in given]
        share = min(1.0, ROWS / max(1, *map(len, whole)))
        kept = [_sampled(table, share, seed.child(f"rows/{k}")) for k, table in enumerate(whole)]
        columns = evidence.train.columns
        levels = [_is_levels(column, evidence.train.values[:, j]) for j, column in enumerate(columns)]
        coded = [
            _encoded(column, levels[j], [table.values[:, j] for table in kept]) for j, column in enumerate(columns)
        ]
        train, holdout, synthetic = (np.column_stack(cells) for cells in zip(*coded, strict=True))
        told = _told(
            [len(g) - len(w) for g, w in zip(given, whole, strict=True)], [len(table) for table in kept], share
        )
        return cls(evidence, train, holdout, synthetic, np.array(levels, dtype=np.bool_), told, seed)

    @property
    def empty(self) -> bool:
        return not len(self.train) or not len(self.synthetic)

    @property
    def targets(self) -> list[int]:
        """Targets that SynthEval takes for levels, of which training rows have two at least.

        NOTE[DIFF]: a target of more than ``MOST_LEVELS`` levels is none: SynthEval's learners would take hours.
        """
        declared = [j for j, column in enumerate(self.evidence.train.columns) if column.role is Role.TARGET]
        return [
            j
            for j in declared
            if self.levels[j] and len(np.unique(self.train[:, j])) > 1 and self._most(j) < MOST_LEVELS
        ]

    def _most(self, j: int) -> int:
        """The largest code of a levelled column."""
        return max(int(table[:, j].max(initial=0.0)) for table in (self.train, self.holdout, self.synthetic))

    def indicators(self, table: Floats, without: int | None = None) -> Floats:
        """A column for each level of the training rows but the first one, and numbers in units of their deviation.

        ``without`` is a column that is left out. There is always a column, a constant one in the end. Of the levels of
        one column the ``MOST_LEVELS`` commonest have a column.
        """
        made: list[Floats] = []
        for j, levels in enumerate(self.levels):
            if levels and j != without:
                known = np.sort(commonest(self.train[:, j], MOST_LEVELS))
                made += [(table[:, j] == code).astype(np.float64) for code in known[1:]]
            elif j != without:
                made.append((table[:, j] - self.train[:, j].mean()) / (self.train[:, j].std() or 1.0))
        return np.column_stack([*made, np.zeros(len(table))])

    def some(self, table: Floats, count: int, name: str) -> Floats:
        """A random ``count`` rows of ``table``."""
        order = self.seed.child(name).generator().permutation(len(table))
        return table[np.sort(order[:count])]


def _sampled(table: Table, share: float, seed: Seed) -> Table:
    if share >= 1.0:
        return table
    order = seed.generator().permutation(len(table))
    return table.take(np.sort(order[: round(share * len(table))]))


def _is_levels(column: Column, cells: Floats) -> bool:
    return not column.numeric or len(np.unique(cells[~np.isnan(cells)])) < FEW_VALUES


def _encoded(column: Column, levels: bool, cells: Sequence[Floats]) -> list[Floats]:
    """The cells of one column of all tables, as ``PaperTables`` describes."""
    together = np.concatenate(cells)
    if not levels and len(together):
        low = together.min()
        scale = 1.0 / (float(together.max() - low) or 1.0)
        return [each * scale - low * scale for each in cells]
    places = cells if column.numeric else [_order(column)[each.astype(np.int64)] for each in cells]
    present = np.unique(np.concatenate(places))
    return [np.searchsorted(present, each).astype(np.float64) for each in places]


def _order(column: Column) -> Floats:
    """The place of each code when labels are sorted: as numbers where all are, else as text."""
    labels = column.alphabet
    numbers = all(isinstance(label, int | float) for label in labels)
    ordered = sorted(range(len(labels)), key=lambda code: labels[code] if numbers else str(labels[code]))
    return np.argsort(np.array(ordered, dtype=np.int64)).astype(np.float64)


def _told(gaps: Sequence[int], kept: Sequence[int], share: float) -> str:
    names = ("training", "held-out", "synthetic")
    said = []
    if any(gaps):
        listed = ", ".join(f"{count:,} {name}" for count, name in zip(gaps, names, strict=True))
        said.append(f"Rows with missing cells left out: {listed}.")
    if share < 1.0:
        listed = ", ".join(f"{count:,} {name}" for count, name in zip(kept, names, strict=True))
        said.append(f"On a sample: {listed} rows.")
    return " ".join(said)
