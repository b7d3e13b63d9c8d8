"""What HydraGAN makes of a small table: told apart, useful, faithful in its columns, and at which cost, in one table.

    python benchmarks/hydragan.py --train TRAIN.csv --test TEST.csv --target COLUMN [--seeds 5] [--ways WAY,WAY]
    python benchmarks/hydragan.py --steps-of-heads

The schema is drafted from both files together. Every generator learns the training rows alone and draws as many. One
line per way; ``-`` is the real table: its test rows in place of synthetic ones, and training on real rows. ``hydragan``
finds its clusters itself, ``4 clusters`` are sought where they are asked for. Means over seeds with 95 % intervals
(Student's t):

told      the AUC of gradient boosting that tells synthetic from training rows, 4-fold cross-fitted: 0.5 is best; less
          means rows that are closer to training rows than these are to one another
told-test the same against the test rows, with as few synthetic rows
useful    the AUC of a random forest for the target (a column of levels), trained on synthetic rows, asked about test
          rows
marginal  1 - total variation (levels) or Kolmogorov-Smirnov distance (numbers) to the training rows, mean of columns
closer    the audit's share of synthetic rows that are closer to training rows than to test rows (0.5 is best); what a
          generator too stiff to know single rows has, such as the copula, is due to how the rows were divided
attack    the AUC of the audit's membership attack (0.5 is best); likewise
CPU s     processor seconds of fit, imports not counted

``--steps-of-heads`` times a training step with 1, 5 and 10 heads.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pyarrow as pa

from models.estimates import auc
from models.evidence import Evidence
from models.generators import Generator, catalog
from models.learning import boosted_chances
from models.measures.membership import ATTACK, CLOSER, Membership
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Floats, Table, stack
from tasks.codec import encode
from tasks.profiles import draft
from tasks.sources import file_source

WAYS: Mapping[str, Mapping[str, Any]] = {
    "hydragan": {"kind": "hydragan"}, "4 clusters": {"kind": "hydragan", "clusters": 4},
    **{kind: {"kind": kind} for kind in ("cart", "copula", "marginal")},
}  # fmt: skip
FOLDS = 4
K = 10


def tables(train: Path, test: Path) -> tuple[Table, Table]:
    read = [file_source(path).read() for path in (train, test)]
    schema, _ = draft(pa.concat_tables(read), K)
    first, second = (encode(each, schema) for each in read)
    return first, second


def told_apart(synthetic: Table, real: Table, seed: Seed) -> float:
    count = min(len(synthetic), len(real))
    rng = seed.generator()
    both = stack([table.take(rng.permutation(len(table))[:count]) for table in (real, synthetic)])
    answers, fold = np.repeat([0, 1], count), np.tile(rng.permutation(count) % FOLDS, 2)
    chances = np.empty(len(both))
    for part in range(FOLDS):
        learned = fold != part
        told = boosted_chances(both.take(learned), answers[learned], both.take(~learned), rounds=60, seed=seed)
        chances[~learned] = told[:, 1]
    return auc(chances[count:], chances[:count]).value


def forest(learned: Table, asked: Table, name: str) -> float:
    """The AUC for column ``name``, one level against the rest, mean over levels."""
    from sklearn.ensemble import RandomForestClassifier

    others = [column for column in learned.names if column != name]
    values = [np.nan_to_num(table.select(others).values, nan=-1.0) for table in (learned, asked)]
    model = RandomForestClassifier(300, min_samples_leaf=3, random_state=0).fit(values[0], learned[name])
    chances, answers = model.predict_proba(values[1]), asked[name]
    parts = [(chances[answers == level, i], chances[answers != level, i]) for i, level in enumerate(model.classes_)]
    return float(np.mean([auc(*part).value for part in parts if len(part[0]) and len(part[1])]))


def marginal(synthetic: Table, real: Table) -> float:
    return float(np.mean([_alike(synthetic[c.name], real[c.name], numeric=c.numeric) for c in real.columns]))


def _alike(drawn: Floats, known: Floats, *, numeric: bool) -> float:
    drawn, known = (np.nan_to_num(cells, nan=-1e300) for cells in (drawn, known))
    values = np.unique(np.concatenate([drawn, known]))
    shares = [np.diff(np.searchsorted(np.sort(c), values, "right"), prepend=0) / len(c) for c in (drawn, known)]
    difference = shares[0] - shares[1]
    return float(1 - (np.abs(np.cumsum(difference)).max() if numeric else np.abs(difference).sum() / 2))


def membership(synthetic: Table, train: Table, test: Table, seed: Seed) -> list[float]:
    """How much closer rows are to training rows, and how well an attack tells members; NaN where it is unknown."""
    whole = Partition(reason="one part", parts=(Part(name="part-1", columns=train.names),))
    findings = Membership().measure(Evidence(train, test, synthetic, whole), seed.child("membership"))
    known = {finding.name: finding.estimate for finding in findings}
    return [np.nan if known[name] is None else known[name] for name in (CLOSER, ATTACK)]


def line(name: str, figures: list[list[float]]) -> None:
    from scipy.stats import t

    table = np.array(figures)
    half = t.ppf(0.975, len(table) - 1) * table.std(axis=0, ddof=1) / len(table) ** 0.5 if len(table) > 1 else None
    cells = [f"{mean:8.3f}" + (f" ±{half[j]:5.3f}" if half is not None else "") for j, mean in enumerate(table.mean(0))]
    print(f"{name:12}", *cells, flush=True)


def fitted(generator: Generator, train: Table, seed: Seed) -> tuple[Callable[[int, Seed], Table], float]:
    started = time.process_time()
    sampler = generator.fit(train, seed.child("fit"))
    return sampler.sample, time.process_time() - started


def compare(train: Table, test: Table, target: str, seeds: int, ways: Sequence[str]) -> None:
    names = ("told", "told-test", "useful", "marginal", "closer", "attack", "CPU s")
    print(f"{'':12}", *(f"{name:>15}" for name in names))
    real = [told_apart(test, train, Seed.of(0)), 0.5, forest(train, test, target)]
    line("-", [[*real, marginal(test, train), 0.5, 0.5, 0.0]])
    for way in ways:
        figures = []
        for number in range(seeds):
            seed = Seed.of(number)
            draw, seconds = fitted(catalog.build(WAYS[way]), train, seed)
            made = draw(len(train), seed.child("draw"))
            told = [told_apart(made, real, seed) for real in (train, test)]
            known = [forest(made, test, target), marginal(made, train), *membership(made, train, test, seed)]
            figures.append([*told, *known, seconds])
        line(way, figures)


def steps_of_heads() -> None:
    """CPU milliseconds of a whole training step (critic, penalty, generator) of 256 rows over 20 columns."""
    rng = Seed.of(0).generator()
    columns = [Column(name=f"c{j}", kind=Kind.CATEGORICAL, dtype="int64", levels=(0, 1, 2, 3)) for j in range(20)]
    table = Table.of(columns, list(rng.integers(0, 4, (20, 2000))), 2000)
    taken: dict[int, float] = {}
    catalog.build({"kind": "hydragan", "steps": 1}).fit(table, Seed.of(0))  # imports
    for heads in (1, 5, 10):
        seconds = []
        for steps in (5, 105):
            settings = catalog.build({"kind": "hydragan", "steps": steps, "held_out": 0})
            started = time.process_time()
            settings.resume_clusters(table, np.arange(2000) % heads, Seed.of(0), None)  # type: ignore[attr-defined]
            seconds.append(time.process_time() - started)
        taken[heads] = 10 * (seconds[1] - seconds[0])
        print(
            f"{heads:3} heads: {taken[heads]:6.1f} ms a step, {taken[heads] / taken[1]:.2f} times one head", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path)
    parser.add_argument("--test", type=Path)
    parser.add_argument("--target")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--steps-of-heads", action="store_true")
    given = parser.parse_args()
    if given.steps_of_heads:
        return steps_of_heads()
    if not (given.train and given.test and given.target):
        sys.exit("--train, --test and --target are needed")
    train, test = tables(given.train, given.test)
    return compare(train, test, given.target, given.seeds, given.ways.split(","))


if __name__ == "__main__":
    main()
