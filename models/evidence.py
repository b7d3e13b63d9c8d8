"""What an audit looks at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from models.errors import AuditError, Fault
from models.neighbours import Space, nearest
from models.partition import Partition
from models.table import Floats, Table

WHOLE = ""
"""The view of all columns together."""


def place(view: str) -> str:
    """How a finding names a view: not at all for whole rows, else as the part that it is."""
    return view if not view or view.startswith("part") else f"part {view}"


@dataclass(frozen=True, eq=False)
class Closeness:
    """Distances to the nearest row, over the columns of one view: of every training row to the synthetic ones, of every
    held-out row to the synthetic ones, and of every held-out row to the training rows.
    """

    train: Floats
    holdout: Floats
    strangers: Floats


@dataclass(frozen=True)
class Evidence:
    """All training rows, the held-out rows that nothing has seen, and the synthetic rows, in model form.

    ``train`` is the whole training table, never a sample of it: a subsampled reference hides memorised rows. Without
    held-out rows most questions stay open. Raises AuditError when the three tables have different columns, training or
    synthetic rows are missing, or the partition names other columns.
    """

    train: Table
    holdout: Table
    synthetic: Table
    partition: Partition

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

    @cached_property
    def views(self) -> Mapping[str, tuple[str, ...]]:
        """The sets of columns to look at: the whole row, and each part where there is more than one.

        Parts are learned one by one. A part that is copied and then joined at random hides in the whole row.
        """
        parts = {part.name: part.columns for part in self.partition.parts} if len(self.partition.parts) > 1 else {}
        return {WHOLE: self.train.names, **parts}

    @cached_property
    def closeness(self) -> Mapping[str, Closeness]:
        """By view."""
        return {view: self._closeness(columns) for view, columns in self.views.items()}

    def _closeness(self, columns: tuple[str, ...]) -> Closeness:
        train, holdout, synthetic = (table.select(columns) for table in (self.train, self.holdout, self.synthetic))
        space = Space.of(train, holdout)
        known, unseen, drawn = space.place(train), space.place(holdout), space.place(synthetic)
        return Closeness(
            nearest(known, drawn).distances,
            nearest(unseen, drawn).distances,
            nearest(unseen, known).distances,
        )
