"""What joins recover and cost: real parts, drawn parts, the dial of temperature, the published package, many parts.

    python benchmarks/join.py real  --data PATH [--tables heart,...] [--parts 2,3,4] [--splits random,correlated]
                                    [--seeds 1] [--joins validated,...]
    python benchmarks/join.py drawn --data PATH [...]                      parts drawn by a generator (--generator cart)
    python benchmarks/join.py beta  --data PATH [--beta 0,0.5,1,1.5]       joins that have a temperature
    python benchmarks/join.py peer  --data PATH --peer PYTHON              beside the package disjoint-generation
    python benchmarks/join.py parts --data PATH [--paper CSV]              1 to 10 parts of the table with 98 columns
    python benchmarks/join.py signal-free [--joins swap]                  tables whose parts know nothing of one another
    python benchmarks/join.py scale [--pools 100000,1000000]              20 columns in two parts, of more and more rows

PATH holds tables as NAME_train.csv and NAME_test.csv, the target being the last column. Joins are kinds of the
catalogue, or JSON with settings: ``--joins '["validated", {"kind": "validated", "behaviour": "adaptive"}]'``. What the
columns mean stands in ``join_scores.py``; figures are means over the seeds. Further columns:

excess    of ``real``: ``corr`` beyond that of a bootstrap of the training rows (the mean of ten)
removed   the share of concatenation's excess that the join removes, and ``least``, the smallest of any seed; unknown
          where that excess is under a quarter of the bootstrap's ``corr``: there is next to nothing to remove
times     of the others: ``corr`` over that of the undivided generator (``undivided``)

``real`` isolates the join: the parts are those of the training rows themselves, each in random order. In ``peer`` the
package's validator and our joins get the same parts: a pool of three times as many rows as are wanted, as is its way,
of which ours take what they ask for. ``times`` is there over the package's figure as it comes (it takes no seed, so
its figures differ from run to run). Pools of 1,000 and more are fresh rows of a made table of twenty columns, and
``undivided`` is what as many whole rows of it would score. The package's environment is made beforehand:

    python -m venv FOLDER && FOLDER/bin/pip install --no-deps disjoint-generation==1.2
    FOLDER/bin/pip install numpy pandas scikit-learn pyod joblib

The means over all tables come at the end. ``signal-free`` tells on how many of 56 tables a join used what it believes
to have learnt; ``scale`` the processor seconds and the peak of memory of a fit and a join, each size in a process of
its own, and ``power``, the exponent of the seconds from the smallest size to the largest.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from join_scores import (
    Case,
    Drawn,
    Figures,
    Timed,
    drawn_scores,
    paper_scores,
    parts_of,
    real_parts,
    real_scores,
    undivided,
)

from models import generators, joins, partitioners
from models.joins import Join, Joined
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column, Kind
from models.synthesis import Recipe
from models.table import Table

REFERENCE = "concatenation"
DIVIDED = {"kind": "random", "parts": 1}
WIDE = "diabetic_mellitus"
BOOTSTRAPS = 10
REAL = ("removed", "least", "excess", "corr", "auroc", "kept", "again", "known", "unseen", "informed", "fit", "join")
DRAWN = (
    "times", "corr", "auroc", "eps", "closer", "low", "high", "half", "attack", "worst", "matches", "again", "informed",
    "draw", "fit", "join",
)  # fmt: skip
COLUMNS, FACTORS = 20, 3

Scores = Mapping[str, Sequence[Figures]]
"""By the name of a join, the figures of every seed."""


@dataclass(frozen=True)
class Setting:
    """One cell of the plan: a table in so many parts, cut in a certain way."""

    case: Case
    parts: int
    split: str

    def partition(self, seed: Seed) -> Partition:
        asked = {"kind": self.split, "parts": self.parts}
        return partitioners.catalog.build(asked).partition(self.case.train, seed.child("partition"))

    def drawn(self, partition: Partition, generator: str, join: Join, seed: Seed) -> Drawn:
        """Draws from ``generator`` as ``join`` wants them: each part by itself, or given others."""
        return Drawn.of(self.case.train, partition, recipe(generator, join), seed)


def recipe(generator: str, join: Join) -> Recipe:
    """The settings of one generator for parts that are given."""
    return Recipe(partitioners.catalog.build(DIVIDED), generators.catalog.build(generator), {}, join)


def alone(join: Join) -> bool:
    """Whether parts are drawn by themselves, so that real ones can stand in for them."""
    return not join.given(("first", "second"), "second")


def real(setting: Setting, asked: Mapping[str, Join], seeds: int) -> Scores:
    floor = float(np.mean([setting.case.floor(Seed.of(number).child("floor")) for number in range(BOOTSTRAPS)]))
    found = _by_name(asked, seeds, lambda join, seed: real_scores(setting.case, setting.partition(seed), join, seed))
    lost = [figures["corr"] - floor for figures in found[REFERENCE]]
    return {"bootstrap": [{"corr": floor}]} | {
        name: [_beyond(figures, floor, excess) for figures, excess in zip(scores, lost, strict=True)]
        for name, scores in found.items()
    }


def _beyond(figures: Figures, floor: float, lost: float) -> Figures:
    """With ``excess`` and ``removed``, ``lost`` being concatenation's excess."""
    excess = figures["corr"] - floor
    return {**figures, "excess": excess, "removed": 1 - excess / lost if lost > floor / 4 else float("nan")}


def drawn(setting: Setting, asked: Mapping[str, Join], seeds: int, generator: str) -> Scores:
    whole = undivided_scores(setting.case, seeds, generator)
    found: dict[str, list[Figures]] = {name: [] for name in asked}
    for seed in map(Seed.of, range(seeds)):
        partition = setting.partition(seed)
        apart = setting.drawn(partition, generator, joins.catalog.build(REFERENCE), seed)
        for name, join in asked.items():
            parts = apart if alone(join) else setting.drawn(partition, generator, join, seed)
            found[name].append(drawn_scores(setting.case, partition, parts, join, seed))
    best = np.mean([figures["corr"] for figures in whole])
    return {
        name: [{**figures, "times": figures.get("corr", np.nan) / best} for figures in scores]
        for name, scores in {"undivided": whole, **found}.items()
    }


@cache
def undivided_scores(case: Case, seeds: int, generator: str) -> Sequence[Figures]:
    """The generator of the whole table, by seed."""
    whole, plain = undivided(case.train), joins.catalog.build(REFERENCE)
    return [
        drawn_scores(case, whole, Drawn.of(case.train, whole, recipe(generator, plain), seed), plain, seed)
        for seed in map(Seed.of, range(seeds))
    ]


def _by_name(asked: Mapping[str, Join], seeds: int, score: Callable[[Join, Seed], Figures]) -> Scores:
    return {name: [score(join, Seed.of(number)) for number in range(seeds)] for name, join in asked.items()}


def swept(settings: Iterable[Setting], columns: Sequence[str], score: Callable[[Setting], Scores]) -> None:
    """Prints a line per join and setting as they come, and the means over the tables at the end."""
    print(f"{'table':<18} parts {'split':<10} {'join':<34}" + "".join(f"{name:>9}" for name in columns))
    overall: dict[tuple[int, str], dict[str, list[Figures]]] = {}
    for setting in settings:
        where = overall.setdefault((setting.parts, setting.split), {})
        for name, scores in score(setting).items():
            print(_line(setting.case.name, setting.parts, setting.split, name, _mean(scores), columns), flush=True)
            where.setdefault(name, []).append(_mean(scores))
    for (parts, split), found in overall.items():
        for name, means in found.items():
            print(_line("all tables", parts, split, name, _mean(means), columns))


def _mean(scores: Sequence[Figures]) -> Figures:
    """Means over what is known; ``least`` is the smallest of ``removed``, or of ``least``."""
    names = dict.fromkeys(name for figures in scores for name in figures)
    known = {name: [f[name] for f in scores if not np.isnan(f.get(name, np.nan))] for name in names}
    means = {name: float(np.mean(values)) if values else float("nan") for name, values in known.items()}
    least = known.get("least") or known.get("removed")
    return {**means, "least": min(least)} if least else means


def _line(table: str, parts: int, split: str, name: str, figures: Figures, columns: Sequence[str]) -> str:
    cells = "".join(f"{figures.get(column, float('nan')):>9.3f}" for column in columns).replace("nan", "  -")
    return f"{table:<18} {parts:>5} {split:<10} {name:<34}{cells}"


def asked_joins(text: str | None) -> dict[str, Join]:
    """By name: a kind, with its settings where some are given."""
    said = list(joins.catalog.kinds()) if text is None else json.loads(text) if text[:1] in "[{" else text.split(",")
    found = {}
    for one in said if isinstance(said, list) else [said]:
        settings = {} if isinstance(one, str) else {key: value for key, value in one.items() if key != "kind"}
        told = ", ".join(f"{key}={_brief(value)}" for key, value in settings.items())
        found[(one if isinstance(one, str) else one["kind"]) + (f" ({told})" if told else "")] = joins.catalog.build(
            one
        )
    return found


def _brief(value: object) -> str:
    return ":".join(map(_brief, value.values())) if isinstance(value, dict) else str(value)


def dialled(betas: Sequence[float], kinds: Iterable[str]) -> dict[str, Join]:
    """Every join that has a temperature, at each of them."""
    return {
        f"{kind} (beta={beta:g})": joins.catalog.build({"kind": kind, "beta": beta})
        for kind in kinds
        if "beta" in joins.catalog.settings(kind).model_fields
        for beta in betas
    }


def many_parts(case: Case, counts: Sequence[int], asked: Mapping[str, Join], seeds: int, paper: Path | None) -> None:
    """Utility, privacy and time by the number of parts; the paper's figures (Bayesian networks) in the last columns."""
    told = _published(paper) if paper else {}
    columns = ("corr", "auroc", "eps", "closer", "attack", "draw", "fit", "join")
    published = {"corr": "corr_mat_diff", "auroc": "auroc", "eps": "eps_identif_risk", "CPU s": "time"}
    head = "".join(f"{name:>9}" for name in columns) + "".join(f"{'paper ' + name:>13}" for name in published if told)
    print(f"parts {'join':<34}{head}")
    for count in counts:
        scores = drawn(Setting(case, count, "random"), asked if count > 1 else {}, seeds, "cart")
        for name in asked if count > 1 else scores:
            figures = _mean(scores[name])
            theirs = told.get(("concat" if name == REFERENCE else "validate", count), {})
            cells = "".join(f"{figures.get(column, float('nan')):>9.3f}" for column in columns)
            beside = "".join(f"{float(theirs[column]):>13.3f}" for column in published.values() if theirs)
            print(f"{count:>5} {name:<34}{cells}{beside}", flush=True)


def _published(paper: Path) -> dict[tuple[str, int], dict[str, str]]:
    with paper.open(newline="") as file:
        return {(row["experiment"], int(row["partitions"])): row for row in csv.DictReader(file)}


def beside_the_peer(
    cases: Sequence[Case], asked: Mapping[str, Join], seeds: int, python: Path, pools: Sequence[int]
) -> None:
    """Both get the same parts: those that ``cart`` drew of the tables, and those of a made table in three sizes."""
    columns = ("times", "corr", "rows", "fit", "join")
    print(f"{'parts of':<24} {'join':<34}" + "".join(f"{name:>9}" for name in columns))
    apart = recipe("cart", joins.catalog.build(REFERENCE))
    totals: dict[str, list[Figures]] = {}
    for case in cases:
        setting = Setting(case, 2, "random")
        runs = [
            compared(case, setting.partition(seed), Drawn.of(case.train, setting.partition(seed), apart, seed), asked,
                     seed, python)
            for seed in map(Seed.of, range(seeds))
        ]  # fmt: skip
        for name in runs[0]:
            totals.setdefault(name, []).append(_against(_mean([run[name] for run in runs]), runs))
            _told(case.name, name, totals[name][-1], columns)
    for name, figures in totals.items():
        _told("all tables", name, _mean(figures), columns)
    for size in pools:
        made = made_case(size // 3, Seed.of(0))
        parts = [Part(name=f"part-{k}", columns=made.train.names[k::2]) for k in range(2)]
        partition = Partition(parts=tuple(parts), reason="every second column")
        fresh = made_case(size, Seed.of(1)).train
        draws = Drawn(real_parts(parts_of(fresh, partition), Seed.of(2)), 0.0)
        whole = {**_difference(made, fresh.take(slice(0, len(made.train))), Seed.of(3)), "fit": 0.0, "join": 0.0}
        run = {"undivided": whole, **compared(made, partition, draws, asked, Seed.of(3), python)}
        for name, figures in run.items():
            _told(f"a pool of {size:,}", name, _against(figures, [run]), columns)


PEER = "disjoint-generation (standard)"
BEHAVIOURS = ("standard", "strict", "adaptive")


def _against(figures: Figures, runs: Sequence[Mapping[str, Figures]]) -> Figures:
    """``times``: the correlation difference over that of the package as it comes."""
    theirs = float(np.mean([run[PEER]["corr"] for run in runs]))
    return {**figures, "times": figures["corr"] / theirs}


def _told(where: str, name: str, figures: Figures, columns: Sequence[str]) -> None:
    cells = "".join(f"{figures[column]:>9.{0 if column == 'rows' else 3}f}" for column in columns)
    print(f"{where:<24} {name:<34}{cells}", flush=True)


def compared(
    case: Case, partition: Partition, drawn: Drawn, asked: Mapping[str, Join], seed: Seed, python: Path
) -> dict[str, Figures]:
    """``corr``, rows and processor seconds of our joins and of the package in its own process."""
    found = {}
    for name, join in asked.items():
        made = Timed.of(join, case.train, partition, drawn.draw, len(case.train), seed)
        found[name] = {**_difference(case, made.table, seed), **made.costs}
    with TemporaryDirectory() as folder:
        answers = their_joins(case, partition, drawn, Path(folder), python)
        for behaviour, seconds in answers.items():
            joined = _read(Path(folder) / f"joined-{behaviour}.csv", case.train.columns)
            found[f"disjoint-generation ({behaviour})"] = {**_difference(case, joined, seed), **seconds}
    return found


def _difference(case: Case, joined: Table, seed: Seed) -> Figures:
    table = joined.select(case.train.names)
    if not len(table):
        return {"corr": float("nan"), "rows": 0.0}
    return {"corr": case.difference(table, seed), "rows": float(len(table))}


def their_joins(
    case: Case, partition: Partition, drawn: Drawn, folder: Path, python: Path
) -> Mapping[str, Mapping[str, float]]:
    """The package's processor seconds by behaviour; the rows lie in ``folder``."""
    pool = drawn.draw(0, 3 * len(case.train))
    for number, (real_part, part) in enumerate(zip(parts_of(case.train, partition), pool, strict=True)):
        _write(folder / f"real-{number}.csv", real_part)
        _write(folder / f"pool-{number}.csv", part)
    asked = {"parts": len(pool), "rows": len(case.train), "behaviours": BEHAVIOURS}
    (folder / "asked.json").write_text(json.dumps(asked))
    script = Path(__file__).resolve().parent / "peers" / "with_disjoint_generation.py"
    ended = subprocess.run([python.absolute(), script, folder], cwd=folder, capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"disjoint-generation failed:\n{ended.stderr[-2000:]}")
    answered: Mapping[str, Mapping[str, float]] = json.loads((folder / "answer.json").read_text())
    return answered


def _write(path: Path, table: Table) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.names)
        writer.writerows(table.values.tolist())


def _read(path: Path, columns: Sequence[Column]) -> Table:
    with path.open(newline="") as file:
        names, *rows = csv.reader(file)
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    by_name = {column.name: column for column in columns}
    return Table(tuple(by_name[name] for name in names), values)


def made_case(rows: int, seed: Seed) -> Case:
    """Twenty columns that follow three hidden numbers: ten numbers, and ten with five levels."""
    loadings = Seed.of(7).generator().normal(size=(FACTORS, COLUMNS))

    def table(stream: np.random.Generator, count: int) -> Table:
        hidden = stream.normal(size=(count, FACTORS)) @ loadings + stream.normal(size=(count, COLUMNS))
        half = COLUMNS // 2
        levels = np.clip(np.floor(hidden[:, half:] / 1.2 + 2.5), 0, 4)
        numbers = [Column(name=f"n{j}", kind=Kind.CONTINUOUS, dtype="double", bounds=(-99, 99)) for j in range(half)]
        codes = [
            Column(name=f"l{j}", kind=Kind.CATEGORICAL, dtype="string", levels=tuple("abcde")) for j in range(half)
        ]
        return Table((*numbers, *codes), np.hstack([hidden[:, :half], levels]))

    return Case(f"{rows:,} rows", table(seed.child("train").generator(), rows), table(seed.generator(), 50))


SIGNAL_FREE = [(rows, columns) for rows in (60, 120, 240, 480, 1000, 2000, 4000) for columns in (4, 8, 16, 30)]
TWICE = 2


def signal_free(asked: Mapping[str, Join]) -> None:
    """Columns that depend on one another within either part alone."""
    informed: dict[str, list[float]] = {name: [] for name in asked}
    for number, (rows, columns) in enumerate(SIGNAL_FREE * TWICE):
        seed = Seed.of(number)
        halves = [made_case(rows, seed.child(side)).train for side in ("left", "right")]
        parts = [
            _called(half.select(half.names[:: COLUMNS * 2 // columns]), side)
            for half, side in zip(halves, "ab", strict=True)
        ]
        for name, join in asked.items():
            informed[name].append(_informed(join.fit(parts, seed).join(real_parts(parts, seed), rows, seed)))
    for name, found in informed.items():
        print(f"{name:<34} informed {sum(found):.0f} of {len(found)}", flush=True)


def _called(part: Table, side: str) -> Table:
    return Table(tuple(c.model_copy(update={"name": f"{side}-{c.name}"}) for c in part.columns), part.values)


def _informed(joined: Joined) -> float:
    return float(bool(joined.facts.get("informed")))


def scaled(asked: Mapping[str, Join], sizes: Sequence[int]) -> None:
    print(f"{'join':<34}{'rows':>12}{'fit':>9}{'join':>9}{'peak GB':>9}{'converged':>11}")
    for name, join in asked.items():
        costs = [_alone(join, size) for size in sizes]
        for size, cost in zip(sizes, costs, strict=True):
            print(f"{name:<34}{size:>12,}" + "".join(f"{figure:>9.2f}" for figure in cost), flush=True)
        first, last = (sum(cost[:2]) for cost in (costs[0], costs[-1]))
        print(f"{name:<34} power {np.log(last / first) / np.log(sizes[-1] / sizes[0]):.2f}", flush=True)


def _alone(join: Join, size: int) -> Sequence[float]:
    """Processor seconds of fit and join, the peak of memory, and the share of blocks that converged."""
    with ProcessPoolExecutor(1, get_context("spawn")) as one:
        return one.submit(_cost, join.model_dump(mode="json"), size).result()


def _cost(settings: Mapping[str, object], size: int) -> Sequence[float]:
    join, table = joins.catalog.build(settings), made_case(size, Seed.of(0)).train
    partition = Setting(Case("", table, table), 2, "random").partition(Seed.of(0))
    made = Timed.of(join, table, partition, real_parts(parts_of(table, partition), Seed.of(1)), size, Seed.of(2))
    peak = getrusage(RUSAGE_SELF).ru_maxrss / 2**20
    return made.fit, made.join, peak, float(made.joined.facts.get("converged", float("nan")))


def warm(asked: Mapping[str, Join], case: Case) -> None:
    """Fits and uses every join once on a few rows, so that no clock counts an import."""
    few = case.train.take(slice(0, 60))
    partition = Setting(Case(case.name, few, few), 2, "random").partition(Seed.of(0))
    for join in asked.values():
        Timed.of(join, few, partition, real_parts(parts_of(few, partition), Seed.of(0)), 30, Seed.of(0))
    paper_scores(case, few, Seed.of(0))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("real", "drawn", "beta", "peer", "parts", "signal-free", "scale"))
    parser.add_argument("--data", type=Path, help="folder with NAME_train.csv and NAME_test.csv")
    parser.add_argument("--tables", help="names; by default all but the one with 98 columns")
    parser.add_argument("--parts", help="numbers of parts; by default 2,3,4 of 'real', 1 to 10 of 'parts', else 2")
    parser.add_argument("--splits", help="kinds of partitioners that take a number of parts")
    parser.add_argument("--seeds", type=int, default=1, help="how many to average over")
    parser.add_argument("--joins", help="kinds, or JSON; by default every kind")
    parser.add_argument("--generator", default="cart", help=f"of: {', '.join(generators.catalog.kinds())}")
    parser.add_argument("--beta", default="0,0.5,1,1.5", help="temperatures")
    parser.add_argument("--peer", type=Path, help="the Python that has disjoint-generation")
    parser.add_argument("--pools", help="drawn rows of the made table, of 'peer' and 'scale'")
    parser.add_argument("--paper", type=Path, help="the paper's figures of the table with 98 columns")
    said = parser.parse_args()
    if said.what == "peer" and said.peer is None:
        parser.error("name the package's Python with --peer")
    if said.what not in ("signal-free", "scale") and said.data is None:
        parser.error("name the folder of tables with --data")
    return said


def main() -> int:
    said = arguments()
    asked = {name: join for name, join in asked_joins(said.joins).items() if alone(join) or said.what in APART}
    if said.what == "signal-free":
        signal_free(asked)
        return 0
    if said.what == "scale":
        scaled(asked, _numbers(said.pools or "100000,1000000"))
        return 0
    named = said.tables or (WIDE if said.what == "parts" else None)
    found = sorted(path.name.removesuffix("_train.csv") for path in said.data.glob("*_train.csv"))
    names = named.split(",") if named else [name for name in found if name != WIDE]
    absent = [name for name in names if name not in found]
    if absent or not names:
        print(f"{said.data} holds no {', '.join(absent) or '*_train.csv'}: nothing was measured", file=sys.stderr)
        return 2
    cases = [Case.at(said.data, name) for name in names]
    counts = _numbers(said.parts or DEFAULTS[said.what][0])
    splits = (said.splits or DEFAULTS[said.what][1]).split(",")
    settings = [Setting(case, count, split) for count in counts for split in splits for case in cases]
    if said.what == "beta":
        kinds = dict.fromkeys(join.kind for join in asked.values())
        asked = {REFERENCE: joins.catalog.build(REFERENCE), **dialled([float(b) for b in said.beta.split(",")], kinds)}
    warm(asked, cases[0])
    if said.what == "real":
        asked = {REFERENCE: joins.catalog.build(REFERENCE), **asked}
        swept(settings, REAL, lambda setting: real(setting, asked, said.seeds))
    elif said.what in ("drawn", "beta"):
        swept(settings, DRAWN, lambda setting: drawn(setting, asked, said.seeds, said.generator))
    elif said.what == "peer":
        beside_the_peer(cases, asked, said.seeds, said.peer, _numbers(said.pools or "1000,10000,100000"))
    else:
        many_parts(cases[0], counts, asked, said.seeds, said.paper)
    return 0


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


APART = ("drawn", "parts")
"""Comparisons in which parts are drawn as a join wants them; in the others they stand alone, whatever it wants."""

DEFAULTS = {
    "real": ("2,3,4", "random,correlated"),
    "drawn": ("2", "random,correlated"),
    "beta": ("2", "random"),
    "peer": ("2", "random"),
    "parts": ("1,2,3,4,5,6,7,8,9,10", "random"),
}
"""The numbers of parts and the ways to cut of each comparison."""


if __name__ == "__main__":
    sys.exit(main())
