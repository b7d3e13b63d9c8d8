"""How like real rows the synthetic ones are, by SynthEval's definitions and corrected (see ``models.paper``).

Every public function answers with both; None is a figure that these tables do not have.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from models.association import association, rank_correlation
from models.classes import Classes
from models.estimates import auc
from models.paper_tables import Figures, PaperTables
from models.schema import Column
from models.table import Booleans, Floats, Integers, Table

BINS = 20
"""Classes of a number in the corrected Hellinger distance."""

CONSTANT = 1e-12
"""Cells lie within [0, 1]; a smaller deviation is a rounding error."""


def components(tables: PaperTables) -> tuple[Figures, Figures]:
    """The difference of the explained-variance ratios of all principal components of the numbers, and the angle between
    the first ones in units of a right angle; each table standardised by itself.

    Corrected: the differences of the variances themselves, both tables in units of the training rows' deviations, over
    the total variance; and the share of the variance along the training rows' first axis that the synthetic first axis
    misses in them, which is stable where two axes are equally long.
    """
    if tables.empty or (~tables.levels).sum() < 2:
        return (None, None), (None, None)
    train, drawn = tables.train[:, ~tables.levels], tables.synthetic[:, ~tables.levels]
    (real, axes), (other, others) = _components(train), _components(drawn)
    if not real.sum() or not other.sum():
        return (None, None), (None, None)
    used = min(len(train), len(real))
    factor = len(real) / (len(real) + used - 2)
    ratios = factor * float(np.abs(real / real.sum() - other / other.sum())[:used].sum())
    units = np.where(train.std(axis=0) > CONSTANT, train.std(axis=0), 1.0)
    in_units = np.linalg.eigvalsh(np.cov(drawn.T / units[:, None], ddof=0))[::-1]
    variances = float(np.abs(real - in_units).sum() / real.sum())
    angle = float(np.arccos(np.clip(abs(axes[:, 0] @ others[:, 0]), 0, 1)) * 2 / np.pi)
    along = float((axes.T @ others[:, 0]) ** 2 @ real)
    return (ratios, variances), (angle, max(0.0, 1 - along / float(real[0])))


def _components(table: Floats) -> tuple[Floats, Floats]:
    """Variances along the principal axes of the standardised columns, largest first, and the axes as columns."""
    deviation = table.std(axis=0)
    scaled = np.where(deviation > CONSTANT, table - table.mean(axis=0), 0.0) / np.maximum(deviation, CONSTANT)
    values, axes = np.linalg.eigh(scaled.T @ scaled / len(table))
    return np.maximum(values[::-1], 0.0), axes[:, ::-1]


def hellinger(tables: PaperTables) -> tuple[Figures]:
    """The mean Hellinger distance of columns.

    Corrected: levels matched by what they are, numbers in 20 classes by the training rows' quantiles, missing cells as
    a class of their own.
    """
    real, drawn = tables.evidence.train, tables.evidence.synthetic
    corrected = [_hellinger_of_classes(c, real.values[:, j], drawn.values[:, j]) for j, c in enumerate(real.columns)]
    if tables.empty:
        return ((None, float(np.mean(corrected))),)
    paper = []
    for one, other, levels in zip(tables.train.T, tables.synthetic.T, tables.levels, strict=True):
        if levels:
            shares = [np.histogram(cells, bins=len(np.unique(one)))[0] / len(cells) for cells in (one, other)]
        else:
            edges = _edges(np.concatenate([one, other]))
            shares = [np.histogram(cells, bins=edges)[0] / len(cells) for cells in (one, other)]
        paper.append(_between(*shares))
    return ((float(np.mean(paper)), float(np.mean(corrected))),)


def _between(one: Floats, other: Floats) -> float:
    return float(np.linalg.norm(np.sqrt(one) - np.sqrt(other)) / np.sqrt(2))


def _edges(cells: Floats) -> Floats:
    """SynthEval's bins of a number: on cells within [0, 1] mostly a single one, which is why it sees nothing."""
    quartiles = np.percentile(cells, [25, 75])
    if quartiles[0] == quartiles[1]:
        return np.unique(np.percentile(cells, [0, 10, 25, 75, 90, 100]))
    width = np.ceil(len(cells) ** (1 / 3) * np.std(cells) / (3.5 * (quartiles[1] - quartiles[0])))
    count = min(int((cells.max() - cells.min()) / width), 10_000)
    return np.linspace(cells.min(), cells.max(), count + 1)


def _hellinger_of_classes(column: Column, real: Floats, drawn: Floats) -> float:
    classes = Classes.of(column, real, BINS if column.numeric else len(column.alphabet) + 1)
    return _between(classes.shares(real), classes.shares(drawn))


def correlation(tables: PaperTables) -> tuple[Figures]:
    """The Frobenius norm of the difference of the matrices of associations.

    Corrected: Spearman's rho, Cramer's V and the correlation ratio, not squared, corrected for bias, missing cells
    considered (``models.association``).
    """
    real, drawn = (_signed(table) for table in (tables.evidence.train, tables.evidence.synthetic))
    corrected = float(np.linalg.norm(real - drawn))
    if tables.empty:
        return ((None, corrected),)
    one, other = (_mixed(table, tables.levels) for table in (tables.train, tables.synthetic))
    return ((float(np.linalg.norm(one - other)), corrected),)


def _signed(table: Table) -> Floats:
    """Associations, with the sign of rank correlations where these are what an association is."""
    strength, rho = association(table), rank_correlation(table)
    return np.where(np.isclose(np.abs(rho), strength), rho, strength)


def _mixed(table: Floats, levels: Booleans) -> Floats:
    """SynthEval's mixed correlation: Pearson's r of two numbers, chi squared over its maximum of two levelled columns
    (Cramer's V squared, with Yates' correction of 2 x 2 tables), eta squared of one of each. The diagonal is 1.

    NaN where a number is constant.
    """
    result, numbers, levelled = np.eye(len(levels)), np.flatnonzero(~levels), np.flatnonzero(levels)
    centred = table[:, numbers] - table[:, numbers].mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    centred /= np.where(lengths > CONSTANT, lengths, np.nan)
    result[np.ix_(numbers, numbers)] = centred.T @ centred
    for at, i in enumerate(levelled):
        for j in levelled[at + 1 :]:
            result[i, j] = result[j, i] = _chi_squared_share(table[:, i], table[:, j])
        for j in numbers:
            result[i, j] = result[j, i] = _eta_squared(table[:, i], table[:, j])
    return result


def _chi_squared_share(one: Floats, other: Floats) -> float:
    first, second = (np.unique(cells, return_inverse=True)[1] for cells in (one, other))
    rows, columns = int(first.max()) + 1, int(second.max()) + 1
    if min(rows, columns) < 2:
        return 0.0
    counts = np.bincount(first * columns + second, minlength=rows * columns).reshape(rows, columns).astype(np.float64)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(one)
    off = np.abs(counts - expected)
    if rows == columns == 2:
        off -= np.minimum(0.5, off)
    return float((off**2 / expected).sum() / (len(one) * (min(rows, columns) - 1)))


def _eta_squared(levels: Floats, numbers: Floats) -> float:
    codes = np.unique(levels, return_inverse=True)[1]
    counts = np.bincount(codes)
    between = float(counts @ (np.bincount(codes, numbers) / counts - numbers.mean()) ** 2)
    total = float(((numbers - numbers.mean()) ** 2).sum())
    return between / total if between else 0.0


def f1_difference(tables: PaperTables) -> tuple[Figures]:
    """Macro-averaged F1 on held-out rows, synthetic less real, the mean over four learners and all targets.

    Corrected: levels as indicators and numbers in units of their deviation, so that codes are not taken for amounts
    (and a logistic regression converges by L-BFGS in a fraction of the time).
    """
    if tables.empty or not len(tables.holdout):
        return ((None, None),)
    as_codes = [_f1_loss(tables, at, partial(np.delete, obj=at, axis=1), "saga") for at in tables.targets]
    as_indicators = [_f1_loss(tables, at, partial(tables.indicators, without=at), "lbfgs") for at in tables.targets]
    return ((_mean(as_codes), _mean(as_indicators)),)


def auroc_difference(tables: PaperTables) -> tuple[Figures]:
    """AUROC of a random forest on held-out rows, synthetic less real; for targets with two values only.

    Corrected: the exact area, and for more classes that of each against the rest, weighted by its share.
    """
    if tables.empty or not len(tables.holdout):
        return ((None, None),)
    found = [_auroc_losses(tables, at) for at in tables.targets]
    return ((_mean([paper for paper, _ in found]), _mean([corrected for _, corrected in found])),)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _f1_loss(tables: PaperTables, target: int, features: Callable[[Floats], Floats], solver: str) -> float | None:
    """None where the synthetic rows have one class only, from which these learners cannot learn."""
    from sklearn.base import clone
    from sklearn.metrics import f1_score

    tasks = [(features(table), table[:, target]) for table in (tables.train, tables.synthetic)]
    if len(np.unique(tasks[1][1])) < 2:
        return None
    asked, answers = features(tables.holdout), tables.holdout[:, target]
    losses = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # SynthEval's bound on a solver's steps is part of the definition
        for model in _learners(solver):
            real, drawn = (f1_score(answers, clone(model).fit(*task).predict(asked), average="macro") for task in tasks)
            losses.append(drawn - real)
    return float(np.mean(losses))


def _learners(solver: str) -> list[Any]:
    """SynthEval's four, with its settings; its logistic regression is solved by "saga"."""
    from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    return [
        RandomForestClassifier(n_estimators=10, max_depth=15, random_state=42),
        AdaBoostClassifier(n_estimators=10, random_state=42),
        SVC(random_state=42),
        LogisticRegression(solver=solver, max_iter=5000, random_state=42),
    ]


def _auroc_losses(tables: PaperTables, target: int) -> Figures:
    real, drawn = (_forest_chances(tables, learned, target) for learned in (tables.train, tables.synthetic))
    answers = tables.holdout[:, target].astype(np.int64)
    exact = [_weighted_auc(answers, chances) for chances in (real, drawn)]
    corrected = None if exact[0] is None or exact[1] is None else exact[1] - exact[0]
    binary = all(len(np.unique(table[:, target])) == 2 for table in (tables.train, tables.synthetic, tables.holdout))
    return _interpolated_loss(answers, real[:, 1], drawn[:, 1]) if binary else None, corrected


def _forest_chances(tables: PaperTables, learned: Floats, target: int) -> Floats:
    """The chance of each class in every held-out row: shape (held-out rows, classes)."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(random_state=42).fit(np.delete(learned, target, axis=1), learned[:, target])
    classes = int(max(table[:, target].max() for table in (tables.train, tables.holdout, tables.synthetic))) + 1
    chances = np.zeros((len(tables.holdout), classes))
    chances[:, model.classes_.astype(np.int64)] = model.predict_proba(np.delete(tables.holdout, target, axis=1))
    return chances


def _interpolated_loss(answers: Integers, real: Floats, drawn: Floats) -> float:
    """SynthEval's areas: both curves are read at as many evenly spaced points as the first one has corners."""
    from sklearn.metrics import roc_curve

    curves = [roc_curve(answers, chances)[:2] for chances in (real, drawn)]
    at = np.linspace(0, 1, len(curves[0][0]))
    first, second = (float(np.trapezoid(np.interp(at, false, true), at)) for false, true in curves)
    return second - first


def _weighted_auc(answers: Integers, chances: Floats) -> float | None:
    """None where all answers are the same."""
    codes, counts = np.unique(answers, return_counts=True)
    if len(codes) < 2:
        return None
    found = [auc(chances[answers == code, code], chances[answers != code, code]).value for code in codes]
    return float(np.average(found, weights=counts))
