"""The networks of the multi-head generator. Importing this module imports torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.hydra.encoding import Layout

Activation = Literal["relu", "signed-log", "log-leaks"]


def signed_log(x: Tensor) -> Tensor:
    """sign(x) ln(1 + |x|)."""
    return torch.sign(x) * torch.log1p(torch.abs(x))


def log_leaks(x: Tensor) -> Tensor:
    """x between -1 and 1, sign(x) (1 + ln|x|) beyond."""
    return torch.where(x.abs() <= 1, x, torch.sign(x) * (1 + torch.log(x.abs().clamp(min=1))))


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "signed-log": signed_log,
    "log-leaks": log_leaks,
}
"""NOTE[DIFF]: HydraGAN's activation (arXiv 2111.07015, Equation 1) is described as unbounded, with non-linear leaks
below -1 and above 1 and diminishing growth; its formula could not be had. The last two fit the description. Neither is
claimed to be the paper's, and ``relu`` is the default.
"""


class Stacked(nn.Module):
    """``count`` linear layers side by side in one batched product: (count, rows, inputs) to (count, rows, outputs)."""

    def __init__(self, count: int, inputs: int, outputs: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(count, inputs, outputs) * inputs**-0.5)
        self.bias = nn.Parameter(torch.zeros(count, 1, outputs))

    def forward(self, x: Tensor) -> Tensor:
        return torch.baddbmm(self.bias, x, self.weight)


class Hydra(nn.Module):
    """One trunk, many heads: noise (heads, rows, noise) and conditions (heads, rows, entries) to encoded rows before
    the blocks' softmax (heads, rows, width).
    """

    def __init__(self, heads: int, noise: int, entries: int, width: int, hidden: int, activation: Activation):
        super().__init__()
        self.activation = ACTIVATIONS[activation]
        self.first = nn.Linear(noise + entries, hidden)
        self.second = nn.Linear(hidden + noise + entries, hidden)
        self.first_norm, self.second_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.neck, self.head = Stacked(heads, hidden, hidden), Stacked(heads, hidden, width)

    def forward(self, noise: Tensor, conditions: Tensor) -> Tensor:
        given = torch.cat([noise, conditions], -1)
        trunk = self.activation(self.first_norm(self.first(given)))
        trunk = self.activation(self.second_norm(self.second(torch.cat([trunk, given], -1))))
        rows: Tensor = self.head(self.activation(self.neck(trunk)))
        return rows


class Dense(nn.Module):
    """(..., inputs) to one unbounded score each, shape (...)."""

    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, 1),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        score: Tensor = self.layers(x).squeeze(-1)
        return score


class Convolution(nn.Module):
    """The same by a convolution over neighbouring features and dense layers after it, as HydraGAN's realism critic."""

    CHANNELS = 8
    REACH = 5

    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.reading = nn.Conv1d(1, self.CHANNELS, self.REACH, stride=2, padding=self.REACH // 2)
        self.dense = Dense(self.CHANNELS * ((inputs + 1) // 2), hidden)

    def forward(self, x: Tensor) -> Tensor:
        read = functional.leaky_relu(self.reading(x.reshape(-1, 1, x.shape[-1])), 0.2)
        score: Tensor = self.dense(read.flatten(1)).view(x.shape[:-1])
        return score


FORMS: dict[str, Callable[[int, int], nn.Module]] = {"dense": Dense, "convolution": Convolution}


class Critic(nn.Module):
    """Scores of packs of rows, shape (heads, packs), given rows (heads, rows, width) and conditions (heads, rows, ...).

    ``packing`` consecutive rows are judged together. One critic is told the head (``conditional``), or each head has
    its own.
    """

    def __init__(self, heads: int, inputs: int, hidden: int, packing: int, form: str, *, conditional: bool):
        super().__init__()
        self.heads, self.packing, self.conditional = heads, packing, conditional
        each = (inputs + heads * conditional) * packing
        self.judges = nn.ModuleList(FORMS[form](each, hidden) for _ in range(1 if conditional else heads))

    def forward(self, rows: Tensor, conditions: Tensor) -> Tensor:
        given = torch.cat([rows, conditions], -1)
        if self.conditional:
            which = torch.eye(self.heads, device=rows.device)[:, None].expand(-1, rows.shape[1], -1)
            given = torch.cat([given, which], -1)
        packs = given.reshape(self.heads, rows.shape[1] // self.packing, -1)
        if self.conditional:
            scores: Tensor = self.judges[0](packs)
            return scores
        return torch.stack([judge(pack) for judge, pack in zip(self.judges, packs, strict=True)])


class Predictors(nn.Module):
    """Several small networks side by side that tell one column from an encoded row: (rows, inputs) to (count, rows,
    outputs).
    """

    HIDDEN = 32

    def __init__(self, count: int, inputs: int, outputs: int):
        super().__init__()
        self.count = count
        self.inner, self.outer = Stacked(count, inputs, self.HIDDEN), Stacked(count, self.HIDDEN, outputs)

    def forward(self, x: Tensor) -> Tensor:
        told: Tensor = self.outer(functional.relu(self.inner(x.expand(self.count, -1, -1))))
        return told

    def refresh(self, place: int) -> None:
        """One of them starts anew."""
        with torch.no_grad():
            for layer in (self.inner, self.outer):
                inputs, outputs = layer.weight.shape[1:]
                layer.weight[place] = (torch.randn(inputs, outputs) * inputs**-0.5).to(layer.weight.device)
                layer.bias[place] = 0.0


class Blocks(nn.Module):
    """The softmax of every block of indicators, all blocks padded to the largest and done at once."""

    places: Tensor
    inside: Tensor
    back: Tensor
    scores: Tensor
    hot: Tensor
    gated: Tensor
    gates: Tensor

    def __init__(self, layout: Layout):
        super().__init__()
        scores, hot, gates = (torch.from_numpy(each) for each in (layout.scores, layout.hot, layout.gates))
        most = int(layout.sizes.max(initial=1))
        inside = torch.arange(most)[None] < torch.from_numpy(layout.sizes)[:, None]
        places = torch.where(inside, torch.from_numpy(layout.starts)[:, None] + torch.arange(most), layout.width)
        for name, each in (
            ("places", places), ("inside", inside.flatten().nonzero().flatten()), ("scores", scores), ("hot", hot),
            ("back", torch.argsort(torch.cat([scores, hot]))), ("gated", (gates >= 0).nonzero().flatten()),
            ("gates", gates[gates >= 0]),
        ):  # fmt: skip
            self.register_buffer(name, each, persistent=False)

    def padded(self, rows: Tensor) -> Tensor:
        """(..., width) to (..., blocks, largest size), -1e9 beyond a block."""
        return functional.pad(rows, (0, 1), value=-1e9)[..., self.places]

    def logs(self, rows: Tensor) -> Tensor:
        """Log-probabilities of the entries of a condition, shape (..., entries)."""
        return functional.log_softmax(self.padded(rows), -1).flatten(-2)[..., self.inside]

    def relaxed(self, rows: Tensor, uniform: Tensor, temperature: float) -> Tensor:
        """Encoded rows: indicators drawn by Gumbel-softmax with ``uniform`` (..., entries), scores 0 where missing."""
        gumbel = torch.zeros_like(rows)
        gumbel[..., self.hot] = -torch.log(-torch.log(uniform.clamp(1e-7, 1 - 1e-7)))
        soft = torch.softmax(self.padded(rows + gumbel) / temperature, -1).flatten(-2)[..., self.inside]
        encoded = torch.cat([rows[..., self.scores], soft], -1)[..., self.back]
        if not len(self.gated):
            return encoded
        present = torch.ones_like(encoded)
        present[..., self.scores[self.gated]] = encoded[..., self.gates]
        return encoded * present
