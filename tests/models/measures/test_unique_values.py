"""Numbers that one person has are found where the release repeats them, whatever row they stand in."""

import numpy as np
import pytest
from crowd import ONE_PART, cells, crowd, evidence, found, independent

from models.evidence import Evidence
from models.finding import Verdict
from models.measures.unique_values import UniqueValues
from models.partition import Part, Partition
from models.policy import Preset
from models.randomness import Seed
from models.schema import Column
from models.table import Table, stack

TRAIN, HOLDOUT, FRESH = crowd(400, 1), crowd(400, 2), crowd(400, 3)


def measured(synthetic, *, train=TRAIN, holdout=HOLDOUT, **settings):
    seen = evidence(synthetic, train=train, holdout=holdout, partition=ONE_PART)
    return UniqueValues(**settings).measure(seen, Seed.of(1))


def numbers(*columns, decimals=1):
    described = tuple(
        Column(name=f"n{j}", kind="continuous", dtype="double", bounds=(0, 99), decimals=decimals, nullable=True)
        for j in range(len(columns))
    )
    return Table(described, np.array(columns, dtype=float).T)


def of(train, holdout, synthetic, **settings):
    parts = Partition(parts=(Part(name="all", columns=train.names),), reason="")
    return UniqueValues(**settings).measure(Evidence(train, holdout, synthetic, parts), Seed.of(1))


def test_columns_of_the_training_table_in_orders_of_their_own_fail():
    values = found(measured(independent(TRAIN)), "Unique values", "income")
    assert values.observed > 0.9
    assert values.control == 0
    assert values.verdict is Verdict.FAIL


def test_strangers_do_not():
    values, _ = measured(FRESH)
    assert values.verdict is not Verdict.FAIL
    assert abs(values.estimate) < 0.05


def test_a_value_counts_where_one_real_person_has_it():
    train, holdout, drawn = numbers([1, 2, 2, 3]), numbers([3, 4, 5, 6]), numbers([1, 1, 2, 3, 4, np.nan])
    values = found(of(train, holdout, drawn), "Unique values", "n0")
    assert values.observed == pytest.approx(1 / 5)
    assert values.control == pytest.approx(1 / 5)


def test_a_value_counts_once_however_often_it_is_released():
    train, holdout = numbers([1, 2, 3, 3]), numbers([4, 5, 6, 6])
    values = found(of(train, holdout, numbers([1, 1, 1, 1, 2, 4, 9, 9])), "Unique values", "n0")
    assert (values.observed, values.control) == (2 / 8, 1 / 8)


def test_the_control_is_in_proportion_to_the_two_groups():
    train, holdout = numbers([1, 2, 3, 4]), numbers([5, 6])
    values = found(of(train, holdout, numbers([1, 5, 9, 9])), "Unique values", "n0")
    assert (values.observed, values.control) == (0.25, 0.5)


def test_numbers_are_equal_by_their_steps():
    values = found(of(numbers([0.3, 1.0]), numbers([5.0, 6.0]), numbers([0.1 + 0.2])), "Unique values", "n0")
    assert values.observed == 1


def test_the_spread_is_that_of_the_split():
    """Twenty values of one person each, among a value of many: who of them is a training person is left to chance."""
    rng = np.random.default_rng(1)
    drawn, differences, halves = numbers(np.repeat(np.arange(20), np.arange(1, 21))), [], []
    for _ in range(300):
        order = rng.permutation(np.concatenate([np.arange(20), np.full(280, 99)]))
        values = found(of(numbers(order[:220]), numbers(order[220:]), drawn, limit=None), "Unique values", "n0")
        differences.append(values.estimate)
        halves.append((values.estimate - values.interval.low) / 1.96)
    assert abs(np.mean(differences)) < 3 * np.std(differences) / np.sqrt(300)
    assert np.std(differences) == pytest.approx(np.mean(halves), rel=0.1)


def test_the_worst_column_is_judged_at_a_level_for_all_of_them():
    people = np.arange(40)
    train, holdout = numbers(people, people), numbers(people + 40, people + 40)
    drawn = numbers(np.arange(20, 60), people)
    values = found(of(train, holdout, drawn), "Unique values", "n1")
    assert values.verdict is Verdict.FAIL
    assert (values.estimate - values.interval.low) / 1.96 > np.sqrt(40) / 40 * 1.1


def test_without_any_unique_value_that_it_repeats_a_release_passes():
    coarse = cells(FRESH, np.round(FRESH.values, -1))
    common = stack([coarse, coarse])
    values = next(f for f in measured(common, train=common, holdout=common) if f.name == "Unique values")
    assert (values.estimate, values.verdict) == (0, Verdict.PASS)


def test_extremes_of_one_person_are_told():
    train, holdout = numbers([1, 2, 9, 9]), numbers([2, 3, 4, 8])
    ends = found(of(train, holdout, numbers([1, 5, 8])), "Extremes")
    assert (ends.estimate, ends.control, ends.verdict) == (0.5, 0.5, None)


def test_a_column_without_a_released_number_repeats_none():
    nothing = numbers([np.nan, np.nan])
    findings = of(numbers([1, 2]), numbers([3, 4]), nothing)
    assert found(findings, "Unique values", "n0").estimate == 0
    assert found(findings, "Extremes").estimate == 0


def test_without_held_out_rows_it_is_not_decided():
    values, ends = measured(FRESH, holdout=HOLDOUT.take(slice(0, 0)))
    assert (values.estimate, values.verdict) == (None, Verdict.INCONCLUSIVE)
    assert ends.control is None


def test_without_a_column_of_numbers_there_is_nothing_to_gate():
    levels = ["region", "smoker"]
    train, holdout, drawn = (table.select(levels) for table in (TRAIN, HOLDOUT, FRESH))
    for finding in of(train, holdout, drawn):
        assert (finding.estimate, finding.limit, finding.reason) == (None, None, "no column has numbers")


def test_presets_raise_the_limit():
    limits = [UniqueValues(**UniqueValues.presets.get(preset, {})).limit for preset in Preset]
    assert limits == [0.01, 0.05, 0.1]


def test_the_limit_can_be_taken_away():
    assert [finding.verdict for finding in measured(independent(TRAIN), limit=None)] == [None, None]
