"""Linkability: whether the release links two records of one person that hold different columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from models.attacks import Attack, sampled
from models.evidence import Evidence
from models.finding import Finding, Group, Unit
from models.measures import Measure
from models.neighbours import Space, Ties, ties
from models.randomness import Seed
from models.table import Floats, Table

SOURCE = (
    "The second of the three criteria of the Article 29 Working Party (WP216). The limit is the chance of 0.09 (1 in "
    "11) to be re-identified in data for the public, as in EMA Policy 0070 and by Health Canada; 0.20 and 0.33 are "
    "practice under controls. The attack is Anonymeter's (arXiv 2211.10459)."
)
QUESTION = "Does the release link two halves of one training person's record, beyond chance?"


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
    one, other = (_nearest(people, release, space) for space in spaces)
    shared = [_shared(one, other, person) for person in range(len(people))]
    return np.array(shared) / np.minimum(one.counts, other.counts)


def _nearest(people: Table, release: Table, space: Space) -> Ties:
    names = tuple(column.name for column in space.columns)
    return ties(space.place(people.select(names)), space.place(release.select(names)))


def _shared(one: Ties, other: Ties, person: int) -> int:
    """How many released rows are nearest to both halves of a person."""
    few, many = (one, other) if one.counts[person] <= other.counts[person] else (other, one)
    return int(np.isin(many.tree.place[few.rows(person)], many.points[person]).sum())
