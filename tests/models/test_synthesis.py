"""Synthesis is partition, fit, draw and join, each with a stream of its own name."""

import numpy as np
import pytest
from crowd import crowd

from models.errors import SpecError, SynthesisError
from models.generators import Resumable
from models.generators import catalog as generators
from models.joins import Join, Joined, Joiner
from models.joins import catalog as joins
from models.partition import Assignment, Cluster, Clustering, Part
from models.partitioners import catalog as partitioners
from models.randomness import Seed
from models.schema import Column, Role
from models.synthesis import (
    Fit,
    Recipe,
    divide,
    draw_part,
    fit_parts,
    fits,
    join_clusters,
    join_parts,
    synthesize,
    synthesize_parts,
)
from models.table import Table, beside

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
    (sampler,) = fit_parts(TRAIN, Fit((EARLY,), MARGINAL), SEED)
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


# ---- parts given others ---------------------------------------------------------------------------------------------

THREE = {
    "kind": "given",
    "parts": {"body": ["age", "weight"], "place": ["region", "smoker"], "rest": ["income", "ill"]},
}


def test_later_parts_are_drawn_given_all_earlier_ones_and_the_facts_say_which():
    made = synthesize(crowd(2000, 1), recipe("conditional", THREE, "cart"), 2000, SEED).joined
    age, ill = made.table["age"], made.table["ill"]
    assert ill[age > 75].mean() > 0.8
    assert ill[age < 40].mean() < 0.2
    assert made.table.names == TRAIN.names
    assert (len(made.table), made.shortfall) == (2000, 0)
    assert made.facts["conditioned"] == [
        {"part": "place", "given": ["body"]},
        {"part": "rest", "given": ["body", "place"]},
    ]
    assert made.facts["informed"]
    assert "fallback" not in made.facts


def test_of_parts_for_which_nothing_was_learnt_the_facts_name_the_fallback():
    made = synthesize(TRAIN.take(slice(0, 20)), recipe("conditional", THREE, "cart", place="copula"), 20, SEED).joined
    assert made.facts["informed"]
    assert made.facts["fallback"] == "nothing was learnt from the parts before for rest: a random order"
    alone = synthesize(TRAIN.take(slice(0, 20)), recipe("conditional", THREE, "cart"), 20, SEED).joined
    assert not alone.facts["informed"]
    assert alone.facts["fallback"] == "nothing was learnt from the parts before for place and rest: a random order"


def test_the_first_part_is_what_it_is_with_every_other_join_and_may_have_any_generator():
    asked = [recipe(join, THREE, "copula", body="marginal") for join in ("conditional", "concatenation")]
    one, other = (synthesize(TRAIN, how, 50, SEED).joined.table for how in asked)
    assert same(one.select(THREE["parts"]["body"]), other.select(THREE["parts"]["body"]))
    assert not same(one, other)


def test_a_learnt_part_depends_on_what_it_was_given():
    how = recipe("conditional", THREE, "cart")
    partition = divide(TRAIN, how.partition, SEED)
    assert [fit.given for fit in fits(partition, how)] == [
        (), ("age", "weight"), ("age", "weight", "region", "smoker"),
    ]  # fmt: skip
    assert [fit.given for fit in fits(partition, recipe("shuffled", THREE))] == [(), (), ()]


@pytest.mark.parametrize("generator", ["cart", "copula"])
def test_conditional_rows_are_the_same_for_the_same_seed_and_others_for_another(generator):
    how = recipe("conditional", THREE, generator)
    one, again, other = (synthesize(TRAIN, how, 50, Seed.of(number)).joined.table for number in (1, 1, 2))
    assert same(one, again)
    assert not same(one, other)


def test_a_generator_that_cannot_be_conditional_is_refused_by_name_before_anything_is_learnt():
    with pytest.raises(SpecError) as refusal:
        synthesize(TRAIN, recipe("conditional", THREE, "cart", place="marginal", rest="marginal"), 10, SEED)
    assert [fault.where for fault in refusal.value.faults] == ["generators.place", "generators.rest"]


def test_clusters_are_refused_by_the_conditional_join_and_their_generators_not_asked():
    with pytest.raises(SpecError) as refusal:
        synthesize(TRAIN, recipe("conditional", {"kind": "kmeans", "k": 2}), 10, SEED)
    assert [fault.found for fault in refusal.value.faults] == ["'conditional' cannot join clusters of rows"]


def level(name, count):
    return Column(name=name, kind="categorical", dtype="int64", levels=tuple(range(count)), nullable=True)


def two_columns(first, second, rows=60):
    return Table.of([level("a", 3000), level("b", 3000)], [np.resize(first, rows), np.resize(second, rows)], rows)


HARD = {
    "constant": two_columns(1.0, 2.0),
    "constant, then not": two_columns(1.0, np.arange(3.0)),
    "missing everywhere": two_columns(np.nan, np.nan),
    "missing, then not": two_columns(np.nan, np.arange(3.0)),
    "thousands of levels": two_columns(np.arange(3000.0), np.arange(3000.0) // 2, 3000),
    "one row": two_columns(1.0, 2.0, 1),
}


@pytest.mark.parametrize("generator", ["cart", "copula"])
@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("n", [0, 1, 70])
def test_hard_tables_are_drawn_in_parts_of_one_column(generator, name, n):
    train = HARD[name]
    made = synthesize(train, recipe("conditional", {"kind": "random", "parts": 2}, generator), n, SEED).joined.table
    assert made.columns == train.columns
    assert len(made) == n
    for column in train.names:
        assert set(made[column][~np.isnan(made[column])]) <= set(train[column])
        assert np.isnan(train[column]).any() or not np.isnan(made[column]).any()


def test_one_part_is_drawn_as_with_any_join():
    one, other = (
        synthesize(TRAIN, recipe(join, {"kind": "random", "parts": 1}, "cart"), 50, SEED).joined
        for join in ("conditional", "concatenation")
    )
    assert same(one.table, other.table)
    assert one.facts == {}


def test_more_parts_than_columns_are_refused_for_the_conditional_join_too():
    with pytest.raises(SpecError, match="parts"):
        synthesize(TRAIN, recipe("conditional", {"kind": "random", "parts": 9}, "cart"), 10, SEED)


# ---- clusters of rows -----------------------------------------------------------------------------------------------

STRATA = {"by": "rows", "kind": "strata", "column": "ill"}


@pytest.mark.parametrize("said", [STRATA, {"by": "rows", "kind": "kmeans", "k": 2}, {"kind": "kmeans"}])
@pytest.mark.parametrize("kind", generators.kinds())
def test_each_generator_learns_each_cluster_of_rows(kind, said):
    made = synthesize(TRAIN, recipe("concatenation", said, kind), 90, SEED)
    assert made.joined.table.columns == TRAIN.columns
    assert (len(made.joined.table), made.joined.shortfall) == (90, 0)
    assert made.joined.facts == {"clusters": len(made.partition.told.names)}


def of_rows(rows, *cells):
    """Columns of two or three levels, the last one sensitive, or of numbers where there is nothing but numbers."""
    values = [np.resize(each, rows).astype(float) for each in cells]
    levelled = any(np.array_equal(each, each.round()) for each in values)
    columns = [
        Column(name=f"c{place}", kind="continuous", dtype="double", bounds=(-99, 99), nullable=True)
        if not np.array_equal(each, each.round()) or not levelled
        else level(f"c{place}", 3)
        for place, each in enumerate(values)
    ]
    columns[-1] = columns[-1].model_copy(update={"role": Role.SENSITIVE})
    return Table.of(columns, values, rows)


WAVE = np.sin(np.arange(300.0)) * 3
HARD_ROWS = {
    "rows of two kinds, repeated": of_rows(200, [0.5, 9.5], [0, 1], [0, 1]),
    "one row, repeated": of_rows(200, [0.5], [1], [2]),
    "a cluster of one sensitive level": of_rows(300, WAVE + 30 * (np.arange(300) % 2), np.arange(2), [0, 1, 0, 2]),
    "a sensitive column of 99 % one value": of_rows(300, WAVE, np.arange(2), np.arange(300) < 3),
    "levels alone": of_rows(200, np.arange(2), np.arange(3), np.arange(5) // 2),
    "numbers alone": of_rows(300, WAVE, WAVE + 0.1, -WAVE),
    "30 rows": of_rows(30, WAVE, np.arange(2), np.arange(3)),
}
WAYS = {"by the elbow": {}, "three": {"k": 3}, "strata": {"kind": "strata", "column": "c1"}}
TINY = {"kind": "hydragan", "steps": 3, "hidden": 8, "noise": 4, "batch": 32}
KINDS = {"cart": "cart", "copula": "copula", "hydragan": TINY, "not to be told": {**TINY, "reidentification": 1}}


@pytest.mark.parametrize("generator", KINDS)
@pytest.mark.parametrize(
    ("name", "way"), [(name, way) for name in HARD_ROWS for way in WAYS if (name, way) != ("numbers alone", "strata")]
)
def test_hard_tables_are_drawn_in_clusters_of_rows(generator, name, way):
    train, said = HARD_ROWS[name], WAYS[way]
    partition = {"by": "rows", "kind": "kmeans", **said}
    drawn = synthesize(train, recipe("concatenation", partition, KINDS[generator]), 90, SEED).joined.table
    assert (drawn.columns, len(drawn)) == (train.columns, 90)
    for column in train.columns:
        assert not np.isnan(drawn[column.name]).any()
        assert column.numeric or set(drawn[column.name]) <= set(train[column.name])


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


# ---- who is learnt with whom ----------------------------------------------------------------------------------------


def clusters(count):
    names = [f"cluster-{number}" for number in range(1, count + 1)]
    told = Clustering(reason="", clusters=tuple(Cluster(name=n, share=0.1) for n in names), columns=TRAIN.names)
    return Assignment(told, np.arange(len(TRAIN)) % count)


def learnt(partition, how):
    return [(fit.name, len(fit.parts), fit.said) for fit in fits(partition, how)]


def test_each_part_and_each_cluster_is_learnt_alone_by_a_generator_without_heads():
    assert learnt(clusters(2), recipe()) == [("cluster-1", 1, "cluster-1"), ("cluster-2", 1, "cluster-2")]
    assert [name for name, *_ in learnt(divide(TRAIN, partitioners.build(GIVEN), SEED), recipe())] == ["late", "early"]


def test_clusters_of_a_generator_with_heads_share_a_training_if_their_settings_are_the_same():
    own = {"cluster-2": {"kind": "hydragan", "steps": 2}, "cluster-3": "marginal"}
    how = recipe(generator={"kind": "hydragan", "steps": 1}, **own)
    expected = [("cluster-1", 2, "cluster-1 and 1 more"), ("cluster-2", 1, "cluster-2"), ("cluster-3", 1, "cluster-3")]
    assert learnt(clusters(4), how) == expected


def test_parts_of_columns_never_share_a_training():
    how = recipe(generator={"kind": "hydragan", "steps": 1})
    assert [size for _, size, _ in learnt(divide(TRAIN, partitioners.build(GIVEN), SEED), how)] == [1, 1]


def test_each_cluster_of_a_shared_training_gets_the_sampler_of_its_rows():
    class Remembering(Resumable):
        kind: str = "remembering"

        def resume(self, table, seed, keeper):
            raise AssertionError("clusters are given")

        def resume_clusters(self, table, labels, seed, keeper):
            return tuple(table.take(labels == label).values.tobytes() for label in range(labels.max() + 1))

    divided = clusters(3)
    how = Recipe(partitioners.build(GIVEN), Remembering(), {"cluster-2": MARGINAL}, joins.build("concatenation"))
    shared, _ = fits(divided, how)
    found = fit_parts(TRAIN, shared, SEED)
    assert found == tuple(TRAIN.take(divided.rows == place).values.tobytes() for place in (0, 2))
