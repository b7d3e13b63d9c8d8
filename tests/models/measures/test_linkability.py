"""Linkability: the release must not link two halves of a training person's record."""

import numpy as np
import pytest
from crowd import COLUMNS, ONE_PART, TWO_PARTS, cells, crowd, evidence, found, independent, shuffled

from models.evidence import Evidence
from models.finding import Verdict
from models.measures import catalog
from models.measures.linkability import Linkability
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column
from models.table import Table, stack

TRAIN, HOLDOUT, FRESH = crowd(600, 1), crowd(600, 2), crowd(600, 3)
SEED = Seed.of(1)


def measured(synthetic, holdout=HOLDOUT, partition=TWO_PARTS, **more):
    table = evidence(synthetic, train=TRAIN, holdout=holdout, partition=partition)
    return found(Linkability(**more).measure(table, SEED), "Linkability")


def by_hand(release, train, holdout):
    """Two columns of levels, one in each half."""
    columns = tuple(Column(name=name, kind="categorical", dtype="string", levels=tuple("abcde")) for name in "xy")
    train, holdout, release = (Table(columns, np.array(rows, dtype=float)) for rows in (train, holdout, release))
    parts = Partition(parts=tuple(Part(name=name, columns=(name,)) for name in "xy"), reason="")
    (said,) = Linkability().measure(Evidence(train, holdout, release, parts), SEED)
    return said


@pytest.mark.parametrize("partition", [ONE_PART, TWO_PARTS], ids=["random halves", "the two parts"])
def test_a_copy_links_nearly_everybody_and_strangers_link_nobody(partition):
    copy, strangers = measured(shuffled(TRAIN), partition=partition), measured(FRESH, partition=partition)
    assert copy.estimate > 0.7
    assert copy.verdict is Verdict.FAIL
    assert strangers.estimate == pytest.approx(0, abs=0.03)
    assert strangers.verdict is Verdict.PASS
    assert strangers.planted == pytest.approx(copy.estimate, abs=0.1)


def test_noise_does_not_hide_a_copy():
    rng = np.random.default_rng(5)
    spread = np.where([column.numeric for column in COLUMNS], np.nanstd(TRAIN.values, axis=0) * 0.01, 0.0)
    noisy = cells(TRAIN, TRAIN.values + rng.normal(size=TRAIN.values.shape) * spread)
    assert measured(noisy).verdict is Verdict.FAIL


def test_parts_that_were_copied_and_joined_at_random_link_nobody():
    changed = independent(TRAIN).values.copy()
    changed[:, :3] = shuffled(TRAIN).values[:, :3]
    assert measured(cells(TRAIN, changed)).verdict is Verdict.PASS


def test_half_a_copy_links_about_half_of_the_people():
    half = stack([TRAIN.take(slice(0, 300)), FRESH.take(slice(0, 300))])
    assert measured(half).estimate == pytest.approx(measured(TRAIN).estimate / 2, abs=0.1)


def test_of_several_nearest_rows_one_is_picked_on_the_side_that_has_fewer():
    # x = 0 is nearest to the first three rows, y = 0 to the first and the last one: 1 of the 2 is among the 3.
    said = by_hand([[0, 0], [0, 1], [0, 2], [1, 0]], train=[[0, 0]], holdout=[[1, 2]])
    assert (said.observed, said.control) == (1 / 2, 0)
    assert said.baseline == 1 / 4


def test_a_control_whose_halves_are_always_linked_leaves_the_risk_undefined():
    said = by_hand([[0, 0]], train=[[0, 0]], holdout=[[1, 2]])
    assert said.control == 1
    assert said.verdict is Verdict.INCONCLUSIVE
    assert "undefined" in said.reason


def test_missing_cells_are_like_one_another_alone():
    gap = np.nan
    said = by_hand([[gap, gap], [1, 1], [2, 2]], train=[[gap, gap]], holdout=[[gap, 1]])
    assert (said.observed, said.control) == (1, 0)


def test_more_than_two_parts_become_two_of_equal_width():
    parts = Partition(
        parts=(
            Part(name="a", columns=("age", "income", "region")),
            Part(name="b", columns=("weight", "smoker")),
            Part(name="c", columns=("ill",)),
        ),
        reason="",
    )
    two = Partition(
        parts=(
            Part(name="a", columns=("age", "income", "region")),
            Part(name="b", columns=("weight", "smoker", "ill")),
        ),
        reason="",
    )
    assert measured(FRESH, partition=parts) == measured(FRESH, partition=two)


def test_one_column_has_no_halves_and_is_not_gated():
    table = evidence(
        FRESH.select(["age"]),
        train=TRAIN.select(["age"]),
        holdout=HOLDOUT.select(["age"]),
        partition=Partition(parts=(Part(name="all", columns=("age",)),), reason=""),
    )
    (said,) = Linkability().measure(table, SEED)
    assert (said.verdict, said.reason) == (None, "one column has no halves")


def test_without_held_out_rows_nothing_is_decided():
    said = measured(FRESH, holdout=HOLDOUT.take(slice(0, 0)))
    assert said.verdict is Verdict.INCONCLUSIVE
    assert "stranger" in said.reason


def test_people_bounds_how_many_are_attacked():
    assert measured(FRESH, people=100).n == 100


@pytest.mark.parametrize(("preset", "limit"), [("trusted-partner", 0.2), ("internal", 0.33)])
def test_presets_relax_the_limit(preset, limit):
    assert catalog.build({"kind": "linkability", **Linkability.presets[preset]}).limit == limit
