"""How well candidates for log p(row) - sum of log p_i(row's part i) know which rows are real, and what that costs.

    python benchmarks/ratio_candidates.py --data PATH [--tables heart,...,xor] [--parts 2,3] [--seeds 3]
                                          [--candidates ours,...]
    python benchmarks/ratio_candidates.py --data PATH --sweeps 200 [...]    what a join by their scores recovers

PATH holds tables as NAME_train.csv and NAME_test.csv; both files are pooled. For every seed a third of the rows is held
out at random and the columns are cut into random parts. A candidate is fitted on the other two thirds, and has to take
out of these what it holds out itself, for early stopping or calibration. It is judged on the held-out third by what a
swap asks: of two real rows and the same two with one part exchanged, which pair is real? The chance of that is the
logistic function of its margin, the score of the pair less that of the exchanged pair; all that a candidate says of
single parts cancels. Columns are means over the seeds, in nats where they are losses:

raw       log loss of the margins as they come; log 2 = 0.693 is what knowing nothing costs
loss      log loss after margins are multiplied by one slope, each half of the held-out rows by that which does best on
          the other half; with half the width of its 95 % interval over seeds (t) as ``+-``
slope     the slope that does best on the held-out rows: 1 is calibrated, less was too sure; it means nothing where
          ``loss`` is log 2
right     share of right answers
beyond    ``loss`` less that of ``ours`` with the same seed: positive where ours is better; with its own ``+-``
fit       processor seconds of a fit
score     processor seconds of scoring a million joined rows, a swap asking for two (from 5,000; what is computed once
          for each row of a part is not counted)

Three tables are made, with the best score there is as ``truth``. In ``xor`` the sign of one column of either part is
mostly the same, a dependence in which no first split of a tree has any gain. In ``product`` one part has the sign of a
*product* of two columns of the other. In ``nothing`` parts know nothing of one another: ``loss`` should be log 2.

With ``--sweeps`` the parts of the training file's rows are put in a random order, and so many sweeps of swaps (of
``models.matching``, without its test of convergence) are made by each candidate's score. ``corr`` and ``auroc`` are
those of ``join_scores.py``; ``again`` is the share of joined rows that are rows of the training file, and ``join``
processor seconds. ``constant`` is concatenation, and ``bootstrap`` a bootstrap of the training rows.

At the end come the means over the tables of PATH; ``beyond`` and its interval are then over tables and seeds. What the
candidates are stands in ``ratio_models.py``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from join import Setting
from join_scores import Case, Figures, parts_of
from ratio_models import CANDIDATES, Candidate, Rows, Score, Scorer, by_cells, margins, pairs
from scipy.stats import t as student

from models.exchanges import slope_of
from models.pairing import orders
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Floats, Table, beside, stack
from models.twins import row_keys

MADE = ("xor", "product", "nothing")
ROWS, OWN, AGREEING = 1500, 4, 0.85
"""Rows of a made table, columns of either of its parts, and how often its signs agree."""

SCORED = 5_000
"""So many joined rows are scored against the clock."""


@dataclass(frozen=True)
class Trial:
    """Rows to learn from and rows to be judged by, in the same parts; ``truth`` where it is known."""

    learnt: Sequence[Table]
    judged: Sequence[Table]
    truth: Scorer | None = None

    @classmethod
    def of(cls, case: Case, parts: int, seed: Seed) -> Trial:
        return cls.cut(case.train, Setting(case, parts, "random").partition(seed), seed)

    @classmethod
    def cut(cls, table: Table, partition: Partition, seed: Seed, truth: Scorer | None = None) -> Trial:
        order = seed.child("held out").generator().permutation(len(table))
        learnt, judged = (table.take(np.sort(rows)) for rows in np.split(order, [len(table) * 2 // 3]))
        return cls(parts_of(learnt, partition), parts_of(judged, partition), truth)

    @classmethod
    def made(cls, kind: str, seed: Seed) -> Trial:
        """Standard normal columns, the first of part b with the sign that those of part a say."""
        random = seed.child("made").generator()
        values, telling = random.normal(size=(ROWS, 2 * OWN)), {"nothing": 0, "xor": 1, "product": 2}[kind]

        def sign(rows: Floats) -> Floats:
            return np.prod(np.sign(rows[:, :telling]), axis=1)

        if telling:
            agreed = np.where(random.random(ROWS) < AGREEING, 1.0, -1.0)
            values[:, OWN] = np.abs(values[:, OWN]) * sign(values) * agreed
        best = np.log(AGREEING / (1 - AGREEING)) / 2 if telling else 0.0
        names = [f"{side}{number}" for side in "ab" for number in range(OWN)]
        columns = tuple(Column(name=name, kind=Kind.CONTINUOUS, dtype="double", bounds=(-9, 9)) for name in names)
        parts = (Part(name="a", columns=names[:OWN]), Part(name="b", columns=names[OWN:]))
        truth = by_cells(lambda rows: best * sign(rows) * np.sign(rows[:, OWN]))
        return cls.cut(Table(columns, values), Partition(parts=parts, reason="made"), seed, truth)

    def figures(self, candidate: Candidate, seed: Seed) -> Figures:
        began = time.process_time()
        scorer = candidate(self.learnt, seed.child("fit"))
        fitted = time.process_time() - began
        count, score, random = len(self.judged), scorer(self.judged), seed.child("score").generator()
        joined = [random.integers(0, len(part), SCORED) for part in self.judged]
        began = time.process_time()
        score(joined, 0)
        scored = (time.process_time() - began) * 1e6 / SCORED
        halves = np.array_split(seed.child("halves").generator().permutation(len(self.judged[0])), 2)
        told = [margins(score, *pairs(half, seed.child("pairs")), count) for half in halves]
        both = np.concatenate(told)
        stretched = np.concatenate([slope_of(other) * half for half, other in zip(told, told[::-1], strict=True)])
        return {
            "raw": float(np.logaddexp(0, -both).mean()),
            "loss": float(np.logaddexp(0, -stretched).mean()),
            "slope": slope_of(both),
            "right": float((both > 0).mean() + (both == 0).mean() / 2),
            "fit": fitted,
            "score": scored,
        }


def swapped(score: Score, count: int, parts: int, sweeps: int, seed: Seed) -> Rows:
    """Metropolis on the matching, for any score: who stands beside whom."""
    rows, random = orders(count, parts, seed.child("orders")), seed.child("sweeps").generator()
    for _ in range(sweeps):
        for part in range(1, parts):
            places = random.permutation(count)[: count // 2 * 2].reshape(2, -1)
            here = [[each[place] for each in rows] for place in places]
            there = [[*each[:part], other[part], *each[part + 1 :]] for each, other in (here, here[::-1])]
            lift = sum(score(each, part) for each in there) - sum(score(each, part) for each in here)
            first, second = places[:, -random.exponential(size=len(lift)) < lift]
            rows[part][first], rows[part][second] = rows[part][second], rows[part][first]
    return rows


def recovered(case: Case, count: int, candidate: Candidate, sweeps: int, seed: Seed) -> Figures:
    parts = parts_of(case.train, Setting(case, count, "random").partition(seed))
    began = time.process_time()
    score = candidate(parts, seed.child("fit"))(parts)
    fitted = time.process_time()
    rows = swapped(score, len(case.train), count, sweeps, seed.child("join"))
    ended = time.process_time()
    joined = beside([part.take(each) for part, each in zip(parts, rows, strict=True)]).select(case.train.names)
    return {
        "corr": case.difference(joined, seed),
        "auroc": case.auroc(joined) - case.best,
        "again": float(np.isin(row_keys(joined), row_keys(case.train)).mean()),
        "fit": fitted - began,
        "join": ended - fitted,
    }


def joined_by(
    cases: Sequence[Case], counts: Sequence[int], asked: Mapping[str, Candidate], sweeps: int, seeds: Sequence[Seed]
) -> None:
    print(
        f"{'table':<14}parts {'candidate':<20}" + "".join(f"{n:>9}" for n in ("corr", "auroc", "again", "fit", "join"))
    )
    for case, count in product(cases, counts):
        print(f"{case.name:<14}{count:>5} {'bootstrap':<20}{np.mean([case.floor(seed) for seed in seeds]):>9.3f}")
        for name, candidate in asked.items():
            runs = [recovered(case, count, candidate, sweeps, seed) for seed in seeds]
            means = [np.mean([run[column] for run in runs]) for column in runs[0]]
            print(f"{case.name:<14}{count:>5} {name:<20}" + "".join(f"{mean:>9.3f}" for mean in means), flush=True)


def within(values: Sequence[float]) -> float:
    """Half the width of a 95 % interval of the mean."""
    count = len(values)
    return float(student.ppf(0.975, count - 1) * np.std(values, ddof=1) / count**0.5) if count > 1 else float("nan")


def line(where: str, parts: int, name: str, runs: Sequence[Figures], beside: Sequence[Figures]) -> str:
    mean = {column: float(np.mean([run[column] for run in runs])) for column in runs[0]}
    beyond = [run["loss"] - other["loss"] for run, other in zip(runs, beside, strict=True)]
    figures = [mean["raw"], mean["loss"], within([run["loss"] for run in runs]), mean["slope"], mean["right"]]
    last = [float(np.mean(beyond)), within(beyond)]
    losses = "".join(f"{figure:>8.4f}" for figure in figures) + "".join(f"{figure:>9.4f}" for figure in last)
    return f"{where:<14}{parts:>5} {name:<20}{losses}{mean['fit']:>8.2f}{mean['score']:>8.2f}"


def compared(trials: Iterable[tuple[str, int, Sequence[Trial]]], asked: Mapping[str, Candidate]) -> None:
    columns = ("raw", "loss", "+-", "slope", "right")
    head = "".join(f"{name:>8}" for name in columns) + f"{'beyond':>9}{'+-':>9}{'fit':>8}{'score':>8}"
    print(f"{'table':<14}parts {'candidate':<20}{head}")
    overall: dict[int, dict[str, list[Figures]]] = {}
    for where, parts, drawn in trials:
        runs: dict[str, list[Figures]] = {}
        for number, trial in enumerate(drawn):
            truth = {"truth": lambda _, __, known=trial.truth: known} if trial.truth else {}
            for name, candidate in ({**asked, **truth}).items():
                if name != "boosting by part" or parts > 2:
                    runs.setdefault(name, []).append(trial.figures(candidate, Seed.of(number)))
        for name, found in runs.items():
            print(line(where, parts, name, found, runs["ours"]), flush=True)
            if where not in MADE:
                overall.setdefault(parts, {}).setdefault(name, []).extend(found)
    for parts, told in overall.items():
        for name, found in told.items():
            print(line("all tables", parts, name, found, told["ours"]))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with NAME_train.csv and NAME_test.csv")
    parser.add_argument("--tables", default="heart,breast_cancer,alzheimers,hepatitis,xor,product,nothing")
    parser.add_argument("--parts", default="2,3", help="numbers of parts; made tables have two")
    parser.add_argument("--seeds", type=int, default=3, help="how many to average over")
    parser.add_argument("--candidates", help=f"of: {', '.join(CANDIDATES)}; 'ours' is always among them")
    parser.add_argument("--sweeps", type=int, help="join real parts by so many sweeps instead")
    said = parser.parse_args()
    torch.set_num_threads(1)
    asked = CANDIDATES if said.candidates is None else {n: CANDIDATES[n] for n in ["ours", *said.candidates.split(",")]}
    seeds, tables = [Seed.of(number) for number in range(said.seeds)], said.tables.split(",")
    cases = [Case.at(said.data, name) for name in tables if name not in MADE]
    counts = [int(count) for count in said.parts.split(",")]
    if said.sweeps:
        joined_by(cases, counts, asked, said.sweeps, seeds)
        return 0
    pooled = [replace(case, train=stack([case.train, case.test])) for case in cases]
    real = [(case.name, count, [Trial.of(case, count, seed) for seed in seeds]) for count in counts for case in pooled]
    made = [(kind, 2, [Trial.made(kind, seed) for seed in seeds]) for kind in tables if kind in MADE]
    compared(sorted([*real, *made], key=lambda trial: trial[1]), asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
