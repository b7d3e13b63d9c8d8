"""Settings that follow the table."""

from __future__ import annotations

import pytest

from models.hydra.settings import Settings
from models.schema import Column, Kind, Role


def column(role: Role) -> Column:
    return Column(name=role.value, kind=Kind.CATEGORICAL, dtype="int64", levels=(0, 1), role=role)


@pytest.mark.parametrize(("rows", "steps"), [(1, 40), (100, 400), (1_000_000, 4000)])
def test_steps_grow_with_the_square_root_of_the_rows(rows: int, steps: int):
    assert Settings().steps_for(rows) == steps


def test_steps_that_are_given_are_taken():
    assert Settings(steps=7).steps_for(1000) == 7


@pytest.mark.parametrize(
    ("heads", "rows", "packing", "each"),
    [(1, 1000, 1, 256), (3, 1000, 1, 84), (1, 1, 1, 32), (5, 1000, 8, 48), (300, 10, 1, 2)],
)
def test_a_head_sees_an_even_number_of_packs_in_a_step(heads: int, rows: int, packing: int, each: int):
    assert Settings(packing=packing).batch_of(heads, rows) == each


def test_what_no_column_can_follow_is_refused_by_name():
    asked = Settings(reidentification=1, accuracy=1)
    sensitive, target = asked.faults([column(Role.PLAIN)])
    assert (sensitive.where, sensitive.found) == ("reidentification", "no column has the role 'sensitive'")
    assert (target.where, target.found) == ("accuracy", "no column has the role 'target'")
    assert asked.faults([column(Role.SENSITIVE), column(Role.TARGET)]) == []
    assert Settings().faults([column(Role.PLAIN)]) == []


def test_a_generator_without_any_aim_at_the_table_is_refused():
    (fault,) = Settings(realism=0, distribution=0).faults([column(Role.PLAIN)])
    assert "neither realism nor distribution" in str(fault)


@pytest.mark.parametrize(
    ("weight", "attack", "loose"), [(0, "gain", 0), (0.3, "gain", 0.3), (5, "marginal", 1), (1, "quadratic", 0)]
)
def test_the_weight_of_re_identification_loosens_sensitive_columns_but_for_the_papers_attackers(
    weight: float, attack: str, loose: float
):
    assert Settings(reidentification=weight, attack=attack).loose == loose
