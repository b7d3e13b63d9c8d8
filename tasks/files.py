"""Files that a source names: found, told apart by content, opened."""

from __future__ import annotations

import glob
import hashlib
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

    Raises SourceError where there is none.
    """
    place = Path(path)
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
    return files


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
    try:
        hashes = [sha256_of(file) for file in files]
    except OSError as error:
        raise unreadable(files[0], error) from None
    if len(files) == 1:
        return Version(kind=kind, token=f"sha256:{hashes[0]}")
    listing = "\n".join(f"{digest} {file.name}" for digest, file in zip(hashes, files, strict=True))
    return Version(kind=kind, token=f"sha256:{hashlib.sha256(listing.encode()).hexdigest()}")


def opened(file: Path) -> pa.NativeFile:
    """The file's bytes, unpacked where its name says that they are packed."""
    import pyarrow as pa

    try:
        return pa.input_stream(str(file), compression="detect")
    except OSError as error:
        raise unreadable(file, error) from None


def unreadable(file: Path, error: OSError) -> SourceError:
    return SourceError(
        Fault(file.name, (error.strerror or "cannot be read").lower(), "check the file and its permissions")
    )
