"""The density ratio of parts: found where there is one, and known to be unknown where there is none."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from pydantic import ValidationError

from models.exchanges import STEEPEST
from models.randomness import Seed
from models.ratio import LEAST_ROWS, Affinity, Ratio, hindrance
from models.schema import Column, Kind
from models.table import Floats, Table, beside

NAN = np.nan


def number(name: str) -> Column:
    return Column(name=name, kind=Kind.CONTINUOUS, dtype="double", nullable=True, bounds=(-1e6, 1e6))


def levels(name: str) -> Column:
    return Column(name=name, kind=Kind.CATEGORICAL, dtype="string", nullable=True, levels=tuple(range(1000)))


def numbers(*cells: Floats, names: str = "xyz") -> list[Table]:
    """One part of one number each."""
    return [Table.of([number(name)], [column], len(column)) for name, column in zip(names, cells, strict=False)]


def correlated(rows: int, rho: float, seed: int = 3) -> list[Table]:
    a, noise = np.random.default_rng(seed).normal(size=(2, rows))
    return numbers(a, rho * a + np.sqrt(1 - rho**2) * noise)


@cache
def gaussian() -> Affinity:
    return Ratio().fit(correlated(3000, 0.6), Seed.of(1))


def score(affinity: Affinity, *cells: list[float]) -> Floats:
    """Of joined rows, one number of each part."""
    embedded = affinity.embed(numbers(*map(np.array, cells)))
    return embedded.scores([np.arange(len(cells[0]))] * len(cells))


def contrast(affinity: Affinity) -> float:
    """Of (1, 1) and (-1, -1) to (1, -1) and (-1, 1): terms of one number alone cancel."""
    straight, crossed = (score(affinity, [1.0, -1.0], other) for other in ([1.0, -1.0], [-1.0, 1.0]))
    return float(straight.sum() - crossed.sum())


def test_the_score_of_two_normal_numbers_is_the_one_in_the_books():
    # log r = rho a b / (1 - rho^2) + terms of one number alone
    assert contrast(gaussian()) == pytest.approx(4 * 0.6 / (1 - 0.36), rel=0.25)


def test_its_quality_is_that_of_rows_it_has_not_seen():
    quality = gaussian().quality
    assert quality.informed
    assert quality.log_loss < quality.log_loss_constant - 2 * quality.log_loss_error
    assert 0.6 < quality.agreement < 0.8
    assert quality.rows == 3000
    # the mean of rho a b / (1 - rho^2) is rho^2 / (1 - rho^2) in real rows and 0 at random
    assert quality.score_real == pytest.approx(0.36 / 0.64, rel=0.25)


@pytest.mark.parametrize("seed", range(6))
def test_independent_parts_are_known_to_be_so(seed: int):
    assert not Ratio(folds=2).fit(correlated(200, 0.0, seed), Seed.of(seed)).quality.informed


def test_what_no_single_feature_tells_is_learnt():
    """Signs that agree, whose marginals are alike in real rows and in rows joined at random."""
    signs = np.random.default_rng(1).choice([-1.0, 1.0], 400)
    assert Ratio().fit(numbers(signs, -signs), Seed.of(1)).quality.agreement > 0.7


def test_dependence_of_the_spread_is_learnt():
    a, b = np.random.default_rng(1).normal(size=(2, 2000))
    quality = Ratio().fit(numbers(a, b * np.exp(a)), Seed.of(1)).quality
    assert quality.informed


def test_being_missing_in_both_parts_is_learnt():
    random = np.random.default_rng(1)
    gone = random.random(400) < 0.3
    parts = numbers(*(np.where(gone, NAN, random.normal(size=400)) for _ in range(2)))
    affinity = Ratio().fit(parts, Seed.of(1))
    assert affinity.quality.informed
    assert np.diff(score(affinity, [NAN, NAN], [NAN, 0.0]))[0] < 0


def test_levels_that_go_together_score_higher():
    random = np.random.default_rng(1)
    cells = random.integers(0, 4, 800).astype(float)
    other = np.where(random.random(800) < 0.3, random.integers(0, 4, 800), cells)
    parts = [Table.of([levels(name)], [column], 800) for name, column in (("s", cells), ("t", other))]
    affinity = Ratio().fit(parts, Seed.of(1))
    shown = [
        Table.of([levels(name)], [np.repeat(column, 2)], 4) for name, column in (("s", [0.0, 1.0]), ("t", [2.0, 3.0]))
    ]
    same = [Table.of([levels(name)], [np.array([0.0, 1.0, 2.0, 3.0])], 4) for name in "st"]
    rows = [np.arange(4)] * 2
    assert affinity.embed(same).scores(rows).mean() > affinity.embed(shown).scores(rows).mean() + 1


def test_three_parts_are_scored_by_their_pairs():
    a, b, c = np.random.default_rng(1).normal(size=(3, 1500))
    affinity = Ratio().fit(numbers(a, a + b, a + b + c), Seed.of(1))
    ends = score(affinity, [1.0, 1.0], [1.0, -1.0], [1.0, -1.0])
    assert affinity.quality.informed
    assert ends[0] > ends[1]


def test_a_part_in_which_nothing_varies_has_no_say():
    parts = [*correlated(300, 0.8), *numbers(np.ones(300))]
    affinity = Ratio().fit(parts, Seed.of(1))
    assert affinity.quality.informed
    assert affinity.embed(parts).own[2].shape == (300, 0)


def test_more_rows_than_allowed_are_not_looked_at():
    assert Ratio(rows=100).fit(correlated(300, 0.8), Seed.of(1)).quality.rows == 100


def test_scores_are_not_stretched_beyond_a_bound():
    a = np.linspace(0, 1, 400)
    assert Ratio(penalties=(1000.0,)).fit(numbers(a, a), Seed.of(1)).quality.slope <= STEEPEST


def test_the_same_seed_learns_the_same_and_another_one_almost():
    learnt = [contrast(Ratio().fit(correlated(1000, 0.8), Seed.of(n))) for n in (1, 1, 2)]
    assert learnt[0] == learnt[1] != learnt[2]
    assert learnt[0] == pytest.approx(learnt[2], rel=0.25)


def test_trees_are_taken_where_cells_of_one_part_tell_only_together():
    """A number of the other part follows whether two numbers have the same sign, and a third of their own one too."""
    a, b, c, *noise = np.random.default_rng(1).normal(size=(5, 1500))
    told = np.sign(a * b) + c + 0.5 * noise[0]
    first = beside(numbers(a, b, c, names="abc"))
    found = Ratio().fit([first, *numbers(told)], Seed.of(1))
    alone = Ratio().fit([*numbers(c), *numbers(c + 0.5 * noise[0])], Seed.of(1))
    assert found.quality.trees > 0
    assert alone.quality.trees == 0
    parts = [first, *numbers(told)]
    real, random = found.embed(parts), [np.arange(1500), np.random.default_rng(2).permutation(1500)]
    lift = real.scores([np.arange(1500)] * 2).mean() - real.scores(random).mean()
    assert lift == pytest.approx(found.quality.score_real, rel=0.3)


def test_scores_are_shrunk_or_stretched_to_what_held_out_rows_bear_out():
    a, b, *noise = np.random.default_rng(1).normal(size=(22, 200))
    columns = [[number(f"{side}{j}") for j in range(11)] for side in "ab"]
    halves = [np.array([a, *noise[:10]]), np.array([a + 3 * b, *noise[10:]])]
    parts = [Table(tuple(names), cells.T) for names, cells in zip(columns, halves, strict=True)]
    weak, strong = (Ratio(penalties=(penalty,)).fit(parts, Seed.of(1)).quality.slope for penalty in (0.3, 100.0))
    assert weak < 0.5 < 1.5 < strong


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        (correlated(LEAST_ROWS - 1, 0.5), "49 real rows are too few"),
        (correlated(80, 0.5)[:1], "single part"),
        ([correlated(80, 0.5)[0], *numbers(np.ones(80))], "1 of 2 parts"),
        (numbers(np.full(80, NAN), np.ones(80)), "0 of 2 parts"),
    ],
)
def test_what_stands_in_the_way_is_named(parts: list[Table], told: str):
    assert told in (hindrance(parts) or "")


def test_nothing_stands_in_the_way_of_parts_that_vary():
    assert hindrance(correlated(LEAST_ROWS, 0.5)) is None


@pytest.mark.parametrize(
    "settings", [{"rows": 10}, {"folds": 1}, {"penalties": ()}, {"penalties": (0.0,)}, {"rowz": 9}]
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, object]):
    with pytest.raises(ValidationError):
        Ratio(**settings)  # type: ignore[arg-type]
