"""Regressions of one column on others, and how well those of two tables agree.

Terms are made from training rows once, so that a regression means the same whichever table it is fitted to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from models.association import commonest
from models.estimates import Z
from models.table import Booleans, Floats, Integers, Table

LEVELS = 12
"""So many levels of a column have a term, the commonest first; the others share one."""

FEW = 20
"""What fewer training rows have gets no term."""

MOST_TERMS = 100
"""A regression has so many terms at most, ..."""

ROWS_PER_TERM = 10
"""... and so many training rows for each of them at least."""


@dataclass(frozen=True, eq=False)
class _Terms:
    """One column's terms. ``levels`` are those told apart, the first being the one that others are compared with;
    ``middle`` and ``scale`` put a number into units of its standard deviation, 0 standing in for missing cells.
    """

    column: int
    numeric: bool
    levels: Floats
    middle: float
    scale: float
    rest: bool
    gap: bool

    @classmethod
    def of(cls, train: Table, j: int) -> _Terms:
        cells, numeric = train.values[:, j], train.columns[j].numeric
        present = cells[~np.isnan(cells)]
        levels = commonest(cells, LEVELS, FEW) if not numeric else np.zeros(0)
        rest = 0 if numeric else len(present) - int(np.isin(present, levels).sum())
        middle, scale = (float(present.mean()), float(present.std())) if numeric and len(present) else (0.0, 0.0)
        gap = FEW <= len(cells) - len(present) < len(cells)
        return cls(j, numeric, levels, middle, scale, FEW <= rest < len(present), gap)

    def made(self, table: Table) -> Iterator[Floats]:
        cells = table.values[:, self.column]
        missing = np.isnan(cells)
        if self.numeric and self.scale > 0:
            yield np.where(missing, 0.0, (cells - self.middle) / self.scale)
        yield from ((cells == level).astype(np.float64) for level in self.levels[1:])
        if self.rest:
            yield (~missing & ~np.isin(cells, self.levels)).astype(np.float64)
        if self.gap:
            yield missing.astype(np.float64)

    def __len__(self) -> int:
        return int(self.numeric and self.scale > 0) + max(0, len(self.levels) - 1) + self.rest + self.gap


@dataclass(frozen=True, eq=False)
class Design:
    """The terms of several columns, and ``owners`` (terms,), the column that each belongs to."""

    terms: tuple[_Terms, ...]
    owners: Integers

    @classmethod
    def of(cls, train: Table, columns: Iterable[int], most: int) -> Design:
        """The terms of ``columns``, in that order, up to the first column that would make them more than ``most``."""
        chosen: list[_Terms] = []
        for j in columns:
            chosen.append(_Terms.of(train, j))
            if sum(map(len, chosen)) > most:
                chosen.pop()
                break
        return cls(tuple(chosen), np.repeat([each.column for each in chosen], [len(each) for each in chosen]))

    def matrix(self, table: Table) -> Floats:
        """One row per row of ``table``: 1, then the terms. Shape (rows, 1 + terms)."""
        made = [column for each in self.terms for column in each.made(table)]
        return np.column_stack([np.ones(len(table)), *made])


@dataclass(frozen=True, eq=False)
class Regression:
    """Of ``target`` on the terms of other columns: least squares for a number, logistic for a levelled column, whose
    ``level`` is told from all others.
    """

    target: str
    level: float | None
    design: Design

    @classmethod
    def of(cls, train: Table, target: str, others: Sequence[str]) -> Regression:
        """On ``others``, in that order, while there are terms left; ``train`` has a row with a value of the target."""
        at = train.names.index(target)
        level = None if train.columns[at].numeric else float(commonest(train.values[:, at], 1)[0])
        columns = [train.names.index(name) for name in others]
        return cls(target, level, Design.of(train, columns, min(MOST_TERMS, len(train) // ROWS_PER_TERM)))

    def fit(self, table: Table) -> Fit:
        """On the rows whose target is known."""
        known = table.take(~np.isnan(table[self.target]))
        answers = known[self.target]
        if self.level is None:
            return fitted(self.design.matrix(known), answers, logistic=False)
        return fitted(self.design.matrix(known), (answers == self.level).astype(np.float64), logistic=True)


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients and their standard errors, the intercept first, shape (1 + terms,) each; NaN for what ``rows`` rows
    do not decide.
    """

    coefficients: Floats
    errors: Floats
    rows: int

    @property
    def decided(self) -> Booleans:
        """Which terms have a coefficient, the intercept left out: shape (terms,)."""
        return ~np.isnan(self.coefficients[1:])

    def as_if(self, rows: int, real: Fit) -> Fit:
        """The same with its distance from ``real`` reduced (or enlarged) to what chance would leave of it had it been
        fitted to so many rows; for a fit to rows of the same population as ``real``'s.
        """
        factor = sqrt((1 / real.rows + 1 / rows) / (1 / real.rows + 1 / self.rows))
        moved = real.coefficients + factor * (self.coefficients - real.coefficients)
        return Fit(moved, self.errors, self.rows)


def fitted(matrix: Floats, answers: Floats, *, logistic: bool) -> Fit:
    """Ordinary least squares, or a logistic regression of answers 0 and 1 (maximum likelihood, Newton's method).

    A term that is a combination of those before it has no coefficient, nor has any where all answers are the same.
    """
    free = independent(matrix)
    coefficients, errors = np.full(matrix.shape[1], np.nan), np.full(matrix.shape[1], np.nan)
    if len(answers) > free.sum() and np.ptp(answers) > 0:
        solve = _logistic if logistic else _least_squares
        coefficients[free], errors[free] = solve(matrix[:, free], answers)
    return Fit(coefficients, errors, len(answers))


def independent(matrix: Floats) -> Booleans:
    """Which columns are no combination of the columns before them."""
    triangle = np.abs(np.diagonal(np.asarray(np.linalg.qr(matrix, mode="r"))))
    lengths = np.linalg.norm(matrix, axis=0)[: len(triangle)]
    free = np.zeros(matrix.shape[1], dtype=np.bool_)
    free[: len(triangle)] = triangle > 1e-7 * np.maximum(lengths, 1e-300)
    return free


def _least_squares(matrix: Floats, answers: Floats) -> tuple[Floats, Floats]:
    inverse = np.linalg.inv(matrix.T @ matrix)
    coefficients = inverse @ (matrix.T @ answers)
    left = answers - matrix @ coefficients  # zero where the answers follow exactly: errors have a floor
    variance = float(left @ left) / (len(answers) - matrix.shape[1])
    return coefficients, np.maximum(np.sqrt(variance * inverse.diagonal()), 1e-9)


def _logistic(matrix: Floats, answers: Floats) -> tuple[Floats, Floats]:
    """Where a term tells the answers apart without error, its coefficient stays finite and its error becomes large."""
    coefficients: Floats = np.zeros(matrix.shape[1])
    inverse: Floats = np.zeros((matrix.shape[1],) * 2)
    for _ in range(25):
        chances = 1 / (1 + np.exp(-np.clip(matrix @ coefficients, -30, 30)))
        weights = chances * (1 - chances)
        information = matrix.T @ (matrix * weights[:, None])
        information += 1e-9 * len(answers) * np.eye(len(coefficients))
        inverse = np.asarray(np.linalg.inv(information), dtype=np.float64)
        step = inverse @ (matrix.T @ (answers - chances))
        coefficients = coefficients + np.clip(step, -5.0, 5.0)
        if np.abs(step).max() < 1e-6:
            break
    return coefficients, np.sqrt(inverse.diagonal())


@dataclass(frozen=True, eq=False)
class Agreement:
    """By coefficient of a regression, the intercept left out: how far another table's is from that of training rows.

    ``columns`` are the columns that the terms belong to, ``lacking`` what the overlap of the intervals lacks of 1, and
    ``off`` the distance in standard errors of the training rows' coefficient, NaN where the table decides none.
    """

    columns: tuple[str, ...]
    lacking: Floats
    off: Floats

    @classmethod
    def of(cls, real: Fit, other: Fit, columns: Sequence[str], among: Booleans) -> Agreement:
        """The agreement of those coefficients that are ``among``, shape (terms,)."""
        chosen = np.flatnonzero(among)
        names = tuple(columns[j] for j in chosen.tolist())
        return cls(names, 1 - overlaps(real, other)[chosen], standardised(real, other)[chosen])

    @property
    def mean_off(self) -> float | None:
        decided = self.off[~np.isnan(self.off)]
        return float(decided.mean()) if len(decided) else None

    @property
    def worst(self) -> int:
        return int(np.argmax(self.lacking))


def agreements(
    train: Table, drawn: Table, unseen: Table, target: str, others: Sequence[str]
) -> tuple[Agreement, Agreement, Agreement | None] | None:
    """Of the regression of ``target`` on ``others``: that of ``drawn`` rows with training rows, that of coefficients of
    0, and that of ``unseen`` rows, as if they were as many as the drawn ones; None where there are too few of them.

    None for all where training rows decide no coefficient.
    """
    if np.isnan(train[target]).all():
        return None
    regression = Regression.of(train, target, others)
    real, other, usual = (regression.fit(table) for table in (train, drawn, unseen))
    if not real.decided.any():
        return None
    columns = [train.names[j] for j in regression.design.owners.tolist()]
    nothing = Fit(np.zeros_like(real.coefficients), real.errors, real.rows)
    common = real.decided & usual.decided
    control = Agreement.of(real, usual.as_if(max(1, other.rows), real), columns, common) if common.any() else None
    return (
        Agreement.of(real, other, columns, real.decided),
        Agreement.of(real, nothing, columns, real.decided),
        control,
    )


def overlaps(real: Fit, other: Fit) -> Floats:
    """How much the 95 % intervals of each coefficient overlap, the intercept left out: shape (terms - 1,), in [0, 1].

    The mean of the shares of either interval that the other one covers (Karr et al., American Statistician 60, 2006,
    doi 10.1198/000313006X124640). The errors of ``other`` are scaled to the rows of ``real``, as if both were tables of
    the same size (synthpop's default; J. Stat. Softw. 74, 2016). A coefficient of ``real`` that ``other`` does not have
    overlaps with nothing.

    NOTE[DIFF]: intervals that do not meet overlap by 0, not by a negative share, lest one of them decide the mean.
    """
    first, second = Z * real.errors[1:], Z * other.errors[1:] * sqrt(other.rows / max(1, real.rows))
    one, two = real.coefficients[1:], other.coefficients[1:]
    common = np.minimum(one + first, two + second) - np.maximum(one - first, two - second)
    shares = common * (1 / first + 1 / second) / 4
    return np.clip(np.nan_to_num(shares, nan=0.0), 0.0, 1.0)


def standardised(real: Fit, other: Fit) -> Floats:
    """The distance of each coefficient from ``real``'s in standard errors of that; NaN where ``other`` has none."""
    return np.asarray(np.abs(other.coefficients[1:] - real.coefficients[1:]) / real.errors[1:])
