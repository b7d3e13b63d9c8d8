"""How well the release keeps what pairs of columns have to do with one another."""

from __future__ import annotations

from itertools import combinations
from typing import Literal

import numpy as np
from pydantic import Field

from models.association import association
from models.evidence import Evidence
from models.finding import Finding, Group, Unit
from models.measures import Measure
from models.randomness import Seed
from models.table import Floats, Integers, Table

SOURCE = "Associations: Spearman's rho, corrected Cramer's V and correlation ratio, by kind of pair; tables: coarse bins."
MISSING_TOO = 1


class Pairs(Measure):
    """Differences over all pairs of columns, beside those of held-out rows; reported without gating by default.

    *Associations*: the difference between the strength of the association in synthetic and in training rows. Baseline:
    columns that have nothing to do with one another. *Pair tables*: total variation of the joint distribution of two
    columns, each in ``bins`` coarse classes (numbers by the training rows' quantiles, levels the commonest and the rest,
    missing apart). Baseline: independent columns with the training rows' own distributions. One column has no pairs.
    """

    kind: Literal["pairs"] = "pairs"
    mean: float | None = Field(default=None, ge=0, le=1, description="limit of the mean association difference; null reports only")
    worst: float | None = Field(default=None, ge=0, le=1, description="limit of the worst association difference; null reports only")
    tables: float | None = Field(default=None, ge=0, le=1, description="limit of the mean distance of pair tables; null reports only")
    bins: int = Field(default=4, ge=2, le=64, description="coarse classes of a column")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        pairs = list(combinations(range(len(evidence.train.columns)), 2))
        real, unseen, drawn = (_upper(association(t)) for t in (evidence.train, evidence.holdout, evidence.synthetic))
        off, usual = np.abs(drawn - real), np.abs(unseen - real)
        distances, usual_distances, independent = self._tables(evidence, pairs)
        return (
            self._finding("Pair associations, mean", "How far are the associations of pairs of columns off, on average?",
                          evidence, pairs, off, usual, real, self.mean),
            self._finding("Pair associations, worst", "How far is the association of the worst pair off?",
                          evidence, pairs, off, usual, real, self.worst, worst=True),
            self._finding("Pair tables, mean", "How far are the joint distributions of pairs of columns off, on average?",
                          evidence, pairs, distances, usual_distances, independent, self.tables),
        )

    def _tables(self, evidence: Evidence, pairs: list[tuple[int, int]]) -> tuple[Floats, Floats, Floats]:
        """By pair: distance of the synthetic, of the held-out and of independent columns' joint distribution."""
        cuts = [_Coarse(evidence.train, j, self.bins) for j in range(len(evidence.train.columns))]
        train, holdout, synthetic = (
            [cut.codes(table.values[:, j]) for j, cut in enumerate(cuts)]
            for table in (evidence.train, evidence.holdout, evidence.synthetic)
        )
        size = self.bins + MISSING_TOO
        found = np.zeros((3, len(pairs)))
        for at, (i, j) in enumerate(pairs):
            real = _joint(train[i], train[j], size)
            others = (_joint(synthetic[i], synthetic[j], size), _joint(holdout[i], holdout[j], size),
                      np.outer(real.sum(axis=1), real.sum(axis=0)))
            found[:, at] = [np.abs(other - real).sum() / 2 for other in others]
        return found[0], found[1], found[2]

    def _finding(
        self, name: str, question: str, evidence: Evidence, pairs: list[tuple[int, int]], drawn: Floats, unseen: Floats,
        none: Floats, limit: float | None, *, worst: bool = False,
    ) -> Finding:
        at = int(np.argmax(drawn)) if pairs else 0
        names = evidence.train.names
        return Finding(
            measure=self.kind,
            name=name,
            question=question,
            group=Group.FIDELITY,
            unit=Unit.SCORE,
            estimate=_summary(drawn, worst),
            control=_summary(unseen, worst),
            baseline=_summary(none, worst),
            n=len(evidence.synthetic),
            limit=limit,
            where=f"{names[pairs[at][0]]} and {names[pairs[at][1]]}" if worst and pairs else "",
            reason="" if pairs else "one column has no pairs",
            source=SOURCE,
        )


def _summary(values: Floats, worst: bool) -> float | None:
    if not len(values):
        return None
    return float(values.max() if worst else values.mean())


def _upper(matrix: Floats) -> Floats:
    """The pairs of a symmetric matrix, in the order of ``combinations``."""
    return matrix[np.triu_indices(len(matrix), k=1)]


class _Coarse:
    """A column in ``bins`` classes learned from training rows, and one more for missing."""

    def __init__(self, train: Table, j: int, bins: int):
        cells = train.values[:, j]
        present = cells[~np.isnan(cells)]
        self.bins, self.numeric = bins, train.columns[j].numeric
        if self.numeric:
            inner = np.linspace(0, 1, bins + 1)[1:-1]
            self.marks = np.unique(np.quantile(present, inner, method="inverted_cdf")) if len(present) else present
        else:
            levels, counts = np.unique(present, return_counts=True)
            self.marks = np.sort(levels[np.argsort(-counts, kind="stable")[: bins - 1]])

    def codes(self, cells: Floats) -> Integers:
        place = np.searchsorted(self.marks, cells)
        if not self.numeric:
            known = np.append(self.marks, np.nan)[place] == cells
            place = np.where(known, place, self.bins - 1)
        return np.where(np.isnan(cells), self.bins, place).astype(np.int64)


def _joint(one: Integers, other: Integers, size: int) -> Floats:
    return np.bincount(one * size + other, minlength=size * size).reshape(size, size) / len(one)
