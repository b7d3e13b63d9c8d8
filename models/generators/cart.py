"""Sequential classification and regression trees: each column is drawn given the columns before it.

The method of synthpop (J. Stat. Softw. 74(11), 2016, doi 10.18637/jss.v074.i11), on codes.

NOTE[DIFF]: a leaf holds how often each code was seen in it, where synthpop keeps the rows' values; doubtful splits are
pruned or softened (``models/trees.py``), where synthpop grows trees in full; and columns are visited along their
associations, where synthpop takes them as they stand. The first two keep synthetic rows from leaning on single training
rows, the last makes them more useful (``benchmarks/adult.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from models.association import association
from models.bins import Codes, packed_codes, unpacked_codes
from models.errors import Fault, SynthesisError, nearest
from models.generators import ConditionalGenerator, ConditionalSampler
from models.ordering import features, places, standard
from models.randomness import Seed
from models.schema import Column, Role
from models.state import State, packed, unpacked
from models.table import Booleans, Floats, Integers, Table, beside
from models.trees import ConditionalTree, Growth, Splits, grow

CLASSES = 32
"""So many levels, or groups of levels, of a column are told apart when it is split; its leaves tell all apart."""

BEYOND = 0.1
"""Levels are put into groups where more than this share of the rows has none of the commonest."""

INDICATORS = 4
"""So many levels of each predictor decide about groups of levels, the commonest first."""

LOOKED_AT = 4_000
"""So many rows decide which columns are the most associated."""

FORMAT = 1
SPLITS = ("feature", "threshold", "left", "right", "strength")
COUNTED = ("rows", "codes", "counts")

NATURAL = np.zeros(0, dtype=np.int64)
"""The view of a column whose codes have an order of their own."""


@dataclass(frozen=True, eq=False)
class Step:
    """How one column is drawn: from the columns ``given`` (positions), each seen through its view, by ``tree``.

    A levelled column's view puts its codes, the one for missing last, in the order of what they tell about this column.
    A number's view is empty: its codes have an order, and missing stands below all of them.
    """

    column: int
    given: tuple[int, ...]
    views: tuple[Integers, ...]
    tree: ConditionalTree


class CartSampler(ConditionalSampler):
    """``steps`` in the order in which columns are drawn; ``codes`` of the columns given and then of those drawn."""

    def __init__(self, codes: tuple[Codes, ...], steps: tuple[Step, ...]):
        columns, first = tuple(each.column for each in codes), len(codes) - len(steps)
        self.given, self.columns = columns[:first], columns[first:]
        self.codes = codes
        self.steps = steps

    @property
    def informed(self) -> bool:
        split_by = {(step, at) for step in self.steps for at in step.tree.splits.feature.tolist() if at >= 0}
        return any(step.given[at] < len(self.given) for step, at in split_by)

    def sample_given(self, rows: Table, seed: Seed) -> Table:
        coded = {j: self.codes[j].encode(rows[column.name]) for j, column in enumerate(self.given)}
        cells: dict[int, Floats] = {}
        for step in self.steps:
            codes = self.codes[step.column]
            rng = seed.child(f"column/{codes.column.name}").generator()
            around = [self.codes[j].count for j in step.given]
            seen = _seen([coded[j] for j in step.given], step.views, around, len(rows))
            coded[step.column] = step.tree.draw(seen, rng)
            cells[step.column] = codes.decode(coded[step.column], rng)
        return Table.of(self.columns, [cells[j] for j in sorted(cells)], len(rows))

    def state(self) -> State:
        trees = [step.tree for step in self.steps]
        parts: dict[str, list[NDArray[Any]]] = {
            "given": [np.array(step.given, dtype=np.int64) for step in self.steps],
            "views": [view for step in self.steps for view in step.views] or [NATURAL],
        }
        parts |= {name: [getattr(tree.splits, name) for tree in trees] for name in SPLITS}
        parts |= {name: [getattr(tree, name) for tree in trees] for name in COUNTED}
        arrays = packed_codes(self.codes)
        for name, each in parts.items():
            arrays |= packed(name, each)
        facts = {"order": [step.column for step in self.steps], "shrinkage": trees[0].shrinkage}
        return State("cart", FORMAT, facts, {name: _small(array) for name, array in arrays.items()})

    @classmethod
    def restore(cls, state: State, columns: tuple[Column, ...]) -> Self:
        state.expect("cart", FORMAT)
        views = iter(unpacked("views", state.arrays))
        given = [tuple(each.tolist()) for each in unpacked("given", state.arrays)]
        steps = [
            Step(column, others, tuple(next(views) for _ in others), tree)
            for column, others, tree in zip(state.facts["order"], given, _trees(state), strict=True)
        ]
        return cls(unpacked_codes(columns, state.arrays), tuple(steps))


class Cart(ConditionalGenerator):
    """Classification and regression trees, one column after the other.

    A missing value is one more code of its column: it is drawn like any other, depending on the columns before, and
    tells the columns after as much as a value does.
    """

    kind: Literal["cart"] = "cart"
    min_leaf: int = Field(default=20, ge=1, description="so many training rows a leaf has at least")
    k: int = Field(default=10, ge=1, description="so many training rows a range of numbers has at least, peaks apart")
    significance: float = Field(
        default=0.05, gt=0, lt=1, description="a split stays if chance would rarely do as well: the test's level"
    )
    shrinkage: float = Field(
        default=1.0, ge=0, description="how much of a doubtful split is taken back: 0 nothing, 1 what James-Stein would"
    )
    predictors: int = Field(
        default=20, ge=1, description="so many columns at most decide about another, the most associated ones"
    )
    order: Literal["schema", "by_association"] | tuple[str, ...] = Field(
        default="by_association",
        description="in which columns are drawn: by_association (targets first, then always the column closest to one "
        "before it), schema, or names (which come first, the others in the schema's order)",
    )

    sampler = CartSampler

    def faults(self, columns: Sequence[Column]) -> list[Fault]:
        """Names in ``order`` that the part has no column of."""
        named, names = () if isinstance(self.order, str) else self.order, tuple(column.name for column in columns)
        return [
            Fault("order", f"'{name}' is no column of this part", nearest(name, names))
            for name in dict.fromkeys(named)
            if name not in names
        ]

    def fit_given(self, table: Table, given: Table, seed: Seed) -> CartSampler:
        faults = self.faults(table.columns)
        if faults:
            raise SynthesisError(faults)
        columns, cells = (*given.columns, *table.columns), (*given.values.T, *table.values.T)
        codes = tuple(Codes.of(column).shared(each, self.k) for column, each in zip(columns, cells, strict=True))
        coded = [each.encode(of_column) for each, of_column in zip(codes, cells, strict=True)]
        strength = self._strength(given, table, seed.child("association"))
        order = self._order(columns, len(given.columns), strength)
        steps = []
        for place, j in enumerate(order[len(given.columns) :], start=len(given.columns)):
            others = _strongest(strength[j], order[:place], self.predictors)
            steps.append(self._step(j, others, codes, coded, seed.child(f"column/{columns[j].name}")))
        return CartSampler(codes, tuple(steps))

    def width(self, columns: tuple[Column, ...]) -> int:
        """Every column's code, and what the widest tree sees beside them."""
        return len(columns) + min(len(columns), self.predictors)

    def _strength(self, given: Table, table: Table, seed: Seed) -> Floats:
        """Associations of all pairs of columns, or zeros where nothing depends on them."""
        count = len(given.columns) + len(table.columns)
        if self.order != "by_association" and count <= self.predictors + 1:
            return np.zeros((count, count))
        if len(table) > LOOKED_AT:
            rows = np.sort(seed.generator().choice(len(table), LOOKED_AT, replace=False))
            given, table = given.take(rows), table.take(rows)
        return association(beside([given, table]))

    def _order(self, columns: tuple[Column, ...], given: int, strength: Floats) -> list[int]:
        """Positions of all columns, the ``given`` first ones before the others."""
        first, drawn = list(range(given)), range(given, len(columns))
        if self.order == "schema":
            return [*first, *drawn]
        if self.order == "by_association":
            return _spanning(strength, [*first, *(j for j in drawn if columns[j].role is Role.TARGET)])
        names = {columns[j].name: j for j in drawn}
        named = [names[name] for name in dict.fromkeys(self.order)]
        return [*first, *named, *(j for j in drawn if j not in named)]

    def _step(
        self, column: int, given: tuple[int, ...], codes: Sequence[Codes], coded: Sequence[Integers], seed: Seed
    ) -> Step:
        """Rows that lack a value which the column must have teach nothing; without any row, all codes are as likely."""
        known = coded[column] < codes[column].size
        mine, others = coded[column][known], [coded[j][known] for j in given]
        if not len(mine):
            mine, given, others = np.arange(codes[column].size), (), []
        around = [codes[j] for j in given]
        target, learnt = self._target(codes[column], mine, around, others, seed)
        views = tuple(
            NATURAL if each.column.numeric else _view(other[learnt], each.count + 1, target, self.min_leaf)
            for each, other in zip(around, others, strict=True)
        )
        seen = _seen(others, views, [each.count for each in around], len(mine))
        choices = np.array([max(2, len(np.unique(view))) for view in views], dtype=np.int64)
        splits = grow(seen[learnt], choices, target, Growth(self.min_leaf, self.significance), seed.integer())
        return Step(column, given, views, ConditionalTree.of(splits, seen, mine, self.shrinkage))

    def _target(
        self, codes: Codes, mine: Integers, around: Sequence[Codes], others: Sequence[Integers], seed: Seed
    ) -> tuple[NDArray[Any], Booleans]:
        """What splits are to tell apart, and the rows that splits are looked for in (the target has these alone).

        Where the commonest levels do not cover nearly all rows, levels are first put into groups by what they tell
        about the predictors. One half of the rows decides about the groups and the other half about the splits: on the
        same rows, levels that are alike by chance would look like dependence.
        """
        everything = np.ones(len(mine), dtype=bool)
        if codes.column.numeric:
            return _scores(mine, codes.count), everything
        beyond = np.sort(np.bincount(mine))[: 1 - CLASSES].sum()
        if not others or beyond <= BEYOND * len(mine):
            return _classes(mine), everything
        half = seed.generator().random(len(mine)) < 0.5
        about = [features(each, other[half], INDICATORS) for each, other in zip(around, others, strict=True)]
        place = places(mine[half], codes.count + 1, np.hstack(about), self.min_leaf)
        return _groups(mine, place)[~half], ~half


def _small(array: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in half the space: positions, codes and counts of rows fit."""
    return array.astype(np.int32) if array.dtype.kind == "i" else array


def _trees(state: State) -> Iterator[ConditionalTree]:
    """The trees of a stored sampler, in its order."""
    splits = zip(*(unpacked(name, state.arrays) for name in SPLITS), strict=True)
    counted = zip(*(unpacked(name, state.arrays) for name in COUNTED), strict=True)
    for shape, (rows, codes, counts) in zip(splits, counted, strict=True):
        yield ConditionalTree(Splits(*shape), rows, codes, counts, state.facts["shrinkage"])


def _seen(
    codes: Sequence[Integers], views: Sequence[Integers], counts: Sequence[int], rows: int
) -> NDArray[np.float32]:
    """What a tree sees of columns given as codes, shape (rows, columns)."""
    seen = np.empty((rows, len(codes)), dtype=np.float32)
    for place, (each, view, count) in enumerate(zip(codes, views, counts, strict=True)):
        seen[:, place] = view[each] if len(view) else np.where(each == count, -1, each)
    return seen


def _strongest(strength: Floats, candidates: Sequence[int], most: int) -> tuple[int, ...]:
    """At most ``most`` of ``candidates``, those of greatest ``strength``, in their given order."""
    if len(candidates) <= most:
        return tuple(candidates)
    chosen = set(np.argsort(-strength[list(candidates)], kind="stable")[:most].tolist())
    return tuple(j for place, j in enumerate(candidates) if place in chosen)


def _spanning(strength: Floats, first: Sequence[int]) -> list[int]:
    """All columns: ``first`` (or else that of the greatest sum of associations), then always the one closest to any
    before it.
    """
    order = list(first) or [int(strength.sum(axis=1).argmax())]
    closest = strength[order].max(axis=0)
    while len(order) < len(strength):
        closest[order] = -np.inf
        order.append(int(closest.argmax()))
        closest = np.maximum(closest, strength[order[-1]])
    return order


def _classes(codes: Integers) -> Integers:
    """Codes as at most CLASSES classes, the commonest by themselves and the others together."""
    counts = np.bincount(codes)
    label = np.empty(len(counts), dtype=np.int64)
    label[np.argsort(-counts, kind="stable")] = np.minimum(np.arange(len(counts)), CLASSES - 1)
    return label[codes]


def _groups(codes: Integers, place: Floats) -> Integers:
    """Codes as CLASSES groups of about as many rows, neighbours by ``place`` together."""
    counts = np.bincount(codes, minlength=len(place))
    order = np.argsort(place, kind="stable")
    middle = np.empty(len(place))
    middle[order] = np.cumsum(counts[order]) - counts[order] / 2
    return (CLASSES * middle / len(codes)).astype(np.int64)[codes]


def _scores(codes: Integers, count: int) -> Floats:
    """Mid-ranks of the codes, and where any is missing whether it is, each of mean 0 and variance 1 (or all 0)."""
    missing = codes == count
    counts = np.bincount(codes, minlength=count + 1)[:count]
    middle = np.append(np.cumsum(counts) - counts / 2, counts.sum() / 2)
    columns = [middle[codes], missing] if missing.any() else [middle[codes]]
    return standard(np.stack(columns, axis=1))


def _view(codes: Integers, size: int, target: NDArray[Any], least: int) -> Integers:
    """The rank of each of ``size`` codes by what it tells about ``target`` (classes or scores)."""
    return np.unique(places(codes, size, target, least), return_inverse=True)[1]
