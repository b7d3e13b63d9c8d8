"""Linkability: whether the release links two records of one person that hold different columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from models.attacks import Attack, sampled
from models.evidence import Evidence
from models.finding import Finding, Group, Unit
from models.measures import Measure
from models.neighbours import GRID, Points, Space
from models.randomness import Seed
from models.table import Booleans, Floats, Table

SOURCE = (
    "The second of the three criteria of the Article 29 Working Party (WP216). The limit is the chance of 0.09 (1 in "
    "11) to be re-identified in data for the public, as in EMA Policy 0070 and by Health Canada; 0.20 and 0.33 are "
    "practice under controls. The attack is Anonymeter's (arXiv 2211.10459)."
)
QUESTION = "Does the release link two halves of one training person's record, beyond chance?"
CELLS = 2**18
"""So many distances are held at once; about what a core's cache holds."""


class Linkability(Measure):
    """The chance that the two halves of a person's record have the same nearest row in the release.

    The attacker has one half of the columns from one source and the other half from another, and takes two halves for
    one person's when the same released row is nearest to both. The halves are the parts of the partition, put
    together to two of about equal width, or random ones where there is one part. Of several nearest rows the attacker
    takes one at random, on the side that has fewer, and succeeds when it is among those of the other side: the chance
    is the share of the rows in common, |A and B| / min(|A|, |B|).

    Gated is the risk (see ``models.attacks``) for up to ``people`` training people, with as many held-out ones as
    control; all released rows answer. ``observed`` and ``control`` are the success rates, ``baseline`` is that of two
    rows picked at random.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "trusted-partner": {"limit": 0.2},
        "internal": {"limit": 0.33},
    }

    kind: Literal["linkability"] = "linkability"
    limit: float | None = Field(default=0.09, ge=0, le=1, description="limit of the risk; null reports without gating")
    people: int = Field(default=1000, ge=100, le=1_000_000, description="people of each group who are attacked")

    def measure(self, evidence: Evidence, seed: Seed) -> tuple[Finding, ...]:
        halves = _halves(evidence, seed.child("halves"))
        if halves is None:
            reason = "one column has no halves"
            return (self._finding(evidence).model_copy(update={"limit": None, "reason": reason}),)
        spaces = [Space.of(*(t.select(names) for t in (evidence.train, evidence.holdout))) for names in halves]
        targets = [
            sampled(table, self.people, seed.child(name))
            for name, table in (("train", evidence.train), ("holdout", evidence.holdout))
        ]
        few = [sampled(table, self.people // 4, seed.child("planted")) for table in targets]
        attack = Attack(*(_linked(table, evidence.synthetic, spaces) for table in targets))
        planted = Attack(*(_linked(table, evidence.train, spaces) for table in few))
        return (attack.told(self._finding(evidence), planted),)

    def _finding(self, evidence: Evidence) -> Finding:
        return Finding(
            measure=self.kind,
            name="Linkability",
            question=QUESTION,
            group=Group.LINKING,
            unit=Unit.SHARE,
            estimate=None,
            baseline=1 / len(evidence.synthetic),
            n=0,
            limit=self.limit,
            source=SOURCE,
        )


def _halves(evidence: Evidence, seed: Seed) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Two sets of columns; None where there is one column."""
    parts = [part.columns for part in evidence.partition.parts]
    if len(parts) < 2:
        names = evidence.train.names
        order = seed.generator().permutation(len(names))
        parts = [tuple(names[j] for j in sorted(half)) for half in np.array_split(order, 2) if len(half)]
    if len(parts) < 2:
        return None
    one, other = list[str](), list[str]()
    for columns in sorted(parts, key=len, reverse=True):
        narrower = one if len(one) <= len(other) else other
        narrower += columns
    return tuple(one), tuple(other)


def _linked(people: Table, release: Table, spaces: list[Space]) -> Floats:
    """The chance that each person's halves are linked, shape (people,). ``spaces`` are those of the two halves."""
    views = [tuple(column.name for column in space.columns) for space in spaces]
    asked, known = (
        [space.place(table.select(names)) for space, names in zip(spaces, views, strict=True)]
        for table in (people, release)
    )
    chances = np.zeros(len(people))
    for rows in _blocks(len(people), len(release)):
        one, other = (_nearest(of_asked, of_known, rows) for of_asked, of_known in zip(asked, known, strict=True))
        fewest = np.minimum(np.count_nonzero(one, axis=1), np.count_nonzero(other, axis=1))
        chances[rows] = np.count_nonzero(one & other, axis=1) / fewest
    return chances


def _blocks(people: int, released: int) -> Iterator[slice]:
    height = max(1, CELLS // released)
    yield from (slice(start, min(start + height, people)) for start in range(0, people, height))


def _nearest(asked: Points, known: Points, rows: slice) -> Booleans:
    """Which rows of ``known`` are nearest to each of some rows of ``asked``: shape (rows, known)."""
    shape = (rows.stop - rows.start, len(known))
    unlike, mismatches = np.empty(shape, dtype=np.bool_), np.zeros(shape, dtype=np.uint16)
    for one, other in zip(asked.levels, known.levels, strict=True):
        np.not_equal(one[rows, None], other[None, :], out=unlike)
        np.add(mismatches, unlike.view(np.uint8), out=mismatches)
    distances = mismatches.astype(np.int32) * GRID
    step = np.empty_like(distances)
    for one, other in zip(asked.numbers, known.numbers, strict=True):
        np.subtract(one[rows, None], other[None, :], out=step)
        np.abs(step, out=step)
        np.minimum(step, GRID, out=step)
        np.add(distances, step, out=distances)
    nearest: Booleans = distances == distances.min(axis=1, keepdims=True)
    return nearest
