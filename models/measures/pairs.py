"""How well the release keeps what pairs of columns have to do with one another."""

from __future__ import annotations

from dataclasses import dataclass
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

SOURCE = "Associations: Spearman's rho, corrected Cramer's V and correlation ratio, by the kinds of the two columns."
MEAN = "How far are the strengths of association of pairs of columns off, on average?"
WORST = "How far is the strength of association of the worst pair off?"
TABLES = "How far are the joint distributions of pairs of columns off, on average?"


class Pairs(Measure):
    """Differences over all pairs of columns, beside those of held-out rows; by default reported without gating.

    *Associations*: the difference between the strength of association in synthetic and in training rows. Baseline:
    columns that have nothing to do with one another. *Tables*: total variation of the joint distribution of two
    columns, each in ``bins`` coarse classes (numbers by the training rows' quantiles, levels the commonest and the
    rest, missing apart). Baseline: independent columns with the training rows' own distributions. One column has no
    pairs.
    """

    kind: Literal["pairs"] = "pairs"
    mean: float | None = Field(default=None, ge=0, le=1, description="limit of the mean difference")
    worst: float | None = Field(default=None, ge=0, le=1, description="limit of the worst difference")
    tables: float | None = Field(default=None, ge=0, le=1, description="limit of the mean distance")
    bins: int = Field(default=4, ge=2, le=64, description="coarse classes of a column")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        tables = (evidence.synthetic, evidence.holdout, evidence.train)
        drawn, unseen, real = (_upper(association(table)) for table in tables)
        strengths = _Differences(np.abs(drawn - real), np.abs(unseen - real), real)
        joint = _joint_differences(evidence, self.bins)
        pairs = list(combinations(evidence.train.names, 2))
        where = " and ".join(pairs[int(np.argmax(strengths.drawn))]) if pairs else ""
        return (
            self._finding("Pair associations, mean", MEAN, evidence, strengths.mean, self.mean),
            self._finding("Pair associations, worst", WORST, evidence, strengths.worst, self.worst, where),
            self._finding("Pair tables, mean", TABLES, evidence, joint.mean, self.tables),
        )

    def _finding(
        self, name: str, question: str, evidence: Evidence, figures: Figures, limit: float | None, where: str = ""
    ) -> Finding:
        drawn, unseen, independent = figures
        return Finding(
            measure=self.kind,
            name=name,
            question=question,
            group=Group.FIDELITY,
            unit=Unit.SCORE,
            estimate=drawn,
            control=unseen if len(evidence.holdout) else None,
            baseline=independent,
            n=len(evidence.synthetic),
            limit=limit,
            where=where,
            reason="" if drawn is not None else "one column has no pairs",
            source=SOURCE,
        )


Figures = tuple[float | None, float | None, float | None]


@dataclass(frozen=True, eq=False)
class _Differences:
    """By pair of columns: how far synthetic rows, held-out rows and independent columns are from training rows."""

    drawn: Floats
    unseen: Floats
    independent: Floats

    @property
    def mean(self) -> Figures:
        return self._each(np.mean)

    @property
    def worst(self) -> Figures:
        return self._each(np.max)

    def _each(self, summary: object) -> Figures:
        def one(values: Floats) -> float | None:
            return float(summary(values)) if len(values) else None  # type: ignore[operator]

        return one(self.drawn), one(self.unseen), one(self.independent)


def _upper(matrix: Floats) -> Floats:
    """The pairs of a symmetric matrix, in the order of ``combinations``."""
    return matrix[np.triu_indices(len(matrix), k=1)]


def _joint_differences(evidence: Evidence, bins: int) -> _Differences:
    classes = [_Classes.of(evidence.train, j, bins) for j in range(len(evidence.train.columns))]
    tables = (evidence.train, evidence.synthetic, evidence.holdout)
    codes = [[one.codes(table.values[:, j]) for j, one in enumerate(classes)] for table in tables]
    pairs = list(combinations(range(len(classes)), 2))
    found = np.zeros((3, len(pairs)))
    for at, (i, j) in enumerate(pairs):
        real, drawn, unseen = (_joint(of_table[i], of_table[j], bins + 1) for of_table in codes)
        others = drawn, unseen, np.outer(real.sum(axis=1), real.sum(axis=0))
        found[:, at] = [np.abs(other - real).sum() / 2 for other in others]
    return _Differences(*found)


def _joint(one: Integers, other: Integers, size: int) -> Floats:
    """The share of rows in each combination of classes; all zero without rows."""
    counts = np.bincount(one * size + other, minlength=size * size).reshape(size, size)
    return np.asarray(counts / max(1, len(one)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Classes:
    """A column in ``bins`` coarse classes, learned from training rows; class ``bins`` is for missing cells.

    ``marks`` are a number's inner edges, or the levels that are told apart.
    """

    marks: Floats
    bins: int
    numeric: bool

    @classmethod
    def of(cls, train: Table, j: int, bins: int) -> _Classes:
        cells = train.values[:, j]
        present = cells[~np.isnan(cells)]
        if not train.columns[j].numeric:
            levels, counts = np.unique(present, return_counts=True)
            return cls(np.sort(levels[np.argsort(-counts, kind="stable")[: bins - 1]]), bins, numeric=False)
        inner = np.linspace(0, 1, bins + 1)[1:-1]
        marks = np.unique(np.quantile(present, inner, method="inverted_cdf")) if len(present) else present
        return cls(marks, bins, numeric=True)

    def codes(self, cells: Floats) -> Integers:
        place = np.searchsorted(self.marks, cells)
        if not self.numeric:
            place = np.where(np.append(self.marks, np.nan)[place] == cells, place, self.bins - 1)
        return np.where(np.isnan(cells), self.bins, place).astype(np.int64)
