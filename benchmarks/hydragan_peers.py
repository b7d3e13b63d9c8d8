"""HydraGAN against SDV's CTGAN and TVAE on UCI Adult at the same processor time, between our own copula and trees.

    python benchmarks/hydragan_peers.py --data PATH [--python ENVIRONMENT/bin/python] [--steps 1500] [--seeds 3]

PATH holds train.csv and test.csv. ``--python`` is an environment of its own in which ``pip install ctgan`` was done
(its licence, BUSL, is not ours); without it the two are left out. HydraGAN trains for ``--steps``, and each peer, with
its own settings otherwise, for as many epochs as fit into the processor seconds that HydraGAN took; everything runs on
one thread. Each learns train.csv and draws as many rows. Means over seeds with 95 % intervals (Student's t); ``-`` is
the real table:

AUROC     gradient boosting for income, trained on synthetic rows, asked about test.csv
told      the AUC of gradient boosting that tells synthetic rows from those of test.csv, cross-fitted: 0.5 is best
marginal  1 - total variation (levels) or Kolmogorov-Smirnov distance (numbers) to train.csv, mean of columns
CPU s     processor seconds of fit, imports not counted
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from adult import auroc, tables
from hydragan import fitted, line, marginal, told_apart

from models.generators import catalog
from models.randomness import Seed
from models.schema import Column
from models.table import Table

PEERS = ("CTGAN", "TVAE")
OURS = ("copula", "cart")
ALONE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1")


def ours(kind: str, steps: int, train: Table, test: Table, seed: Seed) -> list[float]:
    settings = {"kind": kind, "steps": steps} if kind == "hydragan" else kind
    draw, seconds = fitted(catalog.build(settings), train, seed)
    return [*figures(draw(len(train), seed.child("draw")), train, test, seed), seconds]


def theirs(model: str, python: Path, seconds: float, train: Table, test: Table, number: int) -> list[float]:
    """The figures of a peer that was given about so many processor ``seconds``."""
    levelled = [column.name for column in train.columns if not column.numeric]
    asked = {"model": model, "levelled": levelled, "rows": len(train), "seed": number, "seconds": seconds}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "asked.json").write_text(json.dumps(asked))
        _write(folder / "train.csv", train)
        script = Path(__file__).resolve().parent / "peers" / "with_ctgan.py"
        ended = subprocess.run(
            [python.absolute(), script, folder], env={**os.environ, **ALONE}, capture_output=True, text=True
        )
        if ended.returncode:
            sys.exit(f"{model} failed:\n{ended.stderr[-2000:]}")
        made, answer = _read(folder / "synthetic.csv", train.columns), json.loads((folder / "answer.json").read_text())
    print(f"{model}, seed {number}: {answer['epochs']} epochs", file=sys.stderr)
    return [*figures(made, train, test, Seed.of(number)), answer["seconds"]]


def figures(made: Table, train: Table, test: Table, seed: Seed) -> list[float]:
    return [auroc(made, test), told_apart(made, test, seed), marginal(made, train)]


def _write(path: Path, table: Table) -> None:
    """Whole numbers are written as such: peers then make whole numbers too."""
    whole = np.array([not column.numeric or column.dtype.startswith("int") for column in table.columns])
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.names)
        for row in table.values.tolist():
            writer.writerow([int(cell) if each else cell for cell, each in zip(row, whole, strict=True)])


def _read(path: Path, columns: Sequence[Column]) -> Table:
    with path.open(newline="") as file:
        names, *rows = csv.reader(file)
    values = np.array(rows, dtype=np.float64)
    return Table.of(columns, [values[:, names.index(column.name)] for column in columns], len(rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with Adult's train.csv and test.csv")
    parser.add_argument("--python", type=Path, help="the interpreter of an environment that has ctgan")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    train, test = tables(asked.data)
    ours("hydragan", 2, train.take(slice(0, 500)), test.take(slice(0, 500)), Seed.of(0))  # imports
    names = ("hydragan", *(PEERS if asked.python else ()), *OURS)
    found: dict[str, list[list[float]]] = {name: [] for name in names}
    for number in range(asked.seeds):
        for name in ("hydragan", *OURS):
            found[name].append(ours(name, asked.steps, train, test, Seed.of(number)))
        for model in PEERS if asked.python else ():
            budget = found["hydragan"][-1][-1]
            found[model].append(theirs(model, asked.python, budget, train, test, number))
        print({name: np.round(each[-1], 3).tolist() for name, each in found.items()}, file=sys.stderr, flush=True)
    print(f"{'':12}", *(f"{name:>15}" for name in ("AUROC", "told", "marginal", "CPU s")))
    line("-", [[auroc(train, test), 0.5, marginal(test, train), 0.0]])
    for name, each in found.items():
        line(name, each)
    return 0


if __name__ == "__main__":
    sys.exit(main())
