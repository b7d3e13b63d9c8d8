"""One function over several pieces of work, in processes of one thread each.

Processes, because threads share torch's and BLAS's state and results then differ from run to run. The work is told by
paths and names, and its rows stay in files.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Protocol, TypeVar

from models.errors import Fault, ParquetryError, SynthesisError

Work = TypeVar("Work")
Result = TypeVar("Result")

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
KEPT = "finished parts are kept and reused on the next run"

log = logging.getLogger("parquetry")


class Each(Protocol):
    """Carry out ``do`` for every piece of ``work``; results in the order of ``work``.

    All pieces are carried out even if one fails; then one SynthesisError names all that failed. Where ``told`` says
    what becomes of a piece ('trained'), the log tells of each that is done.
    """

    def __call__(
        self,
        do: Callable[[Work], Result],
        work: Sequence[Work],
        names: Sequence[str],
        told: str = "",
    ) -> list[Result]: ...


class Crew:
    """Worker processes, one per piece and at most one per core, one thread each; started when first needed.

    They end with the ``with`` block, at once if an error ends it, and they end at once when this process is killed. A
    crew is itself the plain ``Each``. The children inherit the limits on threads from the environment.
    """

    def __init__(self, size: int | None = None):
        self.size = size or len(os.sched_getaffinity(0))
        self._pool: ProcessPoolExecutor | None = None
        self._workers = 0
        self._lifeline: Connection | None = None

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None and self._lifeline is not None:
            self._lifeline.close()
        self._close()

    def submit(self, do: Callable[[Work], Result], work: Sequence[Work]) -> list[Future[Result]]:
        """The pieces under way, in the order of ``work``."""
        wanted = min(self.size, len(work))
        if wanted > self._workers:
            self._close()
            self._open(wanted)
        return [self._pool.submit(do, piece) for piece in work] if self._pool else []

    def __call__(
        self,
        do: Callable[[Work], Result],
        work: Sequence[Work],
        names: Sequence[str],
        told: str = "",
    ) -> list[Result]:
        futures = self.submit(do, work)
        named = dict(zip(futures, names, strict=True))
        for number, future in enumerate(as_completed(futures), start=1):
            tell(future, named[future], told, number, len(names))
        return results(futures, names)

    def _open(self, workers: int) -> None:
        os.environ.update({name: os.environ.get(name, "1") for name in THREAD_VARIABLES})
        context = multiprocessing.get_context("spawn")
        ours, self._lifeline = context.Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_serve, initargs=(ours,))
        self._workers = workers

    def _close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        if self._lifeline is not None:
            self._lifeline.close()
        self._pool, self._lifeline, self._workers = None, None, 0


def _serve(lifeline: Connection) -> None:
    """What a worker does first: one thread, deaf to Ctrl-C (which the run itself answers), bound to the lifeline."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


def _end_with(lifeline: Connection) -> None:
    """End this process when the other end of ``lifeline`` is closed: on purpose, or because its process was killed."""
    lifeline.poll(None)
    os._exit(1)


def tell(future: Future[Result], name: str, told: str, number: int, all: int) -> None:
    """Log that the piece ``name`` is done, unless it failed or nothing is to be told."""
    if told and future.exception() is None:
        log.info("%s %s (%d of %d)", told, name, number, all)


def results(futures: Sequence[Future[Result]], names: Sequence[str]) -> list[Result]:
    """The results of ``futures``, or one SynthesisError that names every failed piece.

    Of an error that is not ours only its type and place are told: its message may quote a cell.
    """
    faults = [fault for future, name in zip(futures, names, strict=True) for fault in _faults(future.exception(), name)]
    if faults:
        raise SynthesisError(faults)
    return [future.result() for future in futures]


def _faults(error: BaseException | None, name: str) -> list[Fault]:
    if error is None:
        return []
    if isinstance(error, ParquetryError):
        return [Fault(f"{name}: {fault.where}", fault.found, fault.remedy) for fault in error.faults]
    if isinstance(error, BrokenProcessPool):
        return [
            Fault(
                name,
                "its process was killed, or another's while it waited",
                f"if memory ran out, make parts smaller or choose a lighter generator; {KEPT}",
            )
        ]
    return [Fault(name, f"stopped by {type(error).__name__} {place_of(error)}", KEPT)]


def place_of(error: BaseException) -> str:
    """Where an error arose, by file and line, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "in a worker process"
