"""The workspace: the folder of a spec, where each thing of a run lies, and who may work in it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from models.errors import BusyError, Fault, StateError
from models.randomness import Seed
from tasks.store import sweep, whole_file


@dataclass(frozen=True)
class Workspace:
    """Paths below ``root``, the folder that the spec lies in. Only ``released`` is for the public."""

    root: Path

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def raw(self) -> Path:
        """Training and held-out rows: private."""
        return self.data / "raw"

    @property
    def train(self) -> Path:
        return self.raw / "train.parquet"

    @property
    def holdout(self) -> Path:
        return self.raw / "holdout.parquet"

    @property
    def intake(self) -> Path:
        """What was read: source version, row counts, hashes of the two tables, validation."""
        return self.raw / "intake.json"

    @property
    def partition(self) -> Path:
        """How the training table was divided."""
        return self.data / "interim" / "partition"

    @property
    def division(self) -> Path:
        """What may be told of it."""
        return self.partition / "partition.json"

    @property
    def assignment(self) -> Path:
        """The cluster of every training row, where rows were divided: private."""
        return self.partition / "rows.npy"

    @property
    def samplers(self) -> Path:
        return self.data / "interim" / "samplers"

    def sampler(self, part: str) -> Path:
        return self.samplers / part

    @property
    def unfinished(self) -> Path:
        """Training under way, by fit; there is none once all parts are trained."""
        return self.data / "interim" / "unfinished"

    @property
    def joined(self) -> Path:
        return self.data / "interim" / "joined"

    @property
    def synthetic(self) -> Path:
        return self.joined / "synthetic.parquet"

    @property
    def audit(self) -> Path:
        return self.data / "interim" / "audit"

    @property
    def released(self) -> Path:
        return self.data / "released"

    @property
    def withheld(self) -> Path:
        """Reports of runs that the gate stopped: for the owner, without a table."""
        return self.data / "withheld"

    @property
    def audits(self) -> Path:
        """The ledger of all audits made here: private."""
        return self.data / "audits.jsonl"

    @property
    def lineage(self) -> Path:
        return self.data / "lineage"

    @property
    def records(self) -> Path:
        """Which stage was finished with which inputs and outputs."""
        return self.data / "interim" / "records"

    @property
    def secret(self) -> Path:
        return self.data / "secret"

    def seed(self) -> Seed:
        """The secret seed of this workspace, drawn from the operating system's source when there is none yet."""
        path = self.secret / "seed"
        if not path.exists():
            self.secret.mkdir(parents=True, exist_ok=True)
            self.secret.chmod(0o700)
            with whole_file(path) as beside:
                beside.touch(0o600)
                beside.write_text(Seed.draw().key.hex() + "\n")
        try:
            return Seed(bytes.fromhex(path.read_text().strip()))
        except ValueError:
            raise StateError(
                Fault(str(path), "is not 64 hexadecimal digits", "restore it, or remove it for a new seed")
            ) from None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within it no other run works here; leftovers of a killed run are swept first. Raises BusyError at once.

        The lock is the operating system's: a killed process cannot leave it behind.
        """
        self.data.mkdir(parents=True, exist_ok=True)
        path = self.data / ".lock"
        with open(path, "a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                holder = lock.read().strip() or "unknown"
                raise BusyError(
                    Fault(
                        str(self.root),
                        f"another run holds this workspace (process {holder})",
                        "wait until it has ended, then run again",
                    )
                ) from None
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            sweep(self.data)
            self._close_to_others()
            try:
                yield
            finally:
                self._close_to_others()
                lock.truncate(0)

    def _close_to_others(self) -> None:
        """Nobody but the owner may look into folders that hold rows, models, or hashes of them."""
        for folder in (self.raw, self.records.parent):
            folder.mkdir(parents=True, exist_ok=True)
        for folder in (
            self.raw,
            self.records.parent,
            self.lineage,
            self.withheld,
            self.data / "vault",
            self.root / ".dvc" / "cache",
        ):
            if folder.is_dir():
                folder.chmod(0o700)
