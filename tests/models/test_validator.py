"""A validator tells real rows from chance pairs, and knows how well it can."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from pydantic import ValidationError

from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Floats, Table
from models.validator import (
    ESTIMATORS,
    MOST_LEVELS,
    ONE_CLASS,
    Classifier,
    Encoder,
    Products,
    Validator,
    examples,
    hindrance,
)

NAN = np.nan
SMALL: dict[str, dict[str, Any]] = {
    "random_forest": {"n_estimators": 20},
    "extra_trees": {"n_estimators": 20},
    "gradient_boosting": {"max_iter": 20},
}


def number(name: str, **more: Any) -> Column:
    return Column(name=name, kind=Kind.CONTINUOUS, dtype="double", nullable=True, **{"bounds": (-1e6, 1e6), **more})


def levels(name: str, count: int, ordered: bool = False) -> Column:
    listed = tuple(range(count))
    return Column(name=name, kind=Kind.CATEGORICAL, dtype="string", nullable=True, levels=listed, ordered=ordered)


def alone(column: Column, cells: Any) -> Table:
    return Table.of([column], [np.asarray(cells, dtype=np.float64)], len(cells))


def together(rows: int, strength: float) -> list[Table]:
    """Two parts of two columns each; the parts share a hidden number as far as ``strength`` says."""
    random = np.random.default_rng(11)
    hidden, a, b = random.normal(size=(3, rows))
    left, right = strength * hidden + a, strength * hidden + b
    columns = [number("a"), levels("s", 2)], [number("b"), levels("t", 2)]
    return [
        Table.of(pair, [cells, (cells + random.normal(size=rows) > 0) * 1.0], rows)
        for pair, cells in zip(columns, (left, right), strict=True)
    ]


def encoded(column: Column, cells: Any) -> list[list[float]]:
    table = alone(column, cells)
    return Encoder.of(table).encode(table).tolist()


def test_numbers_are_standardised_and_missing_is_a_feature_of_its_own():
    assert encoded(number("x"), [1, 3, NAN]) == [[-1, 0], [1, 0], [0, 1]]


def test_far_numbers_are_drawn_in():
    features = Encoder.of(alone(number("x"), [-1.0, 1.0])).encode(alone(number("x"), [3.0, 1e6, -1e6])).ravel()
    assert features[0] == 3
    assert features[1] == -features[2] == pytest.approx(3 + np.log(1e6 - 2))


def test_a_log_scale_is_followed():
    # one step of the grid above the lower bound comes first, so zero has a logarithm
    column = number("x", bounds=(0, 1e4), decimals=0, scale="log")
    assert np.allclose(np.ravel(encoded(column, [0, 9, 99])), [-1.2247449, 0, 1.2247449])


def test_a_constant_number_and_a_wholly_missing_one_are_zero_features():
    assert encoded(number("x"), [0.1] * 3) == [[0]] * 3
    assert encoded(number("x"), [NAN, NAN]) == [[0, 1], [0, 1]]


def test_levels_have_a_feature_each_two_levels_share_one_and_ordered_ones_are_a_number():
    assert encoded(levels("x", 3), [0] * 5 + [1] * 6 + [2] * 7)[0] == [0, 0, 1]
    assert encoded(levels("x", 2), [0] * 5 + [1] * 5)[0] in ([0], [1])
    assert len(encoded(levels("x", 5, ordered=True), [0, 1, 2, 3, 4])[0]) == 1


def test_very_many_levels_have_few_features():
    cells = np.concatenate([np.repeat(np.arange(40.0), 6), np.arange(40.0, 5000.0)])
    assert Encoder.of(alone(levels("x", 5000), cells)).encode(alone(levels("x", 5000), cells)).shape[1] == MOST_LEVELS


def test_no_level_is_learnt_that_a_single_row_has():
    assert encoded(levels("x", 9), np.arange(9)) == [[]] * 9


def test_half_of_the_examples_are_real_and_the_other_half_has_the_same_parts():
    features = [np.arange(6, dtype=np.float32)[:, None], 10 + np.arange(6, dtype=np.float32)[:, None]]
    x, real = examples(features, np.array([1, 2, 4]), 2, Seed.of(1))
    assert x[real].tolist() == [[1, 11], [2, 12], [4, 14]] * 2
    for part, cells in ((0, [1, 2, 4]), (1, [11, 12, 14])):
        assert sorted(x[~real][:, part]) == sorted(cells * 2)


@pytest.mark.parametrize("kind", get_args(Classifier))
def test_every_kind_sees_a_strong_dependence_and_none_where_there_is_none(kind: Classifier):
    validator = Validator(kind=kind, settings=SMALL.get(kind, {}))
    dependent = validator.fit(together(400, strength=3), Seed.of(1)).quality
    independent = validator.fit(together(400, strength=0), Seed.of(1)).quality
    assert dependent.auc > 0.7
    assert dependent.log_loss < (0.66 if kind in ONE_CLASS else 0.6) < dependent.log_loss_constant
    assert dependent.informed
    assert abs(independent.auc - 0.5) < 0.06
    assert not independent.informed


@pytest.mark.parametrize("kind", sorted(ONE_CLASS))
def test_a_one_class_kind_gives_typical_rows_the_higher_score_and_draws_its_boundary_at_one_half(kind: Any):
    parts = together(300, strength=3)
    judge = Validator(kind=kind, calibration="none").fit(parts, Seed.of(1))
    features = judge.encode(parts)
    typical, apart = judge.scores(features), judge.scores([features[0], -features[1]])
    assert typical.mean() > apart.mean() + 0.1
    inside = judge.raw.estimator.predict(np.hstack(features)) == 1
    assert np.array_equal(inside, typical >= 0.5)


def test_the_scale_of_a_one_class_score_does_not_grow_with_the_rows():
    few, many = (
        Validator(kind="one_class_svm", calibration="none").fit(together(rows, strength=3), Seed.of(1))
        for rows in (100, 800)
    )
    spreads = [np.std(judge.scores(judge.encode(together(100, strength=3)))) for judge in (few, many)]
    assert 0.5 < spreads[0] / spreads[1] < 2


@pytest.mark.parametrize("calibration", ["isotonic", "sigmoid", "none"])
def test_scores_are_probabilities_that_rank_real_rows_first(calibration: Any):
    parts = together(300, strength=3)
    judge = Validator(kind="logistic", calibration=calibration).fit(parts, Seed.of(1))
    features = judge.encode(parts)
    real, made = judge.scores(features), judge.scores([features[0], features[1][::-1]])
    assert min(real.min(), made.min()) > 0
    assert max(real.max(), made.max()) < 1
    assert real.mean() > made.mean() + 0.2


@pytest.mark.parametrize("calibration", ["isotonic", "sigmoid"])
def test_a_validator_that_memorises_is_found_out(calibration: Any):
    """The nearest neighbour of a row it has seen is that row: only unseen rows tell that it knows nothing."""
    parts = together(300, strength=0)
    nearest = Validator(kind="knn", settings={"n_neighbors": 1}, calibration=calibration, negatives=1)
    judge = nearest.fit(parts, Seed.of(1))
    assert judge.raw(np.hstack(judge.encode(parts))).mean() > 0.9
    assert abs(judge.quality.auc - 0.5) < 0.05
    assert not judge.quality.informed
    assert judge.quality.log_loss > 0.68
    assert np.abs(judge.scores(judge.encode(parts)) - 0.5).max() < 0.1


def test_no_row_is_scored_by_a_classifier_that_saw_a_part_of_it(monkeypatch: pytest.MonkeyPatch):
    """Features number the rows; a classifier that keeps all it is shown finds none of it in what it has to score."""
    seen_and_scored: list[tuple[set[float], set[float]]] = []

    class Witness:
        def fit(self, x: Floats, real: Floats) -> None:
            self.seen = set(np.unique(x).tolist())

        def predict_proba(self, x: Floats) -> Floats:
            seen_and_scored.append((self.seen, set(np.unique(x).tolist())))
            return np.full((len(x), 2), 0.5)

    monkeypatch.setattr(Validator, "_estimator", lambda self, random_state: Witness())
    parts = [alone(number("a"), np.arange(60)), alone(number("b"), 1000 + np.arange(60))]
    Validator(folds=4).fit(parts, Seed.of(1))
    assert len(seen_and_scored) == 4
    assert all(not seen & scored for seen, scored in seen_and_scored)
    assert len(set().union(*(scored for _, scored in seen_and_scored))) == 60


def test_the_same_seed_gives_the_same_judge_and_another_one_another():
    parts = together(200, strength=1)
    first, again, other = (
        Validator(settings={"n_estimators": 10}, calibration="none").fit(parts, Seed.of(seed)) for seed in (1, 1, 2)
    )
    scores = [judge.scores(judge.encode(parts)) for judge in (first, again, other)]
    assert np.array_equal(scores[0], scores[1])
    assert first.quality == again.quality
    assert not np.array_equal(scores[0], scores[2])


def test_so_many_rows_are_used_and_no_more():
    assert Validator(kind="logistic", rows=60).fit(together(200, strength=1), Seed.of(1)).quality.rows == 60
    assert Validator(kind="logistic").fit(together(200, strength=1), Seed.of(1)).quality.rows == 200


def test_no_row_has_no_score():
    parts = together(100, strength=1)
    judge = Validator(kind="logistic").fit(parts, Seed.of(1))
    assert judge.scores(judge.encode([part.take(slice(0)) for part in parts])).shape == (0,)


def test_what_stands_in_the_way_of_training_is_told():
    assert "40 real rows are too few" in str(hindrance(together(40, strength=1)))
    silent = alone(levels("u", 9000), np.arange(200))
    assert "1 of 2 parts" in str(hindrance([together(200, strength=1)[0], silent]))
    assert hindrance(together(200, strength=1)) is None


def test_products_are_of_different_parts_only():
    x = np.random.default_rng(1).normal(size=(200, 4)).astype(np.float32)
    found = Products.of(x, np.arange(200) < 100, [3, 1])
    assert sorted(zip(found.first.tolist(), found.second.tolist(), strict=True)) == [(0, 3), (1, 3), (2, 3)]
    assert found.apply(x).shape == (200, 4 + 4 + 3)


@pytest.mark.parametrize("kind", get_args(Classifier))
def test_an_unknown_setting_is_refused_with_the_nearest_valid_one(kind: Classifier):
    with pytest.raises(ValidationError, match=rf"{kind} has no such settings: 'no_such_thing'.*valid: "):
        Validator(kind=kind, settings={"no_such_thing": 1})


def test_a_misspelt_setting_gets_advice():
    with pytest.raises(ValidationError, match="did you mean 'max_depth'"):
        Validator(settings={"maxdepth": 3})


@pytest.mark.parametrize("name", ["random_state", "verbose"])
def test_what_is_not_for_a_spec_to_set_is_refused(name: str):
    with pytest.raises(ValidationError, match="no such settings"):
        Validator(settings={name: 1})


def test_a_value_that_scikit_learn_refuses_is_refused_before_any_row_is_read():
    with pytest.raises(ValidationError, match="n_estimators"):
        Validator(settings={"n_estimators": "many"})


def test_settings_reach_the_classifier():
    judge = Validator(settings={"n_estimators": 3}).fit(together(60, strength=1), Seed.of(1))
    assert len(judge.raw.estimator.estimators_) == 3
    assert set(ESTIMATORS) == set(get_args(Classifier))
