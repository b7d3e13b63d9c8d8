"""Running a spec from the command line, and what to tell of it afterwards."""

from __future__ import annotations

import logging
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from models.errors import Fault, SpecError, WithheldError, nearest
from tasks.audit import published_rows
from tasks.datasets import run_of
from tasks.parallel import Crew
from tasks.release import latest, refusal
from tasks.spec import Plan, load
from tasks.stages import BY_NAME, STAGES
from tasks.step import Job, carry_out
from tasks.store import read_json
from tasks.versions import prepare

SETTINGS = {
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_INTERNAL_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_CLIENT_MAX_RETRIES": "3",
}
"""Prefect prints nothing of its own: what there is to say is in our log, and what went wrong in our errors. A server
that does not answer is asked again after 2, 4 and 8 s, and no more: with Prefect's own 5 tries, every question to a
server that went away takes a minute. Who set these already is right."""


@dataclass(frozen=True)
class Ended:
    """How a run ended: its findings as published, the verdict, and where things lie."""

    state: str
    verdict: str = ""
    reason: str = ""
    findings: tuple[dict[str, str], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    withheld: tuple[Fault, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "facts": dict(self.facts), "withheld": [str(fault) for fault in self.withheld]}


def run_one(path: Path, stage: str) -> Ended:
    """One stage in this process, without Prefect: what ``dvc repro`` calls."""
    if stage not in BY_NAME:
        raise SpecError(Fault("--only", f"no stage '{stage}'", nearest(stage, list(BY_NAME))))
    plan = load(path)
    with plan.workspace.held(), Crew() as crew:
        outcome = carry_out(BY_NAME[stage], Job(plan, crew, prepare(plan, STAGES), run_of(plan, uuid4())))
    return Ended(
        "unchanged" if outcome.fresh else "done",
        facts=(("Stage", f"{stage}: {'nothing had changed' if outcome.fresh else 'done'}"),),
    )


def run_all(path: Path) -> Ended:
    """The whole pipeline as a Prefect flow. Raises what stopped it, except a withheld release, which is told."""
    plan = load(path)
    os.environ.update({name: os.environ.get(name, value) for name, value in SETTINGS.items()})
    logging.raiseExceptions = False  # else Prefect prints what a server that went away did to its log
    from flows.server import connected

    with connected():
        from prefect import tags

        from flows.pipeline import pipeline

        with tags(plan.spec.name):
            state = pipeline(str(path), return_state=True)
        error = None if state.is_completed() else state.result(raise_on_failure=False)
    if error is not None and not isinstance(error, WithheldError):
        raise error
    return _ended(plan, str(state.name).lower())


def _ended(plan: Plan, state: str) -> Ended:
    workspace = plan.workspace
    audit = read_json(workspace.audit / "audit.json")
    withheld = (refusal(plan, audit),) if state == "withheld" else ()
    published = latest(workspace, plan.spec.name)
    where = workspace.withheld / plan.spec.name if withheld or published is None else published.folder
    facts = (
        [("Unchanged", "source, spec, code and artifacts are as they were; nothing was done")]
        if state == "unchanged"
        else []
    )
    if published and not withheld:
        facts += [("Release", str(published.folder)), ("Synthetic table", str(published.folder / "synthetic.parquet"))]
    facts.append(("Report", str(where / "audit.html")))
    return Ended(state, audit["verdict"], audit["reason"], tuple(published_rows(audit)), tuple(facts), withheld)
