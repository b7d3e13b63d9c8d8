"""Inference: whether the release tells a secret of training people that it does not tell of strangers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from models.association import association
from models.attacks import Attack, rate, sampled
from models.estimates import Estimate
from models.evidence import Evidence
from models.finding import Finding, Group, Interval, Unit
from models.measures import Measure
from models.neighbours import Space, distinct, nearest
from models.randomness import Seed
from models.schema import Role
from models.table import Booleans, Floats, Table

SOURCE = (
    "The third of the three criteria of the Article 29 Working Party (WP216). Limits are project policy: no official "
    "body gives a figure for what inference may gain. The attacks are variants of Anonymeter's (arXiv 2211.10459)."
)
LOOK_UP, MODEL = "Inference risk, nearest row", "Inference risk, model"
QUESTIONS = {
    "Inference": "How much oftener is this column guessed right for training people than for strangers?",
    LOOK_UP: "How often does the nearest released row tell this column of a training person, beyond chance?",
    MODEL: "How often does a model of the release tell this column of a training person, beyond chance?",
}
CLASSES = 10
"""A model tells so many levels of a secret apart: the commonest released ones."""
OTHERS = 1 / 4
"""The people whose secret the plain guess misses count for so much at least."""


class Inference(Measure):
    """How much better a person's secret is guessed for having been in the training data.

    Secrets are the columns of role ``sensitive``, else those of role ``target``, else the ``secrets`` columns that the
    others tell most about. The attacker knows a person's quasi-identifiers, or all other columns where none is
    declared, or where they are so coarse that not even the training rows would tell enough to exceed the limit. People
    whose secret is missing are left out. There are two attackers. One looks up the nearest released row, each of
    several equal ones with the same chance. The other asks gradient-boosted trees (scikit-learn's HistGradientBoosting)
    that have learned from the released rows. A number is guessed right when it is off by at most
    a twentieth of the spread: from the 5 % to the 95 % quantile of all real people, or from the least to the largest
    value where that is 0. It is never divided by the value.

    *Inference* is the gain: the rate of right guesses for training people minus that for held-out people, of the
    attacker who gains more; the upper end is the larger of the two. People whose secret the plain guess meets (the
    commonest level, or the median, of all real people) are compared with their like and the others with theirs, then
    both are weighted by their shares, so that a chance surplus of easy people on one side counts for nothing. The
    others weigh a quarter at least: where nearly everybody is healthy, a leak of all illnesses hardly moves the plain
    rate. ``observed`` and ``control`` are the weighted rates, ``baseline`` that of the plain guess. The interval is
    Newcombe's for a difference (Stat. Med. 17, 1998), extended to weighted sums of independent ones.

    2,000 held-out people can prove a gain within 5 percentage points where at least one in fifty has another secret
    than the commonest; for one in a hundred it takes 5,000.

    ``planted`` is left out where not even the training rows could gain more than the limit because strangers are
    guessed right as often: what follows from the known columns for everybody is no secret.

    *Inference risk* is the risk of each attacker (see ``models.attacks``), reported only: where strangers are mostly
    guessed right it is a ratio of two small numbers.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "trusted-partner": {"limit": 0.1},
        "internal": {"limit": 0.15},
    }

    kind: Literal["inference"] = "inference"
    limit: float | None = Field(default=0.05, ge=0, le=1, description="limit of the gain; null reports without gating")
    secrets: int = Field(default=3, ge=1, le=100, description="columns to guess where the schema names none")
    people: int = Field(default=5000, ge=100, le=1_000_000, description="people of each group who are attacked")
    learned: int = Field(default=20_000, ge=100, le=1_000_000, description="released rows that the model learns from")
    rounds: int = Field(default=20, ge=1, le=1000, description="trees of the model, for each level")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        return tuple(
            finding
            for name in _secrets(evidence.train, self.secrets)
            for finding in self._guess(name, evidence, seed.child(name))
        )

    def _guess(self, name: str, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        train, holdout, release = (
            table.take(~np.isnan(table[name])) for table in (evidence.train, evidence.holdout, evidence.synthetic)
        )
        options = _known(evidence.train, name)
        if not options or not len(train) or not len(holdout):
            return (self._unknown(name, bool(options), len(train)),)
        people = [
            sampled(table, self.people, seed.child(group)) for group, table in (("train", train), ("holdout", holdout))
        ]
        for known in options:
            secret = _Secret.of([*known, name], train, holdout)
            easy = [secret.easy(group) for group in people]
            planted = self._planted(secret, people, train, seed.child("planted"))
            if planted.value > (self.limit or 0.0) or self._open_to_all(planted):
                break
        attacks = {
            LOOK_UP: Attack(*(secret.looked_up(group, release) for group in people)),
            MODEL: self._modelled(secret, people, release, seed.child("model")),
        }
        gains = [_Gain.of(attack, easy) for attack in attacks.values()]
        return (
            self._gain(name, gains, planted, len(people[1])),
            *(attack.told(self._finding(title, name, float(easy[0].mean()))) for title, attack in attacks.items()),
        )

    def _modelled(self, secret: _Secret, people: Sequence[Table], release: Table, seed: Seed) -> Attack:
        settings = {"max_iter": self.rounds, "random_state": seed.integer()}
        guess = secret.model(sampled(release, self.learned, seed.child("rows")), settings)
        return Attack(*(secret.met(guess(group), group) for group in people))

    def _planted(self, secret: _Secret, people: Sequence[Table], train: Table, seed: Seed) -> _Gain:
        """What looking up the training rows themselves would gain, on a quarter of the people."""
        few = [sampled(group, self.people // 4, seed) for group in people]
        attack = Attack(*(secret.looked_up(group, train) for group in few))
        return _Gain.of(attack, [secret.easy(group) for group in few])

    def _open_to_all(self, planted: _Gain) -> bool:
        return self.limit is not None and planted.control >= 1 - self.limit

    def _gain(self, name: str, gains: Sequence[_Gain], planted: _Gain, n: int) -> Finding:
        most = max(gains, key=lambda gain: gain.value)
        found = {
            "estimate": most.value,
            "interval": Interval(low=most.interval.low, high=max(gain.interval.high for gain in gains)),
            "observed": most.observed,
            "control": most.control,
            "n": n,
            "limit": self.limit,
            "planted": None if self._open_to_all(planted) else planted.value,
        }
        return self._finding("Inference", name, most.baseline).model_copy(update=found)

    def _unknown(self, name: str, known: bool, training_people: int) -> Finding:
        """Not gated where there is no secret, or nothing to guess it from."""
        reason, limit = "without held-out people who have one nothing tells a gain", self.limit
        if not known or not training_people:
            reason = "no training person has one" if known else "one column leaves nothing to guess it from"
            limit = None
        return self._finding("Inference", name).model_copy(update={"reason": reason, "limit": limit})

    def _finding(self, title: str, secret: str, baseline: float | None = None) -> Finding:
        return Finding(
            measure=self.kind,
            name=title,
            question=QUESTIONS[title],
            group=Group.INFERENCE,
            unit=Unit.SHARE,
            estimate=None,
            baseline=baseline,
            n=0,
            where=secret,
            source=SOURCE,
        )


def _secrets(train: Table, most: int) -> list[str]:
    for role in (Role.SENSITIVE, Role.TARGET):
        if declared := [column.name for column in train.columns if column.role is role]:
            return declared
    told = np.sqrt((association(train) ** 2).sum(axis=1))
    return [train.names[j] for j in np.argsort(-told, kind="stable")[:most]]


def _known(train: Table, secret: str) -> list[tuple[str, ...]]:
    """What an attacker may know of a person, the likelier first: quasi-identifiers, and all columns but the secret."""
    others = [column for column in train.columns if column.name != secret]
    declared = tuple(column.name for column in others if column.role is Role.QUASI_IDENTIFIER)
    every = tuple(column.name for column in others)
    return [names for names in dict.fromkeys((declared, every)) if names]


@dataclass(frozen=True, eq=False)
class _Secret:
    """The last of the columns ``names``, whose others are known and make up the ``space``.

    ``guess`` is the plain guess, ``slack`` how far off a right guess may be: 0 for levels.
    """

    names: Sequence[str]
    guess: float
    slack: float
    space: Space
    numeric: bool

    @classmethod
    def of(cls, names: Sequence[str], train: Table, holdout: Table) -> _Secret:
        cells = np.concatenate([train[names[-1]], holdout[names[-1]]])
        space = Space.of(train.select(names[:-1]), holdout.select(names[:-1]))
        if not train.select(names).columns[-1].numeric:
            levels, counts = np.unique(cells, return_counts=True)
            return cls(names, float(levels[np.argmax(counts)]), 0.0, space, numeric=False)
        low, middle, high = np.quantile(cells, [0.05, 0.5, 0.95], method="inverted_cdf")
        spread = float(high - low) or float(np.ptp(cells))
        return cls(names, float(middle), spread / 20, space, numeric=True)

    def answers(self, table: Table) -> Floats:
        return table[self.names[-1]]

    def known(self, table: Table) -> Table:
        return table.select(self.names[:-1])

    def met(self, guesses: Floats, people: Table) -> Floats:
        """1 for each person whose secret is guessed right, else 0."""
        right: Booleans = np.abs(guesses - self.answers(people)) <= self.slack
        return right.astype(np.float64)

    def easy(self, people: Table) -> Booleans:
        """Whose secret the plain guess meets."""
        return self.met(np.full(len(people), self.guess), people) > 0

    def looked_up(self, people: Table, release: Table) -> Floats:
        """The chance that a nearest row of ``release`` has each person's secret; 0 without released rows.

        Of distinct nearest rows one counts, with all rows that equal it.
        """
        if not len(release):
            return np.zeros(len(people))
        points = self.space.place(self.known(release))
        first, group = distinct(points)
        found = nearest(self.space.place(self.known(people)), points.take(first)).rows
        values, place = np.unique(self.answers(release), return_inverse=True)
        cells = np.sort(group * (len(values) + 1) + place.ravel())
        truth = self.answers(people)
        low = np.searchsorted(values, truth - self.slack, side="left")
        high = np.searchsorted(values, truth + self.slack, side="right")
        start = found * (len(values) + 1)
        hits = np.searchsorted(cells, start + high) - np.searchsorted(cells, start + low)
        return np.asarray(hits / np.bincount(group)[found], dtype=np.float64)

    def model(self, release: Table, settings: Mapping[str, Any]) -> Callable[[Table], Floats]:
        """What trees that learned from ``release`` guess of people, NaN without released rows.

        Codes of levels count as numbers: one threshold after the other cuts out any level.
        """
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        answers = self.answers(release)
        if not self.numeric:
            levels, counts = np.unique(answers, return_counts=True)
            common = np.isin(answers, levels[np.argsort(-counts, kind="stable")[:CLASSES]])
            release, answers = release.take(common), answers[common]
        if len(np.unique(answers)) < 2:
            only = float(answers[0]) if len(answers) else np.nan
            return lambda people: np.full(len(people), only)
        kind = HistGradientBoostingRegressor if self.numeric else HistGradientBoostingClassifier
        # Without the penalty, leaves of levels that are nearly certain grow without bound and the guesses go astray.
        trees = kind(max_leaf_nodes=15, learning_rate=0.2, l2_regularization=1.0, early_stopping=False, **settings)
        trees.fit(_features(self.known(release)), answers)
        return lambda people: np.asarray(trees.predict(_features(self.known(people))), dtype=np.float64)


def _features(table: Table) -> Floats:
    """The cells; a missing one is less than any other."""
    below = np.array([column.low - 1 if column.numeric else -1.0 for column in table.columns])
    cells: Floats = np.where(table.missing, below, table.values)
    return cells


@dataclass(frozen=True)
class _Gain:
    """Weighted rates of right guesses for training people and for strangers, and of the plain guess."""

    observed: float
    control: float
    baseline: float
    interval: Interval

    @property
    def value(self) -> float:
        return self.observed - self.control

    @classmethod
    def of(cls, attack: Attack, easy: Sequence[Booleans]) -> _Gain:
        """``easy``: which training people, and which held-out ones, the plain guess meets."""
        share = min(float(np.concatenate(easy).mean()), 1 - OTHERS)
        weights = [(share, easy), (1 - share, [~met for met in easy])]
        if not all(met.any() and not met.all() for met in easy):
            share, weights = float(easy[0].mean()), [(1.0, [np.ones_like(met) for met in easy])]
        rates = [(w, rate(attack.train[known]), rate(attack.holdout[unseen])) for w, (known, unseen) in weights]
        observed = sum(weight * reached.value for weight, reached, _ in rates)
        control = sum(weight * usual.value for weight, _, usual in rates)
        below = sum(w**2 * (_under(reached) ** 2 + _over(usual) ** 2) for w, reached, usual in rates)
        above = sum(w**2 * (_over(reached) ** 2 + _under(usual) ** 2) for w, reached, usual in rates)
        gain = observed - control
        return cls(observed, control, share, Interval(low=gain - sqrt(below), high=gain + sqrt(above)))


def _under(estimate: Estimate) -> float:
    return estimate.value - estimate.interval.low


def _over(estimate: Estimate) -> float:
    return estimate.interval.high - estimate.value
