"""Which of the planted leaks this audit and three other tools would have stopped, and in what time, in one table.

    python benchmarks/compare_audits.py --data PATH --environments FOLDER [--draws 3] [--rows 1000] [--markdown]

PATH holds the UCI Adult table, the cases and the people are those of ``planted_leaks.py``. Each peer runs in an
environment of its own, made beforehand:

    for peer in syntheval==1.7.3 anonymeter==1.1.0 sdmetrics==0.32.0; do
        python -m venv FOLDER/${peer%%==*} && FOLDER/${peer%%==*}/bin/pip install $peer
    done

A peer whose environment is missing is left out, and said to be. What is asked of a peer stands in ``peers/``: its
privacy metrics as it documents them, with the held-out rows wherever it takes any.

This audit found a leak if the finding that the case names failed (default policy, measures of fidelity and usefulness
left out), and raised a false alarm if any finding of an innocent table failed. An innocent table about which nothing
failed but not everything could be decided is "quiet, undecided": it would have been withheld too, without accusation.

No peer has a gate, so ``RULES`` gives each one: it would have stopped a release if any of its figures is beyond the
limit there. The limits are in the peers' favour: they were set after looking at the figures of these very cases, which
a user cannot, so that each peer is right about as many of them as possible, and any figure will do, whether or not it
is about what was leaked. An interval of Anonymeter that excludes a risk of 0 stops a release; a limit of 0.09, which
official precedents name, would find fewer leaks. In no rule are figures that have no control and so accuse innocent
tables (SynthEval's attribute disclosure, SDMetrics' disclosure protection) or that do not grow with the leak
(SynthEval's MIA); they are computed and timed. In brackets stands the figure that is furthest beyond its limit, or
nearest to it, in any of the draws. No peer claims to check the set-up of an audit: such cases are "not asked",
except where a rule stopped the release all the same.

CPU seconds are processor time of all threads, on one thread where a library can be told so; reading the tables and
imports are not counted, and numba has compiled before. With ``--keep`` the tables and the answers stay in that folder,
and what is answered there is not asked again: leave it empty when anything else changes.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from planted_leaks import CASES, NOT_ASKED, ROLES, SECRET, Case, Draw, drawn, people

from models.auditing import audit
from models.evidence import Evidence
from models.finding import Verdict
from models.policy import Policy
from models.randomness import Seed
from models.schema import Role
from models.table import Table, digest

OURS = "parquetry"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")


WARMING = 200
"""Rows of an audit whose time is not counted: it is the one that imports what audits need."""


@dataclass(frozen=True)
class Rule:
    """A figure stops a release beyond ``limit``; ``worst`` is what a copy of the training table scores."""

    limit: float
    worst: float

    def excess(self, value: float) -> float:
        """Above 0: beyond the limit; 1: as bad as a copy."""
        return (value - self.limit) / (self.worst - self.limit)


RULES: Mapping[str, Mapping[str, Rule]] = {
    "syntheval": {
        "hit rate": Rule(0.01, 1.0),
        "NNDR loss": Rule(0.05, 0.8),
        "NNAA loss": Rule(0.05, 0.5),
        "epsilon loss": Rule(0.05, 0.5),
        "median DCR": Rule(0.5, 0.0),
    },
    "anonymeter": {
        "singling out, one column": Rule(0.0, 1.0),
        "singling out, four columns": Rule(0.0, 1.0),
        "linkability": Rule(0.0, 1.0),
        "inference": Rule(0.0, 1.0),
    },
    "sdmetrics": {
        "overfitting protection": Rule(0.85, 0.0),
        "baseline protection": Rule(0.1, 0.0),
        "new rows": Rule(0.998, 0.0),
    },
}


@dataclass(frozen=True)
class Answer:
    """What one tool said of one draw of one case."""

    stopped: bool
    seconds: float
    figures: Mapping[str, float]
    undecided: bool = False


def written(folder: Path, evidence: Evidence) -> None:
    """The three tables as CSV files, with the roles of their columns beside them."""
    tables = {"train": evidence.train, "holdout": evidence.holdout, "synthetic": evidence.synthetic}
    for name, table in tables.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(table.names)
            writer.writerows(zip(*_cells(table), strict=True))
    columns = evidence.train.columns
    said = {
        "levelled": [column.name for column in columns if not column.numeric],
        "known": [name for name, role in ROLES.items() if role is Role.QUASI_IDENTIFIER],
        "parts": [list(part.columns) for part in evidence.partition.parts],
        "secret": SECRET.name,
        "target": next(column.name for column in columns if column.role is Role.TARGET),
    }
    (folder / "columns.json").write_text(json.dumps(said))


def _cells(table: Table) -> Iterable[list[object]]:
    """A list per column. A missing level is a level of its own: SynthEval takes no missing values."""
    for column in table.columns:
        if column.numeric:
            yield [f"{value:.12g}" for value in table[column.name]]
        else:
            names = dict(enumerate(map(str, column.alphabet)))
            yield [names.get(-1 if np.isnan(code) else int(code), "missing") for code in table[column.name]]


def our_answer(case: Case, evidence: Evidence, number: int, folder: Path) -> Answer:
    """Kept in the folder like those of the peers."""
    kept = folder / f"{OURS}.json"
    if not kept.exists():
        kept.write_text(json.dumps(asdict(judged(case, evidence, number))))
    return Answer(**json.loads(kept.read_text()))


def judged(case: Case, evidence: Evidence, number: int) -> Answer:
    policy = Policy.of({})
    asked = {kind: measure for kind, measure in policy.measures.items() if kind not in NOT_ASKED}
    started = time.process_time()
    said = audit(
        evidence, policy.model_copy(update={"measures": asked}), Seed.of(number), training=digest(evidence.train)
    )
    seconds = time.process_time() - started
    failed = said.having(Verdict.FAIL)
    if case.verdict is not None:
        stopped = said.verdict is case.verdict
    else:
        stopped = any(case.must in (None, f.name) and case.where in (None, f.where) for f in failed)
    return Answer(stopped, seconds, {}, undecided=said.verdict is Verdict.INCONCLUSIVE)


def their_answer(peer: str, folder: Path) -> Answer:
    said = json.loads((folder / f"{peer}.json").read_text())
    stopped = any(rule.excess(said["figures"][name]) > 0 for name, rule in RULES[peer].items())
    return Answer(stopped, said["seconds"], said["figures"])


def ask(peer: str, python: Path, folders: Sequence[Path]) -> None:
    """Lets ``peer`` answer in each folder where it has not yet; a process of its own for all of them."""
    missing = [str(folder) for folder in folders if not (folder / f"{peer}.json").exists()]
    if not missing:
        return
    script = Path(__file__).resolve().parent / "peers" / f"with_{peer}.py"
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    ended = subprocess.run(
        [python.absolute(), script, *missing], env=environment, cwd=folders[0], capture_output=True, text=True
    )
    if ended.returncode:
        sys.exit(f"{peer} failed:\n{ended.stderr[-2000:]}")


def verdict(case: Case, tool: str, answers: Sequence[Answer]) -> str:
    stopped, draws = sum(each.stopped for each in answers), len(answers)
    share = "" if stopped == draws else f" {stopped}/{draws}"
    if case.must is not None:
        return f"found{share}" if stopped else "missed"
    if case.verdict is not None:
        silence = "missed" if tool == OURS else "not asked"
        return f"found{share}" if stopped else silence
    undecided = sum(each.undecided for each in answers)
    if stopped:
        return f"false alarm{share}"
    return f"quiet, {undecided}/{draws} undecided" if undecided else "quiet"


def telling(tool: str, answers: Sequence[Answer]) -> str:
    """The figure that is furthest beyond its limit, or nearest to it; empty for this audit."""
    if tool == OURS:
        return ""
    said = [(name, each.figures[name]) for each in answers for name in RULES[tool]]
    name, value = max(said, key=lambda each: RULES[tool][each[0]].excess(each[1]))
    return f" ({name} {value:.3f})"


def truth(case: Case) -> str:
    return "leak" if case.must else "broken set-up" if case.verdict else "none"


def summary(tool: str, answers: Mapping[str, Sequence[Answer]]) -> str:
    """Over all draws: leaks found, innocent tables accused, broken set-ups found."""

    def share(kind: str) -> str:
        those = [each.stopped for name, said in answers.items() if truth(CASES[name]) == kind for each in said]
        return f"{sum(those)}/{len(those)}"

    return f"leaks {share('leak')}, false alarms {share('none')}, broken set-ups {share('broken set-up')}"


def rows_of(results: Mapping[str, Mapping[str, Sequence[Answer]]], peers: Mapping[str, Path]) -> Iterable[list[str]]:
    """The lines of the table. ``results`` holds the answers by tool and case."""
    yield ["case", "truth", OURS, *(titled(peer, python) for peer, python in peers.items()), "CPU s"]
    for name, case in CASES.items():
        cells = [verdict(case, tool, said[name]) + telling(tool, said[name]) for tool, said in results.items()]
        seconds = (f"{mean(each.seconds for each in said[name]):.1f}" for said in results.values())
        yield [name, truth(case), *cells, " / ".join(seconds)]
    seconds = (f"{mean(each.seconds for case in said.values() for each in case):.1f}" for said in results.values())
    yield ["**all**", "", *(summary(tool, said) for tool, said in results.items()), " / ".join(seconds)]


def show(lines: Sequence[Sequence[str]], markdown: bool) -> None:
    if markdown:
        head, *rest = (f"| {' | '.join(line)} |" for line in lines)
        print("\n".join([head, "|---" * len(lines[0]) + "|", *rest]))
        return
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).replace("**", "  "))


def measured(
    draws: Iterable[Callable[[], Draw]], folder: Path, peers: Mapping[str, Path]
) -> dict[str, dict[str, list[Answer]]]:
    """The answers of all tools by case, a draw at a time. Each case gets people of its own from the function."""
    results: dict[str, dict[str, list[Answer]]] = {tool: {name: [] for name in CASES} for tool in (OURS, *peers)}
    for number, people_of in enumerate(draws):
        folders = {name: folder / f"{number}-{name.replace(' ', '-').replace('%', 'percent')}" for name in CASES}
        for name, case in CASES.items():
            evidence = case.make(people_of())
            folders[name].mkdir(exist_ok=True)
            written(folders[name], evidence)
            results[OURS][name].append(our_answer(case, evidence, number, folders[name]))
        for peer, python in peers.items():
            print(f"draw {number + 1}: {peer}", file=sys.stderr, flush=True)
            ask(peer, python, list(folders.values()))
            for name, at in folders.items():
                results[peer][name].append(their_answer(peer, at))
    return results


def installed(environments: Path) -> dict[str, Path]:
    found = {}
    for peer in RULES:
        python = environments / peer / "bin" / "python"
        if python.exists():
            found[peer] = python
        else:
            print(f"NO {peer.upper()}: {python} is missing, so it is left out of the table", file=sys.stderr)
    return found


def titled(peer: str, python: Path) -> str:
    """Name and version."""
    asked = f"from importlib.metadata import version; print(version({peer!r}))"
    return f"{peer} {subprocess.check_output([python, '-c', asked], text=True).strip()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--environments", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--markdown", action="store_true")
    said = parser.parse_args()
    peers = installed(said.environments)
    everybody = people(said.data)
    judged(CASES["fresh rows"], CASES["fresh rows"].make(drawn(everybody, WARMING, 0)), 0)
    draws = [lambda number=number: drawn(everybody, said.rows, number) for number in range(said.draws)]
    with TemporaryDirectory() as temporary:
        folder = (said.keep or Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        show(list(rows_of(measured(draws, folder, peers), peers)), said.markdown)


if __name__ == "__main__":
    main()
