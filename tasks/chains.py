"""Files of chained lines: each line is canonical JSON and holds the SHA-256 of the line before, so that none can be
changed, moved or taken out unseen; only the last ones can be cut off.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from models.errors import Fault
from models.ledger import Link
from tasks.store import canonical, whole_file

Entry = TypeVar("Entry", bound=Link)


def read_chain(path: Path, entry: type[Entry], remedy: str) -> tuple[list[Entry], list[Fault]]:
    """The entries, none where there is no file, up to the first line that is wrong, and what is wrong with it."""
    entries: list[Entry] = []
    before = ""
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True) if path.is_file() else (), start=1):
        try:
            read = entry.model_validate_json(line)
        except ValidationError:
            return entries, [Fault(path.name, f"line {number} is no entry", remedy)]
        if _line(read) != line or read.before != before:
            return entries, [Fault(path.name, f"the chain breaks at line {number}", remedy)]
        entries.append(read)
        before = hashlib.sha256(line).hexdigest()
    return entries, []


def extended(entries: Sequence[Entry], entry: Entry) -> list[Entry]:
    """``entries`` with ``entry`` chained to the last one."""
    before = hashlib.sha256(_line(entries[-1])).hexdigest() if entries else ""
    return [*entries, entry.model_copy(update={"before": before})]


def write_chain(path: Path, entries: Sequence[Entry], *, private: bool = False) -> None:
    """Write all lines anew; nobody but the owner may read a ``private`` file."""
    with whole_file(path) as beside:
        beside.touch(0o600 if private else 0o666)
        beside.write_bytes(b"".join(map(_line, entries)))


def _line(entry: Link) -> bytes:
    return canonical(entry.model_dump(mode="json"))
