"""The validator's join: pairs that pass for real rows are kept, and the rest is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from models.errors import SpecError
from models.joins import Joined, catalog
from models.joins.validated import Auto, Decaying, Fixed, Validated
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table

FOREST = {"kind": "random_forest", "settings": {"n_estimators": 20}}


def parts_of(rows: int, strength: float) -> list[Table]:
    random = np.random.default_rng(5)
    hidden, *noise = random.normal(size=(3, rows))
    columns = [Column(name=name, kind=Kind.CONTINUOUS, dtype="double", bounds=(-99, 99)) for name in "ab"]
    return [Table.of([column], [strength * hidden + more], rows) for column, more in zip(columns, noise, strict=True)]


def draw_from(parts: list[Table]) -> Callable[[int, int], list[Table]]:
    def draw(round: int, n: int) -> list[Table]:
        streams = [Seed.of(round).child(str(number)).generator() for number in range(len(parts))]
        return [part.take(stream.integers(0, len(part), n)) for part, stream in zip(parts, streams, strict=True)]

    return draw


def run(n: int = 200, rows: int = 600, strength: float = 3, **settings: Any) -> Joined:
    parts = parts_of(rows, strength)
    join = catalog.build({"kind": "validated", "validator": FOREST, **settings})
    return join.fit(parts, Seed.of(1)).join(draw_from(parts), n, Seed.of(2))


def correlation(table: Table) -> float:
    return float(np.corrcoef(table["a"], table["b"])[0, 1])


def test_dependence_between_parts_comes_back():
    parts = parts_of(600, strength=3)
    shuffled = catalog.build("shuffled").fit(parts, Seed.of(1)).join(draw_from(parts), 200, Seed.of(2))
    found = run()
    assert abs(correlation(shuffled.table)) < 0.2
    assert correlation(found.table) > 0.6
    assert len(found.table) == 200


def test_the_facts_tell_what_the_validator_knew_and_what_was_done():
    facts = run().facts
    assert facts["validator"] == "random_forest"
    assert facts["informed"]
    assert facts["auc"] > facts["auc_by_chance"] > 0.5
    assert facts["log_loss"] < facts["log_loss_constant"]
    assert facts["training_rows"] == 600
    assert (facts["threshold_first"], facts["threshold_last"]) == (0.5, 0.5)
    assert facts["proposed"] > facts["accepted"] == 200
    assert facts["rounds"] >= facts["draws"] == 1
    assert "fallback" not in facts


def test_a_validator_without_information_says_so_and_drops_nothing():
    found = run(strength=0)
    assert found.facts["informed"] is False
    assert "no better than chance" in found.facts["fallback"]
    assert found.proposed == found.accepted == 200
    assert abs(found.facts["auc"] - 0.5) < 0.05


def test_too_few_real_rows_to_train_on_fall_back_and_say_so():
    found = run(rows=49)
    assert "49 real rows are too few" in found.facts["fallback"]
    assert (len(found.table), found.shortfall) == (200, 0)


def test_a_threshold_that_no_pair_reaches_leaves_a_shortfall_and_pads_nothing():
    found = run(threshold={"kind": "fixed", "value": 1.0}, patience=2, draws=3)
    assert (len(found.table), found.accepted, found.shortfall) == (0, 0, 200)
    assert found.facts["draws"] == 3
    assert found.facts["rounds"] == 6


def test_a_dry_pool_is_drawn_anew():
    asked: list[tuple[int, int]] = []
    parts = parts_of(600, strength=3)

    def draw(round: int, n: int) -> list[Table]:
        asked.append((round, n))
        return draw_from(parts)(round, n)

    join = Validated(validator=FOREST, pool=1, rounds=2, draws=10)
    found = join.fit(parts, Seed.of(1)).join(draw, 200, Seed.of(2))
    assert asked == [(round, 200) for round in range(len(asked))]
    assert 1 < len(asked) < 10
    assert found.shortfall == 0


def test_no_more_pools_are_drawn_than_allowed():
    found = run(pool=1, rounds=1, draws=2)
    assert found.facts["draws"] == found.facts["rounds"] == 2
    assert found.shortfall == 200 - found.accepted > 0


def test_a_decaying_threshold_falls_to_its_floor_and_no_further():
    found = run(threshold={"kind": "decaying", "start": 1.0, "step": 0.1, "floor": 0.7}, patience=1)
    assert found.facts["threshold_first"] == 1.0
    assert 0.7 <= found.facts["threshold_last"] < 1.0
    assert found.accepted > 0


def test_a_behaviour_is_a_name_for_settings_and_what_is_said_beside_it_counts():
    strict, adaptive = Validated(behaviour="strict"), Validated(behaviour="adaptive")
    assert strict == Validated(threshold=Fixed(value=0.5), patience=3) == Validated()
    assert (adaptive.threshold, adaptive.patience) == (Decaying(), 5)
    assert Validated(behaviour="adaptive", patience=2).patience == 2
    assert Validated(behaviour="adaptive", threshold=Auto()).threshold == Auto()


def test_the_paper_s_two_behaviours_can_be_asked_for():
    strict, adaptive = run(behaviour="strict"), run(behaviour="adaptive")
    assert adaptive.facts["threshold_first"] > strict.facts["threshold_first"] == 0.5
    assert correlation(adaptive.table) > correlation(strict.table)


@pytest.mark.parametrize("kind", ["one_class_svm", "isolation_forest"])
@pytest.mark.parametrize("calibration", ["isotonic", "none"])
def test_an_outlier_validator_s_automatic_threshold_keeps_the_typical_tenth(kind: str, calibration: str):
    """Taken from the wrong end, it would let nine tenths of all pairs pass and hardly bring back any dependence."""
    best = {"kind": "auto", "share": 0.1, "floor": 0}
    found = run(n=60, validator={"kind": kind, "calibration": calibration}, threshold=best, pool=10, rounds=1, draws=1)
    assert found.proposed == 600
    assert len(found.table) == 60
    assert correlation(found.table) > 0.8


SCORES = np.arange(1, 101) / 100


def test_thresholds_begin_where_they_should():
    assert Fixed(value=0.4).first(SCORES) == 0.4
    assert Auto(share=0.1).first(SCORES) == pytest.approx(0.901)
    assert Auto(share=0.1).first(SCORES / 10) == 0.5
    assert Auto(share=0.1, floor=0).first(SCORES / 10) == pytest.approx(0.0901)
    assert Decaying(share=0.1).first(SCORES) == pytest.approx(0.901)
    assert Decaying(start=0.8).first(SCORES) == 0.8
    assert Decaying(start=0.2).first(SCORES) == 0.5


def test_only_a_decaying_threshold_falls():
    assert Fixed(value=0.4).lowered(0.4) == 0.4
    assert Auto().lowered(0.9) == 0.9
    assert Decaying(step=0.25).lowered(0.9) == pytest.approx(0.65)
    assert Decaying(step=0.25).lowered(0.6) == 0.5


def test_three_parts_are_joined():
    parts = [*parts_of(400, strength=3), parts_of(400, strength=3)[0]]
    third = Column(name="c", kind=Kind.CONTINUOUS, dtype="double", bounds=(-99, 99))
    parts[2] = Table((third,), parts[2].values)
    found = Validated(validator=FOREST).fit(parts, Seed.of(1)).join(draw_from(parts), 60, Seed.of(2))
    assert found.table.names == ("a", "b", "c")
    assert np.corrcoef(found.table["a"], found.table["c"])[0, 1] > 0.4


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"threshold": {"kind": "fixd"}}, "threshold"),
        ({"threshold": {"kind": "fixed", "value": 2}}, "threshold.fixed.value"),
        ({"validator": {"kind": "oracle"}}, "validator.kind"),
        ({"validator": {"settings": {"maxdepth": 3}}}, "did you mean 'max_depth'"),
        ({"behaviour": "standard"}, "behaviour"),
        ({"pool": 0.5}, "pool"),
        ({"pacience": 3}, "did you mean 'patience'"),
        ({"threshold": {"kind": "decaying", "flor": 0.1}}, "did you mean 'floor'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, Any], told: str):
    with pytest.raises(SpecError, match=told):
        catalog.build({"kind": "validated", **settings})
