"""Files: the only place where tables, fitted states and reports are written and read.

Everything is written beside its place and renamed into it, so that a file that exists is whole. Nothing is ever
unpickled: tables are Parquet, states are JSON and safetensors.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from models.errors import Fault, StateError
from models.state import State

if TYPE_CHECKING:
    import pyarrow as pa


MAKE_ROOM = "free some space and run again; finished stages are kept"
ASK_FOR_IT = "have the permissions changed, or name another place"
IN_THE_WAY = "a file stands where a folder should be", "name another place, or move the file away"
REFUSALS = {
    errno.EACCES: ("permission denied", ASK_FOR_IT),
    errno.EPERM: ("permission denied", ASK_FOR_IT),
    errno.EROFS: ("the disk can only be read", "name another place"),
    errno.ENOSPC: ("the disk is full", MAKE_ROOM),
    errno.EDQUOT: ("the quota is used up", MAKE_ROOM),
    errno.EISDIR: ("is a folder", "name a file"),
    errno.ENOTDIR: IN_THE_WAY,
    errno.EEXIST: IN_THE_WAY,
    errno.ENAMETOOLONG: ("the name is too long", "give it a shorter one"),
    errno.EIO: ("the disk reports an error", "check the disk"),
}
"""What the operating system may refuse through no fault of ours: what to say, and what a person can do."""


def refused(error: OSError, where: str, what: str = "") -> StateError | None:
    """What the operating system refused at ``where``, as an error of ours; None for errors that no person can mend."""
    if error.errno not in REFUSALS:
        return None
    found, remedy = REFUSALS[error.errno]
    return StateError(Fault(where, f"{what}: {found}" if what else found, remedy))


@dataclass(frozen=True)
class Artifact:
    """A file that a step made, known by its content. Steps hand these to one another, never rows."""

    path: Path
    sha256: str
    rows: int | None = None
    columns: tuple[str, ...] = ()


def ensure_writable(path: Path) -> None:
    """Raises StateError where no file can be written at ``path``: told before the work, not after it."""
    with _writing(path):
        _ensure_replaceable(path)
        folder = next(place for place in path.absolute().parents if place.exists())
        try:
            with TemporaryFile(dir=folder):
                return
        except FileNotFoundError:
            raise StateError(Fault(str(path), f"no file can be made in '{folder}'", "name another place")) from None


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Within it, what the operating system refuses becomes a StateError about ``path``."""
    try:
        yield
    except OSError as error:
        told = refused(error, str(path), "cannot be written")
        if told is None:
            raise
        raise told from None


def _ensure_replaceable(path: Path) -> None:
    """What is renamed to the place of a device would take the place of the device."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "")
    if path.exists() and not path.is_file():
        raise StateError(Fault(str(path), "cannot be written: is a device or a pipe", "name a file"))


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder that becomes ``path`` when all went well, and is removed when not.

    Raises StateError where the operating system refuses to write there.
    """
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    with _writing(path):
        _ensure_replaceable(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield beside
            with open(beside, "rb") as written:
                os.fsync(written.fileno())
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path, *, replace: bool) -> Iterator[Path]:
    """The same for a folder. Without ``replace`` a folder that exists is an error: nothing published is overwritten."""
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.mkdir()
        try:
            yield beside
            if path.exists():
                if not replace:
                    raise StateError(Fault(str(path), "exists already", "published versions are never overwritten"))
                shutil.rmtree(path)
            os.rename(beside, path)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove what an interrupted run left half written below ``folder``, be it ours or DVC's."""
    for leftover in [*folder.rglob(".*.part"), *folder.rglob(".*.tmp")]:
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, or of the names and hashes of all files below a folder."""
    if path.is_dir():
        listing = [
            f"{file.relative_to(path).as_posix()} {sha256_of(file)}"
            for file in sorted(path.rglob("*"))
            if file.is_file()
        ]
        return hashlib.sha256("\n".join(listing).encode()).hexdigest()
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_table(table: pa.Table, path: Path, facts: Mapping[str, str] | None = None) -> Artifact:
    """A table as Parquet (zstd). ``facts`` go into the file's own metadata."""
    import pyarrow.parquet as pq

    metadata = {
        **(table.schema.metadata or {}),
        **{key.encode(): value.encode() for key, value in (facts or {}).items()},
    }
    with whole_file(path) as beside:
        pq.write_table(table.replace_schema_metadata(metadata), beside, compression="zstd")
    return Artifact(path, sha256_of(path), table.num_rows, tuple(table.column_names))


def read_table(path: Path) -> pa.Table:
    """The table in a Parquet file; a file that is missing, cut short or no Parquet at all is a StateError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise StateError(Fault(str(path), "no such file", "run the stage that makes it"))
    with open(path, "rb"):  # what may not be read is not cut short
        pass
    try:
        return pq.read_table(path)
    except (pa.ArrowInvalid, OSError):
        raise StateError(Fault(str(path), "not a whole Parquet file", "remove it and run the stage again")) from None


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no spare spaces, UTF-8, one line end: the same value has the same bytes."""
    return (
        json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n"
    ).encode()


def write_json(value: Any, path: Path) -> Artifact:
    with whole_file(path) as beside:
        beside.write_bytes(canonical(value))
    return Artifact(path, sha256_of(path))


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise StateError(Fault(str(path), "no such file", "run the stage that makes it")) from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise StateError(Fault(str(path), "not a whole JSON file", "remove it and run the stage again")) from None


def write_state(state: State, folder: Path) -> Artifact:
    """A fitted state as ``state.json`` and ``arrays.safetensors`` in ``folder``, replaced as a whole."""
    import numpy as np
    from safetensors.numpy import save_file

    with whole_folder(folder, replace=True) as beside:
        arrays = {name: np.ascontiguousarray(array) for name, array in state.arrays.items()}
        save_file(arrays, beside / "arrays.safetensors")
        (beside / "state.json").write_bytes(
            canonical({"kind": state.kind, "version": state.version, "facts": dict(state.facts)})
        )
    return Artifact(folder, sha256_of(folder))


def read_state(folder: Path) -> State:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    said = read_json(folder / "state.json")
    try:
        arrays = load_file(folder / "arrays.safetensors")
    except (SafetensorError, OSError):
        raise StateError(
            Fault(str(folder), "its arrays are missing or cut short", "run the train stage again")
        ) from None
    return State(said["kind"], said["version"], said["facts"], arrays)
