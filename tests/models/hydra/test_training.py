"""Training: what it does to the generator, what it keeps, and that it can be taken up again."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from models.errors import StateError, SynthesisError
from models.hydra.drawing import Rows, frequencies_of
from models.hydra.encoding import Encoding
from models.hydra.settings import Settings
from models.randomness import Seed, torch_stream
from models.schema import Column, Kind, Role
from models.state import State
from models.table import Floats, Table

torch = pytest.importorskip("torch")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

from models.hydra import training as module  # noqa: E402
from models.hydra.aims import Aims  # noqa: E402
from models.hydra.generation import Heads, collapsed  # noqa: E402
from models.hydra.networks import Blocks, Hydra  # noqa: E402
from models.hydra.training import Training  # noqa: E402

SEED = Seed.of(1)
ROWS = 300
QUICK = {"hidden": 16, "noise": 8, "batch": 64, "learning_rate": 0.003}


def table() -> Table:
    """A level that a number tells, and a target that the number tells too."""
    x = Seed.of(2).generator().normal(size=ROWS)
    columns = [
        Column(name="s", kind=Kind.CATEGORICAL, dtype="int64", levels=(0, 1), role=Role.SENSITIVE),
        Column(name="x", kind=Kind.CONTINUOUS, dtype="double", bounds=(-5, 5)),
        Column(name="t", kind=Kind.CATEGORICAL, dtype="int64", levels=(0, 1), role=Role.TARGET),
    ]
    return Table.of(columns, [x > 0, x, x > 0.5], ROWS)


TABLE = table()
ENCODING = Encoding.of(TABLE, 10, SEED)
ENCODED = ENCODING.encode(TABLE, SEED)
MEMBERS = (np.arange(150), np.arange(150, ROWS))


def training(seed: Seed = SEED, heads: int = 1, device: str = "cpu", **more: Any) -> Training:
    settings = Settings(**{**QUICK, "steps": 60, **more}).model_copy(update={"device": device})
    members = MEMBERS if heads == 2 else (np.arange(ROWS),)
    with torch_stream(seed):
        network = Hydra(heads, 8, 4, 5, 16, settings.activation).to(device)
        blocks = Blocks(ENCODED.layout).to(device)
        objectives = Aims(settings, ENCODING, ENCODED, np.arange(ROWS), heads, blocks).objectives()
    return Training(settings, Rows(ENCODED, members), network, objectives, blocks, seed)


def weights(network: Hydra) -> Floats:
    return np.concatenate([value.numpy().ravel() for value in network.state_dict().values()])


def rows_of(network: Hydra) -> Floats:
    shares = frequencies_of(ENCODED, (np.arange(ROWS),))
    return Heads(network, 8, np.ones(1), shares).rows(ENCODED.layout, 2000, SEED).astype(np.float64)


def tie(rows: Floats) -> float:
    """The correlation of the sensitive level with the number."""
    return float(np.corrcoef(rows[:, 1], rows[:, 2])[0, 1])


def test_the_same_seed_gives_the_same_network_and_another_seed_another():
    first, again, other = (weights(training(seed, steps=4).run(None)) for seed in (SEED, SEED, Seed.of(9)))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_torchs_own_stream_is_neither_read_nor_moved():
    first = training(steps=3).run(None)
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    assert np.array_equal(weights(training(steps=3).run(None)), weights(first))
    assert torch.equal(torch.rand(1), expected)


def test_the_best_checkpoint_is_kept_and_a_later_worse_one_is_not():
    scores = iter([0.3, 0.1, 0.2])
    run = training(steps=6, checkpoints=3)
    best = run.run(lambda network: next(scores))
    assert run.progress.chosen == 4
    assert run.progress.scores == [[2, 0.3], [4, 0.1], [6, 0.2]]
    assert not np.array_equal(weights(best), weights(run.averaged))


def test_without_a_score_the_last_network_is_taken():
    run = training(steps=3)
    assert np.array_equal(weights(run.run(None)), weights(run.averaged))
    assert (run.progress.chosen, run.progress.score, run.progress.scores) == (3, None, [])


def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training's clock starts anew and goes on by a second each time that it is asked."""
    moments = itertools.count()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(moments)))


def test_when_time_is_up_training_ends_with_what_it_has(monkeypatch: pytest.MonkeyPatch):
    ticking(monkeypatch)
    run = training(steps=4000, seconds=120)
    run.run(lambda network: 0.2)
    assert 20 <= run.progress.step < 40
    assert run.progress.chosen == run.progress.step


def test_a_network_that_time_left_untrained_is_refused():
    with pytest.raises(SynthesisError, match="seconds: time was up after 0 of 4,000 steps"):
        training(steps=4000, seconds=1e-9).run(None)


class Shelf:
    """States by the order in which they were saved, as JSON and arrays."""

    def __init__(self) -> None:
        self.kept: list[State] = []

    def save(self, state: State) -> None:
        facts = json.loads(json.dumps(dict(state.facts)))
        self.kept.append(State(state.kind, state.version, facts, dict(state.arrays)))

    def load(self) -> State | None:
        return self.kept[-1] if self.kept else None


def test_training_goes_on_from_a_checkpoint_as_if_nothing_had_happened():
    shelf = Shelf()
    settings = {"steps": 6, "checkpoints": 2, "reidentification": 1, "gate": "none"}
    whole = training(**settings).run(lambda network: 0.1, shelf)
    shelf.kept.pop()
    again = training(**settings)
    assert np.array_equal(weights(again.run(lambda network: 0.1, shelf)), weights(whole))
    assert again.progress.scores == [[3, 0.1], [6, 0.1]]


def test_checkpoints_are_spread_over_the_time_where_that_is_up_before_the_steps(monkeypatch: pytest.MonkeyPatch):
    ticking(monkeypatch)
    run, shelf = training(steps=4000, seconds=400, checkpoints=4), Shelf()
    run.run(lambda network: 0.2, shelf)
    saved = [state.facts["step"] for state in shelf.kept]
    quarter = run.progress.step / 4
    assert saved == pytest.approx([quarter, 2 * quarter, 3 * quarter, run.progress.step], abs=2)


def test_a_training_that_is_taken_up_again_has_only_what_is_left_of_its_time(monkeypatch: pytest.MonkeyPatch):
    settings, shelf = {"steps": 4000, "seconds": 400, "checkpoints": 4}, Shelf()
    ticking(monkeypatch)
    whole = training(**settings)
    whole.run(lambda network: 0.2, shelf)
    shelf.kept[3:] = []
    ticking(monkeypatch)
    again = training(**settings)
    again.run(lambda network: 0.2, shelf)
    assert again.progress.step == pytest.approx(whole.progress.step, abs=2)
    assert again.progress.seconds == pytest.approx(400, abs=4)


def test_without_a_time_budget_no_time_is_noted():
    run = training(steps=3)
    run.run(None)
    assert run.progress.seconds == 0


def test_a_state_of_something_else_is_not_taken_up():
    with pytest.raises(StateError):
        training().resume(State("cart", 1))


def test_curves_and_progress_are_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture):
    monkeypatch.setattr(module, "SPOKEN", 0.0)
    run = training(steps=3)
    with caplog.at_level(logging.INFO, "parquetry"):
        run.run(lambda network: 0.25)
    assert "step 2 of 3: realism/agent" in caplog.text
    assert "held-out score 0.250" in caplog.text
    assert [step for step, _ in run.progress.losses["distribution"]] == [0, 1, 2]
    assert set(run.progress.losses) == {"realism/agent", "realism", "distribution"}


@pytest.mark.parametrize(
    "settings",
    [
        {"critic": "per-head"},
        {"critic_form": "convolution"},
        {"lipschitz": "clipping"},
        {"packing": 4},
        {"scalarisation": "hypervolume", "diversity": 1, "accuracy": 1},
        {"realism": 0},
        {"distribution": 0},
        {"activation": "log-leaks", "critic_steps": 2},
    ],
)
def test_every_way_of_training_moves_the_generator(settings: dict[str, Any]):
    run = training(steps=2, heads=2, **settings)
    before = weights(run.network)
    run.run(None)
    after = weights(run.network)
    assert np.isfinite(after).all()
    assert not np.array_equal(after, before)


@pytest.mark.parametrize("attack", ["gain", "marginal", "quadratic"])
def test_the_gradient_of_every_objective_reaches_the_trunk_and_every_head(attack: str):
    """Attackers that know nothing yet are no reason to change anything; some steps teach them."""
    run = training(steps=60, heads=2, reidentification=0.3, gate="none", attack=attack, accuracy=1, diversity=1)
    for _ in range(30):
        run.step()
    stream = torch.Generator().manual_seed(1)
    real, fake = run.batches(SEED.generator(), stream, learn=True)
    reached = {}
    for objective in run.objectives:
        run.network.zero_grad()
        objective.generator_loss(fake, real, stream).backward(retain_graph=True)
        trunk, heads = run.network.first.weight.grad, run.network.head.weight.grad
        reached[objective.name] = tuple(bool((each != 0).any()) for each in (trunk, *heads))
    assert reached == dict.fromkeys(
        ("realism", "distribution", "reidentification", "diversity", "accuracy"), (True, True, True)
    )


def test_one_head_with_realism_alone_is_a_wgan_with_gradient_penalty():
    """arXiv 1704.00028, Algorithm 1, and CTGAN's cross entropy of what is asked for; both written out."""
    run = training(distribution=0, packing=1)
    (realism,) = run.objectives
    real, fake = run.batches(SEED.generator(), torch.Generator().manual_seed(1), learn=True)
    layers, conditions = realism.critic.judges[0].layers, real.conditions

    def scores(rows: torch.Tensor) -> torch.Tensor:
        return layers(torch.cat([rows, conditions, torch.ones(1, rows.shape[1], 1)], -1))[..., 0]

    share = torch.rand((1, real.rows.shape[1]), generator=torch.Generator().manual_seed(2))[..., None]
    between = (share * real.rows + (1 - share) * fake.rows.detach()).requires_grad_()
    (slope,) = torch.autograd.grad(scores(between).sum(), between)
    penalty = 10 * ((slope.square().sum(-1).sqrt() - 1) ** 2).mean()
    critic = scores(fake.rows).mean() - scores(real.rows).mean() + penalty
    told = realism.agent_loss(real, fake.detached(), torch.Generator().manual_seed(2))
    assert told.item() == pytest.approx(critic.item(), abs=1e-5)

    starts = ENCODED.layout.starts
    logs = torch.cat([fake.logits[..., at : at + 2].log_softmax(-1) for at in starts], -1)
    asked = -(logs * conditions).sum(-1).mean()
    lost = realism.generator_loss(fake, real, torch.Generator())
    assert lost.item() == pytest.approx((asked - scores(fake.rows).mean()).item(), abs=1e-5)


class OneDevice(TorchDispatchMode):
    """Within it, an operation on tensors of several devices fails, unless it is a copy; single numbers may be anywhere.

    Devices without storage do not complain of all such operations by themselves.
    """

    COPIES = (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor) and each.dim()]
        assert func in self.COPIES or len({each.device for each in given}) < 2, func
        return func(*args, **(kwargs or {}))


def test_the_guard_of_devices_sees_two_of_them():
    with OneDevice(), pytest.raises(AssertionError, match="mm"):
        torch.zeros(2, 2) @ torch.zeros(2, 2, device="meta")


@pytest.mark.parametrize(
    "settings",
    [
        {"reidentification": 0.5, "accuracy": 1, "diversity": 1},
        {"critic": "per-head", "critic_form": "convolution", "packing": 2, "reidentification": 1, "attack": "marginal"},
        {"lipschitz": "clipping", "scalarisation": "hypervolume", "accuracy": 1},
    ],
)
def test_a_step_keeps_to_the_device_that_was_asked_for(settings: dict[str, Any]):
    """On torch's device without storage, as there need not be another one: neither losses nor the gate are read."""
    run = training(steps=400, heads=2, device="meta", **settings)
    run.progress.step, run.progress.opened = 1, 0
    with OneDevice():
        run.step()
    assert {each.device.type for each in (*run.averaged.parameters(), *run.taught.parameters())} == {"meta"}
    assert {each.grad.device.type for each in run.network.parameters()} == {"meta"}


@pytest.mark.parametrize("gate", ["relative", "absolute"])
def test_the_gate_opens_once_rows_have_come_near_and_stays_open(gate: str):
    run = training(steps=2, reidentification=1, gate=gate)
    real, fake = run.batches(SEED.generator(), torch.Generator().manual_seed(1), learn=False)
    far = module.Batch(fake.rows + 9, fake.conditions)
    assert not run._open(real, far)
    assert run._open(real, real)
    assert run._open(real, far)


def test_an_open_gate_lets_re_identification_in_at_once():
    run = training(steps=1, reidentification=1, gate="none")
    run.run(None)
    assert run.progress.opened == 0


def test_a_collapsed_head_recovers():
    run = training(steps=80, heads=2)
    with torch.no_grad():
        run.network.head.weight[1] = 0.0
        run.network.head.bias[1, 0] = torch.tensor([5.0, -5.0, 0.0, 5.0, -5.0])
    shares = frequencies_of(ENCODED, MEMBERS)
    assert collapsed(Heads(run.network, 8, np.ones(2) / 2, shares), ENCODED, MEMBERS, SEED) == [1]
    best = run.run(None)
    assert collapsed(Heads(best, 8, np.ones(2) / 2, shares), ENCODED, MEMBERS, SEED) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 3])
def test_moments_keep_a_dependence_and_attackers_alone_take_it_away_though_rows_have_it(number: int):
    kept = training(Seed.of(number), steps=400)
    lost = training(Seed.of(number), steps=400, reidentification=5, gate="none")
    before, after = (tie(rows_of(run.run(None))) for run in (kept, lost))
    assert before > 0.5
    assert abs(after) < before - 0.2


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_distribution_term_brings_second_moments_nearer_at_equal_steps(number: int):
    real = np.cov(ENCODED.rows(np.arange(ROWS), 0.5).T)
    without, with_it = (
        np.abs(np.cov(rows_of(training(Seed.of(number), steps=200, distribution=weight).run(None)).T) - real).mean()
        for weight in (0, 1)
    )
    assert with_it < without


def apart(rows: Floats) -> float:
    """How far generated rows' second moments are from real ones."""
    return float(np.abs(np.cov(rows.T) - np.cov(ENCODED.rows(np.arange(ROWS), 0.5).T)).mean())


def follows(rows: Floats) -> float:
    """The correlation of the target's level with the number."""
    return float(np.corrcoef(rows[:, 2], rows[:, 4])[0, 1])


def variety(rows: Floats) -> float:
    """The mean standard deviation of what is generated."""
    return float(rows.std(axis=0).mean())


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize(
    ("measure", "off", "on", "better"),
    [
        (apart, {"diversity": 1}, {"diversity": 1, "realism": 1}, -1),
        (follows, {"diversity": 3}, {"diversity": 3, "accuracy": 1}, 1),
        (variety, {"accuracy": 1}, {"accuracy": 1, "diversity": 1}, 1),
    ],
    ids=["realism", "accuracy", "diversity"],
)
def test_an_objective_switched_on_moves_a_measure_that_is_not_its_own(
    measure: Callable[[Floats], float], off: dict[str, Any], on: dict[str, Any], better: int, number: int
):
    runs = (training(Seed.of(number), steps=150, **{"realism": 0, "distribution": 0, **each}) for each in (off, on))
    before, after = (measure(rows_of(run.run(None))) for run in runs)
    assert better * (after - before) > 0
