"""Whether models trained on the release predict real people as well as models trained on the real rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import Field

from models.association import association
from models.evidence import Evidence
from models.finding import Finding, Group, Interval, Unit
from models.measures import Measure
from models.randomness import Seed
from models.schema import Role
from models.table import Booleans, Floats, Integers, Table

SOURCE = "Train on synthetic, test on real (TSTR); gradient-boosted trees (scikit-learn's HistGradientBoosting)."
QUESTION = "How much worse do models predict real people when they learn from synthetic rows instead of real ones?"
CLASSES = 6
"""So many classes of a target are told apart: the commonest ones, and the rest as one."""
MOST_CATEGORIES = 255
"""The most levels that the trees take as categories; beyond them codes count as numbers."""


class Usefulness(Measure):
    """For each target: a model of it learned from training rows, one from synthetic rows, both tested on held-out rows.

    Targets are the columns of role ``target``; where there is none, the ``targets`` columns that the others tell most
    about (largest root mean square association in the training rows). Levels are scored by AUROC, each class against
    the rest weighted by its share, numbers by R squared. The estimate is the loss, real minus synthetic; ``control`` is
    the score of real training rows, ``baseline`` the loss of a guess. The interval is a bootstrap over held-out people,
    the two models as they are. By default reported without gating: a useless release is a waste but no leak.
    """

    kind: Literal["usefulness"] = "usefulness"
    limit: float | None = Field(default=None, ge=0, le=1, description="limit of the loss; null reports without gating")
    targets: int = Field(default=3, ge=1, le=100, description="columns to predict where the schema names no target")
    rounds: int = Field(default=60, ge=1, le=1000, description="trees of each model")
    draws: int = Field(default=200, ge=20, le=10_000, description="bootstrap draws")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        declared = [column.name for column in evidence.train.columns if column.role is Role.TARGET]
        if len(evidence.train.columns) < 2:
            return (self._finding("", evidence, reason="one column leaves nothing to predict it from"),)
        targets = declared or _most_told(evidence.train, self.targets)
        return tuple(self._predict(name, evidence, seed.child(name)) for name in targets)

    def _predict(self, name: str, evidence: Evidence, seed: Seed) -> Finding:
        tables = (evidence.train, evidence.synthetic, evidence.holdout)
        real, drawn, unseen = (_Task.of(table, name) for table in tables)
        if not len(real.answers) or not len(unseen.answers):
            return self._finding(name, evidence, reason="the target is missing in all training or all held-out rows")
        numeric = evidence.train.columns[evidence.train.names.index(name)].numeric
        score = _score_of_numbers if numeric else _score_of_levels
        settings = {"max_iter": self.rounds, "early_stopping": False, "random_state": seed.integer()}
        from_real, from_drawn = score(real, real, unseen, settings), score(drawn, real, unseen, settings)
        everybody = np.ones(len(unseen.answers))
        if from_real.value(everybody) is None:
            return self._finding(name, evidence, reason="all held-out rows have the same value of the target")
        interval = self._interval(from_real, from_drawn, len(everybody), seed)
        return self._finding(name, evidence, from_real, from_drawn, interval)

    def _interval(self, real: Score, drawn: Score, n: int, seed: Seed) -> Interval:
        """The loss over bootstrap draws of held-out people; draws in which all have the same value say nothing."""
        rng = seed.child("bootstrap").generator()
        losses = []
        for _ in range(self.draws):
            weights = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
            with_real, with_drawn = real.value(weights), drawn.value(weights)
            if with_real is not None and with_drawn is not None:
                losses.append(with_real - with_drawn)
        if len(losses) < 0.9 * self.draws:
            return Interval(low=-np.inf, high=np.inf)
        return Interval(low=float(np.quantile(losses, 0.025)), high=float(np.quantile(losses, 0.975)))

    def _finding(
        self,
        target: str,
        evidence: Evidence,
        real: Score | None = None,
        drawn: Score | None = None,
        interval: Interval | None = None,
        *,
        reason: str = "",
    ) -> Finding:
        n = real.rows if real else len(evidence.holdout)
        score = real.value(np.ones(n)) if real else None
        reached = drawn.value(np.ones(n)) if drawn else None
        return Finding(
            measure=self.kind,
            name="Prediction",
            question=QUESTION,
            group=Group.USEFULNESS,
            unit=Unit.SCORE,
            estimate=score - reached if score is not None and reached is not None else None,
            interval=interval,
            observed=reached,
            control=score,
            baseline=score - real.guess if real and score is not None else None,
            n=n,
            limit=self.limit,
            where=target,
            reason=reason,
            source=SOURCE,
        )


def _most_told(train: Table, count: int) -> list[str]:
    told = np.sqrt((association(train) ** 2).sum(axis=1))
    return [train.names[j] for j in np.argsort(-told, kind="stable")[:count]]


@dataclass(frozen=True, eq=False)
class _Task:
    """Rows whose target is known: ``features`` (rows, columns - 1), ``answers`` (rows,), which features are levels."""

    features: Floats
    answers: Floats
    categorical: Booleans

    @classmethod
    def of(cls, table: Table, name: str) -> _Task:
        known = ~np.isnan(table[name])
        others = [j for j, other in enumerate(table.names) if other != name]
        columns = [table.columns[j] for j in others]
        categorical = np.array([not c.numeric and len(c.alphabet) <= MOST_CATEGORIES for c in columns])
        return cls(table.values[known][:, others], table[name][known], categorical)

    def fit(self, model: Any, answers: Any, asked: Floats) -> tuple[Any, Floats]:
        """The fitted model, and ``asked`` with the features that the model can use: those not wholly missing here."""
        usable = ~np.isnan(self.features).all(axis=0)
        features = np.column_stack([self.features[:, usable], np.zeros(len(self.features))])
        model.set_params(categorical_features=np.append(self.categorical[usable], False))
        return model.fit(features, answers), np.column_stack([asked[:, usable], np.zeros(len(asked))])


@dataclass(frozen=True, eq=False)
class Score:
    """How well a model predicts ``rows`` people: ``value(weights)``, None where undefined, and that of a ``guess``."""

    value: Callable[[Floats], float | None]
    guess: float
    rows: int


def _score_of_levels(learned: _Task, real: _Task, asked: _Task, settings: dict[str, Any]) -> Score:
    """AUROC of each class against the rest, weighted by the class's share; classes are those of real training rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    levels, counts = np.unique(real.answers, return_counts=True)
    told = np.sort(levels[np.argsort(-counts, kind="stable")][: len(levels) if len(levels) <= CLASSES else CLASSES - 1])
    classes, answers = _classes(told, learned.answers), _classes(told, asked.answers)
    chances = np.zeros((len(answers), len(told) + 1))
    if len(classes):
        chances[:, classes[0]] = 1.0
    if len(np.unique(classes)) > 1:
        model, features = learned.fit(HistGradientBoostingClassifier(**settings), classes, asked.features)
        chances[:, model.classes_] = model.predict_proba(features)
    ranks = [np.unique(scores, return_inverse=True)[1] for scores in chances.T]

    def value(weights: Floats) -> float | None:
        scored = [_auroc(rank, answers == c, weights) for c, rank in enumerate(ranks)]
        known = [score is not None for score in scored]
        shares = np.bincount(answers, weights, minlength=len(known)) * known
        return float(shares @ [score or 0.0 for score in scored] / shares.sum()) if shares.sum() else None

    return Score(value, 0.5, len(answers))


def _classes(told: Floats, answers: Floats) -> Integers:
    """The position of each answer among the classes ``told``; all others are one class after them."""
    place = np.searchsorted(told, answers)
    return np.where(np.append(told, np.nan)[place] == answers, place, len(told)).astype(np.int64)


def _auroc(rank: Integers, positive: Booleans, weights: Floats) -> float | None:
    """The chance that a positive row ranks above a negative one, ties one half; None where one side has no weight."""
    hits, misses = np.bincount(rank, weights * positive), np.bincount(rank, weights * ~positive)
    if not hits.sum() or not misses.sum():
        return None
    return float(hits @ (np.cumsum(misses) - misses / 2) / (hits.sum() * misses.sum()))


def _score_of_numbers(learned: _Task, real: _Task, asked: _Task, settings: dict[str, Any]) -> Score:
    """R squared. Without an answer to learn from, the prediction is the middle of the real training rows' answers."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    predicted = np.full(len(asked.answers), float(np.mean(learned.answers if len(learned.answers) else real.answers)))
    if len(learned.answers) > 1:
        model, features = learned.fit(HistGradientBoostingRegressor(**settings), learned.answers, asked.features)
        predicted = model.predict(features)
    errors = (asked.answers - predicted) ** 2

    def value(weights: Floats) -> float | None:
        mean = float(weights @ asked.answers / weights.sum())
        spread = float(weights @ (asked.answers - mean) ** 2)
        return 1 - float(weights @ errors) / spread if spread > 0 else None

    return Score(value, 0.0, len(errors))
