"""Levels without an order, put in the order of what they tell about other columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.bins import Codes
from models.schema import Column, Kind
from models.table import Floats, Integers


def natural(column: Column) -> bool:
    """Whether the column's codes have an order of their own."""
    return column.numeric or column.ordered or column.kind is Kind.BOOLEAN


def places(codes: Integers, size: int, about: NDArray[Any], least: int) -> Floats:
    """Where each of ``size`` codes stands along the direction in which they differ most, shape (size,).

    ``about`` is what they may differ in, by row: classes, shape (rows,), or features of variance 1, shape (rows,
    features). A code's profile is the mean of its rows, shrunk by ``least`` rows towards the overall mean; a code of
    fewer rows stands there, at 0. The direction is the first principal one of the profiles: for two classes or one
    feature, the mean itself, along which the best split in two lies (Breiman et al. 1984, theorem 4.5).
    """
    rows = np.bincount(codes, minlength=size)
    profiles = _class_sums(codes, rows, about) if about.ndim == 1 else _feature_sums(codes, rows, about)
    profiles /= (rows + least)[:, None]
    profiles[rows < least] = 0.0
    direction = np.linalg.eigh(profiles.T @ (rows[:, None] * profiles))[1][:, -1]
    return np.asarray(profiles @ direction, dtype=np.float64)


def _class_sums(codes: Integers, rows: Integers, classes: Integers) -> Floats:
    """Each code's rows of every class beyond what is expected, in standard deviations of one row."""
    count = int(classes.max()) + 1
    sums = np.bincount(codes * count + classes, minlength=len(rows) * count).reshape(len(rows), count)
    share = sums.sum(axis=0) / len(codes)
    spread = np.sqrt(np.maximum(share * (1 - share), 1 / len(codes)))
    return np.asarray((sums - np.outer(rows, share)) / spread, dtype=np.float64)


def _feature_sums(codes: Integers, rows: Integers, features: Floats) -> Floats:
    return np.stack([np.bincount(codes, weights=each, minlength=len(rows)) for each in features.T], axis=1)


def features(codes: Codes, coded: Integers, most: int) -> Floats:
    """A column as features of mean 0 and variance 1 (or all 0), shape (rows, features).

    Mid-ranks where the codes have an order, else whether a row has each of the ``most`` commonest codes.
    """
    counts = np.bincount(coded, minlength=codes.count + 1)
    if natural(codes.column):
        return standard((np.cumsum(counts) - counts / 2)[coded][:, None])
    return standard(coded[:, None] == np.argsort(-counts, kind="stable")[:most])


def standard(columns: NDArray[Any]) -> Floats:
    """Columns shifted to mean 0 and scaled to variance 1; constant ones are all 0."""
    shifted = columns - columns.mean(axis=0)
    spread = shifted.std(axis=0)
    return np.asarray(shifted / np.where(spread > 1e-12, spread, 1.0), dtype=np.float64)
