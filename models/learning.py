"""What learners of scikit-learn can tell of one column from the others, whatever kinds of columns these are."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.association import commonest
from models.randomness import Seed
from models.regression import Design
from models.schema import Column
from models.table import Booleans, Floats, Integers, Table
from models.twins import row_keys

CLASSES = 6
"""So many classes of a levelled target are told apart: the commonest ones, and the rest as one."""

MOST_CATEGORIES = 255
"""The most levels that boosted trees take as categories; beyond them codes count as numbers."""

LINEAR_TERMS = 400
"""So many terms of a linear model."""


def at_most(table: Table, rows: int, seed: Seed) -> Table:
    """All rows, or a random ``rows`` of them, in an order that is the same for the same set of rows."""
    ordered = np.argsort(row_keys(table), kind="stable")
    if len(ordered) > rows:
        ordered = ordered[np.sort(seed.generator().choice(len(ordered), rows, replace=False))]
    return table.take(ordered)


def boosted_chances(features: Table, answers: Integers, asked: Table, *, rounds: int, seed: Seed) -> Floats:
    """The chance of each class 0, 1, ... of ``answers`` for every row of ``asked``, by gradient-boosted trees.

    Two classes at least occur in ``answers``, and none is left out. Shape (asked, classes).
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    model, asked_values = _boosted(HistGradientBoostingClassifier(**_settings(rounds, seed)), features, answers, asked)
    return np.asarray(model.predict_proba(asked_values), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Task:
    """Telling ``target`` from ``features``. ``told`` are the levels that are classes of their own, all others together
    being one more; ``middle`` is what is told of a number where nothing can be learned; ``design`` are the terms of the
    linear model.
    """

    target: Column
    features: tuple[str, ...]
    told: Floats
    middle: float
    design: Design

    @classmethod
    def of(cls, train: Table, name: str, features: Sequence[str]) -> Task:
        """The task as training rows, of which at least one has a value of the target, define it."""
        answers = train[name][~np.isnan(train[name])]
        levels = commonest(answers, len(answers))
        told = np.sort(levels[: len(levels) if len(levels) <= CLASSES else CLASSES - 1])
        target, chosen = train.columns[train.names.index(name)], tuple(features)
        others = train.select(chosen)
        design = Design.of(others, range(len(chosen)), LINEAR_TERMS)
        return cls(target, chosen, told, float(answers.mean()), design)

    def known(self, table: Table) -> Table:
        """The rows whose target is known."""
        return table.take(~np.isnan(table[self.target.name]))

    def asked(self, table: Table) -> Table:
        return table.select(self.features)

    def answers(self, table: Table) -> Any:
        """Numbers as they are, levels as classes from 0 to ``len(told)``, the last one being all others."""
        cells = table[self.target.name]
        if self.target.numeric:
            return cells
        place = np.searchsorted(self.told, cells)
        return np.where(np.append(self.told, np.nan)[place] == cells, place, len(self.told)).astype(np.int64)


Predict = Callable[[Task, Table, Table, int, Seed], Floats]


@dataclass(frozen=True)
class Learner:
    """One way of learning: what it is called, what it is in scikit-learn, and its predictions."""

    name: str
    tool: str
    _predict: Predict

    def predict(self, task: Task, learned: Table, unseen: Table, rounds: int, seed: Seed) -> Floats:
        """What rows of ``learned`` tell of ``unseen``: a number each, or the chance of each class.

        Shape (unseen,) or (unseen, len(task.told) + 1). Where ``learned`` holds one answer only, that is told of all.
        """
        answers = task.answers(learned)
        if task.target.numeric:
            if len(answers) < 2:
                return np.full(len(unseen), float(answers.mean()) if len(answers) else task.middle)
            return self._quietly(task, learned, unseen, rounds, seed)
        chances, classes = np.zeros((len(unseen), len(task.told) + 1)), np.unique(answers)
        if len(classes) == 1:
            chances[:, classes] = 1.0
        elif len(classes):
            chances[:, classes] = self._quietly(task, learned, unseen, rounds, seed)
        return chances

    def _quietly(self, task: Task, learned: Table, unseen: Table, rounds: int, seed: Seed) -> Floats:
        """Predictions without scikit-learn's advice on few rows or unfinished steps: the score tells what they cost."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return np.asarray(self._predict(task, learned, task.asked(unseen), rounds, seed), dtype=np.float64)


def _by_trees(task: Task, learned: Table, asked: Table, rounds: int, seed: Seed) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    features, answers = task.asked(learned), task.answers(learned)
    if not task.target.numeric:
        return boosted_chances(features, answers, asked, rounds=rounds, seed=seed)
    model, asked_values = _boosted(HistGradientBoostingRegressor(**_settings(rounds, seed)), features, answers, asked)
    return model.predict(asked_values)


def _settings(rounds: int, seed: Seed) -> dict[str, Any]:
    return {"max_iter": rounds, "early_stopping": False, "random_state": seed.integer()}


def _boosted(model: Any, features: Table, answers: Any, asked: Table) -> tuple[Any, Floats]:
    """``model`` fitted, and the values of ``asked`` as it wants them."""
    usable = _usable(features)
    levels = [not c.numeric and len(c.alphabet) <= MOST_CATEGORIES for c in features.columns]
    model.set_params(categorical_features=np.append(np.array(levels, dtype=np.bool_)[usable], False))
    return model.fit(_values(features, usable), answers), _values(asked, usable)


def _by_lines(task: Task, learned: Table, asked: Table, rounds: int, seed: Seed) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge

    terms, asked_terms = (task.design.matrix(table)[:, 1:] for table in (task.asked(learned), asked))
    if not terms.shape[1]:
        terms, asked_terms = np.zeros((len(learned), 1)), np.zeros((len(asked), 1))
    if task.target.numeric:
        return Ridge().fit(terms, task.answers(learned)).predict(asked_terms)
    return LogisticRegression(max_iter=500).fit(terms, task.answers(learned)).predict_proba(asked_terms)


def _by_forest(task: Task, learned: Table, asked: Table, rounds: int, seed: Seed) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    settings = {"n_estimators": rounds, "min_samples_leaf": 5, "random_state": seed.integer()}
    usable = _usable(task.asked(learned))
    features, asked_features = (_values(table, usable) for table in (task.asked(learned), asked))
    if task.target.numeric:
        model = RandomForestRegressor(max_features=1 / 3, **settings)
        return model.fit(features, task.answers(learned)).predict(asked_features)
    return RandomForestClassifier(**settings).fit(features, task.answers(learned)).predict_proba(asked_features)


def _usable(features: Table) -> Booleans:
    """Columns that have a value at all."""
    return np.asarray(~features.missing.all(axis=0), dtype=np.bool_)


def _values(table: Table, usable: Booleans) -> Floats:
    """The usable columns, and a constant one, so that there is always one."""
    return np.column_stack([table.values[:, usable], np.zeros(len(table))])


LEARNERS = (
    Learner("boosted trees", "HistGradientBoosting", _by_trees),
    Learner("linear model", "Ridge or LogisticRegression, numbers standardised and levels as indicators", _by_lines),
    Learner("random forest", "RandomForest", _by_forest),
)
