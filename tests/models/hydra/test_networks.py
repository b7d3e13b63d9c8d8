"""The networks, their shapes and what they do."""

from __future__ import annotations

import numpy as np
import pytest

from models.hydra.encoding import Layout
from models.randomness import Seed, torch_stream

torch = pytest.importorskip("torch")

from models.hydra.networks import Blocks, Critic, Hydra, Predictors, Stacked, log_leaks, signed_log  # noqa: E402

LAYOUT = Layout(
    width=6,
    scores=np.array([0, 3]),
    gates=np.array([1, -1]),
    starts=np.array([1, 4]),
    sizes=np.array([2, 2]),
    owners=np.array([0, 0, 0, 1, 2, 2]),
)


@pytest.fixture(autouse=True)
def stream():
    with torch_stream(Seed.of(1)):
        yield


def test_the_activations_candidates_keep_the_sign_and_grow_ever_slower():
    x = torch.tensor([-9.0, -0.5, 0.0, 0.5, 1.0, 9.0, 90.0])
    for activation in (signed_log, log_leaks):
        y = activation(x)
        assert torch.equal(torch.sign(y), torch.sign(x))
        assert y[-1] - y[-2] < (x[-1] - x[-2]) / 10
    assert log_leaks(x)[1:5].tolist() == x[1:5].tolist()


def test_stacked_layers_are_linear_layers_side_by_side():
    layers, x = Stacked(3, 4, 2), torch.randn(3, 5, 4)
    alone = torch.stack([x[i] @ layers.weight[i] + layers.bias[i] for i in range(3)])
    assert torch.allclose(layers(x), alone, atol=1e-6)


@pytest.mark.parametrize("activation", ["relu", "signed-log", "log-leaks"])
def test_heads_share_the_trunk_and_nothing_else(activation: str):
    network = Hydra(2, 3, 4, 6, 8, activation)
    noise, conditions = torch.randn(2, 5, 3), torch.zeros(2, 5, 4)
    rows = network(noise, conditions)
    assert rows.shape == (2, 5, 6)
    rows[0].sum().backward()
    assert network.first.weight.grad.abs().sum() > 0
    assert network.head.weight.grad[0].abs().sum() > 0
    assert network.head.weight.grad[1].abs().sum() == 0


@pytest.mark.parametrize("form", ["dense", "convolution"])
@pytest.mark.parametrize("conditional", [True, False])
@pytest.mark.parametrize("packing", [1, 2])
def test_a_critic_scores_packs_of_rows(form: str, conditional: bool, packing: int):
    critic = Critic(3, 10, 8, packing, form, conditional=conditional)
    scores = critic(torch.randn(3, 4, 6), torch.randn(3, 4, 4))
    assert scores.shape == (3, 4 // packing)
    assert len(critic.judges) == (1 if conditional else 3)


def test_a_refreshed_predictor_starts_anew_and_the_others_stay():
    predictors = Predictors(2, 3, 1)
    before = predictors(torch.ones(4, 3))
    predictors.refresh(0)
    after = predictors(torch.ones(4, 3))
    assert not torch.allclose(after[0], before[0])
    assert torch.equal(after[1], before[1])


def test_every_block_of_relaxed_rows_adds_up_to_one_and_a_missing_score_is_none():
    blocks, rows = Blocks(LAYOUT), torch.zeros(1, 3, 6)
    rows[..., 0], rows[..., 3] = 5.0, 7.0
    rows[0, 0, 2], rows[0, 1, 1] = 99.0, 99.0
    encoded = blocks.relaxed(rows, torch.full((1, 3, 4), 0.5), 0.3)
    assert encoded[..., 1:3].sum(-1).tolist() == [[1.0, 1.0, 1.0]]
    assert encoded[0, :2, 0].tolist() == [0.0, 5.0]
    assert encoded[..., 3].tolist() == [[7.0, 7.0, 7.0]]


def test_log_probabilities_are_those_of_each_block():
    told = Blocks(LAYOUT).logs(torch.zeros(6)).exp()
    assert told.tolist() == pytest.approx([0.5, 0.5, 0.5, 0.5])


def test_numbers_alone_have_no_block():
    layout = Layout(2, np.array([0, 1]), np.array([-1, -1]), np.zeros(0, int), np.zeros(0, int), np.array([0, 1]))
    rows = torch.randn(1, 4, 2)
    assert torch.equal(Blocks(layout).relaxed(rows, torch.zeros(1, 4, 0), 0.3), rows)
