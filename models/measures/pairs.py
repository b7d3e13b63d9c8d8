"""How well the release keeps what pairs of columns have to do with one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from pydantic import Field

from models.association import association, rank_correlation
from models.classes import Classes
from models.evidence import Evidence
from models.finding import Finding, Group, Unit
from models.measures import Measure
from models.randomness import Seed
from models.table import Booleans, Floats, Integers, Table

SOURCE = "Associations: Spearman's rho, corrected Cramer's V and correlation ratio, by the kinds of the two columns."
MEAN = "How far are the strengths of association of pairs of columns off, on average?"
WORST = "How far is the strength of association of the worst pair off?"
RANKS = "How far are the rank correlations (Spearman's rho) of two numbers off, on average?"
LEVELS = "How far are the associations (Cramer's V) of two levelled columns off, on average?"
MIXED = "How far are the associations (correlation ratio) of a number and a levelled column off, on average?"
TABLES = "How far are the joint distributions of pairs of columns off, on average?"
WORST_TABLE = "How far is the joint distribution of the worst pair of columns off?"


class Pairs(Measure):
    """Differences over all pairs of columns, beside those of held-out rows; by default reported without gating.

    *Associations*: the difference between the association in synthetic and in training rows, on average over all pairs,
    over the pairs of each sort, and of the worst pair: Spearman's rho with its sign, Cramer's V (the root, corrected
    for bias), the correlation ratio (the root, of ranks, corrected for the number of groups). Baseline: columns that
    have nothing to do with one another. See ``models.association`` for missing cells.

    *Tables*: total variation of the joint distribution of two columns, each in ``bins`` coarse classes (numbers by the
    training rows' quantiles, levels the commonest and the rest, missing apart). Baseline: independent columns with the
    training rows' own distributions.

    All are facts about the given tables and have no interval; what chance does is seen in ``control``, and held-out
    rows are mostly fewer, so it is rather too large. A strength of association says nothing of its shape, coarse tables
    nothing of what happens within a class, and pairs nothing of three columns together. One column has no pairs.
    """

    kind: Literal["pairs"] = "pairs"
    mean: float | None = Field(default=None, ge=0, le=1, description="limit of the mean difference")
    worst: float | None = Field(default=None, ge=0, le=2, description="limit of the worst difference")
    tables: float | None = Field(default=None, ge=0, le=1, description="limit of the mean distance")
    bins: int = Field(default=4, ge=2, le=64, description="coarse classes of a column")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        strengths, joint = _strength_differences(evidence), _joint_differences(evidence, self.bins)
        names = list(combinations(evidence.train.names, 2))
        sorts = list(combinations([column.numeric for column in evidence.train.columns], 2))
        numbers = np.array([sum(sort) for sort in sorts], dtype=np.int64)
        return (
            self._finding("Pair associations, mean", MEAN, evidence, strengths.each(np.mean), self.mean),
            self._finding(
                "Pair associations, worst", WORST, evidence, strengths.each(np.max), self.worst, strengths.worst(names)
            ),
            self._finding("Rank correlations", RANKS, evidence, strengths.of(numbers == 2).each(np.mean)),
            self._finding("Associations of levels", LEVELS, evidence, strengths.of(numbers == 0).each(np.mean)),
            self._finding("Correlation ratios", MIXED, evidence, strengths.of(numbers == 1).each(np.mean)),
            self._finding("Pair tables, mean", TABLES, evidence, joint.each(np.mean), self.tables),
            self._finding("Pair tables, worst", WORST_TABLE, evidence, joint.each(np.max), None, joint.worst(names)),
        )

    def _finding(
        self,
        name: str,
        question: str,
        evidence: Evidence,
        figures: Figures,
        limit: float | None = None,
        where: str = "",
    ) -> Finding:
        drawn, unseen, independent = figures
        lacking = "one column has no pairs" if len(evidence.train.columns) == 1 else "there is no such pair of columns"
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
            reason="" if drawn is not None else lacking,
            source=SOURCE,
        )


Figures = tuple[float | None, float | None, float | None]


@dataclass(frozen=True, eq=False)
class _Differences:
    """By pair of columns: how far synthetic rows, held-out rows and independent columns are from training rows."""

    drawn: Floats
    unseen: Floats
    independent: Floats

    def of(self, pairs: Booleans) -> _Differences:
        return _Differences(self.drawn[pairs], self.unseen[pairs], self.independent[pairs])

    def each(self, summary: Callable[[Floats], np.floating]) -> Figures:
        """A summary of each of the three; None where there is no pair."""
        if not len(self.drawn):
            return None, None, None
        return float(summary(self.drawn)), float(summary(self.unseen)), float(summary(self.independent))

    def worst(self, names: list[tuple[str, str]]) -> str:
        """The pair that synthetic rows keep worst."""
        return " and ".join(names[int(np.argmax(self.drawn))]) if names else ""


def _strength_differences(evidence: Evidence) -> _Differences:
    real, drawn, unseen = (
        (_upper(association(table)), _upper(rank_correlation(table)))
        for table in (evidence.train, evidence.synthetic, evidence.holdout)
    )
    return _Differences(_apart(real, drawn), _apart(real, unseen), real[0])


def _apart(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> Floats:
    """The difference of strengths, or of signed rank correlations where that is larger: a turned sign counts."""
    return np.maximum(np.abs(one[0] - other[0]), np.abs(one[1] - other[1]))


def _upper(matrix: Floats) -> Floats:
    """The pairs of a symmetric matrix, in the order of ``combinations``."""
    return matrix[np.triu_indices(len(matrix), k=1)]


def _joint_differences(evidence: Evidence, bins: int) -> _Differences:
    train = evidence.train
    classes = [Classes.of(column, train.values[:, j], bins) for j, column in enumerate(train.columns)]
    codes = [_coded(table, classes) for table in (train, evidence.synthetic, evidence.holdout)]
    pairs = list(combinations(range(len(classes)), 2))
    found = np.zeros((3, len(pairs)))
    for at, (i, j) in enumerate(pairs):
        real, drawn, unseen = (_joint(of_table[i], of_table[j], bins + 1) for of_table in codes)
        others = drawn, unseen, np.outer(real.sum(axis=1), real.sum(axis=0))
        found[:, at] = [np.abs(other - real).sum() / 2 for other in others]
    return _Differences(*found)


def _coded(table: Table, classes: list[Classes]) -> list[Integers]:
    return [one.codes(table.values[:, j]) for j, one in enumerate(classes)]


def _joint(one: Integers, other: Integers, size: int) -> Floats:
    """The share of rows in each combination of classes; all zero without rows."""
    counts = np.bincount(one * size + other, minlength=size * size).reshape(size, size)
    return np.asarray(counts / max(1, len(one)), dtype=np.float64)
