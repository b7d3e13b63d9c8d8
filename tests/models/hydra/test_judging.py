"""The held-out two-sample score."""

from __future__ import annotations

import numpy as np

from models.hydra.judging import Judge, held_out
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Table

SEED = Seed.of(1)
COLUMNS = [Column(name=name, kind=Kind.CONTINUOUS, dtype="double", bounds=(-9, 9)) for name in "ab"]


def drawn(n: int, seed: Seed, shift: float = 0.0) -> Table:
    return Table.of(COLUMNS, list(np.clip(seed.generator().normal(shift, 1, (2, n)), -9, 9)), n)


def test_rows_of_the_same_kind_score_less_than_others():
    judge = Judge(drawn(400, Seed.of(2)), np.arange(100), SEED)
    assert judge.score(drawn) < 0.15
    assert judge.score(lambda n, seed: drawn(n, seed, 2.0)) > 0.3


def test_every_cluster_gives_its_share():
    held = held_out([np.arange(100), np.arange(100, 300)], 0.2, SEED)
    assert (held < 100).sum() == 20
    assert (held >= 100).sum() == 40


def test_too_few_rows_are_not_held_out_at_all():
    assert not len(held_out([np.arange(50)], 0.2, SEED))
