"""What each objective asks for, and that the generator hears it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from models.hydra.encoding import Layout
from models.randomness import Seed, torch_stream

torch = pytest.importorskip("torch")

from models.hydra.networks import Blocks, Critic  # noqa: E402
from models.hydra.objectives import (  # noqa: E402
    Accuracy,
    Batch,
    Distribution,
    Diversity,
    Objective,
    Question,
    Realism,
    Reidentification,
    earth_mover,
    scalarised,
)

WIDTH = 3
LAYOUT = Layout(WIDTH, np.array([0]), np.array([-1]), np.array([1]), np.array([2]), np.array([0, 1, 1]))
LEVELS = Question(torch.tensor([1, 2]), torch.tensor([0]), hot=True)
SCORE = Question(torch.tensor([0]), torch.tensor([1, 2]), hot=False)


@pytest.fixture(autouse=True)
def stream():
    with torch_stream(Seed.of(1)):
        yield


def drawing() -> torch.Generator:
    return torch.Generator().manual_seed(1)


def dependent(rows: int, strength: float) -> Batch:
    """A score whose sign tells the level with ``strength`` 1, and nothing of it with 0."""
    score = torch.randn(1, rows, 1)
    level = torch.where(torch.rand(1, rows, 1) < strength, score > 0, torch.rand(1, rows, 1) > 0.5).float()
    return Batch(torch.cat([score, 1 - level, level], -1), torch.zeros(1, rows, 2))


def critic(lipschitz: str = "penalty") -> Realism:
    network = Critic(1, WIDTH + 2, 32, 1, "dense", conditional=True)
    return Realism(1.0, network, Blocks(LAYOUT), lipschitz)


def moments() -> Distribution:
    return Distribution(1.0, torch.zeros(WIDTH), torch.ones(WIDTH))


OBJECTIVES: dict[str, Callable[[], Objective]] = {
    "realism": critic,
    "distribution": moments,
    "marginal": lambda: Reidentification(1.0, [LEVELS, SCORE], "marginal"),
    "gain": lambda: Reidentification(1.0, [LEVELS, SCORE], "gain"),
    "quadratic": lambda: Reidentification(1.0, [LEVELS, SCORE], "quadratic"),
    "accuracy": lambda: Accuracy(1.0, [LEVELS, SCORE]),
    "diversity": lambda: Diversity(1.0, Blocks(LAYOUT)),
}


def taught(objective: Objective, steps: int = 100, generated: float = 0.0, turned: bool = False) -> Objective:
    """Taught by real rows of full dependence, and by generated ones of as much as is said, or the same upside down."""
    adam = torch.optim.Adam(objective.parameters(), 0.03)
    for _ in range(steps):
        fake = dependent(64, generated)
        fake = replace(fake, rows=fake.rows[..., [0, 2, 1]]) if turned else fake
        adam.zero_grad()
        objective.agent_loss(dependent(64, 1.0), fake, drawing()).backward()
        adam.step()
    return objective


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_objectives_gradient_reaches_the_generated_rows(name: str):
    objective = OBJECTIVES[name]()
    if name == "gain":
        taught(objective, generated=1.0)
    fake = dependent(32, 1.0)
    fake = Batch((0.3 * fake.rows).requires_grad_(), fake.conditions)
    objective.generator_loss(fake, dependent(32, 1.0), drawing()).backward()
    assert fake.rows.grad.abs().sum() > 0


def test_what_is_detached_teaches_the_agents_alone():
    fake = dependent(8, 1.0)
    rows = fake.rows.requires_grad_()
    critic().agent_loss(dependent(8, 1.0), Batch(rows, fake.conditions, rows).detached(), drawing()).backward()
    assert rows.grad is None


def test_objectives_without_an_agent_have_nothing_to_teach():
    assert moments().agent_loss(dependent(8, 1.0), dependent(8, 1.0), drawing()) is None


def test_a_critic_learns_to_prefer_real_rows():
    objective = taught(critic())
    real, fake = dependent(500, 1.0), dependent(500, 0.0)
    assert objective.generator_loss(real, real, drawing()) < objective.generator_loss(fake, real, drawing()) - 0.05


def test_clipping_keeps_weights_small():
    objective = critic("clipping")
    objective.refresh(1)
    assert max(float(p.detach().abs().max()) for p in objective.parameters()) <= Realism.CLIP


def test_a_condition_that_is_not_met_costs():
    objective, batch = critic(), dependent(4, 1.0)
    asked = torch.tensor([1.0, 0.0]).expand(1, 4, 2)
    said = [torch.tensor([0.0, first, -first]).expand(1, 4, 3) for first in (3.0, -3.0)]
    met, missed = (objective.generator_loss(Batch(batch.rows, asked, logits), batch, drawing()) for logits in said)
    assert missed > met + 5


def test_moments_see_a_dependence_that_is_lost():
    real = dependent(4000, 1.0)
    lost = moments().generator_loss(dependent(4000, 0.0), real, drawing())
    kept = moments().generator_loss(dependent(4000, 1.0), real, drawing())
    assert lost > 0.1
    assert abs(kept) < 0.01


def test_many_features_are_compared_some_at_a_time():
    rows = torch.randn(2, 8, 300)
    batch = Batch(rows, torch.zeros(2, 8, 0))
    wide = Distribution(1.0, torch.zeros(300), torch.ones(300))
    assert wide.generator_loss(batch, batch, drawing()) == 0


@pytest.mark.parametrize("loss", ["gain", "marginal"])
def test_attackers_that_learned_from_generated_rows_find_less_in_rows_without_the_dependence(loss: str):
    objective = taught(Reidentification(1.0, [LEVELS], loss), generated=1.0)
    telling, silent = dependent(2000, 1.0), dependent(2000, 0.0)
    if loss == "marginal":
        silent = Batch(silent.rows * torch.tensor([0.0, 1.0, 1.0]), silent.conditions)
    heard, unheard = (objective.generator_loss(batch, telling, drawing()) for batch in (telling, silent))
    assert heard > 0.3
    assert unheard < heard / 2


def test_rows_that_are_turned_upside_down_give_away_as_much_to_attackers_who_learn_from_them():
    upside_down = dependent(2000, 1.0)
    upside_down = replace(upside_down, rows=upside_down.rows[..., [0, 2, 1]])
    for loss, earned in (("gain", False), ("quadratic", True)):
        objective = taught(Reidentification(1.0, [LEVELS], loss), generated=1.0, turned=True)
        turned, free = (objective.generator_loss(b, b, drawing()) for b in (upside_down, dependent(2000, 0.0)))
        assert (turned < free - 0.1) == earned


def test_a_target_that_follows_as_it_really_does_costs_less():
    objective = taught(Accuracy(1.0, [LEVELS]))
    follows, free = (objective.generator_loss(dependent(1000, s), dependent(8, 1.0), drawing()) for s in (1.0, 0.0))
    assert follows < free - 0.3


def test_agents_are_refreshed_in_turn():
    objective = Accuracy(1.0, [SCORE])
    before = objective.agents[0].inner.weight.detach().clone()
    objective.refresh(1)
    assert torch.equal(objective.agents[0].inner.weight, before)
    objective.refresh(Accuracy.REFRESHED)
    changed = [not torch.equal(new, old) for new, old in zip(objective.agents[0].inner.weight, before, strict=True)]
    assert changed == [False, True, False]


def test_variety_costs_nothing_and_lacking_it_does():
    objective, real = Diversity(1.0, Blocks(LAYOUT)), dependent(1000, 1.0)
    alike = Batch(real.rows[:, :1].expand(-1, 1000, -1), real.conditions)
    assert objective.generator_loss(real, real, drawing()) == 0
    assert objective.generator_loss(alike, real, drawing()) > 0.5


def test_the_weighted_sum_weighs():
    losses = {"a": torch.tensor(2.0), "b": torch.tensor(3.0)}
    assert scalarised(losses, {"a": 1.0, "b": 10.0}, "weights") == 32


def test_hypervolume_pulls_hardest_at_the_worst_objective():
    losses = {name: torch.tensor(value, requires_grad=True) for name, value in (("a", -2.0), ("b", 3.0))}
    scalarised(losses, {"a": 1.0, "b": 1.0}, "hypervolume").backward()
    assert losses["a"].grad == pytest.approx(1 / 6)
    assert losses["b"].grad == pytest.approx(1.0)


def test_the_earth_movers_distance_is_how_far_rows_are_moved():
    rows = torch.tensor([[[0.0], [1.0]]])
    assert earth_mover(Batch(rows + 2, rows), Batch(rows.flip(1), rows)) == 2


def test_the_critics_own_and_the_literal_sum_of_losses_leave_the_generator_nothing():
    """The paper's cooperative loss for a zero-sum pair: the sum of both losses does not depend on what is generated."""
    objective, fake = critic(), dependent(16, 1.0)
    rows = fake.rows.requires_grad_()
    batch = Batch(rows, fake.conditions)
    own = objective.critic(rows, fake.conditions).mean()
    (own + objective.generator_loss(batch, batch, drawing())).backward()
    assert rows.grad.abs().max() < 1e-7


def test_what_is_told_is_compared_with_the_shares_of_the_rows_that_are_asked_not_of_the_table():
    answers = torch.tensor([[0.0, 1.0]] * 9 + [[1.0, 0.0]])
    guess = torch.tensor([[0.1, 0.9]]).log().expand(1, 10, 2)
    assert float(LEVELS.gain(guess, answers).mean()) == pytest.approx(0, abs=1e-6)
    assert float(LEVELS.divergence(guess, answers).mean()) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("loss", "others"), [("gain", False), ("marginal", True), ("quadratic", True)])
def test_re_identification_by_gain_moves_the_sensitive_cells_alone(loss: str, others: bool):
    objective = taught(Reidentification(1.0, [LEVELS], loss), generated=1.0)
    batch = dependent(50, 1.0)
    rows = batch.rows.clone().requires_grad_()
    objective.generator_loss(replace(batch, rows=rows), batch, drawing()).backward()
    assert bool((rows.grad[..., 0] != 0).any()) == others
