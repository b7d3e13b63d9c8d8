"""A spec is checked wholly before a row is read: every fault at once, each with the nearest valid name."""

import pytest

from models.errors import SpecError
from models.generators import ConditionalGenerator
from models.generators import catalog as generators
from models.joins import catalog as joins
from models.measures import catalog as measure_catalog
from models.partition import Part, Partition
from models.schema import Column, Schema
from models.spec import Recipe, Spec, faults_between, parse_schema, parse_spec, unable

GOOD = {
    "name": "people",
    "source": {"kind": "csv", "path": "people.csv"},
    "schema": "schema.yaml",
    "partition": {"kind": "given", "parts": {"all": ["age", "sex"]}},
    "generator": "marginal",
    "join": "concatenation",
}
AGE = Column(name="age", kind="integer", dtype="int64", bounds=(0, 99))
SEX = Column(name="sex", kind="categorical", dtype="string", levels=("f", "m"))
ID = Column(name="id", kind="identifier", role="identifier", dtype="string", format="P-##")


def refusal(said):
    with pytest.raises(SpecError) as error:
        parse_spec(said)
    return str(error.value)


def faults(schema, **said):
    return "; ".join(str(fault) for fault in faults_between(parse_spec({**GOOD, **said}), schema))


CONDITIONAL = {"partition": {"kind": "given", "parts": {"a": ["age"], "s": ["sex"]}}, "join": "conditional"}


@pytest.mark.parametrize(
    ("said", "where"),
    [
        ({}, ["generators.s"]),
        ({"generators": {"s": "cart"}}, []),
        ({"generator": "copula", "generators": {"a": "marginal"}}, []),
        ({"partition": {"kind": "random", "parts": 1}}, []),
        ({"partition": {"kind": "random", "parts": 2}}, ["generators.part-2"]),
        ({"partition": "optimised", "generator": "cart", "generators": {"part-4": "marginal"}}, ["generators.part-4"]),
        ({"partition": "kmeans"}, ["join"]),
    ],
)
def test_a_part_to_be_drawn_given_others_needs_a_generator_that_can(said, where):
    spec = parse_spec({**GOOD, **CONDITIONAL, **said})
    assert [fault.where for fault in faults_between(spec, Schema(columns=(AGE, SEX)))] == where


def test_a_spec_whose_parts_are_given_in_another_order_is_another_one():
    one, other = (
        parse_spec({**GOOD, "partition": {"kind": "given", "parts": dict(parts)}})
        for parts in ([("a", ["age"]), ("s", ["sex"])], [("s", ["sex"]), ("a", ["age"])])
    )
    assert one.section("partition") != other.section("partition")
    assert one.digest() != other.digest()


def test_a_spec_runs_every_measure_with_its_default_settings():
    assert tuple(parse_spec(GOOD).audit.measures) == measure_catalog.kinds()


def test_all_faults_are_told_at_once():
    told = refusal({**GOOD, "nmae": 1, "generator": "crat", "split": {"holdout": 2}, "rows": 0})
    assert "nmae: unknown key (did you mean 'name'?" in told
    assert "unknown kind 'crat' (did you mean 'cart'?" in told
    assert "split.holdout: Input should be less than 1" in told


def test_an_unknown_key_deep_down_is_told_the_keys_that_are_valid_there():
    assert "split.holdot: unknown key (did you mean 'holdout'?" in refusal({**GOOD, "split": {"holdot": 0.2}})


def test_faults_of_measures_are_told():
    told = refusal({**GOOD, "audit": {"copeis": {}, "membership": {"limmit": 1}}})
    assert "audit.copeis: unknown key (did you mean 'copies'?" in told
    assert "'membership'.limmit: unknown key" in told


def test_an_audit_that_is_no_mapping_is_refused():
    assert "audit" in refusal({**GOOD, "audit": ["copies"]})


def test_what_is_no_mapping_is_no_spec():
    assert "no mapping" in refusal(["name"])
    with pytest.raises(SpecError, match="schema: the file holds no mapping"):
        parse_schema("columns")


@pytest.mark.parametrize("rows", [0, -1, 10**10])
def test_an_impossible_number_of_rows_is_refused(rows):
    assert "rows must lie between 1 and 1,000,000,000" in refusal({**GOOD, "rows": rows})


@pytest.mark.parametrize("name", ["", "Has Space", "../up", "a" * 64])
def test_a_name_that_is_no_folder_name_is_refused(name):
    assert "name" in refusal({**GOOD, "name": name})


def test_a_schedule_is_a_cron_line_or_an_interval():
    assert parse_spec({**GOOD, "schedule": {"cron": "0 3 * * *"}}).schedule.timezone == "UTC"
    assert "give either cron or interval" in refusal({**GOOD, "schedule": {"cron": "0 3 * * *", "interval": 60}})
    assert "give either cron or interval" in refusal({**GOOD, "schedule": {"timezone": "UTC"}})


@pytest.mark.parametrize("cron", ["0 3 * * *", "*/15 8-18 1,15 jan-mar MON-FRI", "5 4 L * 7", "0 0 * * fri#2"])
def test_a_cron_line_that_can_be_read(cron):
    assert parse_spec({**GOOD, "schedule": {"cron": cron}}).schedule.cron == cron


def test_a_cron_line_or_time_zone_that_cannot_be_read_is_refused_before_a_server_is_asked():
    assert "its minute and month cannot be read" in refusal({**GOOD, "schedule": {"cron": "61 3 * 13 *"}})
    assert "five fields (minute, hour, day, month, weekday), not 2" in refusal(
        {**GOOD, "schedule": {"cron": "every day"}}
    )
    told = refusal({**GOOD, "schedule": {"interval": 60, "timezone": "Europe/Atlantis"}})
    assert "no time zone is called 'Europe/Atlantis'" in told


def test_a_part_may_have_a_generator_of_its_own():
    spec = parse_spec({**GOOD, "generators": {"money": "copula"}})
    assert spec.generator_of("money").kind == "copula"
    assert spec.generator_of("people").kind == "marginal"


def test_the_digest_is_of_the_meaning_not_of_the_words():
    spelled_out = {**dict(reversed(GOOD.items())), "split": {"holdout": 0.3}, "generator": {"kind": "marginal"}}
    assert parse_spec(GOOD).digest() == parse_spec(spelled_out).digest()
    assert parse_spec(GOOD).digest() != parse_spec({**GOOD, "rows": 7}).digest()


def test_limits_say_how_long_work_may_take_and_are_not_part_of_the_digest():
    assert parse_spec(GOOD).limits.part_seconds is None
    limited = parse_spec({**GOOD, "limits": {"part_seconds": 3600}})
    assert limited.limits.part_seconds == 3600
    assert limited.digest() == parse_spec(GOOD).digest()
    assert "limits.part_seconds: Input should be greater than 0" in refusal({**GOOD, "limits": {"part_seconds": 0}})
    assert "limits.part_secs: unknown key (did you mean 'part_seconds'?" in refusal(
        {**GOOD, "limits": {"part_secs": 1}}
    )


def test_a_section_holds_the_settings_of_kinds():
    assert parse_spec(GOOD).section("generator")["kind"] == "marginal"
    assert parse_spec(GOOD).section("schema") == "schema.yaml"
    assert set(parse_spec(GOOD).section("audit")["measures"]) == set(measure_catalog.kinds())


def test_a_sound_spec_and_schema_have_no_faults():
    assert faults(Schema(columns=(ID, AGE, SEX)), split={"entity": "id"}) == ""


def test_a_column_in_two_parts_or_in_none_is_told():
    told = faults(Schema(columns=(AGE, SEX)), partition={"kind": "given", "parts": {"a": ["age"], "b": ["age"]}})
    assert "age" in told
    assert "sex" in told


def test_a_generator_for_a_part_that_there_is_not_is_told_with_the_parts_that_there_are():
    two = Schema(columns=(AGE, SEX))
    assert "generators.al: the partition has no such part (did you mean 'all'?" in faults(
        two, generators={"al": "cart"}
    )
    numbered = {"kind": "clustered", "parts": 2}
    assert "valid: part-1, part-2" in faults(two, partition=numbered, generators={"part-3": "cart"})
    assert faults(two, partition=numbered, generators={"part-2": "cart"}) == ""


def test_rows_are_divided_where_the_spec_says_so_and_columns_by_default():
    assert parse_spec(GOOD).partition.by == "columns"
    assert parse_spec({**GOOD, "partition": {"by": "rows", "kind": "kmeans"}}).partition.by == "rows"
    told = refusal({**GOOD, "partition": {"by": "rows", "kind": "clustered"}})
    assert "'clustered'.by: this kind divides columns, not rows; rows are divided by: kmeans, strata" in told


def test_what_clusters_cannot_have_is_told_before_a_row_is_read():
    two = Schema(columns=(AGE, SEX))
    said = {"by": "rows", "kind": "strata", "column": "age"}
    told = faults(two, partition=said, join="validated", generators={"cluster-21": "cart"})
    assert "age: kind integer has no levels to divide by (valid: sex)" in told
    assert "join: 'validated' cannot join clusters of rows (write 'join: concatenation')" in told
    assert "generators.cluster-21: the partition has no such part" in told
    assert faults(two, partition={**said, "column": "sex"}, generators={"cluster-2": "cart"}) == ""


def test_limits_for_clusters_that_there_cannot_be_are_told():
    two = Schema(columns=(AGE, SEX))
    limits = {"membership": {"clusters": {"cluster-9": 0.6}}, "copies": {"clusters": {"cluster-2": {"exact": 0.1}}}}
    told = faults(two, audit=limits)
    assert "audit.membership.clusters.cluster-9: there is no such cluster (divide rows" in told
    assert "audit.copies.clusters.cluster-2: there is no such cluster (divide rows" in told
    rows = {"by": "rows", "kind": "kmeans", "k": 2}
    told = faults(two, partition=rows, join="concatenation", audit=limits)
    assert "audit.membership.clusters.cluster-9: there is no such cluster (did you mean" in told
    assert "audit.copies" not in told


def test_more_parts_than_columns_are_told():
    assert "3" in faults(Schema(columns=(AGE, SEX)), partition={"kind": "clustered", "parts": 3})


def test_free_text_is_refused_with_advice():
    notes = Column(name="notes", kind="text", dtype="string")
    assert "notes: free text is not synthesised (leave it out with 'include: false'" in faults(
        Schema(columns=(AGE, SEX, notes))
    )


def test_a_schema_without_a_modelled_column_is_told():
    assert "none of its 1 columns can be modelled" in faults(Schema(columns=(ID,)))


def test_an_entity_must_be_an_identifier_of_the_schema():
    schema = Schema(columns=(ID, AGE, SEX))
    assert "'patient' is not a column" in faults(schema, split={"entity": "patient"})
    assert "has role 'plain' (give it 'role: identifier'" in faults(schema, split={"entity": "age"})


def test_an_identifier_must_be_able_to_number_the_rows():
    assert "numbers 100 rows at most, 101 are asked for" in faults(Schema(columns=(ID, AGE, SEX)), rows=101)
    assert faults(Schema(columns=(ID, AGE, SEX)), rows=100) == ""


def test_a_spec_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        parse_spec(GOOD).name = "other"
    assert isinstance(parse_spec(GOOD), Spec)


# ---- parts that are drawn given others ------------------------------------------------------------------------------

GIVEN_OTHERS = joins.build("conditional")
CART, COPULA, MARGINAL = map(generators.build, ("cart", "copula", "marginal"))


def test_each_later_part_whose_generator_cannot_be_conditional_is_named():
    parts = {"a": MARGINAL, "b": MARGINAL, "c": CART, "d": MARGINAL}
    found = [fault.where for fault in unable(GIVEN_OTHERS, parts)]
    assert found == ["generators.b", "generators.d"]
    assert str(unable(GIVEN_OTHERS, parts)[0]) == (
        "generators.b: 'marginal' cannot draw a part given others, as 'join: conditional' asks of it "
        "(use one of: cart, copula)"
    )


def test_the_first_part_may_have_any_generator():
    assert unable(GIVEN_OTHERS, {"a": MARGINAL, "b": COPULA}) == []
    assert unable(GIVEN_OTHERS, {"a": MARGINAL}) == []


@pytest.mark.parametrize("kind", generators.kinds())
def test_the_kinds_told_are_those_that_can(kind):
    (fault,) = unable(GIVEN_OTHERS, {"a": CART, "b": MARGINAL})
    assert (kind in fault.remedy) is isinstance(generators.build(kind), ConditionalGenerator)


def test_joins_of_parts_that_stand_alone_ask_nothing_of_generators():
    assert unable(joins.build("shuffled"), {"a": MARGINAL, "b": MARGINAL}) == []


# ---- generators and the columns of their parts ----------------------------------------------------------------------

INCOME = Column(name="income", kind="integer", dtype="int64", bounds=(0, 99), role="sensitive")
PEOPLE = Schema(columns=(AGE, SEX, INCOME))
TWO = {"kind": "given", "parts": {"money": ["income"], "rest": ["age", "sex"]}}
SECRET = {"kind": "hydragan", "reidentification": 0.5}
NO_SECRET = "no column has the role 'sensitive'"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"generators": {"money": SECRET}}, []),
        ({"generators": {"rest": SECRET}}, [("generators.rest.reidentification", NO_SECRET)]),
        ({"generator": SECRET}, [("generator.reidentification", f"in rest, {NO_SECRET}")]),
        ({"generator": SECRET, "generators": {"rest": "cart"}}, []),
        ({"generator": {"kind": "cart", "order": ["income"]}, "generators": {"rest": "cart"}}, []),
        (
            {"generators": {"rest": {"kind": "cart", "order": ["income", "age"]}}},
            [("generators.rest.order", "'income' is no column of this part")],
        ),
    ],
)
def test_a_generator_is_asked_about_the_columns_of_its_part(said, expected):
    spec = parse_spec({**GOOD, "partition": TWO, "join": "shuffled", **said})
    assert [(fault.where, fault.found) for fault in faults_between(spec, PEOPLE)] == expected


@pytest.mark.parametrize("partition", [{"kind": "kmeans"}, {"kind": "strata", "column": "sex"}])
def test_a_cluster_has_all_columns(partition):
    asked = {"partition": partition, "generators": {"cluster-2": SECRET}}
    assert faults(PEOPLE, **asked) == ""
    assert f"generators.cluster-2.reidentification: {NO_SECRET} (give" in faults(Schema(columns=(AGE, SEX)), **asked)


@pytest.mark.parametrize("kind", ["random", "correlated", "clustered", "optimised"])
def test_of_parts_that_are_yet_to_be_found_is_told_once_what_no_part_could_meet(kind):
    asked = {"partition": {"kind": kind, "parts": 2}, "join": "shuffled"}
    assert faults(PEOPLE, **asked, generator={"kind": "cart", "order": ["agee"]}) == (
        "generator.order: 'agee' is no column of this part (did you mean 'age'? valid: age, income, sex)"
    )
    assert faults(PEOPLE, **asked, generators={"part-2": {"kind": "cart", "order": ["age"]}}) == ""


def test_faults_of_generators_are_told_with_all_others():
    told = faults(PEOPLE, partition=TWO, join="conditional", generators={"money": {"kind": "cart", "order": ["age"]}})
    assert "generators.rest: 'marginal' cannot draw a part given others" in told
    assert "generators.money.order: 'age' is no column of this part" in told


def test_the_parts_that_were_found_are_asked_about_by_name():
    said = {"partition": {"kind": "random", "parts": 2}, "generator": {"kind": "cart", "order": ["age"]}}
    recipe = Recipe.of(parse_spec({**GOOD, **said}))
    parts = (Part(name="part-1", columns=("income", "age")), Part(name="part-2", columns=("sex",)))
    (fault,) = recipe.faults_of(Partition(parts=parts, reason="dealt at random"), PEOPLE.modelled)
    assert str(fault) == "generator.order: in part-2, 'age' is no column of this part (valid: sex)"


def test_rows_are_as_many_as_asked_for_or_as_were_learnt_from():
    assert parse_spec(GOOD).rows_for(70) == 70
    assert parse_spec({**GOOD, "rows": 7}).rows_for(70) == 7
