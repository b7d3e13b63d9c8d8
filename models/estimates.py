"""Estimates with 95 % intervals: shares, mean counts, and how well a score tells two groups apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, floor, hypot, log, sqrt

import numpy as np

from models.finding import Interval
from models.table import Floats

Z = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


@dataclass(frozen=True)
class Estimate:
    value: float
    interval: Interval


def share(successes: float, n: int) -> Estimate:
    """A share of ``n`` independent trials, with Wilson's interval (J. Am. Stat. Assoc. 22, 1927)."""
    p, square = successes / n, Z * Z / n
    middle = (p + square / 2) / (1 + square)
    half = Z * sqrt(p * (1 - p) / n + square / (4 * n)) / (1 + square)
    low, high = middle - half if successes else 0.0, middle + half if successes < n else 1.0
    return Estimate(p, Interval(low=low, high=high))


def mean_count(counts: Floats, clustering: float = 1.0) -> Estimate:
    """The mean of counts per record, with the score interval of a Poisson mean, widened where counts are clustered.

    The spread is at least Poisson's, so that a handful of zeros does not look certain. ``clustering`` is how many times
    Poisson's variance theirs is at least.
    """
    n, total = len(counts), float(counts.sum())
    square = max(clustering, clustered(counts)) * Z * Z
    middle, half = total + square / 2, sqrt(square * (total + square / 4))
    return Estimate(total / n, Interval(low=(middle - half) / n if total else 0.0, high=(middle + half) / n))


def clustered(counts: Floats) -> float:
    """How many times Poisson's variance that of counts is; at least 1."""
    total = float(counts.sum())
    return max(1.0, float(counts.var(ddof=1)) * len(counts) / total) if total > 0 and len(counts) > 1 else 1.0


def excess(counts: Floats, control: Estimate, scale: float, *, facts: bool = False) -> Estimate:
    """``scale`` times the mean of ``counts`` beyond ``control``, which is scaled already.

    NOTE[DIFF]: the interval is put together as Newcombe's for a difference of two rates (Stat. Med. 17, 1998), but the
    counts' own share of it is another one at either end. Below stands what chance alone may bring about: so many
    counts as the control has, with the spread that such counts have, clusters considered. Ten copies where the control
    has none are no accident, although a mean of ten copies in 2,000 rows is known badly. Above stands Wald's, not
    Wilson's: copies were counted in full, so that no copy at all is no copy and not "perhaps a few". Where the counts
    are ``facts`` about the very rows that would be released, and stand for nothing else, they have no share at all.
    """
    value, expected = float(counts.mean()) * scale, control.value / scale
    by_chance = expected * clustered(counts)
    if counts.max() <= 1:  # shares, whose spread is greatest at one half
        by_chance = min(expected, 0.5) * (1 - min(expected, 0.5))
    own = 0.0 if facts else float(counts.var())
    under, over = (Z * scale * sqrt(variance / len(counts)) for variance in (by_chance, own))
    low, high = control.value - control.interval.low, control.interval.high - control.value
    beyond = value - control.value
    return Estimate(beyond, Interval(low=beyond - sqrt(under**2 + high**2), high=beyond + sqrt(over**2 + low**2)))


def spread(rate: float) -> float:
    """The standard deviation of a match that happens at this rate."""
    return sqrt(min(rate, 1.0) * (1.0 - min(rate, 1.0)))


def difference(one: Estimate, other: Estimate) -> Estimate:
    """``one`` beyond ``other``, both independent, with Newcombe's interval (Stat. Med. 17, 1998)."""
    beyond = one.value - other.value
    under = hypot(one.value - one.interval.low, other.interval.high - other.value)
    over = hypot(one.interval.high - one.value, other.value - other.interval.low)
    return Estimate(beyond, Interval(low=beyond - under, high=beyond + over))


def scaled(estimate: Estimate, factor: float) -> Estimate:
    low, high = estimate.interval.low, estimate.interval.high
    return Estimate(estimate.value * factor, Interval(low=low * factor, high=high * factor))


def auc(positives: Floats, negatives: Floats) -> Estimate:
    """The chance that a positive's score exceeds a negative's, ties counting one half; both groups not empty.

    The variance is DeLong's (Biometrics 44, 1988) and never below that of the Mann-Whitney statistic under no
    difference, ties considered, so that a small or a perfectly sorted sample does not look certain.
    """
    m, n = len(positives), len(negatives)
    ranks = _midranks(np.concatenate([positives, negatives]))
    above = (ranks[:m] - _midranks(positives)) / n
    below = 1.0 - (ranks[m:] - _midranks(negatives)) / m
    value = float(above.mean())
    delong = (float(above.var(ddof=1)) / m if m > 1 else 0.0) + (float(below.var(ddof=1)) / n if n > 1 else 0.0)
    half = Z * sqrt(max(delong, _null_variance(ranks, m, n)))
    return Estimate(value, Interval(low=max(0.0, value - half), high=min(1.0, value + half)))


def recall(positives: Floats, negatives: Floats, rate: float) -> Estimate:
    """The share of ``positives`` with a score that a share ``rate`` of negatives reaches at most.

    A negative of the same score reaches it, so among equal scores nobody is found. Where the two do not differ, the
    share is not more than ``rate`` on average (a conformal test). There are at least 1 / rate negatives. The interval
    puts together Wilson's and the chance in the threshold, which a Poisson number of negatives decides.
    """
    reached = len(negatives) - np.searchsorted(np.sort(negatives), positives, side="left")

    def within(negatives: float) -> Estimate:
        return share(int((reached < floor(negatives)).sum()), len(positives))

    allowed = rate * (len(negatives) + 1)
    middle, half = allowed + Z * Z / 2, Z * sqrt(allowed + Z * Z / 4)
    at, strict, lax = within(allowed), within(middle - half).value, within(middle + half).value
    low = hypot(at.value - at.interval.low, at.value - strict)
    high = hypot(at.interval.high - at.value, lax - at.value)
    return Estimate(at.value, Interval(low=max(0.0, at.value - low), high=min(1.0, at.value + high)))


def leaning(known: Floats, unseen: Floats) -> Estimate:
    """r / (1 + r), r the mean of ``known`` over that of ``unseen``: 0.5 where both receive alike, 1 where one does.

    The interval is that of log r by the delta method, over all who receive. Both have two values at least.
    """
    (one, one_variance), (other, other_variance) = _log_mean(known), _log_mean(unseen)
    middle, half = one - other, Z * sqrt(one_variance + other_variance)
    return Estimate(_logistic(middle), Interval(low=_logistic(middle - half), high=_logistic(middle + half)))


def turned(estimate: Estimate) -> Estimate:
    """What is left to 1."""
    return Estimate(1 - estimate.value, Interval(low=1 - estimate.interval.high, high=1 - estimate.interval.low))


def _log_mean(received: Floats) -> tuple[float, float]:
    """The logarithm of the mean, half a unit added in all so that it is finite, and its variance; one unit is added to
    that of the sum, so that a handful of zeros does not look certain.
    """
    total = float(received.sum()) + 0.5
    return log(total / len(received)), (len(received) * float(received.var(ddof=1)) + 1.0) / total**2


def _logistic(x: float) -> float:
    return 1 / (1 + exp(-x))


def _midranks(scores: Floats) -> Floats:
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray(last - (counts - 1) / 2, dtype=np.float64)[inverse]


def _null_variance(ranks: Floats, m: int, n: int) -> float:
    """Of the AUC when both groups are drawn from the same scores; 0 when all scores are equal."""
    together = m + n
    _, ties = np.unique(ranks, return_counts=True)
    tied = float(np.sum(ties.astype(np.float64) ** 3 - ties)) / (together * (together - 1))
    return (together + 1 - tied) / (12 * m * n)
