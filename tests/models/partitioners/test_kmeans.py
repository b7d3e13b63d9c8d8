"""k-means finds the clusters there are, takes the elbow's number of them, and stays calm where there are none."""

import warnings

import numpy as np
import pytest

from models.clusters import LOOKED_AT
from models.errors import SpecError
from models.partitioners import catalog
from models.partitioners.kmeans import Kmeans
from models.randomness import Seed
from models.schema import Column
from models.table import Table

X = Column(name="x", kind="continuous", dtype="double", bounds=(-1e3, 1e3))
Y = Column(name="y", kind="continuous", dtype="double", bounds=(-1e3, 1e3))
CORNERS = np.array([[0, 0], [0, 20], [20, 0], [20, 20]])


def corners(sizes, seed=0):
    """Rows about the corners of a square, and the corner of each."""
    rng = np.random.default_rng(seed)
    corner = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return Table((X, Y), CORNERS[corner] + rng.normal(size=(sum(sizes), 2))), corner


def same_groups(one, other):
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


@pytest.mark.parametrize("said", [{}, {"k": 4}])
def test_four_corners_are_four_clusters_the_largest_first(said):
    table, corner = corners([60, 80, 160, 100])
    found = Kmeans(**said).partition(table, Seed.of(1))
    assert same_groups(found.rows, corner)
    assert found.sizes == (160, 100, 80, 60)
    assert [cluster.share for cluster in found.told.clusters] == [0.4, 0.25, 0.2, 0.15]
    assert "4 clusters: 4 sought" in found.told.reason


def test_a_corner_of_few_rows_goes_to_the_nearest_and_is_told_of():
    table, corner = corners([100, 100, 20])
    found = Kmeans(k=3).partition(table, Seed.of(1))
    assert sorted(found.sizes) == [100, 120]
    assert np.unique(found.rows[corner == 2]).size == 1
    assert "2 clusters: 3 sought as asked, 1 of them too small and given to the nearest" in found.told.reason


def test_more_clusters_than_rows_are_refused_by_name():
    table, _ = corners([3, 3])
    with pytest.raises(SpecError, match=r"partitioner: 7 clusters for 6 rows .ask for at most 6 clusters"):
        Kmeans(k=7).partition(table, Seed.of(1))


@pytest.mark.parametrize("k", [0, 21])
def test_more_clusters_than_can_be_large_enough_are_refused_before_rows_are_read(k):
    with pytest.raises(SpecError, match="20" if k else "1"):
        catalog.build({"kind": "kmeans", "k": k})


def test_rows_that_are_all_alike_are_one_cluster_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for said in ({}, {"k": 5}):
            found = Kmeans(**said).partition(Table((X, Y), np.full((200, 2), 3.0)), Seed.of(1))
            assert found.sizes == (200,)
            assert "one cluster holds all rows" in found.told.reason


def test_fewer_different_rows_than_clusters_are_as_many_clusters_as_there_are_rows():
    table = Table((X, Y), np.repeat(CORNERS[:2], 80, axis=0).astype(float))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Kmeans(k=6).partition(table, Seed.of(1))
        assert Kmeans().partition(table, Seed.of(1)).sizes == (80, 80)
    assert found.sizes == (80, 80)
    assert "2 clusters: 2 sought for want of 6 different rows" in found.told.reason


def test_of_many_rows_some_are_looked_at_and_all_are_assigned():
    table, corner = corners([LOOKED_AT, LOOKED_AT // 2])
    assert same_groups(Kmeans(k=2).partition(table, Seed.of(1)).rows, corner)


def test_generators_may_be_named_for_as_many_clusters_as_there_may_be():
    assert Kmeans(k=2).names() == ("cluster-1", "cluster-2")
    assert len(Kmeans().names()) == 8
