"""Rare levels and small cells, as official statistics look for them, and how often they give somebody away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from models.bins import Bins
from models.estimates import Z, excess, share
from models.evidence import Evidence
from models.finding import Finding, Group, Interval, Unit
from models.measures import Measure
from models.randomness import Seed
from models.rarity import allowed, foreseen, surprise, unforeseen
from models.schema import Column, Role
from models.table import Booleans, Floats, Integers, Table

RARE, FEW = "Rare levels", "Levels of few people"
SMALL, ROWS, UNIQUES, DISCLOSIVE = "Small cells", "Rows in small cells", "Replicated uniques", "Disclosive"
QUESTIONS = {
    RARE: "How many levels are shown that fewer than {k} training people and no others have, beyond chance?",
    FEW: "Which share of the levels that the release shows do fewer than {k} training people have?",
    SMALL: (
        "How many training people have a combination of quasi-identifiers that fewer than {k} of them and no others "
        "have, and that the release shows, beyond chance?"
    ),
    ROWS: "How many synthetic rows have a combination of quasi-identifiers that fewer than {k} training people have?",
    UNIQUES: "How many training people are alone with their quasi-identifiers, as is one synthetic row, beyond chance?",
    DISCLOSIVE: (
        "For how many training people do all synthetic rows with their quasi-identifiers have one value here, and it "
        "is theirs, beyond chance?"
    ),
}
SOURCE = (
    "The threshold rule of official statistics: nothing about fewer than 10 people (ONS), or about 1 to 10 (CMS); 5 "
    "and 3 are usual under controls. How much may go beyond what held-out people let expect is project policy. "
    "Replicated uniques and Disclosive are synthpop's repU and DiSCO (arXiv 2406.16826), with a control."
)
UNDECLARED = "no column is declared a quasi-identifier; the other measures look at whole rows"
NO_SECRET = "no column is declared sensitive or a target"
UNSEEN = "without held-out rows nothing tells a leak from chance"
WIDEST = 2**40
"""Cells are numbered anew before their numbers get larger."""


class SmallCells(Measure):
    """Levels and cells that fewer than ``k`` people have. Cells are combinations of all quasi-identifiers, numbers in
    ``bands`` bands between the schema's bounds; a missing cell is a value of its own.

    *Rare levels*: the levels that the release shows, fewer than ``k`` training people have, and no held-out person has,
    beyond the number that chance would not exceed; of the column where that many are least likely. ``chance`` is the
    chance of a false alarm over all columns. What to expect is the larger of two numbers. One is what the rare levels
    that held-out people do have let expect (``models.rarity.foreseen``). A single person's level has no such
    counterpart, so the other is what the column's other levels let expect (``models.rarity.unforeseen``): where they
    are frequent alike, a lone rare one is no chance; in a column that has many rare levels, a leaked one cannot be told
    from those that anybody's rows would have shown, and passes. The figure counts levels and has no interval.

    *Small cells*: the share of training people whose cell the release shows, although fewer than ``k`` of them and no
    held-out person are in it. Control: the same with the two groups exchanged. Where one group is larger, its people
    are counted as absent with the chance that a draw of as many as the other has leaves them out, so that the two
    shares have the same mean without a leak; then every cell's difference has mean 0, and their squares give the
    spread. ``tolerance`` standard deviations of one match are added to the limit, as for copies. Where people in small
    cells are so few that even a copy of the training rows would stay within the limit, while the figure before the
    control is subtracted does not, nothing is gated.

    *Replicated uniques*: the share of training people who are alone with their cell among all real people, while one
    synthetic row is alone with it. NOTE[DIFF]: usually those count who are alone in the training table. Held-out people
    are looked at too, so that groups of any two sizes can be compared.

    *Disclosive*, for each sensitive and each target column: the share of training people for whom all synthetic rows
    of their cell have one value (of numbers: one band), which is theirs. By default both are reported only: what they
    count, small cells, copies and inference gate.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "trusted-partner": {"k": 5, "cells": 0.02},
        "internal": {"k": 3, "cells": 0.05},
    }

    kind: Literal["small_cells"] = "small_cells"
    k: int = Field(default=10, ge=2, description="fewer people are few")
    levels: float | None = Field(default=0.0, ge=0, description="limit of rare levels beyond chance; null reports only")
    chance: float = Field(default=0.001, gt=0, lt=0.5, description="how likely chance may show more rare levels")
    cells: float | None = Field(default=0.005, ge=0, le=1, description="limit of people in small cells, beyond chance")
    uniques: float | None = Field(default=None, ge=0, le=1, description="limit of replicated uniques, beyond chance")
    disclosive: float | None = Field(default=None, ge=0, le=1, description="limit of disclosive cells, beyond chance")
    tolerance: float = Field(default=0.2, ge=0, le=1, description="standard deviations of a match, added to limits")
    bands: int = Field(default=10, ge=2, le=100, description="bands that a column of numbers is cut into")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        columns = evidence.train.columns
        levels = {column.name: _level_counts(evidence, column) for column in columns if not column.numeric}
        keys = [column for column in columns if column.role is Role.QUASI_IDENTIFIER]
        of_levels = (self._rare(evidence, levels), self._few(evidence, list(levels.values())))
        if not keys:
            names = (SMALL, UNIQUES, DISCLOSIVE)
            return (*of_levels, *(self._finding(name, evidence, reason=UNDECLARED) for name in names))
        cells = _Cells.of(evidence, keys, self.bands)
        return (
            *of_levels,
            self._small(evidence, cells.counts),
            self._rows(evidence, cells.counts),
            self._uniques(evidence, cells),
            *self._all_disclosive(evidence, cells),
        )

    def _rare(self, evidence: Evidence, levels: Mapping[str, _Counts]) -> Finding:
        if len(evidence.holdout) * self.k < max(1, len(evidence.train)):
            reason = f"{len(evidence.holdout):,} held-out rows need not have a level that {self.k} training rows have"
            return self._finding(RARE, evidence, limit=self.levels, unit=Unit.SCORE, reason=reason)
        columns = [_Rare.of(name, counts, self.k, _sizes(evidence)) for name, counts in levels.items()]
        worst = min(columns, key=lambda column: column.surprise, default=None)
        if worst is None or not worst.shown:
            worst = _Rare("", 0, sum(column.expected for column in columns))
        beyond = worst.shown - allowed(worst.expected, self.chance / max(1, len(columns)))
        return self._finding(
            RARE,
            evidence,
            unit=Unit.SCORE,
            estimate=float(max(0, beyond)),
            observed=float(worst.shown),
            control=worst.expected,
            limit=self.levels,
            where=worst.name,
        )

    def _few(self, evidence: Evidence, levels: Sequence[_Counts]) -> Finding:
        shown = sum(int(np.count_nonzero(counts.synthetic)) for counts in levels)
        if not shown:
            return self._finding(FEW, evidence, reason="the release shows no level")
        train = sum(int(self._are_few(counts.train)[counts.synthetic > 0].sum()) for counts in levels) / shown
        holdout = sum(int(self._are_few(counts.holdout)[counts.synthetic > 0].sum()) for counts in levels) / shown
        return self._finding(FEW, evidence, estimate=train, control=holdout if len(evidence.holdout) else None)

    def _small(self, evidence: Evidence, counts: _Counts) -> Finding:
        if not len(evidence.holdout):
            return self._finding(SMALL, evidence, limit=self.cells, reason=UNSEEN)
        train, holdout = self._in_small_cells(evidence, counts, counts.synthetic > 0)
        observed, control = float(train.sum()), float(holdout.sum())
        half = Z * sqrt(float(((train - holdout) ** 2).sum()))
        copied, usual = self._in_small_cells(evidence, counts, counts.train > 0)
        limit, planted = self._raised(self.cells, control), float(copied.sum() - usual.sum())
        vain = limit is not None and planted <= limit < observed
        told = f"a copy of the training rows would reach {Unit.SHARE.say(planted)} only, so this is not judged"
        return self._finding(
            SMALL,
            evidence,
            estimate=observed - control,
            interval=Interval(low=observed - control - half, high=min(observed, observed - control + half)),
            observed=observed,
            control=control,
            limit=None if vain else limit,
            planted=planted if limit is not None and planted > limit else None,
            reason=told if vain else "",
        )

    def _in_small_cells(self, evidence: Evidence, counts: _Counts, shown: Booleans) -> tuple[Floats, Floats]:
        """By cell, the shares of training and of held-out people who are in it, few and without the others."""
        known, unseen = len(evidence.train), len(evidence.holdout)
        untrained = (1.0 - min(1.0, unseen / known)) ** counts.train
        unheld = (1.0 - min(1.0, known / unseen)) ** counts.holdout
        return (
            np.where(shown & self._are_few(counts.train), counts.train * unheld, 0.0) / known,
            np.where(shown & self._are_few(counts.holdout), counts.holdout * untrained, 0.0) / unseen,
        )

    def _rows(self, evidence: Evidence, counts: _Counts) -> Finding:
        train, holdout = (
            float(counts.synthetic[self._are_few(people)].sum()) / len(evidence.synthetic)
            for people in (counts.train, counts.holdout)
        )
        return self._finding(ROWS, evidence, estimate=train, control=holdout if len(evidence.holdout) else None)

    def _uniques(self, evidence: Evidence, cells: _Cells) -> Finding:
        counts = cells.counts
        alone = counts.train + counts.holdout == 1
        hit, planted = alone & (counts.synthetic == 1), float(alone[cells.train].mean())
        return self._compared(UNIQUES, evidence, hit[cells.train], hit[cells.holdout], planted, self.uniques)

    def _all_disclosive(self, evidence: Evidence, cells: _Cells) -> tuple[Finding, ...]:
        secrets = [c for c in evidence.train.columns if c.role in (Role.SENSITIVE, Role.TARGET)]
        if not secrets:
            return (self._finding(DISCLOSIVE, evidence, reason=NO_SECRET),)
        return tuple(self._disclosive(evidence, cells, secret) for secret in secrets)

    def _disclosive(self, evidence: Evidence, cells: _Cells, secret: Column) -> Finding:
        train, holdout, drawn = (_codes(table, secret, self.bands) for table in _tables(evidence))
        (hit, usual), (copied, by_chance) = (
            (told[cells.train] == train, told[cells.holdout] == holdout)
            for told in (_told(cells.synthetic, drawn, cells.count), _told(cells.train, train, cells.count))
        )
        planted = float(copied.mean()) - float(by_chance.mean() if len(by_chance) else 0.0)
        return self._compared(DISCLOSIVE, evidence, hit, usual, planted, self.disclosive, secret.name)

    def _compared(
        self,
        name: str,
        evidence: Evidence,
        train: Booleans,
        holdout: Booleans,
        planted: float,
        limit: float | None,
        where: str = "",
    ) -> Finding:
        """The share of training people who are hit, against that of held-out people."""
        if not len(holdout):
            return self._finding(name, evidence, limit=limit, where=where, reason=UNSEEN)
        control = share(int(holdout.sum()), len(holdout))
        beyond = excess(train.astype(np.float64), control, 1.0)
        return self._finding(
            name,
            evidence,
            estimate=beyond.value,
            interval=beyond.interval,
            observed=float(train.mean()),
            control=control.value,
            limit=self._raised(limit, control.value),
            planted=None if limit is None else planted,
            where=where,
        )

    def _are_few(self, people: Integers) -> Booleans:
        return np.asarray((people > 0) & (people < self.k))

    def _raised(self, limit: float | None, control: float) -> float | None:
        return None if limit is None else limit + self.tolerance * sqrt(control * max(0.0, 1.0 - control))

    def _finding(self, name: str, evidence: Evidence, **more: Any) -> Finding:
        return Finding(
            measure=self.kind,
            name=name,
            question=QUESTIONS[name].format(k=self.k),
            group=Group.INFERENCE if name == DISCLOSIVE else Group.SINGLING_OUT,
            n=len(evidence.holdout),
            source=SOURCE,
            **{"unit": Unit.SHARE, "estimate": None, **more},
        )


@dataclass(frozen=True, eq=False)
class _Counts:
    """How many training people, held-out people and synthetic rows have each level, or are in each cell."""

    train: Integers
    holdout: Integers
    synthetic: Integers


def _level_counts(evidence: Evidence, column: Column) -> _Counts:
    codes = (table[column.name] for table in _tables(evidence))
    present = (cells[~np.isnan(cells)].astype(np.int64) for cells in codes)
    return _Counts(*(np.bincount(cells, minlength=len(column.alphabet)) for cells in present))


@dataclass(frozen=True)
class _Rare:
    """Of one column: rare levels that no held-out person has, as many as the release shows and chance lets expect."""

    name: str
    shown: int
    expected: float

    @classmethod
    def of(cls, name: str, counts: _Counts, k: int, sizes: tuple[int, int, int]) -> _Rare:
        shown = counts.synthetic > 0
        rare = shown & (counts.train > 0) & (counts.train < k) & (counts.holdout == 0)
        likely = foreseen(shown, counts.train, counts.holdout, k, sizes[:2])
        levels = int(np.count_nonzero(counts.train + counts.holdout + counts.synthetic))
        return cls(name, int(np.count_nonzero(rare)), max(likely, levels * unforeseen(counts.holdout, sizes)))

    @property
    def surprise(self) -> float:
        return surprise(self.shown, self.expected)


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cell of every training, held-out and synthetic row, numbered from 0 to ``count`` - 1."""

    train: Integers
    holdout: Integers
    synthetic: Integers
    count: int

    @classmethod
    def of(cls, evidence: Evidence, keys: Sequence[Column], bands: int) -> _Cells:
        tables, size = _tables(evidence), 1
        cells = np.zeros(sum(map(len, tables)), dtype=np.int64)
        for column in keys:
            codes = np.concatenate([_codes(table, column, bands) for table in tables])
            if size * (int(codes.max()) + 1) > WIDEST:
                cells, size = _numbered(cells)
            cells, size = cells * (int(codes.max()) + 1) + codes, size * (int(codes.max()) + 1)
        cells, count = _numbered(cells)
        train, holdout, synthetic = np.split(cells, np.cumsum([len(table) for table in tables])[:-1])
        return cls(train, holdout, synthetic, count)

    @property
    def counts(self) -> _Counts:
        return _Counts(*(np.bincount(c, minlength=self.count) for c in (self.train, self.holdout, self.synthetic)))


def _numbered(cells: Integers) -> tuple[Integers, int]:
    """Cells numbered anew without gaps, and their number."""
    known, numbered = np.unique(cells, return_inverse=True)
    return np.asarray(numbered, dtype=np.int64), len(known)


def _codes(table: Table, column: Column, bands: int) -> Integers:
    """Levels and bands, from 1 on; 0 is missing."""
    cells = table[column.name]
    present = ~np.isnan(cells)
    codes = np.zeros(len(cells), dtype=np.int64)
    codes[present] = (Bins.of(column, bands).index(cells[present]) if column.numeric else cells[present]) + 1
    return codes


def _told(cells: Integers, values: Integers, count: int) -> Integers:
    """By cell, the one value that all its rows have; -1 where they differ or there is none."""
    least, most = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
    np.minimum.at(least, cells, values)
    np.maximum.at(most, cells, values)
    return np.where(least == most, most, -1)


def _tables(evidence: Evidence) -> tuple[Table, Table, Table]:
    return evidence.train, evidence.holdout, evidence.synthetic


def _sizes(evidence: Evidence) -> tuple[int, int, int]:
    """Training people, held-out people, synthetic rows."""
    return len(evidence.train), len(evidence.holdout), len(evidence.synthetic)
