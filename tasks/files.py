"""Files that a source names: found, told apart by content, opened."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from models.errors import Fault, SourceError, nearest
from tasks.sources import Version
from tasks.store import sha256_of

if TYPE_CHECKING:
    import pyarrow as pa

LISTED = 10


def under(folder: Path, path: str) -> str:
    """``path`` as seen from ``folder``; an absolute path stays as it is."""
    return str(folder / path)


def matching(path: str, pattern: str) -> list[Path]:
    """The files that ``path`` names, sorted: one, those of a folder that fit ``pattern``, or those of a glob.

    Raises SourceError where there is none, and for every one that cannot be read.
    """
    place = Path(path)
    with _reading(place):
        found = (
            [place]
            if place.is_file()
            else sorted(place.rglob(pattern))
            if place.is_dir()
            else sorted(map(Path, glob.glob(path)))
        )
        files = [file for file in found if file.is_file()]
    if not files:
        raise SourceError(Fault(path, "no such file", _neighbours(place, pattern)))
    _ensure_readable(files)
    return files


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """Within it, what the operating system refuses becomes a SourceError about ``file``."""
    try:
        yield
    except OSError as error:
        raise SourceError(_unreadable(file, error)) from None


def _ensure_readable(files: Iterable[Path]) -> None:
    """The libraries that read tables take a file that they may not read for one that is damaged."""
    faults = []
    for file in files:
        try:
            with open(file, "rb") as stream:
                stream.read(1)
        except OSError as error:
            faults.append(_unreadable(file, error))
    if faults:
        raise SourceError(faults)


def _unreadable(file: Path, error: OSError) -> Fault:
    found = os.strerror(error.errno).lower() if error.errno else "cannot be read"
    return Fault(file.name, found, "check the file and its permissions")


def _neighbours(place: Path, pattern: str) -> str:
    folder = place if place.is_dir() else place.parent
    if not folder.is_dir():
        return f"there is no folder '{folder}'"
    names = [file.name for file in folder.glob(pattern)]
    return (
        nearest(place.name, names)
        if 0 < len(names) <= LISTED
        else f"'{folder}' holds {len(names)} files called {pattern}"
    )


def content_version(kind: str, files: list[Path]) -> Version:
    """The SHA-256 of the files' bytes; of their names and hashes where there are several."""
    hashes = []
    for file in files:
        with _reading(file):
            hashes.append(sha256_of(file))
    if len(files) == 1:
        return Version(kind=kind, token=f"sha256:{hashes[0]}")
    listing = "\n".join(f"{digest} {file.name}" for digest, file in zip(hashes, files, strict=True))
    return Version(kind=kind, token=f"sha256:{hashlib.sha256(listing.encode()).hexdigest()}")


def opened(file: Path) -> pa.NativeFile:
    """The file's bytes, unpacked where its name says that they are packed."""
    import pyarrow as pa

    with _reading(file):
        return pa.input_stream(str(file), compression="detect")
