"""Objectives built from settings."""

from __future__ import annotations

import numpy as np
import pytest

from models.hydra.encoding import Encoding
from models.hydra.settings import Settings
from models.randomness import Seed, torch_stream
from models.schema import Column, Kind, Role
from models.table import Table

torch = pytest.importorskip("torch")

from models.hydra.aims import Aims  # noqa: E402
from models.hydra.networks import Blocks  # noqa: E402

SEED = Seed.of(1)


def column(name: str, role: Role, count: int = 2) -> Column:
    return Column(name=name, kind=Kind.CATEGORICAL, dtype="int64", levels=tuple(range(count)), role=role)


COLUMNS = (
    column("s", Role.SENSITIVE),
    column("t", Role.TARGET, 3),
    column("p", Role.PLAIN),
    column("q", Role.SENSITIVE),
)


def aims(**settings: object) -> Aims:
    """``q`` has a single value."""
    cells = [np.arange(60) % 2, np.arange(60) % 3, np.arange(60) % 2, np.zeros(60)]
    table = Table.of(COLUMNS, cells, 60)
    encoding = Encoding.of(table, 10, SEED)
    encoded = encoding.encode(table, SEED)
    with torch_stream(SEED):
        return Aims(Settings(**settings), encoding, encoded, np.arange(60), 1, Blocks(encoded.layout))


def test_objectives_are_those_of_a_weight():
    assert [each.name for each in aims().objectives()] == ["realism", "distribution"]
    asked = aims(realism=0, reidentification=2, diversity=1, accuracy=1).objectives()
    assert [each.name for each in asked] == ["distribution", "reidentification", "diversity", "accuracy"]
    assert [each.weight for each in asked] == [1, 2, 1, 1]


def test_realism_alone_on_one_cluster_is_a_wasserstein_critic_with_gradient_penalty_and_nothing_else():
    (objective,) = aims(distribution=0).objectives()
    assert objective.name == "realism"
    assert objective.lipschitz == "penalty"
    assert len(objective.critic.judges) == 1


def test_a_sensitive_column_is_asked_from_all_others_unless_it_has_a_single_value():
    (question,) = aims().questions(Role.SENSITIVE)
    assert question.answer.tolist() == [0, 1]
    assert question.seen.tolist() == [2, 3, 4, 5, 6, 7]
    assert question.hot


def test_a_part_whose_only_sensitive_column_has_one_value_needs_no_attacker():
    full = aims(reidentification=1)
    table = Table.of(COLUMNS[2:], [np.arange(60) % 2, np.zeros(60)], 60)
    encoding = Encoding.of(table, 10, SEED)
    encoded = encoding.encode(table, SEED)
    part = Aims(full.settings, encoding, encoded, np.arange(60), 1, Blocks(encoded.layout))
    assert [each.name for each in part.objectives()] == ["realism", "distribution"]
