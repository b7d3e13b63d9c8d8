"""Whether cells are missing where, and together with what, they are missing in the training rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field

from models.association import association
from models.evidence import Evidence
from models.finding import Finding, Group, Unit
from models.measures import Measure
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Booleans, Floats, Table, beside

SOURCE = "Patterns of missing cells as in the theory of missing data (D. B. Rubin, Biometrika 63, 1976)."
PATTERNS = "How far is the distribution of the patterns in which cells of a row are missing from the real one?"
SHARE = "How far is the share of missing cells off in the column where it is furthest off?"
DEPENDENCE = "How far off is the strength with which a cell's being missing depends on the other columns, at worst?"


class Missingness(Measure):
    """Differences in missing cells, beside those of held-out rows; by default reported without gating.

    *Patterns*: each row has one, the set of its missing cells; the figure is the total variation of the distribution of
    patterns, 0 (the same) to 1. Baseline: cells that are missing independently, each as often as in its column.

    *Share of missing cells*: the largest difference of a column's share, in share points.

    *Dependence*: for every column with missing cells, how strongly its being missing goes with the values and the
    missing cells of each other column (corrected Cramer's V, correlation ratio); the figure is the largest difference
    of such a strength. Baseline: cells that are missing independently of everything. It says nothing of whether cells
    are missing for what they would have held: nobody can see that.

    All are facts about the given tables and have no interval; what chance does is seen in ``control``, and held-out
    rows are mostly fewer, so it is rather too large. With many columns with rare missing cells most patterns occur
    once, and only the control tells what the first figure means. A table without missing cells has 0 everywhere.
    """

    kind: Literal["missingness"] = "missingness"
    patterns: float | None = Field(default=None, ge=0, le=1, description="limit of the distance of patterns")
    share: float | None = Field(default=None, ge=0, le=1, description="limit of the worst column's difference")
    dependence: float | None = Field(default=None, ge=0, le=1, description="limit of the worst difference")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        train, drawn, unseen = evidence.train, evidence.synthetic, evidence.holdout
        return (
            Finding(
                name="Patterns of missing cells",
                question=PATTERNS,
                unit=Unit.SHARE,
                estimate=pattern_distance(train.missing, drawn.missing),
                control=pattern_distance(train.missing, unseen.missing) if len(unseen) else None,
                baseline=_independent_distance(train.missing),
                limit=self.patterns,
                **self._shared(evidence),
            ),
            self._share(evidence),
            self._dependence(evidence),
        )

    def _share(self, evidence: Evidence) -> Finding:
        real, drawn = evidence.train.missing.mean(axis=0), evidence.synthetic.missing.mean(axis=0)
        off = np.abs(drawn - real)
        usual = np.abs(evidence.holdout.missing.mean(axis=0) - real) if len(evidence.holdout) else None
        return Finding(
            name="Missing cells, worst column",
            question=SHARE,
            unit=Unit.SHARE,
            estimate=float(off.max()),
            control=None if usual is None else float(usual.max()),
            limit=self.share,
            where=evidence.train.names[int(np.argmax(off))] if off.any() else "",
            **self._shared(evidence),
        )

    def _dependence(self, evidence: Evidence) -> Finding:
        tables = (evidence.train, evidence.synthetic, evidence.holdout)
        gapped = np.flatnonzero(np.any([table.missing.any(axis=0) for table in tables], axis=0))
        real, drawn, unseen = (_dependences(table, gapped.tolist()) for table in tables)
        off, names = np.abs(drawn - real), evidence.train.names
        at = np.unravel_index(int(np.argmax(off)), off.shape) if off.size else None
        return Finding(
            name="Dependence of missing cells, worst",
            question=DEPENDENCE,
            unit=Unit.SCORE,
            estimate=float(off.max(initial=0.0)),
            control=float(np.abs(unseen - real).max(initial=0.0)) if len(evidence.holdout) else None,
            baseline=float(real.max(initial=0.0)),
            limit=self.dependence,
            where=f"{names[gapped[at[0]]]} missing, and {names[at[1]]}" if at and off[at] > 0 else "",
            **self._shared(evidence),
        )

    def _shared(self, evidence: Evidence) -> dict[str, Any]:
        return {"measure": self.kind, "group": Group.FIDELITY, "n": len(evidence.synthetic), "source": SOURCE}


def pattern_distance(one: Booleans, other: Booleans) -> float:
    """Total variation of the rows' patterns; ``one`` and ``other`` have shape (rows, columns), neither is empty."""
    _, codes = np.unique(np.packbits(np.vstack([one, other]), axis=1), axis=0, return_inverse=True)
    parts, size = np.split(codes.ravel(), [len(one)]), int(codes.max()) + 1
    p, q = (np.bincount(part, minlength=size) / len(part) for part in parts)
    return float(np.abs(p - q).sum() / 2)


def _independent_distance(missing: Booleans) -> float:
    """Total variation of the patterns from those of cells that are missing independently, each as often as it is.

    That is the share of rows that the real distribution has beyond the independent one, so only patterns that occur
    need to be looked at.
    """
    _, first, counts = np.unique(np.packbits(missing, axis=1), axis=0, return_index=True, return_counts=True)
    share = missing.mean(axis=0)
    expected = np.where(missing[first], share, 1 - share).prod(axis=1)
    return float(np.maximum(counts / len(missing) - expected, 0.0).sum())


def _dependences(table: Table, gapped: list[int]) -> Floats:
    """How strongly being missing in each of ``gapped`` depends on every column, itself left out: (gapped, columns)."""
    if not gapped:
        return np.zeros((0, len(table.columns)))
    flags = tuple(Column(name=f"{j} is missing", kind=Kind.BOOLEAN, dtype="bool") for j in gapped)
    both = beside([table, Table(flags, table.missing[:, gapped].astype(np.float64))])
    size = len(table.columns)
    found = association(both)[size:, :size].copy()
    found[np.arange(len(gapped)), gapped] = 0.0
    return found
