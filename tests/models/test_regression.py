"""Regressions whose answers one can work out, and how well two of them agree."""

from math import sqrt

import numpy as np
import pytest

from models.regression import (
    FEW,
    Agreement,
    Design,
    Fit,
    Regression,
    agreements,
    fitted,
    independent,
    overlaps,
    standardised,
)
from models.schema import Column
from models.table import Table

AGE = Column(name="age", kind="integer", dtype="int64", bounds=(0, 100), nullable=True)
REGION = Column(name="region", kind="categorical", dtype="string", levels=("n", "s", "w"), nullable=True)
PAY = Column(name="pay", kind="continuous", dtype="double", bounds=(0, 1000), nullable=True)
ILL = Column(name="ill", kind="boolean", dtype="bool", nullable=True)
COLUMNS = (AGE, REGION, PAY, ILL)
ONES = np.ones((4, 1))


def people(rows, seed, slope=3.0):
    """Pay grows with age by ``slope`` and is 20 higher in the south; illness comes with age."""
    rng = np.random.default_rng(seed)
    age, region = rng.integers(20, 80, rows).astype(float), rng.choice([0, 0, 1, 2], rows).astype(float)
    pay = 100 + slope * age + 20 * (region == 1) + rng.normal(0, 10, rows)
    ill = rng.random(rows) < 1 / (1 + np.exp(-(age - 50) / 10))
    return Table(COLUMNS, np.column_stack([age, region, pay, ill]))


def test_terms_are_numbers_in_units_of_their_deviation_and_levels_beside_the_commonest_one():
    train = people(200, 1)
    design = Design.of(train, [0, 1], 10)
    matrix = design.matrix(train)
    assert design.owners.tolist() == [0, 1, 1]
    assert matrix[:, 0].tolist() == [1] * 200
    assert (matrix[:, 1].mean(), matrix[:, 1].std()) == (pytest.approx(0, abs=1e-12), pytest.approx(1))
    shares = sorted(matrix[:, 2:].mean(axis=0))
    assert shares == sorted((train["region"] == code).mean() for code in (1, 2))


def test_missing_cells_have_a_term_where_enough_rows_have_them():
    cells = people(200, 1).values.copy()
    cells[:FEW, :2] = np.nan
    train = Table(COLUMNS, cells)
    design = Design.of(train, [0, 1], 10)
    assert design.owners.tolist() == [0, 0, 1, 1, 1]
    for gap in (2, 5):
        assert design.matrix(train)[: FEW + 1, gap].tolist() == [1] * FEW + [0]
    assert design.matrix(train)[:FEW, 1].tolist() == [0] * FEW
    cells[0, :2] = 1.0
    assert Design.of(Table(COLUMNS, cells), [0, 1], 10).owners.tolist() == [0, 1, 1]


def test_rare_levels_share_a_term():
    level = Column(name="l", kind="categorical", dtype="string", levels=tuple(range(40)))
    cells = np.concatenate([np.zeros(60), np.ones(30), np.arange(2, 27)])
    design = Design.of(Table((level,), cells[:, None]), [0], 10)
    assert design.matrix(Table((level,), np.array([[0.0], [1.0], [5.0], [39.0]])))[:, 1:].tolist() == [
        [0, 0],
        [1, 0],
        [0, 1],
        [0, 1],
    ]


def test_columns_that_would_be_too_many_terms_stay_out():
    assert Design.of(people(200, 1), [0, 1, 2], 2).owners.tolist() == [0]


def test_a_column_that_repeats_others_is_not_independent():
    x = np.array([1.0, 2, 3, 5])
    assert independent(np.column_stack([np.ones(4), x, 2 * x + 1, x**2])).tolist() == [True, True, False, True]
    assert independent(np.column_stack([np.ones(2), x[:2], x[:2] ** 2])).tolist() == [True, True, False]


def test_least_squares_gives_means_and_their_errors():
    answers = np.array([1.0, 2, 3, 6])
    fit = fitted(ONES, answers, logistic=False)
    assert fit.coefficients == pytest.approx([3])
    assert fit.errors == pytest.approx([answers.std(ddof=1) / 2])


def test_an_exact_fit_has_a_floor_for_its_errors():
    x = np.arange(6.0)
    fit = fitted(np.column_stack([np.ones(6), x]), 2 * x, logistic=False)
    assert fit.coefficients == pytest.approx([0, 2])
    assert (fit.errors >= 1e-9).all()


def test_a_logistic_regression_gives_log_odds_and_their_errors():
    fit = fitted(ONES, np.array([1.0, 1, 1, 0]), logistic=True)
    assert fit.coefficients == pytest.approx([np.log(3)])
    assert fit.errors == pytest.approx([1 / sqrt(4 * 0.75 * 0.25)])


def test_answers_that_a_term_tells_without_error_leave_its_coefficient_finite_and_uncertain():
    x = np.array([0.0, 0, 1, 1])
    fit = fitted(np.column_stack([np.ones(4), x]), x, logistic=True)
    assert np.isfinite(fit.coefficients).all()
    assert fit.errors[1] > 10


def test_what_rows_do_not_decide_has_no_coefficient():
    assert np.isnan(fitted(ONES, np.ones(4), logistic=True).coefficients).all()
    assert np.isnan(fitted(np.ones((1, 1)), np.ones(1), logistic=False).coefficients).all()
    repeated = np.column_stack([np.ones(4), [0.0, 1, 0, 1], [0.0, 1, 0, 1]])
    assert fitted(repeated, np.arange(4.0), logistic=False).decided.tolist() == [True, False]


def fit(coefficient, error, rows=100):
    return Fit(np.array([0.0, coefficient]), np.array([1.0, error]), rows)


def test_intervals_overlap_by_the_mean_of_the_shares_that_each_covers():
    assert overlaps(fit(0, 1), fit(0, 1)) == pytest.approx([1])
    assert overlaps(fit(0, 1), fit(1.96, 1)) == pytest.approx([0.5], abs=1e-4)
    assert overlaps(fit(0, 1), fit(0, 0.5)) == pytest.approx([0.75])
    assert overlaps(fit(0, 1), fit(10, 1)) == [0]
    assert overlaps(fit(0, 1), fit(np.nan, np.nan)) == [0]


def test_errors_of_a_larger_table_are_those_of_as_many_rows_as_the_training_table():
    assert overlaps(fit(0, 1, rows=100), fit(0, 0.5, rows=400)) == pytest.approx([1])


def test_distances_are_counted_in_standard_errors_of_the_real_coefficient():
    assert standardised(fit(1, 0.5), fit(2, 9)) == [2]


def test_held_out_rows_count_as_if_they_were_as_many_as_the_synthetic_ones():
    real, unseen = fit(0, 1, rows=100), fit(3, 2, rows=25)
    assert unseen.as_if(25, real).coefficients[1] == 3
    assert unseen.as_if(100, real).coefficients[1] == pytest.approx(3 * sqrt((2 / 100) / (1 / 100 + 1 / 25)))


def test_a_regression_is_of_a_number_or_of_the_commonest_level():
    train = people(400, 1)
    slope = Regression.of(train, "pay", ["age", "region"]).fit(train).coefficients[1] / train["age"].std()
    assert slope == pytest.approx(3, abs=0.2)
    commonest = Regression.of(train, "region", ["age"])
    assert commonest.level == 0
    assert Regression.of(train, "ill", ["age"]).fit(train).coefficients[1] != 0


def test_rows_without_the_target_are_left_out():
    cells = people(400, 1).values.copy()
    cells[:300, 2] = np.nan
    regression = Regression.of(people(400, 1), "pay", ["age"])
    whole = people(400, 1).take(slice(300, None))
    assert regression.fit(Table(COLUMNS, cells)).coefficients.tolist() == regression.fit(whole).coefficients.tolist()
    assert regression.fit(whole).rows == 100


def test_a_tenth_of_the_rows_is_the_most_terms():
    assert len(Regression.of(people(100, 1), "pay", ["age", "region"]).design.owners) == 3
    assert len(Regression.of(people(29, 1), "pay", ["age", "ill"]).design.owners) == 1
    assert len(Regression.of(people(9, 1), "pay", ["age"]).design.owners) == 0


def test_strangers_agree_as_held_out_rows_do_and_another_slope_does_not():
    train, unseen = people(800, 1), people(800, 2)
    fresh, nothing, usual = agreements(train, people(800, 3), unseen, "pay", ["age", "region"])
    other, _, _ = agreements(train, people(800, 3, slope=1.0), unseen, "pay", ["age", "region"])
    assert fresh.columns == ("age", "region", "region")
    assert fresh.mean_off < 3
    assert usual.mean_off < 3
    assert other.columns[other.worst] == "age"
    assert other.lacking[other.worst] == nothing.lacking[0] == 1


def test_a_copy_lacks_nothing():
    train = people(300, 1)
    copied, _, _ = agreements(train, train, people(300, 2), "ill", ["age", "region"])
    assert copied.lacking == pytest.approx(0)
    assert copied.off == pytest.approx(0)


def test_coefficients_that_a_table_does_not_decide_lack_everything():
    train = people(300, 1)
    northern = train.take(train["region"] == 0)
    lost, _, _ = agreements(train, northern, people(300, 2), "pay", ["age", "region"])
    assert lost.lacking[1:].tolist() == [1, 1]
    assert lost.mean_off == lost.off[0]
    assert Agreement(("age",), np.ones(1), np.full(1, np.nan)).mean_off is None


def test_without_a_coefficient_there_is_no_agreement():
    cells = people(60, 1).values.copy()
    cells[:, 2] = np.nan
    assert agreements(Table(COLUMNS, cells), people(60, 2), people(60, 3), "pay", ["age"]) is None
    constant = people(60, 1).values.copy()
    constant[:, 2] = 1.0
    assert agreements(Table(COLUMNS, constant), people(60, 2), people(60, 3), "pay", ["age"]) is None


def test_few_held_out_rows_are_no_control():
    assert agreements(people(60, 1), people(60, 2), people(2, 3), "pay", ["age"])[2] is None
