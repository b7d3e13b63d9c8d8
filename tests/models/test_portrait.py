"""Pictures show no group of fewer than k real people, and no value but bounds, bin edges and reviewed levels."""

import numpy as np
import pytest
from crowd import ONE_PART, cells, crowd, evidence

from models.evidence import Evidence
from models.partition import Part, Partition
from models.portrait import portrait, value_text
from models.schema import Column
from models.table import Table

TRAIN, HOLDOUT, FRESH = crowd(300, 1), crowd(200, 2), crowd(250, 3)
K = 10


def drawn(k=K, train=TRAIN, holdout=HOLDOUT, synthetic=FRESH):
    return portrait(evidence(synthetic, train=train, holdout=holdout), k)


def one_column(column, *values, k=K):
    tables = [Table((column,), np.array(cells_, dtype=float)[:, None]) for cells_ in values]
    one = Partition(parts=(Part(name="all", columns=(column.name,)),), reason="")
    return portrait(Evidence(*tables, partition=one), k).marginals[0]


@pytest.mark.parametrize("k", [5, 10, 40])
def test_every_bar_stands_for_k_people_of_each_real_table(k):
    for marginal in drawn(k).marginals:
        present = 300 - np.isnan(TRAIN[marginal.name]).sum(), 200 - np.isnan(HOLDOUT[marginal.name]).sum()
        for bar in marginal.bars:
            assert bar.real * present[0] >= k - 0.5
            assert bar.holdout * present[1] >= k - 0.5
        assert sum(bar.real for bar in marginal.bars) == pytest.approx(1, abs=0.02)
        assert sum(bar.synthetic for bar in marginal.bars) == pytest.approx(1, abs=0.02)


def test_labels_are_bounds_and_bin_edges_and_no_extreme_of_the_data():
    income = drawn().marginals[1]
    assert income.bars[0].label.startswith("0.00 to ")
    assert income.bars[-1].label.endswith(" to 400,000.00")
    assert f"{np.nanmax(TRAIN['income']):,.2f}" not in str(income.bars)


LEVEL = Column(name="l", kind="categorical", dtype="string", levels=("a", "b", "c", "d"), nullable=True)


def test_rare_levels_are_shown_together_and_take_a_commoner_one_along_when_they_are_too_few():
    many, few = [0] * 50 + [1] * 30 + [2] * 12 + [3] * 12, [0] * 50 + [1] * 30 + [2] * 12 + [3] * 3
    assert [bar.label for bar in one_column(LEVEL, many, many, many).bars] == ["a", "b", "c", "d"]
    assert [bar.label for bar in one_column(LEVEL, few, few, few).bars] == ["a", "b", "2 other levels"]


def test_a_level_that_only_synthetic_rows_have_is_seen_and_its_name_is_not_told():
    bars = one_column(LEVEL, [0] * 50, [0] * 50, [0] * 25 + [3] * 25).bars
    assert [(bar.label, bar.real, bar.synthetic) for bar in bars] == [("a", 1.0, 0.5), ("3 other levels", 0.0, 0.5)]


def test_a_handful_of_missing_cells_is_not_shown():
    few, many, none = [0] * 50 + [np.nan] * 3, [0] * 50 + [np.nan] * 50, [0] * 50
    assert one_column(LEVEL, few, many, many).missing is None
    assert one_column(LEVEL, many, many, none).missing.real == 0.5
    assert one_column(LEVEL, none, none, many).missing.synthetic == 0.5


def test_a_column_that_too_few_people_have_shows_nothing():
    few = [1.0] * 3 + [np.nan] * 50
    number = Column(name="x", kind="integer", dtype="int64", bounds=(0, 10), nullable=True)
    shown = one_column(number, few, few, few)
    assert shown.bars == ()
    assert shown.missing is None


def test_ordered_levels_keep_their_order_and_others_come_by_size():
    values = [2] * 40 + [0] * 20 + [1] * 30
    ordered = LEVEL.model_copy(update={"ordered": True})
    assert [bar.label for bar in one_column(ordered, values, values, values).bars] == ["a", "b", "c"]
    assert [bar.label for bar in one_column(LEVEL, values, values, values).bars] == ["c", "b", "a"]


def test_without_held_out_rows_training_rows_alone_are_counted():
    shown = drawn(holdout=HOLDOUT.take(slice(0, 0)))
    assert all(marginal.bars for marginal in shown.marginals)
    assert {bar.holdout for marginal in shown.marginals for bar in marginal.bars} == {0.0}


def test_wholly_missing_columns_can_be_drawn():
    empty = cells(TRAIN, np.full_like(TRAIN.values, np.nan))
    shown = portrait(Evidence(empty, empty, empty, ONE_PART), K)
    assert all(marginal.bars == () for marginal in shown.marginals)


def test_associations_are_rounded_and_in_the_order_of_the_columns():
    shown = drawn()
    assert len(shown.real) == len(shown.synthetic) == len(shown.marginals) == 6
    assert shown.real[0][0] == 1.0
    assert shown.real[0][5] == round(shown.real[0][5], 2) > 0.3


HOUR = "2020-01-01 03:00"


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ({"kind": "integer", "bounds": (0, 9999)}, 1234.0, "1,234"),
        ({"kind": "continuous", "bounds": (0, 1), "decimals": 1}, 0.25, "0.2"),
        ({"kind": "continuous", "bounds": (0, 1)}, 0.123456, "0.1235"),
        ({"kind": "date", "bounds": ("2020-01-01", "2021-01-01"), "resolution": "day"}, 18262.0, "2020-01-01"),
        ({"kind": "time", "bounds": ("00:00", "23:59"), "resolution": "minute"}, 450.0, "07:30"),
        ({"kind": "datetime", "bounds": ("2020-01-01", "2021-01-01"), "resolution": "hour"}, 438291.0, HOUR),
        ({"kind": "duration", "bounds": (0, 9999), "resolution": "millisecond"}, 1500.0, "1.5 s"),
    ],
)
def test_values_are_written_as_a_person_would(column, value, text):
    assert value_text(Column(name="c", dtype="any", **column), value) == text
