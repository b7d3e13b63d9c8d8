"""The list of stages is consistent: what is read was written, what is named exists, what matters is depended on."""

import json
import shutil
import subprocess
import sys
from pathlib import Path, PurePath

import pytest
from small_world import SPEC, run_stages

from models.errors import StateError
from models.spec import Spec
from tasks.spec import load
from tasks.stages import BY_NAME, RELEASE, STAGES
from tasks.workspace import Workspace
from tasks.yaml_files import read_yaml, yaml_text

HERE = Workspace(Path())
ROOT = Path(__file__).parent.parent.parent


def within(path: PurePath, folders):
    return any(path == folder or path.is_relative_to(folder) for folder in folders)


def test_stages_are_known_by_their_names():
    assert list(BY_NAME) == ["ingest", "partition", "train", "join", "audit", "release"]
    assert tuple(BY_NAME.values()) == STAGES


@pytest.mark.parametrize("stage", STAGES, ids=list(BY_NAME))
def test_the_sections_that_a_stage_depends_on_are_sections_of_a_spec(stage):
    sections = {field.alias or name for name, field in Spec.model_fields.items()}
    assert set(stage.sections) <= sections


def test_a_stage_reads_only_what_an_earlier_one_writes():
    written = []
    for stage in STAGES:
        assert all(within(path, written) for path in stage.reads(HERE)), stage.name
        written += stage.writes(HERE)


def test_no_two_stages_write_the_same_place():
    places = [path for stage in STAGES for path in stage.writes(HERE)]
    assert not [path for path in places if within(path, [other for other in places if other is not path])]


def test_every_section_that_shapes_a_release_is_depended_on_by_some_stage():
    depended_on = {section for stage in STAGES for section in stage.sections}
    assert {field.alias or name for name, field in Spec.model_fields.items()} - depended_on == {
        "limits",
        "schedule",
        "trigger",
    }


CHANGES = {
    "rows": (150, ["join", "audit", "release"]),
    "join": ("concatenation", ["train", "join", "audit", "release"]),
    "audit": ({**SPEC["audit"], "marginals": {"worst": 0.3}}, ["audit", "release"]),
    "generators": ({"money": {"kind": "marginal", "smoothing": 2.0}}, ["train", "join", "audit", "release"]),
    "schedule": ({"interval": 60}, []),
}


@pytest.mark.parametrize("section", CHANGES)
def test_a_changed_section_is_followed_by_the_stages_that_depend_on_it(workspace, crew, section):
    value, expected = CHANGES[section]
    workspace.write_text(yaml_text({**read_yaml(workspace, ""), section: value}))
    assert run_stages(workspace, crew) == expected
    assert run_stages(workspace, crew) == []


def test_an_owners_suite_that_was_changed_is_asked_again(workspace, crew):
    """Its name in the spec stays the same; its content counts."""

    def suite(most):
        between = {"type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 1, "max_value": most}}
        (workspace.parent / "suite.json").write_text(json.dumps({"name": "mine", "expectations": [between]}))

    suite(10_000)
    workspace.write_text(yaml_text({**read_yaml(workspace, ""), "expectations": "suite.json"}))
    first = run_stages(workspace, crew)
    assert first[0] == "ingest"
    assert "join" in first
    suite(20_000)
    again = run_stages(workspace, crew)
    assert again[0] == "ingest"
    assert "join" in again


def test_a_stage_whose_input_was_never_made_is_refused_with_advice(workspace, crew):
    shutil.rmtree(load(workspace).workspace.audit)
    shutil.rmtree(load(workspace).workspace.joined)
    with pytest.raises(StateError) as refusal:
        run_stages(workspace, crew, (RELEASE,))
    told = str(refusal.value)
    assert "joined: no such file or folder (run the stage that makes it)" in told
    assert "audit: no such file or folder" in told


def test_no_stage_and_no_command_needs_prefect_and_what_is_heavy_is_imported_when_it_is_used():
    rooms = ("stages", "drafting", "planning", "trial", "explaining", "kinds", "release", "audit")
    heavy = {"prefect", "great_expectations", "dvc", "pandas", "duckdb", "sklearn", "torch", "openlineage"}
    code = f"import sys, {', '.join(f'tasks.{room}' for room in rooms)}; print(*({heavy} & sys.modules.keys()))"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
