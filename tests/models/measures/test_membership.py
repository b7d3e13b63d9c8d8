"""Membership: training people must not be told from held-out ones."""

from dataclasses import replace

import numpy as np
import pytest
from crowd import TWO_PARTS, cells, crowd, evidence, found, in_regions, independent, one_region_copied, shuffled

from models.finding import Verdict
from models.measures import catalog
from models.measures.membership import Membership
from models.neighbours import Space, nearest
from models.partition import Part, Partition
from models.randomness import Seed
from models.table import stack

TRAIN, HOLDOUT, FRESH = crowd(500, 1), crowd(400, 2), crowd(500, 3)
SEED = Seed.of(1)
CLOSER, ATTACK, NAMED = "Closer to training rows", "Membership attack", "Members named at 1 % false alarms"
RARELY, ISOLATED, TOLD = (
    "Members named at 0.1 % false alarms",
    "Most isolated people",
    "Attack on the most isolated people",
)


def measured(synthetic, train=TRAIN, holdout=HOLDOUT, partition=TWO_PARTS, **more):
    case = evidence(synthetic, train=train, holdout=holdout, partition=partition)
    return Membership(**more).measure(case, SEED)


def noisy(table, share):
    rng = np.random.default_rng(5)
    spread = np.where([column.numeric for column in table.columns], np.nanstd(table.values, axis=0) * share, 0.0)
    return cells(table, table.values + rng.normal(size=table.values.shape) * spread)


@pytest.mark.parametrize("copy", [TRAIN, shuffled(TRAIN)], ids=["same order", "shuffled"])
def test_a_copy_tells_everybody_who_was_in(copy):
    findings = measured(copy)
    for name in (CLOSER, ATTACK, NAMED, ISOLATED):
        assert found(findings, name).estimate > 0.9
        assert found(findings, name).verdict is Verdict.FAIL


def test_strangers_tell_nobody():
    findings = measured(FRESH)
    scores = [found(findings, name, where) for name, where in ((CLOSER, ""), (ATTACK, ""), (ATTACK, "part a"))]
    assert [finding.estimate for finding in scores] == pytest.approx([0.5] * 3, abs=0.06)
    assert found(findings, NAMED).estimate < 0.03
    assert abs(found(findings, ISOLATED).estimate) < 0.05
    assert Verdict.FAIL not in [finding.verdict for finding in findings]
    assert found(findings, CLOSER).control == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize("rows", [100, 200, 500])
def test_strangers_are_as_close_to_both_groups_whatever_their_sizes(rows):
    drawn, unseen = stack([TRAIN.take(slice(0, 250)), FRESH.take(slice(0, 250))]), crowd(rows, 4)
    assert found(measured(FRESH, holdout=unseen), CLOSER).estimate == pytest.approx(0.5, abs=0.06)
    assert found(measured(drawn, holdout=unseen), CLOSER).estimate > 0.65


def test_a_copied_part_fails_in_its_part():
    changed = independent(FRESH).values.copy()
    changed[:, :3] = shuffled(TRAIN).values[:, :3]
    findings = measured(cells(TRAIN, changed))
    assert found(findings, ATTACK, "part a").verdict is Verdict.FAIL
    assert found(findings, ATTACK, "part b").verdict is not Verdict.FAIL


def test_noise_does_not_hide_a_copy():
    assert found(measured(noisy(TRAIN, 0.05)), ATTACK).verdict is Verdict.FAIL


def test_the_worse_of_both_attacks_counts():
    findings = measured(noisy(TRAIN, 0.2))
    both = [found(findings, name) for name in ("Attack by distance", "Attack by density ratio")]
    assert found(findings, ATTACK).estimate == max(finding.estimate for finding in both)
    assert found(findings, ATTACK).interval.high == max(finding.interval.high for finding in both)
    assert [finding.limit for finding in both] == [None, None]


def test_a_few_copies_are_named_though_the_average_hides_them():
    findings = measured(stack([FRESH.take(slice(50, None)), TRAIN.take(slice(0, 50))]))
    assert found(findings, ATTACK).verdict is not Verdict.FAIL
    assert found(findings, NAMED).estimate > 0.07
    assert found(findings, NAMED).verdict is Verdict.FAIL


def test_copies_of_the_most_isolated_people_are_found_among_the_isolated():
    space = Space.of(TRAIN, HOLDOUT)
    alone = np.argsort(-nearest(space.place(TRAIN), space.place(HOLDOUT)).distances)[:40]
    findings = measured(stack([FRESH.take(slice(40, None)), TRAIN.take(alone)]))
    assert found(findings, ISOLATED).estimate > found(findings, NAMED).estimate > 0
    assert found(findings, TOLD).estimate > found(findings, ATTACK).estimate


def test_a_hundred_held_out_people_count_as_isolated_where_there_are_so_many():
    assert found(measured(FRESH), ISOLATED).n == 100
    assert found(measured(FRESH, holdout=HOLDOUT.take(slice(0, 60))), ISOLATED).n == 60


def test_one_in_a_thousand_takes_ten_thousand_held_out_people():
    rarely = found(measured(FRESH), RARELY)
    assert rarely.estimate is None
    assert rarely.reason == "400 held-out rows, and at least 10,000 are needed"
    assert rarely.limit is None


def test_tables_of_ties_tell_nobody_and_cannot_pass():
    same = cells(TRAIN, np.ones_like(TRAIN.values))
    findings = measured(same, train=same, holdout=same.take(slice(0, 400)))
    assert [found(findings, name).estimate for name in (CLOSER, ATTACK)] == pytest.approx([0.5] * 2, abs=0.001)
    assert found(findings, ISOLATED).reason == "among training or held-out people, nobody is isolated"
    assert {found(findings, name).verdict for name in (CLOSER, ATTACK, NAMED, ISOLATED)} == {Verdict.INCONCLUSIVE}


def test_a_part_in_which_a_copy_would_tell_nothing_is_reported_without_gating():
    coarse = Partition(
        parts=(
            Part(name="a", columns=("age", "income", "region", "weight", "ill")),
            Part(name="b", columns=("smoker",)),
        ),
        reason="",
    )
    attack = found(measured(FRESH, partition=coarse), ATTACK, "part b")
    assert attack.limit is None
    assert attack.reason.startswith("not gated")


def test_what_a_copy_would_reach_is_known_from_strangers():
    findings = measured(FRESH)
    assert [found(findings, name).planted for name in (CLOSER, ATTACK, NAMED)] == pytest.approx([1.0] * 3, abs=0.1)
    assert found(findings, ATTACK).planted == found(measured(TRAIN), ATTACK).estimate


def test_below_twenty_rows_nothing_is_computed():
    findings = measured(FRESH, holdout=HOLDOUT.take(slice(0, 19)))
    assert [finding.estimate for finding in findings] == [None] * 6
    few = found(findings, ATTACK)
    assert "500 training and 19 held-out rows" in few.reason
    assert few.verdict is Verdict.INCONCLUSIVE


def test_a_sample_of_people_is_asked_about_all_synthetic_rows():
    case = replace(evidence(shuffled(TRAIN), train=TRAIN, holdout=HOLDOUT), queries=200)
    findings = Membership().measure(case, SEED)
    assert found(findings, ATTACK).n == 200
    assert found(findings, ATTACK).estimate > 0.95


def test_limits_are_settings():
    assert found(measured(TRAIN, attack=None), ATTACK).verdict is None
    assert found(measured(TRAIN, closer=1.0), CLOSER).interval.high <= 1.0


@pytest.mark.parametrize("preset", Membership.presets)
def test_presets_are_settings_that_allow_more(preset):
    relaxed, usual = catalog.build({"kind": "membership", **Membership.presets[preset]}), Membership()
    assert relaxed.attack > usual.attack
    assert relaxed.named > usual.named
    assert relaxed.exposed > usual.exposed


def test_three_hundred_people_are_too_few_to_pass_and_the_finding_says_how_many_are_not():
    few = found(measured(FRESH, train=TRAIN.take(slice(0, 240)), holdout=HOLDOUT.take(slice(0, 60))), ATTACK)
    assert few.verdict is Verdict.INCONCLUSIVE
    assert few.rows_needed is None or few.rows_needed > 60


def of_regions(synthetic, holdout=HOLDOUT, measure=None, **more):
    return (measure or Membership()).measure(in_regions(synthetic, train=TRAIN, holdout=holdout, **more), SEED)


@pytest.mark.parametrize("queries", [None, 350])
def test_who_was_in_a_copied_cluster_is_told_of_that_cluster_alone(queries):
    findings = of_regions(one_region_copied(TRAIN, crowd(800, 3)), queries=queries)
    for name in (CLOSER, ATTACK):
        assert found(findings, name, "cluster-1").estimate > 0.9
        assert found(findings, name, "cluster-1").estimate > found(findings, name).estimate
        for other in ("cluster-2", "cluster-3", "cluster-4"):
            assert found(findings, name, other).estimate == pytest.approx(0.5, abs=0.15)
            assert found(findings, name, other).limit is None


def test_a_cluster_of_few_held_out_people_is_told_without_a_figure():
    few = np.flatnonzero(HOLDOUT["region"] == 0)[19:]
    findings = of_regions(FRESH, holdout=HOLDOUT.take(np.setdiff1d(np.arange(len(HOLDOUT)), few)))
    for name in (CLOSER, ATTACK):
        assert found(findings, name, "cluster-1").estimate is None
        assert "at least 20" in found(findings, name, "cluster-1").reason
        assert found(findings, name, "cluster-2").estimate is not None


def test_a_cluster_with_limits_of_its_own_fails_by_them():
    strict = Membership(clusters={"cluster-1": 0.6})
    copied = of_regions(one_region_copied(TRAIN, crowd(800, 3)), measure=strict)
    for name in (CLOSER, ATTACK):
        assert found(copied, name, "cluster-1").verdict is Verdict.FAIL
        assert found(copied, name, "cluster-1").planted > 0.9
        assert found(copied, name, "cluster-2").verdict is None
    fresh = of_regions(FRESH, measure=Membership(clusters={"cluster-1": 0.75}))
    assert {found(fresh, name, "cluster-1").verdict for name in (CLOSER, ATTACK)} == {Verdict.PASS}


def test_a_limit_for_a_cluster_that_was_not_found_is_not_kept():
    findings = of_regions(FRESH, measure=Membership(clusters={"cluster-9": 0.9}))
    for name in (CLOSER, ATTACK):
        assert found(findings, name, "cluster-9").verdict is Verdict.INCONCLUSIVE
        assert "no such cluster" in found(findings, name, "cluster-9").reason


def test_limits_of_clusters_stay_open_where_there_are_too_few_people_for_anything():
    findings = of_regions(FRESH, holdout=HOLDOUT.take(slice(0, 5)), measure=Membership(clusters={"cluster-1": 0.9}))
    assert found(findings, ATTACK, "cluster-1").verdict is Verdict.INCONCLUSIVE
