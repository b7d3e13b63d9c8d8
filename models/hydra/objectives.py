"""What the generator is to achieve, each as an object: its agent's loss, the generator's loss and a weight.

Importing this module imports torch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.hydra.networks import Blocks, Critic, Predictors

MOMENTS = 256
"""So many features, drawn anew at each step, have their second moments compared."""

SPREAD = 0.1
"""Added to a feature's standard deviation, so that the rarest levels do not outweigh the rest."""


RAREST = 1e-4
"""A level that no row has still has a share, so that logarithms are finite."""


@dataclass(frozen=True)
class Batch:
    """Encoded rows, shape (heads, rows, width), with their conditions, shape (heads, rows, entries).

    ``logits`` of generated rows are what the generator said before the blocks' softmax; real rows have none. Generated
    row i of a head has the condition of real row i.
    """

    rows: Tensor
    conditions: Tensor
    logits: Tensor | None = None

    def detached(self) -> Batch:
        return replace(self, rows=self.rows.detach(), logits=None)


class Objective(nn.Module, ABC):
    """One of the generator's aims. ``weight`` is its share in the generator's loss; an agent has its own loss alone."""

    name: str

    def __init__(self, weight: float):
        super().__init__()
        self.weight = weight

    def agent_loss(self, real: Batch, fake: Batch, stream: torch.Generator) -> Tensor | None:
        """What the agent learns from (``fake`` comes detached); None for an objective without one."""
        return None

    @abstractmethod
    def generator_loss(self, fake: Batch, real: Batch, stream: torch.Generator) -> Tensor:
        """What the generator learns from; ``real`` rows are those of the same conditions."""

    def refresh(self, step: int) -> None:
        """Called after each step."""


class Realism(Objective):
    """A Wasserstein critic (arXiv 1701.07875) with gradient penalty (arXiv 1704.00028, Equation 3), or with clipping.

    The generator's loss has CTGAN's cross entropy of the conditions on top: what is asked for has to come.
    """

    name = "realism"
    PENALTY = 10.0
    CLIP = 0.01

    def __init__(self, weight: float, critic: Critic, blocks: Blocks, lipschitz: Literal["penalty", "clipping"]):
        super().__init__(weight)
        self.critic, self.blocks, self.lipschitz = critic, blocks, lipschitz

    def agent_loss(self, real: Batch, fake: Batch, stream: torch.Generator) -> Tensor:
        told: Tensor = self.critic(fake.rows, fake.conditions).mean() - self.critic(real.rows, real.conditions).mean()
        return told + self._penalty(real, fake, stream) if self.lipschitz == "penalty" else told

    def generator_loss(self, fake: Batch, real: Batch, stream: torch.Generator) -> Tensor:
        loss: Tensor = -self.critic(fake.rows, fake.conditions).mean()
        if fake.logits is None or not fake.conditions.shape[-1]:
            return loss
        asked = self.blocks.logs(fake.logits) * fake.conditions
        return loss - asked.sum() / asked[..., 0].numel()

    def refresh(self, step: int) -> None:
        if self.lipschitz == "clipping":
            with torch.no_grad():
                for parameter in self.critic.parameters():
                    parameter.clamp_(-self.CLIP, self.CLIP)

    def _penalty(self, real: Batch, fake: Batch, stream: torch.Generator) -> Tensor:
        """The critic's slope, per pack, at points drawn between real and generated packs of the same conditions."""
        heads, rows = real.rows.shape[:2]
        packs = (heads, rows // self.critic.packing)
        share = torch.rand(packs, generator=stream).to(real.rows.device).repeat_interleave(self.critic.packing, 1)
        between = torch.lerp(fake.rows, real.rows, share[..., None]).requires_grad_()
        scores = self.critic(between, real.conditions).sum()
        (slope,) = torch.autograd.grad(scores, between, create_graph=True)
        penalty: Tensor = self.PENALTY * ((slope.reshape(*packs, -1).norm(dim=-1) - 1) ** 2).mean()
        return penalty


class Distribution(Objective):
    """Distribution realism: do batches agree in the means and second moments of their features, head by head?

    The squared difference is taken as the product of two half-batches' differences, whose expectation has no term of
    sampling noise: there is nothing to be gained by less variety.

    NOTE[DIFF]: HydraGAN's journal version (10.1145/3653982) has a discriminator for this. Moments need no agent, cannot
    oscillate, and see a wrong dependence in some steps where a critic of few rows needs thousands.
    """

    name = "distribution"
    means: Tensor
    deviations: Tensor

    def __init__(self, weight: float, means: Tensor, deviations: Tensor):
        super().__init__(weight)
        self.register_buffer("means", means, persistent=False)
        self.register_buffer("deviations", deviations + SPREAD, persistent=False)

    def generator_loss(self, fake: Batch, real: Batch, stream: torch.Generator) -> Tensor:
        chosen = torch.arange(fake.rows.shape[-1])
        if len(chosen) > MOMENTS:
            chosen = torch.randperm(len(chosen), generator=stream)[:MOMENTS]
        chosen = chosen.to(fake.rows.device)
        drawn, seen = self._features(fake, chosen), self._features(real, chosen)
        half = max(1, drawn.shape[1] // 2)
        parts = (slice(0, half), slice(drawn.shape[1] - half, None))
        first, second = (self._moments(drawn[:, part]) - self._moments(seen[:, part]) for part in parts)
        return (first * second).sum((1, 2)).mean() / len(chosen)

    def _features(self, batch: Batch, chosen: Tensor) -> Tensor:
        return (batch.rows[..., chosen] - self.means[chosen]) / self.deviations[chosen]

    def _moments(self, rows: Tensor) -> Tensor:
        """Twice the means, above the second moments: shape (heads, features + 1, features)."""
        second = rows.transpose(1, 2) @ rows / rows.shape[1]
        return torch.cat([2 * rows.mean(1, keepdim=True), second], 1)


@dataclass(frozen=True)
class Question:
    """A column to be told from the others: the positions of its ``answer`` in an encoded row and of what is ``seen``.

    The answer is one of several levels (``hot``), or a score, whose distribution is standard normal.
    """

    answer: Tensor
    seen: Tensor
    hot: bool

    def to(self, device: str) -> Question:
        return Question(self.answer.to(device), self.seen.to(device), self.hot)

    def gain(self, told: Tensor, answers: Tensor) -> Tensor:
        """How much likelier each answer is than by the shares of all ``answers`` alone, a difference of
        log-likelihoods. Shares in the table would not do: training asks for rare levels more often than they come.
        """
        if not self.hot:
            return (told * answers - told**2 / 2).squeeze(-1)
        return ((functional.log_softmax(told, -1) - _shares(answers).log()) * answers).sum(-1)

    def divergence(self, told: Tensor, answers: Tensor) -> Tensor:
        """KL(p(answer | seen) || p(answer)) of what is told; p(answer) are the shares of ``answers``."""
        if not self.hot:
            return (told**2 / 2).squeeze(-1)
        logs = functional.log_softmax(told, -1)
        return (logs.exp() * (logs - _shares(answers).log())).sum(-1)

    def distance(self, told: Tensor, answers: Tensor) -> Tensor:
        """The squared distance between what is told and the answer."""
        return (((torch.softmax(told, -1) if self.hot else told) - answers) ** 2).sum(-1)


def _shares(answers: Tensor) -> Tensor:
    """Of the levels among answers, shape (rows, levels)."""
    return answers.detach().mean(0).clamp(min=RAREST)


class Asking(Objective):
    """An objective whose agents, several per column, learn to tell columns from the others, here from real rows.

    NOTE[DIFF]: HydraGAN has such an agent for each head. Here heads share them: whoever has a release has the rows of
    all heads, and a small cluster alone has little to learn from.
    """

    COUNT = 3
    REFRESHED = 50
    """Every so many steps, one agent of each column starts anew, in turn."""

    def __init__(self, weight: float, questions: Sequence[Question]):
        super().__init__(weight)
        self.questions = tuple(questions)
        self.agents = nn.ModuleList(Predictors(self.COUNT, len(q.seen), len(q.answer)) for q in questions)

    def agent_loss(self, real: Batch, fake: Batch, stream: torch.Generator) -> Tensor:
        return self.untold(self.taught_by(real, fake))

    def untold(self, batch: Batch) -> Tensor:
        """How much the agents miss of the answers in these rows."""
        losses = []
        rows = batch.rows.flatten(0, 1)
        for question, agents in zip(self.questions, self.agents, strict=True):
            losses.append(-question.gain(agents(rows[:, question.seen]), rows[:, question.answer]).mean())
        return torch.stack(losses).sum()

    def taught_by(self, real: Batch, fake: Batch) -> Batch:
        """The rows that the agents learn from."""
        return real

    def refresh(self, step: int) -> None:
        if step % self.REFRESHED == 0:
            for agents in self.agents:
                assert isinstance(agents, Predictors)
                agents.refresh(step // self.REFRESHED % self.COUNT)


class Reidentification(Asking):
    """Sensitive columns shall not be told from the others.

    ``gain``: generated answers shall be no likelier to the agents than by the shares alone, on average over a batch (a
    hinge at 0); it moves the answers alone, and leaves what is learned of the other columns as it is. ``marginal``:
    what the agents tell of generated rows shall be the shares. ``quadratic``, the paper's: it shall differ from the
    generated answer, the more the better, which rewards an inverted prediction.

    NOTE[DIFF]: HydraGAN's agents learn from real rows, and so they do under ``quadratic``. Under the others they learn
    from generated rows, as whoever attacks a release does: agents that know real rows alone are content with rows in
    which all that they know is turned upside down, which tells as much.
    """

    name = "reidentification"

    def __init__(self, weight: float, questions: Sequence[Question], loss: Literal["marginal", "gain", "quadratic"]):
        super().__init__(weight, questions)
        self.loss = loss

    def taught_by(self, real: Batch, fake: Batch) -> Batch:
        return real if self.loss == "quadratic" else fake

    def generator_loss(self, fake: Batch, real: Batch, stream: torch.Generator) -> Tensor:
        losses = []
        rows = fake.rows.flatten(0, 1)
        for question, agents in zip(self.questions, self.agents, strict=True):
            seen, answers = rows[:, question.seen], rows[:, question.answer]
            told = agents(seen.detach() if self.loss == "gain" else seen)
            if self.loss == "marginal":
                losses.append(question.divergence(told, answers).mean())
            elif self.loss == "gain":
                losses.append(functional.relu(question.gain(told, answers).mean(-1)).mean())
            else:
                losses.append(-question.distance(told, answers).mean())
        return torch.stack(losses).sum()


class Accuracy(Asking):
    """Target columns shall follow from the others as agents learned it from real rows."""

    name = "accuracy"

    def generator_loss(self, fake: Batch, real: Batch, stream: torch.Generator) -> Tensor:
        return self.untold(fake)


class Diversity(Objective):
    """Columns shall vary as much as they do in real rows, head by head: the entropy that blocks of indicators lack, and
    what scores lack in the logarithm of their standard deviation. More variety than real rows have earns nothing.
    """

    name = "diversity"

    def __init__(self, weight: float, blocks: Blocks):
        super().__init__(weight)
        self.blocks = blocks

    def generator_loss(self, fake: Batch, real: Batch, stream: torch.Generator) -> Tensor:
        lacking = functional.relu(self._variety(real) - self._variety(fake))
        return lacking.mean()

    def _variety(self, batch: Batch) -> Tensor:
        """Shape (heads, blocks + scores)."""
        shares = self.blocks.padded(batch.rows.mean(1)).clamp(min=0)
        entropy = -(shares * (shares + 1e-6).log()).sum(-1)
        return torch.cat([entropy, (batch.rows[..., self.blocks.scores].var(1, correction=0) + 1e-4).log() / 2], -1)


def scalarised(losses: Mapping[str, Tensor], weights: Mapping[str, float], by: str) -> Tensor:
    """The generator's loss: the weighted sum, or minus the logarithm of the hypervolume between losses and a bound.

    The sum is the default: what a weight means then does not depend on how the other objectives fare, and only so is
    the weight of re-identification a dial.

    NOTE[DIFF]: hypervolume maximisation (arXiv 1901.08680) puts the bound at a multiple of the largest loss. Losses of
    critics may be negative, so it lies 1 above the largest here. The greater a loss is among the others, the more it
    counts; weights multiply.
    """
    if by == "weights":
        return torch.stack([weights[name] * loss for name, loss in losses.items()]).sum()
    bound = torch.stack([loss.detach() for loss in losses.values()]).max() + 1.0
    return -torch.stack([weights[name] * (bound - loss).log() for name, loss in losses.items()]).sum()


def earth_mover(fake: Batch, real: Batch) -> Tensor:
    """The earth mover's distance between generated and real rows of the same head, feature by feature, on average."""
    return (fake.rows.sort(1).values - real.rows.sort(1).values).abs().mean()
