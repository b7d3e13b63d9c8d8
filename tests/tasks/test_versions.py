import hashlib
import logging
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from models.errors import SpecError, StateError
from tasks import versions
from tasks.spec import Plan, load
from tasks.stages import STAGES
from tasks.step import Stage
from tasks.versions import Outline, Unversioned, Versions, dvc_yaml, publishable, refuse_public
from tasks.workspace import Workspace

PROJECT = Path(__file__).parents[2]
CANARY = "canary-4711"

INGEST = Stage("ingest", ("source", "split"), lambda here: (), lambda here: (here.raw,), lambda job: None)
TRAIN = Stage("train", ("generator",), lambda here: (here.train,), lambda here: (here.samplers,), lambda job: None)
RELEASE = Stage(
    "release", ("name",), lambda here: (here.raw, here.samplers), lambda here: (here.released,), lambda job: None
)
THREE = (INGEST, TRAIN, RELEASE)

SPEC = """\
name: visits
source: {kind: csv, path: visits.csv}
schema: data/schemas/visits.yaml
partition: {kind: given, parts: {all: [age]}}
generator: marginal
join: concatenation
"""
SCHEMA = "columns:\n- {name: age, kind: integer, dtype: int64, bounds: [0, 99]}\n"

# What stands in for `python -m flows run spec.yaml --only STAGE` when DVC itself carries out a stage.
COMMAND = """\
import os, sys
from pathlib import Path
from tasks.versions import Versions
sys.path.insert(0, os.environ["STAGES_FROM"])
from test_versions import THREE, work
stage = next(stage for stage in THREE if stage.name == sys.argv[-1])
work(Path(), stage.name)
Versions(Path().resolve()).record(stage)
"""


def work(root: Path, stage: str, number: int = 1) -> None:
    """What a stage leaves behind."""
    here = Workspace(root)
    text = f"{CANARY} {stage} {number}\n"
    files = {
        "ingest": [here.train, here.holdout],
        "train": [here.sampler("all") / "state.json"],
        "release": [here.released / "visits" / f"v{number}" / "synthetic.csv"],
    }
    for path in files[stage]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if stage != "release" else f"public {number}\n")


def git(where: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(where), *words], capture_output=True, text=True, check=True).stdout.strip()


def dvc(where: Path, *words: str) -> str:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(PROJECT),
        "STAGES_FROM": str(Path(__file__).parent),
    }
    command = [sys.executable, "-m", "dvc", *words]
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def lose(cache: Path) -> None:
    """Remove a cache of DVC, whose files are read-only."""
    for path in cache.rglob("*"):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
    shutil.rmtree(cache)


@pytest.fixture(autouse=True)
def _as_nobody_in_particular(tmp_path_factory, monkeypatch):
    """No settings of whoever runs the tests: no git identity, and DVC's own files in a temporary folder."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(("GIT_", "DVC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(home / "dvc"))
    monkeypatch.setenv("DVC_NO_ANALYTICS", "1")


def written(root: Path) -> Plan:
    (root / "data" / "schemas").mkdir(parents=True)
    (root / "spec.yaml").write_text(SPEC)
    (root / "data" / "schemas" / "visits.yaml").write_text(SCHEMA)
    (root / "visits.csv").write_text("age\n1\n")
    return load(root / "spec.yaml")


@pytest.fixture
def plan(tmp_path) -> Plan:
    """A workspace in a git repository that has no commit yet."""
    root = tmp_path / "workspace"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    return written(root)


def prepared(plan: Plan, stages: tuple[Stage, ...] = THREE) -> Versions:
    history = versions.prepare(plan, stages)
    assert isinstance(history, Versions), history
    return history


def released(history: Versions, plan: Plan, number: int) -> str | None:
    for stage in THREE:
        work(history.root, stage.name, number)
        history.record(stage)
    return history.tag_release(plan, number)


def state(root: Path) -> dict[str, object]:
    """All that git shows of a work tree: where HEAD is, the index, and every file."""
    files = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and ".git" not in path.parts}
    index = (root / ".git" / "index").read_bytes() if (root / ".git" / "index").exists() else b""
    head = (root / ".git" / "HEAD").read_text()
    return {"head": head, "branches": git(root, "branch", "-av"), "index": index, "files": files}


# ---- dvc.yaml -------------------------------------------------------------------------------------------------------


def test_dvc_yaml_states_the_stages_with_what_they_read_write_and_depend_on(plan):
    said = yaml.safe_load(dvc_yaml(Outline.of(plan, THREE)))["stages"]
    assert said["train"] == {
        "cmd": "python -m flows run spec.yaml --only train",
        "deps": ["data/schemas/visits.yaml", "data/raw"],
        "params": [{"spec.yaml": ["generator"]}],
        "outs": [{"data/interim/samplers": {"remote": "vault"}}],
    }
    assert said["ingest"]["always_changed"] is True
    assert said["release"]["outs"] == [{"data/released": {"persist": True}}]


def test_only_keys_that_the_spec_spells_out_are_parameters(plan):
    """DVC refuses a stage whose parameter is missing; 'split' has a default here and is not spelled out."""
    said = yaml.safe_load(dvc_yaml(Outline.of(plan, THREE)))["stages"]
    assert said["ingest"]["params"] == [{"spec.yaml": ["source"]}]


def test_a_contract_outside_the_workspace_is_no_dependency_and_an_own_suite_inside_is_one(plan):
    elsewhere = plan.spec.model_copy(update={"schema_file": "../visits.yaml", "expectations": "own.json"})
    moved = Plan(plan.path, elsewhere, plan.schema, plan.source, plan.workspace)
    assert Outline.of(moved, THREE).contract == ("own.json",)


def test_every_private_output_of_the_pipeline_goes_to_the_vault_and_a_source_is_no_dependency(plan):
    said = yaml.safe_load(dvc_yaml(Outline.of(plan, STAGES)))["stages"]
    assert list(said) == ["ingest", "partition", "train", "join", "audit", "release"]
    outs = {path: settings for stage in said.values() for out in stage["outs"] for path, settings in out.items()}
    assert [path for path, settings in outs.items() if settings != {"remote": "vault"}] == ["data/released"]
    assert not any("visits.csv" in str(stage["deps"]) for stage in said.values())
    deps = {dep for stage in said.values() for dep in stage["deps"]} - {"spec.yaml", "data/schemas/visits.yaml"}
    assert deps <= set(outs)
    assert [name for name, stage in said.items() if "spec.yaml" in stage["deps"]] == ["partition"]


# ---- setting up -----------------------------------------------------------------------------------------------------


def test_without_a_git_repository_there_is_no_history_and_a_reason(tmp_path):
    plan = written(tmp_path)
    for answer in (versions.prepare(plan, THREE), versions.open(tmp_path)):
        assert isinstance(answer, Unversioned)
        assert "is in no git repository" in answer.reason
    assert not (tmp_path / "dvc.yaml").exists()


def test_without_git_there_is_no_history_and_a_reason(plan, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = versions.open(plan.workspace.root)
    assert isinstance(answer, Unversioned)
    assert "git is not installed" in answer.reason
    assert versions.code_revision(PROJECT) == (None, False)


def test_a_workspace_that_git_ignores_has_no_history_and_a_reason(plan):
    (plan.workspace.root / ".gitignore").write_text("/inner/\n")
    inner = plan.workspace.root / "inner"
    inner.mkdir()
    answer = versions.prepare(written(inner), THREE)
    assert isinstance(answer, Unversioned)
    assert "git ignores" in answer.reason


def test_before_the_first_run_there_is_no_history_and_afterwards_there_is(plan):
    assert "no DVC repository yet" in versions.open(plan.workspace.root).reason
    prepared(plan)
    assert versions.open(plan.workspace.root) == Versions(plan.workspace.root)


def test_telemetry_and_update_checks_are_off_unless_the_owner_wants_them(plan):
    prepared(plan)
    config = plan.workspace.root / ".dvc" / "config"
    assert "analytics = False\n    check_update = False\n" in config.read_text()
    config.write_text("[core]\n    analytics = true\n")
    prepared(plan)
    assert "analytics = true\n    check_update = False\n" in config.read_text()


def test_the_vault_is_at_home_for_everybody_until_its_owner_moves_it(plan):
    prepared(plan)
    config = plan.workspace.root / ".dvc" / "config"
    assert "['remote \"vault\"']\n    url = ../data/vault\n" in config.read_text()
    config.write_text(config.read_text().replace("../data/vault", "s3://ours/vault"))
    prepared(plan)
    assert "url = s3://ours/vault\n" in config.read_text()


def test_raw_rows_never_show_up_in_git_even_before_dvc_knows_them(plan):
    root = plan.workspace.root
    (root / ".gitignore").write_text("*.log")
    prepared(plan)
    for room in ("raw", "interim", "released", "withheld", "lineage", "secret", "vault", "warehouse"):
        (root / "data" / room).mkdir()
        (root / "data" / room / "rows.csv").write_text(CANARY)
    (root / "data" / ".lock").write_text("")
    shown = git(root, "status", "--porcelain", "--untracked-files=all")
    assert "rows.csv" not in shown
    assert ".lock" not in shown
    assert (root / ".gitignore").read_text().startswith("*.log\n/data/raw/\n")


def test_preparing_twice_changes_nothing(plan):
    prepared(plan)
    before = state(plan.workspace.root)
    prepared(plan)
    assert state(plan.workspace.root) == before


def test_a_workspace_below_the_root_of_its_repository_works_as_well(plan):
    inner = plan.workspace.root / "studies" / "one"
    inner.mkdir(parents=True)
    below = written(inner)
    history = prepared(below)
    assert released(history, below, 1) == "visits@v1"
    assert git(inner, "show", "visits@v1:studies/one/dvc.lock") == (inner / "dvc.lock").read_text().strip()


# ---- recording ------------------------------------------------------------------------------------------------------


def test_recording_writes_the_lock_that_dvc_repro_writes_and_dvc_finds_nothing_to_do(plan):
    root = plan.workspace.root
    history = prepared(plan)
    (root / "flows").mkdir()
    (root / "flows" / "__init__.py").touch()
    (root / "flows" / "__main__.py").write_text(COMMAND)
    for stage in THREE:
        work(root, stage.name)
        history.record(stage)
    ours = (root / "dvc.lock").read_bytes()
    assert dvc(root, "status").split() == ["ingest:", "always", "changed"]
    (root / "dvc.lock").unlink()
    lose(root / ".dvc" / "cache")
    dvc(root, "repro")
    assert (root / "dvc.lock").read_bytes() == ours
    assert "?? data/raw" not in git(root, "status", "--porcelain", "--untracked-files=all")


def test_a_stage_is_recorded_once_its_result_is_in_the_lock(plan):
    history = prepared(plan)
    assert not history.recorded(INGEST)
    work(history.root, "ingest")
    history.record(INGEST)
    assert history.recorded(INGEST)
    assert not history.recorded(TRAIN)


@pytest.mark.parametrize("ordered", [False, True])
def test_dvc_sees_the_order_of_keys_where_a_stage_says_that_it_matters(plan, ordered):
    divide = Stage(
        "divide", ("partition",), lambda here: (here.train,), lambda here: (here.partition,), print, ordered=ordered
    )
    history = prepared(plan, (INGEST, divide))
    plan.path.write_text(SPEC.replace("{all: [age]}", "{all: [age], none: []}"))
    work(history.root, "ingest")
    plan.workspace.partition.mkdir(parents=True)
    for stage in (INGEST, divide):
        history.record(stage)
    plan.path.write_text(SPEC.replace("{all: [age]}", "{none: [], all: [age]}"))
    assert ("divide" in dvc(history.root, "status")) is ordered


def test_within_dvc_repro_dvc_records_and_nothing_is_tagged(plan, monkeypatch):
    history = prepared(plan)
    work(history.root, "ingest")
    text = (history.root / "dvc.yaml").read_text()
    (history.root / "dvc.yaml").write_text(text + "# held by DVC\n")
    monkeypatch.setenv("DVC_STAGE", "ingest")
    prepared(plan)
    history.record(INGEST)
    assert history.tag_release(plan, 1) is None
    assert (plan.workspace.raw / ".blind" / "secret").is_file()
    assert not (history.root / "dvc.lock").exists()
    assert (history.root / "dvc.yaml").read_text().endswith("# held by DVC\n")


def test_recording_says_nothing_and_leaves_the_index_alone(plan, capfd, caplog):
    history = prepared(plan)
    capfd.readouterr()
    caplog.set_level(logging.DEBUG)
    before = git(history.root, "ls-files", "--stage")
    for stage in THREE:
        work(history.root, stage.name)
        history.record(stage)
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.name.startswith("dvc")] == []
    assert git(history.root, "ls-files", "--stage") == before


def test_a_stage_that_left_nothing_behind_cannot_be_recorded_and_the_refusal_holds_no_content(plan):
    history = prepared(plan)
    work(history.root, "ingest")
    with pytest.raises(StateError, match=r"DVC refused \(\w+\)") as refused:
        history.record(TRAIN)
    assert CANARY not in str(refused.value)


def test_the_hash_of_a_private_folder_cannot_be_computed_from_its_rows(plan):
    """Two workspaces with the same rows have different hashes; the same workspace has the same one again."""
    history = prepared(plan)

    def recorded() -> list[str]:
        work(history.root, "ingest")
        history.record(INGEST)
        outs = yaml.safe_load((history.root / "dvc.lock").read_text())["stages"]["ingest"]["outs"]
        return [(out["md5"], out["size"]) for out in outs]

    first = recorded()
    shutil.rmtree(plan.workspace.raw)
    assert recorded() == first
    (plan.workspace.secret / "seed").unlink()
    assert recorded() != first


def test_only_private_folders_are_blinded(plan):
    history = prepared(plan)
    work(history.root, "release")
    (history.root / "data" / "interim").mkdir()
    single = history.root / "data" / "interim" / "single.json"
    single.write_text("{}")
    versions.blind([plan.workspace.released, single, plan.workspace.audit], plan.workspace)
    assert list(history.root.rglob(".blind")) == []


# ---- tags -----------------------------------------------------------------------------------------------------------


def test_a_release_is_tagged_beside_the_branch_and_nothing_moves(plan):
    root = plan.workspace.root
    history = prepared(plan)
    (root / "code.py").write_text("committed\n")
    git(root, "add", "code.py")
    git(root, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-m", "code")
    (root / "code.py").write_text("staged\n")
    git(root, "add", "code.py")
    (root / "code.py").write_text("being edited\n")
    for stage in THREE:
        work(root, stage.name)
        history.record(stage)
    before = state(root)
    assert history.tag_release(plan, 1) == "visits@v1"
    assert state(root) == before
    assert git(root, "show", "visits@v1:code.py") == "committed"
    assert git(root, "rev-parse", "visits@v1^{commit}^") == git(root, "rev-parse", "HEAD")
    for path in ("spec.yaml", "data/schemas/visits.yaml", "dvc.yaml", "dvc.lock", ".dvc/config", ".gitignore"):
        assert git(root, "show", f"visits@v1:{path}") == (root / path).read_text().strip()


def test_a_release_can_be_tagged_before_the_first_commit_and_without_an_identity(plan):
    history = prepared(plan)
    assert not history.tagged("visits", 1)
    assert released(history, plan, 1) == "visits@v1"
    assert history.tagged("visits", 1)
    assert git(history.root, "log", "-1", "--format=%an <%ae>", "visits@v1") == "Parquetry <parquetry@localhost>"
    assert git(history.root, "for-each-ref", "--format=%(refname) %(objecttype)") == "refs/tags/visits@v1 tag"


def test_who_works_here_is_named_where_git_knows(plan):
    history = prepared(plan)
    git(history.root, "config", "user.name", "Ada")
    git(history.root, "config", "user.email", "ada@example.org")
    released(history, plan, 1)
    assert git(history.root, "log", "-1", "--format=%an <%ae>", "visits@v1") == "Ada <ada@example.org>"


def test_tagging_the_same_again_is_nothing_and_tagging_another_is_refused(plan):
    history = prepared(plan)
    released(history, plan, 1)
    before = git(history.root, "rev-parse", "visits@v1")
    assert history.tag_release(plan, 1) == "visits@v1"
    assert git(history.root, "rev-parse", "visits@v1") == before
    work(history.root, "train", 2)
    history.record(TRAIN)
    with pytest.raises(StateError, match="visits@v1: is a tag of something else"):
        history.tag_release(plan, 1)


def test_nothing_is_tagged_before_the_stages_are_recorded(plan):
    with pytest.raises(StateError, match=r"dvc\.lock: no such file"):
        prepared(plan).tag_release(plan, 1)


def test_private_rows_that_somebody_committed_keep_a_release_from_being_tagged(plan):
    history = prepared(plan)
    root = history.root
    for stage in THREE:
        work(root, stage.name)
        history.record(stage)
    git(root, "add", "-f", "data/raw/train.parquet")
    git(root, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-m", "oops")
    told = r"data/raw/train\.parquet: is private and would reach the git repository"
    with pytest.raises(SpecError, match=told) as refused:
        history.tag_release(plan, 1)
    assert CANARY not in str(refused.value)
    assert git(root, "tag") == ""


def test_a_refusal_of_git_is_told(plan):
    history = prepared(plan)
    for stage in THREE:
        work(history.root, stage.name)
        history.record(stage)
    objects = history.root / ".git" / "refs" / "tags"
    objects.rmdir()
    objects.write_text("in the way")
    with pytest.raises(StateError, match="git tag refused: "):
        history.tag_release(plan, 1)


# ---- what may be public ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "spec.yaml",
        "dvc.yaml",
        "dvc.lock",
        ".gitignore",
        "flows/cli.py",
        "data/schemas/visits.yaml",
        "data/released/visits/v1/a.csv",
        "data/examples/nhanes.csv",
        "data/expectations/own.json",
        "data/README.md",
        "data/.gitignore",
        ".dvc/config",
        ".dvc/.gitignore",
    ],
)
def test_what_may_be_public(path):
    assert publishable(path)


@pytest.mark.parametrize(
    "path",
    [
        "data/raw/train.parquet",
        "data/raw",
        "data/interim/samplers/a/state.json",
        "data/secret/seed",
        "data/withheld/x/audit.json",
        "data/lineage/run.ndjson",
        "data/warehouse/w.duckdb",
        "data/vault/files/md5/00/1",
        "data/new-room/rows.csv",
        "data/rows.csv",
        "data",
        ".dvc/config.local",
        ".dvc/cache/files/md5/00/1",
        ".dvc/tmp/lock",
        "../elsewhere.csv",
        "data/released/../raw/train.parquet",
        "/etc/passwd",
        "",
    ],
)
def test_what_may_not_be_public(path):
    assert not publishable(path)


def test_every_private_path_is_named_in_the_refusal():
    refuse_public(["spec.yaml"], "anywhere")
    with pytest.raises(SpecError) as refused:
        refuse_public(["data/raw/b", "spec.yaml", "data/raw/a"], "the remote 'public'")
    assert [fault.where for fault in refused.value.faults] == ["data/raw/a", "data/raw/b"]


@pytest.fixture
def remotes(plan, tmp_path) -> dict[str, Path]:
    """A public remote, which is the default one, and a vault outside the workspace."""
    prepared(plan)
    places = {name: tmp_path / name for name in ("public", "vault")}
    for name, place in places.items():
        place.mkdir()
        with open(plan.workspace.root / ".dvc" / "config.local", "a") as config:
            config.write(f"['remote \"{name}\"']\n    url = {place}\n")
    with open(plan.workspace.root / ".dvc" / "config.local", "a") as config:
        config.write("[core]\n    remote = public\n")
    return places


def contents(place: Path) -> str:
    return "".join(path.read_text(errors="replace") for path in place.rglob("*") if path.is_file())


def test_pushing_to_a_public_remote_sends_the_release_and_nothing_else(plan, remotes):
    history = prepared(plan)
    released(history, plan, 1)
    assert history.push("public") == 2
    assert "public 1" in contents(remotes["public"])
    assert CANARY not in contents(remotes["public"])
    assert contents(remotes["vault"]) == ""
    assert history.push("public") == 0


def test_a_plain_dvc_push_sends_private_files_to_the_vault_only(plan, remotes):
    released(prepared(plan), plan, 1)
    dvc(plan.workspace.root, "push")
    dvc(plan.workspace.root, "push", "--remote", "public")
    assert CANARY not in contents(remotes["public"])
    assert CANARY in contents(remotes["vault"])


def test_pushing_to_the_vault_sends_the_private_files_and_not_the_release(plan, remotes):
    history = prepared(plan)
    released(history, plan, 1)
    assert history.push("vault") > 0
    assert CANARY in contents(remotes["vault"])
    assert "public 1" not in contents(remotes["vault"])


def test_an_output_that_lost_its_vault_is_not_pushed(plan, remotes):
    history = prepared(plan)
    released(history, plan, 1)
    path = history.root / "dvc.yaml"
    path.write_text(path.read_text().replace("data/raw:\n        remote: vault", "data/raw:\n        persist: true"))
    with pytest.raises(SpecError, match="data/raw: is private and would reach the remote 'public'"):
        history.push("public")
    assert contents(remotes["public"]) == ""


def test_a_vault_under_another_name_is_refused(plan, remotes):
    history = prepared(plan)
    released(history, plan, 1)
    dvc(history.root, "remote", "add", "other", str(remotes["vault"]))
    with pytest.raises(SpecError, match="other: is the same place as 'vault'"):
        history.push("other")


def test_a_remote_that_is_not_configured_is_refused_with_the_nearest_name(plan, remotes):
    with pytest.raises(SpecError, match=r"publik: no such DVC remote .*did you mean 'public'"):
        prepared(plan).push("publik")


def test_without_a_public_remote_the_way_to_add_one_is_told(plan):
    with pytest.raises(SpecError, match="'dvc remote add' adds one"):
        prepared(plan).push("public")


def test_private_files_stay_in_the_workspace_where_no_vault_is_configured(plan):
    history = prepared(plan)
    released(history, plan, 1)
    history.push("vault")
    assert CANARY in contents(history.root / "data" / "vault")
    assert "vault" not in git(history.root, "status", "--porcelain", "--untracked-files=all")


# ---- coming back ----------------------------------------------------------------------------------------------------


def twice(plan: Plan) -> Versions:
    """Two releases, the second from other rows and another spec."""
    history = prepared(plan)
    released(history, plan, 1)
    (history.root / "spec.yaml").write_text(SPEC + "rows: 50\n")
    later = load(history.root / "spec.yaml")
    prepared(later)
    released(history, later, 2)
    return history


@pytest.mark.slow
def test_a_fresh_clone_at_an_earlier_tag_gets_its_files_from_the_remotes(plan, remotes, tmp_path):
    history = twice(plan)
    history.push("public")
    history.push("vault")
    # An earlier release is still in the public remote: data/released accumulates. Its private files are not, so:
    dvc(history.root, "push", "--all-tags")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(history.root), str(clone))
    git(clone, "checkout", "-q", "visits@v1")
    shutil.copy(history.root / ".dvc" / "config.local", clone / ".dvc")
    dvc(clone, "pull")
    assert (clone / "data/raw/train.parquet").read_text() == f"{CANARY} ingest 1\n"
    assert [path.name for path in (clone / "data/released/visits").iterdir()] == ["v1"]
    assert "rows" not in (clone / "spec.yaml").read_text()
    git(clone, "checkout", "-q", "visits@v2")
    dvc(clone, "pull")
    assert (clone / "data/raw/train.parquet").read_text() == f"{CANARY} ingest 2\n"
    assert sorted(path.name for path in (clone / "data/released/visits").iterdir()) == ["v1", "v2"]


@pytest.mark.slow
def test_the_public_gets_the_release_without_a_vault(plan, tmp_path):
    history = prepared(plan)
    public = tmp_path / "public"
    public.mkdir()
    dvc(history.root, "remote", "add", "--default", "public", str(public))
    released(history, plan, 1)
    history.push("public")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(history.root), str(clone))
    git(clone, "checkout", "-q", "visits@v1")
    dvc(clone, "pull", "release")
    assert (clone / "data/released/visits/v1/synthetic.csv").read_text() == "public 1\n"
    assert not (clone / "data/raw").exists()


def test_an_earlier_release_is_checked_out_with_all_it_was_made_from_without_any_remote(plan, tmp_path):
    history = twice(plan)
    history.checkout("visits@v1", tmp_path / "earlier")
    earlier = Workspace(tmp_path / "earlier")
    assert earlier.train.read_text() == f"{CANARY} ingest 1\n"
    assert (earlier.sampler("all") / "state.json").read_text() == f"{CANARY} train 1\n"
    assert (earlier.root / "spec.yaml").read_text() == SPEC
    assert git(earlier.root, "status", "--porcelain") == ""
    assert plan.workspace.train.read_text() == f"{CANARY} ingest 2\n"


def test_what_is_no_longer_in_the_cache_is_fetched_from_the_remotes(plan, remotes, tmp_path):
    history = twice(plan)
    dvc(history.root, "push", "--all-tags")
    cache = history.root / ".dvc" / "cache"
    lose(cache)
    history.checkout("visits@v1", tmp_path / "earlier")
    assert Workspace(tmp_path / "earlier").train.read_text() == f"{CANARY} ingest 1\n"


def test_files_that_are_nowhere_are_told_without_their_hashes(plan, tmp_path):
    history = twice(plan)
    lose(history.root / ".dvc" / "cache")
    with pytest.raises(StateError, match="DVC refused") as refused:
        history.checkout("visits@v1", tmp_path / "earlier")
    assert hashlib.md5(f"{CANARY} ingest 1\n".encode()).hexdigest() not in str(refused.value)


def test_a_release_that_is_not_there_is_refused_with_the_nearest_name(plan, tmp_path):
    history = prepared(plan)
    with pytest.raises(StateError, match="nothing has been released here"):
        history.checkout("visits@v1", tmp_path / "earlier")
    released(history, plan, 1)
    with pytest.raises(StateError, match=r"visit@v1: no such release .*did you mean 'visits@v1'"):
        history.checkout("visit@v1", tmp_path / "earlier")


def test_a_checkout_never_replaces_a_folder(plan, tmp_path):
    history = prepared(plan)
    released(history, plan, 1)
    (tmp_path / "earlier").mkdir()
    with pytest.raises(StateError, match="exists already"):
        history.checkout("visits@v1", tmp_path / "earlier")


# ---- code -----------------------------------------------------------------------------------------------------------


def test_the_revision_of_the_code_and_whether_it_differs(tmp_path):
    assert versions.code_revision(tmp_path) == (None, False)
    git(tmp_path, "init", "-q")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "a.py").write_text("a = 1\n")
    git(tmp_path, "add", "models")
    git(tmp_path, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-m", "code")
    revision = git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "dvc.lock").write_text("of a run\n")
    assert versions.code_revision(tmp_path) == (revision, False)
    (tmp_path / "models" / "new.py").write_text("b = 1\n")
    assert versions.code_revision(tmp_path) == (revision, True)


def test_a_hooks_variables_do_not_lead_git_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_DIR", str(PROJECT / ".git"))
    assert versions.code_revision(tmp_path) == (None, False)


def test_what_git_would_take_along_is_told_apart(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    file, folder, pattern = tmp_path / "in" / "a[1].csv", tmp_path / "in", tmp_path / "in" / "*.csv"
    file.write_text("a\n")
    assert versions.exposed(file) is None
    git(tmp_path, "init", "-q")
    assert [versions.exposed(path) for path in (file, folder, pattern)] == ["untracked"] * 3
    assert versions.exposed(tmp_path / "in" / "none.csv") is None
    git(tmp_path, "add", "in")
    assert [versions.exposed(path) for path in (file, folder, pattern)] == ["tracked"] * 3
    git(tmp_path, "rm", "-rq", "--cached", "in")
    (tmp_path / ".gitignore").write_text("*.csv\n")
    assert [versions.exposed(path) for path in (file, folder, pattern)] == [None] * 3
    monkeypatch.setenv("PATH", str(tmp_path))
    assert versions.exposed(file) is None


def test_versions_of_packages():
    found = versions.package_versions(["pyyaml", "no-such-package-at-all"])
    assert found["pyyaml"][0].isdigit()
    assert found["no-such-package-at-all"] is None


def test_importing_the_module_does_not_import_dvc():
    code = "import sys, tasks.versions; assert 'dvc' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=True)
