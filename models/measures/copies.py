"""Exact and near copies of training people, beyond what chance brings about, of whole rows, by part and by cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from models.estimates import Estimate, clustered, excess, mean_count, scaled, share, spread
from models.evidence import NO_CLUSTER, WHOLE, Closeness, Crowd, Evidence, lacking, place
from models.finding import Finding, Group, Unit
from models.measures import Measure
from models.randomness import Seed
from models.schema import Frozen
from models.table import Booleans, Floats
from models.twins import Keys, copies, row_keys

SOURCE = (
    "Project policy: no official body gives a figure for copies in synthetic tables. A copy counts where the real row "
    "is unique, as in the replicated uniques of statistical disclosure control."
)
EXACT = "How many synthetic rows are, cell by cell, the row of one training person, beyond chance?"
NEAR = "How many training people have a synthetic row as close to them as hardly any stranger is, beyond chance?"
UNDECIDED = "without held-out rows nothing tells a near copy from a chance match"
SHARED = "not gated: in these columns so many people are alike that even a copy of all of them would tell little of any"

ALL = slice(None)


class Ceilings(Frozen):
    """Limits as shares of rows or people; null reports without gating."""

    exact: float | None = Field(default=None, ge=0, le=1)
    near: float | None = Field(default=None, ge=0, le=1)


class Copies(Measure):
    """Copies of training people.

    *Exact*, counted on all rows: the share of synthetic rows that equal, in all columns of the view, a training row
    that is unique among all real rows. Control: the same for held-out rows, times the ratio of the two sets' sizes.
    Without held-out rows the control is the chance that a new person equals a training person who is unique, which the
    rows that occur twice tell (Good, Biometrika 40, 1953); it holds for a release that is as varied as people are.

    *Near*: the share of training people who have a synthetic row at most as far away as the nearest 1 % of held-out
    people (``quantile``) are from a training person. Control: the same share of held-out people. Where the release
    has fewer rows than the training table, both shares are multiplied by the ratio, so that they count against the
    rows that were released.

    These controls are the chance rate of any synthetic table that was made without the held-out rows, whichever real
    rows it resembles most. NOTE[DIFF]: the usual control puts held-out rows in the place of the synthetic ones. Its
    rate is the chance rate only for a perfect generator; one that prefers typical rows comes closer to everybody, and
    would fail.

    With a control rate c, ``tolerance`` standard deviations of one match, sqrt(c (1 - c)), are added to the limits:
    where many strangers match by chance (a part of few columns), a match tells little about anybody, and a difference
    is harder to see: so much as about 1,000 held-out people can resolve. The default limits, 0.1 and 0.5
    percentage points for whole rows and 1 for parts, are project policy. Exact copies are facts about the release: one
    without any is certain to have none. Parts in which a copy of all training rows would stay within the limit are
    reported without gating.

    Where rows were divided into clusters, both are told of the people of each cluster, whole rows, with the threshold
    of near copies that all have; a share is then one of as many released rows as the cluster has people. They have
    limits only where ``clusters`` gives some: a generator that copies its cluster, which has 5 % of all people at
    least, is found by the limits for all of them, while in a small cluster too few are held out to pass anything, so
    that by default honest releases would be withheld.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "trusted-partner": {"whole": {"exact": 0.002, "near": 0.01}, "parts": {"exact": 0.02, "near": 0.02}},
        "internal": {"whole": {"exact": 0.01, "near": 0.02}, "parts": {"exact": 0.05, "near": 0.05}},
    }

    kind: Literal["copies"] = "copies"
    whole: Ceilings = Ceilings(exact=0.001, near=0.005)
    parts: Ceilings = Ceilings(exact=0.01, near=0.01)
    clusters: dict[str, Ceilings] = Field(
        default_factory=dict, description="limits for the people of a cluster of rows, by its name"
    )
    tolerance: float = Field(default=0.15, ge=0, le=1, description="standard deviations of a match, added to limits")
    quantile: float = Field(default=0.01, gt=0, lt=1, description="share of held-out people who count as near")

    @property
    def limited(self) -> tuple[str, ...]:
        return tuple(self.clusters)

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        found = tuple(finding for view in evidence.views for finding in self._of_view(evidence, view))
        return (*found, *self._of_clusters(evidence), *self._not_found(evidence))

    def _of_view(self, evidence: Evidence, view: str) -> tuple[Finding, Finding]:
        limits, columns = self.parts if view else self.whole, evidence.views[view]
        train, holdout, synthetic = (
            row_keys(table.select(columns)) for table in (evidence.train, evidence.holdout, evidence.synthetic)
        )
        ratio = len(train) / len(synthetic)
        exact, near = _exact(train, holdout, synthetic, ratio), self._near(evidence.closeness[view], max(1.0, ratio))
        return (
            self._finding("Exact copies", EXACT, exact, view, limits.exact),
            self._finding("Near copies", NEAR, near, view, limits.near),
        )

    def _of_clusters(self, evidence: Evidence) -> Iterator[Finding]:
        if not evidence.clusters:
            return
        train, holdout, synthetic = (row_keys(t) for t in (evidence.train, evidence.holdout, evidence.synthetic))
        ratio, closeness = len(evidence.train) / len(evidence.synthetic), evidence.closeness[WHOLE]
        counts, planted = copies(train, holdout, synthetic), copies(train, holdout, train)[0]
        asked, unseen = (evidence.asked_rows(table) for table in (evidence.train, evidence.holdout))
        for crowd in evidence.clusters:
            exact = _exact_in(crowd, counts, planted, ratio)
            near = self._near(closeness, max(1.0, ratio), crowd.train[asked], crowd.holdout[unseen])
            limits = self.clusters.get(crowd.name, Ceilings())
            yield self._finding("Exact copies", EXACT, exact, crowd.name, limits.exact)
            yield self._finding("Near copies", NEAR, near, crowd.name, limits.near)

    def _not_found(self, evidence: Evidence) -> Iterator[Finding]:
        """A limit for a cluster that there is not is one that nothing keeps."""
        for name in lacking(self.clusters, evidence):
            nobody, limits = _Matches(np.zeros(1), None, 1.0, planted=None, n=0), self.clusters[name]
            yield self._finding("Exact copies", EXACT, nobody, name, limits.exact, NO_CLUSTER)
            yield self._finding("Near copies", NEAR, nobody, name, limits.near, NO_CLUSTER)

    def _near(
        self, closeness: Closeness, scale: float, among: Booleans | slice = ALL, control: Booleans | slice = ALL
    ) -> _Matches:
        """Near copies of the people ``among`` those who are asked, with the ``control`` among held-out people."""
        strangers, train, holdout = closeness.strangers, closeness.train[among], closeness.holdout[control]
        if not len(train) or not len(holdout):
            return _Matches(np.zeros(1), None, scale, planted=None, n=len(holdout))
        near = float(np.quantile(strangers, self.quantile, method="inverted_cdf"))
        unseen = share(int(np.count_nonzero(holdout <= near)), len(holdout))
        matches = (train <= near).astype(np.float64)
        planted = 1.0 - float(np.count_nonzero(strangers[control] <= near)) / len(holdout)
        return _Matches(matches, scaled(unseen, scale), scale, planted, len(holdout))

    def _finding(
        self, name: str, question: str, found: _Matches, where: str, limit: float | None, unknown: str = UNDECIDED
    ) -> Finding:
        chance, beyond = found.chance, found.beyond
        if limit is not None and chance is not None:
            limit += self.tolerance * spread(chance.value)
        shared = bool(where) and limit is not None and found.planted is not None and found.planted <= limit
        return Finding(
            measure=self.kind,
            name=name,
            question=question,
            group=Group.SINGLING_OUT,
            unit=Unit.SHARE,
            estimate=beyond.value if beyond else None,
            interval=beyond.interval if beyond else None,
            observed=float(found.counts.mean()) * found.scale if beyond else None,
            control=chance.value if chance else None,
            n=found.n,
            limit=None if shared else limit,
            planted=found.planted,
            where=place(where),
            reason=SHARED if shared else "" if beyond else unknown,
            source=SOURCE,
        )


@dataclass(frozen=True, eq=False)
class _Matches:
    """``counts`` of each training person, whose mean times ``scale`` is the rate; ``chance``, scaled already, is the
    rate of people whom nothing has seen, known from ``n`` rows; ``planted`` is what a copy of the training table would
    give beyond chance. Equal rows are ``facts`` about the release; who counts as near depends on who was held out.
    """

    counts: Floats
    chance: Estimate | None
    scale: float
    planted: float | None
    n: int
    facts: bool = False

    @property
    def beyond(self) -> Estimate | None:
        return excess(self.counts, self.chance, self.scale, facts=self.facts) if self.chance else None


def _exact(train: Keys, holdout: Keys, synthetic: Keys, ratio: float) -> _Matches:
    counts, unseen = copies(train, holdout, synthetic)
    planted = float(copies(train, holdout, train)[0].mean())
    if len(holdout):
        chance = scaled(mean_count(unseen, clustered(counts)), ratio)
        return _Matches(counts, chance, ratio, planted, len(holdout), facts=True)
    chance = _seen_once_again(train)
    return _Matches(counts, chance, ratio, planted - chance.value, len(train), facts=True)


def _exact_in(crowd: Crowd, counts: tuple[Floats, Floats], planted: Floats, ratio: float) -> _Matches:
    """Exact copies of the people of a cluster, from the copies of all training people and of all held-out people."""
    known, unseen = counts[0][crowd.train], counts[1][crowd.holdout]
    if not len(known) or not len(unseen):
        return _Matches(np.zeros(1), None, ratio, planted=None, n=len(unseen), facts=True)
    chance = scaled(mean_count(unseen, clustered(known)), ratio)
    return _Matches(known, chance, ratio, float(planted[crowd.train].mean()), len(unseen), facts=True)


def _seen_once_again(train: Keys) -> Estimate:
    """The chance that a new person equals a training person who is unique: 2 / n times the rows that occur twice."""
    twice = int(np.count_nonzero(np.unique(train, return_counts=True)[1] == 2))
    return scaled(mean_count((np.arange(len(train)) < twice).astype(np.float64)), 2.0)
