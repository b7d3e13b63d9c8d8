"""Whether the audit finds every planted leak and accuses no innocent table: 100 draws of each case, in one table.

    python benchmarks/planted_leaks.py --data PATH [--draws 100] [--rows 2000] [--cases NAME,NAME] [--kinds copies,...]
                                       [--whole]

PATH holds the UCI Adult table (one or more CSV files with the same header). Every draw takes training, held-out and
fresh rows of other people, ``--rows`` each, without replacement, and adds a column ``secret`` (10 levels, independent
of everything). The policy is the default one (the preset ``public``), without the measures of fidelity and
usefulness. For each case the table tells how often the finding that must fail did fail, how often the audit ended in
which verdict, and the processor seconds of an audit.

Where a certain finding must fail, only its measure is asked, to save time; its findings are judged as part of the
family of all gated findings of the policy, so that the outcome is the same. ``--whole`` asks all measures everywhere.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from models.auditing import Audit, audit
from models.evidence import Evidence
from models.finding import Verdict
from models.neighbours import Space, nearest
from models.partition import Part, Partition
from models.policy import Policy
from models.randomness import Seed
from models.schema import Column, Kind, Role, Schema
from models.table import Floats, Table, digest, stack

K = 10
SECRET = Column(
    name="secret", kind=Kind.CATEGORICAL, role=Role.SENSITIVE, dtype="string", levels=tuple(f"s{i}" for i in range(10))
)
ROLES = {
    "age": Role.QUASI_IDENTIFIER,
    "sex": Role.QUASI_IDENTIFIER,
    "race": Role.QUASI_IDENTIFIER,
    "marital-status": Role.QUASI_IDENTIFIER,
    "education": Role.QUASI_IDENTIFIER,
    "occupation": Role.QUASI_IDENTIFIER,
    "native-country": Role.QUASI_IDENTIFIER,
    "income": Role.TARGET,
}
FIRST_PART = ("age", "fnlwgt", "education", "occupation", "capital-gain", "hours-per-week", "native-country", "sex")
NOT_ASKED = ("marginals", "missingness", "pairs", "propensity", "usefulness")


@dataclass(frozen=True)
class Draw:
    """The people of one draw: ``train`` and ``holdout`` are real, ``fresh`` are others who leave no trace of them."""

    train: Table
    holdout: Table
    fresh: Table
    rng: np.random.Generator

    def seen(self, synthetic: Table, train: Table | None = None, holdout: Table | None = None) -> Evidence:
        first = tuple(name for name in self.train.names if name in FIRST_PART)
        rest = tuple(name for name in self.train.names if name not in FIRST_PART)
        parts = Partition(parts=(Part(name="part-1", columns=first), Part(name="part-2", columns=rest)), reason="fixed")
        return Evidence(train or self.train, holdout or self.holdout, synthetic, parts)

    def shuffled(self, table: Table) -> Table:
        return table.take(self.rng.permutation(len(table)))

    def replaced(self, rows: Table) -> Table:
        """The fresh rows with the last ones replaced by ``rows``, in random order."""
        return self.shuffled(stack([self.fresh.take(slice(0, len(self.fresh) - len(rows))), rows]))

    def copied(self, count: int) -> Table:
        return self.replaced(self.train.take(self.rng.choice(len(self.train), count, replace=False)))

    def noisy(self, share: float) -> Table:
        """The training rows, each number moved by ``share`` of its column's standard deviation."""
        values = self.train.values.copy()
        for j, column in enumerate(self.train.columns):
            if column.numeric:
                moved = values[:, j] + self.rng.normal(0, share * np.nanstd(values[:, j]), len(values))
                step = column.step or 1.0
                values[:, j] = np.clip(np.rint(moved / step) * step, column.low, column.high)
        return self.shuffled(Table(self.train.columns, values))

    def permuted(self, table: Table) -> Table:
        """Every column in an order of its own."""
        return Table(table.columns, np.column_stack([self.rng.permutation(cells) for cells in table.values.T]))

    def with_columns(self, table: Table, names: Iterable[str], of: Table) -> Table:
        """``table`` with the cells of ``of`` in the columns ``names``."""
        values = table.values.copy()
        for name in names:
            values[:, table.names.index(name)] = of[name]
        return Table(table.columns, values)


@dataclass(frozen=True)
class Case:
    """``must`` names the finding that has to fail (None: no finding may), ``verdict`` what the policy has to say, and
    ``kind`` the measure that finds it.
    """

    make: Callable[[Draw], Evidence]
    must: str | None = None
    where: str | None = None
    verdict: Verdict | None = None
    kind: str | None = None


def _isolated(draw: Draw) -> Evidence:
    space = Space.of(draw.train, draw.holdout)
    alone = nearest(space.place(draw.train), space.place(draw.holdout)).distances
    return draw.seen(draw.replaced(draw.train.take(np.argsort(-alone, kind="stable")[: len(alone) // 50])))


def _parts_memorised(draw: Draw) -> Evidence:
    first = [name for name in draw.train.names if name in FIRST_PART]
    return draw.seen(draw.with_columns(draw.shuffled(draw.train), first, draw.shuffled(draw.train)))


def _secret_leaked(draw: Draw) -> Evidence:
    known = [name for name, role in ROLES.items() if role is Role.QUASI_IDENTIFIER] + ["secret"]
    return draw.seen(draw.shuffled(draw.with_columns(draw.fresh, known, draw.train)))


def _rare_level(draw: Draw) -> Evidence:
    """The first training person alone has a level of ``secret``, and a synthetic row shows it."""
    columns = tuple(
        c.model_copy(update={"levels": (*(c.levels or ()), "rare")}) if c.name == "secret" else c
        for c in draw.train.columns
    )
    at = draw.train.names.index("secret")
    train, fresh = draw.train.values.copy(), draw.fresh.values.copy()
    train[0, at] = fresh[0, at] = len(SECRET.levels or ())
    tables = (Table(columns, values) for values in (fresh, train, draw.holdout.values))
    return draw.seen(*tables)


def _function(draw: Draw) -> Evidence:
    """``secret`` is a function of education and sex in everybody."""

    def told(table: Table) -> Table:
        return draw.with_columns(
            table, ["secret"], Table((SECRET,), ((table["education"] * 2 + table["sex"]) % 10)[:, None])
        )

    return draw.seen(told(draw.fresh), told(draw.train), told(draw.holdout))


def _other_frame(draw: Draw) -> Evidence:
    """Held-out people are those of all others who are oldest."""
    others = stack([draw.holdout, draw.fresh])
    oldest = np.argsort(-others["age"], kind="stable")[: len(draw.holdout)]
    youngest = np.setdiff1d(np.arange(len(others)), oldest)
    return draw.seen(others.take(youngest), holdout=others.take(oldest))


CASES: Mapping[str, Case] = {
    "fresh rows": Case(lambda d: d.seen(d.fresh)),
    "independent columns of fresh rows": Case(lambda d: d.seen(d.permuted(d.fresh))),
    "an attribute is a function of others": Case(_function),
    "copy in the same order": Case(lambda d: d.seen(d.train), "Exact copies", kind="copies"),
    "shuffled copy": Case(lambda d: d.seen(d.shuffled(d.train)), "Exact copies", kind="copies"),
    "copy plus 1 % noise": Case(lambda d: d.seen(d.noisy(0.01)), "Near copies", kind="copies"),
    "copy plus 20 % noise": Case(lambda d: d.seen(d.noisy(0.2)), "Membership attack", kind="membership"),
    "5 % copied rows": Case(lambda d: d.seen(d.copied(len(d.train) // 20)), "Exact copies", kind="copies"),
    "1 % copied rows": Case(lambda d: d.seen(d.copied(len(d.train) // 100)), "Exact copies", kind="copies"),
    "ten copied rows": Case(lambda d: d.seen(d.copied(10)), "Exact copies", kind="copies"),
    "2 % most isolated rows copied": Case(_isolated, "Exact copies", kind="copies"),
    "memorised parts joined at random": Case(_parts_memorised, "Exact copies", "part-1", kind="copies"),
    "quasi-identifiers and secret leaked": Case(_secret_leaked, "Inference", "secret", kind="inference"),
    "independently permuted columns": Case(
        lambda d: d.seen(d.permuted(d.train)), "Unique values", kind="unique_values"
    ),
    "a leaked rare level": Case(_rare_level, "Rare levels", kind="small_cells"),
    "control set copied": Case(lambda d: d.seen(d.shuffled(d.holdout)), verdict=Verdict.INVALID, kind="preconditions"),
    "train and control swapped": Case(
        lambda d: d.seen(d.shuffled(d.train), train=d.holdout, holdout=d.train),
        verdict=Verdict.INVALID,
        kind="preconditions",
    ),
    "control set of another frame": Case(_other_frame, verdict=Verdict.INVALID, kind="preconditions"),
}


def people(folder: Path) -> Table:
    """All rows of the CSV files in ``folder``, in model form, by a schema drafted from them."""
    import pyarrow as pa

    from tasks.codec import encode
    from tasks.profiles import draft
    from tasks.sources import file_source

    files = sorted(folder.glob("*.csv"))
    if not files:
        sys.exit(f"{folder}: no CSV file")
    table = pa.concat_tables([file_source(file).read() for file in files])
    print(f"{len(files)} files, {table.num_rows:,} rows, {table.num_columns} columns", file=sys.stderr)
    drafted, _ = draft(table, 1)
    roles = {c.name: c.model_copy(update={"role": ROLES.get(c.name, c.role)}) for c in drafted.columns}
    return encode(table, Schema(columns=tuple(roles.values()), k=K))


def drawn(everybody: Table, rows: int, number: int) -> Draw:
    rng = np.random.default_rng([20261130, number])
    order = rng.permutation(len(everybody))[: 3 * rows]
    secret = rng.integers(0, len(SECRET.levels or ()), (3 * rows, 1)).astype(np.float64)
    chosen: Floats = np.hstack([everybody.values[order], secret])
    whole = Table((*everybody.columns, SECRET), chosen)
    return Draw(*(whole.take(slice(i * rows, (i + 1) * rows)) for i in range(3)), rng)


def tally(case: Case, everybody: Table, rows: int, draws: int, policy: Policy, *, whole: bool) -> dict[str, Any]:
    verdicts: Counter[str] = Counter()
    accused: Counter[str] = Counter()
    found, seconds, family = 0, 0.0, 1
    for number in range(draws):
        evidence = case.make(drawn(everybody, rows, number))
        if number == 0:
            family = len(audit(evidence, policy, Seed.of(number), training=digest(evidence.train)).gated)
        asked = policy if whole or case.kind is None else only(policy, case.kind)
        started = time.process_time()
        said = audit(evidence, asked, Seed.of(number), training=digest(evidence.train))
        seconds += time.process_time() - started
        judged = tuple(finding.model_copy(update={"family": family}) for finding in said.findings)
        said = said.model_copy(update={"findings": judged})
        verdicts[said.verdict] += 1
        accused.update(sorted({finding.title for finding in said.having(Verdict.FAIL)}))
        found += _named(case, said)
    return {"found": found, "verdicts": verdicts, "accused": accused, "seconds": seconds / draws}


def only(policy: Policy, *kinds: str) -> Policy:
    return policy.model_copy(update={"measures": {kind: policy.measures[kind] for kind in kinds}})


def _named(case: Case, said: Audit) -> bool:
    if case.verdict is not None:
        return said.verdict is case.verdict
    if case.must is None:
        return not said.having(Verdict.FAIL)
    return any(
        finding.verdict is Verdict.FAIL and finding.name == case.must and case.where in (None, finding.where)
        for finding in said.findings
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--kinds", default="")
    parser.add_argument("--whole", action="store_true")
    said = parser.parse_args()
    policy = Policy.of({})
    kinds = said.kinds.split(",") if said.kinds else [kind for kind in policy.measures if kind not in NOT_ASKED]
    policy = only(policy, *kinds)
    everybody = people(said.data)
    print(f"{'case':40} {'must':28} {'right':>9}  {'CPU s':>6}  verdicts; most accused")
    for name in said.cases.split(","):
        case = CASES[name]
        result = tally(case, everybody, said.rows, said.draws, policy, whole=said.whole or bool(said.kinds))
        must = case.verdict or (case.must and f"{case.must} {case.where or ''}") or "nothing fails"
        verdicts = ", ".join(f"{verdict} {times}" for verdict, times in result["verdicts"].most_common())
        accused = ", ".join(f"{title} {times}" for title, times in result["accused"].most_common(4))
        right = f"{result['found']}/{said.draws}"
        print(f"{name:40} {must:28} {right:>9}  {result['seconds']:6.2f}  {verdicts}; {accused}", flush=True)


if __name__ == "__main__":
    main()
