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

from prefect import task
from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.futures import wait
from prefect.states import Completed, Failed
from prefect.tasks import Task
from prefect.transactions import CommitMode, transaction
from prefect.utilities.annotations import quote

from models.errors import ParquetryError, SourceError, WithheldError
from tasks.audit import published_rows
from tasks.parallel import Crew, results, tell
from tasks.release import Release
from tasks.spec import Plan
from tasks.step import Job, Outcome, Sealed, Stage, carry_out, job_for
from tasks.store import read_json
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
            return Failed(message=f"{error.title}: {error}", data=error)

    return told


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

    def __call__(self, do: Any, work: Sequence[Any], names: Sequence[str], told: str = "") -> list[Any]:
        futures: list[Future[Any]] = self.crew.submit(do, work)
        done = itertools.count(1)

        def body(piece: str, future: Any) -> State[Any]:
            results([future], [piece])
            tell(future, piece, told, next(done), len(names))
            return Completed(message="done")

        with transaction(commit_mode=CommitMode.EAGER):
            wait(
                [
                    _with_our_defaults(body, f"{do.__name__} {name}").submit(name, quote(future))
                    for name, future in zip(names, futures, strict=True)
                ]
            )
        return results(futures, names)


def show_audit(plan: Plan) -> None:
    """The audit table and its verdict in the Prefect UI, rounded as they are published."""
    said = read_json(plan.workspace.audit / "audit.json")
    create_table_artifact(
        key=f"{plan.spec.name}-audit", table=published_rows(said), description=f"{said['verdict']}: {said['reason']}"
    )


def show_release(published: Release) -> None:
    """A published version in the Prefect UI: where it is, a link to its report, and the report's text.

    A browser follows the link only when it is pasted: pages of a server may not open files.
    """
    report = published.folder / "audit.html"
    create_markdown_artifact(
        key=f"{published.name}-release",
        markdown=f"Published: `{published.folder}`\n\nReport: [{report}]({report.as_uri()})\n\n"
        + (published.folder / "audit.md").read_text(encoding="utf-8"),
    )
