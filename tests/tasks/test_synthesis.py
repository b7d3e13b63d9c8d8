"""The stages make what the pure functions make; a failed part is named, and finished ones are kept."""

import json
import shutil

import numpy as np
import pytest
from small_world import CANARY_INCOME, CANARY_NAME, SCHEMA, SPEC, people, run_stages, write_workspace

from models.errors import SpecError, StateError, SynthesisError
from models.spec import parse_spec
from models.synthesis import Recipe, synthesize
from tasks.codec import decode, encode
from tasks.spec import load
from tasks.stages import INGEST, JOIN, PARTITION, TRAIN
from tasks.store import read_json, read_state, read_table, sha256_of
from tasks.synthesis import PartWork, fit, read_partition, training_rows, unused

MADE = (INGEST, PARTITION, TRAIN, JOIN)


@pytest.fixture
def workspace(finished, tmp_path):
    root = tmp_path / "workspace"
    shutil.copytree(finished.workspace.root, root)
    return load(root / "spec.yaml")


def test_the_pipeline_equals_the_function(finished):
    spec = finished.spec
    recipe = Recipe(spec.partition, spec.generator, spec.generators, spec.join)
    train = training_rows(finished)
    seed = finished.workspace.seed()
    made = synthesize(train, recipe, len(train), seed)
    table = decode(made.joined.table, finished.schema, seed.child("identifiers"))
    assert read_table(finished.workspace.synthetic).equals(table)


@pytest.mark.parametrize("generator", ["marginal", "copula", "cart"])
def test_the_same_seed_makes_the_same_bytes_and_another_seed_others(tmp_path, crew, generator):
    made = []
    for name, seed in (("a", "1" * 64), ("b", "1" * 64), ("c", "2" * 64)):
        spec = write_workspace(tmp_path / name, generator=generator, join={"kind": "validated"})
        workspace = load(spec).workspace
        workspace.secret.mkdir(parents=True)
        (workspace.secret / "seed").write_text(seed)
        run_stages(spec, crew, MADE)
        made.append(workspace.synthetic.read_bytes())
    assert made[0] == made[1] != made[2]


def test_a_sampler_is_numbers_and_facts_and_holds_no_value_of_the_canary(finished):
    for part in read_partition(finished).parts:
        folder = finished.workspace.sampler(part.name)
        assert {file.name for file in folder.iterdir()} == {"state.json", "arrays.safetensors"}
        state = read_state(folder)
        assert CANARY_NAME not in json.dumps(state.facts)
        assert not any(np.any(np.isclose(array.astype(float), CANARY_INCOME)) for array in state.arrays.values())


def test_a_part_that_was_trained_before_is_kept(workspace, crew):
    samplers = workspace.workspace.samplers
    before = {path: path.stat().st_mtime_ns for path in samplers.rglob("*.safetensors")}
    shutil.rmtree(samplers / "habits")
    assert "train" in run_stages(workspace.path, crew)
    after = {path: path.stat().st_mtime_ns for path in samplers.rglob("*.safetensors")}
    assert after[samplers / "money" / "arrays.safetensors"] == before[samplers / "money" / "arrays.safetensors"]
    assert after[samplers / "habits" / "arrays.safetensors"] != before[samplers / "habits" / "arrays.safetensors"]


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
    fit(PartWork(workspace.path, "money"))
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


# ---- clusters of rows -----------------------------------------------------------------------------------------------


@pytest.fixture
def rows_divided(clustered, tmp_path):
    root = tmp_path / "workspace"
    shutil.copytree(clustered.workspace.root, root)
    return load(root / "spec.yaml")


def test_the_pipeline_equals_the_function_for_clusters_of_rows(clustered):
    train, seed = training_rows(clustered), clustered.workspace.seed()
    made = synthesize(train, Recipe.of(clustered.spec), len(train), seed)
    table = decode(made.joined.table, clustered.schema, seed.child("identifiers"))
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
    made = []
    for name, seed in (("a", "1" * 64), ("b", "1" * 64), ("c", "2" * 64)):
        spec = write_workspace(tmp_path / name, partition=partition, join="concatenation", generator="copula")
        workspace = load(spec).workspace
        workspace.secret.mkdir(parents=True)
        (workspace.secret / "seed").write_text(seed)
        run_stages(spec, crew, MADE)
        made.append(workspace.synthetic.read_bytes())
    assert made[0] == made[1] != made[2]


def test_a_cluster_that_was_trained_before_is_kept(rows_divided, crew):
    samplers = rows_divided.workspace.samplers
    before = {path: path.stat().st_mtime_ns for path in samplers.rglob("*.safetensors")}
    shutil.rmtree(samplers / "cluster-2")
    assert "train" in run_stages(rows_divided.path, crew, MADE)
    after = {path: path.stat().st_mtime_ns for path in samplers.rglob("*.safetensors")}
    changed = {path.parent.name for path in after if after[path] != before[path]}
    assert changed == {"cluster-2"}


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
