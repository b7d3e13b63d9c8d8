"""Evidence is three tables of the same columns, looked at as whole rows and part by part."""

import numpy as np
import pytest
from crowd import ONE_PART, TWO_PARTS, by_region, crowd

from models.errors import AuditError
from models.evidence import WHOLE, Evidence, place
from models.partition import Part, Partition

TRAIN, HOLDOUT, DRAWN = crowd(30, 1), crowd(20, 2), crowd(25, 3)


def test_tables_of_different_columns_are_refused():
    with pytest.raises(AuditError, match="different columns"):
        Evidence(TRAIN, HOLDOUT, DRAWN.select(["income", "age"]), ONE_PART)


def test_all_faults_are_told_at_once():
    nobody = TRAIN.take(slice(0, 0))
    with pytest.raises(AuditError, match=r"training rows: 0 rows.*synthetic rows: 0 rows"):
        Evidence(nobody, HOLDOUT, nobody, ONE_PART)


def test_a_partition_of_other_columns_is_refused():
    other = Partition(parts=(Part(name="p", columns=("height",)),), reason="")
    with pytest.raises(AuditError, match="columns that the tables lack: height"):
        Evidence(TRAIN, HOLDOUT, DRAWN, other)


def test_tables_without_columns_are_refused():
    with pytest.raises(AuditError, match="has no column"):
        Evidence(TRAIN.select([]), HOLDOUT.select([]), DRAWN.select([]), Partition(parts=(), reason=""))


def test_one_part_is_the_whole_row_and_is_looked_at_once():
    assert list(Evidence(TRAIN, HOLDOUT, DRAWN, ONE_PART).views) == [WHOLE]
    assert list(Evidence(TRAIN, HOLDOUT, DRAWN, TWO_PARTS).views) == [WHOLE, "a", "b"]


def test_clusters_of_other_rows_are_refused():
    for crowds in (by_region(TRAIN, DRAWN), by_region(HOLDOUT, HOLDOUT)):
        with pytest.raises(AuditError, match=r"cluster-1: is of other rows .*cluster-4: is of other rows"):
            Evidence(TRAIN, HOLDOUT, DRAWN, ONE_PART, clusters=crowds)


def test_a_part_is_called_a_part_once():
    assert [place(view) for view in (WHOLE, "money", "part-1")] == ["", "part money", "part-1"]


def test_a_cluster_is_called_by_its_name():
    assert place("cluster-2") == "cluster-2"


@pytest.mark.parametrize("queries", [0, -1])
def test_asking_nobody_is_refused(queries):
    with pytest.raises(AuditError, match=rf"queries: {queries} rows"):
        Evidence(TRAIN, HOLDOUT, DRAWN, ONE_PART, queries=queries)


@pytest.mark.parametrize("queries", [None, 30, 1000])
def test_small_tables_are_asked_whole(queries):
    case = Evidence(TRAIN, HOLDOUT, DRAWN, ONE_PART, queries=queries)
    assert case.asked(TRAIN) is TRAIN
    assert case.asked_rows(TRAIN).tolist() == list(range(30))


def test_of_large_tables_a_fixed_sample_without_repetition_is_asked():
    case = Evidence(TRAIN, HOLDOUT, DRAWN, ONE_PART, queries=7)
    rows = case.asked_rows(TRAIN)
    assert len(set(rows.tolist())) == 7
    assert (
        rows.tolist() == sorted(rows) == Evidence(TRAIN, DRAWN, HOLDOUT, ONE_PART, queries=7).asked_rows(TRAIN).tolist()
    )
    assert np.array_equal(case.asked(TRAIN).values, TRAIN.values[rows], equal_nan=True)


def test_every_row_of_a_large_table_is_asked_as_often_as_others():
    tables = (crowd(rows, 1) for rows in range(20, 220))
    case = Evidence(TRAIN, HOLDOUT, DRAWN, ONE_PART, queries=10)
    places = np.concatenate([case.asked_rows(table) / len(table) for table in tables])
    assert places.mean() == pytest.approx(0.5, abs=0.05)


def test_all_rows_answer_whoever_asks():
    every, some = (Evidence(TRAIN, HOLDOUT, DRAWN, TWO_PARTS, queries=queries) for queries in (None, 8))
    for view, closeness in every.closeness.items():
        for name, table in (("train", TRAIN), ("holdout", HOLDOUT), ("strangers", HOLDOUT)):
            rows = some.asked_rows(table)
            assert getattr(some.closeness[view], name).tolist() == getattr(closeness, name)[rows].tolist()


def test_each_synthetic_row_that_is_asked_gives_one_credit_to_all_real_rows():
    every, some = (Evidence(TRAIN, HOLDOUT, DRAWN, ONE_PART, queries=queries) for queries in (None, 8))
    assert [len(credits) for credits in some.credits] == [30, 20]
    assert sum(credits.sum() for credits in every.credits) == pytest.approx(25)
    assert sum(credits.sum() for credits in some.credits) == pytest.approx(8)


def test_closeness_sees_every_row():
    closeness = Evidence(TRAIN, HOLDOUT, TRAIN, TWO_PARTS).closeness["a"]
    assert (len(closeness.train), len(closeness.holdout), len(closeness.strangers)) == (30, 20, 20)
    assert not closeness.train.any()
    assert np.array_equal(closeness.holdout, closeness.strangers)
