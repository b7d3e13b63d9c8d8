"""Dependence of higher order: the strongest axis of a score between two parts, bent by small trees.

A score is a dot product of two sides (``models.ratio``), each linear in features of single columns. What cells of one
part say only together is not in it. So trees of one part's cells are added to the first axis of its side: gradient
boosting (Friedman, Ann. Stat. 29, 2001) of the loss of "which pair is real", in which what a row should gain depends on
whom the other side's axis makes it meet. Sides are bent in turn, each judged by the others as they stand, and a score
remains a dot product of the same length.

Only the first axis is bent. Further ones carry less and less, and trees find there what chance has left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from models.association import FEW
from models.embedding import Pair
from models.table import Booleans, Floats, Integers

DEPTH = 4
"""Questions of a tree."""

RATE = 0.1
"""The share of a leaf's best value that it gets."""

PRIOR = 10.0
"""A leaf's value is shrunk as if so many more rows were in it that need no change."""


@dataclass(frozen=True)
class Tree:
    """Rows that answer the yes-no questions ``asked`` alike share one of the ``values``, one for each way to answer.

    All nodes of a depth ask the same question, which makes a tree a table.
    """

    asked: Sequence[int]
    values: Floats

    def __call__(self, answers: Booleans) -> Floats:
        return self.values[_leaves(answers, self.asked)]


@dataclass(frozen=True)
class Bends:
    """``trees[i, j]``: what is added to the first axis of part i's side of its score with part j, in order."""

    trees: Mapping[Pair, Sequence[Tree]]

    def first(self, rounds: int) -> Bends:
        return Bends({pair: trees[:rounds] for pair, trees in self.trees.items()})

    def added(self, answers: Sequence[Booleans]) -> dict[Pair, Floats]:
        """To each side, by row; ``answers`` (rows, questions) are those of each part's rows."""
        return {
            (i, j): sum((tree(answers[i]) for tree in trees), np.zeros(len(answers[i])))
            for (i, j), trees in self.trees.items()
        }


@dataclass(frozen=True)
class Exchanges:
    """Rows ``first`` and ``second`` that exchange one part, and by how much each exchange lowers the score.

    ``margins`` has shape (exchanges, parts): what all axes together say, before anything is bent.
    """

    first: Integers
    second: Integers
    margins: Floats

    def across(self, axis: Floats) -> Floats:
        """The difference of ``axis`` between the two rows of each exchange."""
        return np.asarray(axis[self.first] - axis[self.second])

    def bent(self, axes: Mapping[Pair, Floats], added: Mapping[Pair, Floats]) -> Floats:
        """Margins after ``added`` has been added to the first ``axes``."""
        margins = self.margins.copy()
        for i, j in (pair for pair in axes if pair[0] < pair[1]):
            before = self.across(axes[i, j]) * self.across(axes[j, i])
            after = self.across(axes[i, j] + added[i, j]) * self.across(axes[j, i] + added[j, i])
            margins[:, [i, j]] += (after - before)[:, None]
        return margins

    def by_row(self, rows: int, pull: Floats) -> Floats:
        """Sums over the exchanges of each row of ``pull``, shape (exchanges, 2): what the first and second row get."""
        return np.asarray(np.bincount(self.first, pull[:, 0], rows) + np.bincount(self.second, pull[:, 1], rows))


def bends(answers: Sequence[Booleans], axes: Mapping[Pair, Floats], exchanges: Exchanges, rounds: int) -> Bends:
    """Trees for each side of ``axes``, ``rounds`` of them, from the rows in ``exchanges`` alone."""
    rows = np.unique(np.concatenate([exchanges.first, exchanges.second]))
    asked = [each[rows].astype(np.float32) for each in answers]
    grown: dict[Pair, list[Tree]] = {pair: [] for pair in axes}
    added = {pair: np.zeros(len(axis)) for pair, axis in axes.items()}
    for _ in range(rounds):
        for i, j in axes:
            slope, bend = _wanted(exchanges, exchanges.bent(axes, added), axes[j, i] + added[j, i], (i, j))
            tree = _grown(asked[i], slope[rows], bend[rows])
            grown[i, j].append(tree)
            added[i, j] += tree(answers[i])
    return Bends(grown)


def _wanted(exchanges: Exchanges, margins: Floats, other: Floats, pair: Pair) -> tuple[Floats, Floats]:
    """By row the first and second derivative of the likelihood in part i's side; ``other`` is part j's."""
    across, sides = exchanges.across(other), margins[:, list(pair)]
    wrong = 1 / (1 + np.exp(np.clip(sides, -50, 50)))
    slope, bend = wrong.sum(axis=1) * across, (wrong * (1 - wrong)).sum(axis=1) * across**2
    both = np.array([slope, -slope]).T, np.array([bend, bend]).T
    slopes, curves = (exchanges.by_row(len(other), each) for each in both)
    return slopes, curves


def _grown(answers: Floats, slope: Floats, bend: Floats) -> Tree:
    """The tree that lowers the loss most, question by question."""
    prior, asked = PRIOR * float(bend.mean()) + 1e-12, list[int]()
    leaves = np.zeros(len(answers), dtype=np.int64)
    for depth in range(DEPTH):
        node = np.eye(2**depth, dtype=np.float32)[leaves]
        gain = np.zeros(answers.shape[1])
        yes_slope, yes_bend = ((node * each.astype(np.float32)[:, None]).T @ answers for each in (slope, bend))
        all_slope, all_bend = (np.bincount(leaves, each, 2**depth)[:, None] for each in (slope, bend))
        for up, down in ((yes_slope, yes_bend), (all_slope - yes_slope, all_bend - yes_bend)):
            gain += (up**2 / (np.maximum(down, 0) + prior)).sum(axis=0)
        asked.append(int(np.argmax(gain)))
        leaves = _leaves(answers, asked)
    sums, curves, count = (np.bincount(leaves, each, 2**DEPTH) for each in (slope, bend, np.ones(len(slope))))
    return Tree(asked, np.where(count < FEW, 0.0, RATE * sums / (curves + prior)))


def _leaves(answers: Floats | Booleans, asked: Iterable[int]) -> Integers:
    leaves = np.zeros(len(answers), dtype=np.int64)
    for question in asked:
        leaves = 2 * leaves + (answers[:, question] > 0)
    return leaves
