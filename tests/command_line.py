"""The command line as a process, and what one may ask a Prefect server."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[1]


def environment(home: Path, **more: str) -> dict[str, str]:
    """Variables for a process that shares nothing with the person who runs the tests but PATH and the like."""
    kept = ("PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR")
    found = {name: os.environ[name] for name in kept if name in os.environ}
    return {
        **found,
        "HOME": str(home),
        "PREFECT_HOME": str(home / "prefect"),
        "PYTHONPATH": str(PROJECT),
        "COLUMNS": "200",
        **more,
    }


@dataclass(frozen=True)
class CommandLine:
    """``parquetry`` as its own process, in a folder of its own."""

    home: Path
    variables: dict[str, str]

    def with_kinds_for_tests(self) -> "CommandLine":
        """The same, and specs may name the generator kinds below tests/only_here, too."""
        return CommandLine(self.home, {**self.variables, "PYTHONPATH": f"{PROJECT / 'tests' / 'only_here'}:{PROJECT}"})

    def start(self, *words: object, **more) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "flows", *map(str, words)]
        said = {
            "cwd": self.home,
            "env": self.variables,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
            **more,
        }
        return subprocess.Popen(command, **said)

    def __call__(self, *words: object, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        process = self.start(*words)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return subprocess.CompletedProcess(words, process.returncode, out, err)


@dataclass(frozen=True)
class Server:
    """A Prefect server, the folder that it keeps its things in, and its process."""

    url: str
    home: Path
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def ask(self, path: str, said: object = None) -> object:
        body = None if said is None else json.dumps(said).encode()
        request = urllib.request.Request(self.url + path, body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def flow_runs(self, *tags: str) -> list[dict]:
        """The runs that bear ``tags``, newest first, rooms of a pipeline included."""
        return self.ask("/flow_runs/filter", {"flow_runs": {"tags": {"all_": list(tags)}}, "sort": "START_TIME_DESC"})

    def pipelines(self, *tags: str) -> list[dict]:
        """The runs of whole pipelines that bear ``tags``, newest first."""
        return [run for run in self.flow_runs(*tags) if run["parent_task_run_id"] is None]

    def rooms(self, *tags: str) -> list[dict]:
        """The other runs that bear ``tags``, newest first."""
        return [run for run in self.flow_runs(*tags) if run["parent_task_run_id"] is not None]

    def flows(self, *runs: dict) -> set[str]:
        """The names of the flows that these are runs of."""
        ids = [run["flow_id"] for run in runs]
        return {flow["name"] for flow in self.ask("/flows/filter", {"flows": {"id": {"any_": ids}}})}

    def task_runs(self, *runs: dict) -> list[dict]:
        return self.ask("/task_runs/filter", {"flow_runs": {"id": {"any_": [run["id"] for run in runs]}}})

    def logs(self, *runs: dict) -> list[dict]:
        return self.ask(
            "/logs/filter", {"logs": {"flow_run_id": {"any_": [run["id"] for run in runs]}}, "sort": "TIMESTAMP_ASC"}
        )

    def stored(self) -> bytes:
        """All that the server has written: its database, and whatever else lies in its folder."""
        return b"".join(path.read_bytes() for path in self.home.rglob("*") if path.is_file())


@contextmanager
def prefect_server(home: Path, port: int) -> Iterator[Server]:
    """A real Prefect server that keeps its database in ``home``; gone at the end."""
    url = f"http://127.0.0.1:{port}/api"
    command = [sys.executable, "-m", "prefect", "server", "start", "--port", str(port), "--analytics-off"]
    variables = environment(home, DO_NOT_TRACK="1", PREFECT_SERVER_ANALYTICS_ENABLED="false")
    with open(home / "server.log", "a") as log:
        process = subprocess.Popen(command, env=variables, cwd=home, stdout=log, stderr=log, start_new_session=True)
    try:
        until(lambda: healthy(url) or process.poll() is not None, 300)
        assert process.poll() is None, (home / "server.log").read_text()
        yield Server(url, home, process)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
            return answer.read() == b"true"
    except (urllib.error.URLError, OSError):
        return False


def until(reached, seconds: float) -> None:
    """Wait until ``reached()``; an error after ``seconds``."""
    end = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > end:
            raise TimeoutError(f"not reached within {seconds} s")
        time.sleep(0.1)
