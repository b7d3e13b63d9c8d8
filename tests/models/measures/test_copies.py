"""Planted copies are found where they are, and rows of strangers are not taken for copies."""

import numpy as np
import pytest
from crowd import TWO_PARTS, cells, crowd, evidence, found, in_regions, independent, one_region_copied, shuffled

from models.errors import SpecError
from models.evidence import Evidence
from models.finding import Verdict
from models.measures import catalog
from models.measures.copies import Copies
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column
from models.table import Table, stack

TRAIN, HOLDOUT, FRESH = crowd(400, 1), crowd(400, 2), crowd(400, 3)
SEED = Seed.of(1)


def measured(synthetic, **more):
    return Copies(**more).measure(evidence(synthetic, train=TRAIN, holdout=HOLDOUT, partition=TWO_PARTS), SEED)


@pytest.mark.parametrize("copy", [TRAIN, shuffled(TRAIN)], ids=["same order", "shuffled"])
def test_a_verbatim_copy_fails_in_any_order(copy):
    findings = measured(copy)
    exact, near = found(findings, "Exact copies"), found(findings, "Near copies")
    assert exact.observed == exact.estimate == 1.0
    assert exact.verdict is near.verdict is Verdict.FAIL


def test_strangers_are_no_copies():
    exact, near = (found(measured(FRESH), name) for name in ("Exact copies", "Near copies"))
    assert exact.estimate == 0
    assert exact.verdict is Verdict.PASS
    assert near.verdict is not Verdict.FAIL


def test_a_twentieth_of_copies_fails():
    exact = found(measured(stack([FRESH.take(slice(20, None)), TRAIN.take(slice(0, 20))])), "Exact copies")
    assert exact.estimate == pytest.approx(0.05)
    assert exact.verdict is Verdict.FAIL


def test_one_person_copied_often_counts_as_often():
    exact = found(measured(stack([FRESH.take(slice(40, None)), TRAIN.take(np.zeros(40, dtype=int))])), "Exact copies")
    assert exact.estimate == pytest.approx(0.1)
    assert exact.verdict is not Verdict.PASS


def test_a_copied_part_that_was_joined_at_random_fails_in_its_part_alone():
    changed = independent(TRAIN).values.copy()
    changed[:, :3] = shuffled(TRAIN).values[:, :3]
    findings = measured(cells(TRAIN, changed))
    assert found(findings, "Exact copies").verdict is Verdict.PASS
    assert found(findings, "Exact copies", "part a").verdict is Verdict.FAIL
    assert found(findings, "Near copies", "part a").verdict is Verdict.FAIL


def test_copies_with_a_little_noise_are_near_copies():
    rng = np.random.default_rng(5)
    changed = TRAIN.values.copy()
    changed[:, 1] += rng.normal(0, 200, len(TRAIN))
    changed[:, 3] += rng.normal(0, 0.15, len(TRAIN))
    findings = measured(cells(TRAIN, np.round(changed, 2)))
    assert found(findings, "Exact copies").estimate < 0.05
    assert found(findings, "Near copies").estimate > 0.8
    assert found(findings, "Near copies").verdict is Verdict.FAIL


def test_a_small_release_counts_its_copies_against_its_own_rows():
    findings = measured(TRAIN.take(slice(0, 40)))
    assert found(findings, "Exact copies").estimate == 1.0
    assert found(findings, "Near copies").estimate == pytest.approx(1.0, abs=0.1)
    assert found(findings, "Near copies").verdict is Verdict.FAIL


def test_typical_rows_are_near_everybody_and_no_copies():
    closest = np.argsort(np.abs(FRESH["age"] - 54) / 36 + np.abs(FRESH["weight"] - 75) / 60)[:200]
    near = found(measured(FRESH.take(closest)), "Near copies")
    assert near.verdict is not Verdict.FAIL


LEVELS = Column(name="l", kind="categorical", dtype="string", levels=tuple("abcdefghij"))
LEVEL = Column(name="l", kind="categorical", dtype="string", levels=("a", "b", "c", "d"))


def test_a_row_that_several_people_share_is_nobodys():
    shared = Table((LEVEL,), np.array([[0.0], [0.0], [1.0], [1.0]]))
    one = Partition(parts=(Part(name="all", columns=("l",)),), reason="")
    assert found(Copies().measure(Evidence(shared, shared, shared, one), SEED), "Exact copies").observed == 0


def test_chance_matches_are_expected_in_proportion_to_the_training_rows():
    train = Table((LEVEL,), np.array([[0.0], [1.0], [2.0], [2.0]]))
    holdout = Table((LEVEL,), np.array([[3.0], [2.0]]))
    drawn = Table((LEVEL,), np.array([[0.0], [3.0], [3.0], [2.0]]))
    one = Partition(parts=(Part(name="all", columns=("l",)),), reason="")
    exact = found(Copies().measure(Evidence(train, holdout, drawn, one), SEED), "Exact copies")
    assert exact.observed == 1 / 4
    assert exact.control == pytest.approx(2 / 4 * 4 / 2)


def test_numbers_are_equal_by_their_steps_and_missing_cells_are_equal():
    number = Column(name="x", kind="continuous", dtype="double", bounds=(0, 1), decimals=1, nullable=True)
    one = Partition(parts=(Part(name="all", columns=("x",)),), reason="")
    train = Table((number,), np.array([[0.3], [np.nan]]))
    drawn = Table((number,), np.array([[0.1 + 0.2], [np.nan]]))
    unseen = Table((number,), np.array([[0.9]]))
    assert found(Copies().measure(Evidence(train, unseen, drawn, one), SEED), "Exact copies").observed == 1.0


def test_ten_copied_rows_of_two_thousand_fail_among_thirty_checks():
    train, holdout, fresh = (crowd(2000, seed) for seed in (1, 2, 3))
    drawn = stack([fresh.take(slice(10, None)), train.take(slice(0, 10))])
    exact = found(Copies().measure(evidence(drawn, train=train, holdout=holdout), SEED), "Exact copies")
    assert exact.estimate == 0.005
    assert exact.model_copy(update={"family": 30}).verdict is Verdict.FAIL


NOBODY = HOLDOUT.take(slice(0, 0))


def test_without_held_out_rows_a_copy_fails_and_strangers_pass():
    for drawn, verdict in ((shuffled(TRAIN), Verdict.FAIL), (FRESH, Verdict.PASS)):
        findings = Copies().measure(evidence(drawn, train=TRAIN, holdout=NOBODY), SEED)
        assert found(findings, "Exact copies").verdict is verdict
        assert found(findings, "Near copies").verdict is Verdict.INCONCLUSIVE


def test_without_held_out_rows_chance_is_what_rows_that_occur_twice_tell():
    """One level of ten rows occurs twice: a new row equals one that occurs once with chance 2 / 10."""
    train = Table((LEVELS,), np.array([[0.0], [0.0], *([float(level)] for level in range(1, 9))]))
    drawn = Table((LEVELS,), np.array([[1.0], [0.0], [9.0], [9.0]]))
    one = Partition(parts=(Part(name="all", columns=("l",)),), reason="")
    exact = found(Copies().measure(Evidence(train, train.take(slice(0, 0)), drawn, one), SEED), "Exact copies")
    assert exact.observed == 1 / 4
    assert exact.control == pytest.approx(2 / 10)
    assert exact.planted == pytest.approx(8 / 10 - 2 / 10)


def test_a_copy_of_all_training_rows_would_be_seen():
    exact, near = (found(measured(FRESH), name) for name in ("Exact copies", "Near copies"))
    assert exact.planted == 1.0
    assert near.planted > 0.95


def test_a_part_in_which_nobody_is_unique_is_reported_without_gating():
    coarse = Partition(
        parts=(
            Part(name="a", columns=("age", "income", "weight")),
            Part(name="b", columns=("region", "smoker", "ill")),
        ),
        reason="",
    )
    findings = Copies().measure(evidence(FRESH, train=TRAIN, holdout=HOLDOUT, partition=coarse), SEED)
    for name in ("Exact copies", "Near copies"):
        assert found(findings, name, "part b").limit is None
        assert found(findings, name, "part b").reason.startswith("not gated")
        assert found(findings, name, "part a").limit is not None


def test_a_table_in_which_nobody_is_unique_cannot_pass():
    alike = cells(TRAIN, np.ones_like(TRAIN.values))
    exact = found(Copies().measure(evidence(alike, train=alike, holdout=alike), SEED), "Exact copies")
    assert exact.verdict is Verdict.INCONCLUSIVE
    assert "even a copy of the training table" in exact.remark


@pytest.mark.parametrize("preset", Copies.presets)
def test_presets_are_settings_that_allow_more(preset):
    relaxed = catalog.build({"kind": "copies", **Copies.presets[preset]})
    assert relaxed.whole.exact > Copies().whole.exact
    assert relaxed.parts.near > Copies().parts.near


def test_limits_can_be_taken_away_and_grow_with_the_control():
    findings = measured(TRAIN, whole={"exact": None, "near": 0.0}, tolerance=0.1)
    assert found(findings, "Exact copies").verdict is None
    assert 0 < found(findings, "Near copies").limit <= 0.05


def test_unknown_settings_are_refused():
    with pytest.raises(SpecError, match="unknown key"):
        catalog.build({"kind": "copies", "exakt": 0.1})


def of_regions(synthetic, train=TRAIN, holdout=HOLDOUT, measure=None, **more):
    return (measure or Copies()).measure(in_regions(synthetic, train=train, holdout=holdout, **more), SEED)


@pytest.mark.parametrize("queries", [None, 300])
def test_a_copied_cluster_shows_in_itself_alone_and_the_whole_fails_for_it(queries):
    findings = of_regions(one_region_copied(TRAIN, crowd(600, 3)), queries=queries)
    assert found(findings, "Exact copies", "cluster-1").estimate == 1.0
    assert found(findings, "Near copies", "cluster-1").estimate > 0.9
    for other in ("cluster-2", "cluster-3", "cluster-4"):
        assert found(findings, "Exact copies", other).estimate == 0
        assert found(findings, "Near copies", other).estimate < 0.05
    assert found(findings, "Exact copies").verdict is Verdict.FAIL


def test_clusters_are_reported_and_decide_nothing():
    findings = [finding for finding in of_regions(TRAIN) if finding.where]
    assert len(findings) == 8
    assert {finding.verdict for finding in findings} == {None}
    assert all(finding.planted is not None for finding in findings)


def test_the_shares_of_clusters_add_up_to_that_of_the_whole():
    findings = of_regions(stack([TRAIN.take(slice(0, 100)), FRESH.take(slice(0, 100))]))
    sizes = [np.sum(TRAIN["region"] == code) for code in range(4)]
    each = [found(findings, "Exact copies", f"cluster-{number}").observed for number in (1, 2, 3, 4)]
    assert np.average(each, weights=sizes) == pytest.approx(found(findings, "Exact copies").observed)


def test_of_a_cluster_without_held_out_people_nothing_is_known():
    findings = of_regions(FRESH, holdout=HOLDOUT.take(HOLDOUT["region"] != 1))
    for name in ("Exact copies", "Near copies"):
        assert found(findings, name, "cluster-2").estimate is None
        assert "without held-out rows" in found(findings, name, "cluster-2").reason
        assert found(findings, name, "cluster-1").estimate is not None


def test_a_cluster_with_limits_of_its_own_fails_by_them():
    strict = Copies(clusters={"cluster-1": {"exact": 0.01, "near": 0.02}})
    findings = of_regions(one_region_copied(TRAIN, crowd(600, 3)), measure=strict)
    for name in ("Exact copies", "Near copies"):
        assert found(findings, name, "cluster-1").verdict is Verdict.FAIL
        assert found(findings, name, "cluster-2").verdict is None
    assert found(of_regions(FRESH, measure=strict), "Exact copies", "cluster-1").verdict is Verdict.PASS


def test_a_limit_for_a_cluster_that_was_not_found_is_not_kept():
    findings = of_regions(FRESH, measure=Copies(clusters={"cluster-9": {"exact": 0.5}}))
    assert found(findings, "Exact copies", "cluster-9").verdict is Verdict.INCONCLUSIVE
    assert "no such cluster" in found(findings, "Exact copies", "cluster-9").reason
    assert found(findings, "Near copies", "cluster-9").verdict is None
