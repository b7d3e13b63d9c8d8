"""In a scaling every column counts alike; small clusters go to the nearest; an assignment tells little of itself."""

import numpy as np
import pytest

from models.clusters import Scaling, assigned, by_centres, elbow, fewest, large_enough
from models.schema import Column
from models.table import Table

NAN = np.nan
X = Column(name="x", kind="continuous", dtype="double", bounds=(-1e6, 1e6), nullable=True)
Y = Column(name="y", kind="continuous", dtype="double", bounds=(-1e6, 1e6), nullable=True)
L = Column(name="l", kind="categorical", dtype="string", levels=tuple("abcdefghij"), nullable=True)


def table(**cells):
    columns = [column for column in (X, Y, L) if column.name in cells]
    arrays = [np.asarray(cells[column.name], dtype=float) for column in columns]
    return Table.of(columns, arrays, len(arrays[0]))


def at(*sizes):
    """Rows at x = 0, 10, 11, ..., so many at each place, and their labels."""
    places = [0, *range(10, 9 + len(sizes))]
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return table(x=np.array(places, float)[labels]), labels


def test_a_number_and_a_column_of_ten_levels_count_alike():
    rng = np.random.default_rng(1)
    points = Scaling.of(made := table(x=rng.normal(size=2000), l=rng.integers(0, 10, 2000))).points(made)
    assert points.var(axis=0).sum() == pytest.approx(2)
    assert points[:, 1].var() == pytest.approx(1)


def test_columns_in_which_all_rows_are_alike_count_nothing():
    made = table(x=[3, 3, 3], y=[NAN, NAN, NAN], l=[1, 1, 1])
    assert not Scaling.of(made).points(made).any()


def test_missing_cells_are_a_trait_of_their_own():
    made = table(x=[NAN, NAN, 5, 5], y=[1, 2, 3, 4])
    one, other, third, _ = Scaling.of(made).points(made)[:, :-1]
    assert np.array_equal(one, other)
    assert not np.array_equal(one, third)


def test_a_centre_is_the_mean_of_its_rows_and_each_row_is_nearest_to_its_own():
    made, labels = at(4, 6)
    scaling = Scaling.of(made)
    centres = scaling.centres(made, labels, 3)
    assert np.allclose(centres[:2], scaling.points(made)[[0, 9]])
    assert not centres[2].any()
    assert scaling.nearest(made, centres[:2]).tolist() == labels.tolist()
    assert scaling.nearest(made.take(slice(0, 0)), centres).shape == (0,)


@pytest.mark.parametrize(("rows", "least"), [(30, 50), (1000, 50), (1001, 51), (20_000, 1000)])
def test_a_cluster_has_50_rows_or_5_percent_of_them(rows, least):
    assert fewest(rows) == least


def test_the_smallest_group_goes_to_the_nearest_until_all_are_large_enough():
    made, labels = at(60, 60, 20)
    assert np.bincount(large_enough(made, labels, 3)).tolist() == [60, 80]
    made, labels = at(60, 20, 20, 20)
    assert np.unique(large_enough(made, labels, 4)[60:]).size == 1


def test_fewer_rows_than_a_cluster_must_have_are_one_cluster():
    made, labels = at(20, 5, 5)
    assert np.unique(large_enough(made, labels, 3)).size == 1


def test_labels_without_rows_are_no_clusters():
    made, labels = at(60, 60)
    assert large_enough(made, labels, 5000).tolist() == labels.tolist()


def test_clusters_are_numbered_in_the_order_given_and_their_shares_are_told_to_a_hundredth():
    made, labels = at(61, 60)
    found = assigned(made, labels, [1, 0], "why", ["far", "near"])
    assert found.sizes == (60, 61)
    assert [(c.name, c.share, c.what) for c in found.told.clusters] == [
        ("cluster-1", 0.5, "far"), ("cluster-2", 0.5, "near"),
    ]  # fmt: skip
    assert found.told.columns == ("x",)


def test_other_rows_belong_where_the_centre_is_nearest():
    made, labels = at(60, 60)
    place = by_centres(made, assigned(made, labels, [1, 0], "why"))
    assert place(table(x=[-3, 4, 6, 99])).tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(("curve", "k"), [
    ([100, 10, 9, 8, 7], 2), ([100, 80, 60, 5, 4, 3], 4), ([0, 0, 0], 1), ([4, 4, 4], 1), ([9, 6, 3], 1),
    ([9, 0, 0], 2),
])  # fmt: skip
def test_the_elbow_lies_farthest_below_the_chord(curve, k):
    assert elbow(np.array(curve, float)) == k
