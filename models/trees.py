"""Trees that hold, at every node, the distribution of one column's codes given the codes of other columns.

They are grown by scikit-learn on codes, so every threshold lies on an edge of the schema's bins, then pruned by
significance, and kept and applied as plain arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from models.table import Floats, Integers


@dataclass(frozen=True, eq=False)
class Splits:
    """A binary tree by node: a row goes ``left`` if its predictor ``feature`` is at most ``threshold``, else ``right``.

    Node 0 is the root; leaves have feature, threshold, left and right -1. ``strength`` is how many times its degrees of
    freedom the likelihood-ratio statistic of a node's split is; infinite for leaves.
    """

    feature: Integers
    threshold: Integers
    left: Integers
    right: Integers
    strength: Floats

    @classmethod
    def none(cls) -> Splits:
        """The tree that is one leaf."""
        leaf = np.array([-1], dtype=np.int64)
        return cls(leaf, leaf, leaf, leaf, np.array([np.inf]))

    @cached_property
    def parent(self) -> Integers:
        """The node above each node; the root is its own."""
        above = np.zeros(len(self.left), dtype=np.int64)
        inner = np.flatnonzero(self.left >= 0)
        above[self.left[inner]] = above[self.right[inner]] = inner
        return above

    def descend(self, predictors: NDArray[Any]) -> Integers:
        """The leaf of each row of ``predictors``, shape (rows, features). All rows go down one level at a time."""
        node = np.zeros(len(predictors), dtype=np.int64)
        moving = np.arange(len(predictors)) if self.left[0] >= 0 else np.arange(0)
        while len(moving):
            here = node[moving]
            goes_left = predictors[moving, self.feature[here]] <= self.threshold[here]
            node[moving] = np.where(goes_left, self.left[here], self.right[here])
            moving = moving[self.left[node[moving]] >= 0]
        return node

    def levels(self) -> list[Integers]:
        """Node numbers by depth, the root first."""
        found = [np.zeros(1, dtype=np.int64)]
        while len(inner := found[-1][self.left[found[-1]] >= 0]):
            found.append(np.concatenate([self.left[inner], self.right[inner]]).astype(np.int64))
        return found

    def pruned(self, least: Floats) -> Splits:
        """Without the splits whose strength is below ``least`` (by node), unless one further down the branch is not."""
        kept = (self.left >= 0) & (self.strength >= least)
        levels = self.levels()
        for level in reversed(levels):
            inner = level[self.left[level] >= 0]
            kept[inner] |= kept[self.left[inner]] | kept[self.right[inner]]
        alive = np.zeros(len(kept), dtype=bool)
        alive[0] = True
        alive[self.left[kept]] = alive[self.right[kept]] = True
        number = np.cumsum(alive) - 1
        return Splits(
            feature=np.where(kept, self.feature, -1)[alive],
            threshold=np.where(kept, self.threshold, -1)[alive],
            left=np.where(kept, number[self.left], -1)[alive],
            right=np.where(kept, number[self.right], -1)[alive],
            strength=np.where(kept, self.strength, np.inf)[alive],
        )


@dataclass(frozen=True)
class Growth:
    """A leaf has at least ``min_leaf`` rows; ``significance`` is the level of the test that a split has to pass."""

    min_leaf: int
    significance: float


def grow(predictors: NDArray[np.float32], choices: Integers, target: NDArray[Any], growth: Growth, seed: int) -> Splits:
    """Splits by which the distribution of ``target`` differs.

    ``predictors`` holds whole numbers, shape (rows, features). ``choices``, shape (features,), is the number of levels
    that were put in an order by what they tell about these very rows of the target, or 2 where an order was given.
    ``target`` is either classes, shape (rows,), integers, split by entropy, or scores of variance 1, shape (rows,
    outputs), floats, split by variance. A split stays when its likelihood-ratio statistic (or that of one below it)
    exceeds the chi-square quantile of 1 - significance / features. Its degrees of freedom are the classes present at
    the node less one, or the outputs, times ``_selection``.

    NOTE[DIFF]: synthpop prunes by cost complexity against the impurity of the root, which is blind to splits that
    matter within a rare group. Testing each split with a Bonferroni factor follows conditional inference trees
    (J. Comput. Graph. Stat. 15, 2006, doi 10.1198/106186006X133933), though after growing, so that a split that only
    pays further down is found.
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    features = predictors.shape[1]
    if features == 0 or len(target) < 2 * growth.min_leaf:
        return Splits.none()
    settings: dict[str, Any] = {"min_samples_leaf": growth.min_leaf, "random_state": seed}
    if target.ndim == 1:
        tree = DecisionTreeClassifier(criterion="entropy", **settings).fit(predictors, target).tree_
        freedom = np.maximum((tree.value[:, 0, :] > 0).sum(axis=1) - 1.0, 1.0)
        statistic = _entropy_statistic(tree)
    else:
        tree = DecisionTreeRegressor(**settings).fit(predictors, target).tree_
        freedom = np.full(tree.node_count, float(target.shape[1]))
        statistic = _variance_statistic(tree, target.shape[1])
    freedom *= _selection(tree, choices)
    threshold = np.floor(tree.threshold).astype(np.int64)
    splits = Splits(tree.feature, threshold, tree.children_left, tree.children_right, statistic / freedom)
    return splits.pruned(_quantile(freedom, growth.significance / features))


def _entropy_statistic(tree: Any) -> Floats:
    """2 n times the decrease of entropy in nats, at every split; infinite at leaves."""
    inner, before, after = _impurities(tree)
    statistic = np.full(tree.node_count, np.inf)
    statistic[inner] = 2 * np.log(2.0) * (before - after)
    return statistic


def _variance_statistic(tree: Any, outputs: int) -> Floats:
    """n times the decrease of the logarithm of the variance, summed over outputs that are taken to have the same.

    Variances below 1e-12 are rounding.
    """
    inner, before, after = _impurities(tree)
    rows = tree.weighted_n_node_samples[inner]
    statistic = np.full(tree.node_count, np.inf)
    statistic[inner] = outputs * rows * np.log(np.maximum(before, 1e-12 * rows) / np.maximum(after, 1e-12 * rows))
    return statistic


def _selection(tree: Any, choices: Integers) -> Floats:
    """By how much the choice of an order among levels inflates the statistic of each node's split.

    Levels that differ by chance alone, put in order, have (levels - 1) degrees of freedom between them, of which the
    best split in two takes the share 2 / pi. The order was chosen on all rows, so in a node with few of them it says as
    little about chance there.
    """
    levels = np.where(tree.children_left >= 0, choices[np.maximum(tree.feature, 0)], 2)
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    inflated: Floats = 1 + 2 / np.pi * np.maximum(levels - 2, 0) * share
    return inflated


def _impurities(tree: Any) -> tuple[Integers, Floats, Floats]:
    """The nodes that are split, and their rows times impurity before and after the split."""
    inner = np.flatnonzero(tree.children_left >= 0)
    total = tree.weighted_n_node_samples * tree.impurity
    return inner, total[inner], total[tree.children_left[inner]] + total[tree.children_right[inner]]


def _quantile(freedom: Floats, share: float) -> Floats:
    """The chi-square value that ``share`` of draws exceed, over its degrees of freedom.

    Wilson and Hilferty's approximation (PNAS 17, 1931, 684), good to a few percent even for one degree.
    """
    spread = 2 / (9 * freedom)
    quantile: Floats = np.maximum(1 - spread + NormalDist().inv_cdf(1 - share) * np.sqrt(spread), 0.0) ** 3
    return quantile


@dataclass(frozen=True, eq=False)
class ConditionalTree:
    """Splits, and the codes of the training rows counted at each leaf.

    ``rows`` are the training rows of each node. ``codes`` and ``counts`` are the cells of all leaves side by side, in
    such an order that the rows of any node are one run of cells.

    A row that reached a node is drawn from its parent instead (and from there, again, from the grandparent) with
    probability ``shrinkage`` over the strength of the split between them; with 1 that is James and Stein's factor.
    Where a split says little, the leaf borrows from its sibling; a clear split keeps its word.
    """

    splits: Splits
    rows: Integers
    codes: Integers
    counts: Integers
    shrinkage: float

    @classmethod
    def of(cls, splits: Splits, predictors: NDArray[Any], codes: Integers, shrinkage: float) -> Self:
        """Counts ``codes`` (at least one) of the rows of ``predictors`` at their leaves."""
        leaf = splits.descend(predictors)
        rows = np.bincount(leaf, minlength=len(splits.left))
        for level in reversed(splits.levels()):
            inner = level[splits.left[level] >= 0]
            rows[inner] = rows[splits.left[inner]] + rows[splits.right[inner]]
        size = int(codes.max()) + 1
        cells, counts = np.unique(_runs(splits, rows)[leaf] * size + codes, return_counts=True)
        return cls(splits, rows, cells % size, counts, shrinkage)

    @cached_property
    def handed(self) -> Floats:
        """The probability with which a row at each node is drawn from the parent instead; 0 at the root."""
        strength = np.maximum(self.splits.strength[self.splits.parent], 1e-12)
        handed: Floats = np.minimum(1.0, self.shrinkage / strength)
        handed[0] = 0.0
        return handed

    @cached_property
    def first(self) -> Integers:
        """Where each node's run of rows begins."""
        return _runs(self.splits, self.rows)

    def draw(self, predictors: NDArray[Any], rng: np.random.Generator) -> Integers:
        """One code per row of ``predictors``, shape (rows, features)."""
        node = self.splits.descend(predictors)
        rising = np.arange(len(node))
        while len(rising):
            rising = rising[rng.random(len(rising)) < self.handed[node[rising]]]
            node[rising] = self.splits.parent[node[rising]]
        place = self.first[node] + (_spread(node, rng) * self.rows[node]).astype(np.int64)
        return self.codes[np.searchsorted(np.cumsum(self.counts), place, side="right")]


def _spread(groups: Integers, rng: np.random.Generator) -> Floats:
    """One number in [0, 1) per row: uniform by itself, and evenly spread together with those of its group.

    Rows that end in one node then have its codes in nearly their shares, with less chance than independent draws.
    """
    order = np.lexsort((rng.random(len(groups)), groups))
    _, first, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    place = np.arange(len(groups)) - np.repeat(first, sizes)
    spread = np.empty(len(groups))
    spread[order] = (place + rng.random(len(groups))) / np.repeat(sizes, sizes)
    return spread


def _runs(splits: Splits, rows: Integers) -> Integers:
    """Where each node's run of rows begins when the leaves are laid out from left to right."""
    first = np.zeros(len(rows), dtype=np.int64)
    for level in splits.levels():
        inner = level[splits.left[level] >= 0]
        left, right = splits.left[inner], splits.right[inner]
        first[left], first[right] = first[inner], first[inner] + rows[left]
    return first
