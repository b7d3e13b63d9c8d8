"""The whole way: ingest, synthesize, audit, release. What a run ended as is the name of its state."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from prefect import Flow, flow, get_run_logger
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed

from flows.audit import audit
from flows.ingest import ingest
from flows.release import release
from flows.synthesize import synthesize
from tasks.orchestration import ends, named, show_audit, show_release, show_training, take_over
from tasks.release import latest
from tasks.spec import load
from tasks.stages import STAGES
from tasks.versions import prepare


def _worked(room: Flow[[str, str], Any], spec: str, run: str) -> bool:
    """Whether a room had anything to do. The log of the whole run, which has none of its rooms' lines, says so, too."""
    worked = bool(room(spec, run))
    get_run_logger().info("%s: %s", room.name, "done" if worked else "nothing had changed")
    return worked


@flow(name="parquetry", flow_run_name=named, persist_result=False)
@ends
def pipeline(spec: str) -> State[Any]:
    """Run the spec at path ``spec``. Ends as ``Released``, ``Unchanged`` (nothing was to be done) or ``Withheld``.

    Every other end is ``Failed``, and the state's message names the faults.
    """
    plan = load(Path(spec))
    with plan.workspace.held():
        take_over(plan.workspace, UUID(flow_run.id))
        prepare(plan, STAGES)
        run = str(uuid4())
        worked = [_worked(room, spec, run) for room in (ingest, synthesize, audit)]
        show_training(plan)
        show_audit(plan)
        worked.append(_worked(release, spec, run))
        published = latest(plan.workspace, plan.spec.name)
    assert published is not None, "the release stage passed"
    show_release(published)
    told = f"{published.name}@v{published.version} in {published.folder}"
    return (
        Completed(name="Released", message=told)
        if any(worked)
        else Completed(name="Unchanged", message=f"still {told}")
    )
