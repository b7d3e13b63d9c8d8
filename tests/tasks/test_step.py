"""A stage is carried out when something it depends on has changed, and its faults are told without their words."""

import errno
import shutil
from dataclasses import replace
from uuid import uuid4

import pyarrow.parquet as pq
import pytest
from small_world import people, run_stages

from models.errors import InternalError, SourceError, StateError
from tasks.lineage import read_events
from tasks.spec import load
from tasks.stages import BY_NAME, STAGES
from tasks.step import Sealed, carry_out, code_digest, job_for, schema_digest
from tasks.versions import Unversioned
from tasks.yaml_files import read_yaml, yaml_text


def test_nothing_is_done_twice(workspace, crew):
    assert run_stages(workspace, crew) == []


def test_a_changed_section_of_the_spec_runs_the_stages_that_depend_on_it(workspace, crew):
    said = read_yaml(workspace, "")
    workspace.write_text(yaml_text({**said, "rows": 200}))
    assert run_stages(workspace, crew) == ["join", "audit", "release"]


def test_a_comment_in_the_spec_changes_nothing(workspace, crew):
    workspace.write_text("# a remark\n" + workspace.read_text())
    assert run_stages(workspace, crew) == []


def test_a_changed_source_runs_everything_and_publishes_the_next_version(workspace, crew):
    pq.write_table(people(seed=5), workspace.parent / "people.parquet")
    assert run_stages(workspace, crew) == [stage.name for stage in STAGES]
    assert (load(workspace).workspace.released / "people" / "v2").is_dir()


def test_an_artifact_that_was_changed_by_hand_is_made_again(workspace, crew):
    partition = load(workspace).workspace.division
    partition.write_text(partition.read_text().replace("reason", "raeson"))
    assert "partition" in run_stages(workspace, crew)


def test_a_lost_artifact_is_made_again_and_the_same(workspace, crew):
    plan = load(workspace)
    before = plan.workspace.synthetic.read_bytes()
    shutil.rmtree(plan.workspace.joined)
    assert run_stages(workspace, crew) == ["join"]
    assert plan.workspace.synthetic.read_bytes() == before


def test_a_stage_whose_record_is_cut_short_is_carried_out(workspace, crew):
    record = load(workspace).workspace.records / "audit.json"
    record.write_bytes(record.read_bytes()[:20])
    assert run_stages(workspace, crew) == ["audit"]


def test_every_stage_is_told_to_lineage_with_the_tables_it_read_and_made(finished):
    events = read_events(finished.workspace.lineage)
    told = [(event["job"]["name"], event["eventType"]) for event in events]
    assert told == [(f"parquetry.{stage.name}", kind) for stage in STAGES for kind in ("START", "COMPLETE")]
    ingested = {output["name"]: output for output in events[1]["outputs"]}
    assert set(ingested) == {"people.raw.train", "people.raw.holdout"}
    assert [field["name"] for field in ingested["people.raw.train"]["facets"]["schema"]["fields"]] == [
        "age",
        "sex",
        "income",
        "smoker",
        "visit",
    ]
    released = events[-1]["outputs"][0]
    assert released["name"] == "people@v1"
    assert released["facets"]["columnLineage"]["fields"]["income"]["inputFields"][0]["field"] == "income"


def test_a_failed_stage_is_told_to_lineage(workspace, crew):
    (workspace.parent / "people.parquet").unlink()
    with pytest.raises(SourceError):
        run_stages(workspace, crew)
    job = job_for(workspace, crew, uuid4())

    def stumble(_):
        raise SourceError([])

    failing = replace(BY_NAME["partition"], name="stumble", work=stumble)
    with pytest.raises(SourceError):
        carry_out(failing, job)
    assert read_events(job.plan.workspace.lineage)[-1]["eventType"] == "FAIL"


def test_an_error_of_another_make_is_told_by_type_and_place_and_kept_for_the_owner(tmp_path):
    with pytest.raises(InternalError) as refusal, Sealed("train", tmp_path):
        raise KeyError("CANARY-7431")
    assert "CANARY" not in str(refusal.value)
    assert "KeyError in test_step.py" in str(refusal.value)
    assert "CANARY-7431" in (tmp_path / "fault-train.txt").read_text()
    assert (tmp_path / "fault-train.txt").stat().st_mode & 0o077 == 0


def test_our_own_errors_and_interrupts_pass_as_they_are(tmp_path):
    for error in (SourceError([]), KeyboardInterrupt()):
        with pytest.raises(type(error)), Sealed("train", tmp_path):
            raise error


def test_a_full_disk_is_told_as_such(tmp_path):
    with pytest.raises(StateError, match=r"the disk is full \(free some space"), Sealed("train", tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")


def test_what_the_operating_system_refuses_is_told_with_the_file(tmp_path):
    (tmp_path / "data").write_text("")
    with pytest.raises(StateError, match="data: a file stands where a folder should be"), Sealed("train", tmp_path):
        (tmp_path / "data").mkdir(exist_ok=True)


def test_a_traceback_that_cannot_be_kept_is_told_as_such(tmp_path):
    (tmp_path / "secret").write_text("")
    with (
        pytest.raises(InternalError, match="the whole traceback could not be kept"),
        Sealed("train", tmp_path / "secret"),
    ):
        raise KeyError("CANARY-7431")


def test_digests_are_stable(finished):
    assert code_digest() == code_digest()
    assert schema_digest(finished) == schema_digest(load(finished.path))


def test_a_run_in_a_folder_without_git_says_so_and_releases(finished):
    job = job_for(finished.path, None, uuid4())
    assert isinstance(job.versions, Unversioned)
    assert (finished.workspace.released / "people" / "v1" / "synthetic.parquet").is_file()
