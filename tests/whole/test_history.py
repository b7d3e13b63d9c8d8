"""The flow and ``dvc repro`` make the same artifacts and the same lock, and any release can be had again whole."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from small_world import people, run_stages, write_workspace

from tasks.spec import load
from tasks.stages import STAGES
from tasks.store import sha256_of
from tasks.versions import Unversioned, prepare

pytestmark = pytest.mark.slow


def git(folder, *words):
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def repro(folder):
    """``dvc repro`` with the Python that runs the tests."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    dvc = [sys.executable, "-m", "dvc", "repro", "--force"]
    done = subprocess.run(
        dvc, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def workspace(tmp_path, crew):
    """A workspace in a git repository after a run."""
    spec = write_workspace(tmp_path / "workspace")
    git(spec.parent, "init", "-q")
    git(spec.parent, "add", "spec.yaml", "schema.yaml")
    git(spec.parent, "-c", "user.name=owner", "-c", "user.email=owner@localhost", "commit", "-qm", "the spec")
    run_stages(spec, crew)
    return load(spec)


def artifacts(plan):
    made = [path for stage in STAGES for path in stage.writes(plan.workspace)]
    return {path.relative_to(plan.workspace.root).as_posix(): sha256_of(path) for path in made}


def test_dvc_repro_makes_the_same_artifacts_and_the_same_lock(workspace):
    root = workspace.workspace.root
    lock, made = (root / "dvc.lock").read_bytes(), artifacts(workspace)
    shutil.rmtree(workspace.workspace.records)
    repro(root)
    assert artifacts(workspace) == made
    assert (root / "dvc.lock").read_bytes() == lock
    status = subprocess.run(
        [sys.executable, "-m", "dvc", "status", "partition", "train", "join", "audit", "release"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "up to date" in status.stdout


def test_a_release_is_a_tag_beside_the_branch_and_can_be_had_again_whole(workspace, crew, tmp_path):
    root = workspace.workspace.root
    head, first = git(root, "rev-parse", "HEAD"), artifacts(workspace)
    pq.write_table(people(seed=7), root / "people.parquet")
    run_stages(workspace.path, crew)
    assert git(root, "tag").split() == ["people@v1", "people@v2"]
    assert git(root, "rev-parse", "HEAD") == head
    history = prepare(workspace, STAGES)
    assert not isinstance(history, Unversioned)
    history.checkout("people@v1", tmp_path / "again")
    again = load(tmp_path / "again" / "spec.yaml")
    assert artifacts(again) == first


def test_nothing_private_is_tracked_by_git_or_named_by_its_hash(workspace):
    root = workspace.workspace.root
    tracked = git(root, "ls-tree", "-r", "--name-only", "people@v1").split("\n")
    assert {"spec.yaml", "schema.yaml", "dvc.yaml", "dvc.lock"} <= set(tracked)
    assert not [path for path in tracked if path.startswith("data/") or path.endswith(".parquet")]
    lock = (root / "dvc.lock").read_text()
    for private in (workspace.workspace.train, workspace.workspace.holdout, root / "people.parquet"):
        import hashlib

        assert hashlib.md5(private.read_bytes()).hexdigest() not in lock
