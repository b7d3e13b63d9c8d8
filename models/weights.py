"""Weights between the features of parts, learnt from exchanges by a convex loss and a group lasso over columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from models.basis import Features
from models.embedding import Embedded, Pair, Sides
from models.exchanges import pairings, wanted
from models.randomness import Seed
from models.table import Floats, Integers

Weights = Mapping[Pair, Features]
"""``weights[i, j]``, i < j, has shape (features of part i, features of part j)."""

Choice = tuple[float, int]
"""A penalty, and how often weights were reweighted under it."""

RIDGE = 100.0
"""The even penalty of the first fit, from which it is read which pairs of columns have anything to say."""

ROUNDS = 3
"""So often, at most, is the penalty of each pair of columns set anew from its weights."""

STEPS = 8
"""Of the solver, in each round: held-out rows choose a round, and what is missing to the optimum seldom helps."""

KEPT = 0.999
"""The share of a score's variance that its embedding keeps."""


@dataclass(frozen=True)
class Problem:
    """Features of all parts, each of shape (rows, features of part), and the column that each feature describes."""

    features: Sequence[Features]
    owners: Sequence[Integers]

    @property
    def rows(self) -> int:
        return len(self.features[0])

    @property
    def pairs(self) -> list[Pair]:
        """The pairs of parts in both of which something varies."""
        telling = [part for part, owner in enumerate(self.owners) if len(owner)]
        return list(combinations(telling, 2))

    def fitted(self, rows: Integers, penalties: Sequence[float], rounds: int, seed: Seed) -> dict[Choice, Weights]:
        """The weights under each penalty after each round, from ``rows`` alone."""
        first, second = pairings(rows, wanted(40_000, len(rows), 2, 4), seed.child("pairs"))
        differences = [block[first] - block[second] for block in self.features]
        even: Weights = {
            (i, j): np.full((differences[i].shape[1], differences[j].shape[1]), RIDGE, np.float32)
            for i, j in self.pairs
        }
        start = _solved(differences, even, None, len(rows) / 2)
        found = {}
        for penalty in penalties:
            weights = start
            for number in range(1, rounds + 1):
                weights = _solved(differences, self._reweighted(weights, penalty), weights, len(rows) / 2)
                found[penalty, number] = weights
        return found

    def embedded(self, weights: Weights) -> Embedded:
        """All rows under ``weights`` as they are, without a matrix decomposed: one side of a score is the features."""
        sides: dict[Pair, Features] = self._blank()
        for (i, j), matrix in weights.items():
            sides[i, j], sides[j, i] = self.features[i] @ matrix, self.features[j]
        return Embedded(len(self.features), sides)

    def factored(self, weights: Weights, slope: float) -> Sides:
        """For both orders of each pair the matrix from features to its side of ``slope`` times the score, of as few
        dimensions as keep ``KEPT`` of the score's variance between independent rows, the strongest first.
        """
        factors = {(i, j): np.zeros((self.features[i].shape[1], 0), np.float32) for i, j in self._blank()}
        roots = {part: _roots(self.features[part]) for pair in weights for part in pair}
        for (i, j), matrix in weights.items():
            left, sizes, right = np.linalg.svd(roots[i][0].T @ (slope * matrix.astype(np.float64)) @ roots[j][0])
            kept = int(np.searchsorted(np.cumsum(sizes**2), KEPT * np.sum(sizes**2))) + 1 if sizes.any() else 0
            middle = np.sqrt(sizes[:kept])
            factors[i, j] = (roots[i][1] @ left[:, :kept] * middle).astype(np.float32)
            factors[j, i] = (roots[j][1] @ right[:kept].T * middle).astype(np.float32)
        return factors

    def _blank(self) -> dict[Pair, Features]:
        nothing = np.zeros((self.rows, 0), np.float32)
        return dict.fromkeys(permutations(range(len(self.features)), 2), nothing)

    def _reweighted(self, weights: Weights, penalty: float) -> Weights:
        """Ridge penalties that act as a group lasso would near ``weights``: penalty over each block's root mean
        square, where a block is a pair of columns.
        """
        result = {}
        for (i, j), matrix in weights.items():
            groups = [np.unique(self.owners[part], return_index=True, return_counts=True)[1:] for part in (i, j)]
            (rows, tall), (columns, wide) = groups
            square = np.add.reduceat(np.add.reduceat(matrix.astype(np.float64) ** 2, rows, 0), columns, 1)
            size = np.sqrt(square / np.outer(tall, wide)) + penalty * 1e-4
            result[i, j] = np.repeat(np.repeat(penalty / size, tall, 0), wide, 1).astype(np.float32)
        return result


def _solved(differences: Sequence[Features], penalties: Weights, start: Weights | None, rows: float) -> Weights:
    """Minimises the logistic loss of margins (over as many effective ``rows``) plus half of penalty times square.

    Solved for weights times the root of their penalty, which makes the penalty even.
    """
    from scipy.optimize import minimize

    scales: Weights = {pair: np.sqrt(1 / penalty) for pair, penalty in penalties.items()}
    ends = np.cumsum([0, *(scale.size for scale in scales.values())])

    def unpacked(vector: Floats) -> dict[Pair, Features]:
        return {
            pair: vector[low:high].reshape(scale.shape).astype(np.float32) * scale
            for (pair, scale), low, high in zip(scales.items(), ends, ends[1:], strict=False)
        }

    def packed(blocks: Weights) -> Floats:
        return np.concatenate([block.ravel() for block in blocks.values()]).astype(np.float64)

    def loss(vector: Floats) -> tuple[float, Floats]:
        margins = np.zeros((len(differences[0]), len(differences)))
        for (i, j), matrix in unpacked(vector).items():
            margins[:, [i, j]] += np.einsum("kq,kq->k", differences[i] @ matrix, differences[j])[:, None]
        pull = -1 / (1 + np.exp(np.clip(margins, -50, 50))) * (rows / len(margins) / 2)
        slopes: Weights = {
            (i, j): differences[i].T @ ((pull[:, i] + pull[:, j]).astype(np.float32)[:, None] * differences[j]) * scale
            for (i, j), scale in scales.items()
        }
        value = rows / 2 * np.logaddexp(0, -margins).sum(axis=1).mean() + vector @ vector / 2
        return float(value), packed(slopes) + vector

    first = np.zeros(ends[-1]) if start is None else packed({pair: start[pair] / scales[pair] for pair in scales})
    solution = minimize(loss, first, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return unpacked(solution.x)


def _roots(features: Features) -> tuple[Floats, Floats]:
    """R and its inverse transposed, where R R' is the covariance of the features, kept off zero."""
    values, axes = np.linalg.eigh(np.atleast_2d(np.cov(features.astype(np.float64), rowvar=False)))
    root = np.sqrt(np.maximum(values, 1e-4 * max(float(values.max()), 1e-12)))
    return axes * root, axes / root
