"""A partition is disjoint, named and never empty-handed; a clustering tells of an assignment only what may be told."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from models.partition import Assignment, Cluster, Clustering, Part, Partition, division, largest_remainders
from models.schema import Column
from models.table import Table

X = Column(name="x", kind="integer", dtype="int64", bounds=(0, 9))
ROWS = Table.of([X], [np.arange(5.0)], 5)


def partition(**parts):
    return Partition(parts=tuple(Part(name=name, columns=columns) for name, columns in parts.items()), reason="given")


def clustering(*shares):
    clusters = tuple(Cluster(name=f"cluster-{n}", share=share) for n, share in enumerate(shares, start=1))
    return Clustering(clusters=clusters, columns=("x",), reason="alike")


def test_columns_come_in_the_order_of_the_parts():
    assert partition(a=("x", "y"), b=("z",)).columns == ("x", "y", "z")


def test_a_column_in_two_parts_is_refused():
    with pytest.raises(ValidationError, match="a column stands in two parts"):
        partition(a=("x", "y"), b=("y",))


def test_a_part_without_a_column_is_refused():
    with pytest.raises(ValidationError, match="a part has no column"):
        partition(a=("x",), b=())


def test_two_parts_of_one_name_are_refused():
    with pytest.raises(ValidationError, match="two parts have the same name"):
        Partition(parts=(Part(name="a", columns=("x",)), Part(name="a", columns=("y",))), reason="given")


def test_two_clusters_of_one_name_and_none_at_all_are_refused():
    with pytest.raises(ValidationError, match="two clusters have the same name"):
        Clustering(clusters=(Cluster(name="a", share=0.5),) * 2, columns=("x",), reason="alike")
    with pytest.raises(ValidationError):
        clustering()


@pytest.mark.parametrize("there", [partition(a=("x",), b=("y",)), clustering(0.4, 0.6)])
def test_what_is_told_comes_back_from_json(there):
    assert division(there.model_dump(mode="json")) == there
    assert there.by in {"columns", "rows"}


def test_both_name_their_parts_and_the_columns_of_each():
    assert partition(a=("x", "y"), b=("z",)).names == ("a", "b")
    assert partition(a=("x", "y"), b=("z",)).columns_of("b") == ("z",)
    assert clustering(0.4, 0.6).names == ("cluster-1", "cluster-2")
    assert clustering(0.4, 0.6).columns_of("cluster-2") == ("x",)


def test_of_divided_rows_all_columns_are_in_one_part():
    assert clustering(0.4, 0.6).of_columns.parts == (Part(name="all", columns=("x",)),)
    assert (both := partition(a=("x",), b=("z",))).of_columns is both


def test_a_part_is_learned_from_its_columns_and_a_cluster_from_its_rows():
    found = Assignment(clustering(0.4, 0.6), np.array([1, 0, 1, 1, 0]))
    assert [part.of(ROWS)["x"].tolist() for part in found.parts] == [[1, 4], [0, 2, 3]]
    assert found.sizes == (2, 3)
    assert partition(a=("x",)).parts[0].of(ROWS).names == ("x",)


def test_which_row_is_in_which_cluster_is_not_told():
    assert set(clustering(1).model_dump()) == {"by", "reason", "clusters", "columns"}
    assert set(Cluster.model_fields) == {"name", "share", "what"}


@pytest.mark.parametrize("rows", [[0, 2], [-1, 0], [[0, 1]]])
def test_a_row_of_no_cluster_is_refused(rows):
    with pytest.raises(ValueError, match="a row is in none of the clusters"):
        Assignment(clustering(0.4, 0.6), np.array(rows))


def test_a_cluster_says_which_rows_it_is():
    assert Cluster(name="a", share=0.34).said == "about 34 % of the rows"
    assert Cluster(name="a", share=0.34, what="sex: f").said == "about 34 % of the rows; sex: f"


@pytest.mark.parametrize(("sizes", "n", "quota"), [
    ((2, 3), 5, (2, 3)), ((1, 1, 1), 4, (2, 1, 1)), ((50, 30, 20), 9, (4, 3, 2)), ((50, 950), 1, (0, 1)),
    ((7,), 0, (0,)),
])  # fmt: skip
def test_rows_go_by_largest_remainders_and_of_equal_ones_to_the_first(sizes, n, quota):
    assert largest_remainders(sizes, n) == quota


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=20).filter(any), st.integers(0, 10**9))
def test_shares_of_rows_add_up_and_are_off_by_less_than_one(sizes, n):
    found = largest_remainders(sizes, n)
    assert sum(found) == n
    assert all(abs(count - n * size / sum(sizes)) < 1 for count, size in zip(found, sizes, strict=True))
