"""Whether heads pay: HydraGAN with a head for each cluster of rows against itself with one head, at as many steps.

    python benchmarks/hydra_heads.py [--adult PATH] [--seeds 5] [--steps 1200] [--ways WAY,WAY]

Without ``--adult`` on a mixture of known modes, drawn anew for every seed: 16 modes of unequal weight, the largest with
20 % of the rows and the rarest with 0.7 %, in four numbers and three columns of levels. Every number has the same four
bumps in many modes, so that what makes a mode is which bumps go together; within a mode two pairs of numbers are
correlated, up or down. 10,000 training rows, as many drawn. With ``--adult`` on UCI Adult (PATH holds train.csv and
test.csv). Heads share a step's rows among them, so that a step costs nearly the same. Means over seeds with 95 %
intervals (Student's t), and at the end those of the differences from one head, seed by seed:

heads     how many there are
modes     share of modes that have at least a quarter of the rows that they should
near      share of rows within four standard deviations of a mode in every number
KL        Kullback-Leibler divergence of the rows' modes from the true weights (rows near no mode left out)
told      the AUC of gradient boosting that tells synthetic from fresh rows, 4-fold cross-fitted: 0.5 is best
AUROC     (Adult) gradient boosting for income, trained on synthetic rows, asked about test.csv
CPU s     processor seconds of fit
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from adult import auroc
from adult import tables as adult_tables
from hydragan import fitted, line, told_apart

from models.generators import catalog
from models.randomness import Seed
from models.schema import Column
from models.table import Floats, Table

ROWS = 10_000
MODES, BUMPS, NUMBERS, LEVELLED = 16, 4, 4, 3
SHRINK = 0.8
SPREAD, NEAR = 0.5, 4.0
TIE = 0.8
FAITHFUL = 0.85
APART = 2
FOUND = 0.25

WAYS: Mapping[str, Mapping[str, Any]] = {
    "one head": {"clusters": 1}, "by elbow": {"clusters": None}, "4 sought": {"clusters": 4},
    "12 sought": {"clusters": 12},
}  # fmt: skip
"""The first is what the others are compared with. Clusters of fewer than 5 % of the rows join others; where they are no
groups, there is one head by the elbow.
"""

Measure = Callable[[Table, Seed], Sequence[float]]
"""The figures of synthetic rows."""


@dataclass(frozen=True)
class Mixture:
    """``centres`` of the modes, shape (modes, numbers), and the level that each prefers, shape (modes, columns)."""

    centres: Floats
    preferred: Floats
    signs: Floats

    @classmethod
    def of(cls, seed: Seed) -> Mixture:
        rng = seed.generator()
        bumps = np.empty((0, NUMBERS))
        while len(bumps) < MODES:
            bump = rng.integers(0, BUMPS, NUMBERS)
            if np.all((bumps != bump).sum(axis=1) >= APART):
                bumps = np.vstack([bumps, bump])
        preferred = rng.integers(0, BUMPS, (MODES, LEVELLED)).astype(np.float64)
        return cls(4 * bumps - 6, preferred, rng.choice([-1.0, 1.0], (MODES, 2)))

    @property
    def weights(self) -> Floats:
        shares = SHRINK ** np.arange(MODES)
        return np.asarray(shares / shares.sum())

    def rows(self, count: int, seed: Seed) -> Table:
        rng = seed.generator()
        mode = rng.choice(MODES, count, p=self.weights)
        first, second = rng.normal(size=(2, count, 2))
        second = self.signs[mode] * TIE * first + (1 - TIE**2) ** 0.5 * second
        numbers = self.centres[mode] + SPREAD * np.hstack([first, second])
        other = rng.integers(0, BUMPS, (count, LEVELLED))
        levels = np.where(rng.random((count, LEVELLED)) < FAITHFUL, self.preferred[mode], other)
        columns = [Column(name=f"x{j}", kind="continuous", dtype="double", bounds=(-10, 10)) for j in range(NUMBERS)]
        columns += [
            Column(name=f"l{j}", kind="categorical", dtype="int64", levels=tuple(range(BUMPS))) for j in range(LEVELLED)
        ]
        return Table(tuple(columns), np.hstack([np.clip(numbers, -10, 10), levels]))

    def figures(self, drawn: Table) -> tuple[float, float, float]:
        """Share of modes found, share of rows near a mode, and the divergence of the rows' modes."""
        numbers = drawn.values[:, :NUMBERS]
        near = (np.abs(numbers[:, None] - self.centres).max(axis=2) < NEAR * SPREAD).astype(int)
        counts = near.sum(axis=0)
        shares = (counts + 0.5) / (counts.sum() + 0.5 * MODES)
        found = counts >= FOUND * self.weights * len(drawn)
        return float(found.mean()), float(near.any(axis=1).mean()), float(shares @ np.log(shares / self.weights))


def on_mixture(seed: Seed) -> tuple[Table, Measure]:
    mixture = Mixture.of(seed.child("mixture"))
    fresh = mixture.rows(ROWS, seed.child("fresh"))
    return mixture.rows(ROWS, seed.child("train")), lambda drawn, told: (
        *mixture.figures(drawn),
        told_apart(drawn, fresh, told),
    )


def on_adult(folder: Path) -> Callable[[Seed], tuple[Table, Measure]]:
    train, test = adult_tables(folder)
    return lambda _: (train, lambda drawn, told: (auroc(drawn, test), told_apart(drawn, test, told)))


def compare(
    names: Sequence[str], prepared: Callable[[Seed], tuple[Table, Measure]], ways: Sequence[str], steps: int, seeds: int
) -> None:
    print(f"{'':12}", *(f"{name:>15}" for name in ("heads", *names, "CPU s")))
    figures: dict[str, list[list[float]]] = {way: [] for way in ways}
    for number in range(seeds):
        seed = Seed.of(number)
        train, measure = prepared(seed)
        for way in ways:
            draw, seconds = fitted(catalog.build({"kind": "hydragan", "steps": steps, **WAYS[way]}), train, seed)
            heads = draw.__self__.shape["heads"]  # type: ignore[attr-defined]
            figures[way].append([heads, *measure(draw(len(train), seed.child("draw")), seed), seconds])
    for way, found in figures.items():
        line(way, found)
    for way in ways[1:]:
        line("difference", (np.array(figures[way]) - np.array(figures[ways[0]])).tolist())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--adult", type=Path, help="folder with Adult's train.csv and test.csv")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--ways", default=",".join(WAYS), help="which to compare, the others with the first")
    asked = parser.parse_args()
    ways = asked.ways.split(",")
    if asked.adult:
        compare(("AUROC", "told"), on_adult(asked.adult), ways, asked.steps, asked.seeds)
    else:
        compare(("modes", "near", "KL", "told"), on_mixture, ways, asked.steps, asked.seeds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
