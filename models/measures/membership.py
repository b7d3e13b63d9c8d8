"""Whether the release tells who was in the training data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from models.crediting import credited
from models.estimates import Estimate, auc, difference, leaning, recall, share
from models.evidence import NO_CLUSTER, WHOLE, Crowd, Evidence, lacking, place
from models.finding import Finding, Group, Interval, Unit
from models.measures import Measure
from models.neighbours import Space, nearest
from models.randomness import Seed
from models.table import Booleans, Floats, Table, stack
from models.twins import Keys, row_keys

SOURCE = (
    "Project policy: no official body gives a figure for membership attacks on synthetic tables. 0.5 is a coin's "
    "guess. Distances can miss what attacks that know the generator find (arXiv 2505.01524)."
)
PRECEDENT = (
    "0.09 is the chance of being re-identified that EMA Policy 0070 and Health Canada allow in public releases, taken "
    "for that of the people who are most exposed. The attack is project policy."
)
CLOSER = "Closer to training rows"
ATTACK, DISTANCE, RATIO = "Membership attack", "Attack by distance", "Attack by density ratio"
NAMED = "Members named at {} false alarms"
ISOLATED, TOLD = "Most isolated people", "Attack on the most isolated people"
QUESTIONS = {
    CLOSER: "Are synthetic rows closer to the people they were learned from than to people whom no model has seen?",
    ATTACK: "Can someone who knows a person's row tell from the release whether that person was in the training data?",
    DISTANCE: "Can they tell it from how near the nearest synthetic row is?",
    RATIO: "Can they tell it from how near the nearest synthetic row is, for somebody with so few others around?",
    ISOLATED: "How many of the most isolated people have a synthetic row beside them because they were trained on?",
    TOLD: "Can someone tell whether one of the most isolated people was in the training data?",
}
NAMES = "How many training people can an attack name if it may wrongly name {} of the others?"
SHARED = "not gated: in these columns so many people are alike that even a copy of all of them would give away nobody"
FEWEST = 20
"""Below so many rows on either side, intervals that lean on the normal distribution mean nothing."""
NAMED_FROM = {0.01: 100, 0.001: 10_000}
"""Rates of false alarms, and how many held-out people must be there to allow so few."""
COMPARED = 100
"""At least so many held-out people count as isolated, if there are so many."""
BLUR = 0.1
"""Added to distances, in columns, before their ratio is taken, so that a hair's breadth is no different from none."""
BESIDE = 0.4
"""A synthetic row is beside somebody who has nobody else, in half of all real rows, within 2.5 times its distance."""


class Membership(Measure):
    """Membership by nearness, on all training rows.

    *Closer to training rows*: each synthetic row credits the nearest of all real rows, those that are about as near in
    equal parts (``models.crediting``). With r the credit of an average training row over that of an average held-out
    one, the figure is r / (1 + r). It is 0.5 where the release was made without the held-out rows and copies nobody, as
    the labels "training" and "held out" could then be exchanged, and 1 where only training rows are credited; groups of
    any two sizes can be compared, without a subsample of the larger one. ``control``: the same where one random half of
    the held-out rows plays the release, against the training rows and the other half.

    *Membership attack*: how well a score tells training from held-out people (AUC, ties one half), the worse of two.
    *By distance*: the nearer the nearest synthetic row, the likelier a member. *By density ratio*: this distance
    against the one to the nearest of other real people, so that people in a crowd, who are near to something in any
    case, are not taken for members, and lonely ones are not overlooked (DOMIAS; van Breugel et al., AISTATS 2023, arXiv
    2302.12580). The reference is the random half of all real rows in which the person is not, so that every row is
    judged, and training and held-out people in the same way. NOTE[DIFF]: the ratio is that of distances to the nearest
    row, as no estimate of a density is of use among 15 mixed columns, and the reference counts with its square root,
    which told more in every planted leak that was tried. Everybody asks the same synthetic rows, so the sizes of the
    two groups do not matter. The attack is made on the whole row and on each part, since parts are learned apart; parts
    in which it would not even see a copy of the training table are reported without gating.

    *Members named*: averages hide a few who are exposed. The share of training people whom the density ratio ranks
    above all but 1 %, or 0.1 %, of held-out people; the latter takes 10,000 of them and is never gated.

    *Most isolated people*: the share of training people, among the 5 % of all real people (``isolated``) who are
    farthest from the others, with a synthetic row at 0.4 of that distance or less, minus the share of held-out people
    as isolated. Where there would be fewer than 100 of these, more people count as isolated.

    Where rows were divided into clusters, both the share and the attack are told of the people of each cluster, too: of
    those among the training and the held-out people that belong to it by one rule, against all synthetic rows, since an
    attacker does not know which cluster a row was drawn for. A generator that gives away the people of its cluster
    shows there most. They have a limit only where ``clusters`` gives one, for clusters that need more protection: to
    pass, each needs as many held-out people in the cluster as the whole does, so that by default most honest releases
    would be withheld. What decides about the others are the figures in which few people count as much wherever they
    are: ``named``, ``exposed``, and the limits of ``copies``.

    Limits of 0.55 are as little over a guess as about 400 held-out rows can show, and 3 % as about 700 can.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "trusted-partner": {"closer": 0.6, "attack": 0.6, "named": 0.05, "exposed": 0.2},
        "internal": {"closer": 0.65, "attack": 0.65, "named": 0.1, "exposed": 0.33},
    }

    kind: Literal["membership"] = "membership"
    closer: float | None = Field(default=0.55, ge=0.5, le=1, description="limit of the share; null reports only")
    attack: float | None = Field(default=0.55, ge=0.5, le=1, description="limit of the attack's AUC; null reports only")
    named: float | None = Field(default=0.03, ge=0, le=1, description="limit of members named at 1 % false alarms")
    exposed: float | None = Field(default=0.09, ge=0, le=1, description="limit for the most isolated people")
    isolated: float = Field(default=0.05, gt=0, le=1, description="share of all real people who count as isolated")
    clusters: dict[str, Annotated[float, Field(ge=0.5, le=1)]] = Field(
        default_factory=dict, description="limits of share and attack for the people of a cluster of rows, by its name"
    )

    @property
    def limited(self) -> tuple[str, ...]:
        return tuple(self.clusters)

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        if min(len(evidence.train), len(evidence.holdout)) < FEWEST:
            return self._unknown(evidence)
        attacks = {view: _attack(evidence, view, seed) for view in evidence.views}
        whole, planted = attacks[WHOLE]
        play, others = _halves(evidence.holdout, seed)
        return (
            self._closer(evidence, play, others),
            *(self._attacked(view, *attack) for view, attack in attacks.items()),
            self._finding(DISTANCE, whole.by_distance, n=len(whole.holdout.near), baseline=0.5),
            self._finding(RATIO, whole.by_ratio, n=len(whole.holdout.near), baseline=0.5),
            *(self._named(whole, planted, rate) for rate in NAMED_FROM),
            *self._isolated(whole, planted),
            *(finding for crowd in evidence.clusters for finding in self._of_cluster(evidence, crowd, whole, planted)),
            *self._not_found(evidence),
        )

    def _closer(self, evidence: Evidence, play: Table, others: Table) -> Finding:
        train, holdout = evidence.train, evidence.holdout
        usual = leaning(*credited(evidence.asked(play), train, others))
        return self._finding(
            CLOSER,
            leaning(*evidence.credits),
            n=len(holdout),
            control=usual.value,
            baseline=0.5,
            limit=self.closer,
            planted=_planted_share(row_keys(train), row_keys(holdout)),
        )

    def _attacked(self, view: str, attack: _Attack, planted: _Attack) -> Finding:
        copied = planted.worst.value
        shared = bool(view) and self.attack is not None and copied <= self.attack
        return self._finding(
            ATTACK,
            attack.worst,
            n=len(attack.holdout.near),
            baseline=0.5,
            limit=None if shared else self.attack,
            planted=copied,
            where=place(view),
            reason=SHARED if shared else "",
        )

    def _of_cluster(
        self, evidence: Evidence, crowd: Crowd, whole: _Attack, planted: _Attack
    ) -> tuple[Finding, Finding]:
        """Neither is known where too few people are in it."""
        asked = crowd.train[evidence.asked_rows(evidence.train)], crowd.holdout[evidence.asked_rows(evidence.holdout)]
        attack = whole.among(*asked)
        known = attack.people >= FEWEST
        said = {
            "n": len(attack.holdout.near),
            "baseline": 0.5,
            "limit": self.clusters.get(crowd.name),
            "where": crowd.name,
            "reason": "" if known else f"at least {FEWEST} training and held-out people are needed",
        }
        if not known:
            return self._finding(CLOSER, None, **said), self._finding(ATTACK, None, **said)
        credit, unseen = evidence.credits
        copied = _planted_share(
            row_keys(evidence.train.take(crowd.train)), row_keys(evidence.holdout.take(crowd.holdout))
        )
        return (
            self._finding(CLOSER, leaning(credit[crowd.train], unseen[crowd.holdout]), planted=copied, **said),
            self._finding(ATTACK, attack.worst, planted=planted.among(*asked).worst.value, **said),
        )

    def _not_found(self, evidence: Evidence) -> Iterator[Finding]:
        """A limit for a cluster that there is not is one that nothing keeps."""
        for name in lacking(self.clusters, evidence):
            for figure in (CLOSER, ATTACK):
                yield self._finding(figure, None, n=0, limit=self.clusters[name], where=name, reason=NO_CLUSTER)

    def _named(self, attack: _Attack, planted: _Attack, rate: float) -> Finding:
        n, least = len(attack.holdout.near), NAMED_FROM[rate]
        known = n >= least
        return self._finding(
            NAMED.format(_percent(rate)),
            attack.named(rate) if known else None,
            question=NAMES.format(_percent(rate)),
            unit=Unit.SHARE,
            n=n,
            baseline=rate,
            limit=self.named if rate == max(NAMED_FROM) else None,
            planted=planted.named(rate).value if known else None,
            reason="" if known else f"{n:,} held-out rows, and at least {least:,} are needed",
        )

    def _isolated(self, attack: _Attack, planted: _Attack) -> tuple[Finding, Finding]:
        least = attack.isolation(self.isolated)
        few, copied = attack.beyond(least), planted.beyond(least)
        n, known = len(few.holdout.near), min(len(few.train.near), len(few.holdout.near)) > 0
        reason = "" if known else "among training or held-out people, nobody is isolated"
        return (
            self._finding(
                ISOLATED,
                few.beside if known else None,
                unit=Unit.SHARE,
                observed=float(few.train.beside.mean()) if known else None,
                control=float(few.holdout.beside.mean()) if known else None,
                n=n,
                limit=self.exposed,
                planted=copied.beside.value if known else None,
                reason=reason,
                source=PRECEDENT,
            ),
            self._finding(TOLD, few.worst if known else None, n=n, baseline=0.5, reason=reason),
        )

    def _unknown(self, evidence: Evidence) -> tuple[Finding, ...]:
        rows = f"{len(evidence.train):,} training and {len(evidence.holdout):,} held-out rows"
        said = {"n": len(evidence.holdout), "reason": f"{rows}, and at least {FEWEST} of each are needed"}
        return (
            self._finding(CLOSER, None, limit=self.closer, **said),
            *(self._finding(ATTACK, None, limit=self.attack, where=place(view), **said) for view in evidence.views),
            self._finding(NAMED.format("1 %"), None, question=NAMES.format("1 %"), limit=self.named, **said),
            self._finding(ISOLATED, None, limit=self.exposed, **said),
            *(
                self._finding(figure, None, limit=limit, where=name, **said)
                for name, limit in self.clusters.items()
                for figure in (CLOSER, ATTACK)
            ),
        )

    def _finding(self, name: str, estimate: Estimate | None, **said: Any) -> Finding:
        figures = {"estimate": estimate.value, "interval": estimate.interval} if estimate else {"estimate": None}
        known = {"question": QUESTIONS.get(name), "group": Group.LINKING, "source": SOURCE}
        return Finding(measure=self.kind, name=name, **{**known, **figures, **said})


@dataclass(frozen=True, eq=False)
class _People:
    """How far people are from the nearest synthetic row, ``near``, and from the nearest of half the others, ``far``."""

    near: Floats
    far: Floats

    @property
    def ratio(self) -> Floats:
        scores: Floats = np.log(self.far + BLUR) / 2 - np.log(self.near + BLUR)
        return scores

    @property
    def beside(self) -> Booleans:
        """Who has a synthetic row beside them."""
        return self.near <= BESIDE * self.far

    def take(self, rows: Booleans) -> _People:
        return _People(self.near[rows], self.far[rows])


@dataclass(frozen=True, eq=False)
class _Attack:
    """What an attacker sees of training people and of held-out people."""

    train: _People
    holdout: _People

    @cached_property
    def by_distance(self) -> Estimate:
        return auc(-self.train.near, -self.holdout.near)

    @cached_property
    def by_ratio(self) -> Estimate:
        return auc(self.train.ratio, self.holdout.ratio)

    @cached_property
    def worst(self) -> Estimate:
        """The attack that tells more, but not known to tell less than the other may."""
        less, more = sorted((self.by_distance, self.by_ratio), key=lambda estimate: estimate.value)
        return Estimate(more.value, Interval(low=more.interval.low, high=max(less.interval.high, more.interval.high)))

    def named(self, rate: float) -> Estimate:
        return recall(self.train.ratio, self.holdout.ratio, rate)

    @property
    def beside(self) -> Estimate:
        """Training people beside whom a synthetic row is, beyond held-out people."""
        train, holdout = (share(int(people.beside.sum()), len(people.near)) for people in (self.train, self.holdout))
        return difference(train, holdout)

    def isolation(self, part: float) -> float:
        """How far the ``part`` of all people is from others that is farthest, COMPARED held-out people being among
        them if there are so many.
        """
        farthest = np.quantile(np.concatenate([self.train.far, self.holdout.far]), 1 - part)
        return float(min(farthest, np.sort(self.holdout.far)[-COMPARED:][0]))

    def beyond(self, least: float) -> _Attack:
        """The attack on people who are so far from others."""
        return self.among(*((people.far >= least) & (people.far > 0) for people in (self.train, self.holdout)))

    def among(self, train: Booleans, holdout: Booleans) -> _Attack:
        """The attack on some of the people."""
        return _Attack(self.train.take(train), self.holdout.take(holdout))

    @property
    def people(self) -> int:
        """How many there are at least on either side."""
        return min(len(self.train.near), len(self.holdout.near))


def _attack(evidence: Evidence, view: str, seed: Seed) -> tuple[_Attack, _Attack]:
    """The attack on the release, and the same on a copy of the training table."""
    closeness = evidence.closeness[view]
    train, holdout = _surroundings(evidence, evidence.views[view], seed)
    return (
        _Attack(_People(closeness.train, train), _People(closeness.holdout, holdout)),
        _Attack(_People(np.zeros(len(train)), train), _People(closeness.strangers, holdout)),
    )


def _surroundings(evidence: Evidence, columns: Sequence[str], seed: Seed) -> tuple[Floats, Floats]:
    """How far the rows that are asked are from the nearest row of the random half of all real rows without them."""
    train, holdout = (table.select(columns) for table in (evidence.train, evidence.holdout))
    both = Space.of(train, holdout).place(stack([train, holdout]))
    half = seed.child("halves of all").generator().permutation(len(both)) < len(both) // 2
    asked = np.concatenate([evidence.asked_rows(train), len(train) + evidence.asked_rows(holdout)])
    far = np.empty(len(asked))
    for inside in (half, ~half):
        outside = both.take(np.flatnonzero(~inside))
        far[inside[asked]] = nearest(both.take(asked[inside[asked]]), outside).distances
    at = len(asked) - len(evidence.asked_rows(holdout))
    return far[:at], far[at:]


def _planted_share(train: Keys, holdout: Keys) -> float:
    """``Closer to training rows`` of a copy of the training table: each row credits all real rows that equal it."""
    rows, at = np.unique(np.concatenate([train, holdout]), return_inverse=True)
    known, unseen = (np.bincount(part, minlength=len(rows)) for part in (at[: len(train)], at[len(train) :]))
    credit = known / (known + unseen)
    one, other = float(credit @ known) / len(train), float(credit @ unseen) / len(holdout)
    return one / (one + other)


def _percent(rate: float) -> str:
    return f"{100 * rate:g} %"


def _halves(table: Table, seed: Seed) -> tuple[Table, Table]:
    order = seed.child("halves").generator().permutation(len(table))
    return table.take(np.sort(order[: len(table) // 2])), table.take(np.sort(order[len(table) // 2 :]))
