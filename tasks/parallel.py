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
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from math import inf
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Protocol, TypeVar

from models.errors import Fault, ParquetryError, SynthesisError

Work = TypeVar("Work")
Result = TypeVar("Result")

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
KEPT = "finished parts are kept and reused on the next run"
LIGHTER = "make parts smaller or choose a lighter generator"
KILLED = Fault("", "its process was killed", f"if memory ran out, {LIGHTER}; {KEPT}")

log = logging.getLogger("parquetry")


class Each(Protocol):
    """Carry out ``do`` for every piece of ``work``; results in the order of ``work``.

    A piece that takes longer than ``seconds`` is ended. All others are carried out even if one fails; then one
    SynthesisError names all that failed. Where ``told`` says what becomes of a piece ('trained'), the log tells of each
    that is done.
    """

    def __call__(
        self,
        do: Callable[[Work], Result],
        work: Sequence[Work],
        names: Sequence[str],
        told: str = "",
        seconds: int | None = None,
    ) -> list[Result]: ...


class Crew:
    """Worker processes, one per piece and at most one per core, one thread each; started when first needed.

    They end with the ``with`` block, at once if an error ends it, and they end at once when this process is killed. A
    crew is itself the plain ``Each``. The children inherit the limits on threads from the environment.
    """

    def __init__(self, size: int | None = None):
        self._hands = ThreadPoolExecutor(size or len(os.sched_getaffinity(0)), "crew")
        self._hiring = threading.Lock()
        self._workers: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._dismissed = False

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            self._dismiss()
        self._hands.shutdown(cancel_futures=True)
        self._dismiss()

    def submit(
        self, do: Callable[[Work], Result], work: Sequence[Work], names: Sequence[str], seconds: int | None = None
    ) -> list[Future[Result]]:
        """The pieces under way, in the order of ``work``. What goes wrong with one is a SynthesisError that names it.

        ``seconds`` are counted from when a process begins with a piece.
        """
        return [
            self._hands.submit(self._carry_out, do, piece, name, seconds)
            for piece, name in zip(work, names, strict=True)
        ]

    def __call__(
        self,
        do: Callable[[Work], Result],
        work: Sequence[Work],
        names: Sequence[str],
        told: str = "",
        seconds: int | None = None,
    ) -> list[Result]:
        futures = self.submit(do, work, names, seconds)
        named = dict(zip(futures, names, strict=True))
        for number, future in enumerate(as_completed(futures), start=1):
            tell(future, named[future], told, number, len(names))
        return results(futures)

    def _carry_out(self, do: Callable[[Work], Result], piece: Work, name: str, seconds: int | None) -> Result:
        worker = self._hire()
        if not worker.begin(do, piece):
            worker = self._hire()
            worker.begin(do, piece)
        try:
            result: Result = worker.finish(seconds, name)
        except SynthesisError as error:
            raise SynthesisError(_named(fault, name) for fault in error.faults) from None
        finally:
            self._idle.append(worker)
        return result

    def _hire(self) -> _Worker:
        """A worker that is idle, or else a new one."""
        with self._hiring:
            if self._dismissed:
                raise CancelledError
            while self._idle:
                worker = self._idle.pop()
                if worker.alive:
                    return worker
            self._workers.append(_Worker())
            return self._workers[-1]

    def _dismiss(self) -> None:
        """End all workers, whatever they are doing; no more are hired."""
        with self._hiring:
            self._dismissed = True
        for worker in self._workers:
            worker.end()


class _Worker:
    """A process that carries out one piece at a time. It ends when it is told to, and with the process that made it."""

    def __init__(self) -> None:
        os.environ.update({name: os.environ.get(name, "1") for name in THREAD_VARIABLES})
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def begin(self, do: Callable[[Work], Result], piece: Work) -> bool:
        """Whether the worker began with ``do(piece)``; one that was killed while it was idle is gone by then."""
        try:
            self._line.send((do, piece))
            self._line.recv()
        except (EOFError, OSError):
            self.end()
            return False
        return True

    def finish(self, seconds: int | None, name: str) -> Any:
        """What the piece begun leads to; what it logs until then is logged here, after its ``name``.

        Raises SynthesisError; a worker killed or too slow is gone by then.
        """
        ends = inf if seconds is None else time.monotonic() + seconds
        try:
            while (left := ends - time.monotonic()) > 0 and self._line.poll(None if left == inf else left):
                said = self._line.recv()
                if isinstance(said, _Attempt):
                    return said.outcome()
                log.log(said.level, "%s: %s", name, said.text)
        except (EOFError, OSError):
            self.end()
            raise SynthesisError(KILLED) from None
        self.end()
        raise SynthesisError(_slow(seconds))

    def end(self) -> None:
        """Kill the process, since code that holds Python's lock hears nothing else, and see that it is gone."""
        self._process.kill()
        self._process.join()


@dataclass(frozen=True)
class _Said:
    """What a piece logs."""

    level: int
    text: str


class _Telling(logging.Handler):
    """Sends what is logged over ``line``."""

    def __init__(self, line: Connection):
        super().__init__(logging.INFO)
        self.line = line

    def emit(self, record: logging.LogRecord) -> None:
        self.line.send(_Said(record.levelno, record.getMessage()))


class _Attempt:
    """What carrying out a piece led to: its result, or the faults of what stopped it.

    Of an error that is not ours only its type and place are told: its message may quote a cell.
    """

    def __init__(self) -> None:
        self.result: Any = None
        self.faults: tuple[Fault, ...] = ()

    def __enter__(self) -> _Attempt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, ParquetryError):
            self.faults = error.faults
        elif isinstance(error, Exception):
            self.faults = (Fault("", f"stopped by {type(error).__name__} {place_of(error)}", KEPT),)
        return isinstance(error, Exception)

    def outcome(self) -> Any:
        """The result. Raises SynthesisError where there is none."""
        if self.faults:
            raise SynthesisError(self.faults)
        return self.result


def _serve(line: Connection) -> None:
    """What a worker does: piece after piece in one thread, deaf to Ctrl-C (which the run itself answers)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    log.setLevel(logging.INFO)
    log.addHandler(_Telling(line))
    pieces: SimpleQueue[tuple[Callable[[Any], Any], Any]] = SimpleQueue()
    threading.Thread(target=_listen, args=(line, pieces), daemon=True).start()
    while True:
        do, piece = pieces.get()
        line.send(None)
        with _Attempt() as attempt:
            attempt.result = do(piece)
        line.send(attempt)


def _listen(line: Connection, pieces: SimpleQueue[tuple[Callable[[Any], Any], Any]]) -> None:
    """Pass on what comes over ``line``, and end this process when the one at its other end has ended."""
    try:
        while True:
            pieces.put(line.recv())
    finally:
        os._exit(1)


def tell(future: Future[Result], name: str, told: str, number: int, all: int) -> None:
    """Log that the piece ``name`` is done, unless it failed or nothing is to be told."""
    if told and future.exception() is None:
        log.info("%s %s (%d of %d)", told, name, number, all)


def results(futures: Sequence[Future[Result]]) -> list[Result]:
    """The results of ``futures``, or one SynthesisError with the faults of every piece that failed."""
    errors = [future.exception() for future in futures]
    faults = [fault for error in errors if isinstance(error, SynthesisError) for fault in error.faults]
    if faults:
        raise SynthesisError(faults)
    return [future.result() for future in futures]


def _named(fault: Fault, name: str) -> Fault:
    return Fault(f"{name}: {fault.where}" if fault.where else name, fault.found, fault.remedy)


def _slow(seconds: int | None) -> Fault:
    return Fault(
        "", f"took longer than {seconds:,} s and was ended", f"raise limits.part_seconds, or {LIGHTER}; {KEPT}"
    )


def place_of(error: BaseException) -> str:
    """Where an error arose, by file and line, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "in a worker process"
