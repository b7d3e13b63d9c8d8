"""Singling out: whether what the release shows fits one training person alone more often than one stranger alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from models.attacks import Attack, rate, sampled
from models.evidence import Evidence
from models.finding import Finding, Group, Interval, Unit
from models.measures import Measure
from models.neighbours import GRID, Grid, Points, Space, nearest
from models.randomness import Seed
from models.schema import Column
from models.table import Booleans, Floats, Integers, Table

SOURCE = (
    "The first of the three criteria of the Article 29 Working Party (WP216). The limit is the chance of 0.09 (1 in "
    "11) to be re-identified in data for the public, as in EMA Policy 0070 and by Health Canada; 0.20 and 0.33 are "
    "practice under controls. The attack is a variant of Anonymeter's (arXiv 2211.10459)."
)
BOTH, ONE, SEVERAL = "Singling out", "Singling out, one column", "Singling out, several columns"
QUESTIONS = {
    BOTH: "How often does a description read off the release fit one training person alone, beyond chance?",
    ONE: "How often does a released value or extreme fit one training person alone, beyond chance?",
    SEVERAL: "How often does part of a released row fit the training person most like it alone, beyond chance?",
}
BAND = GRID // 20
"""A number fits another one when at most a twentieth of the distinct real values lies between them."""
FEW = 4096
"""So many rows tell beforehand which columns say much. What is found does not depend on it."""
NOISE = 50_000
"""So many rows at most are drawn at random for comparison."""


class SinglingOut(Measure):
    """The chance that a description which the release gives away fits a person and nobody else.

    *One column*: the number is at most the least or at least the largest released one; the value is a rare one of the
    release, one that a table of as many rows as there are people would hold at most once; or the cell is missing, as
    released ones are. Tried on all people.

    *Several columns*: the released row nearest to the person is described column by column, in an order drawn at
    random, by equal levels and numbers that are about the same (``BAND``), until the description fits no other
    released row or no column is left. Tried on ``people`` people.

    Gated is the larger of the two risks (see ``models.attacks``), with the larger of the upper ends. How many people
    are unique depends on how many there are, so both groups are made equal: the larger one is sampled down to the
    smaller. ``observed`` and ``control`` are the success rates, ``baseline`` is that of descriptions of rows drawn at
    random within the schema's bounds and levels.

    NOTE[DIFF]: Anonymeter makes a number of descriptions and counts those that fit exactly one person. Where fewer can
    be made than were asked for, the rate looks small; and the larger the release, the more descriptions are of
    nobody's row, whoever else leaks. Here each person counts once, so the denominator is the number of people.
    Anonymeter's descriptions bound numbers on one side only, which noise escapes half of the time.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "trusted-partner": {"limit": 0.2},
        "internal": {"limit": 0.33},
    }

    kind: Literal["singling_out"] = "singling_out"
    limit: float | None = Field(default=0.09, ge=0, le=1, description="limit of the risk; null reports without gating")
    people: int = Field(default=1000, ge=100, le=1_000_000, description="people of each group who are sought")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        crowds = self._crowds(evidence, seed)
        few = [replace(crowd, sought=crowd.sought[: self.people // 4]) for crowd in crowds]
        release, copies, noise = (
            _Release(table, crowds[0].space.place(table))
            for table in (evidence.synthetic, evidence.train, _noise(evidence.synthetic, seed.child("noise")))
        )
        attacked, unseen = (crowd.singled_out(release, seed) for crowd in crowds)
        by_copies, unseen_by_copies = (crowd.singled_out(copies, seed.child("planted")) for crowd in few)
        guessed = few[0].singled_out(noise, seed.child("guess"))
        ways = [
            Attack(attacked[name], unseen[name]).told(
                self._finding(name, guessed[name]), Attack(by_copies[name], unseen_by_copies[name])
            )
            for name in (ONE, SEVERAL)
        ]
        return (self._gated(ways), *ways)

    def _gated(self, ways: Sequence[Finding]) -> Finding:
        """What the stronger attack found, with the larger of the upper ends; nothing where one found nothing."""
        worst = max(ways, key=lambda way: inf if way.estimate is None else way.estimate)
        changed: dict[str, Any] = {"name": BOTH, "question": QUESTIONS[BOTH], "limit": self.limit}
        if worst.interval:
            ends = [way.interval.high for way in ways if way.interval]
            changed["interval"] = Interval(low=worst.interval.low, high=max(ends))
            changed["planted"] = max((way.planted for way in ways if way.planted is not None), default=None)
        return worst.model_copy(update=changed)

    def _crowds(self, evidence: Evidence, seed: Seed) -> list[_Crowd]:
        """Training and held-out people, equal in number."""
        size = min(len(evidence.train), len(evidence.holdout))
        space = Space.of(evidence.train, evidence.holdout)
        crowds = []
        for name, table in (("train", evidence.train), ("holdout", evidence.holdout)):
            stream = seed.child(name)
            order = stream.child("sought").generator().permutation(size)
            crowds.append(_Crowd(sampled(table, size, stream.child("equal")), order[: self.people], space, name))
        return crowds

    def _finding(self, name: str, guessed: Floats) -> Finding:
        return Finding(
            measure=self.kind,
            name=name,
            question=QUESTIONS[name],
            group=Group.SINGLING_OUT,
            unit=Unit.SHARE,
            estimate=None,
            baseline=rate(guessed).value if len(guessed) else None,
            n=0,
            source=SOURCE,
        )


@dataclass(frozen=True, eq=False)
class _Release:
    """Released rows, and the same as points in the space of the crowds."""

    table: Table
    points: Points


@dataclass(frozen=True, eq=False)
class _Crowd:
    """People, the positions of those who are ``sought`` among them, and the ``space`` in which numbers are alike."""

    people: Table
    sought: Integers
    space: Space
    name: str

    def singled_out(self, release: _Release, seed: Seed) -> dict[str, Floats]:
        """1 for each person whom a description read off ``release`` fits alone, else 0.

        Conditions on one column are tried on all people, those on several on the ``sought``.
        """
        if not len(self.people):
            return {ONE: np.zeros(0), SEVERAL: np.zeros(0)}
        one = _fits_alone(self.people, release.table)
        several = self._described_alone(release.points, seed.child(f"columns/{self.name}"))
        return {ONE: one.astype(np.float64), SEVERAL: several.astype(np.float64)}

    def _described_alone(self, release: Points, seed: Seed) -> Booleans:
        """Whether the description of the released row nearest to a person fits them alone, shape (sought,)."""
        people = self.space.place(self.people)
        models = nearest(people.take(self.sought), release).rows
        crowd, drawn = _Cells.of(people), _Cells.of(release)
        rows = drawn.all[:, models].T
        alike = np.abs(crowd.all[:, self.sought].T - rows) <= drawn.slack
        rng = seed.generator()
        orders = [rng.permutation(rows.shape[1]) for _ in models]
        described = (_description(*one, drawn) for one in zip(rows, alike, orders, strict=True))
        alone = [
            columns is not None and len(crowd.like(row, columns)) == 1
            for row, columns in zip(rows, described, strict=True)
        ]
        return np.array(alone, dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Rows as cells, shape (columns, rows), ``few`` of them, and how far apart like cells may be, shape (columns,)."""

    all: Grid
    few: Grid
    slack: Integers

    @classmethod
    def of(cls, points: Points) -> _Cells:
        cells = np.vstack([points.numbers, points.levels])
        few = np.ascontiguousarray(cells[:, :: max(1, cells.shape[1] // FEW)])
        return cls(cells, few, np.repeat([BAND, 0], [len(points.numbers), len(points.levels)]))

    def like(self, row: Grid, columns: Integers) -> Integers:
        """Who is like ``row`` in all ``columns``; the one in which few seem to be is asked first."""
        shares = np.count_nonzero(_near(self.few[columns], row[columns, None], self.slack[columns, None]), axis=1)
        first, *rest = columns[np.argsort(shares, kind="stable")]
        return self.of_those(np.flatnonzero(_near(self.all[first], row[first], self.slack[first])), row, rest)

    def of_those(self, rows: Integers, row: Grid, columns: Iterable[int]) -> Integers:
        for j in columns:
            rows = rows[_near(self.all[j, rows], row[j], self.slack[j])]
        return rows

    def enough(self, row: Grid, order: Integers) -> int:
        """Fewer columns of ``order`` do not tell ``row`` from all others: two of the few are like it in them."""
        left = np.arange(self.few.shape[1])
        for used, j in enumerate(order):
            if used and len(left) < 2:
                return used
            left = left[_near(self.few[j, left], row[j], self.slack[j])]
        return len(order)


def _description(row: Grid, alike: Booleans, order: Integers, drawn: _Cells) -> Integers | None:
    """The columns of ``order`` up to that in which ``row`` becomes the only one of those drawn, else all.

    None where one of them is not ``alike`` in the person who is sought.
    """
    used = drawn.enough(row, order)
    if not alike[order[:used]].all():
        return None
    left = drawn.like(row, order[:used])
    while used < len(order) and len(left) > 1:
        left = drawn.of_those(left, row, order[used : used + 1])
        used += 1
    return order[:used] if alike[order[:used]].all() else None


def _near(cells: Grid, value: Grid, slack: Integers) -> Booleans:
    near: Booleans = (cells >= value - slack) & (cells <= value + slack)
    return near


def _fits_alone(people: Table, release: Table) -> Booleans:
    """Whether a condition on one column that ``release`` suggests fits each person alone, shape (people,)."""
    alone = np.zeros(len(people), dtype=np.bool_)
    for j, column in enumerate(people.columns):
        cells, drawn = (_on_steps(table.values[:, j], column) for table in (people, release))
        conditions = [_rare(cells, drawn)]
        if column.numeric and not np.isnan(drawn).all():
            conditions += [_only(cells <= np.nanmin(drawn)), _only(cells >= np.nanmax(drawn))]
        if np.isnan(drawn).any():
            conditions.append(_only(np.isnan(cells)))
        alone |= np.any(conditions, axis=0)
    return alone


def _rare(cells: Floats, drawn: Floats) -> Booleans:
    """Which cells have a value of their own that is rare among the drawn ones."""
    values, counts = np.unique(drawn[~np.isnan(drawn)], return_counts=True)
    rare = values[counts <= max(1.0, len(drawn) / len(cells))]
    own, shared = np.unique(cells, return_counts=True)
    return np.isin(cells, own[shared == 1]) & np.isin(cells, rare)


def _only(fits: Booleans) -> Booleans:
    return fits if np.count_nonzero(fits) == 1 else np.zeros_like(fits)


def _on_steps(cells: Floats, column: Column) -> Floats:
    """Cells counted in their column's steps, so that equal values are equal numbers."""
    return np.rint(cells / column.step) if column.numeric and column.step is not None else cells


def _noise(like: Table, seed: Seed) -> Table:
    """As many rows as ``like`` has, ``NOISE`` at most, drawn at random within the schema's bounds and levels, every
    column by itself.
    """
    cells, count = [], min(len(like), NOISE)
    for column in like.columns:
        rng = seed.child(column.name).generator()
        if column.numeric:
            drawn = rng.uniform(column.low, column.high, count)
            cells.append(np.rint(drawn / column.step) * column.step if column.step is not None else drawn)
        else:
            levels = len(column.alphabet)
            known = rng.integers(0, levels, count).astype(np.float64) if levels else np.full(count, np.nan)
            cells.append(known)
    return Table.of(like.columns, cells, count)
