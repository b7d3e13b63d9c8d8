"""Estimates with 95 % intervals: shares, mean counts, and how well a score tells two groups apart."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from models.finding import Interval
from models.table import Floats

Z = 1.959963984540054
"""The 97.5 % point of the normal distribution."""


@dataclass(frozen=True)
class Estimate:
    value: float
    interval: Interval


def share(successes: int, n: int) -> Estimate:
    """A share of ``n`` independent trials, with Wilson's interval (J. Am. Stat. Assoc. 22, 1927)."""
    p, square = successes / n, Z * Z / n
    middle = (p + square / 2) / (1 + square)
    half = Z * sqrt(p * (1 - p) / n + square / (4 * n)) / (1 + square)
    low, high = middle - half if successes else 0.0, middle + half if successes < n else 1.0
    return Estimate(p, Interval(low=low, high=high))


def mean_count(counts: Floats) -> Estimate:
    """The mean of counts per record, with the score interval of a Poisson mean, widened where counts are clustered.

    The spread is at least Poisson's, so that a handful of zeros does not look certain.
    """
    n, total = len(counts), float(counts.sum())
    clustering = max(1.0, float(counts.var(ddof=1)) * n / total) if total > 0 and n > 1 else 1.0
    square = clustering * Z * Z
    middle, half = total + square / 2, sqrt(square * (total + square / 4))
    return Estimate(total / n, Interval(low=(middle - half) / n if total else 0.0, high=(middle + half) / n))


def excess(counts: Floats, control: Estimate, scale: float) -> Estimate:
    """``scale`` times the mean of ``counts`` beyond ``control``, with Newcombe's interval (Stat. Med. 17, 1998).

    ``control`` is scaled already.

    NOTE[DIFF]: the counts' own share of the interval is Wald's, not Wilson's: they were counted in full, so that no
    copy at all is no copy and not "perhaps a few".
    """
    value = float(counts.mean()) * scale
    half = Z * scale * sqrt(float(counts.var()) / len(counts))
    over, under = control.interval.high - control.value, control.value - control.interval.low
    beyond = value - control.value
    return Estimate(beyond, Interval(low=beyond - sqrt(half**2 + over**2), high=beyond + sqrt(half**2 + under**2)))


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
