"""Nothing leaves the machine: every name that is looked up and every connection that is made is watched."""

import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

import flows
from models.schema import Column, Kind, Schema
from tasks import versions
from tasks.expectations import validate
from tasks.step import Stage

PROJECT = Path(__file__).parents[1]
HERE = ("localhost", "127.", "::1")
ANY = ("None", "", "0.0.0.0", "::")

WATCH = """\
import os, sys

def watch(event, facts):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.connect", "socket.sendto"):
        place = facts[0] if event.startswith("socket.get") else facts[1]
        place = place[0] if isinstance(place, tuple) else place
        with open(os.environ["WATCHED"], "a") as log:
            log.write(f"{place}\\n")

sys.addaudithook(watch)
"""

PIPELINE = """\
import flows
import pyarrow as pa
from prefect import flow, task
from models.schema import Column, Schema
from tasks.expectations import validate

@task
def check():
    schema = Schema(columns=(Column(name="age", kind="integer", dtype="int64", bounds=(0, 99)),))
    return validate(pa.table({"age": [1, 2]}), schema).passed

@flow
def whole():
    assert check()

whole()
"""


def outside(places: list[str]) -> list[str]:
    """Those of ``places`` that are not on this machine. A path is a socket on it, and no name any address of it."""
    return sorted({place for place in places if not place.startswith((*HERE, "/")) and place not in ANY})


@pytest.fixture
def watched(tmp_path) -> tuple[dict[str, str], Path]:
    """An environment whose Python processes, children included, write down what they look up and connect to."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    kept = ("PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    log = tmp_path / "watched"
    log.touch()
    return {
        **environment,
        "HOME": str(tmp_path / "home"),
        "PREFECT_HOME": str(tmp_path / "home" / "prefect"),
        "TERM": "xterm",
        "PYTHONPATH": f"{tmp_path / 'watch'}:{PROJECT}",
        "WATCHED": str(log),
    }, log


def in_a_terminal(code: str, environment: dict[str, str], cwd: Path) -> str:
    """Run Python at a pseudo-terminal, where tools take a person to be present; what it showed."""
    leader, follower = pty.openpty()
    shown = bytearray()

    def drain() -> None:
        while True:
            try:
                piece = os.read(leader, 4096)
            except OSError:  # how Linux says that nobody has the other end any more
                return
            if not piece:
                return
            shown.extend(piece)

    reader = threading.Thread(target=drain)
    reader.start()
    ends = {"stdin": follower, "stdout": follower, "stderr": follower}
    child = subprocess.Popen([sys.executable, "-c", code], env=environment, cwd=cwd, **ends)
    os.close(follower)
    code_of = child.wait(timeout=400)
    reader.join(timeout=10)
    os.close(leader)
    assert code_of == 0, shown.decode(errors="replace")
    return shown.decode(errors="replace")


def test_the_watch_sees_a_name_that_is_looked_up_also_by_a_child(watched, tmp_path):
    environment, log = watched
    look = "import socket\ntry:\n    socket.getaddrinfo('telemetry.invalid', 80)\nexcept OSError:\n    pass\n"
    in_a_terminal(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {look!r}])", environment, tmp_path)
    assert outside(log.read_text().splitlines()) == ["telemetry.invalid"]


_seen: list[str] | None = None


def _hook(event: str, facts: tuple[object, ...]) -> None:
    if _seen is not None and event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.connect", "socket.sendto"):
        place = facts[0] if event.startswith("socket.get") else facts[1]
        _seen.append(str(place[0] if isinstance(place, tuple) else place))


sys.addaudithook(_hook)


@contextmanager
def watching() -> Iterator[list[str]]:
    global _seen
    _seen = []
    try:
        yield _seen
    finally:
        _seen = None


def test_validating_and_recording_a_version_looks_up_no_name(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith(("GIT_", "DVC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path / "home" / "dvc"))
    root = tmp_path / "workspace"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    schema = Schema(columns=(Column(name="age", kind=Kind.INTEGER, dtype="int64", bounds=(0, 99)),))
    stage = Stage("release", (), lambda here: (here.train,), lambda here: (here.released,), lambda job: None)
    outline = versions.Outline("spec.yaml", frozenset(), (), (stage,))
    with watching() as seen:
        assert validate(pa.table({"age": [1, 2]}), schema).passed
        versions._initialise(root)
        versions._settle(root)
        (root / "dvc.yaml").write_text(versions.dvc_yaml(outline))
        (root / "data" / "released").mkdir(parents=True)
        (root / "data" / "released" / "table.csv").write_text("age\n1\n")
        versions.Versions(root).record(stage)
    assert (root / "dvc.lock").is_file()
    assert seen == []


def said(code: str, environment: dict[str, str]) -> str:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_packages_that_phone_home_are_told_not_to_before_they_are_imported():
    code = (
        "import sys, flows, os\n"
        "assert not {'prefect', 'dvc', 'ray'} & set(sys.modules)\n"
        "names = ('DO_NOT_TRACK', 'PREFECT_SERVER_ANALYTICS_ENABLED', 'DVC_NO_ANALYTICS')\n"
        "print(*(os.environ[name] for name in names))"
    )
    assert said(code, {name: value for name, value in os.environ.items() if name not in flows.SETTINGS}) == "1 false 1"


def test_who_set_a_switch_already_keeps_it():
    code = "import flows, os; print(os.environ['PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS'])"
    assert said(code, {**os.environ, "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "33"}) == "33"


@pytest.mark.slow
def test_a_flow_on_an_embedded_server_at_a_terminal_looks_up_no_name_but_its_own(watched, tmp_path):
    environment, log = watched
    in_a_terminal(PIPELINE, environment, tmp_path)
    places = log.read_text().splitlines()
    assert any(place.startswith(HERE) for place in places)
    assert outside(places) == []
