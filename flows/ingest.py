"""From the source to frozen training and held-out rows that kept their contract."""

from __future__ import annotations

from prefect import flow

from tasks.orchestration import ends, job, named, stage
from tasks.stages import INGEST


@flow(name="ingest", flow_run_name=named, persist_result=False)
@ends
def ingest(spec: str, run: str) -> bool:
    """Whether anything had to be done."""
    with job(spec, run) as under_way:
        return not stage(INGEST, under_way).fresh
