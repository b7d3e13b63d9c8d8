"""What pairs of columns have to do with one another."""

from itertools import combinations

import numpy as np
import pytest
from crowd import cells, crowd, evidence, found, independent

from models.association import association
from models.finding import Verdict
from models.measures.pairs import Pairs
from models.partition import Part, Partition
from models.randomness import Seed

TRAIN, HOLDOUT, FRESH = crowd(800, 1), crowd(600, 2), crowd(800, 3)
NAMES = ("Pair associations, mean", "Pair tables, mean")
SORTS = ("Rank correlations", "Associations of levels", "Correlation ratios")


def measured(synthetic, **more):
    return Pairs(**more).measure(evidence(synthetic, train=TRAIN, holdout=HOLDOUT), Seed.of(1))


def test_a_copy_differs_in_nothing():
    assert {finding.estimate for finding in measured(TRAIN)} == {0}


def test_independent_columns_are_as_far_as_the_baseline_and_fresh_rows_as_the_control():
    apart, fresh = measured(independent(TRAIN)), measured(FRESH)
    for name in NAMES:
        assert found(apart, name).estimate == pytest.approx(found(apart, name).baseline, abs=0.02)
        assert found(fresh, name).estimate == pytest.approx(found(fresh, name).control, abs=0.02)
    assert found(apart, NAMES[0]).estimate > 1.5 * found(fresh, NAMES[0]).estimate


def test_joint_distributions_of_columns_that_depend_on_one_another_come_apart():
    names = ["age", "ill"]
    part = Partition(parts=(Part(name="all", columns=tuple(names)),), reason="")
    real = {"train": TRAIN.select(names), "holdout": HOLDOUT.select(names), "partition": part}
    apart, fresh = (
        found(Pairs().measure(evidence(drawn.select(names), **real), Seed.of(1)), NAMES[1])
        for drawn in (independent(TRAIN), FRESH)
    )
    assert apart.estimate > 3 * fresh.estimate


def test_the_worst_pair_is_named():
    assert found(measured(independent(TRAIN)), "Pair associations, worst", "age and ill").estimate > 0.3
    real = association(TRAIN)
    assert real[0, 5] > 0.3


def turned(table):
    """Age from the other end, so that its rank correlations change their sign and keep their strength."""
    changed = table.values.copy()
    changed[:, 0] = 100 - changed[:, 0]
    return cells(table, changed)


def test_a_correlation_with_the_other_sign_is_as_far_off_as_it_is_strong_twice():
    names = ["age", "income"]
    part = Partition(parts=(Part(name="all", columns=tuple(names)),), reason="")
    tables = {"train": TRAIN.select(names), "holdout": HOLDOUT.select(names), "partition": part}
    ranks = found(Pairs().measure(evidence(turned(TRAIN).select(names), **tables), Seed.of(1)), "Rank correlations")
    assert ranks.estimate == pytest.approx(2 * ranks.baseline)


def test_pairs_of_each_sort_are_told_by_themselves():
    by_sort = {name: found(measured(independent(TRAIN)), name) for name in SORTS}
    real = np.abs(association(TRAIN))
    numbers, levels = [0, 1, 3], [2, 4, 5]
    of_numbers = [real[i, j] for i, j in combinations(numbers, 2)]
    of_levels = [real[i, j] for i, j in combinations(levels, 2)]
    mixed = [real[i, j] for i in numbers for j in levels]
    for name, pairs in zip(SORTS, (of_numbers, of_levels, mixed), strict=True):
        assert by_sort[name].baseline == pytest.approx(np.mean(pairs))
    whole = found(measured(independent(TRAIN)), NAMES[0]).estimate
    counts = [len(pairs) for pairs in (of_numbers, of_levels, mixed)]
    assert whole == pytest.approx(np.average([by_sort[name].estimate for name in SORTS], weights=counts))


def test_a_sort_that_the_table_does_not_have_is_told_too():
    names = ["age", "income"]
    part = Partition(parts=(Part(name="all", columns=tuple(names)),), reason="")
    tables = {"train": TRAIN.select(names), "holdout": HOLDOUT.select(names), "partition": part}
    levels = found(Pairs().measure(evidence(FRESH.select(names), **tables), Seed.of(1)), SORTS[1])
    assert levels.estimate is None
    assert levels.reason == "there is no such pair of columns"


def test_the_worst_joint_distribution_is_named():
    (worst,) = [finding for finding in measured(independent(TRAIN)) if finding.name == "Pair tables, worst"]
    assert worst.where == "age and ill"
    assert worst.estimate > found(measured(independent(TRAIN)), NAMES[1]).estimate


def test_pairs_are_gated_only_when_they_have_limits():
    apart = independent(TRAIN)
    assert {finding.verdict for finding in measured(apart)} == {None}
    assert found(measured(apart, mean=0.01), NAMES[0]).verdict is Verdict.FAIL
    assert found(measured(FRESH, tables=0.5), NAMES[1]).verdict is Verdict.PASS


def test_one_column_has_no_pairs_and_says_so():
    one = Partition(parts=(Part(name="all", columns=("age",)),), reason="")
    tables = {"train": TRAIN.select(["age"]), "holdout": HOLDOUT.select(["age"])}
    findings = Pairs().measure(evidence(FRESH.select(["age"]), **tables, partition=one), Seed.of(1))
    assert {finding.reason for finding in findings} == {"one column has no pairs"}


def test_coarse_classes_tell_levels_numbers_and_missing_apart():
    few = Pairs(bins=2).measure(evidence(FRESH, train=TRAIN, holdout=HOLDOUT), Seed.of(1))
    many = Pairs(bins=8).measure(evidence(FRESH, train=TRAIN, holdout=HOLDOUT), Seed.of(1))
    assert found(few, NAMES[1]).estimate < found(many, NAMES[1]).estimate
