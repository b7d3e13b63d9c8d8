"""Rows from a trained network: encoded ones, and the corrections that give them the table's shares.

Importing this module imports torch.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from models.hydra.drawing import natural_conditions
from models.hydra.encoding import Encoded, Encoding, Layout, Single
from models.hydra.networks import Blocks, Hydra
from models.randomness import Seed
from models.table import Floats, Integers

CHUNK = 10_000
"""So many rows are generated at once."""

LOOKED_AT = 10_000
"""So many generated rows decide about cuts; of each head a fifth as many about levels."""

ROUNDS = 5
"""Levels influence one another, so their shares are corrected so often."""

RARE = 1e-4
"""No level's chance is corrected below it."""

COLLAPSED = 0.3
"""A head whose rows vary by less than this share of what its real rows do has collapsed."""


@dataclass(frozen=True, eq=False)
class Heads:
    """A trained network and how often its heads are drawn: ``weights`` of sum 1, positive for trained heads alone.

    ``shares`` of each head's rows have each indicator, shape (heads, entries).
    """

    network: Hydra
    noise: int
    weights: Floats
    shares: Floats

    def alone(self, head: int) -> Heads:
        """The trunk with one head."""
        network = copy.deepcopy(self.network)
        for layers in (network.neck, network.head):
            layers.weight, layers.bias = (
                nn.Parameter(each[head : head + 1].detach().clone()) for each in (layers.weight, layers.bias)
            )
        return Heads(network, self.noise, np.ones(1), self.shares[head : head + 1])

    def logits(self, layout: Layout, count: int, seed: Seed) -> NDArray[Any]:
        """What every head says, ``count`` times, under natural conditions: shape (heads, count, width)."""
        conditions = natural_conditions(layout, self.shares, count, seed.child("conditions").generator())
        shape = (len(self.weights), count, self.noise)
        noise = seed.child("noise").generator().standard_normal(shape, dtype=np.float32)
        device = self.network.first.weight.device
        given = (torch.from_numpy(each).to(device) for each in (noise, conditions))
        with torch.no_grad():
            return np.asarray(self.network(*given).numpy(force=True))

    def rows(self, layout: Layout, n: int, seed: Seed) -> Single:
        """``n`` encoded rows, heads drawn by their weights."""
        head = seed.child("heads").generator().choice(len(self.weights), n, p=self.weights)
        parts = [np.zeros((0, layout.width), dtype=np.float32)]
        for start in range(0, n, CHUNK):
            chosen = head[start : start + CHUNK]
            parts.append(self._chunk(layout, chosen, seed.child(f"chunk/{start // CHUNK}")))
        return np.concatenate(parts)

    def _chunk(self, layout: Layout, head: Integers, seed: Seed) -> Single:
        sizes = np.bincount(head, minlength=len(self.weights))
        told = self.logits(layout, int(sizes.max()), seed)
        order = np.argsort(head, kind="stable")
        within = np.empty(len(head), dtype=np.int64)
        within[order] = np.arange(len(head)) - (np.cumsum(sizes) - sizes)[head[order]]
        return hardened(layout, told[head, within], seed.child("levels"))


def hardened(layout: Layout, logits: NDArray[Any], seed: Seed) -> Single:
    """Encoded rows whose levels are drawn by their softmax chances (Gumbel's way), scores as they are."""
    rows = np.zeros(logits.shape, dtype=np.float32)
    rows[:, layout.scores] = logits[:, layout.scores]
    drawn = logits + seed.generator().gumbel(size=logits.shape)
    for start, size in zip(layout.starts.tolist(), layout.sizes.tolist(), strict=True):
        rows[np.arange(len(rows)), start + drawn[:, start : start + size].argmax(axis=1)] = 1.0
    return rows


def corrected(heads: Heads, layout: Layout, seed: Seed) -> Heads:
    """The heads with each level's bias moved so that levels come as often as in the head's real rows."""
    network = copy.deepcopy(heads.network).cpu()
    moved = Heads(network, heads.noise, heads.weights, heads.shares)
    blocks = Blocks(layout)
    target = torch.from_numpy(np.maximum(heads.shares, RARE)).log()
    for _ in range(ROUNDS if len(layout.hot) else 0):
        logs = blocks.logs(torch.from_numpy(moved.logits(layout, LOOKED_AT // 5, seed)).double())
        lacking = target - logs.exp().mean(1).clamp(min=RARE).log()
        with torch.no_grad():
            network.head.bias[:, 0, blocks.hot] += lacking.clamp(-1, 1).float()
    return moved


def calibrated(encoding: Encoding, heads: Heads, seed: Seed) -> Encoding:
    return encoding.calibrated(heads.rows(encoding.layout, LOOKED_AT, seed))


def collapsed(heads: Heads, encoded: Encoded, members: tuple[Integers, ...], seed: Seed) -> list[int]:
    """The heads that have collapsed, by the mean standard deviation of what they generate."""
    layout = encoded.layout
    told = heads.logits(layout, 500, seed)
    found = []
    for head, rows in enumerate(members):
        real = encoded.rows(rows[:500], 0.5).std(axis=0).mean()
        if hardened(layout, told[head], seed.child(f"head/{head}")).std(axis=0).mean() < COLLAPSED * real:
            found.append(head)
    return found
