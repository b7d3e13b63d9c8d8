"""In which order: flows call tasks, and nothing calls flows but people, schedules and events."""

import logging
import os

SETTINGS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DVC_NO_ANALYTICS": "1",
    "ITERATIVE_DO_NOT_TRACK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
    "PREFECT_RUNNER_POLL_FREQUENCY": "2",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "parquetry",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
}
"""Telemetry off in everything below; time for an embedded Prefect server to start on a busy machine; runs that are due
are picked up within 2 s; and what the pipeline logs is kept with its run. Prefect reads these when it is imported, so
they are set here, before anything can have imported it; who set them already is right."""

for _name, _value in SETTINGS.items():
    os.environ.setdefault(_name, _value)

logging.getLogger("parquetry").setLevel(logging.INFO)
