"""The command line as a process, and one real Prefect server for all tests that need one."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import CommandLine, environment, free_port, prefect_server
from small_world import write_workspace


@pytest.fixture
def command(tmp_path):
    """The command line where no Prefect server is configured."""
    home = tmp_path / "home"
    home.mkdir()
    return CommandLine(home, environment(home))


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A real Prefect server with a database of its own; gone at the end."""
    with prefect_server(tmp_path_factory.mktemp("server"), free_port()) as started:
        yield started


@pytest.fixture(scope="session")
def served(server, tmp_path_factory):
    """The command line with that server configured."""
    home = tmp_path_factory.mktemp("client")
    return CommandLine(home, environment(home, PREFECT_API_URL=server.url))


@dataclass(frozen=True)
class Runs:
    """A workspace in a git repository that was run twice, and what the command line said both times."""

    spec: Path
    first: subprocess.CompletedProcess[str]
    second: subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def runs(served, tmp_path_factory):
    """The whole pipeline on the small world, twice, against the real server."""
    root = tmp_path_factory.mktemp("run") / "workspace"
    spec = write_workspace(root)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return Runs(spec, served("run", spec), served("run", spec, "--json"))
