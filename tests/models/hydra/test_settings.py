"""Settings that follow the table."""

from __future__ import annotations

import pytest

from models.hydra.settings import Settings


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
