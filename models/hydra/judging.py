"""How well a checkpoint does: a two-sample test on rows that training did not see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from models.estimates import auc
from models.learning import at_most, boosted_chances
from models.randomness import Seed
from models.table import Integers, Table, stack

ENOUGH = 20
"""Fewer rows, held out, tell no checkpoint from another."""

MOST = 2_000
"""So many rows of a kind are looked at."""

ROUNDS = 30
"""Trees of the classifier."""


def held_out(members: Sequence[Integers], share: float, seed: Seed) -> Integers:
    """Rows to choose a checkpoint by, of each cluster its share; none at all where they would be too few to tell."""
    rng = seed.generator()
    held = np.sort(np.concatenate([rng.choice(rows, int(share * len(rows)), replace=False) for rows in members]))
    return held if len(held) >= ENOUGH else held[:0]


@dataclass(frozen=True, eq=False)
class Judge:
    """``table`` holds the training rows and those ``held`` out of them."""

    table: Table
    held: Integers
    seed: Seed

    def score(self, draw: Callable[[int, Seed], Table]) -> float:
        """How far from 1/2 the AUC is of a classifier that learned generated rows from training rows and is asked
        about other generated rows and the held-out ones: 0 (cannot tell) to 0.5.
        """
        taught = np.setdiff1d(np.arange(len(self.table)), self.held)
        known = at_most(self.table.take(taught), MOST, self.seed.child("known"))
        unseen = at_most(self.table.take(self.held), MOST, self.seed.child("unseen"))
        made = draw(len(known) + MOST, self.seed.child("made"))
        learned, asked = made.take(slice(0, len(known))), made.take(slice(len(known), None))
        answers = np.repeat([0, 1], len(known))
        chances = boosted_chances(
            stack([known, learned]), answers, stack([unseen, asked]), rounds=ROUNDS, seed=self.seed.child("classifier")
        )[:, 1]
        return abs(auc(chances[len(unseen) :], chances[: len(unseen)]).value - 0.5)
