"""The ledger of audits: how often a data set has been audited, and what came of it.

An audit that may be asked again and again, each time with another seed, until it says yes, selects lucky tables and
tells about its rows each time (arXiv 2312.05114). So every audit leaves a line here, and the report and the manifest
say how many there were.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.finding import Verdict
from models.schema import Frozen


class Link(Frozen):
    """An entry of a chain; ``before`` is the SHA-256 of the line before it, empty for the first."""

    before: str = ""


class AuditEntry(Link):
    """A line of the ledger.

    ``table`` is the version token of the source, ``spec`` the digest of the spec, ``seed`` the seed's commitment, and
    ``audited`` the digest of all files and settings that the audit looked at. The ledger is private: with a token of
    the source anybody could test whether a table they have is it.
    """

    name: str
    table: str
    spec: str
    seed: str
    audited: str
    verdict: Verdict


class Standing(Frozen):
    """Which audit of its data set one is: the ``number``-th, the ``of_this_table``-th of the same source version;
    ``withheld`` earlier ones of the data set did not pass, and ``seeds`` were used so far. ``lost`` says that releases
    tell of more audits than the ledger knows.
    """

    number: int
    of_this_table: int
    withheld: int
    seeds: int
    lost: bool = False

    @property
    def sentence(self) -> str:
        """For the report's readers."""
        lost = " The ledger of audits is not whole: releases tell of more audits than it knows." if self.lost else ""
        if self.number == 1:
            return f"This is the first audit of this data set.{lost}"
        one = self.number == 2
        return (
            f"{self.number - 1} audit{'' if one else 's'} of this data set came before this one: "
            f"{self.of_this_table - 1} of the same source table, {self.withheld} that did not pass, with "
            f"{self.seeds} seed{'s' if self.seeds > 1 else ''} so far. Each further try makes a pass by luck likelier."
            f"{lost}"
        )


def standing(entries: Sequence[AuditEntry], *, lost: bool = False) -> Standing:
    """That of the last entry."""
    last = entries[-1]
    same = [entry for entry in entries if entry.name == last.name]
    return Standing(
        number=len(same),
        of_this_table=sum(entry.table == last.table for entry in same),
        withheld=sum(entry.verdict is not Verdict.PASS for entry in same[:-1]),
        seeds=len({entry.seed for entry in same}),
        lost=lost,
    )


def place_of(entry: AuditEntry, entries: Sequence[AuditEntry]) -> int | None:
    """Where ``entries`` have this audit: the same files, audited again with the same verdict, are the same audit."""
    known = [each.model_copy(update={"before": ""}) for each in entries]
    return known.index(entry) if entry in known else None
