"""The multi-head generator as a whole, on tiny networks."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest

from models.errors import SynthesisError
from models.generators.hydragan import HydraGAN
from models.randomness import Seed
from models.schema import Column, Kind, Role
from models.table import Table

torch = pytest.importorskip("torch")

NAN = np.nan
SEED = Seed.of(1)
TINY: dict[str, Any] = {"steps": 3, "hidden": 8, "noise": 4, "batch": 32}


def levels(name: str, count: int, **more: Any) -> Column:
    return Column(name=name, kind=Kind.CATEGORICAL, dtype="int64", levels=tuple(range(count)), **more)


def number(name: str, **more: Any) -> Column:
    return Column(name=name, kind=Kind.CONTINUOUS, dtype="double", bounds=(-99, 99), **more)


def groups(rows: int = 300) -> Table:
    """Three groups of rows that two numbers tell apart, and a sensitive column of two levels."""
    rng = Seed.of(2).generator()
    group = np.arange(rows) % 3
    columns = [number("x"), number("y"), levels("s", 2, role=Role.SENSITIVE)]
    return Table.of(columns, [*(30.0 * group + rng.normal(size=(2, rows))), rng.integers(0, 2, rows)], rows)


def test_there_is_a_head_for_each_cluster_of_rows():
    sampler = HydraGAN(**TINY, clusters=3).fit(groups().select(["x", "y"]), SEED)
    assert sampler.heads.weights.tolist() == pytest.approx([1 / 3] * 3, abs=0.05)


def test_without_a_number_rows_that_form_no_groups_have_one_head():
    scattered = Table.of([number("x"), number("y")], list(SEED.generator().normal(size=(2, 300))), 300)
    heads = [HydraGAN(**TINY).fit(table, SEED).shape["heads"] for table in (groups().select(["x", "y"]), scattered)]
    assert heads == [3, 1]


def test_the_number_of_threads_changes_nothing():
    threads, drawn = torch.get_num_threads(), []
    for count in (1, 2):
        torch.set_num_threads(count)
        drawn.append(HydraGAN(**TINY).fit(groups(), SEED).sample(50, SEED).values)
        assert torch.get_num_threads() == count
    torch.set_num_threads(threads)
    assert drawn[0].tobytes() == drawn[1].tobytes()


def test_each_cluster_that_is_given_has_a_sampler_of_its_own_head_alone():
    table = groups().select(["x", "y"])
    samplers = HydraGAN(**{**TINY, "steps": 60}).resume_clusters(table, np.arange(300) % 3, SEED, None)
    means = [sampler.sample(200, SEED)["x"].mean() for sampler in samplers]
    assert means == sorted(means)
    assert [(sampler.shape["heads"], sampler.heads.weights.tolist()) for sampler in samplers] == [(1, [1.0])] * 3


def test_the_sampler_of_one_head_is_restored_from_its_state():
    sampler = HydraGAN(**TINY).resume_clusters(groups(), np.arange(300) % 2, SEED, None)[1]
    again = HydraGAN.sampler.restore(sampler.state(), groups().columns)
    assert again.sample(50, SEED).values.tobytes() == sampler.sample(50, SEED).values.tobytes()


def test_every_head_that_can_be_drawn_has_been_trained():
    one, three = (
        HydraGAN(**{**TINY, "steps": steps, "held_out": 0}).resume_clusters(groups(), np.arange(300) % 3, SEED, None)
        for steps in (1, 3)
    )
    weights = [[sampler.heads.network.head.weight for sampler in samplers] for samplers in (one, three)]
    assert [bool((before != after).any()) for before, after in zip(*weights, strict=True)] == [True] * 3


def test_facts_hold_the_curves_and_no_head_is_lost_in_silence(caplog: pytest.LogCaptureFixture):
    sampler = HydraGAN(**TINY, clusters=1).fit(groups(), SEED)
    facts = json.loads(json.dumps(sampler.state().facts))
    assert len(facts["training"]["losses"]["realism"]) == 3
    assert [step for step, _ in facts["training"]["scores"]] == [1, 2, 3]
    assert facts["collapsed"] == [] or "collapsed" in caplog.text


@pytest.mark.parametrize(("rows", "share", "told"), [(60, 0.15, True), (60, 0, False), (300, 0.15, False)])
def test_where_too_few_rows_could_be_held_out_it_is_said_that_no_score_chose(
    rows: int, share: float, told: bool, caplog: pytest.LogCaptureFixture
):
    training = HydraGAN(**TINY, held_out=share).fit(groups(rows), SEED).facts["training"]
    assert ("the last checkpoint is kept" in caplog.text) == told
    assert (training["score"] is None) == (training["scores"] == []) == (told or not share)


def test_a_head_that_collapsed_is_reported_although_its_levels_vary_again_once_corrected(
    caplog: pytest.LogCaptureFixture,
):
    """Steps far too large make a network of one hidden unit say the same always."""
    table = Table.of([levels("a", 2)], [np.arange(200) % 2], 200)
    collapsing = HydraGAN(steps=3, hidden=1, noise=1, batch=32, learning_rate=5.0, clusters=1)
    sampler = collapsing.fit(table, Seed.of(0))
    assert sampler.sample(500, SEED)["a"].mean() == pytest.approx(0.5, abs=0.1)
    assert sampler.facts["collapsed"] == [0]
    assert "1 of 1 heads have collapsed" in caplog.text


def test_the_more_re_identification_weighs_the_less_a_head_has_its_own_share_of_the_sensitive_column():
    table = groups()
    table = Table(table.columns, np.column_stack([table.values[:, :2], np.arange(300) % 3 == 0]))
    shares = [
        HydraGAN(**TINY, clusters=3, reidentification=weight).fit(table, SEED).heads.shares[:, -1]
        for weight in (0, 0.5, 1)
    ]
    assert sorted(shares[0]) == [0, 0, 1]
    assert 0 < min(shares[1]) < 1 / 3 < max(shares[1]) < 1
    assert shares[2] == pytest.approx([1 / 3] * 3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_weight_of_re_identification_is_a_dial_of_what_a_sensitive_column_has_to_do_with_others(seed: int):
    x = Seed.of(4).generator().normal(size=500)
    table = Table.of([number("x"), levels("s", 2, role=Role.SENSITIVE)], [x, x > 0], 500)
    small: dict[str, Any] = {"steps": 400, "hidden": 32, "noise": 8, "batch": 128, "clusters": 1}
    ties = []
    for weight in (0, 0.5, 1):
        drawn = HydraGAN(**small, reidentification=weight).fit(table, Seed.of(seed)).sample(2000, SEED)
        ties.append(float(np.corrcoef(drawn["x"], drawn["s"])[0, 1]))
    assert ties[0] > 0.6
    assert 0.2 < ties[1] < ties[0] - 0.1
    assert abs(ties[2]) < 0.2


@pytest.mark.parametrize("rows", [1, 2, 30])
def test_few_rows_are_enough(rows: int):
    assert len(HydraGAN(**TINY).fit(groups(rows), SEED).sample(40, SEED)) == 40


def test_a_sensitive_column_of_one_level_or_nearly_is_no_obstacle():
    for share in (0.0, 0.01):
        table = groups()
        table = Table(table.columns, np.column_stack([table.values[:, :2], np.arange(300) < share * 300]))
        assert len(HydraGAN(**TINY, reidentification=1).fit(table, SEED).sample(9, SEED)) == 9


def test_rows_that_are_all_the_same_are_one_cluster():
    table = Table.of([number("x"), levels("l", 2)], [np.ones(200), np.ones(200)], 200)
    sampler = HydraGAN(**TINY, clusters=3).fit(table, SEED)
    assert sampler.shape["heads"] == 1
    assert set(sampler.sample(20, SEED)["l"]) == {1.0}


def test_rows_of_two_kinds_repeated_are_two_clusters_however_many_are_asked_for():
    kind = np.arange(200) % 2
    table = Table.of([number("x"), levels("l", 2)], [9.0 * kind, kind], 200)
    sampler = HydraGAN(**TINY, clusters=5).fit(table, SEED)
    assert sampler.heads.weights.tolist() == [0.5, 0.5]
    assert set(sampler.sample(50, SEED)["l"]) == {0.0, 1.0}


def test_a_cluster_with_one_sensitive_level_draws_the_others_too_where_it_shall_not_be_told():
    table, labels = groups(), groups()["s"].astype(np.int64)
    samplers = HydraGAN(**TINY, reidentification=1).resume_clusters(table, labels, SEED, None)
    shares = [sampler.sample(2000, SEED)["s"].mean() for sampler in samplers]
    assert shares == pytest.approx([table["s"].mean()] * 2, abs=0.1)


@pytest.mark.parametrize("names", [("a", "b"), ("x", "y")])
def test_levels_alone_or_numbers_alone_are_enough(names: tuple[str, str]):
    rng = Seed.of(3).generator()
    columns = [levels("a", 2), levels("b", 3), number("x"), number("y")]
    table = Table.of(columns, [np.arange(90) % 2, np.arange(90) % 3, *rng.normal(size=(2, 90))], 90).select(names)
    drawn = HydraGAN(**TINY, clusters=2).fit(table, SEED).sample(60, SEED)
    assert drawn.columns == table.columns
    assert all(drawn[name].std() > 0 for name in names)


def test_a_column_without_any_value_stays_empty():
    table = Table.of([number("x", nullable=True), levels("l", 2)], [np.full(60, NAN), np.arange(60) % 2], 60)
    assert np.isnan(HydraGAN(**TINY).fit(table, SEED).sample(20, SEED)["x"]).all()


def test_more_clusters_than_rows_are_refused():
    with pytest.raises(SynthesisError, match="5 clusters of 3 rows"):
        HydraGAN(**TINY, clusters=5).fit(groups(3), SEED)


def test_labels_for_other_rows_are_refused():
    with pytest.raises(SynthesisError, match="2 labels for 3 rows"):
        HydraGAN(**TINY).resume_clusters(groups(3), np.zeros(2, dtype=np.int64), SEED, None)


def test_a_cluster_without_rows_is_refused_since_its_head_would_stay_untrained():
    with pytest.raises(SynthesisError, match="a cluster has no row"):
        HydraGAN(**TINY).resume_clusters(groups(4), np.array([0, 0, 2, 2]), SEED, None)


def test_re_identification_without_a_sensitive_column_is_refused_by_name():
    with pytest.raises(SynthesisError, match="reidentification: no column has the role 'sensitive'"):
        HydraGAN(**TINY, reidentification=1).fit(groups().select(["x", "y"]), SEED)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(SynthesisError, match="device: no CUDA device is to be had here"):
        HydraGAN(**TINY, device="cuda").fit(groups(), SEED)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_the_device_that_there_is_is_taken_and_told():
    found, plain = (HydraGAN(**TINY, device=device).fit(groups(), SEED) for device in ("auto", "cpu"))
    assert found.facts["device"] == "cpu"
    np.testing.assert_array_equal(found.sample(9, SEED).values, plain.sample(9, SEED).values)


def test_without_torch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SynthesisError, match="torch is not installed"):
        HydraGAN(**TINY).fit(groups(), SEED)
