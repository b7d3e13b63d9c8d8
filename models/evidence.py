"""What an audit looks at."""

from __future__ import annotations

from dataclasses import dataclass

from models.errors import AuditError, Fault
from models.partition import Partition
from models.table import Table


@dataclass(frozen=True)
class Evidence:
    """All training rows, the held-out rows that nothing has seen, and the synthetic rows, in model form.

    ``train`` is the whole training table, never a sample of it: a subsampled reference hides memorised rows.
    """

    train: Table
    holdout: Table
    synthetic: Table
    partition: Partition

    def __post_init__(self) -> None:
        if not self.train.columns == self.holdout.columns == self.synthetic.columns:
            raise AuditError(Fault("audit", "training, held-out and synthetic rows have different columns",
                                   "give all three the same columns in the same order"))
