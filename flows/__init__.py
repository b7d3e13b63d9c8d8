"""In which order: flows call tasks, and nothing calls flows but people, schedules and events."""

import os

QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DVC_NO_ANALYTICS": "1",
    "ITERATIVE_DO_NOT_TRACK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
}
"""Telemetry off in everything below, and time for an embedded Prefect server to start on a busy machine. Prefect reads
these when it is imported, so they are set here, before anything can have imported it; who set them already is right."""

for _name, _value in QUIET.items():
    os.environ.setdefault(_name, _value)
