"""Whether the join puts back together the parts of one real person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from models.estimates import Estimate, clustered, excess, mean_count, scaled, spread
from models.evidence import Evidence
from models.finding import Finding, Group, Interval, Unit
from models.measures import Measure
from models.neighbours import Space, nearest
from models.randomness import Seed
from models.table import Floats, stack
from models.twins import Keys, combined, copies, row_keys, times

NAME = "Reassembled people"
QUESTION = "In how many synthetic rows do all parts point to one and the same training person, beyond chance?"
SOURCE = "Project policy: the parts of a person are learned apart, and a join that brings them together undoes that."

COARSE = "not gated: the parts have so few values that even a copy of the training table would point to hardly anybody"


class Reassembly(Measure):
    """The join's own leak; asked where there are two parts or more.

    Each part of a synthetic row points to what real people have in these columns and is nearest to it. Where all parts
    of a row point to what one training person has, and no other real person has the same in all of them, the row is
    that person put together again, whether its cells are copied or only near.

    The figure is the share of synthetic rows (those that are asked) of which this holds, beyond the greater of two
    chance rates: the share of rows that point to held-out people in this way, times the ratio of the two sets' sizes,
    and the share that would point to one training person if each part had been dealt to the rows anew
    (``baseline``). The first is what a join that knows how columns hang together gives; the second is what parts
    that were memorised give when they are joined at random, which is no doing of the join, and found by ``copies``.

    With a chance rate c, ``tolerance`` standard deviations of one match, sqrt(c (1 - c)), are added to the limit. The
    limit is project policy. Where even a copy of the training table would stay within it, nothing is gated: some part
    is too coarse to point to anybody.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "trusted-partner": {"limit": 0.02},
        "internal": {"limit": 0.05},
    }

    kind: Literal["reassembly"] = "reassembly"
    limit: float | None = Field(default=0.01, ge=0, le=1, description="limit of the share; null reports only")
    tolerance: float = Field(default=0.15, ge=0, le=1, description="standard deviations of a match, added to the limit")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        if len(evidence.partition.parts) < 2:
            return (self._finding(evidence, None, limit=None, reason="the table is not cut into parts"),)
        if not len(evidence.holdout):
            reason = "without held-out rows nothing tells a person put together again from a chance match"
            return (self._finding(evidence, None, limit=self.limit, reason=reason),)
        parts = [_Part.of(evidence, part.columns) for part in evidence.partition.parts]
        found, planted = _Matches.of(parts), _Matches.of([part.copied for part in parts])
        chance = found.chance
        limit = None if self.limit is None else self.limit + self.tolerance * spread(chance.value)
        coarse = limit is not None and planted.beyond.value <= limit
        finding = self._finding(
            evidence,
            found.beyond,
            observed=found.rate,
            control=found.usual.value,
            baseline=found.dealt,
            n=found.rows,
            limit=None if coarse else limit,
            planted=planted.beyond.value,
            reason=COARSE if coarse else "",
        )
        return (finding,)

    def _finding(self, evidence: Evidence, estimate: Estimate | None, **said: Any) -> Finding:
        figures = {"estimate": estimate.value, "interval": estimate.interval} if estimate else {"estimate": None}
        known = {"measure": self.kind, "name": NAME, "question": QUESTION, "group": Group.LINKING, "unit": Unit.SHARE}
        return Finding(**{**known, "n": len(evidence.holdout), "source": SOURCE, **figures, **said})


@dataclass(frozen=True, eq=False)
class _Part:
    """What training and held-out people have in the columns of a part, and what drawn rows point to, by key."""

    train: Keys
    holdout: Keys
    drawn: Keys

    @classmethod
    def of(cls, evidence: Evidence, columns: Sequence[str]) -> _Part:
        train, holdout, synthetic = (
            table.select(columns) for table in (evidence.train, evidence.holdout, evidence.asked(evidence.synthetic))
        )
        both = stack([train, holdout])
        keys = row_keys(both)
        # By key, so that where several are as near, neither order nor table tells which is pointed to.
        cells, first = np.unique(keys, return_index=True)
        space = Space.of(train, holdout)
        drawn = cells[nearest(space.place(synthetic), space.place(both.take(first))).rows]
        return cls(keys[: len(train)], keys[len(train) :], drawn)

    @property
    def copied(self) -> _Part:
        """The part if the training rows themselves had been released."""
        return _Part(self.train, self.holdout, self.train)


@dataclass(frozen=True, eq=False)
class _Matches:
    """How many rows point to each training person and to each held-out person, ``counts`` and ``unseen``, out of
    ``rows``, and the share ``dealt`` that would point to training people if parts were dealt anew.
    """

    counts: Floats
    unseen: Floats
    dealt: float
    rows: int

    @classmethod
    def of(cls, parts: Sequence[_Part]) -> _Matches:
        rows = len(parts[0].drawn)
        train, holdout, drawn = (
            combined(keys, len(keys[0]))
            for keys in ([p.train for p in parts], [p.holdout for p in parts], [p.drawn for p in parts])
        )
        alone = copies(train, holdout, train)[0]
        shares = [times(part.train, part.drawn) / rows for part in parts]
        return cls(*copies(train, holdout, drawn), float(alone @ np.prod(shares, axis=0)), rows)

    @property
    def ratio(self) -> float:
        return len(self.counts) / self.rows

    @property
    def rate(self) -> float:
        return float(self.counts.mean()) * self.ratio

    @property
    def usual(self) -> Estimate:
        return scaled(mean_count(self.unseen, clustered(self.counts)), self.ratio)

    @property
    def chance(self) -> Estimate:
        dealt = Estimate(self.dealt, Interval(low=self.dealt, high=self.dealt))
        return max(self.usual, dealt, key=lambda estimate: estimate.value)

    @property
    def beyond(self) -> Estimate:
        return excess(self.counts, self.chance, self.ratio)
