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

from models.hydra.aims import Aims, faults  # noqa: E402
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
    assert question.column == "s"
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


def test_the_dependence_of_sensitive_columns_is_matched_the_less_the_less_they_shall_be_told():
    for weight, tied in ((0, 1), (0.25, 0.75), (1, 0), (3, 0)):
        (moments,) = aims(realism=0, reidentification=weight).objectives()[:1]
        assert moments.ties.tolist() == [tied, tied, 1, 1, 1, 1, 1, tied]


def test_what_no_column_can_follow_is_refused_by_name():
    found = [str(fault) for fault in faults(Settings(reidentification=1, accuracy=1), COLUMNS[2:3])]
    assert "no column has the role 'sensitive'" in found[0]
    assert "no column has the role 'target'" in found[1]
    assert not list(faults(Settings(reidentification=1, accuracy=1), COLUMNS))


def test_a_generator_without_any_aim_at_the_table_is_refused():
    (fault,) = faults(Settings(realism=0, distribution=0), COLUMNS)
    assert "neither realism nor distribution" in str(fault)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_not_there_is_refused():
    (fault,) = faults(Settings(device="cuda"), COLUMNS)
    assert "CUDA" in str(fault)
