"""Which Prefect server a run talks to: the one that is configured, the one that runs here already, or an embedded one."""

from __future__ import annotations

import atexit
import logging
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from models.errors import Fault, StateError

LOCAL = "http://127.0.0.1:4200/api"

log = logging.getLogger("parquetry")


@contextmanager
def connected() -> Iterator[None]:
    """Within it Prefect talks to a server that answers; where there is none, an embedded one is started.

    Worker processes never import Prefect, so there is at most one embedded server per run. Heartbeats are off: they
    serve runs that a runner watches over, and waiting for them costs a second for each flow.
    """
    from prefect.settings import PREFECT_API_URL, PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    url = found()
    with temporary_settings({PREFECT_API_URL: url, PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        if url:
            log.info("Prefect server at %s", url)
        else:
            _start_embedded()
        yield


@contextmanager
def standing() -> Iterator[None]:
    """Within it Prefect talks to a server that outlives this process. Raises StateError where there is none."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    url = found()
    if url is None:
        raise StateError(Fault(LOCAL, "no Prefect server answers", "start one with 'prefect server start', or set PREFECT_API_URL"))
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
        raise StateError(Fault(url, "the Prefect server of PREFECT_API_URL does not answer there",
                               "start it, correct the address (it ends in /api), or unset it for an embedded server"))
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


def _start_embedded() -> None:
    """Start Prefect's own server for this process. Raises StateError if it does not come up."""
    from prefect.server.api.server import SubprocessASGIServer

    log.info("Starting an embedded Prefect server, which takes about 20 s ('prefect server start' beside it saves them)")
    began = time.monotonic()
    server = SubprocessASGIServer()
    try:
        with Console(stderr=True, quiet=not any(handler.level <= logging.INFO for handler in log.handlers)).status("waiting for it"):
            server.start()
    except RuntimeError:
        raise StateError(Fault("embedded Prefect server", f"did not come up within {time.monotonic() - began:.0f} s",
                               "run 'prefect server start' beside it and see what it says")) from None
    if server.server_process is not None:
        _end_with_us(server.server_process.pid)
    log.info("It is up after %.0f s", time.monotonic() - began)


def _end_with_us(process: int) -> None:
    """See to it that ``process`` ends when this one does, though it be killed: a shell waits until its input closes."""
    guard = subprocess.Popen(
        ["/bin/sh", "-c", 'cat > /dev/null; kill "$0"', str(process)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )
    atexit.register(guard.kill)
