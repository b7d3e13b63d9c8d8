"""The whole way: ingest, synthesize, audit, release. What a run ended as is the name of its state."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from flows.audit import audit
from flows.ingest import ingest
from flows.release import release
from flows.synthesize import synthesize
from models.errors import WithheldError
from tasks.spec import load
from tasks.stages import STAGES
from tasks.versions import prepare


@flow(name="parquetry", persist_result=False)
def pipeline(spec: str) -> State[Any]:
    """Run the spec at path ``spec``. Ends as ``Released``, ``Unchanged`` (nothing was to be done) or ``Withheld``.

    Every other end is an error, and the state's message names its faults.
    """
    plan = load(Path(spec))
    with plan.workspace.held():
        prepare(plan, STAGES)
        try:
            run = str(uuid4())
            worked = [room(spec, run) for room in (ingest, synthesize, audit, release)]
        except WithheldError as error:
            return Failed(name="Withheld", message=str(error))
    if not any(worked):
        return Completed(name="Unchanged", message="source, spec, code and artifacts are as they were")
    return Completed(name="Released", message=f"{plan.spec.name} published")
