"""A Gaussian copula on mixed columns: each column's own distribution, and one correlation matrix for all dependence.

It sees what rises or falls together and misses the rest (a U shape, an interaction): a stiff model, hard to overfit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

import numpy as np
from pydantic import Field

from models.bins import Codes, frequencies, packed_codes, unpacked_codes
from models.generators import ConditionalGenerator, ConditionalSampler
from models.latents import Scale, correlations, within
from models.ordering import features, natural, places
from models.randomness import Seed
from models.schema import Column
from models.state import State, packed, unpacked
from models.table import Floats, Integers, Table

FORMAT = 2

LOOKED_AT = 10_000
"""So many rows decide about correlations and about the order of levels."""

INDICATORS = 8
"""So many levels of a column help to put the other columns' levels in order, the commonest first."""

FEATURES = 600
"""So many ranks and indicators of levels do that in all, unless there are more columns."""

COMPONENTS = 10
"""Levels are put in order by so many of the table's leading components."""

FEW = 10
"""A level that fewer rows share says nothing about that."""


@dataclass(frozen=True, eq=False)
class Margin:
    """A column's distribution: its present codes in ``order`` with their ``shares``, and the share that is ``missing``.

    It has up to two latents: one decides whether the value is missing, the next which value it is otherwise.
    """

    codes: Codes
    order: Integers
    shares: Floats
    missing: float

    @cached_property
    def scales(self) -> tuple[Scale, ...]:
        being = (Scale(np.array([1 - self.missing, self.missing])),) if 0 < self.missing < 1 else ()
        return (*being, Scale(self.shares)) if len(self.order) > 1 else being

    def scores(self, coded: Integers) -> Floats:
        """Scores of the latents for rows given as codes, shape (rows, latents); a missing value's code has none."""
        scores = np.empty((len(coded), len(self.scales)))
        for place, (scale, answers) in enumerate(zip(self.scales, self.answers(coded), strict=True)):
            scores[:, place] = np.where(answers >= 0, scale.scores[answers], np.nan)
        return scores

    def answers(self, coded: Integers) -> list[Integers]:
        """For rows given as codes, the answer of each latent; -1 for the value of a missing cell or an unseen code."""
        places = np.full(self.codes.count + 1, -1)
        places[self.order] = np.arange(len(self.order))
        being = [(coded == self.codes.count).astype(np.int64)] if 0 < self.missing < 1 else []
        return [*being, places[coded]] if len(self.order) > 1 else being

    def stretches(self, cells: Floats) -> list[tuple[Floats, Floats]]:
        """Between which ends each latent lies where these are the column's cells."""
        answers = self.answers(self.codes.encode(cells))
        return [scale.stretches(each) for scale, each in zip(self.scales, answers, strict=True)]

    def draw(self, latents: Floats) -> Integers:
        """Codes of rows given as latents, shape (rows, latents)."""
        answers = [scale.answers(latent) for scale, latent in zip(self.scales, latents.T, strict=True)]
        places = answers[-1] if len(self.order) > 1 else np.zeros(len(latents), dtype=np.int64)
        values = self.order[places] if len(self.order) else np.full(len(latents), self.codes.count)
        return np.where(answers[0] == 1, self.codes.count, values) if 0 < self.missing < 1 else values


class CopulaSampler(ConditionalSampler):
    """``margins`` of the columns given, ``first`` in number, and then of those drawn. ``factor`` is the lower Cholesky
    factor of the correlations of all latents, in the order of the margins.
    """

    def __init__(self, margins: tuple[Margin, ...], factor: Floats, first: int):
        columns = tuple(margin.codes.column for margin in margins)
        self.given, self.columns = columns[:first], columns[first:]
        self.margins = margins
        self.factor = factor

    @property
    def informed(self) -> bool:
        first = sum(len(margin.scales) for margin in self.margins[: len(self.given)])
        return bool(np.any(self.factor[first:, :first]))

    def sample_given(self, rows: Table, seed: Seed) -> Table:
        known = self._known(rows, seed.child("given"))
        first = known.shape[1]
        free = seed.child("latents").generator().standard_normal((len(rows), len(self.factor) - first))
        latents = free @ self.factor[first:, first:].T + known @ self.factor[first:, :first].T
        cells, end = [], 0
        for margin in self.margins[len(self.given) :]:
            start, end = end, end + len(margin.scales)
            rng = seed.child(f"column/{margin.codes.column.name}").generator()
            cells.append(margin.codes.decode(margin.draw(latents[:, start:end]), rng))
        return Table.of(self.columns, cells, len(rows))

    def _known(self, rows: Table, seed: Seed) -> Floats:
        """What the given cells say of the latents, as the independent numbers that ``factor`` makes latents of.

        A cell tells only in which stretch its latent lies. Where in it is drawn given the other cells of the row, so
        that a level of two, say, tells as much as it does in the table.
        """
        ends = [
            each
            for column, margin in zip(self.given, self.margins[: len(self.given)], strict=True)
            for each in margin.stretches(rows[column.name])
        ]
        if not ends:
            return np.empty((len(rows), 0))
        low, high = (np.stack(each, axis=1) for each in zip(*ends, strict=True))
        factor = self.factor[: len(ends), : len(ends)]
        known = np.linalg.solve(factor, within(low, high, factor @ factor.T, seed).T).T
        return np.asarray(known, dtype=np.float64)

    def state(self) -> State:
        arrays = {"factor": self.factor, "missing": np.array([margin.missing for margin in self.margins])}
        arrays |= packed_codes([margin.codes for margin in self.margins])
        arrays |= packed("order", [margin.order for margin in self.margins])
        arrays |= packed("shares", [margin.shares for margin in self.margins])
        return State("copula", FORMAT, {"given": len(self.given)}, arrays)

    @classmethod
    def restore(cls, state: State, columns: tuple[Column, ...]) -> Self:
        state.expect("copula", FORMAT)
        order, shares = unpacked("order", state.arrays), unpacked("shares", state.arrays)
        margins = map(Margin, unpacked_codes(columns, state.arrays), order, shares, state.arrays["missing"].tolist())
        return cls(tuple(margins), state.arrays["factor"], state.facts["given"])


class Copula(ConditionalGenerator):
    """A Gaussian copula: one latent for each column's value and one for its being missing, correlated with one another.

    A level without an order of its own gets one: the levels of a column are lined up by where their rows lie along the
    leading components of the other columns, in the direction in which these levels differ most. One latent can then
    tell what matters most about them; what a second direction would tell is lost.
    """

    kind: Literal["copula"] = "copula"
    k: int = Field(default=10, ge=1, description="so many training rows a range of numbers has at least, peaks apart")

    sampler = CopulaSampler

    def fit_given(self, table: Table, given: Table, seed: Seed) -> CopulaSampler:
        columns, cells = (*given.columns, *table.columns), [*given.values.T, *table.values.T]
        codes = [Codes.of(column).shared(each, self.k) for column, each in zip(columns, cells, strict=True)]
        shares = [frequencies(each, of_column, 0.0) for each, of_column in zip(codes, cells, strict=True)]
        if len(table) > LOOKED_AT:
            rows = np.sort(seed.child("rows").generator().choice(len(table), LOOKED_AT, replace=False))
            cells = [each[rows] for each in cells]
        coded = [each.encode(of_column) for each, of_column in zip(codes, cells, strict=True)]
        orders = _orders(codes, coded)
        margins = tuple(_margin(*each) for each in zip(codes, shares, orders, strict=True))
        return CopulaSampler(margins, _factor(margins, coded), len(given.columns))

    def width(self, columns: tuple[Column, ...]) -> int:
        """The latents: one per column, and one more where it may be missing."""
        return len(columns) + sum(column.nullable for column in columns)


def _margin(codes: Codes, shares: Floats, order: Integers) -> Margin:
    present = order[shares[order] > 0]
    missing = float(shares[codes.count]) if codes.size > codes.count else 0.0
    return Margin(codes, present, shares[present] / shares[present].sum(), missing)


def _orders(codes: Sequence[Codes], coded: Sequence[Integers]) -> list[Integers]:
    """The order of each column's codes, missing apart."""
    orders = [np.arange(each.count) for each in codes]
    lacking = [j for j, each in enumerate(codes) if not natural(each.column) and each.count > 2]
    if lacking and len(codes) > 1:
        most = max(1, min(INDICATORS, FEATURES // len(codes)))
        seen = [features(each, rows, most) for each, rows in zip(codes, coded, strict=True)]
        whole = np.hstack(seen)
        directions = np.linalg.eigh(whole.T @ whole)[1][:, -COMPONENTS:]
        ends = np.cumsum([each.shape[1] for each in seen])
        components = whole @ directions
        for j in lacking:
            others = components - seen[j] @ directions[ends[j] - seen[j].shape[1] : ends[j]]
            place = places(coded[j], codes[j].count + 1, others, FEW)
            orders[j] = np.argsort(place[: codes[j].count], kind="stable")
    return orders


def _factor(margins: Sequence[Margin], coded: Sequence[Integers]) -> Floats:
    """The lower Cholesky factor of the latents' correlations; a column's own two latents do not correlate."""
    scales = [scale for margin in margins for scale in margin.scales]
    if not scales:
        return np.zeros((0, 0))
    scores = np.hstack([margin.scores(rows) for margin, rows in zip(margins, coded, strict=True)])
    owners = np.repeat(np.arange(len(margins)), [len(margin.scales) for margin in margins])
    together = correlations(scores, scales, apart=owners[:, None] == owners[None, :])
    return np.linalg.cholesky(together).astype(np.float64, copy=False)
