"""The ledger of audits as a file: data/audits.jsonl, chained and private."""

from __future__ import annotations

from models.errors import TamperedError
from models.ledger import AuditEntry, Standing, place_of, standing
from tasks.chains import extended, read_chain, write_chain
from tasks.store import read_json
from tasks.workspace import Workspace

RESTORE = "restore it from a backup; the audits that it lists cannot be made undone"


def enter(workspace: Workspace, entry: AuditEntry) -> Standing:
    """Write an audit down, unless it is there, and tell which one it is. Raises TamperedError for a broken chain."""
    path = workspace.audits
    entries, faults = read_chain(path, AuditEntry, RESTORE)
    if faults:
        raise TamperedError(faults)
    place = place_of(entry, entries)
    if place is None:
        entries, place = extended(entries, entry), len(entries)
        write_chain(path, entries, private=True)
    known = sum(each.name == entry.name for each in entries)
    return standing(entries[: place + 1], lost=_published(workspace, entry.name) > known)


def _published(workspace: Workspace, name: str) -> int:
    """The highest number of an audit that a release of ``name`` tells of."""
    manifests = (read_json(path) for path in (workspace.released / name).glob("v*/manifest.json"))
    return max((said["audits"]["number"] for said in manifests if said.get("audits")), default=0)
