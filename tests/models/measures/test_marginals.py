"""Distances of single columns."""

import numpy as np
import pytest
from crowd import ONE_PART, cells, crowd, evidence, found

from models.evidence import Evidence
from models.finding import Verdict
from models.measures.marginals import Marginals, column_distances, moved, variety_lost
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


def one_column(column, *sides):
    return [Table((column,), np.array(values, dtype=float)[:, None]) for values in sides]


def test_values_are_moved_by_the_mean_distance_in_units_of_the_real_spread():
    assert moved(*one_column(NUMBER, [0, 10], [5, 5])) == [1.0]
    assert moved(*one_column(NUMBER, [1, 2, 3, 4], [2, 3, 4, 5])) == [1.0]
    assert moved(*one_column(NUMBER, [1, 2, 3, 4], [4, 3, 2, 1])) == [0.0]
    assert moved(*one_column(NUMBER, [0, 0, 4, 4], [0, 4])) == [0.0]


def test_twice_as_far_off_is_twice_as_far_moved_which_no_other_distance_tells():
    near, far = ([value + off for value in (0, 1, 2, 3)] for off in (4, 8))
    for other, times in ((near, 4), (far, 8)):
        assert moved(*one_column(NUMBER, [0, 1, 2, 3], other)) == [times]
        assert distance(NUMBER, [0, 1, 2, 3], other) == 1


def test_a_constant_column_is_measured_in_units_of_its_bounds():
    assert moved(*one_column(NUMBER, [5, 5], [5, 7])) == [0.1]


def test_missing_cells_are_not_moved_and_without_values_nothing_is():
    assert moved(*one_column(NUMBER, [1, 3, np.nan], [1, 3])) == [0.0]
    assert np.isnan(moved(*one_column(NUMBER, [1, 2], [np.nan])))


def test_variety_is_lost_where_levels_are_and_more_of_it_is_no_loss():
    assert variety_lost(*one_column(LEVEL, [0, 1, 0, 1], [0, 0])) == [1.0]
    assert variety_lost(*one_column(LEVEL, [0, 0, 0, 1], [0, 1, 2])) == [0.0]
    assert variety_lost(*one_column(LEVEL, [0, 0], [0, 1])) == [0.0]
    assert variety_lost(*one_column(NUMBER, [1, 2, 3, 4], [1, 1, 2, 2])) == [0.5]


def test_the_number_that_was_moved_furthest_is_named():
    changed = FRESH.values.copy()
    changed[:, 3] += 30
    far = found(measured(cells(FRESH, changed)), "Values moved, worst column", "weight")
    assert far.estimate > 1 > far.control
    assert far.verdict is None
    assert found(measured(cells(FRESH, changed), moved=1.0), far.name, "weight").verdict is Verdict.FAIL


def test_a_column_that_collapsed_has_lost_its_variety():
    changed = FRESH.values.copy()
    changed[:, [0, 3]] = 50.0
    lost = found(measured(cells(FRESH, changed), variety=0.2), "Variety lost")
    assert lost.estimate == pytest.approx(2 / 6, abs=0.02)
    assert lost.verdict is Verdict.FAIL
    assert lost.control < 0.03


def test_levels_alone_cannot_be_moved():
    names = ["region", "smoker", "ill"]
    part = ONE_PART.model_copy(update={"parts": (ONE_PART.parts[0].model_copy(update={"columns": tuple(names)}),)})
    tables = [table.select(names) for table in (TRAIN, HOLDOUT, FRESH)]
    far = found(Marginals().measure(Evidence(*tables, part), Seed.of(1)), "Values moved, worst column")
    assert far.estimate is None
    assert "no number has values" in far.reason
