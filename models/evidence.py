"""What an audit looks at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from models.crediting import credited
from models.errors import AuditError, Fault
from models.neighbours import Space, nearest
from models.partition import Partition
from models.randomness import Seed
from models.rules import Rule
from models.table import Booleans, Floats, Integers, Table

WHOLE = ""
"""The view of all columns together."""

NO_CLUSTER = "there is no such cluster of rows"

QUERIES = 20_000
"""The share of so many rows is known to within 0.7 percentage points (95 %)."""
SAMPLES = Seed.of(0).child("evidence/asked")
"""A sample of rows that stay inside is no secret, so its stream need not be one."""


def place(view: str) -> str:
    """How a finding names a view: not at all for whole rows, else as the part or the cluster that it is."""
    return view if not view or view.startswith(("part", "cluster-")) else f"part {view}"


@dataclass(frozen=True, eq=False)
class Closeness:
    """Distances to the nearest row, over the columns of one view: of training rows to the synthetic ones, of held-out
    rows to the synthetic ones, and of held-out rows to the training rows. Of either table those are asked, in their
    order, that ``Evidence.asked`` gives.
    """

    train: Floats
    holdout: Floats
    strangers: Floats


@dataclass(frozen=True, eq=False)
class Crowd:
    """The people of one cluster of rows, by one rule for both: which of the training rows they are, and which of the
    held-out rows.
    """

    name: str
    train: Booleans
    holdout: Booleans


@dataclass(frozen=True)
class Evidence:
    """All training rows, the held-out rows that nothing has seen, and the synthetic rows, in model form.

    ``train`` is the whole training table, never a sample of it: a subsampled reference hides memorised rows. Without
    held-out rows most questions stay open. ``rules`` are the schema's. Of a table with more than ``queries`` rows, that
    many are drawn at random and asked for their nearest neighbours, and all rows of the other table answer; None asks
    all. Where rows were divided, ``partition`` has all columns in one part, and ``clusters`` has the people of each
    cluster. Raises AuditError when the three tables have different columns, training or synthetic rows are missing, the
    partition names other columns, clusters are of other rows, or nobody would be asked.
    """

    train: Table
    holdout: Table
    synthetic: Table
    partition: Partition
    rules: tuple[Rule, ...] = ()
    queries: int | None = QUERIES
    clusters: tuple[Crowd, ...] = ()

    def __post_init__(self) -> None:
        faults = list(self._faults())
        if faults:
            raise AuditError(faults)

    def _faults(self) -> Iterator[Fault]:
        if not self.train.columns == self.holdout.columns == self.synthetic.columns:
            yield Fault(
                "audit",
                "training, held-out and synthetic rows have different columns",
                "give all three the same columns in the same order",
            )
        for table, name in ((self.train, "training"), (self.synthetic, "synthetic")):
            if not len(table):
                yield Fault(f"{name} rows", "0 rows", "an audit needs both")
        unknown = sorted(set(self.partition.columns) - set(self.train.names))
        if unknown or not self.train.columns:
            found = f"names columns that the tables lack: {', '.join(unknown)}" if unknown else "has no column"
            yield Fault("partition", found, "give the partition that the synthesis used")
        for crowd in self.clusters:
            if (len(crowd.train), len(crowd.holdout)) != (len(self.train), len(self.holdout)):
                yield Fault(crowd.name, "is of other rows", "say of all training and held-out rows who is in it")
        if self.queries is not None and self.queries < 1:
            yield Fault("queries", f"{self.queries:,} rows", "ask at least one row, or all with None")

    @cached_property
    def views(self) -> Mapping[str, tuple[str, ...]]:
        """The sets of columns to look at: the whole row, and each part where there is more than one.

        Parts are learned one by one. A part that is copied and then joined at random hides in the whole row.
        """
        parts = {part.name: part.columns for part in self.partition.parts} if len(self.partition.parts) > 1 else {}
        return {WHOLE: self.train.names, **parts}

    def asked(self, table: Table) -> Table:
        """The rows of ``table`` that are asked for their nearest neighbours."""
        return table.take(self.asked_rows(table)) if self._samples(table) else table

    def asked_rows(self, table: Table) -> Integers:
        """Where they are in it, ascending: the same places in all tables of as many rows."""
        if not self._samples(table):
            return np.arange(len(table))
        drawn = SAMPLES.child(f"{len(table)} rows").generator().choice(len(table), self.queries, replace=False)
        return np.sort(drawn)

    def _samples(self, table: Table) -> bool:
        return self.queries is not None and len(table) > self.queries

    @cached_property
    def credits(self) -> tuple[Floats, Floats]:
        """How many of the synthetic rows that are asked each training row and each held-out row is nearest to, over all
        columns (``models.crediting``).
        """
        return credited(self.asked(self.synthetic), self.train, self.holdout)

    @cached_property
    def closeness(self) -> Mapping[str, Closeness]:
        """By view."""
        return {view: self._closeness(columns) for view, columns in self.views.items()}

    def _closeness(self, columns: tuple[str, ...]) -> Closeness:
        train, holdout, synthetic = (table.select(columns) for table in (self.train, self.holdout, self.synthetic))
        space = Space.of(train, holdout)
        known, unseen = space.place(self.asked(train)), space.place(self.asked(holdout))
        strangers = nearest(unseen, space.place(train)).distances
        drawn = space.place(synthetic)
        return Closeness(nearest(known, drawn).distances, nearest(unseen, drawn).distances, strangers)


def lacking(limits: Iterable[str], evidence: Evidence) -> list[str]:
    """Clusters that have limits and that there are not."""
    return [name for name in limits if name not in {crowd.name for crowd in evidence.clusters}]
