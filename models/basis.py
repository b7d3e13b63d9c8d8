"""Features of one part's cells whose products with another part's features can tell that two parts belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from models.association import FEW, commonest
from models.schema import Column
from models.table import Booleans, Floats, Integers, Table

Features = NDArray[np.float32]
Detail = Literal["steps", "curves", "lines"]

MOST_LEVELS = 16
"""So many of a column's levels have a feature of their own, the commonest first."""

MOST_FEATURES = 240
"""Numbers are described in so much detail as keeps the features of all parts below this count."""

KNOTS = 33
"""A number's rank is read off so many quantiles, between which it is interpolated."""

STEPS = np.arange(1, 8) / 8
"""The quantiles at which a number has a step."""

EDGES = np.arange(1, 24) / 24
"""The quantiles that a yes-no question about a number can be about."""

LEAST_SPREAD = 0.1
"""Features are divided by their standard deviation, or by this where it is smaller: rare levels get less weight."""

WEIGHTS = {"value": 0.7, "score": 0.7, "bend": 0.5, "step": 0.4, "level": 1.0}
"""How much each feature may say beside the others of its column: a number has several that overlap."""


@dataclass(frozen=True)
class Basis:
    """Turns the cells of one part into features. It keeps quantiles, means and spreads of real cells: never stored."""

    columns: tuple[_Number | _Levels, ...]
    centre: Floats
    scale: Floats
    owners: Integers

    @classmethod
    def of(cls, table: Table, detail: Detail) -> Basis:
        """Columns in which nothing varies have no feature."""
        columns = tuple(_described(c, table.values[:, j], detail) for j, c in enumerate(table.columns))
        raw = [column.raw(table.values[:, j]) for j, column in enumerate(columns)]
        owners = np.repeat(np.arange(len(columns)), [block.shape[1] for block in raw])
        weights = np.array([weight for column in columns for weight in column.weights()], dtype=np.float64)
        stacked = np.hstack([*raw, np.empty((len(table), 0))])
        centre, spread = _moments(stacked)
        scale = np.where(spread > 1e-9, weights / np.maximum(spread, LEAST_SPREAD), 0.0)
        return cls(columns, centre, scale, owners)

    @property
    def owner(self) -> Integers:
        """The position of the column that each feature describes, shape (features,), in order."""
        return self.owners[self.scale > 0]

    def answers(self, table: Table) -> Booleans:
        """Whether cells lie above certain quantiles, are of a level, or missing: shape (rows, questions)."""
        asked = [column.answers(table.values[:, j]) for j, column in enumerate(self.columns)]
        return np.hstack([*asked, np.empty((len(table), 0), dtype=bool)])

    def features(self, table: Table) -> Features:
        """Shape (rows, features): about centred, without missing values."""
        raw = np.hstack(
            [*(column.raw(table.values[:, j]) for j, column in enumerate(self.columns)), np.empty((len(table), 0))]
        )
        kept = self.scale > 0
        return ((raw[:, kept] - self.centre[kept]) * self.scale[kept]).astype(np.float32)


def bases(parts: Sequence[Table], most: int = MOST_FEATURES) -> list[Basis]:
    """One basis for every part, all in the same detail: the finest with at most ``most`` features, or the coarsest."""
    details: tuple[Detail, ...] = ("steps", "curves", "lines")
    for detail in details:
        found = [Basis.of(part, detail) for part in parts]
        if sum(len(basis.owner) for basis in found) <= most:
            break
    return found


def _moments(stacked: Floats) -> tuple[Floats, Floats]:
    if not len(stacked):
        return np.zeros(stacked.shape[1]), np.zeros(stacked.shape[1])
    return stacked.mean(axis=0), stacked.std(axis=0)


def _described(column: Column, cells: Floats, detail: Detail) -> _Number | _Levels:
    gaps, present = bool(np.isnan(cells).any()), cells[~np.isnan(cells)]
    if not (column.numeric or column.ordered):
        codes = commonest(cells, MOST_LEVELS, FEW)
        return _Levels(codes[1:] if len(codes) == len(np.unique(present)) and not gaps else codes, gaps)
    if not len(present):
        return _Levels(np.empty(0), gaps)
    edges = np.unique(np.quantile(present, EDGES))
    knots, where = np.unique(np.quantile(present, np.linspace(0, 1, KNOTS)), return_index=True)
    _, last = np.unique(np.quantile(present, np.linspace(0, 1, KNOTS))[::-1], return_index=True)
    middle = (where + (KNOTS - 1 - last)) / 2 / (KNOTS - 1)
    steps = np.unique(np.quantile(present, STEPS)) if detail == "steps" and len(knots) > 2 else np.empty(0)
    spread = float(present.std()) or 1.0
    above = edges[edges < present.max()]
    return _Number(float(present.mean()), spread, knots, _normal_scores(middle), steps, above, detail, gaps)


def _normal_scores(ranks: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(ranks, 0.5 / KNOTS, 1 - 0.5 / KNOTS)), dtype=np.float64)


@dataclass(frozen=True)
class _Number:
    """The value, its normal score, the score's square, steps at quantiles, and whether it is missing."""

    mean: float
    spread: float
    knots: Floats
    scores: Floats
    steps: Floats
    edges: Floats
    detail: Detail
    gaps: bool

    def weights(self) -> list[float]:
        shape = ["value"] if self.detail == "lines" else ["value", "score", "bend"]
        return [WEIGHTS[name] for name in (*shape, *["step"] * len(self.steps), *["level"] * self.gaps)]

    def answers(self, cells: Floats) -> Booleans:
        above = cells[:, None] > self.edges
        return np.hstack([above, np.isnan(cells)[:, None]]) if self.gaps else above

    def raw(self, cells: Floats) -> Floats:
        missing = np.isnan(cells)
        value = np.clip((cells - self.mean) / self.spread, -4, 4)
        score = np.interp(cells, self.knots, self.scores)
        shape = [value] if self.detail == "lines" else [value, score, score**2]
        features = np.array([*shape, *(cells > step for step in self.steps)], dtype=np.float64)
        features[:, missing] = 0.0
        return np.vstack([features, missing] if self.gaps else [features]).T


@dataclass(frozen=True)
class _Levels:
    """One feature for each of ``codes`` and one for missing. Other levels are known by having none."""

    codes: Floats
    gaps: bool

    def weights(self) -> list[float]:
        return [WEIGHTS["level"]] * (len(self.codes) + self.gaps)

    def answers(self, cells: Floats) -> Booleans:
        indicators = [cells == code for code in self.codes] + ([np.isnan(cells)] if self.gaps else [])
        return np.array(indicators, dtype=bool).reshape(len(indicators), len(cells)).T

    def raw(self, cells: Floats) -> Floats:
        return self.answers(cells).astype(np.float64)
