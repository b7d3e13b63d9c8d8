"""Distances of single columns."""

import numpy as np
import pytest
from crowd import cells, crowd, evidence, found

from models.finding import Verdict
from models.measures.marginals import Marginals, column_distances
from models.randomness import Seed
from models.schema import Column
from models.table import Table

TRAIN, HOLDOUT, FRESH = crowd(400, 1), crowd(300, 2), crowd(400, 3)
LEVEL = Column(name="l", kind="categorical", dtype="string", levels=("a", "b", "c"), nullable=True)
NUMBER = Column(name="x", kind="integer", dtype="int64", bounds=(0, 10), nullable=True)


def distance(column, one, other):
    one, other = (Table((column,), np.array(values, dtype=float)[:, None]) for values in (one, other))
    return column_distances(one, other)[0]


def test_levels_differ_by_total_variation_with_missing_as_a_level():
    assert distance(LEVEL, [0, 0, 1, 1], [0, 1, 1, 1]) == 0.25
    assert distance(LEVEL, [0, 0, 0, 0], [0, 0, np.nan, np.nan]) == 0.5


def test_numbers_differ_by_their_distribution_functions():
    assert distance(NUMBER, [1, 2, 3, 4], [1, 2, 3, 4]) == 0
    assert distance(NUMBER, [1, 2, 3, 4], [3, 4, 5, 6]) == 0.5


def test_numbers_differ_by_their_missing_shares_too():
    assert distance(NUMBER, [1, 2, 1, 2], [1, 2, np.nan, np.nan]) == 0.5


def test_a_column_that_lost_all_values_is_as_far_as_can_be():
    assert distance(NUMBER, [1, 2], [np.nan, np.nan]) == 1
    assert distance(NUMBER, [np.nan], [np.nan, np.nan]) == 0


def measured(synthetic, **more):
    return Marginals(**more).measure(evidence(synthetic, train=TRAIN, holdout=HOLDOUT), Seed.of(1))


def test_fresh_rows_pass():
    (worst,) = [finding for finding in measured(FRESH) if finding.name == "Worst column"]
    assert worst.verdict is Verdict.PASS
    assert worst.estimate == pytest.approx(worst.observed - worst.control)


def test_a_column_that_nobody_modelled_fails_and_is_named():
    changed = FRESH.values.copy()
    changed[:, 3] = 20.0
    (worst,) = [finding for finding in measured(cells(FRESH, changed)) if finding.name == "Worst column"]
    assert worst.where == "weight"
    assert worst.verdict is Verdict.FAIL


def test_the_mean_is_reported_unless_it_has_a_limit():
    assert found(measured(FRESH), "Mean over columns").verdict is None
    assert found(measured(FRESH, mean=0.5), "Mean over columns").verdict is Verdict.PASS
