"""Every error that Parquetry raises on purpose.

    ParquetryError
    ├── SpecError        the spec, or the schema it names, cannot mean what it says
    ├── SourceError      the source cannot be read, or changed while it was read
    ├── ContractError    the data broke the contract that the schema or the expectation suite states
    ├── SynthesisError   a generator or a join cannot do what was asked of it
    ├── AuditError       an audit cannot be computed at all (a gate then stays shut)
    ├── WithheldError    the audit was computed and did not pass: nothing is published
    ├── TamperedError    a release is not what its manifest says
    ├── BusyError        another run holds the workspace
    ├── StateError       a file is missing, cut short, of another format or not to be had, or no server answers
    └── InternalError    something failed that should not have: a fault of Parquetry's, told without its message

An error carries *all* faults that were found, not the first one. A fault names a column, key or file, a count and a
bound; it never holds a cell's value, because messages end up in logs, in run databases and on screens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: where, what was found, and what to do about it."""

    where: str
    found: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.found}" + (f" ({self.remedy})" if self.remedy else "")


class ParquetryError(Exception):
    """A refusal with all its faults. ``exit_code`` is what the command line ends with."""

    exit_code = 1
    title = "Parquetry cannot go on"

    def __init__(self, faults: Iterable[Fault] | Fault):
        self.faults: tuple[Fault, ...] = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__("; ".join(str(fault) for fault in self.faults))

    def __reduce__(self) -> tuple[type[ParquetryError], tuple[tuple[Fault, ...]]]:
        return type(self), (self.faults,)


class SpecError(ParquetryError):
    exit_code = 3
    title = "The spec, the schema or the call cannot be followed"


class SourceError(ParquetryError):
    """``transient``: the same source may answer when asked again (a server that went away, a locked file)."""

    exit_code = 4
    title = "The source cannot be read"

    def __init__(self, faults: Iterable[Fault] | Fault, transient: bool = False):
        super().__init__(faults)
        self.transient = transient

    def __reduce__(self) -> tuple[type[SourceError], tuple[tuple[Fault, ...], bool]]:  # type: ignore[override]
        return type(self), (self.faults, self.transient)


class ContractError(ParquetryError):
    exit_code = 5
    title = "The data broke its contract"


class SynthesisError(ParquetryError):
    exit_code = 6
    title = "The synthesis failed"


class AuditError(ParquetryError):
    exit_code = 7
    title = "The audit could not be computed; nothing is published"


class WithheldError(ParquetryError):
    exit_code = 8
    title = "Withheld by the audit; nothing is published"


class TamperedError(ParquetryError):
    exit_code = 9
    title = "The release is not what its manifest says"


class BusyError(ParquetryError):
    exit_code = 10
    title = "The workspace is in use"


class StateError(ParquetryError):
    exit_code = 11
    title = "A file, or the Prefect server, cannot be used"


class InternalError(ParquetryError):
    """Stands for an error of another make, whose message may quote a cell and therefore goes no further."""

    exit_code = 1
    title = "A fault in Parquetry"


KINDS: tuple[type[ParquetryError], ...] = (
    SpecError,
    SourceError,
    ContractError,
    SynthesisError,
    AuditError,
    WithheldError,
    TamperedError,
    BusyError,
    StateError,
)
"""Every refusal with an exit code of its own, by code."""


MOST_LISTED = 30


def nearest(name: str, valid: Sequence[str]) -> str:
    """The advice for a name that is none of ``valid``: the closest one, and the list, or its beginning."""
    close = get_close_matches(name, valid, n=1, cutoff=0.5)
    hint = f"did you mean '{close[0]}'? " if close else ""
    listed = sorted(valid)
    rest = f", and {len(listed) - MOST_LISTED:,} more" if len(listed) > MOST_LISTED else ""
    return f"{hint}valid: {', '.join(listed[:MOST_LISTED])}{rest}"
