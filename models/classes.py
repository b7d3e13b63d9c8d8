"""A column in a few coarse classes, so that distributions of columns of any kind can be compared by counting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.schema import Column
from models.table import Floats, Integers


@dataclass(frozen=True, eq=False)
class Classes:
    """A column in ``bins`` coarse classes, learned from training rows; class ``bins`` is for missing cells.

    ``marks`` are a number's inner edges, or the levels that are told apart. They are values of training rows: nothing
    that is kept or published may hold them.
    """

    marks: Floats
    bins: int
    numeric: bool

    @classmethod
    def of(cls, column: Column, cells: Floats, bins: int) -> Classes:
        """Numbers by the quantiles of ``cells``; levels as the ``bins`` - 1 commonest of them and the rest."""
        present = cells[~np.isnan(cells)]
        if not column.numeric:
            levels, counts = np.unique(present, return_counts=True)
            return cls(np.sort(levels[np.argsort(-counts, kind="stable")[: bins - 1]]), bins, numeric=False)
        inner = np.linspace(0, 1, bins + 1)[1:-1]
        marks = np.unique(np.quantile(present, inner, method="inverted_cdf")) if len(present) else present
        return cls(marks, bins, numeric=True)

    def codes(self, cells: Floats) -> Integers:
        place = np.searchsorted(self.marks, cells)
        if not self.numeric:
            place = np.where(np.append(self.marks, np.nan)[place] == cells, place, self.bins - 1)
        return np.where(np.isnan(cells), self.bins, place).astype(np.int64)

    def shares(self, cells: Floats) -> Floats:
        """The share of ``cells`` in each class, shape (bins + 1,); all zero without cells."""
        counts = np.bincount(self.codes(cells), minlength=self.bins + 1)
        return np.asarray(counts / max(1, len(cells)), dtype=np.float64)
