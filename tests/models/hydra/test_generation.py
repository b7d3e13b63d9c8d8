"""Rows from a network, and the corrections that give them the table's shares."""

from __future__ import annotations

import numpy as np
import pytest

from models.hydra.encoding import Encoding
from models.randomness import Seed, torch_stream
from models.schema import Column, Kind
from models.table import Table

torch = pytest.importorskip("torch")

from models.hydra.drawing import frequencies_of  # noqa: E402
from models.hydra.generation import Heads, calibrated, collapsed, corrected, hardened  # noqa: E402
from models.hydra.networks import Hydra  # noqa: E402

SEED = Seed.of(1)
ROWS = 1000
MEMBERS = (np.arange(800), np.arange(800, ROWS))
LEVELS = Column(name="l", kind=Kind.CATEGORICAL, dtype="int64", levels=(0, 1))
NUMBER = Column(name="x", kind=Kind.CONTINUOUS, dtype="double", bounds=(0, 1))
TABLE = Table.of([LEVELS, NUMBER], [np.arange(ROWS) % 10 == 0, np.linspace(0, 1, ROWS) ** 3], ROWS)
ENCODING = Encoding.of(TABLE, 10, SEED)
ENCODED = ENCODING.encode(TABLE, SEED)


def heads(weights: tuple[float, float] = (0.8, 0.2)) -> Heads:
    """Untrained ones."""
    with torch_stream(SEED):
        network = Hydra(2, 4, 2, 3, 16, "relu")
    return Heads(network, 4, np.array(weights), frequencies_of(ENCODED, MEMBERS))


def test_rows_come_from_the_heads_by_their_weights():
    known = heads()
    with torch.no_grad():
        known.network.head.bias[:, 0, 2] = torch.tensor([50.0, -50.0])
    rows = known.rows(ENCODING.layout, 500, SEED)
    assert (rows[:, 2] > 0).mean() == pytest.approx(0.8, abs=0.05)


def test_a_head_without_weight_is_never_drawn():
    known = heads((1.0, 0.0))
    with torch.no_grad():
        known.network.head.bias[1] = np.nan
    assert np.isfinite(known.rows(ENCODING.layout, 500, SEED)).all()


def test_more_rows_than_a_chunk_have_one_indicator_per_block_and_follow_the_seed():
    rows = heads().rows(ENCODING.layout, 10_500, SEED)
    assert rows.shape == (10_500, 3)
    assert set(rows[:, :2].sum(axis=1)) == {1.0}
    assert np.array_equal(rows, heads().rows(ENCODING.layout, 10_500, SEED))
    assert not np.array_equal(rows[:500], rows[-500:])


def test_levels_are_drawn_by_their_chances():
    logits = np.tile([np.log(3.0), 0.0, 9.9], (4000, 1))
    rows = hardened(ENCODING.layout, logits, SEED)
    assert rows[:, 0].mean() == pytest.approx(0.75, abs=0.03)
    assert set(rows[:, 2]) == {np.float32(9.9)}


def test_even_an_untrained_network_draws_levels_and_numbers_in_the_tables_shares_once_corrected():
    right = corrected(heads(), ENCODING.layout, SEED)
    fitting = calibrated(ENCODING, right, SEED)
    drawn = fitting.decode(right.rows(ENCODING.layout, 4000, SEED.child("rows")), SEED)
    assert drawn["l"].mean() == pytest.approx(0.1, abs=0.02)
    assert np.quantile(drawn["x"], [0.25, 0.5, 0.75]) == pytest.approx(
        np.quantile(TABLE["x"], [0.25, 0.5, 0.75]), abs=0.04
    )


def test_correcting_leaves_the_network_as_it_was():
    known = heads()
    before = known.network.head.bias.detach().clone()
    corrected(known, ENCODING.layout, SEED)
    assert torch.equal(known.network.head.bias, before)


def stuck() -> Heads:
    """The second of two heads says always the same."""
    known = heads()
    with torch.no_grad():
        known.network.head.weight[1] = 0.0
        known.network.head.bias[1, 0] = torch.tensor([5.0, -5.0, 0.0])
    return known


def test_a_head_that_says_always_the_same_is_reported():
    assert collapsed(stuck(), ENCODED, MEMBERS, SEED) == [1]


def test_collapse_shows_before_shares_are_corrected_and_not_always_afterwards():
    table = TABLE.select(["l"])
    encoding = Encoding.of(table, 10, SEED)
    encoded, known = encoding.encode(table, SEED), stuck()
    with torch.no_grad():
        known.network.head.weight = torch.nn.Parameter(known.network.head.weight[..., :2])
        known.network.head.bias = torch.nn.Parameter(known.network.head.bias[..., :2])
    assert collapsed(known, encoded, MEMBERS, SEED) == [1]
    assert collapsed(corrected(known, encoding.layout, SEED), encoded, MEMBERS, SEED) == []
