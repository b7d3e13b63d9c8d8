"""What clusters of rows bring: generators on whole tables and in clusters, on Adult and on a table of true clusters.

    python benchmarks/clusters.py --data PATH [--seeds 3]

PATH holds Adult's ``train.csv`` and ``test.csv``; of the figures of ``benchmarks/adult.py``, AUROC, assoc, marginal and
twins (of train.csv | of test.csv) are printed, means over the seeds, some with their standard deviation. The
table of true clusters is simulated: three groups of 4,000 rows, in each of which two numbers and a yes-or-no target
depend on one another in another way. CPU s are processor seconds of division, fit and draw, without imports.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from adult import NEARLY_UNIQUE, TARGET, associations, auroc, copied, tables, worst_marginal

from models import generators, joins, partitioners
from models.randomness import Seed
from models.schema import Column
from models.synthesis import Recipe, synthesize
from models.table import Table

KINDS = ("marginal", "copula", "cart")
WAYS: Mapping[str, Mapping[str, Any]] = {
    "undivided": {"kind": "random", "parts": 1},
    "kmeans": {"by": "rows", "kind": "kmeans"},
    "kmeans, k = 8": {"by": "rows", "kind": "kmeans", "k": 8},
}
STRATA: Mapping[str, Mapping[str, Any]] = {
    f"strata {name}": {"by": "rows", "kind": "strata", "column": name} for name in ("sex", TARGET)
}
TURNS = ((1.0, 1.0), (-1.0, 1.0), (1.0, -1.0))
"""For each true cluster the signs with which y follows x, and the target y."""


def mixture(rows: int, seed: Seed) -> Table:
    """Rows of three clusters, as many of each."""
    columns = (
        Column(name="x", kind="continuous", dtype="double", bounds=(-20, 20), decimals=3),
        Column(name="y", kind="continuous", dtype="double", bounds=(-20, 20), decimals=3),
        Column(name=TARGET, kind="boolean", dtype="bool", role="target"),
    )
    rng, each = seed.generator(), rows // len(TURNS)
    cells = []
    for place, (slope, turn) in enumerate(TURNS):
        x = rng.normal(0, 1, each)
        y = slope * 0.9 * x + rng.normal(0, 0.4, each)
        target = rng.random(each) < 1 / (1 + np.exp(-4 * turn * y))
        cells.append(np.column_stack([x + 7 * (place - 1), y + 5 * (place % 2), target]))
    return Table(columns, np.round(np.clip(np.vstack(cells), -20, 20), 3))


def compare(title: str, train: Table, test: Table, ways: Mapping[str, Mapping[str, Any]], seeds: int) -> None:
    shared = [name for name in train.names if name != NEARLY_UNIQUE]
    print(f"{title}: real rows {auroc(train, test):.3f}")
    print(f"{'':<10}{'':<15}{'clusters':>8}  AUROC          assoc             marginal  twins | test   CPU s")
    known = associations(train)
    for kind in KINDS:
        for way, said in ways.items():
            found = []
            for number in range(seeds):
                how = Recipe(
                    partitioners.catalog.build(said),
                    generators.catalog.build(kind),
                    {},
                    joins.catalog.build("concatenation"),
                )
                began = time.process_time()
                made = synthesize(train, how, len(train), Seed.of(number))
                cpu, drawn = time.process_time() - began, made.joined.table
                assoc = float(np.abs(known - associations(drawn)).mean())
                twins = [copied(drawn, real, shared) for real in (train, test)]
                count = len(made.partition.told.names)
                found.append((count, auroc(drawn, test), assoc, worst_marginal(train, drawn), *twins, cpu))
            mean, spread = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) if seeds > 1 else np.zeros(7)
            print(
                f"{kind:<10}{way:<15}{mean[0]:8.1f}  {mean[1]:.3f} ± {spread[1]:.3f}  {mean[2]:.4f} ± {spread[2]:.4f}"
                f"  {mean[3]:8.4f}  {mean[4]:5.1f} |{mean[5]:6.1f}  {mean[6]:5.1f}",
                flush=True,
            )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with Adult's train.csv and test.csv")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds to average over")
    asked = parser.parse_args()
    import sklearn.cluster
    import sklearn.tree  # noqa: F401  (imports are not what is measured)

    seed = Seed.of(0).child("mixture")
    compare("mixture", mixture(12_000, seed.child("train")), mixture(6_000, seed.child("test")), WAYS, asked.seeds)
    compare("Adult", *tables(asked.data), {**WAYS, **STRATA}, asked.seeds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
