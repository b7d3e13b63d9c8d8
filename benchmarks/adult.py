"""What each generator makes of the Adult census table: usefulness, fidelity, copies and cost, in one table.

    python benchmarks/adult.py --data PATH [--kinds cart,copula,marginal] [--seeds 1]

PATH holds ``train.csv`` and ``test.csv`` (UCI Adult, 15 columns, with a header). Every generator learns train.csv alone
and draws 32,561 rows; test.csv is the control. The schema is the one drafted from train.csv. Columns printed:

AUROC     gradient boosting for income, trained on the synthetic rows, tested on test.csv
assoc     mean absolute difference of associations to train.csv over all pairs of columns: |Spearman| between numbers,
          correlation ratio between a number and a levelled column, Cramer's V between levelled columns
marginal  the worst column's total variation (levels) or Kolmogorov-Smirnov distance (numbers) to train.csv
rule      share of rows in which education and education-num agree as they do in every real row
copies    real rows that a synthetic row equals, per 1,000 rows: of train.csv | of test.csv
twins     the same without fnlwgt, which few rows share
nearest   share of synthetic rows whose nearest row of train.csv and test.csv together (Gower distance) lies in
          train.csv; fresh rows would have train.csv's share of all rows
CPU s     processor seconds of fit and draw, imports not counted
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from models.generators import Generator, catalog
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Floats, Table
from tasks.codec import encode
from tasks.profiles import draft
from tasks.sources import file_source

ROWS = 32_561
QUERIES = 4_000
K = 10
FILES = ("train.csv", "test.csv")
TARGET = "income"
NEARLY_UNIQUE = "fnlwgt"


@dataclass(frozen=True)
class Score:
    """One generator's figures, as the module describes them; pairs are for train.csv and test.csv."""

    auroc: float
    assoc: float
    marginal: float
    rule: float
    copies_train: float
    copies_test: float
    twins_train: float
    twins_test: float
    nearest: float
    cpu: float


def tables(folder: Path) -> tuple[Table, Table]:
    """train.csv and test.csv in model form, by the schema that is drafted from train.csv for review."""
    train, test = (file_source(folder / name).read() for name in FILES)
    schema, _ = draft(train, K)
    return encode(train, schema), encode(test, schema)


def auroc(train: Table, test: Table, target: str = TARGET) -> float:
    """How well a classifier that has seen ``train`` alone ranks the rows of ``test``."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    features = [column for column in test.columns if column.name != target]
    names = [column.name for column in features]
    classifier = HistGradientBoostingClassifier(
        random_state=0, categorical_features=[column.kind is Kind.CATEGORICAL for column in features]
    )
    high = float(np.max(test[target]))
    classifier.fit(train.select(names).values, train[target] == high)
    scores = classifier.predict_proba(test.select(names).values)[:, 1]
    return float(roc_auc_score(test[target] == high, scores))


def associations(table: Table) -> Floats:
    """The association of every pair of columns, each between 0 and 1, in a fixed order."""
    from scipy.stats import rankdata

    ranks = {column.name: rankdata(table[column.name]) for column in table.columns if column.numeric}
    found = []
    for i, first in enumerate(table.columns):
        for second in table.columns[:i]:
            if first.numeric and second.numeric:
                found.append(abs(np.corrcoef(ranks[first.name], ranks[second.name])[0, 1]))
            elif first.numeric or second.numeric:
                number, level = (first, second) if first.numeric else (second, first)
                found.append(_correlation_ratio(table[number.name], table[level.name]))
            else:
                found.append(_cramers_v(table[first.name], table[second.name]))
    return np.array(found)


def _correlation_ratio(numbers: Floats, levels: Floats) -> float:
    codes = levels.astype(int)
    rows = np.bincount(codes)
    means = np.bincount(codes, weights=numbers) / np.maximum(rows, 1)
    between = float(rows @ (means - numbers.mean()) ** 2)
    total = float(((numbers - numbers.mean()) ** 2).sum())
    return (between / total) ** 0.5 if total else 0.0


def _cramers_v(first: Floats, second: Floats) -> float:
    _, a = np.unique(first, return_inverse=True)
    _, b = np.unique(second, return_inverse=True)
    counts = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(counts, (a, b), 1)
    expected = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
    smaller = min(counts.shape) - 1
    return float((((counts - expected) ** 2 / expected).sum() / counts.sum() / smaller) ** 0.5) if smaller else 0.0


def worst_marginal(real: Table, synthetic: Table) -> float:
    """The largest distance between a column's real and synthetic distribution."""
    return max(_distance(real[column.name], synthetic[column.name], column.numeric) for column in real.columns)


def _distance(real: Floats, synthetic: Floats, numeric: bool) -> float:
    values = np.unique(np.concatenate([real, synthetic]))
    difference = np.zeros(len(values))
    np.add.at(difference, np.searchsorted(values, real), 1 / len(real))
    np.add.at(difference, np.searchsorted(values, synthetic), -1 / len(synthetic))
    return float(np.abs(np.cumsum(difference)).max() if numeric else np.abs(difference).sum() / 2)


def rule_kept(real: Table, synthetic: Table) -> float:
    """Share of synthetic rows whose pair (education, education-num) occurs in the real rows."""
    pairs = {tuple(pair) for pair in real.select(["education", "education-num"]).values}
    return float(np.mean([tuple(pair) in pairs for pair in synthetic.select(["education", "education-num"]).values]))


def copied(synthetic: Table, reference: Table, names: Sequence[str]) -> float:
    """Rows of ``reference`` that some synthetic row equals in the columns ``names``, per 1,000 rows."""
    made = {row.tobytes() for row in np.ascontiguousarray(synthetic.select(names).values)}
    rows = np.ascontiguousarray(reference.select(names).values)
    return 1000 * sum(row.tobytes() in made for row in rows) / len(rows)


def nearest_in_train(synthetic: Table, train: Table, test: Table, seed: Seed) -> float:
    """Share of (at most QUERIES) synthetic rows whose nearest real row is one of train; ties count by their share."""
    queries = synthetic.values
    if len(queries) > QUERIES:
        queries = queries[seed.generator().choice(len(queries), QUERIES, replace=False)]
    pool = np.vstack([train.values, test.values])
    span = np.ptp(pool, axis=0)
    span[span == 0] = 1.0
    shares = [
        _share(_gower(chunk, pool, train.columns, span), len(train))
        for chunk in np.array_split(queries, max(1, len(queries) // 250))
    ]
    return float(np.concatenate(shares).mean())


def _gower(queries: Floats, pool: Floats, columns: Sequence[Column], span: Floats) -> NDArray[np.float32]:
    """Sum over columns of |difference| / span for numbers and of inequality for levels, shape (queries, pool)."""
    distance = np.zeros((len(queries), len(pool)), dtype=np.float32)
    for j, column in enumerate(columns):
        if column.numeric:
            scaled = (queries[:, j] / span[j]).astype(np.float32), (pool[:, j] / span[j]).astype(np.float32)
            distance += np.abs(scaled[0][:, None] - scaled[1][None, :])
        else:
            distance += queries[:, j].astype(np.int16)[:, None] != pool[:, j].astype(np.int16)[None, :]
    return distance


def _share(distance: NDArray[np.float32], members: int) -> Floats:
    """Of the rows at the least distance (up to rounding), the share that lies among the first ``members``."""
    least = distance <= distance.min(axis=1, keepdims=True) + 1e-6
    return least[:, :members].sum(axis=1) / least.sum(axis=1)


def score(generator: Generator, train: Table, test: Table, seed: Seed) -> Score:
    """Fit, draw and measure."""
    started = time.process_time()
    synthetic = generator.fit(train, seed.child("fit")).sample(ROWS, seed.child("sample"))
    cpu = time.process_time() - started
    return evaluate(synthetic, train, test, seed, cpu)


def evaluate(synthetic: Table, train: Table, test: Table, seed: Seed, cpu: float) -> Score:
    """The figures of rows that were drawn in ``cpu`` seconds."""
    shared = [name for name in train.names if name != NEARLY_UNIQUE]
    return Score(
        auroc=auroc(synthetic, test),
        assoc=float(np.abs(associations(train) - associations(synthetic)).mean()),
        marginal=worst_marginal(train, synthetic),
        rule=rule_kept(train, synthetic),
        copies_train=copied(synthetic, train, train.names),
        copies_test=copied(synthetic, test, train.names),
        twins_train=copied(synthetic, train, shared),
        twins_test=copied(synthetic, test, shared),
        nearest=nearest_in_train(synthetic, train, test, seed.child("queries")),
        cpu=cpu,
    )


def row_of(name: str, scores: Iterable[Score]) -> str:
    """One printed line: the mean over the seeds."""
    mean = Score(*np.mean([astuple(one) for one in scores], axis=0))
    return (
        f"{name:<10} {mean.auroc:6.3f} {mean.assoc:7.4f} {mean.marginal:9.4f} {mean.rule:7.4f}"
        f" {mean.copies_train:6.2f} |{mean.copies_test:5.2f} {mean.twins_train:7.1f} |{mean.twins_test:6.1f}"
        f" {mean.nearest:8.3f} {mean.cpu:6.2f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with train.csv and test.csv")
    parser.add_argument("--kinds", default="marginal,copula,cart", help=f"of: {', '.join(catalog.kinds())}")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds to average over")
    asked = parser.parse_args()
    absent = [name for name in FILES if not (asked.data / name).is_file()]
    if absent:
        print(f"{asked.data} holds no {' and no '.join(absent)}: nothing was measured", file=sys.stderr)
        return 2
    import sklearn.tree  # noqa: F401  (imports are not what is measured)

    train, test = tables(asked.data)
    print(f"{'':<10}  AUROC   assoc  marginal    rule copies | test   twins |  test  nearest  CPU s")
    print(f"{'real rows':<10} {auroc(train, test):6.3f} {'':>56} {len(train) / (len(train) + len(test)):8.3f}")
    for kind in asked.kinds.split(","):
        generator = catalog.build(kind)
        scores = [score(generator, train, test, Seed.of(number)) for number in range(asked.seeds)]
        print(row_of(kind, scores), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
