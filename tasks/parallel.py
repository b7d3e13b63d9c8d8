"""One function over several pieces of work, in processes of one thread each.

Processes, because threads share torch's and BLAS's state and results then differ from run to run. The work is told by
paths and names, and its rows stay in files.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar

from models.errors import Fault, ParquetryError, SynthesisError

Work = TypeVar("Work")
Result = TypeVar("Result")

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Each(Protocol):
    """Carry out ``do`` for every piece of ``work``; results in the order of ``work``.

    All pieces are carried out even if one fails; then one SynthesisError names all that failed.
    """

    def __call__(self, do: Callable[[Work], Result], work: Sequence[Work], names: Sequence[str]) -> list[Result]: ...


class Crew:
    """Worker processes, as many as there are cores, one thread each; started when first needed, gone at the end.

    A crew is itself the plain ``Each``. The children inherit the limits on threads from the environment.
    """

    def __init__(self, size: int | None = None):
        self.size = size or len(os.sched_getaffinity(0))
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *exit: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def submit(self, do: Callable[[Work], Result], piece: Work) -> Future[Result]:
        if self._pool is None:
            os.environ.update({name: os.environ.get(name, "1") for name in THREAD_VARIABLES})
            self._pool = ProcessPoolExecutor(self.size, mp_context=multiprocessing.get_context("spawn"), initializer=_one_thread)
        return self._pool.submit(do, piece)

    def __call__(self, do: Callable[[Work], Result], work: Sequence[Work], names: Sequence[str]) -> list[Result]:
        return results([self.submit(do, piece) for piece in work], names)


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
    return [Fault(name, f"stopped by {type(error).__name__} {place_of(error)}", "finished parts are kept and reused on the next run")]


def place_of(error: BaseException) -> str:
    """Where an error arose, by file and line, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "in a worker process"


def _one_thread() -> None:
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
