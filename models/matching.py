"""Metropolis on a matching: which row of each part stands beside which, by exchanging two rows of one part at a time.

Every row is used exactly once at every moment, so each part keeps its rows whatever the scores. An exchange that lifts
the joint score by d is accepted with probability min(1, exp(beta d)): the chain's equilibrium is the matchings in
proportion to exp(beta score). All exchanges of a sweep concern different rows and are made at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.embedding import Embedded
from models.randomness import Seed
from models.table import Booleans, Floats, Integers

FIRST_LOOK, EVERY = 100, 50
"""Sweeps before convergence is first looked at, and from one look to the next."""

STATIONARY = 1.1
"""The split-chain statistic below which the trace of scores counts as level (Gelman et al., BDA3, 2013, 11.4)."""


@dataclass(frozen=True)
class Matching:
    """``rows[j][k]`` is the row of part j in joined row k. ``score`` and ``acceptance`` have one entry per sweep.

    ``score`` is the mean over joined rows, less that of the random order at the start.
    """

    rows: Sequence[Integers]
    score: Floats
    acceptance: Floats

    @property
    def sweeps(self) -> int:
        return len(self.score)

    @property
    def split_r_hat(self) -> float:
        return split_r_hat(self.score)

    @property
    def converged(self) -> bool:
        return self.split_r_hat < STATIONARY


def matching(embedded: Embedded, beta: float, sweeps: int, seed: Seed) -> Matching:
    """From the rows in the order in which they stand, until converged or for ``sweeps`` sweeps.

    One sweep proposes one exchange for every row of every part but the first. Rows should stand in a random order.
    """
    count, random = len(embedded.own[0]), seed.generator()
    rows = [np.arange(count) for _ in range(embedded.parts)]
    scores: list[float] = [0.0]
    accepted: list[float] = []
    while len(accepted) < sweeps:
        gain, moves = 0.0, 0
        for part in range(1, embedded.parts):
            order = random.permutation(count)[: count // 2 * 2].reshape(2, -1)
            lift = _lift(embedded, part, rows, order)
            accept = beta * lift > -random.exponential(size=len(lift))
            _exchange(rows[part], order, accept)
            gain, moves = gain + float(lift[accept].sum()), moves + int(accept.sum())
        scores.append(scores[-1] + gain / max(count, 1))
        accepted.append(moves / max(count // 2 * (embedded.parts - 1), 1))
        look = len(accepted) >= FIRST_LOOK and len(accepted) % EVERY == 0
        if look and split_r_hat(np.array(scores[1:])) < STATIONARY:
            break
    return Matching(rows, np.array(scores[1:]), np.array(accepted))


def _lift(embedded: Embedded, part: int, rows: Sequence[Integers], order: Integers) -> Floats:
    """By how much the joint score rises when the joined rows ``order`` (2, pairs) exchange their row of ``part``."""
    own, (first, second) = embedded.own[part], order
    here, there = (embedded.others(part, [each[place] for each in rows]) for place in (first, second))
    difference = own[rows[part][first]] - own[rows[part][second]]
    return np.asarray(np.einsum("kd,kd->k", difference, there - here), dtype=np.float64)


def _exchange(rows: Integers, order: Integers, accept: Booleans) -> None:
    first, second = order[:, accept]
    rows[first], rows[second] = rows[second], rows[first]


def split_r_hat(trace: Floats) -> float:
    """How far the last half of a trace is from level: its two halves are compared as if they were chains of their own.

    1 where they have the same mean, and about 1 + drift squared over the variance within them. A trace that does not
    move at all, and one of fewer than eight sweeps, are taken as what they look like: 1 and infinite.
    """
    length = len(trace) // 4
    if length < 2:
        return float("inf")
    halves = trace[-2 * length :].reshape(2, length)
    within, between = halves.var(axis=1, ddof=1).mean(), halves.mean(axis=1).var(ddof=1)
    if within <= 1e-24:
        return 1.0 if between <= 1e-24 else float("inf")
    return float(np.sqrt((length - 1) / length + between / within))
