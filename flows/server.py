"""Which Prefect server a run talks to: the one that is configured, the one that runs here already, or an embedded one."""

from __future__ import annotations

import logging
import os
import urllib.error
import urllib.request

from models.errors import Fault, StateError

LOCAL = "http://127.0.0.1:4200/api"

log = logging.getLogger("parquetry")


def settle() -> str:
    """Point this process at a server before Prefect is imported, and say which. An embedded one starts with the first flow.

    Worker processes never import Prefect, so there is at most one embedded server per run.
    """
    configured = os.environ.get("PREFECT_API_URL")
    if configured:
        return f"Prefect server at {configured}"
    if answers(LOCAL):
        os.environ["PREFECT_API_URL"] = LOCAL
        return f"Prefect server at {LOCAL}"
    return "embedded Prefect server (starting it takes about 20 s; 'prefect server start' beside it saves them)"


def answers(url: str) -> bool:
    """Whether a Prefect server is healthy at ``url``."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def require() -> None:
    """A server that outlives this process, for schedules and triggers. Raises StateError where there is none."""
    settle()
    url = os.environ.get("PREFECT_API_URL")
    if url is None or not answers(url):
        raise StateError(Fault(url or LOCAL, "no Prefect server answers", "start one with 'prefect server start', or set PREFECT_API_URL"))
