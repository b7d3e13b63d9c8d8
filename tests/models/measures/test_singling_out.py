"""Singling out: a description read off the release must not fit one training person alone."""

import numpy as np
import pytest
from crowd import COLUMNS, cells, crowd, evidence, found, independent, shuffled

from models.evidence import Evidence
from models.finding import Verdict
from models.measures import catalog
from models.measures.singling_out import SinglingOut
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column
from models.table import Table, stack

TRAIN, HOLDOUT, FRESH = crowd(600, 1), crowd(600, 2), crowd(600, 3)
SEED = Seed.of(1)
BOTH, ONE, SEVERAL = "Singling out", "Singling out, one column", "Singling out, several columns"


def measured(synthetic, train=TRAIN, holdout=HOLDOUT, **more):
    return SinglingOut(**more).measure(evidence(synthetic, train=train, holdout=holdout), SEED)


def numbers(*values, **more):
    column = Column(name="x", kind="integer", dtype="int64", bounds=(0, 100), nullable=True, **more)
    return Table((column,), np.array(values, dtype=float)[:, None])


def of_numbers(release, train, holdout):
    partition = Partition(parts=(Part(name="all", columns=("x",)),), reason="")
    return found(SinglingOut().measure(Evidence(train, holdout, release, partition), SEED), ONE)


@pytest.mark.parametrize("copy", [TRAIN, shuffled(TRAIN), stack([TRAIN, TRAIN])], ids=["ordered", "shuffled", "twice"])
def test_a_copy_singles_nearly_everybody_out(copy):
    findings = measured(copy)
    assert found(findings, BOTH).verdict is Verdict.FAIL
    assert found(findings, ONE).estimate > 0.8
    assert found(findings, SEVERAL).estimate > 0.9


def test_strangers_single_nobody_out():
    findings = measured(FRESH)
    assert [finding.estimate for finding in findings] == pytest.approx([0, 0, 0], abs=0.05)
    assert found(findings, BOTH).verdict is Verdict.PASS


def test_planted_is_what_a_copy_reaches():
    assert found(measured(FRESH), BOTH).planted == pytest.approx(found(measured(TRAIN), BOTH).estimate, abs=0.05)


def test_exact_values_alone_single_out_by_one_column_and_noisy_rows_by_several():
    values = measured(independent(TRAIN))
    assert found(values, ONE).estimate > 0.8
    assert found(values, SEVERAL).estimate < 0.05
    rng = np.random.default_rng(5)
    spread = np.where([column.numeric for column in COLUMNS], np.nanstd(TRAIN.values, axis=0) * 0.03, 0.0)
    noisy = measured(cells(TRAIN, TRAIN.values + rng.normal(size=TRAIN.values.shape) * spread))
    assert found(noisy, ONE).estimate < 0.05
    assert found(noisy, SEVERAL).estimate > 0.5
    assert found(values, BOTH).verdict is found(noisy, BOTH).verdict is Verdict.FAIL


def test_the_larger_table_is_sampled_down_and_a_copy_is_found_all_the_same():
    few = HOLDOUT.take(slice(0, 150))
    assert found(measured(TRAIN, holdout=few), BOTH).estimate > 0.8
    assert found(measured(TRAIN, holdout=few), ONE).n == 150
    assert found(measured(FRESH, holdout=few), BOTH).estimate == pytest.approx(0, abs=0.1)
    assert found(measured(FRESH, train=TRAIN.take(slice(0, 150))), ONE).n == 150


def test_a_rare_released_value_singles_out_the_one_person_who_has_it():
    said = of_numbers(numbers(7, 7, 7, 7, 8), numbers(1, 8, 9, 9, 7), numbers(1, 3, 9, 9, 7))
    # The value 8 is one person's. 7 is common in the release; nobody else is alone at its ends.
    assert (said.observed, said.control) == (1 / 5, 0)


def test_the_ends_of_the_release_single_out_who_alone_lies_at_or_beyond_them():
    said = of_numbers(numbers(20, 20, 50, 50), numbers(1, 30, 40, 60), numbers(30, 31, 32, 33))
    assert (said.observed, said.control) == (2 / 4, 0)


def test_a_missing_cell_singles_out_where_the_release_has_missing_ones():
    gap = np.nan
    train, holdout = numbers(30, 31, 32, gap), numbers(30, 31, 32, 33)
    assert of_numbers(numbers(20, 20, 50, 50, gap), train, holdout).observed == 1 / 4
    assert of_numbers(numbers(20, 20, 50, 50), train, holdout).observed == 0


def test_what_two_people_share_singles_out_neither():
    assert of_numbers(numbers(8, 9, 9, 9), numbers(8, 8, 20, 21), numbers(10, 11, 12, 13)).observed == 0


def test_random_descriptions_are_the_baseline():
    assert found(measured(TRAIN), SEVERAL).baseline < 0.05


def test_a_control_that_was_copied_shows_as_a_risk_far_below_zero():
    assert found(measured(shuffled(HOLDOUT)), BOTH).estimate < -1


def test_without_held_out_rows_nothing_is_decided():
    findings = measured(FRESH, holdout=HOLDOUT.take(slice(0, 0)))
    assert found(findings, BOTH).verdict is Verdict.INCONCLUSIVE
    assert "stranger" in found(findings, BOTH).reason


def test_the_gated_figure_is_the_larger_one_with_the_larger_upper_end():
    both, *ways = measured(FRESH)
    assert both.estimate == max(way.estimate for way in ways)
    assert both.interval.high == max(way.interval.high for way in ways)
    assert [way.limit for way in ways] == [None, None]


def test_another_seed_seeks_other_people_and_the_same_seed_the_same():
    table = evidence(FRESH, train=TRAIN, holdout=HOLDOUT)
    few = SinglingOut(people=100)
    assert few.measure(table, SEED) == few.measure(table, SEED)
    estimates = {found(few.measure(table, Seed.of(number)), SEVERAL).estimate for number in range(4)}
    assert len(estimates) > 1


@pytest.mark.parametrize(("preset", "limit"), [("trusted-partner", 0.2), ("internal", 0.33)])
def test_presets_relax_the_limit(preset, limit):
    assert catalog.build({"kind": "singling_out", **SinglingOut.presets[preset]}).limit == limit
