"""One picture of a release: HydraGAN's radar chart of conflicting aims (arXiv 2111.07015; doi 10.1145/3653982)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from models.finding import Finding

FEWEST = 3
"""Fewer axes span no area."""

DECIMALS = 2
"""The picture is no finer than that."""

LEARNABLE = 0.05
"""A target of which even real rows teach no more than this beyond a guess says nothing about a release."""


@dataclass(frozen=True)
class Radar:
    """A picture only: never gated, and its area is no verdict.

    ``scores`` are between 0 (worst) and 1 (best), one for each of ``axes``. ``area`` (AuRC) is the area of the polygon
    over that of a perfect one, averaged over all orders of the axes.
    """

    axes: tuple[str, ...]
    scores: tuple[float, ...]
    area: float


def chart(scores: Mapping[str, float]) -> Radar:
    """The radar of at least three named scores in [0, 1]; raises ValueError for fewer or others.

    The area of a polygon with n axes is half the sine of 1/n of a turn times the sum of the products of neighbouring
    scores. Over all orders of the axes every pair is a neighbour equally often, and divided by the perfect polygon's
    area, whose products are 1, the mean over orders is the mean product of two scores.

    NOTE[DIFF]: the paper's area depends on the order of the axes, and its code takes the sine of degrees as radians, so
    that a perfect chart of five axes has an area of 0.63 instead of 2.38. Here a perfect chart has 1.
    """
    if len(scores) < FEWEST or not all(0 <= score <= 1 for score in scores.values()):
        raise ValueError(f"a radar needs {FEWEST} scores or more, all between 0 and 1")
    products = [one * other for one, other in combinations(scores.values(), 2)]
    return Radar(
        tuple(scores),
        tuple(round(score, DECIMALS) for score in scores.values()),
        round(sum(products) / len(products), DECIMALS),
    )


def radar(findings: Sequence[Finding]) -> Radar | None:
    """The radar of an audit; an axis without findings is left out, and None where fewer than three are left.

    HydraGAN's five aims, each from the findings that ask the same:

    - *distributions* (its earth mover's distance): 1 less the mean distance of columns (``marginals``);
    - *realism* (its point-wise realism): how little a classifier tells rows apart, 2 - 2 AUC (``propensity``);
    - *privacy* (its re-identification): 2 - 2 AUC of the membership attack that goes best (``membership``);
    - *task* (its accuracy): the share of what models can learn beyond a guess that is kept, on average
      (``usefulness``);
    - *diversity*: 1 less the variety lost (``marginals``).

    Figures outside their range, such as a loss below 0, count as its end.
    """
    found = {axis: score(findings) for axis, score in AXES.items()}
    known = {axis: min(1.0, max(0.0, score)) for axis, score in found.items() if score is not None}
    return chart(known) if len(known) >= FEWEST else None


def _estimates(findings: Iterable[Finding], measure: str, name: str) -> list[float]:
    return [f.estimate for f in findings if f.estimate is not None and f.measure == measure and f.name == name]


def _less(measure: str, name: str) -> Callable[[Sequence[Finding]], float | None]:
    """1 less the finding's estimate."""

    def score(findings: Sequence[Finding]) -> float | None:
        found = _estimates(findings, measure, name)
        return 1 - found[0] if found else None

    return score


def _apart(measure: str, name: str) -> Callable[[Sequence[Finding]], float | None]:
    """1 at an AUC of one half, 0 at 1; the largest one counts."""

    def score(findings: Sequence[Finding]) -> float | None:
        found = _estimates(findings, measure, name)
        return 2 - 2 * max(found) if found else None

    return score


def _kept(findings: Sequence[Finding]) -> float | None:
    """1 where nothing is lost, 0 where models tell no more than a guess does."""
    kept = [
        min(1.0, max(0.0, 1 - finding.estimate / finding.baseline))
        for finding in findings
        if finding.measure == "usefulness" and finding.name.startswith("Prediction")
        if finding.estimate is not None and finding.baseline is not None and finding.baseline > LEARNABLE
    ]
    return sum(kept) / len(kept) if kept else None


AXES: Mapping[str, Callable[[Sequence[Finding]], float | None]] = {
    "distributions": _less("marginals", "Mean over columns"),
    "realism": _apart("propensity", "Told apart"),
    "privacy": _apart("membership", "Membership attack"),
    "task": _kept,
    "diversity": _less("marginals", "Variety lost"),
}
