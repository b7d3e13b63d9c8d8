"""The stages make what the pure functions make; a failed part is named, and finished ones are kept."""

import json
import shutil
from uuid import uuid4

import numpy as np
import pytest
from killing import here as in_turn
from small_world import CANARY_INCOME, CANARY_NAME, SCHEMA, SPEC, copied, people, run_stages, with_seed, write_workspace

from models.errors import SpecError, StateError, SynthesisError
from models.spec import parse_spec
from models.synthesis import Recipe, fit_parts, fits, synthesize
from tasks.codec import decode, encode
from tasks.spec import load
from tasks.stages import INGEST, JOIN, PARTITION, TRAIN
from tasks.step import job_for
from tasks.store import read_json, read_state, read_table, sha256_of
from tasks.synthesis import FitWork, courses, fit, join_told, read_partition, train, training_key, training_rows, unused
from tasks.unfinished import Unfinished

MADE = (INGEST, PARTITION, TRAIN, JOIN)


@pytest.fixture
def workspace(workspace):
    """The plan of a copy of the finished workspace that a test may change."""
    return load(workspace)


def by_the_function(plan, rows=None):
    """What the pure functions make of the training rows of ``plan``: how they were joined, and the table."""
    train, seed = training_rows(plan), plan.workspace.seed()
    joined = synthesize(train, Recipe.of(plan.spec), rows or len(train), seed).joined
    return joined, decode(joined.table, plan.schema, seed.child("identifiers"))


def synthetic_by_seed(folder, crew, **said):
    """The synthetic tables that two runs with one seed made, and one with another."""
    made = []
    for name, seed in (("a", "1" * 64), ("b", "1" * 64), ("c", "2" * 64)):
        spec = with_seed(write_workspace(folder / name, **said), seed)
        run_stages(spec, crew, MADE)
        made.append(load(spec).workspace.synthetic.read_bytes())
    return made


def changed_samplers(plan, change):
    """The parts whose samplers were made anew by ``change``."""

    def times():
        return {path.parent.name: path.stat().st_mtime_ns for path in plan.workspace.samplers.rglob("*.safetensors")}

    before = times()
    change()
    return {part for part, time in times().items() if time != before.get(part)}


def test_the_pipeline_equals_the_function(finished):
    _, table = by_the_function(finished)
    assert read_table(finished.workspace.synthetic).equals(table)


def test_blocks_joined_in_processes_of_their_own_equal_the_function(tmp_path, crew):
    by_swaps = {"kind": "swap", "block": 100, "sweeps": 20}
    dependent = {"kind": "given", "parts": {"money": ["income", "sex"], "rest": ["age", "smoker", "visit"]}}
    plan = load(write_workspace(tmp_path, join=by_swaps, partition=dependent))
    run_stages(plan.path, crew, MADE)
    joined, table = by_the_function(plan)
    assert joined.facts["blocks"] == join_told(plan)["facts"]["blocks"] == 5
    assert read_table(plan.workspace.synthetic).equals(table)


@pytest.mark.parametrize("generator", ["marginal", "copula", "cart"])
def test_the_same_seed_makes_the_same_bytes_and_another_seed_others(tmp_path, crew, generator):
    one, again, other = synthetic_by_seed(tmp_path, crew, generator=generator, join={"kind": "validated"})
    assert one == again != other


def test_a_sampler_is_numbers_and_facts_and_holds_no_value_of_the_canary(finished):
    for part in read_partition(finished).parts:
        folder = finished.workspace.sampler(part.name)
        assert {file.name for file in folder.iterdir()} == {"state.json", "arrays.safetensors"}
        state = read_state(folder)
        assert CANARY_NAME not in json.dumps(state.facts)
        assert not any(np.any(np.isclose(array.astype(float), CANARY_INCOME)) for array in state.arrays.values())


def test_a_part_that_was_trained_before_is_kept(workspace, crew):
    def lose_one():
        shutil.rmtree(workspace.workspace.sampler("habits"))
        assert "train" in run_stages(workspace.path, crew)

    assert changed_samplers(workspace, lose_one) == {"habits"}


def test_a_sampler_that_was_changed_by_hand_is_trained_again(workspace, crew):
    state = workspace.workspace.sampler("money") / "state.json"
    before = state.read_bytes()
    state.write_bytes(before.replace(b"marginal", b"marginla"))
    run_stages(workspace.path, crew)
    assert state.read_bytes() == before


def test_how_long_a_part_may_take_changes_nothing_of_what_is_made(workspace, crew):
    write_workspace(workspace.workspace.root, limits={"part_seconds": 600})
    assert load(workspace.path).spec.limits.part_seconds == 600
    assert run_stages(workspace.path, crew) == []
    shutil.rmtree(workspace.workspace.samplers / "habits")
    before = sha256_of(workspace.workspace.joined)
    assert run_stages(workspace.path, crew, MADE) == ["train"]
    assert sha256_of(workspace.workspace.joined) == before


def test_a_part_that_is_drawn_for_too_long_is_ended(workspace, crew):
    person, *columns = SCHEMA["columns"]
    wide = {"columns": [{**person, "format": "P-########"}, *columns]}
    write_workspace(workspace.workspace.root, schema=wide, limits={"part_seconds": 1}, rows=50_000_000)
    with pytest.raises(SynthesisError) as refusal:
        run_stages(workspace.path, crew, MADE)
    assert {fault.found for fault in refusal.value.faults} == {"took longer than 1 s and was ended"}
    assert not list(workspace.workspace.data.rglob("*.npy"))


def test_parts_of_an_earlier_partition_are_forgotten(workspace, crew):
    write_workspace(workspace.workspace.root, partition={"kind": "clustered", "parts": 2})
    run_stages(workspace.path, crew, MADE)
    folders = {path.name for path in workspace.workspace.samplers.iterdir() if not path.name.startswith(".")}
    assert folders == {"part-1", "part-2"}


def test_a_failing_part_is_named_and_the_other_one_is_kept(workspace, crew):
    plan = workspace
    shutil.rmtree(plan.workspace.samplers)
    plan.workspace.samplers.mkdir()
    (plan.workspace.samplers / "habits").write_text("a file where a folder should be")
    with pytest.raises(SynthesisError, match="habits") as refusal:
        run_stages(plan.path, crew)
    assert "money" not in str(refusal.value)
    assert (plan.workspace.samplers / "money" / "state.json").is_file()


def test_a_join_that_accepts_nothing_is_an_error_that_says_what_to_do(tmp_path, crew):
    never = {"kind": "validated", "threshold": {"kind": "fixed", "value": 1.0}, "rounds": 1, "draws": 1}
    dependent = {"kind": "given", "parts": {"age": ["age", "sex", "visit"], "income": ["income", "smoker"]}}
    spec = write_workspace(tmp_path, join=never, partition=dependent)
    with pytest.raises(SynthesisError, match=r"0 of 420 rows were joined .*lower the threshold's floor"):
        run_stages(spec, crew, MADE)
    assert not load(spec).workspace.joined.exists()


def test_rows_released_are_as_many_as_were_asked_for_and_numbered_anew(tmp_path, crew):
    spec = write_workspace(tmp_path, rows=37)
    run_stages(spec, crew, MADE)
    made = read_table(load(spec).workspace.synthetic)
    assert made.num_rows == 37
    assert made["person"].to_pylist()[:2] == ["P-00001", "P-00002"]
    assert made.schema.names == ["person", "age", "sex", "income", "smoker", "visit"]


def test_no_pool_outlives_the_join(finished):
    assert not list(finished.workspace.data.rglob("*.npy"))


def test_fitting_alone_reads_all_it_needs_from_the_workspace(workspace):
    fit(FitWork(workspace.path, "money"))
    assert read_state(workspace.workspace.sampler("money")).kind == "marginal"


def test_synthesis_depends_on_the_recipe_alone_not_on_other_sections(finished):
    train = training_rows(finished)
    spec = parse_spec({**SPEC, "name": "other", "audit": {}})
    recipe = Recipe(spec.partition, spec.generator, spec.generators, spec.join)
    one = synthesize(train, recipe, 50, finished.workspace.seed())
    two = synthesize(
        encode(read_table(finished.workspace.train), finished.schema), recipe, 50, finished.workspace.seed()
    )
    assert np.array_equal(one.joined.table.values, two.joined.table.values, equal_nan=True)


# ---- parts given others ---------------------------------------------------------------------------------------------

THREE = {"age": ["age", "smoker"], "income": ["income"], "rest": ["sex", "visit"]}
CONDITIONAL = {
    "partition": {"kind": "given", "parts": THREE},
    "generator": "cart",
    "generators": {"age": "marginal", "rest": "copula"},
    "join": "conditional",
}


@pytest.fixture(scope="module")
def conditional(tmp_path_factory, crew):
    """A workspace whose parts were drawn given one another; not to be changed (copy it)."""
    plan = load(write_workspace(tmp_path_factory.mktemp("conditional"), **CONDITIONAL))
    run_stages(plan.path, crew, MADE)
    return plan


def test_parts_drawn_given_others_by_the_crew_equal_the_function(conditional):
    joined, table = by_the_function(conditional)
    assert read_table(conditional.workspace.synthetic).equals(table)
    age, income = (np.array(table[name].to_pylist(), dtype=float) for name in ("age", "income"))
    known = ~np.isnan(income)
    assert np.corrcoef(age[known], income[known])[0, 1] > 0.5
    assert joined.facts == join_told(conditional)["facts"]


def test_what_may_be_told_of_the_join_names_the_parts_that_models_have_seen(conditional):
    assert join_told(conditional)["facts"]["conditioned"] == [
        {"part": "income", "given": ["age"]},
        {"part": "rest", "given": ["age", "income"]},
    ]
    assert not list(conditional.workspace.data.rglob("*.npy"))


def test_samplers_of_parts_given_others_hold_no_value_of_the_canary(conditional):
    for part in THREE:
        state = read_state(conditional.workspace.sampler(part))
        assert CANARY_NAME not in json.dumps(state.facts)
        assert not any(np.any(np.isclose(array.astype(float), CANARY_INCOME)) for array in state.arrays.values())


LAST_TWO_EXCHANGED = {part: THREE[part] for part in ("age", "rest", "income")}
AFTERWARDS = {
    "nothing": ({}, set()),
    "the order": ({"partition": {"kind": "given", "parts": LAST_TWO_EXCHANGED}}, {"rest", "income"}),
    "the join": ({"join": "shuffled"}, {"rest", "income"}),
}


@pytest.mark.parametrize("changed", AFTERWARDS)
def test_a_part_is_trained_again_when_it_is_given_other_parts(conditional, tmp_path, crew, changed):
    root = copied(conditional, tmp_path).parent
    said, expected = AFTERWARDS[changed]
    plan = load(write_workspace(root, **{**CONDITIONAL, **said}))
    assert changed_samplers(plan, lambda: run_stages(plan.path, crew, MADE)) == expected


def test_a_generator_that_cannot_be_conditional_is_refused_before_a_row_is_read(tmp_path):
    spec = write_workspace(tmp_path, join="conditional")
    (tmp_path / "people.parquet").unlink()
    with pytest.raises(SpecError, match=r"generators\.habits: 'marginal' cannot draw a part given others"):
        load(spec)


# ---- what cannot be done with what was found ------------------------------------------------------------------------

FEW_NUMBERS = {"columns": [{**SCHEMA["columns"][0], "format": "P-##"}, *SCHEMA["columns"][1:]]}
DEALT = {"partition": {"kind": "random", "parts": 2}, "generator": {"kind": "cart", "order": ["age"]}}


def test_what_cannot_be_done_with_the_parts_and_rows_that_were_found_is_refused_before_any_training(tmp_path, crew):
    spec = write_workspace(tmp_path, schema=FEW_NUMBERS, **DEALT)
    with pytest.raises(SpecError) as refused:
        run_stages(spec, crew, MADE)
    assert [fault.where for fault in refused.value.faults] == ["generator.order", "person"]
    assert "'age' is no column of this part" in refused.value.faults[0].found
    assert "numbers 100 rows at most, 420 are asked for" in refused.value.faults[1].found
    assert not load(spec).workspace.samplers.exists()


# ---- clusters of rows -----------------------------------------------------------------------------------------------


@pytest.fixture
def rows_divided(clustered, tmp_path):
    return load(copied(clustered, tmp_path))


def test_the_pipeline_equals_the_function_for_clusters_of_rows(clustered):
    _, table = by_the_function(clustered)
    assert read_table(clustered.workspace.synthetic).equals(table)
    assert [part.name for part in read_partition(clustered).parts] == ["cluster-1", "cluster-2"]


def test_each_cluster_has_the_generator_that_the_spec_names(clustered):
    kinds = [read_state(clustered.workspace.sampler(name)).kind for name in ("cluster-1", "cluster-2")]
    assert kinds == ["marginal", "copula"]


def test_which_row_is_in_which_cluster_is_kept_as_small_numbers_in_the_workspace_alone(clustered):
    workspace, train = clustered.workspace, training_rows(clustered)
    rows = np.load(workspace.assignment, allow_pickle=False)
    assert rows.dtype == np.int8
    assert np.array_equal(rows, train["sex"])
    assert [path.name for path in workspace.data.rglob("*.npy")] == ["rows.npy"]
    assert sorted(read_json(workspace.division)) == ["by", "clusters", "columns", "reason"]


@pytest.mark.parametrize("partition", [{"by": "rows", "kind": "kmeans"}, {"by": "rows", "kind": "kmeans", "k": 3}])
def test_clusters_of_the_same_seed_make_the_same_bytes_and_of_another_seed_others(tmp_path, crew, partition):
    said = {"partition": partition, "join": "concatenation", "generator": "copula"}
    one, again, other = synthetic_by_seed(tmp_path, crew, **said)
    assert one == again != other


def test_a_cluster_that_was_trained_before_is_kept(rows_divided, crew):
    def lose_one():
        shutil.rmtree(rows_divided.workspace.sampler("cluster-2"))
        assert "train" in run_stages(rows_divided.path, crew, MADE)

    assert changed_samplers(rows_divided, lose_one) == {"cluster-2"}


def test_a_lost_assignment_is_told_and_made_again_by_the_stage(rows_divided, crew):
    before = rows_divided.workspace.assignment.read_bytes()
    rows_divided.workspace.assignment.unlink()
    with pytest.raises(StateError, match=r"rows.npy: no such file .run the partition stage again"):
        read_partition(rows_divided)
    run_stages(rows_divided.path, crew, MADE)
    assert rows_divided.workspace.assignment.read_bytes() == before


def test_columns_divided_after_rows_leave_no_assignment(rows_divided, crew):
    write_workspace(rows_divided.workspace.root)
    run_stages(rows_divided.path, crew, MADE)
    assert not rows_divided.workspace.assignment.exists()
    assert [part.name for part in read_partition(rows_divided).parts] == ["money", "habits"]


def test_generators_of_clusters_that_were_not_found_are_warned_of(clustered):
    spec = clustered.spec.model_copy(update={"generators": {"cluster-9": clustered.spec.generator}})
    told = read_partition(clustered).told
    assert unused(spec, told) == ["No part is called cluster-9: what 'generators' says of it is not used."]
    assert unused(clustered.spec, told) == []


def test_more_clusters_than_rows_are_refused_by_name(tmp_path, crew):
    spec = write_workspace(
        tmp_path, table=people(20), partition={"by": "rows", "kind": "kmeans", "k": 20}, join="concatenation"
    )
    with pytest.raises(SpecError, match=r"partitioner: 20 clusters for 14 rows"):
        run_stages(spec, crew, MADE)


# ---- clusters that share a training ---------------------------------------------------------------------------------

HEAD_NAMES = ("cluster-1", "cluster-2")
HEADS = {
    "partition": {"by": "rows", "kind": "strata", "column": "sex"},
    "generator": {"kind": "hydragan", "steps": 10, "hidden": 8, "noise": 4, "batch": 32, "checkpoints": 5},
    "join": "concatenation",
}


@pytest.fixture(scope="module")
def headed(tmp_path_factory, crew):
    """A workspace with a head for each cluster, joined; not to be changed (copy it)."""
    pytest.importorskip("torch")
    spec = write_workspace(tmp_path_factory.mktemp("headed"), **HEADS)
    run_stages(spec, crew, MADE)
    return load(spec)


def test_the_pipeline_equals_the_function_for_heads_that_share_a_trunk(headed):
    train, seed = training_rows(headed), headed.workspace.seed()
    made = synthesize(train, Recipe.of(headed.spec), len(train), seed)
    table = decode(made.joined.table, headed.schema, seed.child("identifiers"))
    assert read_table(headed.workspace.synthetic).equals(table)
    trunks = [read_state(headed.workspace.sampler(name)).arrays["network/first.weight"] for name in HEAD_NAMES]
    assert np.array_equal(*trunks)


def test_the_course_of_a_shared_training_is_told_once(headed):
    (told,) = courses(headed)
    assert (told.name, told.heads, told.steps) == ("cluster-1 and 1 more", 2, 10)
    assert {"held-out score", "realism"} <= {curve.name for curve in told.curves}


def test_generators_that_do_not_train_in_steps_have_no_course(finished):
    assert courses(finished) == ()


class Ending(Unfinished):
    """Ends the training right after it was saved for the third time."""

    def save(self, state):
        super().save(state)
        if state.facts["step"] == 6:
            raise KeyboardInterrupt


def test_training_that_was_ended_goes_on_from_its_last_checkpoint_to_the_same_bytes(headed, tmp_path, caplog):
    plan = load(copied(headed, tmp_path))
    before = {name: sha256_of(plan.workspace.sampler(name)) for name in HEAD_NAMES}
    shutil.rmtree(plan.workspace.samplers)
    (shared,) = fits(read_partition(plan), Recipe.of(plan.spec))
    with pytest.raises(KeyboardInterrupt):
        fit_parts(
            training_rows(plan), shared, plan.workspace.seed(),
            Ending(plan.workspace.unfinished / shared.name, training_key(plan, shared)),
        )  # fmt: skip
    assert plan.workspace.unfinished.is_dir()
    with caplog.at_level("INFO", "parquetry"):
        train(job_for(plan.path, in_turn, uuid4()))
    assert "training goes on where it was ended" in caplog.text
    assert {name: sha256_of(plan.workspace.sampler(name)) for name in HEAD_NAMES} == before
    assert not plan.workspace.unfinished.exists()
