"""Columns in parts so that associated ones stand together: a search that starts from a clustering."""

from __future__ import annotations

import numpy as np

from models.blocks import sizes
from models.table import Floats, Integers

STARTS = 8
"""So many ways of cutting the ring are tried."""

Bounds = tuple[int, int]
"""The fewest and the most columns of a part."""


def grouped(matrix: Floats, parts: int, bounds: Bounds | None = None, sides: Integers | None = None) -> Integers:
    """The part of every column, with as much squared association within parts as can be found: shape (columns,).

    Columns are lined up by average-linkage clustering of 1 - association, the line is closed to a ring and cut into
    equal pieces at several places, and pairs of columns change places as long as that moves squared association from
    between parts to within; the best end counts. Within ``bounds`` single columns move, too; without, parts keep their
    equal sizes, give or take one column. Columns whose ``sides`` are 1 and -1 do not stand together if the search can
    avoid it.
    """
    strength = matrix**2
    np.fill_diagonal(strength, 0.0)
    label = np.repeat(np.arange(parts), sizes(len(matrix), parts))
    if parts < 2:
        return label
    line = _line(matrix)
    starts = _starts(line, label)
    if sides is not None:
        strength[np.multiply.outer(sides, sides) < 0] = -strength.sum() - 1
        starts += _starts(line[np.argsort(sides[line], kind="stable")], label)[:1]
    ends = [_improved(strength, start, parts, bounds) for start in starts]
    return max(ends, key=lambda end: within(strength, end))


def within(strength: Floats, label: Integers) -> float:
    """The sum over ordered pairs of columns in one part."""
    return float(np.sum(strength[label[:, None] == label[None, :]]))


def _line(matrix: Floats) -> Integers:
    """The columns in the order of the clustering tree's leaves: what is close in it is associated."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distance = 1.0 - matrix
    np.fill_diagonal(distance, 0.0)
    leaves: Integers = leaves_list(linkage(squareform(distance, checks=False), "average")).astype(np.int64)
    return leaves


def _starts(line: Integers, label: Integers) -> list[Integers]:
    """The parts of the columns when the ring is cut at different places; ``label`` is the parts of a straight line."""
    turns = np.unique(np.linspace(0, np.count_nonzero(label == 0), STARTS, endpoint=False).astype(np.int64))
    return [label[np.argsort(np.roll(line, -turn))] for turn in turns]


def _improved(strength: Floats, label: Integers, parts: int, bounds: Bounds | None) -> Integers:
    """``label`` after the exchanges and moves that gain most, one at a time, until none gains."""
    label = label.copy()
    columns = np.arange(len(label))
    for _ in range(10 * len(label)):
        towards = strength @ (label[:, None] == np.arange(parts)).astype(np.float64)
        leaving = towards[columns, label][:, None]
        gain = towards[:, label] - leaving
        gain = gain + gain.T - 2 * strength
        gain[label[:, None] == label[None, :]] = 0.0
        moving = _movable(towards - leaving, label, bounds)
        if max(gain.max(), moving.max()) <= 1e-9:
            break
        if moving.max() > gain.max():
            column, part = divmod(int(moving.argmax()), parts)
            label[column] = part
        else:
            first, second = divmod(int(gain.argmax()), len(label))
            label[[first, second]] = label[[second, first]]
    return label


def _movable(gain: Floats, label: Integers, bounds: Bounds | None) -> Floats:
    """``gain`` (columns, parts) of the moves that ``bounds`` allow, 0 for all others."""
    if bounds is None:
        return np.zeros_like(gain)
    counts = np.bincount(label, minlength=gain.shape[1])
    allowed = (counts[label] > bounds[0])[:, None] & (counts < bounds[1])[None, :]
    return np.where(allowed, gain, 0.0)
