"""A workspace keeps its secret, and one run at a time works in it."""

import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from models.errors import BusyError, StateError
from tasks.workspace import Workspace


def test_the_seed_is_drawn_once_and_only_its_owner_can_read_it(tmp_path):
    workspace = Workspace(tmp_path)
    assert workspace.seed() == workspace.seed() != Workspace(tmp_path / "other").seed()
    assert stat.S_IMODE((workspace.secret / "seed").stat().st_mode) == 0o600
    assert stat.S_IMODE(workspace.secret.stat().st_mode) == 0o700


def test_a_spoilt_seed_is_refused_without_showing_it(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.secret.mkdir(parents=True)
    (workspace.secret / "seed").write_text("not hexadecimal")
    with pytest.raises(StateError, match="64 hexadecimal digits") as refusal:
        workspace.seed()
    assert "not hexadecimal" not in str(refusal.value)


def test_a_second_run_is_refused_and_told_who_holds_the_workspace(tmp_path):
    workspace = Workspace(tmp_path)
    with workspace.held(), pytest.raises(BusyError, match=f"process {os.getpid()}"), workspace.held():
        pass
    with workspace.held():
        pass


def test_a_killed_run_leaves_no_lock_and_no_leftovers(tmp_path):
    script = (
        "import sys, time; from pathlib import Path; from tasks.workspace import Workspace\n"
        "w = Workspace(Path(sys.argv[1]))\n"
        "with w.held():\n"
        "    (w.data / '.half.12345678.part').write_text('half'); print('holding', flush=True); time.sleep(60)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "holding\n"
    with pytest.raises(BusyError), Workspace(tmp_path).held():
        pass
    child.send_signal(signal.SIGKILL)
    child.wait()
    time.sleep(0.05)
    with Workspace(tmp_path).held():
        assert not list(tmp_path.rglob("*.part"))


def test_folders_that_hold_rows_or_models_are_closed_to_others(tmp_path):
    workspace = Workspace(tmp_path)
    with workspace.held():
        (workspace.data / "vault").mkdir()
        workspace.released.mkdir()
    for folder in (workspace.raw, workspace.data / "interim", workspace.data / "vault"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(workspace.released.stat().st_mode) & 0o055
