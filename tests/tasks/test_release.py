"""A release appears whole or not at all, says only what may be said, and every changed byte of it is found."""

import json
import re
import shutil
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from small_world import CANARY_NAME, SCHEMA, SPEC, people, run_stages, with_seed, write_workspace

from models.errors import AuditError, InternalError, StateError, TamperedError, WithheldError
from models.manifest import IndexEntry
from models.schema import Schema
from tasks.chains import read_chain
from tasks.codec import encode
from tasks.csv_files import same_rows
from tasks.release import latest, read_manifest, verify
from tasks.spec import load
from tasks.stages import AUDIT, INGEST, JOIN, PARTITION, RELEASE, STAGES, TRAIN
from tasks.step import carry_out, job_for
from tasks.store import canonical, read_json, read_table, sha256_of, write_table
from tasks.templates import render
from tasks.versions import prepare
from tasks.workspace import Workspace
from tasks.yaml_files import read_yaml, yaml_text

FILES = (
    "README.md", "audit.html", "audit.json", "audit.md", "manifest.json", "manifest.sha256", "schema.yaml",
    "synthetic.csv", "synthetic.parquet",
)  # fmt: skip


@pytest.fixture
def published(finished, tmp_path):
    """A copy of the published data set: its versions and their index."""
    shutil.copytree(finished.workspace.released / "people", tmp_path / "people")
    return tmp_path / "people"


def released(spec):
    return load(spec).workspace.released / "people"


def change(spec, **sections):
    spec.write_text(yaml_text({**read_yaml(spec, ""), **sections}))


def flip(path, position, bit=0):
    content = bytearray(path.read_bytes())
    content[position] ^= 1 << bit
    path.write_bytes(content)


# What is published


def test_a_release_holds_what_it_says_and_is_sound(finished):
    folder = finished.workspace.released / "people" / "v1"
    assert tuple(sorted(path.name for path in folder.iterdir())) == FILES
    assert verify(folder) == read_manifest(folder)


def test_the_table_that_is_published_is_the_one_that_was_audited(finished):
    folder = finished.workspace.released / "people" / "v1"
    published, audited = read_table(folder / "synthetic.parquet"), read_table(finished.workspace.synthetic)
    assert published.equals(audited)
    assert same_rows(audited, folder / "synthetic.csv")
    assert b"manifest.json" in published.schema.metadata[b"parquetry"]


def test_the_published_schema_describes_the_published_table(finished):
    folder = finished.workspace.released / "people" / "v1"
    schema = Schema.model_validate(read_yaml(folder / "schema.yaml", ""))
    table = read_table(folder / "synthetic.parquet")
    assert schema.names == tuple(table.column_names)
    assert len(encode(table, schema)) == table.num_rows


def test_the_manifest_is_canonical_and_commits_to_source_and_seed(finished):
    folder = finished.workspace.released / "people" / "v1"
    manifest = read_manifest(folder)
    assert (folder / "manifest.json").read_bytes() == canonical(manifest.model_dump(mode="json"))
    assert (manifest.rows, manifest.source.training_rows, manifest.source.holdout_rows) == (420, 420, 180)
    assert manifest.seed_commitment == finished.workspace.seed().commitment()
    assert manifest.spec_digest == finished.spec.digest()
    assert {name: settings["kind"] for name, settings in manifest.generators.items()} == dict.fromkeys(
        ("money", "habits"), "marginal"
    )
    assert [trace.name for trace in manifest.columns] == list(finished.schema.names)


def test_nothing_published_tells_time_run_machine_person_or_the_hash_of_a_private_file(finished):
    workspace = finished.workspace
    private = [path for path in workspace.raw.rglob("*") if path.is_file()] + [workspace.root / "people.parquet"]
    private += [workspace.raw, workspace.samplers, *workspace.samplers.rglob("*.safetensors")]
    intake = read_json(workspace.intake)
    secrets = [
        *map(sha256_of, private), intake["version"], intake["version"].removeprefix("sha256:"),
        read_json(workspace.joined / "join.json")["training"], workspace.seed().key.hex(), str(workspace.root),
        workspace.root.name + "/", CANARY_NAME,
        *(path.stem for path in workspace.lineage.iterdir()),
    ]  # fmt: skip
    for path in (workspace.released / "people").rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert not [secret for secret in secrets if secret.encode() in content], path.name
        if path.name not in ("synthetic.csv", "synthetic.parquet"):
            assert not re.search(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d", content), path.name


def test_a_figure_of_the_real_rows_is_not_told_to_its_last_digit(finished):
    told = read_manifest(finished.workspace.released / "people" / "v1").partition["ratio"]
    exact = read_json(finished.workspace.division)["ratio"]
    assert told == round(exact, 3) != exact


ODD = {
    "columns": [
        *SCHEMA["columns"],
        {"name": "sick | days_off *", "kind": "duration", "dtype": "duration[s]", "resolution": "day", "nullable": True,
         "bounds": [0, 8_640_000]},
        {"name": "ward", "kind": "categorical", "dtype": "string", "levels": ["a", ""], "unlisted": "other",
         "other": "(rare)"},
        {"name": "HUSHED", "kind": "categorical", "dtype": "string", "levels": ["HUSHED-LEVEL"], "include": False},
    ],
}  # fmt: skip
ODD_PARTS = {**SPEC["partition"]["parts"], "rest": ["sick | days_off *", "ward"]}


@pytest.fixture(scope="module")
def twins(tmp_path_factory, crew):
    """Two workspaces of the same spec, seed and source in different folders, after a whole run each."""
    table = people()
    days = pa.array([None if row % 7 == 0 else row % 40 for row in range(len(table))], pa.int64())
    table = table.append_column("sick | days_off *", pc.multiply(days, 86_400).cast(pa.duration("s")))
    table = table.append_column("ward", pa.array([["a", "", "few"][row % 11 % 3] for row in range(len(table))]))
    table = table.append_column("HUSHED", pa.array(["HUSHED-LEVEL"] * len(table)))
    made = []
    for name in ("here", "there"):
        parts = {"kind": "given", "parts": ODD_PARTS}
        spec = write_workspace(tmp_path_factory.mktemp(name), table=table, schema=ODD, partition=parts)
        with_seed(spec, "5" * 64)
        run_stages(spec, crew)
        made.append(released(spec))
    return made


def test_the_same_spec_seed_and_source_make_the_same_release_byte_for_byte(twins):
    here, there = ({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")} for folder in twins)
    assert len(here) == len(FILES) + 1
    assert here == there


def test_a_column_that_is_left_out_is_named_nowhere(twins):
    for path in twins[0].rglob("*.*"):
        assert b"HUSHED" not in path.read_bytes(), path.name


def test_gaps_empty_texts_durations_and_rare_levels_come_out_alike_in_both_files(twins):
    table = read_table(twins[0] / "v1" / "synthetic.parquet")
    assert same_rows(table, twins[0] / "v1" / "synthetic.csv")
    assert {"", "(rare)"} <= set(table["ward"].to_pylist())
    assert table["sick | days_off *"].null_count
    schema = Schema.model_validate(read_yaml(twins[0] / "v1" / "schema.yaml", ""))
    assert schema["ward"].levels == ("a", "", "(rare)")
    assert verify(twins[0] / "v1").rows == table.num_rows


def test_the_data_card_tells_what_it_is_how_it_was_made_and_what_it_is_good_for(twins):
    card = (twins[0] / "v1" / "README.md").read_text(encoding="utf-8")
    for told in (
        "# people, version 1", "420 rows that stand for nobody", "from 420 real rows; 180 further real rows",
        "Verdict of the audit: **pass**", "No end-to-end differential privacy",
        "| sick \\| days\\_off \\* | duration |",
        "made anew: no value of the source is used", "levels that fewer than 10 rows share become one common level",
        "Join: shuffled, 420 of 420 proposed rows accepted.", "durations are seconds in the CSV", "`parquetry verify`",
    ):  # fmt: skip
        assert told in card


def test_of_clusters_a_release_tells_shares_generators_and_levels_and_nothing_of_a_row(clustered):
    folder = clustered.workspace.released / "people" / "v1"
    manifest, card = verify(folder), (folder / "README.md").read_text(encoding="utf-8")
    assert set(manifest.partition) == {"by", "reason", "clusters", "columns"}
    assert {name: said["kind"] for name, said in manifest.generators.items()} == {
        "cluster-1": "marginal", "cluster-2": "copula",
    }  # fmt: skip
    assert manifest.join["facts"] == {"clusters": 2}
    assert "- Clusters of rows: 2." in card
    assert all(f"{name}: about " in card for name in manifest.generators)
    assert "learned by copula; sex: m." in card
    private = (clustered.workspace.assignment, clustered.workspace.division)
    published = b"".join(file.read_bytes() for file in folder.iterdir())
    assert not any(sha256_of(file).encode() in published for file in private)


def test_the_data_card_tells_of_rows_that_are_lacking(finished):
    manifest = read_manifest(finished.workspace.released / "people" / "v1")
    short = manifest.model_copy(update={"join": {**manifest.join, "shortfall": 1_200}})
    card = render("card.md.j2", manifest=short, schema=finished.schema)
    assert "accepted; 1,200 rows fewer than asked for." in card
    assert "durations" not in card


# Versions


def test_a_new_version_leaves_the_one_before_as_it_is(workspace, crew):
    before = sha256_of(released(workspace) / "v1")
    change(workspace, rows=150)
    assert run_stages(workspace, crew) == ["join", "audit", "release"]
    assert sha256_of(released(workspace) / "v1") == before
    assert [verify(released(workspace) / version).rows for version in ("v1", "v2")] == [420, 150]
    entries, faults = read_chain(released(workspace) / "index.jsonl", IndexEntry, "")
    assert ([entry.version for entry in entries], faults) == ([1, 2], [])


def test_the_newest_version_is_the_one_with_the_highest_number(tmp_path):
    workspace = Workspace(tmp_path)
    for name in ("v2", "v10", "v9", "vague", "v", ".v11.part"):
        (workspace.released / "people" / name).mkdir(parents=True)
    assert latest(workspace, "people").folder == workspace.released / "people" / "v10"
    assert latest(workspace, "others") is None


def test_what_was_published_is_not_published_again_after_a_kill_before_it_was_recorded(workspace, crew):
    plan = load(workspace)
    (plan.workspace.records / "release.json").unlink()
    (released(workspace) / "index.jsonl").unlink()
    before = sha256_of(released(workspace) / "v1")
    assert run_stages(workspace, crew) == ["release"]
    assert [path.name for path in released(workspace).glob("v*")] == ["v1"]
    assert sha256_of(released(workspace) / "v1") == before
    assert verify(released(workspace) / "v1")


def test_what_a_killed_release_left_half_written_is_swept_and_no_version(workspace, crew):
    plan = load(workspace)
    (plan.workspace.records / "release.json").unlink()
    (released(workspace) / "v1").rename(released(workspace) / ".v1.0a1b2c3d.part")
    (released(workspace) / "index.jsonl").unlink()
    assert run_stages(workspace, crew) == ["release"]
    assert sorted(path.name for path in released(workspace).iterdir()) == ["index.jsonl", "v1"]


def test_the_number_of_a_version_that_was_removed_is_not_given_again(workspace, crew):
    shutil.rmtree(released(workspace) / "v1")
    assert run_stages(workspace, crew) == ["release"]
    assert verify(released(workspace) / "v2").version == 2


def test_nothing_is_built_on_a_broken_index(workspace, crew):
    flip(released(workspace) / "index.jsonl", 5)
    change(workspace, rows=150)
    with pytest.raises(TamperedError, match=r"index\.jsonl"):
        run_stages(workspace, crew)
    assert not (released(workspace) / "v2").exists()


def test_a_version_that_was_altered_is_not_taken_for_published(workspace, crew):
    flip(released(workspace) / "v1" / "synthetic.csv", 30)
    with pytest.raises(TamperedError, match=r"synthetic\.csv"):
        run_stages(workspace, crew)
    (released(workspace) / "v1" / "manifest.json").write_text("{}")
    with pytest.raises(TamperedError, match="is no manifest of format 1"):
        run_stages(workspace, crew)


def test_a_release_that_fails_half_way_leaves_nothing(workspace, crew):
    plan = load(workspace)
    shutil.rmtree(released(workspace))
    alter(plan, plan.workspace.intake, lambda said: said.pop("rows"))
    with pytest.raises(InternalError):
        run_release(workspace, crew)
    assert not list(released(workspace).glob("*"))


# The gate


def alter(plan, path, how):
    """Change a JSON file that the audit looked at, or wrote, as if it had always been so."""
    said = json.loads(path.read_bytes())
    how(said)
    path.write_bytes(canonical(said))
    looked_at = plan.workspace.audit / "looked-at.json"
    name = path.name if path.parent == plan.workspace.audit else path.relative_to(plan.workspace.data).as_posix()
    looked_at.write_bytes(canonical({**read_json(looked_at), name: sha256_of(path)}))


def run_release(spec, crew):
    """What ``parquetry run --only release`` does: this stage whatever the others would have to do."""
    plan = load(spec)
    with plan.workspace.held():
        prepare(plan, STAGES)
        return carry_out(RELEASE, job_for(spec, crew, uuid4()))


@pytest.fixture
def unpublished(workspace):
    """A workspace that was audited and has published nothing."""
    shutil.rmtree(released(workspace))
    return workspace


def nothing_was_published(spec):
    return not list(load(spec).workspace.released.rglob("*.*"))


@pytest.mark.parametrize("verdict", ["fail", "inconclusive", "PASS", "passed", "", None, True, 1, ["pass"]])
def test_any_verdict_but_pass_publishes_nothing_and_leaves_the_owner_a_report(unpublished, crew, verdict):
    plan = load(unpublished)
    alter(plan, plan.workspace.audit / "audit.json", lambda said: said.update(verdict=verdict, reason="because"))
    with pytest.raises(WithheldError, match=r"because \(read data/withheld/people/audit\.html; no table was published"):
        run_release(unpublished, crew)
    assert nothing_was_published(unpublished)
    left = sorted(path.name for path in (plan.workspace.withheld / "people").iterdir())
    assert left == ["audit.html", "audit.json", "audit.md"]


def test_a_withheld_run_leaves_what_was_published_before_and_runs_again_next_time(workspace, crew):
    before = sha256_of(released(workspace))
    change(workspace, audit={**SPEC["audit"], "marginals": {"mean": 0.0}})
    for _ in range(2):
        with pytest.raises(WithheldError, match="verdict 'fail'"):
            run_stages(workspace, crew)
    assert sha256_of(released(workspace)) == before
    assert not list(load(workspace).workspace.withheld.rglob("synthetic*"))


@pytest.mark.parametrize("report", ["audit.json", "audit.html", "audit.md"])
def test_a_report_that_is_missing_or_altered_publishes_nothing(unpublished, crew, report):
    path = load(unpublished).workspace.audit / report
    flip(path, len(path.read_bytes()) // 2)
    with pytest.raises(AuditError, match=f"{report}: is not what was audited"):
        run_release(unpublished, crew)
    path.unlink()
    with pytest.raises(StateError, match=f"{report}: no such file"):
        run_release(unpublished, crew)
    assert nothing_was_published(unpublished)


def test_an_audit_that_is_cut_short_publishes_nothing(unpublished, crew):
    plan = load(unpublished)
    path = plan.workspace.audit / "audit.json"
    alter(plan, path, lambda said: said)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(AuditError):
        run_release(unpublished, crew)
    looked_at = plan.workspace.audit / "looked-at.json"
    looked_at.write_bytes(canonical({**read_json(looked_at), "audit.json": sha256_of(path)}))
    with pytest.raises(StateError, match="not a whole JSON file"):
        run_release(unpublished, crew)
    looked_at.write_text("{")
    with pytest.raises(StateError, match="not a whole JSON file"):
        run_release(unpublished, crew)
    assert nothing_was_published(unpublished)


def test_an_audit_that_stops_publishes_nothing(unpublished, crew):
    workspace = load(unpublished).workspace
    shutil.rmtree(workspace.audit)
    write_table(people(rows=300, seed=3), workspace.train)
    with pytest.raises(AuditError):
        run_stages(unpublished, crew, (AUDIT, RELEASE))
    with pytest.raises(StateError):
        run_release(unpublished, crew)
    assert nothing_was_published(unpublished)


def test_an_audit_of_other_rows_or_by_other_limits_publishes_nothing(unpublished, crew):
    plan = load(unpublished)
    table = read_table(plan.workspace.synthetic)
    for path, rows in ((plan.workspace.synthetic, table.slice(1)), (plan.workspace.train, people(rows=50))):
        before = path.read_bytes()
        write_table(rows, path)
        with pytest.raises(AuditError, match=f"{path.name}: is not what was audited .run the audit stage again"):
            run_release(unpublished, crew)
        path.write_bytes(before)
    change(unpublished, audit={})
    with pytest.raises(AuditError, match="audit section of the spec: is not what was audited"):
        run_release(unpublished, crew)
    change(unpublished, audit=SPEC["audit"])
    (unpublished.parent / "schema.yaml").write_text(yaml_text({**SCHEMA, "k": 11}))
    with pytest.raises(AuditError, match="schema: is not what was audited"):
        run_release(unpublished, crew)
    assert nothing_was_published(unpublished)


def test_the_audit_of_an_earlier_join_publishes_nothing(unpublished, crew):
    change(unpublished, rows=150)
    with pytest.raises(AuditError, match=r"synthetic\.parquet: is not what was audited"):
        run_stages(unpublished, crew, (INGEST, PARTITION, TRAIN, JOIN, RELEASE))
    assert nothing_was_published(unpublished)


# Verification


@pytest.mark.parametrize("name", [*(f"v1/{name}" for name in FILES), "index.jsonl"])
def test_one_flipped_byte_is_found_wherever_it_is(published, name):
    path = published / name
    whole = path.read_bytes()
    for position, bit in ((0, 0), (len(whole) // 3, 5), (len(whole) // 2, 1), (len(whole) - 2, 7), (len(whole) - 1, 3)):
        flip(path, position, bit)
        with pytest.raises(TamperedError):
            verify(published / "v1")
        path.write_bytes(whole)
    assert verify(published / "v1")


def test_another_line_end_after_the_last_line_of_the_index_is_found(published):
    path = published / "index.jsonl"
    for end in (b"\r", b" ", b""):
        path.write_bytes(path.read_bytes().rstrip() + end)
        with pytest.raises(TamperedError, match="the chain breaks at line 1"):
            verify(published / "v1")


@pytest.mark.parametrize("name", [name for name in FILES if name != "manifest.json"])
def test_a_missing_file_is_found(published, name):
    (published / "v1" / name).unlink()
    with pytest.raises(TamperedError, match=f"{name}: is .*missing"):
        verify(published / "v1")


def test_an_added_file_or_folder_is_found(published):
    (published / "v1" / "more.csv").write_text("a,b\n")
    (published / "v1" / ".hidden").mkdir()
    with pytest.raises(TamperedError) as refusal:
        verify(published / "v1")
    assert {fault.where for fault in refusal.value.faults} == {"more.csv", ".hidden"}


def test_all_that_is_wrong_is_told_at_once(published):
    flip(published / "v1" / "README.md", 0)
    (published / "v1" / "audit.md").unlink()
    (published / "index.jsonl").write_text("no chain\n")
    with pytest.raises(TamperedError) as refusal:
        verify(published / "v1")
    assert {fault.where for fault in refusal.value.faults} == {"README.md", "audit.md", "index.jsonl"}


def forge(folder, *files, **said):
    """Write the manifest anew, and its hash, as somebody would who changed ``files``."""
    manifest = read_json(folder / "manifest.json")
    for file in manifest["files"]:
        if file["path"] in files:
            file["sha256"] = sha256_of(folder / file["path"])
    (folder / "manifest.json").write_bytes(canonical({**manifest, **said}))
    (folder / "manifest.sha256").write_text(sha256_of(folder / "manifest.json") + "\n")


def test_a_swapped_table_with_a_new_manifest_is_found_by_the_index(published):
    folder = published / "v1"
    write_table(read_table(folder / "synthetic.parquet").take(list(range(419, -1, -1))), folder / "synthetic.parquet")
    forge(folder, "synthetic.parquet")
    with pytest.raises(TamperedError, match=r"index\.jsonl: does not know this manifest of v1"):
        verify(folder)


def test_without_an_index_a_swapped_table_is_found_by_its_content(published):
    folder = published / "v1"
    (published / "index.jsonl").unlink()
    table = read_table(folder / "synthetic.parquet")
    write_table(table.slice(0, 300).replace_schema_metadata(None), folder / "synthetic.parquet")
    forge(folder, "synthetic.parquet")
    with pytest.raises(TamperedError) as refusal:
        verify(folder)
    assert {fault.where for fault in refusal.value.faults} == {"synthetic.parquet", "synthetic.csv"}
    age = table.column_names.index("age")
    write_table(table.set_column(age, "age", pa.array([101] * 420)), folder / "synthetic.parquet")
    forge(folder, "synthetic.parquet")
    with pytest.raises(TamperedError, match=r"age: bounds: 420 rows .the table breaks its own schema"):
        verify(folder)
    (folder / "synthetic.parquet").write_bytes(b"PAR1")
    forge(folder, "synthetic.parquet")
    with pytest.raises(TamperedError, match=r"synthetic\.parquet: not a whole Parquet file"):
        verify(folder)


def test_claims_of_a_manifest_are_compared_with_the_content(published):
    folder = published / "v1"
    (published / "index.jsonl").unlink()
    forge(folder, verdict="fail")
    with pytest.raises(TamperedError, match="its verdict is not 'pass'"):
        verify(folder)
    forge(folder, verdict="pass", rows=421)
    with pytest.raises(TamperedError, match="has 420 rows, the manifest or the audit says otherwise"):
        verify(folder)
    forge(folder, rows=420, schema_digest="0" * 64)
    with pytest.raises(TamperedError, match=r"schema\.yaml: its digest"):
        verify(folder)
    audit = read_json(folder / "audit.json")
    (folder / "audit.json").write_bytes(canonical({**audit, "verdict": "inconclusive"}))
    forge(folder, "audit.json", schema_digest=read_manifest(folder).schema_digest)
    with pytest.raises(TamperedError, match="its verdict is not 'pass'"):
        verify(folder)


def test_a_manifest_of_another_format_is_refused(published):
    forge(published / "v1", format=2)
    with pytest.raises(TamperedError, match="is no manifest of format 1"):
        verify(published / "v1")


def test_an_index_without_this_version_or_with_lines_moved_is_found(published):
    second = {"version": 2, "manifest": "0" * 64, "before": sha256_of(published / "index.jsonl")}
    first = (published / "index.jsonl").read_bytes()
    (published / "index.jsonl").write_bytes(first + canonical(second))
    assert verify(published / "v1")
    (published / "index.jsonl").write_bytes(canonical(second) + first)
    with pytest.raises(TamperedError, match="the chain breaks at line 1"):
        verify(published / "v1")
    (published / "index.jsonl").write_bytes(b"")
    with pytest.raises(TamperedError, match="does not know this manifest of v1"):
        verify(published / "v1")


def test_a_version_alone_is_verified_by_itself_from_wherever_one_stands(published, tmp_path, monkeypatch):
    shutil.copytree(published / "v1", tmp_path / "elsewhere")
    assert verify(tmp_path / "elsewhere").version == 1
    monkeypatch.chdir(published / "v1")
    flip(published / "index.jsonl", 3)
    with pytest.raises(TamperedError):
        verify(Path())


def test_a_folder_that_is_no_release_is_refused(tmp_path):
    with pytest.raises(StateError, match=r"no manifest\.json .name the folder of a published version"):
        verify(tmp_path)
