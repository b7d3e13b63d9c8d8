"""A real PostgreSQL server for the tests of its source, on a port of its own and gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Server:
    """``uri`` connects as the owner; ``stop`` kills the server as a crash would."""

    binaries: Path
    folder: Path
    port: int

    @property
    def uri(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        self._run("pg_ctl", "-w", "-D", self.folder / "data", "-l", self.folder / "log", "-o", options, "start")

    def stop(self) -> None:
        if (self.folder / "data" / "postmaster.pid").exists():
            self._run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")

    def initialise(self) -> None:
        self._run("initdb", "-D", self.folder / "data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")

    def execute(self, *statements: str) -> None:
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.uri) as connection:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
            connection.commit()

    def _run(self, program: str, *arguments: str | Path) -> None:
        """The server refuses to run as root, so root runs it as the user postgres."""
        who = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        subprocess.run(
            [self.binaries / program, *arguments],
            check=True,
            cwd=self.folder,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **who,
        )


def _binaries() -> Path | None:
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").is_file() and (place / "pg_ctl").is_file()), None)


def _new_server() -> Server:
    binaries = _binaries()
    if binaries is None:
        reason = (
            "PostgreSQL IS NOT TESTED: no initdb and pg_ctl on PATH or below /usr/lib/postgresql (install postgresql)"
        )
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(binaries, folder, port)
    server.initialise()
    server.start()
    return server


def _served() -> Iterator[Server]:
    """A running server, gone afterwards."""
    server = _new_server()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(server.folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A running server that no test may stop."""
    yield from _served()


@pytest.fixture
def mortal_postgres() -> Iterator[Server]:
    """A running server that the test stops itself."""
    yield from _served()
