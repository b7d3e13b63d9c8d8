"""Rows in groups that are alike, one for each head: k-means, with the number of groups by the elbow of its inertia."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.clusters import elbow
from models.randomness import Seed
from models.table import Integers

MOST = 8
"""The elbow is looked for among so many clusters at most."""

LOOKED_AT = 10_000
"""So many rows decide where the centres are."""

STARTS = 4
"""Each k-means is the best of so many starts."""


def clusters(rows: NDArray[Any], count: int | None, least: int, seed: Seed) -> Integers:
    """A cluster per row, shape (rows,), numbered from 0 without gaps, each of at least ``least`` rows.

    ``count`` clusters, or as many as the elbow says; smaller clusters then join the one whose centre is nearest.
    """
    scaled = (rows - rows.mean(axis=0)) / np.where(rows.std(axis=0) > 1e-6, rows.std(axis=0), 1.0)
    chosen = scaled
    if len(scaled) > LOOKED_AT:
        chosen = scaled[np.sort(seed.child("rows").generator().choice(len(scaled), LOOKED_AT, replace=False))]
    most = min(MOST if count is None else count, len(np.unique(chosen, axis=0)), max(1, len(rows) // least))
    tried = range(1, most + 1) if count is None else [most]
    fits = [_kmeans(chosen, k, seed.child(f"k/{k}")) for k in tried]
    model = fits[elbow(np.array([fit.inertia_ for fit in fits])) - 1 if len(fits) > 2 else -1]
    return merged(model.predict(scaled), scaled, least)


def merged(labels: NDArray[Any], rows: NDArray[Any], least: int) -> Integers:
    """The labels once every cluster of fewer than ``least`` rows, the smallest first, has joined its nearest."""
    found = np.unique(labels, return_inverse=True)[1].reshape(-1)
    while len(sizes := np.bincount(found)) > 1 and sizes.min() < least:
        centres = np.stack([rows[found == place].mean(axis=0) for place in range(len(sizes))])
        small = int(sizes.argmin())
        distance = ((centres - centres[small]) ** 2).sum(axis=1)
        distance[small] = np.inf
        found[found == small] = int(distance.argmin())
        found = np.unique(found, return_inverse=True)[1].reshape(-1)
    return found.astype(np.int64)


def _kmeans(rows: NDArray[Any], count: int, seed: Seed) -> Any:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rows that differ by rounding alone
        return KMeans(count, n_init=STARTS, random_state=seed.integer()).fit(rows)
