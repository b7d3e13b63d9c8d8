"""What the audit costs as tables grow: processor seconds, memory and how they grow, in one table.

    python benchmarks/audit_scale.py TABLE [--rows 10000,30000,100000,300000,1000000] [--passes]

TABLE is a file that a spec could name as its source. The cart generator learns it by the schema that is drafted from
it, and draws training rows, a quarter as many held-out rows and as many synthetic ones, all in one part. Each size is
measured in a process of its own. ``--passes`` leaves out the whole audit. Columns printed:

rows      training rows, and synthetic rows
near s    processor seconds of the distances that measures share: a fixed sample of training and of held-out rows to all
          synthetic rows, and of held-out rows to all training rows (``Evidence.closeness``)
pairs     pairs of rows that are compared for them, of all pairs there are
all s     what comparing all those pairs would take, scaled up from a few queries
credit s  processor seconds of what synthetic rows say of the two groups of real rows (``Evidence.credits``)
audit s   processor seconds of the whole audit by the default policy, the above included
tables    memory with the three tables loaded, MB
peak      most memory at any time, MB
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from models import neighbours
from models.auditing import Audit, audit
from models.evidence import Evidence
from models.generators import catalog
from models.neighbours import Points, Space, nearest
from models.partition import Part, Partition
from models.policy import Policy
from models.randomness import Seed
from models.schema import Column
from models.table import Table, digest
from tasks.codec import encode
from tasks.profiles import draft
from tasks.sources import file_source

SIZES = "10000,30000,100000,300000,1000000"
K = 10
SHARES = {"train": 1.0, "holdout": 0.25, "synthetic": 1.0}
FEW = 64
"""So many queries are compared with all rows to know what comparing all would take."""


@dataclass(frozen=True)
class Cost:
    """One size's figures, as the module describes them."""

    rows: int
    near: float
    pairs: float
    all_pairs: float
    credit: float
    audit: float
    tables: float
    peak: float


def drawn(source: Path, rows: int, folder: Path) -> tuple[str, tuple[Column, ...]]:
    """What was found at ``source``, and its columns. The cells of the three tables, at the largest size, are left in
    files.
    """
    read = file_source(source).read()
    table = encode(read, draft(read, K)[0])
    fitted = catalog.build("cart").fit(table, Seed.of(0).child("fit"))
    for name, share in SHARES.items():
        np.save(folder / f"{name}.npy", fitted.sample(round(rows * share), Seed.of(0).child(name)).values)
    numbers = sum(column.numeric for column in table.columns)
    levels = len(table.columns) - numbers
    return f"{len(table):,} rows, {numbers} numeric and {levels} levelled columns", table.columns


def cost(columns: tuple[Column, ...], folder: Path, rows: int, whole: bool) -> Cost:
    """The first rows of the drawn tables, looked at in this process."""
    tables = [_first(columns, folder / f"{name}.npy", round(rows * share)) for name, share in SHARES.items()]
    names = tuple(column.name for column in columns)
    evidence = Evidence(*tables, Partition(parts=(Part(name="all", columns=names),), reason="one part"))
    loaded = _megabytes()
    compared = _counted()
    near = _seconds(lambda: evidence.closeness)
    share = sum(compared) / _pairs(evidence)
    credit = _seconds(lambda: evidence.credits)
    rest = _seconds(lambda: _whole_audit(evidence)) if whole else float("nan")
    peak = _megabytes()
    every = _each_pair(evidence) * _pairs(evidence)
    return Cost(rows, near, share, every, credit, near + credit + rest, loaded, peak)


def _whole_audit(evidence: Evidence) -> Audit:
    return audit(evidence, Policy.of({}), Seed.of(1), training=digest(evidence.train))


def _first(columns: tuple[Column, ...], file: Path, rows: int) -> Table:
    return Table(columns, np.array(np.load(file, mmap_mode="r")[:rows]))


def _counted() -> list[int]:
    """The numbers of pairs that are compared from now on."""
    compared: list[int] = []
    apart = neighbours._apart

    def counting(one: Points, other: Points, gapped: np.ndarray) -> np.ndarray:
        compared.append(len(one) * len(other))
        return apart(one, other, gapped)

    neighbours._apart = counting
    return compared


def _pairs(evidence: Evidence) -> float:
    """How many pairs of an asked row and a row that answers there are."""
    train, holdout = len(evidence.asked(evidence.train)), len(evidence.asked(evidence.holdout))
    return (train + holdout) * len(evidence.synthetic) + holdout * len(evidence.train)


def _each_pair(evidence: Evidence) -> float:
    """Processor seconds per pair where all are compared: those of a tree that is not cut."""
    space = Space.of(evidence.train, evidence.holdout)
    asked, known = space.place(evidence.train.take(slice(0, FEW))), space.place(evidence.synthetic)
    neighbours.SMALLEST = neighbours.LARGEST = len(known)
    pairs = FEW * len(known.tree.points)
    return _seconds(lambda: nearest(asked, known)) / pairs


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _megabytes() -> float:
    """The most memory that this process has had so far."""
    return getrusage(RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def _alone(work: Callable[..., Any], *given: object) -> Any:
    """In a process of its own, with none of the memory that this one or the last one had."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(work, *given).result()


def line(one: Cost) -> str:
    return (
        f"{one.rows:>9,} {one.near:8.2f} {one.pairs:7.2%} {one.all_pairs:8.0f} {one.credit:9.2f} {one.audit:8.1f}"
        f" {one.tables:7.0f} {one.peak:6.0f}"
    )


def growth(costs: Sequence[Cost], figure: str) -> float:
    """The exponent with which a figure grows with the rows (least squares of the logarithms)."""
    rows, figures = (np.log([getattr(one, name) for one in costs]) for name in ("rows", figure))
    return float(np.polyfit(rows, figures, 1)[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("table", type=Path, help="a table such as a spec's source")
    parser.add_argument("--rows", default=SIZES, help="training rows, one size after another")
    parser.add_argument("--passes", action="store_true", help="only the passes over neighbours, not the whole audit")
    asked = parser.parse_args()
    if not asked.table.is_file():
        print(f"{asked.table} is no file: nothing was measured", file=sys.stderr)
        return 2
    sizes = sorted(int(rows) for rows in asked.rows.split(","))
    costs = []
    with TemporaryDirectory() as place:
        found, columns = _alone(drawn, asked.table, sizes[-1], Path(place))
        print(f"{asked.table.name}: {found}")
        print("     rows   near s   pairs    all s  credit s  audit s  tables   peak")
        for rows in sizes:
            costs.append(_alone(cost, columns, Path(place), rows, not asked.passes))
            print(line(costs[-1]), flush=True)
    if len(costs) > 1:
        near, credit, whole = (growth(costs, name) for name in ("near", "credit", "audit"))
        print(f"powers of the rows: near s {near:.2f}, credit s {credit:.2f}, audit s {whole:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
