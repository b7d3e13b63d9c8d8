"""What ``join.py`` measures: one join of one partition of one table, as a mapping of named figures.

Figures, by name:

corr      Frobenius norm of the difference of the mixed-correlation matrices of joined and training rows (SynthEval's,
          ``models.paper_fidelity``)
auroc     AUROC on the held-out rows of a forest (scikit-learn's defaults) that learned the target from joined rows,
          less that of one that learned it from training rows; for more than two classes, the last against the others
eps       share of training rows that are nearer to a joined row than to another training row (SynthEval's
          epsilon-identifiability)
closer    the audit's *closer to training rows*: 0.5 where joined rows are as near to held-out as to training rows; with
          the ends of its 95 % interval as ``low`` and ``high``, and ``half``, 1 where these include 0.5
attack    the audit's membership attack on whole rows (AUC); ``worst``: the highest of those on single parts
matches   rows in which all parts point to one training person, beyond chance (the audit's reassembly, estimate)
kept      1 where every part's drawn rows are all there, each as often as it was drawn
again     share of joined rows that are rows of the table that the parts were taken from
known     the same for parts of as many training rows as there are held-out rows, by the same fitted join;
unseen    and for parts of the held-out rows, which it has never seen: what ``known`` has beyond it is memory (means of
          five pools)
informed  1 where the join used what it had learned, 0 where it fell back
draw      processor seconds of fitting the generators and drawing from them
fit, join processor seconds of fitting the join on the training rows, and of joining
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from models.estimates import auc
from models.evidence import Evidence
from models.joins import Draw, Join, Joined, Joiner
from models.measures.membership import ATTACK, CLOSER, Membership
from models.measures.reassembly import Reassembly
from models.pairing import orders
from models.paper_fidelity import correlation
from models.paper_privacy import identifiability
from models.paper_tables import PaperTables
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Role
from models.synthesis import Recipe, fitted
from models.table import Table
from models.twins import row_keys

Figures = Mapping[str, float]

POOLS = 5
"""So many small pools are joined for ``known`` and ``unseen``."""

WHOLE = "undivided"
"""The part that holds all columns."""


@dataclass(frozen=True)
class Case:
    """A table in model form, its last column being the target."""

    name: str
    train: Table
    test: Table

    @classmethod
    def at(cls, folder: Path, name: str) -> Case:
        """From ``NAME_train.csv`` and ``NAME_test.csv``, by a schema drafted from both."""
        import pyarrow as pa

        from tasks.codec import encode
        from tasks.profiles import draft
        from tasks.sources import file_source

        train, test = (file_source(folder / f"{name}_{half}.csv").read() for half in ("train", "test"))
        schema, _ = draft(pa.concat_tables([train, test]), 1)
        target = train.column_names[-1]
        role = {"role": Role.TARGET}
        columns = tuple(c.model_copy(update=role) if c.name == target else c for c in schema.columns)
        described = schema.model_copy(update={"columns": columns})
        return cls(name, encode(train, described), encode(test, described))

    def some(self, seed: Seed) -> Table:
        """As many training rows as there are held-out ones."""
        order = seed.generator().permutation(len(self.train))
        return self.train.take(np.sort(order[: len(self.test)]))

    def floor(self, seed: Seed) -> float:
        """``corr`` of a bootstrap of the training rows."""
        rows = seed.generator().integers(0, len(self.train), len(self.train))
        return self.difference(self.train.take(rows), seed)

    @cached_property
    def best(self) -> float:
        """The AUROC of training rows."""
        return self.auroc(self.train)

    def auroc(self, learned: Table) -> float:
        from sklearn.ensemble import RandomForestClassifier

        target = next(j for j, column in enumerate(learned.columns) if column.role is Role.TARGET)
        high = float(self.train.values[:, target].max())
        features, tested = (np.delete(table.values, target, axis=1) for table in (learned, self.test))
        is_high, answers = (table.values[:, target] == high for table in (learned, self.test))
        if is_high.all() or not is_high.any():
            return 0.5
        chances = RandomForestClassifier(random_state=42).fit(features, is_high).predict_proba(tested)[:, 1]
        return auc(chances[answers], chances[~answers]).value

    def difference(self, drawn: Table, seed: Seed) -> float:
        return _number(correlation(self.paper(drawn, seed))[0][0])

    def paper(self, drawn: Table, seed: Seed) -> PaperTables:
        return PaperTables.of(self.evidence(drawn, undivided(drawn)), seed)

    def evidence(self, drawn: Table, partition: Partition) -> Evidence:
        return Evidence(self.train, self.test, drawn, partition)


def undivided(table: Table) -> Partition:
    return Partition(parts=(Part(name=WHOLE, columns=table.names),), reason="undivided")


def parts_of(table: Table, partition: Partition) -> list[Table]:
    return [table.select(part.columns) for part in partition.parts]


def real_parts(parts: Sequence[Table], seed: Seed) -> Draw:
    """Draws the rows of ``parts`` in random order, each once before any comes again."""

    def draw(round: int, n: int) -> list[Table]:
        times = range(-(-n // len(parts[0])))
        turns = [orders(len(parts[0]), len(parts), seed.child(f"{round}/{time}")) for time in times]
        rows = [np.concatenate([turn[number] for turn in turns])[:n] for number in range(len(parts))]
        return [part.take(order) for part, order in zip(parts, rows, strict=True)]

    return draw


@dataclass(frozen=True)
class Drawn:
    """Draws from generators of the parts, and the processor seconds of fitting them and of one draw."""

    draw: Draw
    seconds: float

    @classmethod
    def of(cls, train: Table, partition: Partition, recipe: Recipe, seed: Seed) -> Drawn:
        started = time.process_time()
        pools = fitted(train, partition, recipe, seed)

        def draw(round: int, n: int) -> list[Table]:
            return pools(round, [n] * len(partition.parts))

        draw(0, len(train))
        return cls(draw, time.process_time() - started)


@dataclass(frozen=True)
class Timed:
    """A join that was fitted and used."""

    joiner: Joiner
    joined: Joined
    fit: float
    join: float

    @classmethod
    def of(cls, join: Join, train: Table, partition: Partition, draw: Draw, n: int, seed: Seed) -> Timed:
        real = parts_of(train, partition)
        started = time.process_time()
        joiner = join.fit(real, seed.child("join/fit"))
        fitted = time.process_time()
        joined = joiner.join(draw, n, seed.child("join/draw"))
        return cls(joiner, joined, fitted - started, time.process_time() - fitted)

    @property
    def table(self) -> Table:
        return self.joined.table

    @property
    def costs(self) -> dict[str, float]:
        informed = self.joined.facts.get("informed")
        return {"informed": _number(informed), "fit": self.fit, "join": self.join}


def real_scores(case: Case, partition: Partition, join: Join, seed: Seed) -> Figures:
    """The join of shuffled real parts: no generator's faults are in it."""
    parts = parts_of(case.train, partition)
    made = Timed.of(join, case.train, partition, real_parts(parts, seed.child("real")), len(case.train), seed)
    drawn = made.table.select(case.train.names)
    return {
        "corr": case.difference(drawn, seed.child("paper")),
        "auroc": case.auroc(drawn) - case.best,
        "kept": float(_same_rows(parts, parts_of(drawn, partition))),
        "again": _among(drawn, case.train),
        **_memory(case, partition, made.joiner, seed),
        **made.costs,
    }


def drawn_scores(case: Case, partition: Partition, drawn: Drawn, join: Join, seed: Seed) -> Figures:
    """The join of parts that generators drew, with the paper's columns and the audit's."""
    made = Timed.of(join, case.train, partition, drawn.draw, len(case.train), seed)
    table = made.table.select(case.train.names)
    if not len(table):
        return {"draw": drawn.seconds, **made.costs}
    evidence = case.evidence(table, partition)
    return {
        **paper_scores(case, table, seed.child("paper")),
        **membership_scores(evidence, seed.child("membership")),
        "matches": _number(Reassembly().measure(evidence, seed.child("reassembly"))[0].estimate),
        "again": _among(table, case.train),
        "draw": drawn.seconds,
        **made.costs,
    }


def paper_scores(case: Case, drawn: Table, seed: Seed) -> Figures:
    tables = case.paper(drawn, seed)
    return {
        "corr": _number(correlation(tables)[0][0]),
        "auroc": case.auroc(drawn) - case.best,
        "eps": _number(identifiability(tables)[0][0]),
    }


def membership_scores(evidence: Evidence, seed: Seed) -> Figures:
    found = Membership().measure(evidence, seed)
    closer = next(finding for finding in found if finding.name == CLOSER)
    attacks = {finding.where: _number(finding.estimate) for finding in found if finding.name == ATTACK}
    figures = {
        "closer": _number(closer.estimate),
        "attack": attacks.pop(""),
        "worst": max(attacks.values(), default=float("nan")),
    }
    if closer.interval is None:
        return figures
    low, high = closer.interval.low, closer.interval.high
    return {**figures, "low": low, "high": high, "half": float(low <= 0.5 <= high)}


def _memory(case: Case, partition: Partition, joiner: Joiner, seed: Seed) -> Figures:
    found: dict[str, list[float]] = {"known": [], "unseen": []}
    for number in range(POOLS):
        stream = seed.child(f"memory/{number}")
        for name, table in (("known", case.some(stream)), ("unseen", case.test)):
            draw = real_parts(parts_of(table, partition), stream.child(f"real/{name}"))
            joined = joiner.join(draw, len(table), stream.child(f"join/{name}")).table
            found[name].append(_among(joined.select(table.names), table))
    return {name: float(np.mean(shares)) for name, shares in found.items()}


def _among(drawn: Table, real: Table) -> float:
    return float(np.isin(row_keys(drawn), row_keys(real)).mean()) if len(drawn) else float("nan")


def _same_rows(one: Sequence[Table], other: Sequence[Table]) -> bool:
    return all(np.array_equal(np.sort(row_keys(a)), np.sort(row_keys(b))) for a, b in zip(one, other, strict=True))


def _number(figure: float | None) -> float:
    return float("nan") if figure is None else float(figure)
