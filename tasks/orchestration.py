"""Stages and pieces of work as Prefect task runs (importing this imports Prefect: 2 s).

No rows travel through Prefect and no result is stored: task runs know names and paths. Whether a stage must be carried
out is decided by the hashes of its artifacts, and a task run whose stage was fresh ends in the state ``Cached``.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect import get_client, get_run_logger, task
from prefect.artifacts import create_image_artifact, create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId, FlowRunFilterParentFlowRunId
from prefect.client.schemas.objects import FlowRun, State, TaskRun
from prefect.exceptions import ObjectNotFound
from prefect.futures import wait
from prefect.runtime import flow_run
from prefect.settings import PREFECT_CLIENT_MAX_RETRIES, get_current_settings, temporary_settings
from prefect.states import Completed, Crashed, Failed
from prefect.tasks import Task
from prefect.transactions import CommitMode, transaction
from prefect.utilities.annotations import quote

from models.errors import InternalError, ParquetryError, SourceError, SpecError, WithheldError
from tasks.audit import published_rows
from tasks.curves import as_address, picture
from tasks.parallel import Crew, results, tell
from tasks.release import Release
from tasks.spec import Plan, load
from tasks.step import Job, Outcome, Sealed, Stage, carry_out, job_for
from tasks.store import read_json
from tasks.synthesis import courses
from tasks.workspace import Workspace

RETRY_DELAYS = [5, 30]
"""Seconds before a warehouse that did not answer is asked again."""

log = logging.getLogger("parquetry")


def ends(work: Callable[..., Any]) -> Callable[..., Any]:
    """The body of a flow over a spec, whose refusals are Failed states with the faults for a message.

    An exception that left the flow would be pickled into Prefect's storage and logged with its traceback. Of an error
    that is not ours only type and place are told.
    """

    @wraps(work)
    def told(spec: str, *more: Any) -> Any:
        try:
            with Sealed(work.__name__, Workspace(Path(spec).parent.resolve()).secret):
                return work(spec, *more)
        except WithheldError as error:
            return Failed(name="Withheld", message=str(error), data=error)
        except ParquetryError as error:
            if isinstance(error, InternalError):
                _ask_once_if_gone()
            return Failed(message=f"{error.title}: {error}", data=error)

    return told


def _ask_once_if_gone() -> None:
    """From now on ask a server that does not answer once only.

    Else Prefect would wait for it as long again to tell the end of every flow that the error passes through.
    """
    with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 0}), get_client(sync_client=True) as client:
        gone = client.api_healthcheck() is not None
    if gone:
        get_current_settings().client.max_retries = 0


def take_over(workspace: Workspace, run: UUID) -> None:
    """Note that ``run`` works here, and end runs before it that could not tell the server their end: they are Crashed.

    They were killed, or the server was away. Whoever holds the workspace knows that no other process works in it. The
    notes of runs that this server does not know are kept for the one that does.
    """
    notes = workspace.records / "flow-runs"
    notes.mkdir(parents=True, exist_ok=True)
    with get_client(sync_client=True) as client:
        for note in sorted(notes.iterdir()):
            try:
                before = client.read_flow_run(UUID(note.name))
            except ObjectNotFound:
                continue
            if before.id != run and not _ended(before):
                _end_as_crashed(before, client)
            note.unlink()
    (notes / str(run)).touch()


def _end_as_crashed(run: FlowRun, client: SyncPrefectClient) -> None:
    """End a pipeline's run, those of its rooms and all their task runs, as far as they have not ended."""
    crashed = Crashed(message="its process was gone when the next run of this workspace began")
    of_it = FlowRunFilter(parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=[run.id]))
    runs = [*client.read_flow_runs(flow_run_filter=of_it), run]
    of_these = FlowRunFilter(id=FlowRunFilterId(any_=[one.id for one in runs]))
    for piece in client.read_task_runs(flow_run_filter=of_these):
        if not _ended(piece):
            client.set_task_run_state(piece.id, crashed, force=True)
    for one in runs:
        if not _ended(one):
            client.set_flow_run_state(one.id, crashed, force=True)
    log.warning("An earlier run (%s) ended without telling the server: it is marked as Crashed", run.id)


def _ended(run: FlowRun | TaskRun) -> bool:
    return run.state is not None and run.state.is_final()


def named() -> str:
    """What the flow run that begins is called: its data set, or the path of a spec that cannot be followed."""
    path = str(flow_run.parameters["spec"])
    try:
        return load(Path(path)).spec.name
    except SpecError:
        return path


@contextmanager
def job(spec: str, run: str) -> Iterator[Job]:
    """The job that the spec at path ``spec`` states, with worker processes until the end of the block."""
    with Crew() as crew:
        yield job_for(Path(spec), PrefectEach(crew), UUID(run))


def stage(what: Stage, job: Job) -> Outcome:
    """Carry out a stage as a task run. Only a source that may come back is asked again."""
    outcomes: list[Outcome] = []

    def body(stage: str) -> State[Any]:
        outcome = carry_out(what, job)
        outcomes.append(outcome)
        return Completed(name="Cached", message="nothing had changed") if outcome.fresh else Completed(message="done")

    _with_our_defaults(body, what.name)(what.name)
    return outcomes[-1]


def _with_our_defaults(body: Any, name: str) -> Task[Any, Any]:
    return task(
        name=name,
        task_run_name=name,
        cache_policy=NO_CACHE,
        persist_result=False,
        retries=len(RETRY_DELAYS),
        retry_delay_seconds=RETRY_DELAYS,
        retry_condition_fn=_may_come_back,
    )(body)


def _may_come_back(task: Task[Any, Any], run: TaskRun, state: State[Any]) -> bool:
    """Whether trying again can help: a warehouse may come back, a spec or a contract will not mend itself."""
    error = state.result(raise_on_failure=False)
    passing = isinstance(error, SourceError) and error.transient
    if passing:
        log.warning("%s; it is asked again after %s s", error, " and ".join(map(str, RETRY_DELAYS)))
    return passing


class PrefectEach:
    """An ``Each`` whose pieces are task runs; the work itself is done by the processes of ``crew``.

    A piece that was done stays so if another fails: Prefect would else mark it as rolled back.
    """

    def __init__(self, crew: Crew):
        self.crew = crew

    def __call__(
        self, do: Any, work: Sequence[Any], names: Sequence[str], told: str = "", seconds: int | None = None
    ) -> list[Any]:
        futures: list[Future[Any]] = self.crew.submit(do, work, names, seconds)
        done = itertools.count(1)

        def body(piece: str, future: Any) -> State[Any]:
            results([future])
            tell(future, piece, told, next(done), len(names))
            return Completed(message="done")

        with transaction(commit_mode=CommitMode.EAGER):
            wait(
                [
                    _with_our_defaults(body, f"{do.__name__} {name}").submit(name, quote(future))
                    for name, future in zip(names, futures, strict=True)
                ]
            )
        return results(futures)


def show_training(plan: Plan) -> None:
    """The curves of trainings that were made in steps, as pictures in the Prefect UI."""
    for number, course in enumerate(courses(plan), start=1):
        create_image_artifact(
            key=f"{plan.spec.name}-training-{number}",
            image_url=as_address(picture(course)),
            description=f"Training of {course.name}: {course.said}",
        )


def show_audit(plan: Plan) -> None:
    """The audit table and its verdict in the Prefect UI and in the run's log, rounded as they are published.

    The verdicts come second, since a page is narrower than the table.
    """
    said = read_json(plan.workspace.audit / "audit.json")
    table = [{"check": row["check"], "verdict": row["verdict"], **row} for row in published_rows(said)]
    judged = f"{said['verdict']}: {said['reason']}"
    create_table_artifact(key=f"{plan.spec.name}-audit", table=table, description=judged)
    get_run_logger().info(judged)


def show_release(published: Release) -> None:
    """A published version in the Prefect UI: where it is, the address of its report, and the report's text.

    The address is there to be copied: a browser follows no link from a server's page to a file.
    """
    report = published.folder / "audit.html"
    create_markdown_artifact(
        key=f"{published.name}-release",
        description=f"{published.name}@v{published.version} in {published.folder}",
        markdown=f"Published: `{published.folder}`\n\n"
        f"Report, to paste into a browser's address bar: `{report.as_uri()}`\n\n"
        + (published.folder / "audit.md").read_text(encoding="utf-8"),
    )
