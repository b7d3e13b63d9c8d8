"""A validator: a classifier that tells real rows from rows whose parts were drawn independently of one another.

Shown as many of one as of the other, its calibrated score V of a row gives V / (1 - V) = p(row) / product over parts of
p_i(the row's part i): how much likelier the parts are together than by chance (arXiv 2507.19700; the density-ratio
reading is that of any probabilistic classifier). It reads real rows without noise, so what it helps to make carries no
differential-privacy guarantee. It lives as long as the join and is never written down: nearest neighbours and support
vectors are encoded real rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import log
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from models.association import FEW, commonest, ranks
from models.errors import nearest
from models.pairing import aligned, orders
from models.randomness import Seed
from models.schema import Column, Frozen
from models.table import Booleans, Floats, Integers, Table

Classifier = Literal[
    "random_forest",
    "gradient_boosting",
    "extra_trees",
    "knn",
    "mlp",
    "svm",
    "logistic",
    "one_class_svm",
    "isolation_forest",
]
Features = NDArray[np.float32]
Calibrated = Callable[[Floats], Floats]

LEAST_ROWS = 50
"""With fewer real rows nothing can be learnt and held out."""

MOST_LEVELS = 16
"""So many of a column's levels have a feature of their own, the commonest first."""

MOST_PRODUCTS = 300
"""So many products of features are added for kinds that look at features one at a time."""


class Estimator(NamedTuple):
    """Where scikit-learn keeps a kind of validator, our settings for it, and how many real rows it takes in seconds."""

    module: str
    name: str
    settings: Mapping[str, Any]
    rows: int


ESTIMATORS: Mapping[Classifier, Estimator] = {
    "random_forest": Estimator(
        "sklearn.ensemble", "RandomForestClassifier", {"n_estimators": 100, "max_depth": 5}, 10_000
    ),
    "extra_trees": Estimator(
        "sklearn.ensemble",
        "ExtraTreesClassifier",
        {"n_estimators": 100, "min_samples_leaf": 8, "max_features": None, "bootstrap": True},
        5_000,
    ),
    "gradient_boosting": Estimator(
        "sklearn.ensemble", "HistGradientBoostingClassifier", {"max_iter": 100, "max_leaf_nodes": 15}, 5_000
    ),
    "knn": Estimator("sklearn.neighbors", "KNeighborsClassifier", {"n_neighbors": 25}, 3_000),
    "mlp": Estimator(
        "sklearn.neural_network",
        "MLPClassifier",
        {"hidden_layer_sizes": (64, 64), "early_stopping": True, "max_iter": 100},
        10_000,
    ),
    "svm": Estimator("sklearn.svm", "SVC", {}, 1_000),
    "logistic": Estimator("sklearn.linear_model", "LogisticRegression", {"C": 0.1, "max_iter": 300}, 10_000),
    "one_class_svm": Estimator("sklearn.svm", "OneClassSVM", {}, 2_000),
    "isolation_forest": Estimator("sklearn.ensemble", "IsolationForest", {}, 10_000),
}

ONE_CLASS = frozenset({"one_class_svm", "isolation_forest"})
"""Kinds that are shown real rows alone and say how typical a row is of them."""

ONE_AT_A_TIME = frozenset({"logistic", "gradient_boosting"})
"""Kinds that learn nothing where no feature tells anything by itself, as here, and are given products of features."""

OURS = frozenset({"random_state", "probability", "verbose", "warm_start"})
"""Settings of scikit-learn that a spec cannot make: the seed's, the calibration's, and what prints or keeps state."""


@dataclass(frozen=True)
class Quality:
    """What the validator knows of rows that it has not seen.

    ``auc`` is the mean over the folds; ``auc_by_chance`` is two standard errors above 0.5, which a validator without
    any information exceeds one time in forty. ``log_loss`` is that of the calibrated scores, in nats; answering 0.5
    every time costs ``log_loss_constant``.
    """

    auc: float
    auc_by_chance: float
    log_loss: float
    rows: int
    log_loss_constant: float = log(2)

    @property
    def informed(self) -> bool:
        return self.auc > self.auc_by_chance


@dataclass(frozen=True)
class Encoder:
    """Turns the cells of one part into features for any classifier. It keeps means, spreads and codes, no row."""

    columns: tuple[_NumberCode | _LevelCode, ...]

    @classmethod
    def of(cls, table: Table) -> Encoder:
        return cls(tuple(_code(column, table.values[:, j]) for j, column in enumerate(table.columns)))

    def encode(self, table: Table) -> Features:
        """Shape (rows, features), without missing values."""
        blocks = [code.encode(table.values[:, j]) for j, code in enumerate(self.columns)]
        return np.hstack(blocks) if blocks else np.empty((len(table), 0), dtype=np.float32)


@dataclass(frozen=True)
class _NumberCode:
    """One standardised feature, linear within three spreads and logarithmic beyond, and one for missing if any is."""

    shift: float | None
    centre: float
    spread: float
    gaps: bool

    def encode(self, cells: Floats) -> Features:
        missing = np.isnan(cells)
        scaled = (_logarithm(cells, self.shift) - self.centre) / self.spread
        size = np.abs(scaled)
        tame = np.where(size > 3, np.sign(scaled) * (3 + np.log(np.maximum(size - 2, 1.0))), scaled)
        tame[missing] = 0.0
        return _features([tame, missing] if self.gaps else [tame], len(cells))


@dataclass(frozen=True)
class _LevelCode:
    """One feature for each of ``codes``, one for missing if any is. All others are known by having none."""

    codes: Floats
    gaps: bool

    def encode(self, cells: Floats) -> Features:
        indicators: list[Booleans] = [cells == code for code in self.codes]
        return _features([*indicators, np.isnan(cells)] if self.gaps else indicators, len(cells))


def _code(column: Column, cells: Floats) -> _NumberCode | _LevelCode:
    gaps = bool(np.isnan(cells).any())
    if not (column.numeric or column.ordered):
        codes = commonest(cells, MOST_LEVELS, FEW)
        return _LevelCode(codes[:1] if len(column.alphabet) <= 2 else codes, gaps)
    shift = _shift(column) if column.numeric and column.scale == "log" else None
    present = _logarithm(cells[~np.isnan(cells)], shift)
    if not len(present) or present.min() == present.max():
        return _NumberCode(shift, float(present[0]) if len(present) else 0.0, 1.0, gaps)
    return _NumberCode(shift, float(present.mean()), float(present.std()), gaps)


def _shift(column: Column) -> float:
    """What is added before a logarithm is taken, so that the lower bound has one."""
    return 0.0 if column.low > 0 else (column.step or 1.0) - column.low


def _logarithm(cells: Floats, shift: float | None) -> Floats:
    """The logarithm of shifted cells; the cells as they are without ``shift``."""
    return cells if shift is None else np.log(np.maximum(cells + shift, 1e-12))


def _features(arrays: Sequence[Floats | Booleans], rows: int) -> Features:
    result = np.empty((rows, len(arrays)), dtype=np.float32)
    for position, array in enumerate(arrays):
        result[:, position] = array
    return result


class Validator(Frozen):
    """Which classifier judges joined rows, and how it is trained and calibrated.

    ``settings`` go to scikit-learn. Negatives are real parts put together after a permutation of each, ``negatives``
    times over, against the real rows as often. ``folds``: each real row, and every negative made of it, is scored by a
    classifier that was trained on other rows; the calibration is learnt from those scores alone, and its log loss is
    that of calibrations learnt from other folds. ``rows`` real rows at most are used, drawn at random.

    Parts of positives and negatives are alike one by one, so nothing can be learnt from one feature at a time:
    ``logistic`` and ``gradient_boosting`` also see products of features of different parts, without which they are
    blind. Forests, extra trees, neighbours, networks and kernels look at several features together.

    ``one_class_svm`` and ``isolation_forest`` learn the real rows alone, and negatives only tell what their scores are
    worth: calibrated against them, the score of a typical row is a probability like any other kind's, and the more
    typical a row, the higher. Without calibration 0.5 is the boundary that they draw themselves.

    NOTE[DIFF]: the reference (arXiv 2507.19700) draws the positives with replacement and calibrates on the rows that
    the classifier was trained on; here each real row counts equally and the calibration is held out. Its isolation
    forest is trained on a sixth of the negatives too, and its automatic threshold there is taken from the wrong end, so
    that nine tenths of all pairs pass instead of the best tenth; here the best tenth passes, whatever the kind.
    """

    kind: Classifier = "random_forest"
    settings: dict[str, Any] = Field(default_factory=dict)
    calibration: Literal["isotonic", "sigmoid", "none"] = "isotonic"
    folds: int = Field(default=3, ge=2, le=10)
    negatives: int = Field(default=2, ge=1, le=20)
    rows: int | None = Field(default=None, ge=LEAST_ROWS, description="by default as many as the kind takes in seconds")

    @model_validator(mode="after")
    def _known_settings(self) -> Self:
        if self.settings:
            valid = sorted(set(_empty(self.kind).get_params()) - OURS)
            unknown = [name for name in self.settings if name not in valid]
            if unknown:
                told = "; ".join(f"'{name}' ({nearest(name, valid)})" for name in unknown)
                raise ValueError(f"{self.kind} has no such settings: {told}")
            self._estimator(0)._validate_params()
        return self

    def fit(self, parts: Sequence[Table], seed: Seed) -> Judge:
        """Learn how the rows of ``parts`` belong together: row i of every part is row i of the real table.

        ``hindrance`` tells beforehand whether that can be tried.
        """
        parts = self._drawn(parts, seed.child("rows"))
        encoders = tuple(Encoder.of(part) for part in parts)
        features = [encoder.encode(part) for encoder, part in zip(encoders, parts, strict=True)]
        held_out = self._held_out(features, seed)
        everything = np.arange(len(features[0]))
        model = self._trained(features, everything, seed.child("final"))
        return Judge(encoders, model, self._calibrated(held_out.scores, held_out.real), self._quality(held_out))

    def _drawn(self, parts: Sequence[Table], seed: Seed) -> Sequence[Table]:
        most, count = self.rows or ESTIMATORS[self.kind].rows, aligned(parts)
        if count <= most:
            return parts
        chosen = np.sort(seed.generator().choice(count, most, replace=False))
        return [part.take(chosen) for part in parts]

    def _estimator(self, random_state: int) -> Any:
        model = _empty(self.kind)
        model.set_params(**{**ESTIMATORS[self.kind].settings, **self.settings})
        if "random_state" in model.get_params():
            model.set_params(random_state=random_state)
        return model

    def _trained(self, features: Sequence[Features], rows: Integers, seed: Seed) -> Score:
        """A classifier that has seen ``rows`` and what can be put together from them."""
        estimator = self._estimator(seed.child("classifier").integer())
        if self.kind in ONE_CLASS:
            real_rows = np.hstack([block[rows] for block in features])
            return Score(estimator.fit(real_rows), spread=_spread(estimator.decision_function(real_rows)))
        x, real = examples(features, rows, self.negatives, seed.child("negatives"))
        products = None
        if self.kind in ONE_AT_A_TIME:
            products = Products.of(x, real, [block.shape[1] for block in features])
            x = products.apply(x)
        estimator.fit(x, real)
        return Score(estimator, products)

    def _held_out(self, features: Sequence[Features], seed: Seed) -> HeldOut:
        count = len(features[0])
        fold = seed.child("folds").generator().permutation(count) % self.folds
        collected = []
        for number in range(self.folds):
            stream = seed.child(f"fold/{number}")
            score = self._trained(features, np.flatnonzero(fold != number), stream)
            x, real = examples(features, np.flatnonzero(fold == number), self.negatives, stream.child("held-out"))
            collected.append((score(x), real, np.full(len(real), number)))
        scores, reals, folds = (np.concatenate(arrays) for arrays in zip(*collected, strict=True))
        return HeldOut(scores, reals, folds, count)

    def _calibrated(self, scores: Floats, real: Booleans) -> Calibrated:
        """From raw scores to probabilities, which stay off 0 and 1 by as much as the number of examples cannot tell."""
        margin = 1.0 / (len(scores) + 2)
        if self.calibration == "none":
            return lambda raw: np.clip(raw, margin, 1 - margin)
        if self.calibration == "isotonic":
            from sklearn.isotonic import IsotonicRegression

            steps = IsotonicRegression(y_min=margin, y_max=1 - margin, out_of_bounds="clip").fit(scores, real)
            return lambda raw: np.asarray(steps.predict(raw), dtype=np.float64)
        from sklearn.linear_model import LogisticRegression

        slope = LogisticRegression(C=1e6).fit(_logit(scores), real)
        return lambda raw: np.clip(slope.predict_proba(_logit(raw))[:, 1], margin, 1 - margin)

    def _quality(self, held_out: HeldOut) -> Quality:
        areas, losses, errors = [], [], []
        for number in range(self.folds):
            here = held_out.fold == number
            probability = self._calibrated(held_out.scores[~here], held_out.real[~here])(held_out.scores[here])
            losses.append(_log_loss(probability, held_out.real[here]))
            areas.append(_area_under_roc(held_out.scores[here], held_out.real[here]))
            size = np.count_nonzero(here) / (2 * self.negatives)
            errors.append((2 * size + 1) / (12 * size**2))
        error = float(np.sqrt(np.sum(errors))) / self.folds
        return Quality(float(np.mean(areas)), 0.5 + 2 * error, float(np.mean(losses)), held_out.rows)


@dataclass(frozen=True)
class HeldOut:
    """Raw scores (examples,) by classifiers that saw no row an example is made of; ``rows`` real rows were used."""

    scores: Floats
    real: Booleans
    fold: Integers
    rows: int


@dataclass(frozen=True)
class Judge:
    """A trained validator."""

    encoders: tuple[Encoder, ...]
    raw: Score
    calibrated: Calibrated
    quality: Quality

    def encode(self, parts: Sequence[Table]) -> list[Features]:
        """Once for a pool; rows of the blocks may then be paired in any way and scored."""
        return [encoder.encode(part) for encoder, part in zip(self.encoders, parts, strict=True)]

    def scores(self, features: Sequence[Features]) -> Floats:
        """The probability, at even odds beforehand, that row i of all blocks together is real; shape (rows,)."""
        together = np.hstack(list(features))
        return self.calibrated(self.raw(together)) if len(together) else np.empty(0)


@dataclass(frozen=True)
class Score:
    """The uncalibrated score of a fitted classifier, between 0 and 1.

    ``spread`` is that of the decisions where their scale grows with the number of rows, as a one-class SVM's does.
    """

    estimator: Any
    products: Products | None = None
    spread: float = 1.0

    def __call__(self, x: Features) -> Floats:
        if self.products is not None:
            x = self.products.apply(x)
        if hasattr(self.estimator, "predict_proba"):
            return np.asarray(self.estimator.predict_proba(x)[:, 1], dtype=np.float64)
        decisions = np.asarray(self.estimator.decision_function(x), np.float64) / self.spread
        return 1.0 / (1.0 + np.exp(-np.clip(decisions, -30, 30)))


@dataclass(frozen=True)
class Products:
    """Features, their squares, and the products of two features of different parts that tell the classes apart most."""

    first: Integers
    second: Integers

    @classmethod
    def of(cls, x: Features, real: Booleans, widths: Sequence[int]) -> Products:
        part = np.repeat(np.arange(len(widths)), widths)
        true, false = x[real], x[~real]
        difference = true.T @ true / len(true) - false.T @ false / len(false)
        spread = np.sqrt((x**2).T @ (x**2) / len(x)) + 1e-6
        strength = np.where(part[:, None] < part[None, :], np.abs(difference) / spread, 0.0)
        best = np.argsort(-strength, axis=None, kind="stable")[:MOST_PRODUCTS]
        first, second = np.unravel_index(best[strength.ravel()[best] > 0], strength.shape)
        return cls(first.astype(np.int64), second.astype(np.int64))

    def apply(self, x: Features) -> Features:
        return np.hstack([x, x**2, x[:, self.first] * x[:, self.second]])


def hindrance(parts: Sequence[Table]) -> str | None:
    """Why no validator can be trained on these real parts, or None."""
    count = aligned(parts)
    if count < LEAST_ROWS:
        return f"{count} real rows are too few to train a validator on (it takes {LEAST_ROWS})"
    telling = sum(Encoder.of(part).encode(part.take(slice(1))).shape[1] > 0 for part in parts)
    if telling < 2:
        return f"{telling} of {len(parts)} parts have anything that a validator could look at"
    return None


def examples(features: Sequence[Features], rows: Integers, sets: int, seed: Seed) -> tuple[Features, Booleans]:
    """Real ``rows`` and as many rows put together from permutations of their parts, both ``sets`` times.

    Shape (2 sets rows, features), and which of them are real, shape (2 sets rows,).
    """
    real = np.hstack([block[rows] for block in features])
    made = [
        np.hstack([block[rows[order]] for block, order in zip(features, permutations, strict=True)])
        for permutations in (orders(len(rows), len(features), seed.child(f"set/{number}")) for number in range(sets))
    ]
    return np.vstack([*[real] * sets, *made]), np.repeat([True, False], sets * len(rows))


def _empty(kind: Classifier) -> Any:
    estimator = ESTIMATORS[kind]
    return getattr(import_module(estimator.module), estimator.name)()


def _spread(decisions: Floats) -> float:
    return float(np.std(decisions)) or 1.0


def _logit(scores: Floats) -> Floats:
    inside = np.clip(scores, 1e-6, 1 - 1e-6)
    return np.log(inside / (1 - inside))[:, None]


def _log_loss(probability: Floats, real: Booleans) -> float:
    return float(-np.mean(np.log(np.where(real, probability, 1 - probability))))


def _area_under_roc(scores: Floats, real: Booleans) -> float:
    """From the mean ranks of the two classes; ties count half."""
    ranked = ranks(scores)
    return 0.5 + float(ranked[real].mean() - ranked[~real].mean())
