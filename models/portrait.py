"""Pictures of the tables that may be published: marginals in groups of at least k real people, and associations.

Edges come from the schema's bounds and steps, labels from its reviewed levels. No figure stands for fewer than k
training or held-out rows, unless it stands for none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from models.association import association
from models.bins import Bins
from models.evidence import Evidence
from models.measures.marginals import column_distances
from models.schema import TEMPORAL, TICKS_PER_DAY, Column, Kind
from models.table import Booleans, Floats, Integers

BINS = 24
LEVELS = 12
DECIMALS = 3


@dataclass(frozen=True)
class Bar:
    """Shares of the rows in one bin or level: of training, held-out and synthetic rows."""

    label: str
    real: float
    holdout: float
    synthetic: float


@dataclass(frozen=True)
class Marginal:
    """One column. ``bars`` are shares of the present cells, ``missing`` of all rows.

    Both may be withheld, where too few real people would stand behind a figure: no bars, or None. ``distance`` is how
    far synthetic rows are from training rows (total variation or Kolmogorov-Smirnov), ``usual`` how far held-out rows
    are.
    """

    name: str
    kind: Kind
    role: str
    numeric: bool
    bars: tuple[Bar, ...]
    missing: Bar | None
    distance: float
    usual: float


@dataclass(frozen=True)
class Portrait:
    """``real``, ``holdout`` and ``synthetic`` are the associations of all pairs of columns, in the order of
    ``marginals``; ``holdout`` is empty without held-out rows.
    """

    marginals: tuple[Marginal, ...]
    real: tuple[tuple[float, ...], ...]
    holdout: tuple[tuple[float, ...], ...]
    synthetic: tuple[tuple[float, ...], ...]
    k: int


def portrait(evidence: Evidence, k: int) -> Portrait:
    drawn = column_distances(evidence.train, evidence.synthetic)
    usual = column_distances(evidence.train, evidence.holdout)
    return Portrait(
        tuple(_marginal(evidence, j, float(drawn[j]), float(usual[j]), k) for j in range(len(evidence.train.columns))),
        _published(association(evidence.train)),
        _published(association(evidence.holdout)) if len(evidence.holdout) else (),
        _published(association(evidence.synthetic)),
        k,
    )


def _published(matrix: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(round(float(value), 2) for value in row) for row in matrix)


def _marginal(evidence: Evidence, j: int, distance: float, usual: float, k: int) -> Marginal:
    column, least = evidence.train.columns[j], np.array([k, k if len(evidence.holdout) else 0])
    cells = [table.values[:, j] for table in (evidence.train, evidence.holdout, evidence.synthetic)]
    gaps = [np.isnan(of_table) for of_table in cells]
    present = [of_table[~gap] for of_table, gap in zip(cells, gaps, strict=True)]
    groups = _bins(column, present, least) if column.numeric else _levels(column, present, least)
    return Marginal(
        column.name,
        column.kind,
        str(column.role),
        column.numeric,
        tuple(_bars(groups)),
        _missing(gaps, k),
        round(distance, DECIMALS),
        round(usual, DECIMALS),
    )


def _missing(gaps: list[Booleans], k: int) -> Bar | None:
    shown = all(count == 0 or count >= k for gap in gaps[:2] for count in (int(gap.sum()), int((~gap).sum())))
    return _bar("missing", [float(gap.mean()) if len(gap) else 0.0 for gap in gaps]) if shown else None


def _bars(groups: list[tuple[str, Integers]]) -> Iterator[Bar]:
    totals = np.sum([counts for _, counts in groups], axis=0) if groups else np.zeros(3)
    for label, counts in groups:
        yield _bar(label, [float(count / total) if total else 0.0 for count, total in zip(counts, totals, strict=True)])


def _bar(label: str, shares: list[float]) -> Bar:
    real, holdout, synthetic = (round(share, DECIMALS) for share in shares)
    return Bar(label, real, holdout, synthetic)


def _enough(counts: Integers, least: Integers) -> bool:
    """Whether so many training and held-out rows are behind a figure that it may be shown."""
    return bool(np.all(counts[:2] >= least))


def _bins(column: Column, present: list[Floats], least: Integers) -> list[tuple[str, Integers]]:
    """Neighbouring bins joined until each holds k training and k held-out rows; what is left joins the last one."""
    bins = Bins.of(column, BINS)
    counts = np.array([np.bincount(bins.index(cells), minlength=bins.count) for cells in present]).T
    groups: list[tuple[int, int, Integers]] = []
    start = 0
    for stop in range(1, bins.count + 1):
        held = counts[start:stop].sum(axis=0)
        if _enough(held, least):
            groups.append((start, stop, held))
            start = stop
    if start < bins.count and groups:
        first, _, held = groups.pop()
        groups.append((first, bins.count, held + counts[start:].sum(axis=0)))
    return [(_span(column, bins, first, stop), held) for first, stop, held in groups]


def _span(column: Column, bins: Bins, first: int, stop: int) -> str:
    low, high = ((end if bins.per is None else end / bins.per) for end in (bins.firsts[first], bins.lasts[stop - 1]))
    return value_text(column, low) if low == high else f"{value_text(column, low)} to {value_text(column, high)}"


def _levels(column: Column, present: list[Floats], least: Integers) -> list[tuple[str, Integers]]:
    """Levels that k training and k held-out rows share, in their order if they have one, else the commonest first.

    All others are one bar; where that bar is not empty and too small, the rarest shown level joins it.
    """
    size = len(column.alphabet)
    counts = np.array([np.bincount(cells.astype(np.int64), minlength=size) for cells in present]).T
    commonest = np.argsort(-counts[:, 0], kind="stable")
    by_size = [int(code) for code in commonest if _enough(counts[code], least)][:LEVELS]
    while by_size and not _hidden(counts, by_size, least):
        by_size.pop()
    shown = sorted(by_size) if column.ordered or column.kind is Kind.BOOLEAN else by_size
    groups = [(str(column.alphabet[code]), counts[code]) for code in shown]
    others = [code for code in range(size) if code not in by_size]
    if others and shown and counts[others].any():
        groups.append((f"{len(others)} other level{'s' if len(others) > 1 else ''}", counts[others].sum(axis=0)))
    return groups


def _hidden(counts: Integers, shown: list[int], least: Integers) -> bool:
    """Whether nobody, or enough rows together, have the levels that are not shown."""
    rest = (counts.sum(axis=0) - counts[shown].sum(axis=0))[:2]
    return bool(np.all((rest == 0) | (rest >= least)))


def value_text(column: Column, value: float) -> str:
    """A model number as a person writes it: ticks as dates and times, numbers with the column's decimals."""
    if column.kind not in TEMPORAL:
        decimals = 0 if column.kind is Kind.INTEGER else column.decimals
        return f"{value:,.{decimals}f}" if decimals is not None else f"{value:,.4g}"
    per_day = TICKS_PER_DAY[column.resolution or "day"]
    if column.kind is Kind.DURATION:
        return f"{value * 86_400 / per_day:,.6g} s"
    seconds = int(value * 86_400 / per_day)
    text = str(np.datetime64(seconds, "s"))
    if column.kind is Kind.DATE:
        return text[:10]
    return text[11:16] if column.kind is Kind.TIME else text[:16].replace("T", " ")
