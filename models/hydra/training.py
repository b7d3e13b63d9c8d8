"""The training of the multi-head generator: alternating steps, averaged weights, and the best checkpoint by a score.

Every step draws from a stream of its own name, so training goes on from a checkpoint as if nothing had happened.
Importing this module imports torch.
"""

from __future__ import annotations

import copy
import logging
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models.errors import Fault, SynthesisError
from models.generators import Keeper
from models.hydra.drawing import Rows
from models.hydra.networks import Blocks, Hydra
from models.hydra.objectives import Batch, Objective, earth_mover, scalarised
from models.hydra.settings import FEWEST_STEPS, Settings
from models.randomness import Seed, torch_stream
from models.state import State

logger = logging.getLogger("parquetry")

SPOKEN = 10.0
"""Seconds between two lines of progress."""

POINTS = 100
"""Losses are kept for so many steps."""

OPEN = 0.3
"""The paper's gate: the earth mover's distance below which re-identification starts."""

FORMAT = 1
BETAS = (0.5, 0.9)
LAST_RATE = 0.02


@dataclass
class Progress:
    """How far training has come: ``score`` is the best one so far, None where nothing is scored, and the gate's
    distances are earth movers'.

    ``seconds`` are those used up of a time budget, 0 where there is none: what a machine takes is no part of a result
    that can be made again. ``losses`` are by objective (the agents' as ``<objective>/agent``) and ``scores`` are
    held-out ones, as pairs of a step and a value.
    """

    step: int = 0
    judged: int = 0
    chosen: int = 0
    score: float | None = None
    started_at: float | None = None
    opened: int | None = None
    seconds: float = 0.0
    losses: dict[str, list[list[float]]] = field(default_factory=dict)
    scores: list[list[float]] = field(default_factory=list)


class Training:
    """A network in training. ``score`` judges the averaged network, smaller is better; None keeps the last one."""

    def __init__(
        self,
        settings: Settings,
        rows: Rows,
        network: Hydra,
        objectives: Sequence[Objective],
        blocks: Blocks,
        seed: Seed,
    ):
        self.settings, self.rows, self.seed, self.blocks = settings, rows, seed, blocks
        self.network, self.averaged = network, copy.deepcopy(network)
        self.best = copy.deepcopy(network)
        self.objectives = tuple(objectives)
        self.taught = nn.ModuleList(objectives)
        self.progress = Progress()
        self.started = time.monotonic()
        taught = list(self.taught.parameters())
        self.adam = torch.optim.Adam(network.parameters(), settings.learning_rate, BETAS)
        self.agents = torch.optim.Adam(taught, settings.learning_rate, BETAS) if taught else None
        self.count = settings.steps_for(sum(map(len, rows.members)))
        self.each = settings.batch_of(len(rows.members), sum(map(len, rows.members)))

    def run(self, score: Callable[[Hydra], float] | None, keeper: Keeper | None = None) -> Hydra:
        """The network of the best score, or the last one. What a training that is taken up again has used of its time
        stays used.

        Raises SynthesisError where time was up before there was anything to speak of.
        """
        kept = keeper.load() if keeper else None
        if kept is not None:
            self.resume(kept)
        spoken = time.monotonic()
        self.started = spoken - self.progress.seconds
        passed = self._passed()
        with same_every_time():
            while self.progress.step < self.count and self._time() < 1:
                self.step()
                if (now := self._passed()) > passed:
                    passed = now
                    self._judge(score)
                    if keeper:
                        keeper.save(self.state())
                if time.monotonic() - spoken > SPOKEN:
                    spoken = time.monotonic()
                    self._speak()
        if self.progress.step < min(self.count, FEWEST_STEPS):
            found = f"time was up after {self.progress.step} of {self.count:,} steps"
            raise SynthesisError(Fault("seconds", found, f"allow more: {FEWEST_STEPS} steps at least have to be taken"))
        if self.progress.judged < self.progress.step:
            self._judge(score)
        return self.best

    def step(self) -> None:
        """One step of every agent and of the generator."""
        number = self.progress.step
        stream = torch.Generator().manual_seed(self.seed.child(f"noise/{number}").integer())
        rng = self.seed.child(f"rows/{number}").generator()
        self._set_rate()
        for _ in range(self.settings.critic_steps if self.agents else 0):
            self._teach(*self.batches(rng, stream, learn=False), stream)
        self._improve(*self.batches(rng, stream, learn=True), stream)
        with torch_stream(self.seed.child(f"refresh/{number}")):
            for objective in self.objectives:
                objective.refresh(number + 1)
        with torch.no_grad():
            keep = min(self.settings.averaging, (1 + number) / (10 + number))
            for mean, now in zip(self.averaged.parameters(), self.network.parameters(), strict=True):
                mean.lerp_(now, 1 - keep)
        self.progress.step += 1

    def batches(self, rng: np.random.Generator, stream: torch.Generator, *, learn: bool) -> tuple[Batch, Batch]:
        """Real rows, and generated ones under their conditions."""
        device = self.settings.device
        rows, conditions = (torch.from_numpy(each).to(device) for each in self.rows.draw(self.each, rng))
        noise = torch.randn((*rows.shape[:2], self.settings.noise), generator=stream).to(device)
        uniform = torch.rand(conditions.shape, generator=stream).to(device)
        with torch.set_grad_enabled(learn):
            logits = self.network(noise, conditions)
            made = self.blocks.relaxed(logits, uniform, self.settings.temperature)
        return Batch(rows, conditions), Batch(made, conditions, logits)

    def state(self) -> State:
        """Everything that ``resume`` needs; networks alone, no row."""
        arrays: dict[str, NDArray[Any]] = {}
        for name, module in self._modules().items():
            arrays |= {f"{name}/{key}": value.numpy(force=True).copy() for key, value in module.state_dict().items()}
        for name, adam in self._optimisers().items():
            for place, kept in adam.state_dict()["state"].items():
                arrays |= {f"{name}/{place}/{key}": value.numpy(force=True).copy() for key, value in kept.items()}
        return State("hydragan-training", FORMAT, dict(vars(self.progress)), arrays)

    def resume(self, state: State) -> None:
        """Go on from a state of a training with the same settings, rows and seed."""
        state.expect("hydragan-training", FORMAT)
        self.progress = Progress(**copy.deepcopy(dict(state.facts)))
        for name, module in self._modules().items():
            module.load_state_dict(_tensors(state, f"{name}/"))
        for name, adam in self._optimisers().items():
            kept: dict[int, dict[str, Tensor]] = {}
            for key, value in _tensors(state, f"{name}/").items():
                place, what = key.split("/")
                kept.setdefault(int(place), {})[what] = value
            adam.load_state_dict({**adam.state_dict(), "state": kept})

    def _modules(self) -> dict[str, nn.Module]:
        return {
            "network": self.network, "averaged": self.averaged, "best": self.best, "objectives": self.taught,
        }  # fmt: skip

    def _optimisers(self) -> dict[str, torch.optim.Adam]:
        return {"adam": self.adam} | ({"agents": self.agents} if self.agents else {})

    def _time(self) -> float:
        """Which share of the time budget has passed; 0 where there is none."""
        return (time.monotonic() - self.started) / self.settings.seconds if self.settings.seconds else 0.0

    def _passed(self) -> int:
        """How many checkpoints are behind: they lie evenly over the steps, or over the time where that is up first."""
        count = self.settings.checkpoints
        steps = [round(self.count * part / count) for part in range(1, count + 1)]
        return max(bisect_right(steps, self.progress.step), int(self._time() * count))

    def _set_rate(self) -> None:
        done = min(1.0, max(self.progress.step / self.count, self._time()))
        for adam in self._optimisers().values():
            for group in adam.param_groups:
                group["lr"] = self.settings.learning_rate * (min(1.0, 2 * (1 - done)) + LAST_RATE)

    def _teach(self, real: Batch, fake: Batch, stream: torch.Generator) -> None:
        fake = fake.detached()
        losses = {each.name: each.agent_loss(real, fake, stream) for each in self.objectives}
        taught = {name: loss for name, loss in losses.items() if loss is not None}
        assert self.agents is not None
        self.agents.zero_grad()
        torch.stack(list(taught.values())).sum().backward()  # type: ignore[no-untyped-call]
        self.agents.step()
        self._note({f"{name}/agent": loss for name, loss in taught.items()})

    def _improve(self, real: Batch, fake: Batch, stream: torch.Generator) -> None:
        pursued = [each for each in self.objectives if each.name != "reidentification" or self._open(real, fake)]
        losses = {each.name: each.generator_loss(fake, real, stream) for each in pursued}
        if not losses:
            return
        self.adam.zero_grad()
        scalarised(losses, {each.name: each.weight for each in pursued}, self.settings.scalarisation).backward()  # type: ignore[no-untyped-call]
        self.adam.step()
        self._note(losses)

    def _open(self, real: Batch, fake: Batch) -> bool:
        """Whether re-identification takes part; once it does, it stays."""
        progress = self.progress
        if progress.opened is None:
            distance = float(earth_mover(fake.detached(), real))
            progress.started_at = progress.started_at or distance
            limit = {"relative": progress.started_at / 2, "absolute": OPEN, "none": float("inf")}[self.settings.gate]
            progress.opened = progress.step if distance < limit else None
        return progress.opened is not None

    def _note(self, losses: dict[str, Tensor]) -> None:
        """Keep the losses of evenly spaced steps."""
        if self.progress.step % max(1, self.count // POINTS) == 0:
            for name, loss in losses.items():
                value = [self.progress.step, round(float(loss.detach()), 5)]
                self.progress.losses.setdefault(name, []).append(value)

    def _judge(self, score: Callable[[Hydra], float] | None) -> None:
        """Take the averaged network if nothing better is known."""
        self.progress.judged = self.progress.step
        self.progress.seconds = self._time() * (self.settings.seconds or 0.0)
        found = score(self.averaged) if score else None
        if found is not None:
            self.progress.scores.append([self.progress.step, round(found, 4)])
        if found is None or self.progress.score is None or found <= self.progress.score:
            self.progress.score, self.progress.chosen = found, self.progress.step
            self.best.load_state_dict(self.averaged.state_dict())

    def _speak(self) -> None:
        last = ", ".join(f"{name} {values[-1][1]:.3f}" for name, values in self.progress.losses.items())
        score = f"; held-out score {self.progress.scores[-1][1]:.3f}" if self.progress.scores else ""
        logger.info("step %d of %d: %s%s", self.progress.step, self.count, last, score)


def same_every_time() -> AbstractContextManager[None]:
    """Within it a CUDA device's convolutions are those that come out the same from run to run."""
    flags: AbstractContextManager[None] = torch.backends.cudnn.flags(enabled=True, deterministic=True)
    return flags


def _tensors(state: State, prefix: str) -> dict[str, Tensor]:
    found = {name: array for name, array in state.arrays.items() if name.startswith(prefix)}
    return {name.removeprefix(prefix): torch.from_numpy(np.array(array)) for name, array in found.items()}
