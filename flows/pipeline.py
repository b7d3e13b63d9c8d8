"""The whole way: ingest, synthesize, audit, release. What a run ended as is the name of its state."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed

from flows.audit import audit
from flows.ingest import ingest
from flows.release import release
from flows.synthesize import synthesize
from models.errors import SpecError
from tasks.orchestration import ends, show_audit, show_release
from tasks.release import latest
from tasks.spec import load
from tasks.stages import STAGES
from tasks.versions import prepare


def named() -> str:
    """What the run that begins is called: its data set, or the path of a spec that cannot be followed."""
    path = str(flow_run.parameters["spec"])
    try:
        return load(Path(path)).spec.name
    except SpecError:
        return path


@flow(name="parquetry", flow_run_name=named, persist_result=False)
@ends
def pipeline(spec: str) -> State[Any]:
    """Run the spec at path ``spec``. Ends as ``Released``, ``Unchanged`` (nothing was to be done) or ``Withheld``.

    Every other end is ``Failed``, and the state's message names the faults.
    """
    plan = load(Path(spec))
    with plan.workspace.held():
        prepare(plan, STAGES)
        run = str(uuid4())
        worked = [room(spec, run) for room in (ingest, synthesize, audit)]
        show_audit(plan)
        worked.append(release(spec, run))
        published = latest(plan.workspace, plan.spec.name)
    assert published is not None, "the release stage passed"
    show_release(published)
    told = f"{published.name}@v{published.version} in {published.folder}"
    return (
        Completed(name="Released", message=told)
        if any(worked)
        else Completed(name="Unchanged", message=f"still {told}")
    )
