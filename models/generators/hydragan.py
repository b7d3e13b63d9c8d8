"""HydraGAN: one network with a head for each cluster of rows, trained against critics and attackers.

HydraGAN (arXiv 2111.07015) has the idea, a shared trunk with a head per cluster and an adversary that tries to tell the
sensitive column. What is here departs from it where it was found not to train; ``models/hydra`` says where and why.

There is no guarantee of differential privacy: the re-identification objective is regularisation against an attack on
single columns, and a failed attack may also mean that nothing was learned. Read it together with usefulness.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from models.clusters import alike
from models.errors import Fault, SynthesisError
from models.generators import Keeper, Resumable, Sampler
from models.hydra.drawing import Rows, frequencies_of
from models.hydra.encoding import Encoded, Encoding, Layout, width
from models.hydra.grouping import MOST, grouped
from models.hydra.judging import Judge, held_out
from models.hydra.settings import Settings
from models.randomness import Seed, one_thread, torch_stream
from models.schema import Column, Role
from models.state import State
from models.table import Booleans, Floats, Integers, Table

if TYPE_CHECKING:
    from models.hydra.generation import Heads
    from models.hydra.networks import Hydra
    from models.hydra.training import Training

logger = logging.getLogger("parquetry")

FORMAT = 1


class HydraSampler(Sampler):
    """``facts`` tell how training went: steps, losses, held-out scores, clusters and collapsed heads."""

    def __init__(self, encoding: Encoding, heads: Heads, shape: dict[str, Any], facts: dict[str, Any]):
        self.columns = encoding.columns
        self.encoding = encoding
        self.heads = heads
        self.shape = shape
        self.facts = facts

    def alone(self, head: int) -> HydraSampler:
        """The sampler of one head's rows."""
        lost = [0] if head in self.facts["collapsed"] else []
        facts = {**self.facts, "collapsed": lost}
        return HydraSampler(self.encoding, self.heads.alone(head), {**self.shape, "heads": 1}, facts)

    def sample(self, n: int, seed: Seed) -> Table:
        with one_thread():
            rows = self.heads.rows(self.encoding.layout, n, seed.child("rows"))
        return self.encoding.decode(rows, seed.child("cells"))

    def state(self) -> State:
        arrays = self.encoding.arrays() | {"weights": self.heads.weights, "indicators": self.heads.shares}
        network = self.heads.network.state_dict()
        arrays |= {f"network/{name}": value.numpy(force=True).copy() for name, value in network.items()}
        return State("hydragan", FORMAT, {"shape": self.shape, **self.facts}, arrays)

    @classmethod
    def restore(cls, state: State, columns: tuple[Column, ...]) -> Self:
        state.expect("hydragan", FORMAT)
        _require_torch()
        import torch

        from models.hydra.generation import Heads
        from models.hydra.networks import Hydra

        encoding = Encoding.restore(columns, state.arrays)
        with torch_stream(Seed.of(0)):
            network = Hydra(**state.facts["shape"])
        prefix = "network/"
        kept = {name: array for name, array in state.arrays.items() if name.startswith(prefix)}
        network.load_state_dict({name.removeprefix(prefix): torch.from_numpy(np.array(a)) for name, a in kept.items()})
        heads = Heads(network, state.facts["shape"]["noise"], state.arrays["weights"], state.arrays["indicators"])
        facts = {name: fact for name, fact in state.facts.items() if name != "shape"}
        return cls(encoding, heads, state.facts["shape"], facts)


class HydraGAN(Settings, Resumable):
    """A generative adversarial network of one trunk and a head for each cluster of rows.

    Where the table's rows were divided (``partition: {by: rows}``), each cluster has its head, and clusters whose
    settings are alike share a trunk and its training; else the rows are divided here, sensitive columns aside:
    clusters are those of ``kmeans``, and one where rows form no groups (``models.hydra.grouping``).

    NOTE[DIFF]: the paper adds to each agent's loss the losses of all others. For a critic and its generator these
    cancel, and what an agent cannot change teaches it nothing; here the generator alone follows a compromise of all
    objectives, and each agent its own loss.
    """

    kind: Literal["hydragan"] = "hydragan"

    sampler = HydraSampler

    def resume(self, table: Table, seed: Seed, keeper: Keeper | None) -> HydraSampler:
        if self.clusters is not None and self.clusters > len(table):
            found = f"{self.clusters:,} clusters of {len(table):,} rows"
            raise SynthesisError(Fault("clusters", found, f"ask for at most {len(table):,}, or for null"))
        _require(self, table.columns)
        plain = [column.name for column in table.columns if not self._secret(column)]
        known, stream = table.select(plain), seed.child("clusters")
        labels = grouped(known, stream) if self.clusters is None else alike(known, self.clusters, MOST, stream).labels
        return self._placed()._fit(table, np.unique(labels, return_inverse=True)[1].reshape(-1), seed, keeper)

    def resume_clusters(
        self, table: Table, labels: Integers, seed: Seed, keeper: Keeper | None
    ) -> tuple[HydraSampler, ...]:
        if len(labels) != len(table):
            found = f"{len(labels):,} labels for {len(table):,} rows"
            raise SynthesisError(Fault("labels", found, "give one label per row"))
        count = len(np.unique(labels))
        if not np.isin(labels, np.arange(count)).all():
            raise SynthesisError(Fault("labels", "a cluster has no row", "number those that have one from 0"))
        _require(self, table.columns)
        sampler = self._placed()._fit(table, labels, seed, keeper)
        return tuple(sampler.alone(head) for head in range(count))

    def width(self, columns: tuple[Column, ...]) -> int:
        return width(columns)

    def _secret(self, column: Column) -> bool:
        """Whether a column shall not be told from the others. Clusters then do not depend on it."""
        return self.reidentification > 0 and column.role is Role.SENSITIVE

    def _placed(self) -> HydraGAN:
        """With the device that there is for ``auto``."""
        import torch

        there = "cuda" if torch.cuda.is_available() else "cpu"
        return self.model_copy(update={"device": there}) if self.device == "auto" else self

    def _fit(self, table: Table, labels: Integers, seed: Seed, keeper: Keeper | None) -> HydraSampler:
        from models.hydra.generation import Heads, calibrated, collapsed, corrected

        encoding = Encoding.of(table, self.k, seed.child("encoding"))
        encoded = encoding.encode(table, seed.child("encoded"))
        members = tuple(np.flatnonzero(labels == head) for head in range(int(labels.max()) + 1))
        weights = np.bincount(labels) / len(labels)
        shares = self._shares(encoded, members, weights, table.columns)
        held = held_out(members, self.held_out, seed.child("held-out"))
        plain = [column.name for column in table.columns if not self._secret(column)] or list(table.names)
        judge = Judge(table.select(plain), held, seed.child("judge"))

        def score(network: Hydra) -> float:
            heads = Heads(network, self.noise, weights, shares)
            fitting = calibrated(encoding, heads, judge.seed.child("calibrated"))
            return judge.score(lambda n, stream: HydraSampler(fitting, heads, {}, {}).sample(n, stream).select(plain))

        with one_thread():
            training, shape = self._training(encoding, encoded, members, held, seed)
            network = training.run(score if len(held) else None, keeper)
            heads = Heads(network, self.noise, weights, shares)
            # Before shares are corrected: levels that always come out the same would then look like drawn ones.
            lost = collapsed(heads, encoded, members, seed.child("collapsed"))
            heads = corrected(heads, encoded.layout, seed.child("corrected"))
            encoding = calibrated(encoding, heads, seed.child("calibrated"))
        if self.held_out and not len(held):
            logger.warning("too few rows to hold some out: the last checkpoint is kept, not the one of the best score")
        if lost:
            logger.warning("%d of %d heads have collapsed", len(lost), len(members))
        facts = {"training": asdict(training.progress), "collapsed": lost, "device": self.device}
        return HydraSampler(encoding, heads, shape, facts)

    def _shares(
        self, encoded: Encoded, members: Sequence[Integers], weights: Floats, columns: Sequence[Column]
    ) -> Floats:
        """The share of each head's rows that shall have each indicator, shape (heads, entries): that of the rows to
        learn from, loose ones among them. Where all are loose, the head that a row comes from tells nothing.
        """
        shares = frequencies_of(encoded, members)
        secret = self._features(encoded.layout, columns)[encoded.layout.hot]
        shares[:, secret] = (1 - self.loose) * shares[:, secret] + self.loose * (weights @ shares[:, secret])
        return shares

    def _features(self, layout: Layout, columns: Sequence[Column]) -> Booleans:
        """Which features are those of columns that shall not be told from the others, shape (width,)."""
        secret: Booleans = np.array([self._secret(column) for column in columns])[layout.owners]
        return secret

    def _training(
        self, encoding: Encoding, encoded: Encoded, members: Sequence[Integers], held: Integers, seed: Seed
    ) -> tuple[Training, dict[str, Any]]:
        """The training to run, and the network's shape."""
        from models.hydra.aims import Aims
        from models.hydra.networks import Blocks, Hydra
        from models.hydra.training import Training

        layout, taught = encoded.layout, [np.setdiff1d(rows, held) for rows in members]
        rows = Rows(encoded, taught, self._features(layout, encoding.columns), self.loose)
        shape: dict[str, Any] = {
            "heads": len(members), "noise": self.noise, "entries": len(layout.hot), "width": layout.width,
            "hidden": self.hidden, "activation": self.activation,
        }  # fmt: skip
        with torch_stream(seed.child("weights")):
            network = Hydra(**shape).to(self.device)
            blocks = Blocks(layout).to(self.device)
            objectives = Aims(self, encoding, encoded, np.concatenate(taught), len(members), blocks).objectives()
        return Training(self, rows, network, objectives, blocks, seed.child("training")), shape


def _require(settings: Settings, columns: tuple[Column, ...]) -> None:
    """Raises SynthesisError where torch or the device is missing or the settings cannot be followed for ``columns``."""
    _require_torch()
    import torch

    found = settings.faults(columns)
    if settings.device == "cuda" and not torch.cuda.is_available():
        found.append(Fault("device", "no CUDA device is to be had here", "set 'device: cpu'"))
    if found:
        raise SynthesisError(found)


def _require_torch() -> None:
    try:
        import torch  # noqa: F401
    except ImportError:
        raise SynthesisError(Fault("hydragan", "torch is not installed", "pip install 'parquetry[torch]'")) from None
