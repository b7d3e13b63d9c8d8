"""How strongly the columns of a table depend on one another, for columns of any kind, on one scale from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.table import Booleans, Floats, Integers, Table

LEVELS = 32
"""So many of a column's levels are told apart, the commonest first; the others count as one."""

FEW = 5
"""A level that fewer rows share is not told apart, and a figure from fewer rows is 0."""


def association(table: Table) -> Floats:
    """The strength of the dependence of every pair of columns: shape (columns, columns), symmetric, in [0, 1].

    Two numbers: |Spearman's rho|. Two levelled columns: Cramer's V, corrected for bias (J. Korean Stat. Soc. 42, 2013,
    doi 10.1016/j.jkss.2012.10.002). A number and a levelled column: the correlation ratio of the number's ranks,
    corrected for the number of groups (epsilon squared). All are 1 for a perfect dependence of their sort, and the
    corrected ones are about 0 for independent columns even where there are many levels and few rows.

    Missing cells: a levelled column has one more level, "missing". A number is compared where it is present, and its
    being missing or not is looked at as a column of two levels, whose figures are multiplied by 2 sqrt(p (1 - p))
    for a share p of missing cells, lest a handful of them make two columns look dependent. The largest figure of a pair
    counts.

    Constant and wholly missing columns have 0 with every other one. The diagonal is 1.

    NOTE[DIFF]: ranks are those within a column's present cells, not within the rows that both columns of a pair have,
    so that all pairs are one matrix product; the two differ by little unless missingness follows the value.
    """
    count = len(table.columns)
    result = np.zeros((count, count))
    if len(table) >= FEW and count:
        numbers, views = _numbers(table), _level_views(table)
        owners = np.array([view.owner for view in views], dtype=np.int64)
        _raise_to(result, numbers.owners, numbers.owners, np.abs(_spearman(numbers)))
        _raise_to(result, owners, owners, _cramer(views))
        _raise_to(result, owners, numbers.owners, _correlation_ratio(views, numbers))
    np.fill_diagonal(result, 1.0)
    return result


def rank_correlation(table: Table) -> Floats:
    """Spearman's rho with its sign, for every pair of numbers: shape (columns, columns), symmetric, in [-1, 1].

    0 for any other pair, and where ``association`` has no figure. Ranks are those that ``association`` takes.
    """
    result = np.zeros((len(table.columns), len(table.columns)))
    if len(table) >= FEW and any(column.numeric for column in table.columns):
        numbers = _numbers(table)
        result[np.ix_(numbers.owners, numbers.owners)] = _spearman(numbers)
    return result


def ratio(matrix: Floats, parts: Sequence[Sequence[int]]) -> float | None:
    """The Frobenius norm of the associations between parts over that within parts, the diagonal left out.

    ``parts`` holds positions of columns. None where there is one part, or nothing within a part to compare with.
    """
    label = np.full(len(matrix), -1)
    for number, part in enumerate(parts):
        label[list(part)] = number
    same = label[:, None] == label[None, :]
    within = float(np.sum(matrix[same & ~np.eye(len(matrix), dtype=bool)] ** 2))
    if len(parts) < 2 or within == 0.0:
        return None
    return float(np.sqrt(np.sum(matrix[~same] ** 2) / within))


def ranks(cells: Floats) -> Floats:
    """Average ranks of the present cells, scaled to lie evenly within (-0.5, 0.5); missing cells stay missing."""
    result = np.full(len(cells), np.nan)
    present = ~np.isnan(cells)
    if present.any():
        _, inverse, counts = np.unique(cells[present], return_inverse=True, return_counts=True)
        middle = np.cumsum(counts) - counts / 2
        result[present] = middle[inverse] / len(inverse) - 0.5
    return result


def commonest(cells: Floats, most: int, few: int = 1) -> Floats:
    """The codes that at least ``few`` cells share, the commonest first and at most ``most``; equal counts by code."""
    codes, counts = np.unique(cells[~np.isnan(cells)], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:most]
    return codes[order[counts[order] >= few]]


@dataclass(frozen=True)
class _Numbers:
    """``owners`` (m,) are positions in the table; ``ranks`` (rows, m) is 0 where ``present`` (rows, m) is 0."""

    owners: Integers
    ranks: Floats
    present: Floats


@dataclass(frozen=True)
class _LevelView:
    """``codes`` (rows,) counts from 0 without gaps; ``counts`` are the rows of each code; two codes at least."""

    owner: int
    codes: Integers
    counts: Integers
    weight: float


def _numbers(table: Table) -> _Numbers:
    owners = [j for j, column in enumerate(table.columns) if column.numeric]
    ranked = np.empty((len(table), len(owners)))
    for position, j in enumerate(owners):
        ranked[:, position] = ranks(table.values[:, j])
    present = ~np.isnan(ranked)
    return _Numbers(np.array(owners, dtype=np.int64), np.where(present, ranked, 0.0), present.astype(np.float64))


def _level_views(table: Table) -> list[_LevelView]:
    found = []
    for j, column in enumerate(table.columns):
        missing = table.missing[:, j]
        codes = missing.astype(np.int64) if column.numeric else _pooled(table.values[:, j], missing)
        counts = np.bincount(codes)
        if np.count_nonzero(counts) > 1:
            share = float(missing.mean())
            weight = 2 * float(np.sqrt(share * (1 - share))) if column.numeric else 1.0
            found.append(_LevelView(j, codes, counts, weight))
    return found


def _pooled(cells: Floats, missing: Booleans) -> Integers:
    """Codes without gaps: the levels told apart, then all rare ones together, then missing.

    A group of fewer than ``FEW`` rows joins the commonest level.
    """
    kept = np.sort(commonest(cells, LEVELS, FEW))
    codes = np.full(len(cells), len(kept), dtype=np.int64)
    if len(kept):
        place = np.minimum(np.searchsorted(kept, cells), len(kept) - 1)
        known = kept[place] == cells
        codes[known] = place[known]
    codes[missing] = len(kept) + 1
    counts = np.bincount(codes, minlength=len(kept) + 2)
    codes[(counts < FEW)[codes]] = int(np.argmax(counts))
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)


def _raise_to(result: Floats, rows: Integers, columns: Integers, figures: Floats) -> None:
    """Raises the pairs of ``result`` to ``figures`` where these are larger, on both sides of the diagonal."""
    if figures.size:
        np.maximum.at(result, (rows[:, None], columns[None, :]), figures)
        np.maximum.at(result, (columns[None, :], rows[:, None]), figures)


def _spearman(numbers: _Numbers) -> Floats:
    """Pearson's correlation of ranks over the rows where both are present, for all pairs at once."""
    x, here = numbers.ranks, numbers.present
    n, product, total, square = here.T @ here, x.T @ x, x.T @ here, (x * x).T @ here
    spread = n * square - total**2
    variances = spread * spread.T
    usable = (n >= FEW) & (variances > 1e-12 * n**4)
    covariance = n * product - total * total.T
    rho = np.divide(covariance, np.sqrt(np.where(usable, variances, 1.0)), out=np.zeros_like(n), where=usable)
    return np.clip(rho, -1.0, 1.0)


def _cramer(views: list[_LevelView]) -> Floats:
    """Bias-corrected V of all pairs, times both weights. The counts of one view against all later ones go together."""
    result = np.zeros((len(views), len(views)))
    if len(views) < 2:
        return result
    n, width = len(views[0].codes), max(len(view.counts) for view in views)
    shifted = [view.codes * width for view in views]
    inverse = np.zeros((len(views), width))
    for view, row in zip(views, inverse, strict=True):
        row[: len(view.counts)] = 1.0 / view.counts
    levels = np.array([len(view.counts) for view in views], dtype=np.float64)
    for i, view in enumerate(views[:-1]):
        tables = np.empty((len(views) - i - 1, width, width))
        for j in range(i + 1, len(views)):
            tables[j - i - 1] = np.bincount(shifted[j] + view.codes, minlength=width * width).reshape(width, width)
        tables *= tables
        phi = np.einsum("jb,jb->j", tables @ inverse[i], inverse[i + 1 :]) - 1.0
        result[i, i + 1 :] = _corrected_v(phi, levels[i], levels[i + 1 :], n)
    weights = np.array([view.weight for view in views], dtype=np.float64)
    return result * weights[:, None] * weights[None, :]


def _corrected_v(phi: Floats, mine: float, others: Floats, n: int) -> Floats:
    """V from the mean square contingency ``phi`` (chi squared over n), corrected as ``association`` says."""
    excess = np.maximum(phi - (mine - 1) * (others - 1) / (n - 1), 0.0)
    freedom = np.minimum(mine - 1 - (mine - 1) ** 2 / (n - 1), others - 1 - (others - 1) ** 2 / (n - 1))
    squared = np.divide(excess, freedom, out=np.zeros_like(excess), where=freedom > 0)
    return np.sqrt(np.minimum(squared, 1.0))


def _correlation_ratio(views: list[_LevelView], numbers: _Numbers) -> Floats:
    """How much of the spread of each number's ranks lies between a view's levels: shape (views, numbers)."""
    result = np.zeros((len(views), len(numbers.owners)))
    if not result.size:
        return result
    n, total = numbers.present.sum(axis=0), numbers.ranks.sum(axis=0)
    offset = np.divide(total**2, n, out=np.zeros_like(n), where=n > 0)
    spread = (numbers.ranks**2).sum(axis=0) - offset
    gaps = not numbers.present.all()
    for row, view in zip(result, views, strict=True):
        member = (view.codes[:, None] == np.arange(len(view.counts))).astype(np.float64)
        sums = member.T @ numbers.ranks
        counts = member.T @ numbers.present if gaps else np.outer(view.counts, np.ones(len(n)))
        means = np.divide(sums**2, counts, out=np.zeros_like(sums), where=counts > 0)
        groups = np.count_nonzero(counts, axis=0)
        usable = (n >= FEW) & (groups > 1) & (n > groups) & (spread > 1e-12 * n)
        share = np.divide(means.sum(axis=0) - offset, spread, out=np.zeros_like(n), where=usable)
        corrected = 1 - (1 - share) * np.divide(n - 1, n - groups, out=np.ones_like(n), where=usable)
        row[:] = view.weight * np.sqrt(np.clip(np.where(usable, corrected, 0.0), 0.0, 1.0))
    return result
