"""Rows in groups that are alike."""

from __future__ import annotations

import numpy as np

from models.hydra.clusters import clusters, merged
from models.randomness import Seed

SEED = Seed.of(1)


def blobs(sizes: list[int]) -> np.ndarray:
    rng = Seed.of(2).generator()
    return np.concatenate([rng.normal(20 * place, 1, (size, 2)) for place, size in enumerate(sizes)])


def test_the_elbow_finds_the_groups_that_there_are():
    labels = clusters(blobs([100, 100, 100]), None, 20, SEED)
    assert sorted(np.bincount(labels)) == [100, 100, 100]


def test_a_number_that_is_given_is_taken():
    assert len(set(clusters(blobs([100, 100, 100]), 2, 20, SEED))) == 2


def test_a_small_cluster_joins_the_nearest():
    labels = clusters(blobs([100, 100, 5]), 3, 20, SEED)
    assert sorted(np.bincount(labels)) == [100, 105]
    assert labels[-1] == labels[150]


def test_equal_rows_are_one_cluster():
    assert set(clusters(np.ones((90, 3)), None, 10, SEED)) == {0}
    assert set(clusters(np.ones((90, 3)), 4, 10, SEED)) == {0}


def test_few_rows_are_one_cluster():
    assert set(clusters(blobs([5, 5]), None, 50, SEED)) == {0}


def test_the_same_seed_gives_the_same_clusters_of_more_rows_than_decide():
    rows = blobs([6000, 6000])
    first, again = (clusters(rows, None, 50, SEED) for _ in range(2))
    assert np.array_equal(first, again)
    assert sorted(np.bincount(first)) == [6000, 6000]


def test_labels_with_gaps_are_numbered_anew():
    assert merged(np.array([7, 7, 3, 3]), np.array([[0.0], [0], [9], [9]]), 1).tolist() == [1, 1, 0, 0]
