"""Canaries bound epsilon from below: never more than the truth, and a lot where whole rows come back."""

from math import exp, log

import numpy as np
import pytest
from crowd import COLUMNS, ONE_PART, TWO_PARTS, crowd, shuffled
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import binom

from models.canaries import (
    Canaries,
    CanarySettings,
    CanaryTest,
    attack,
    epsilon_lower_bound,
    guessed_right,
    untried,
)
from models.finding import Verdict
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column
from models.table import Table, stack

SEED = Seed.of(1)
TRAIN = crowd(400, 1)

# The bound


@pytest.mark.parametrize(
    ("guesses", "right", "delta", "canaries", "published"),
    [(100, 75, 1e-4, 1_000, 0.67298), (1_510, 1_439, 1e-5, 100_000, 2.67585)],
)
def test_the_bound_is_the_one_that_the_paper_prints(guesses, right, delta, canaries, published):
    assert epsilon_lower_bound(guesses, right, delta=delta, canaries=canaries) == pytest.approx(published, abs=1e-5)


@pytest.mark.parametrize("guesses", [5, 50, 5_000])
def test_guesses_that_are_all_right_refute_what_would_do_so_in_one_of_twenty_runs(guesses):
    chance = 0.05 ** (1 / guesses)
    found = epsilon_lower_bound(guesses, guesses, delta=0, canaries=2 * guesses)
    assert found == pytest.approx(log(chance / (1 - chance)))


@pytest.mark.parametrize(("guesses", "right"), [(0, 0), (50, 0), (4, 4), (50, 25), (50, 31)])
def test_what_a_coin_does_in_more_than_one_of_twenty_runs_refutes_nothing(guesses, right):
    assert epsilon_lower_bound(guesses, right, delta=0, canaries=200) == 0


def test_less_confidence_refutes_more():
    assert epsilon_lower_bound(50, 40, delta=0, canaries=200, confidence=0.5) == pytest.approx(log(40 / 10), abs=0.1)


runs = st.tuples(st.integers(1, 80), st.integers(0, 80), st.sampled_from([0, 1e-6, 1e-4, 1e-2])).filter(
    lambda run: run[1] <= run[0]
)


@given(runs)
def test_one_more_right_guess_never_lowers_the_bound_and_delta_never_raises_it(run):
    guesses, right, delta = run
    found = epsilon_lower_bound(guesses, right, delta=delta, canaries=200)
    assert found <= epsilon_lower_bound(guesses, right, delta=0, canaries=200)
    assert found <= epsilon_lower_bound(guesses, min(right + 1, guesses), delta=delta, canaries=200)


@given(runs)
def test_every_epsilon_below_the_bound_is_refuted_and_none_above(run):
    guesses, right, delta = run
    found = epsilon_lower_bound(guesses, right, delta=delta, canaries=200)

    def chance(epsilon):
        reached = binom.sf(np.arange(-1, right), guesses, 1 / (1 + exp(-epsilon)))[::-1]
        extra = max(((reached[i] - reached[0]) / i for i in range(1, right + 1)), default=0.0)
        return reached[0] + 2 * 200 * delta * extra

    assert all(chance(epsilon) < 0.05 + 1e-9 for epsilon in np.linspace(0, found, 20)) or found == 0
    assert chance(found + 1e-6) >= 0.05


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 2.0])
def test_randomised_response_is_not_accused_of_more_than_it_does(epsilon):
    """Each canary's coin is told truly with the chance that epsilon allows: no mechanism tells more."""
    right = []
    for number in range(1_000):
        rng = np.random.default_rng([7, number])
        inside = Canaries.of(COLUMNS[-1:], 200, Seed.of(number)).inside
        told = np.where(rng.random(200) < 1 / (1 + exp(-epsilon)), inside, ~inside)
        right.append(guessed_right(told.astype(float), inside, 50))
    bound = {each: CanarySettings(delta=0).bound(each) for each in set(right)}
    refuted = np.mean([bound[each] > epsilon for each in right])
    assert 0.005 < refuted <= 0.05 + 3 * (0.05 * 0.95 / 1_000) ** 0.5


@pytest.mark.parametrize(
    "wrong",
    [
        {"right": 51},
        {"right": -1},
        {"canaries": 49},
        {"delta": -0.1},
        {"delta": 1.0},
        {"confidence": 0.0},
        {"confidence": 1.0},
    ],
)
def test_counts_and_shares_that_cannot_be_are_refused(wrong):
    said = {"guesses": 50, "right": 40, "delta": 0.0, "canaries": 200, "confidence": 0.95} | wrong
    with pytest.raises(ValueError, match="must hold"):
        epsilon_lower_bound(said.pop("guesses"), said.pop("right"), **said)


# The canaries


def test_canaries_keep_to_the_schema_and_have_no_gaps():
    rows = Canaries.of(COLUMNS, 300, SEED).rows
    assert len(rows) == 300
    assert not rows.missing.any()
    assert rows["age"].min() >= 0
    assert rows["age"].max() <= 100
    assert np.array_equal(rows["age"], np.rint(rows["age"]))
    assert np.array_equal(rows["income"], np.round(rows["income"], 2))
    assert set(rows["region"]) == {0, 1, 2, 3}


def test_a_canary_takes_every_age_as_likely_whatever_people_are_like():
    ages = Canaries.of(COLUMNS, 5_000, SEED).rows["age"]
    assert np.mean(ages < 18) == pytest.approx(18 / 101, abs=0.03)


def test_a_column_without_any_level_stays_empty():
    nothing = Column(name="x", kind="categorical", dtype="string", nullable=True, levels=())
    assert Canaries.of((nothing,), 30, SEED).rows.missing.all()


def test_every_coin_is_fair_and_has_a_stream_of_its_own():
    canaries = Canaries.of(COLUMNS, 5_000, SEED)
    assert np.mean(canaries.inside) == pytest.approx(0.5, abs=0.03)
    assert np.array_equal(canaries.inside, Canaries.of(COLUMNS[:2], 5_000, SEED).inside)
    assert not np.array_equal(canaries.inside, Canaries.of(COLUMNS, 5_000, Seed.of(2)).inside)


def test_the_same_seed_makes_the_same_people_and_another_seed_others():
    one, again, other = (Canaries.of(COLUMNS, 50, Seed.of(number)).rows.values for number in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_only_canaries_that_are_in_stand_among_the_training_rows():
    canaries = Canaries.of(COLUMNS, 50, SEED)
    among = canaries.among(TRAIN)
    assert len(among) == 400 + canaries.inside.sum()
    assert np.array_equal(among.values[:400], TRAIN.values, equal_nan=True)
    assert np.array_equal(among.values[400:], canaries.rows.values[canaries.inside])


# The attack

ORDERED = tuple(Column(name=name, kind="integer", dtype="int64", bounds=(0, 100)) for name in "ab")
TOGETHER = Partition(parts=(Part(name="all", columns=("a", "b")),), reason="by hand")
APART = Partition(parts=(Part(name="a", columns=("a",)), Part(name="b", columns=("b",))), reason="by hand")


def ages(*rows):
    return Table(ORDERED, np.array(rows, dtype=float))


def test_the_nearer_the_synthetic_rows_are_as_a_share_of_what_real_ones_are_the_higher_the_score():
    """Knots of both columns are 0, 50 and 100: the canaries lie 1, 2 and 2 from the real row, 0, 2 and 1 from the
    nearest synthetic one.
    """
    canaries, real, drawn = ages([50, 50], [100, 100], [100, 100]), ages([0, 0]), ages([50, 50], [0, 0])
    assert attack(canaries, drawn, real, TOGETHER).tolist() == [0.0, -0.5, -0.5]


def test_a_canary_that_is_a_real_row_tells_nothing():
    assert attack(ages([0, 0], [50, 50]), ages([50, 50]), ages([0, 0]), TOGETHER).tolist() == [-1.0, 0.0]


def test_parts_that_were_learned_apart_are_looked_at_apart():
    """The first canary's cells are all there, but no row has both."""
    canaries, real, drawn = ages([100, 100], [50, 50]), ages([0, 0]), ages([100, 0], [0, 100])
    assert attack(canaries, drawn, real, APART)[0] == 0.0
    assert attack(canaries, drawn, real, TOGETHER)[0] == -0.5


def test_only_the_highest_scores_are_guessed():
    inside = np.array([True, False, True, False])
    assert guessed_right(np.array([3.0, 2.0, 1.0, 0.0]), inside, 1) == 1
    assert guessed_right(np.array([3.0, 2.0, 1.0, 0.0]), inside, 3) == 2


# The settings


@pytest.mark.parametrize("wrong", [{"guesses": 101}, {"count": 60}])
def test_more_guesses_than_half_of_the_canaries_are_refused(wrong):
    with pytest.raises(ValidationError, match=r"guesses need \d+ canaries or more"):
        CanarySettings(**wrong)


def test_a_claim_that_no_guesses_could_refute_is_refused_with_how_many_it_takes():
    with pytest.raises(ValidationError, match=r"at least 447, of 894 canaries or more, can refute the claim of 5"):
        CanarySettings(epsilon=5.0)
    assert CanarySettings(epsilon=5.0, guesses=447, count=894, delta=0).bound(447) > 5


# The finding


def test_whole_rows_that_come_back_refute_a_claim():
    settings = CanarySettings(epsilon=1.0)
    canaries = Canaries.of(COLUMNS, settings.count, SEED)
    found = CanaryTest.of(canaries, shuffled(canaries.among(TRAIN)), TRAIN, ONE_PART, settings)
    assert (found.right, found.planted) == (50, 50)
    assert found.epsilon == settings.bound(50)
    told = found.finding()
    assert told.verdict is Verdict.FAIL
    assert (told.limit, told.n, told.reason) == (1.0, 50, "50 of 50 guesses were right: the claim is refuted")


def test_parts_that_come_back_refute_it_too():
    settings = CanarySettings(epsilon=1.0)
    canaries = Canaries.of(COLUMNS, settings.count, SEED)
    among = canaries.among(TRAIN)
    values = np.hstack([shuffled(among, 1).values[:, :3], shuffled(among, 2).values[:, 3:]])
    assert CanaryTest.of(canaries, Table(COLUMNS, values), TRAIN, TWO_PARTS, settings).finding().verdict is Verdict.FAIL


def test_rows_that_know_no_canary_do_not_refute_a_claim_and_prove_nothing():
    settings = CanarySettings(epsilon=1.0)
    canaries = Canaries.of(COLUMNS, settings.count, SEED)
    told = CanaryTest.of(canaries, crowd(400, 2), TRAIN, ONE_PART, settings).finding()
    assert told.verdict is Verdict.PASS
    assert told.estimate == 0
    assert told.reason.endswith("of 50 guesses were right; not refuted is not proved")


def test_without_a_claim_the_bound_is_reported():
    told = CanaryTest(settings=CanarySettings(), right=50, planted=50).finding()
    assert told.verdict is None
    assert told.estimate == pytest.approx(2.784, abs=1e-3)
    assert told.reason == "50 of 50 guesses were right; no epsilon is claimed"


def test_an_attack_that_would_not_find_canaries_in_the_training_rows_themselves_passes_nothing():
    alike = Table(ORDERED, np.zeros((30, 2)))
    canaries = Canaries(stack([alike] * 4), np.arange(120) % 2 == 0)
    settings = CanarySettings(count=120, epsilon=1.0)
    told = CanaryTest.of(canaries, alike, alike, TOGETHER, settings).finding()
    assert told.verdict is Verdict.INCONCLUSIVE
    assert told.remark == "on these rows even a copy of the training table would reach 0.000 only"


def test_canaries_that_could_not_be_learned_keep_the_gate_shut_where_a_claim_is_made():
    assert untried(CanarySettings(epsilon=1.0), "no row was joined").verdict is Verdict.INCONCLUSIVE
    told = untried(CanarySettings(), "no row was joined")
    assert (told.verdict, told.remark) == (None, "no row was joined")
