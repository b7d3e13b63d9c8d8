"""How many levels that few people share a release shows by chance alone."""

from __future__ import annotations

from math import exp, lgamma, log

import numpy as np

from models.table import Booleans, Floats, Integers

CONCENTRATIONS = np.geomspace(0.02, 1000.0, 60)
"""Of the Dirichlet distribution that a column's levels may come from: from very uneven to even."""

LIKELY = 1.92
"""So much less than the greatest log likelihood is still likely (95 %, chi-square with one degree of freedom)."""

_log_gamma = np.frompyfunc(lgamma, 1, 1)


def foreseen(shown: Booleans, train: Integers, holdout: Integers, k: int, sizes: tuple[int, int]) -> float:
    """How many levels that the release shows, fewer than k training people have and no held-out person has, are to be
    expected; from the levels that held-out people do have.

    Arrays are by level; ``sizes`` are the numbers of training and of held-out people. Without a leak it is a matter of
    the split who was trained on: a level of c < k people has training people alone with chance q(c), hypergeometric,
    and one with a held-out person stands for q / (1 - q) without any. The sum over these is without bias (Horvitz and
    Thompson, J. Am. Stat. Assoc. 47, 1952).
    """
    together = train + holdout
    seen = shown & (holdout > 0) & (together < k)
    return float(_odds(together[seen], sizes).sum())


def _odds(together: Integers, sizes: tuple[int, int]) -> Floats:
    """q / (1 - q), q the chance that so many people drawn from both groups are all of the first."""
    first, both = sizes[0], sum(sizes)
    chance = np.ones(len(together))
    for drawn in range(int(together.max(initial=0))):
        chance = np.where(drawn < together, chance * max(first - drawn, 0) / max(both - drawn, 1), chance)
    return np.asarray(chance / np.maximum(1.0 - chance, 1.0 / max(both, 1)))


def unforeseen(counts: Integers, sizes: tuple[int, int, int]) -> float:
    """How likely a level that no held-out person has is in the training table and in the release, at most.

    ``counts`` are the held-out people by level, ``sizes`` the numbers of training people, held-out people and
    synthetic rows. Levels' shares are taken for a draw from a symmetric Dirichlet distribution that is likely to give
    such counts: where the levels are frequent alike, a rare one besides them is not to be expected; where they differ
    widely, it is. The largest chance over all likely concentrations is given; 1 where fewer than two levels are known.
    """
    known = counts[counts > 0]
    if len(known) < 2:
        return 1.0
    fit = _log_likelihood(known, CONCENTRATIONS)
    likely = CONCENTRATIONS[fit >= fit.max() - LIKELY]
    train, holdout, synthetic = sizes
    none, not_trained, not_shown, neither = (
        _untouched(rows, likely, len(known) + 1)
        for rows in (holdout, holdout + train, holdout + synthetic, holdout + train + synthetic)
    )
    return float(np.clip(none - not_trained - not_shown + neither, 0.0, 1.0).max())


def _log_likelihood(counts: Integers, concentrations: Floats) -> Floats:
    """Of the Dirichlet-multinomial distribution, up to a constant."""
    levels, rows = len(counts), int(counts.sum())
    total = _gamma(levels * concentrations) - _gamma(rows + levels * concentrations)
    for count, times in zip(*np.unique(counts, return_counts=True), strict=True):
        total = total + times * (_gamma(count + concentrations) - _gamma(concentrations))
    return np.asarray(total)


def _untouched(rows: int, concentrations: Floats, levels: int) -> Floats:
    """The chance that none of ``rows`` people has a given level."""
    others, all_levels = (levels - 1) * concentrations, levels * concentrations
    logarithm = _gamma(others + rows) - _gamma(all_levels + rows) + _gamma(all_levels) - _gamma(others)
    return np.asarray(np.exp(logarithm))


def _gamma(values: Floats) -> Floats:
    return np.asarray(_log_gamma(values), dtype=np.float64)


def surprise(observed: int, expected: float) -> float:
    """The chance of so many or more where as many of the same sort, ``expected``, were counted once already.

    The predictive distribution is negative binomial with mean ``expected`` and twice the variance of a Poisson one, so
    that the uncertainty of ``expected`` counts. 1 for what does not exceed the expectation.
    """
    if observed <= expected:
        return 1.0
    if expected == 0:
        return 0.0
    logarithm = lgamma(expected + observed) - lgamma(expected) - lgamma(observed + 1)
    term = exp(logarithm - (expected + observed) * log(2))
    total, count = 0.0, observed
    while term > 1e-17 * total:
        total += term
        term *= (expected + count) / (2 * (count + 1))
        count += 1
    return min(total, 1.0)


def allowed(expected: float, level: float) -> int:
    """The least number that chance alone exceeds with a chance of ``level`` at most."""
    most = int(expected)
    while surprise(most + 1, expected) > level:
        most += 1
    return most
