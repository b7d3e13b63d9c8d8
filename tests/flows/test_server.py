"""Which Prefect server a run talks to, and that one which does not answer is told before any work is done."""

import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import psutil
import pytest
from command_line import CommandLine, environment, free_port, prefect_server, until
from small_world import people, write_workspace

from flows import server
from models.errors import StateError

ANSWERS = {
    "/api/health": (200, b"true"),
    "/guarded/health": (401, b""),
    "/page/health": (200, b"<html>"),
    "/gone/health": (404, b""),
}


class Answering(BaseHTTPRequestHandler):
    def do_GET(self):
        code, body = ANSWERS.get(self.path, (401, b""))
        self.send_response(code)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def place():
    """A server on this machine that answers as ``ANSWERS`` says."""
    with HTTPServer(("127.0.0.1", 0), Answering) as answering:
        threading.Thread(target=answering.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{answering.server_port}"
        answering.shutdown()


@pytest.fixture
def configured(monkeypatch):
    """Prefect's settings with this address, and no server where one would run by itself."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    monkeypatch.setattr(server, "LOCAL", f"http://127.0.0.1:{free_port()}/api")
    return lambda url: temporary_settings({PREFECT_API_URL: url})


def test_a_prefect_api_answers_with_true_or_asks_who_is_there(place):
    assert server.answers(f"{place}/api")
    assert server.answers(f"{place}/guarded")
    assert not server.answers(f"{place}/page")
    assert not server.answers(f"{place}/gone")
    assert not server.answers(f"http://127.0.0.1:{free_port()}/api")
    assert not server.answers("no address")


def test_the_configured_server_is_taken_and_refused_if_it_does_not_answer(place, configured):
    with configured(f"{place}/api"):
        assert server.found() == f"{place}/api"
    with (
        configured(f"{place}/page"),
        pytest.raises(StateError, match=r"does not answer there .start it, correct the address"),
    ):
        server.found()


def test_without_one_a_server_that_runs_here_is_taken_and_else_none(place, configured, monkeypatch):
    with configured(None):
        assert server.found() is None
        monkeypatch.setattr(server, "LOCAL", f"{place}/api")
        assert server.found() == f"{place}/api"


def test_serving_needs_a_server_that_stands(configured):
    with configured(None), pytest.raises(StateError, match=r"no Prefect server answers .start one"), server.standing():
        pass


@pytest.mark.parametrize("how", ["killed", "at its end"])
def test_a_server_of_ours_lives_as_long_as_the_process_that_started_it(tmp_path, how):
    code = (
        "import sys\nfrom flows.server import _living_with_us\n"
        "print(_living_with_us(['sleep', '60']).pid, flush=True)\nsys.stdin.readline()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    guardian = subprocess.Popen([sys.executable, "-c", code], env=environment(tmp_path), text=True, **pipes)
    sleeper = psutil.Process(int(guardian.stdout.readline()))
    assert sleeper.is_running()
    assert os.getsid(sleeper.pid) != os.getsid(0)
    if how == "killed":
        guardian.kill()
    guardian.communicate("\n" if how == "at its end" else None)
    until(lambda: not sleeper.is_running() or sleeper.status() == psutil.STATUS_ZOMBIE, 10)


def test_an_embedded_server_that_does_not_come_up_is_told_with_a_remedy(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(
        StateError, match=r"embedded Prefect server: did not come up within 0 s .run 'prefect server start'"
    ):
        server._start_embedded()


def test_a_run_is_refused_at_once_if_the_configured_server_does_not_answer(tmp_path):
    dead = f"http://127.0.0.1:{free_port()}/api"
    command = CommandLine(tmp_path, environment(tmp_path, PREFECT_API_URL=dead))
    spec = write_workspace(tmp_path / "workspace")
    done = command("run", spec)
    assert (done.returncode, done.stdout) == (11, "")
    assert f"{dead}: the Prefect server of PREFECT_API_URL does not answer there" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (spec.parent / "data").exists()


@pytest.mark.slow
def test_a_server_that_refuses_ends_the_run_without_a_traceback(place, tmp_path):
    command = CommandLine(tmp_path, environment(tmp_path, PREFECT_API_URL=f"{place}/guarded"))
    done = command("run", write_workspace(tmp_path / "workspace"))
    assert (done.returncode, done.stdout) == (11, "")
    assert f"{place}/guarded: the Prefect server refused (HTTP 401)" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_server_that_vanishes_ends_the_run_within_a_minute_and_the_next_run_goes_on_from_there(tmp_path):
    """The part that is being trained is finished and kept; the server, back again, is told what became of that run."""
    home, port = tmp_path / "server", free_port()
    home.mkdir()
    command = CommandLine(tmp_path, environment(tmp_path, PREFECT_API_URL=f"http://127.0.0.1:{port}/api"))
    slow = {"habits": {"kind": "slow", "seconds": 4}}
    spec = write_workspace(tmp_path / "workspace", name="forsaken", generators=slow)
    records = spec.parent / "data" / "interim" / "records"
    with prefect_server(home, port) as running:
        process = command.with_kinds_for_tests().start("run", spec)
        until((records / "parts" / "money.json").exists, 200)
        running.kill()
    began, workers = time.monotonic(), psutil.Process(process.pid).children(recursive=True)
    _, err = process.communicate(timeout=120)
    assert time.monotonic() - began < 60
    assert process.returncode == 11
    assert f"127.0.0.1:{port}/api: the Prefect server went away while the run was under way (ConnectError)" in err
    assert "start it, and run again; finished stages and parts are kept" in err
    assert not {"Traceback", "Error"} & set(err.split())
    assert not psutil.wait_procs(workers, timeout=5)[1]
    assert (records / "train.json").exists()
    with prefect_server(home, port) as running:
        done = command.with_kinds_for_tests()("run", spec)
        assert done.returncode == 0, done.stderr
        assert "train: nothing has changed" in done.stderr
        assert [run["state_name"] for run in running.pipelines("forsaken")] == ["Released", "Crashed"]


@pytest.fixture
def embedded(tmp_path):
    """The command line in a foreign folder, with no server configured; none runs at the usual place either."""
    if server.answers(server.LOCAL):
        pytest.skip(f"a Prefect server runs at {server.LOCAL}: a run would take it instead of an embedded one")
    home = tmp_path / "somewhere else"
    home.mkdir()
    return CommandLine(home, environment(home))


@pytest.mark.slow
def test_a_run_without_a_server_starts_its_own_shows_that_and_ends_it(embedded, tmp_path):
    spec = write_workspace(tmp_path / "workspace")
    done = embedded("run", Path(os.path.relpath(spec, embedded.home)), "--json")
    assert done.returncode == 0, done.stderr
    assert "Starting an embedded Prefect server" in done.stderr
    assert "It is up after" in done.stderr
    assert "Traceback" not in done.stderr
    assert (spec.parent / "data" / "released" / "people" / "v1").is_dir()
    assert not (embedded.home / "prefect" / "storage").exists()
    assert not _servers_of(embedded)


@pytest.mark.slow
def test_a_run_that_is_interrupted_at_the_keyboard_takes_its_server_and_workers_with_it(embedded, tmp_path):
    """Ctrl-C reaches all processes of the terminal's session; the server is in another, and hears how the run ended."""
    spec = write_workspace(tmp_path / "workspace", table=people(10_000), generators={"habits": "cart"})
    process = embedded.start("run", spec, start_new_session=True)
    until((spec.parent / "data" / "interim" / "records" / "parts" / "money.json").exists, 200)
    family = psutil.Process(process.pid).children(recursive=True)
    assert _servers_of(embedded)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    _, alive = psutil.wait_procs(family, timeout=15)
    assert not alive
    assert (out, process.returncode, "Traceback" in err) == ("", 130, False)


def _servers_of(command: CommandLine) -> list[psutil.Process]:
    """Prefect servers that keep their things where this command line does."""
    home = command.variables["PREFECT_HOME"]
    servers = [
        found
        for found in psutil.process_iter(["cmdline"])
        if "prefect.server.api.server:create_app" in (found.info["cmdline"] or [])
    ]
    return [found for found in servers if found.environ().get("PREFECT_HOME") == home]
