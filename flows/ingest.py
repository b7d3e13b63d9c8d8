"""From the source to frozen training and held-out rows that kept their contract."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

from prefect import flow

from tasks.orchestration import stage
from tasks.parallel import Crew
from tasks.stages import INGEST
from tasks.step import job_for


@flow(name="ingest", flow_run_name="ingest", persist_result=False)
def ingest(spec: str, run: str) -> bool:
    """Whether anything had to be done."""
    return not stage(INGEST, job_for(Path(spec), Crew(), UUID(run))).fresh
