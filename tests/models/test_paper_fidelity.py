"""SynthEval's figures of fidelity and the corrected ones, on tables that fit in the head."""

import numpy as np
import pytest

from models.evidence import Evidence
from models.paper_fidelity import auroc_difference, components, correlation, f1_difference, hellinger
from models.paper_tables import PaperTables
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column
from models.table import Table

X, Y = (Column(name=name, kind="continuous", dtype="double", bounds=(-1000, 1000), nullable=True) for name in "xy")
LEVEL = Column(name="l", kind="categorical", dtype="string", levels=("a", "b", "c"))
ANSWER = Column(name="t", kind="categorical", dtype="string", role="target", levels=("u", "v", "w"))
RNG = np.random.default_rng(1)
NORMAL = RNG.normal(size=(400, 2))


def tables(columns, train, synthetic, holdout=None):
    given = [Table(columns, np.array(cells, dtype=float)) for cells in (train, synthetic)]
    unseen = Table(columns, np.array(train if holdout is None else holdout, dtype=float))
    part = Partition(parts=(Part(name="all", columns=tuple(c.name for c in columns)),), reason="")
    return PaperTables.of(Evidence(given[0], unseen, given[1], part), Seed.of(1))


def test_another_scale_is_seen_by_the_corrected_variances_alone():
    ratios, _ = components(tables((X, Y), NORMAL, 3 * NORMAL))
    assert ratios[0] == pytest.approx(0)
    assert ratios[1] == pytest.approx(8)


def test_first_axes_at_a_right_angle_are_one_apart():
    x, y = NORMAL.T
    along, across = np.column_stack([x, x + 0.1 * y]), np.column_stack([x, -x + 0.1 * y])
    _, (angle, missed) = components(tables((X, Y), along, across))
    assert angle == pytest.approx(1)
    assert missed > 0.9


def test_the_angle_of_axes_of_equal_length_means_nothing_and_the_corrected_figure_says_so():
    _, (_, missed) = components(tables((X, Y), NORMAL, NORMAL[:, ::-1] * [1, -1]))
    assert missed < 0.2


def test_fewer_than_two_numbers_have_no_components():
    assert components(tables((X,), NORMAL[:, :1], NORMAL[:, 1:])) == ((None, None), (None, None))
    constant = np.zeros((400, 2))
    assert components(tables((X, Y), NORMAL, constant)) == ((None, None), (None, None))


def test_a_shifted_number_is_seen_by_the_corrected_hellinger_distance_alone():
    ((paper, corrected),) = hellinger(tables((X,), NORMAL[:, :1], NORMAL[:, :1] + 3))
    assert paper == 0
    assert corrected > 0.8


def test_other_levels_are_binned_as_if_they_were_the_same_unless_corrected():
    one, other = np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]])
    ((paper, corrected),) = hellinger(tables((LEVEL,), one, other))
    assert paper == 0
    assert corrected == pytest.approx(np.sqrt(0.5))


def test_a_number_that_is_mostly_one_value_has_bins():
    peaked = np.concatenate([np.zeros(300), np.arange(100.0)])[:, None]
    thinner = np.concatenate([np.zeros(390), np.arange(90, 100.0)])[:, None]
    ((paper, _),) = hellinger(tables((X,), peaked, thinner))
    assert 0.1 < paper < 0.5


def test_associations_are_squared_in_the_paper_and_not_in_the_corrected_figure():
    one = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [300, 100, 100, 300], axis=0)
    flat = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 200, axis=0)
    pair = (LEVEL, LEVEL.model_copy(update={"name": "m"}))
    ((paper, corrected),) = correlation(tables(pair, one, flat))
    assert paper == pytest.approx(np.sqrt(2) * 0.25, abs=0.01)
    assert corrected == pytest.approx(np.sqrt(2) * 0.5, abs=0.01)


def test_monotone_dependence_is_whole_only_for_ranks():
    x = np.arange(50.0)
    curve, mixed = np.column_stack([x, np.exp(x / 5)]), np.column_stack([x, RNG.permutation(x)])
    ((paper, corrected),) = correlation(tables((X, Y), curve * [1, 0.01], mixed))
    assert corrected > paper + 0.1


def test_a_number_and_levels_have_eta_squared_in_the_paper():
    numbers = np.array([0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    levels = numbers >= 6
    real, same = np.column_stack([numbers, levels]), np.column_stack([numbers, np.zeros(12)])
    ((paper, _),) = correlation(tables((X, LEVEL), real, same))
    assert paper == pytest.approx(np.sqrt(2) * (1 - 35 / 143))


def test_a_constant_number_leaves_the_correlation_of_the_paper_undefined():
    ((paper, corrected),) = correlation(tables((X, Y), NORMAL, np.zeros((400, 2))))
    assert np.isnan(paper)
    assert np.isfinite(corrected)


def answered(rows, seed, classes=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    return np.column_stack([x, np.digitize(x + rng.normal(0, 0.3, rows), [0, 0.8][: classes - 1])])


def test_learners_lose_what_the_synthetic_rows_do_not_teach():
    real, unseen = answered(200, 1), answered(100, 2)
    scrambled = np.column_stack([real[:, 0], RNG.permutation(real[:, 1])])
    for figures in (f1_difference, auroc_difference):
        ((paper, corrected),) = figures(tables((X, ANSWER), real, scrambled, unseen))
        assert -1 < paper < -0.15
        assert -1 < corrected < -0.15
        assert figures(tables((X, ANSWER), real, real, unseen)) == ((0, 0),)


def test_three_classes_have_an_area_only_when_corrected():
    real, unseen = answered(200, 1, 3), answered(100, 2, 3)
    ((paper, corrected),) = auroc_difference(tables((X, ANSWER), real, answered(200, 3, 3), unseen))
    assert paper is None
    assert corrected == pytest.approx(0, abs=0.1)


def test_one_synthetic_class_teaches_nothing():
    real, unseen = answered(200, 1), answered(100, 2)
    lone = np.column_stack([real[:, 0], np.zeros(200)])
    assert f1_difference(tables((X, ANSWER), real, lone, unseen)) == ((None, None),)
    ((paper, corrected),) = auroc_difference(tables((X, ANSWER), real, lone, unseen))
    assert paper is None
    assert corrected < -0.3


def test_without_target_or_held_out_rows_or_with_one_class_of_them_nothing_is_learned():
    real = answered(50, 1)
    plain = ANSWER.model_copy(update={"role": "plain"})
    same = np.column_stack([real[:, 0], np.zeros(50)])
    for figures in (f1_difference, auroc_difference):
        assert figures(tables((X, plain), real, real)) == ((None, None),)
        assert figures(tables((X, ANSWER), real, real, np.empty((0, 2)))) == ((None, None),)
    assert auroc_difference(tables((X, ANSWER), real, real, same)) == ((None, None),)
