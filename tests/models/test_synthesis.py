"""Synthesis is partition, fit, draw and join, each with a stream of its own name."""

import numpy as np
import pytest
from crowd import crowd

from models.errors import SpecError, SynthesisError
from models.generators import catalog as generators
from models.joins import Join, Joined, Joiner
from models.joins import catalog as joins
from models.partition import Assignment, Part
from models.partitioners import catalog as partitioners
from models.randomness import Seed
from models.synthesis import (
    Recipe,
    divide,
    draw_part,
    fit_part,
    join_clusters,
    join_parts,
    synthesize,
    synthesize_parts,
)
from models.table import beside

TRAIN = crowd(200, 1)
GIVEN = {"kind": "given", "parts": {"late": list(TRAIN.names[3:]), "early": list(TRAIN.names[:3])}}
EARLY = Part(name="early", columns=TRAIN.names[:3])
MARGINAL = generators.build("marginal")
SEED = Seed.of(1)


def recipe(join="shuffled", partition=GIVEN, generator="marginal", **own):
    built = {part: generators.build(said) for part, said in own.items()}
    return Recipe(partitioners.build(partition), generators.build(generator), built, joins.build(join))


def same(one, other):
    return one.names == other.names and np.array_equal(one.values, other.values, equal_nan=True)


def test_rows_come_out_in_the_order_of_the_columns_that_went_in_whatever_the_parts():
    made = synthesize(TRAIN, recipe(), 50, SEED)
    assert made.joined.table.columns == TRAIN.columns
    assert len(made.joined.table) == 50
    assert [part.name for part in made.partition.parts] == ["late", "early"]


def test_the_same_seed_gives_the_same_rows_and_another_seed_others():
    one, again, other = (synthesize(TRAIN, recipe(), 50, Seed.of(number)).joined.table for number in (1, 1, 2))
    assert same(one, again)
    assert not same(one, other)


def test_parts_may_be_given_in_place_of_a_partitioner():
    made = synthesize(TRAIN, recipe(), 50, SEED)
    other = recipe(partition={"kind": "random", "parts": 3})
    assert same(synthesize_parts(TRAIN, made.partition, other, 50, SEED).table, made.joined.table)


def test_no_rows_may_be_asked_for():
    assert len(synthesize(TRAIN, recipe(), 0, SEED).joined.table) == 0


def test_no_rows_cannot_be_learned():
    with pytest.raises(SynthesisError, match=r"training rows: 0 rows .check the source and the split"):
        divide(TRAIN.take(slice(0, 0)), partitioners.build(GIVEN), SEED)


def test_a_part_has_its_own_generator_or_that_of_all():
    assert recipe(early="cart").generator_of("early").kind == "cart"
    assert recipe(early="cart").generator_of("late").kind == "marginal"


def test_what_is_drawn_depends_on_the_name_of_the_part_and_the_round():
    sampler = fit_part(TRAIN, EARLY, MARGINAL, SEED)
    first = draw_part(sampler, "early", 0, 9, SEED)
    assert same(first, draw_part(sampler, "early", 0, 9, SEED))
    assert not same(first, draw_part(sampler, "early", 1, 9, SEED))
    assert not same(first, draw_part(sampler, "other", 0, 9, SEED))


def test_a_part_comes_out_the_same_whatever_the_other_parts_are():
    others = {"x": list(TRAIN.names[3:5]), "early": list(EARLY.columns), "y": list(TRAIN.names[5:])}
    recipes = recipe("concatenation"), recipe("concatenation", {"kind": "given", "parts": others})
    one, other = (synthesize(TRAIN, how, 9, SEED).joined.table.select(EARLY.columns) for how in recipes)
    assert same(one, other)


class Stingy(Join, Joiner):
    """Accepts every second row, and asks for two rounds."""

    kind: str = "stingy"

    def fit(self, parts, seed):
        return self

    def join(self, draw, n, seed):
        first, second = (beside(draw(round, n)) for round in (0, 1))
        assert not same(first, second)
        return Joined(first.take(slice(0, n, 2)), n, accepted=(n + 1) // 2, facts={"rounds": 2}, shortfall=n // 2)


def test_a_shortfall_is_told_not_filled_up():
    def draw(round, n):
        return [TRAIN.select(columns).take(slice(round, round + n)) for columns in GIVEN["parts"].values()]

    partition = divide(TRAIN, partitioners.build(GIVEN), SEED)
    made = join_parts(TRAIN, partition, Stingy(), draw, 11, SEED)
    assert (len(made.table), made.proposed, made.accepted, made.shortfall) == (6, 11, 6, 5)
    assert made.facts == {"rounds": 2}
    assert made.table.names == TRAIN.names


STRATA = {"by": "rows", "kind": "strata", "column": "ill"}


@pytest.mark.parametrize("said", [STRATA, {"by": "rows", "kind": "kmeans", "k": 2}, {"kind": "kmeans"}])
@pytest.mark.parametrize("kind", generators.kinds())
def test_each_generator_learns_each_cluster_of_rows(kind, said):
    made = synthesize(TRAIN, recipe("concatenation", said, kind), 90, SEED)
    assert made.joined.table.columns == TRAIN.columns
    assert (len(made.joined.table), made.joined.shortfall) == (90, 0)
    assert made.joined.facts == {"clusters": len(made.partition.told.names)}


def test_each_cluster_is_drawn_in_its_proportion_and_its_place_is_not_told():
    made = synthesize(TRAIN, recipe("concatenation", STRATA, "cart"), 200, SEED)
    ill = made.joined.table["ill"]
    assert ill.sum() == TRAIN["ill"].sum()
    assert 0 < ill[:50].sum() < 50
    assert np.abs(np.diff(ill)).sum() > 50


def test_clusters_may_have_generators_of_their_own():
    made = synthesize(TRAIN, recipe("concatenation", STRATA, "cart"), 100, SEED)
    other = synthesize(TRAIN, recipe("concatenation", STRATA, "cart", **{"cluster-1": "copula"}), 100, SEED)
    for level, alike in ((0, False), (1, True)):
        one, two = (each.joined.table.take(each.joined.table["ill"] == level) for each in (made, other))
        assert same(one, two) is alike


def test_rows_of_clusters_are_the_same_for_the_same_seed_and_others_for_another():
    one, again, other = (
        synthesize(TRAIN, recipe("concatenation", {"kind": "kmeans"}), 50, Seed.of(number)).joined.table
        for number in (1, 1, 2)
    )
    assert same(one, again)
    assert not same(one, other)


@pytest.mark.parametrize("n", [0, 1, 7])
def test_so_few_rows_that_a_cluster_has_none_may_be_asked_for(n):
    assert len(synthesize(TRAIN, recipe("concatenation", STRATA), n, SEED).joined.table) == n


def test_generators_that_draw_too_little_leave_a_shortfall_of_clusters_too():
    partition = divide(TRAIN, partitioners.build(STRATA), SEED)
    assert isinstance(partition, Assignment)
    made = join_clusters(partition, lambda round, rows: [TRAIN.take(slice(0, n - 1)) for n in rows], 20, SEED)
    assert (len(made.table), made.shortfall) == (18, 2)


def test_a_join_of_columns_is_refused_for_clusters():
    with pytest.raises(SpecError, match=r"join: 'shuffled' cannot join clusters of rows .write 'join: concatenation'"):
        synthesize(TRAIN, recipe("shuffled", STRATA), 10, SEED)
