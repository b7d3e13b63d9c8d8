"""Which Prefect server a run talks to: one that is configured, one that runs here already, or an embedded one."""

from __future__ import annotations

import atexit
import logging
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console

from models.errors import Fault, StateError

LOCAL = "http://127.0.0.1:4200/api"
RESUME = "and run again; finished stages and parts are kept"

log = logging.getLogger("parquetry")


@contextmanager
def connected() -> Iterator[None]:
    """Within it Prefect talks to a server that answers; where there is none, an embedded one is started.

    Worker processes never import Prefect, so there is at most one embedded server per run. Heartbeats are off: they
    serve runs that a runner watches over, and waiting for them costs a second for each flow. Raises StateError if the
    server refuses, or goes away meanwhile.
    """
    from httpx import HTTPError, HTTPStatusError
    from prefect.settings import PREFECT_API_URL, PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    url = found()
    if url:
        log.info("Prefect server at %s", url)
    else:
        url = _start_embedded()
    with temporary_settings({PREFECT_API_URL: url, PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        try:
            yield
        except HTTPStatusError as refusal:
            told = f"the Prefect server refused (HTTP {refusal.response.status_code})"
            raise StateError(Fault(url, told, f"see what it says, {RESUME}")) from None
        except HTTPError as error:
            told = f"the Prefect server went away while the run was under way ({type(error).__name__})"
            raise StateError(Fault(url, told, f"start it, {RESUME}")) from None


@contextmanager
def standing() -> Iterator[None]:
    """Within it Prefect talks to a server that outlives this process. Raises StateError where there is none."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    url = found()
    if url is None:
        raise StateError(
            Fault(LOCAL, "no Prefect server answers", "start one with 'prefect server start', or set PREFECT_API_URL")
        )
    with temporary_settings({PREFECT_API_URL: url}):
        yield


def found() -> str | None:
    """The server that Prefect's settings name (environment or profile), else one that runs here, else None.

    Raises StateError if the named one does not answer: work of hours is not begun on a hope.
    """
    from prefect.settings import PREFECT_API_URL

    url: str | None = PREFECT_API_URL.value()
    if url is None:
        return LOCAL if answers(LOCAL) else None
    if not answers(url):
        raise StateError(
            Fault(
                url,
                "the Prefect server of PREFECT_API_URL does not answer there",
                "start it, correct the address (it ends in /api), or unset it for an embedded server",
            )
        )
    return url


def answers(url: str) -> bool:
    """Whether a Prefect API is at ``url``, be it one that wants to know who asks."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
            return bool(answer.read(16).strip() == b"true")
    except urllib.error.HTTPError as refusal:
        return refusal.code in (401, 403)
    except (OSError, ValueError):
        return False


def _start_embedded() -> str:
    """Start a server that lives as long as this process; its address. Raises StateError if it does not come up.

    Prefect would start one by itself, in this terminal's session: Ctrl-C would then end it before the run could say
    that it was interrupted, and it would outlive a run that is killed.
    """
    log.info(
        "Starting an embedded Prefect server, which takes about 20 s ('prefect server start' beside it saves them)"
    )
    began, limit = time.monotonic(), float(os.environ["PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"])
    port = _free_port()
    url = f"http://127.0.0.1:{port}/api"
    server = _living_with_us(
        [
            sys.executable,
            "-m",
            "uvicorn",
            "--factory",
            "prefect.server.api.server:create_app",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--log-level",
            "critical",
            "--lifespan",
            "on",
        ]
    )
    shown = any(handler.level <= logging.INFO for handler in log.handlers)
    with Console(stderr=True, quiet=not shown).status("waiting for it"):
        while not answers(url):
            if server.poll() is not None or time.monotonic() - began > limit:
                raise StateError(
                    Fault(
                        "embedded Prefect server",
                        f"did not come up within {time.monotonic() - began:.0f} s",
                        "run 'prefect server start' beside it and see what it says",
                    )
                )
            time.sleep(0.1)
    log.info("It is up after %.0f s", time.monotonic() - began)
    return url


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _living_with_us(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """``command`` in a session of its own, ended when this process ends, though it be killed.

    A shell waits until its input closes, which nobody else holds open, and then ends what took its place.
    """
    variables = {
        **os.environ,
        "PREFECT_UI_ENABLED": "0",
        "PREFECT__SERVER_EPHEMERAL": "1",
        "PREFECT__SERVER_FINAL": "1",
    }
    script = 'exec 3<&0; (cat <&3 > /dev/null; kill $$) & exec "$@" < /dev/null 3<&-'
    process = subprocess.Popen(
        ["/bin/sh", "-c", script, "sh", *command],
        env=variables,
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
