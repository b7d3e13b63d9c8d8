"""What is known of a score from rows that it was not learnt from: of two real rows and the same two rows with one part
exchanged, which pair is real? The chance of that is the logistic function of the margin, the difference of scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from models.embedding import Embedded
from models.pairing import orders
from models.randomness import Seed
from models.table import Floats, Integers

STEEPEST = 20.0
"""Scores are stretched at most so much: strong penalties shrink them, and held-out rows tell by how much."""


@dataclass(frozen=True)
class Quality:
    """What is known of rows that were not seen.

    ``log_loss`` is that of "which of the two pairs is real", in nats, each row judged by weights fitted on other rows
    and stretched by a ``slope`` found on yet others; answering 0.5 every time costs ``log_loss_constant``.
    ``log_loss_error`` is the standard error of their difference. ``agreement`` is the share of right answers. ``slope``
    is the calibration: what the scores of this penalty have to be multiplied with. ``score_real`` is the mean
    calibrated score of real rows less that of rows joined at random, which a good join reaches. ``penalty`` and
    ``reweighted`` (how often) are those of the weights, and ``trees`` is how many bend each side.
    """

    log_loss: float
    log_loss_error: float
    agreement: float
    slope: float
    score_real: float
    penalty: float
    reweighted: int
    rows: int
    trees: int = 0
    log_loss_constant: float = log(2)

    @property
    def informed(self) -> bool:
        """Whether answers beat the constant by more than two standard errors."""
        return self.slope > 0 and self.log_loss + 2 * self.log_loss_error < self.log_loss_constant


@dataclass(frozen=True)
class Answers:
    """``margins``, shape (pairs, parts), of the rows ``first`` and ``second`` with each part exchanged in turn.

    ``lift`` is the mean score of the rows as they stand less that of rows joined at random.
    """

    margins: Floats
    first: Integers
    second: Integers
    lift: float

    @classmethod
    def of(cls, embedded: Embedded, rows: Integers, seed: Seed) -> Answers:
        first, second = pairings(rows, wanted(50_000, len(rows), 2, 10), seed.child("pairs"))
        random = [rows[order] for order in orders(len(rows), embedded.parts, seed.child("random"))]
        real = embedded.scores([rows] * embedded.parts)
        lift = float((real - embedded.scores(random)).sum() / max(len(rows), 1))
        return cls(embedded.margins(first, second), first, second, lift)


def wanted(pairs: int, rows: int, least: int, most: int) -> int:
    """How often all ``rows`` are paired to have about so many pairs."""
    return min(max(pairs // max(rows, 1), least), most)


def pairings(rows: Integers, count: int, seed: Seed) -> tuple[Integers, Integers]:
    """``count`` times all ``rows`` in pairs at random (one is left out of an odd number)."""
    random, half = seed.generator(), len(rows) // 2
    shuffled = [random.permutation(rows)[: 2 * half].reshape(2, half) for _ in range(count)]
    first, second = np.concatenate(shuffled, axis=1)
    return first, second


def quality(answers: Sequence[Answers], penalty: float, reweighted: int, rows: int, trees: int = 0) -> Quality:
    """From the answers in each fold, for a score that was learnt anew for each."""
    found = losses(answers)
    margins = np.concatenate([each.margins for each in answers])
    slope = slope_of(margins)
    return Quality(
        log_loss=float(np.concatenate(found).mean()),
        log_loss_error=_error(_by_row(answers, found)),
        agreement=float((margins > 0).mean() + (margins == 0).mean() / 2),
        slope=slope,
        score_real=slope * float(np.mean([each.lift for each in answers])),
        penalty=penalty,
        reweighted=reweighted,
        rows=rows,
        trees=trees,
    )


def losses(answers: Sequence[Answers]) -> list[Floats]:
    """By fold and pair, with the slope of the other folds, or with its own where there is none."""
    found = []
    for number, here in enumerate(answers):
        others = [each.margins for at, each in enumerate(answers) if at != number] or [here.margins]
        found.append(np.logaddexp(0, -slope_of(np.concatenate(others)) * here.margins).mean(axis=1))
    return found


def gained(before: Sequence[Answers], after: Sequence[Answers]) -> tuple[float, float]:
    """By how much the loss falls from one set of answers to another about the same pairs, and its standard error."""
    fallen = [one - other for one, other in zip(losses(before), losses(after), strict=True)]
    return float(np.concatenate(fallen).mean()), _error(_by_row(before, fallen))


def slope_of(margins: Floats) -> float:
    """The factor between 0 and ``STEEPEST`` by which margins are best multiplied: the loss is convex in it.

    Newton's steps from 0 on, where the loss bends most: they do not go too far.
    """
    slope = 0.0
    for _ in range(12):
        wrong = 1 / (1 + np.exp(np.clip(slope * margins, -50, 50)))
        step = float(np.mean(wrong * margins) / max(float(np.mean(wrong * (1 - wrong) * margins**2)), 1e-12))
        slope = min(max(slope + step, 0.0), STEEPEST)
        if abs(step) < 1e-4 * slope or slope in (0.0, STEEPEST):
            break
    return slope


def _by_row(answers: Sequence[Answers], figures: Sequence[Floats]) -> Floats:
    """The mean of ``figures`` (by fold and pair) over the pairs that a row stands in."""
    sides = np.concatenate([side for each in answers for side in (each.first, each.second)])
    shared = np.concatenate([figure for figure in figures for _ in range(2)])
    seen = np.bincount(sides)
    return np.asarray(np.bincount(sides, shared)[seen > 0] / seen[seen > 0])


def _error(by_row: Floats) -> float:
    """The standard error of a mean over pairs, each of which two rows share."""
    return float(2 * by_row.std() / np.sqrt(len(by_row)))
