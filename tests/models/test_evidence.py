"""Evidence is three tables of the same columns, looked at as whole rows and part by part."""

import numpy as np
import pytest
from crowd import ONE_PART, TWO_PARTS, crowd

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


def test_a_part_is_called_a_part_once():
    assert [place(view) for view in (WHOLE, "money", "part-1")] == ["", "part money", "part-1"]


def test_closeness_sees_every_row():
    closeness = Evidence(TRAIN, HOLDOUT, TRAIN, TWO_PARTS).closeness["a"]
    assert (len(closeness.train), len(closeness.holdout), len(closeness.strangers)) == (30, 20, 20)
    assert not closeness.train.any()
    assert np.array_equal(closeness.holdout, closeness.strangers)
