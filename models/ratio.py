"""How much likelier the rows of disjoint parts are together than by chance: log p(row) - sum over parts of log p_i.

A join that uses each drawn row of a part once needs that ratio only up to terms that depend on one part alone: they are
the same whoever stands beside whom. What is left is modelled as a sum over pairs of parts of f_i(row of i) W f_j(row of
j), a semiparametric odds-ratio model (Chen, Biometrics 63, 2007), with features f of columns of any kind
(``models.basis``).

It is learnt from what a swap would ask: of two real rows and the same two rows with one part exchanged, which pair is
real? The chance of that is the logistic function of a difference of scores (the pairwise pseudo-likelihood of Liang and
Qin, J. R. Stat. Soc. B 62, 2000), every one-part term cancels, and the loss is convex. A classifier of single rows
starts from features that tell nothing one at a time; here each useful direction is downhill from the start.

It reads real rows without noise, so what it helps to make carries no differential-privacy guarantee. It lives as long
as the join and is never written down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from math import log
from typing import Annotated

import numpy as np
from pydantic import Field

from models.basis import Basis, Features, bases
from models.pairing import aligned, orders
from models.randomness import Seed, one_thread
from models.schema import Frozen
from models.table import Floats, Integers, Table

Pair = tuple[int, int]
Weights = Mapping[Pair, Features]

LEAST_ROWS = 50
"""With fewer real rows nothing can be learnt and held out."""

RIDGE = 100.0
"""The even penalty of the first fit, from which it is read which pairs of columns have anything to say."""

ROUNDS = 3
"""So often is the penalty of each pair of columns set anew from its weights."""

STEPS = 25
"""Of the solver, in each round."""

STEEPEST = 3.0
"""Scores are stretched at most so much: strong penalties shrink them, and held-out rows tell by how much."""

KEPT = 0.999
"""The share of a score's variance that its embedding keeps."""


@dataclass(frozen=True)
class Quality:
    """What is known of rows that were not seen.

    ``log_loss`` is that of "which of the two pairs is real", in nats, each row judged by weights fitted on other rows
    and stretched by a ``slope`` found on yet others; answering 0.5 every time costs ``log_loss_constant``.
    ``log_loss_error`` is the standard error of their difference. ``agreement`` is the share of right answers. ``slope``
    is the calibration: what the scores of this penalty have to be multiplied with. ``score_real`` is the mean
    calibrated score of real rows less that of rows joined at random, which a good join reaches.
    """

    log_loss: float
    log_loss_error: float
    agreement: float
    slope: float
    score_real: float
    penalty: float
    rows: int
    log_loss_constant: float = log(2)

    @property
    def informed(self) -> bool:
        """Whether answers beat the constant by more than two standard errors."""
        return self.slope > 0 and self.log_loss + 2 * self.log_loss_error < self.log_loss_constant


class Ratio(Frozen):
    """How the density ratio is learnt.

    ``rows`` real rows at most are used, drawn at random. Each is judged in one of ``folds`` by weights that were fitted
    without it; the judgement chooses one of ``penalties`` and the slope by which scores are stretched or shrunk. The
    penalty is a group lasso over pairs of columns of different parts (solved by reweighted ridge regressions), so that
    pairs without dependence drop out. A level that fewer than five rows share has no feature, and no feature singles
    out a row: together with the penalty that keeps real rows from being memorised.
    """

    rows: int = Field(default=20_000, ge=LEAST_ROWS)
    folds: int = Field(default=3, ge=2, le=10)
    penalties: tuple[Annotated[float, Field(gt=0)], ...] = Field(default=(1.0, 3.0, 10.0, 30.0), min_length=1)

    def fit(self, parts: Sequence[Table], seed: Seed) -> Affinity:
        """Learn how the rows of ``parts`` belong together: row i of every part is row i of the real table.

        ``hindrance`` tells beforehand whether that can be tried. In several threads its many small products take
        longer, besides rounding differently.
        """
        with one_thread():
            return self._fitted(self._drawn(parts, seed.child("rows")), seed)

    def _fitted(self, parts: Sequence[Table], seed: Seed) -> Affinity:
        described = bases(parts)
        features = [basis.features(part) for basis, part in zip(described, parts, strict=True)]
        problem = _Problem(features, [basis.owner for basis in described])
        quality = self._judged(problem, seed)
        everything = np.arange(len(features[0]))
        (weights,) = problem.fitted(everything, [quality.penalty], seed.child("final")).values()
        return Affinity(tuple(described), _factored(features, weights, quality.slope), quality)

    def _drawn(self, parts: Sequence[Table], seed: Seed) -> Sequence[Table]:
        count = aligned(parts)
        if count <= self.rows:
            return parts
        chosen = np.sort(seed.generator().choice(count, self.rows, replace=False))
        return [part.take(chosen) for part in parts]

    def _judged(self, problem: _Problem, seed: Seed) -> Quality:
        fold = seed.child("folds").generator().permutation(problem.rows) % self.folds
        answers: dict[float, list[_Answers]] = {penalty: [] for penalty in self.penalties}
        for number in range(self.folds):
            stream = seed.child(f"fold/{number}")
            seen, held_out = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            for penalty, weights in problem.fitted(seen, self.penalties, stream).items():
                answers[penalty].append(problem.answers(held_out, weights, stream.child("held-out")))
        found = [_quality(penalty, given, problem.rows) for penalty, given in answers.items()]
        return min(found, key=lambda quality: quality.log_loss)


@dataclass(frozen=True)
class Affinity:
    """The fitted ratio. ``factors[i, j]`` maps part i's features to its side of the score of parts i and j, which is
    the dot product of both sides.
    """

    bases: tuple[Basis, ...]
    factors: Weights
    quality: Quality

    def embed(self, parts: Sequence[Table]) -> Embedded:
        features = [basis.features(part) for basis, part in zip(self.bases, parts, strict=True)]
        with one_thread():
            return Embedded(len(parts), {(i, j): features[i] @ factor for (i, j), factor in self.factors.items()})


@dataclass(frozen=True)
class Embedded:
    """Rows of ``parts`` parts: ``sides[i, j]``, shape (rows, dimensions), is part i's side of its score with part j."""

    parts: int
    sides: Weights

    @cached_property
    def own(self) -> list[Features]:
        """For every part its sides of all its scores, shape (rows, dimensions)."""
        return [np.hstack([self.sides[i, j] for j in range(self.parts) if j != i]) for i in range(self.parts)]

    def others(self, part: int, rows: Sequence[Integers]) -> Features:
        """The other parts' sides, in the order of ``own[part]``; row ``rows[j][k]`` of part j stands in place k."""
        return np.hstack([self.sides[j, part][rows[j]] for j in range(self.parts) if j != part])

    def scores(self, rows: Sequence[Integers]) -> Floats:
        """The score of each joined row: log r up to terms of one part alone, in nats."""
        total = np.zeros(len(rows[0]))
        for i, j in combinations(range(self.parts), 2):
            total += np.einsum("kd,kd->k", self.sides[i, j][rows[i]], self.sides[j, i][rows[j]])
        return total


def hindrance(parts: Sequence[Table]) -> str | None:
    """Why no ratio can be learnt from these real parts, or None."""
    count = aligned(parts)
    if len(parts) == 1:
        return "a single part has nothing to be joined with"
    if count < LEAST_ROWS:
        return f"{count} real rows are too few to learn from (it takes {LEAST_ROWS})"
    telling = sum(len(basis.owner) > 0 for basis in bases(parts))
    if telling < 2:
        return f"{telling} of {len(parts)} parts have anything that varies and could be learnt from"
    return None


@dataclass(frozen=True)
class _Answers:
    """``margins`` (pairs, parts): the score of two real rows less that of the two with one part exchanged.

    ``first`` and ``second`` are the rows of each pair; ``lift`` is the mean score of real rows less that at random.
    """

    margins: Floats
    first: Integers
    second: Integers
    lift: float

    def slope(self) -> float:
        return _slope(self.margins)


@dataclass(frozen=True)
class _Problem:
    """Features of all parts (rows, features of part), and the column that each feature describes."""

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

    def fitted(self, rows: Integers, penalties: Sequence[float], seed: Seed) -> dict[float, Weights]:
        """The weights under each penalty, from ``rows`` alone."""
        first, second = _pairings(rows, _count(40_000, len(rows), 2, 8), seed.child("pairs"))
        differences = [block[first] - block[second] for block in self.features]
        even: Weights = {
            (i, j): np.full((differences[i].shape[1], differences[j].shape[1]), RIDGE, np.float32)
            for i, j in self.pairs
        }
        start = _solved(differences, even, None, len(rows) / 2)
        found = {}
        for penalty in penalties:
            weights = start
            for _ in range(ROUNDS):
                weights = _solved(differences, self._reweighted(weights, penalty), weights, len(rows) / 2)
            found[penalty] = weights
        return found

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

    def answers(self, rows: Integers, weights: Weights, seed: Seed) -> _Answers:
        first, second = _pairings(rows, _count(100_000, len(rows), 4, 20), seed.child("pairs"))
        differences = [block[first] - block[second] for block in self.features]
        order = orders(len(rows), len(self.features), seed.child("random"))
        real, random = (
            sum(
                float(np.einsum("kp,pq,kq->", self.features[i][a], matrix, self.features[j][b], optimize=True))
                for (i, j), matrix in weights.items()
                for a, b in [(at[i], at[j])]
            )
            for at in ([rows] * len(self.features), [rows[each] for each in order])
        )
        return _Answers(_margins(differences, weights), first, second, (real - random) / max(len(rows), 1))


def _count(wanted: int, rows: int, least: int, most: int) -> int:
    return min(max(wanted // max(rows, 1), least), most)


def _pairings(rows: Integers, count: int, seed: Seed) -> tuple[Integers, Integers]:
    """``count`` times all ``rows`` in pairs at random (one is left out of an odd number)."""
    random, half = seed.generator(), len(rows) // 2
    shuffled = [random.permutation(rows)[: 2 * half].reshape(2, half) for _ in range(count)]
    first, second = np.concatenate(shuffled, axis=1)
    return first, second


def _margins(differences: Sequence[Features], weights: Weights) -> Floats:
    """Shape (pairs, parts), each part exchanged in turn; of two parts it does not matter which one is."""
    margins = np.zeros((len(differences[0]), len(differences)))
    for (i, j), matrix in weights.items():
        score = np.einsum("kq,kq->k", differences[i] @ matrix, differences[j])
        margins[:, i] += score
        margins[:, j] += score
    return margins


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
        margins = _margins(differences, unpacked(vector))
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


def _slope(margins: Floats) -> float:
    """The factor between 0 and ``STEEPEST`` by which margins are best multiplied: the loss is convex in it."""
    low, high = 0.0, STEEPEST
    for _ in range(40):
        middle = (low + high) / 2
        falling = np.mean(margins / (1 + np.exp(np.clip(middle * margins, -50, 50)))) > 0
        low, high = (middle, high) if falling else (low, middle)
    return low


def _quality(penalty: float, answers: Sequence[_Answers], rows: int) -> Quality:
    """Each fold's loss with the slope of the other folds; a row's gain is the mean over the pairs that it stands in."""
    gain, seen, losses = np.zeros(rows), np.zeros(rows), []
    for number, here in enumerate(answers):
        others = [each.margins for at, each in enumerate(answers) if at != number]
        loss = np.logaddexp(0, -_slope(np.concatenate(others)) * here.margins).mean(axis=1)
        for side in (here.first, here.second):
            gain += np.bincount(side, log(2) - loss, minlength=rows)
            seen += np.bincount(side, minlength=rows)
        losses.append(loss)
    by_row = gain[seen > 0] / seen[seen > 0]
    margins = np.concatenate([each.margins for each in answers])
    slope = _slope(margins)
    return Quality(
        log_loss=float(np.concatenate(losses).mean()),
        log_loss_error=float(2 * by_row.std() / np.sqrt(len(by_row))),
        agreement=float((margins > 0).mean() + (margins == 0).mean() / 2),
        slope=slope,
        score_real=slope * float(np.mean([each.lift for each in answers])),
        penalty=penalty,
        rows=rows,
    )


def _factored(features: Sequence[Features], weights: Weights, slope: float) -> Weights:
    """For both orders of each pair the matrix from features to its side of the score, of as few dimensions as keep
    ``KEPT`` of the score's variance between independent rows.
    """
    factors = {
        (i, j): np.zeros((features[i].shape[1], 0), np.float32) for i, j in permutations(range(len(features)), 2)
    }
    roots = {part: _roots(features[part]) for pair in weights for part in pair}
    for (i, j), matrix in weights.items():
        left, sizes, right = np.linalg.svd(roots[i][0].T @ (slope * matrix.astype(np.float64)) @ roots[j][0])
        kept = int(np.searchsorted(np.cumsum(sizes**2), KEPT * np.sum(sizes**2))) + 1 if sizes.any() else 0
        middle = np.sqrt(sizes[:kept])
        factors[i, j] = (roots[i][1] @ left[:, :kept] * middle).astype(np.float32)
        factors[j, i] = (roots[j][1] @ right[:kept].T * middle).astype(np.float32)
    return factors


def _roots(features: Features) -> tuple[Floats, Floats]:
    """R and its inverse transposed, where R R' is the covariance of the features, kept off zero."""
    values, axes = np.linalg.eigh(np.atleast_2d(np.cov(features.astype(np.float64), rowvar=False)))
    root = np.sqrt(np.maximum(values, 1e-4 * max(float(values.max()), 1e-12)))
    return axes * root, axes / root
