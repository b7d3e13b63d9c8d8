"""Rows of people who do not exist, in model form, for audits."""

import numpy as np

from models.evidence import Crowd, Evidence
from models.partition import Part, Partition
from models.schema import Column
from models.table import Table, stack

COLUMNS = (
    Column(name="age", kind="integer", dtype="int64", bounds=(0, 100)),
    Column(name="income", kind="continuous", dtype="double", bounds=(0, 400_000), decimals=2, nullable=True),
    Column(name="region", kind="categorical", dtype="string", levels=("north", "east", "south", "west")),
    Column(name="weight", kind="continuous", dtype="double", bounds=(20, 200), decimals=1),
    Column(name="smoker", kind="boolean", dtype="bool", nullable=True),
    Column(name="ill", kind="boolean", dtype="bool", role="target"),
)
ONE_PART = Partition(parts=(Part(name="all", columns=tuple(c.name for c in COLUMNS)),), reason="one part")
TWO_PARTS = Partition(
    parts=(Part(name="a", columns=("age", "income", "region")), Part(name="b", columns=("weight", "smoker", "ill"))),
    reason="by hand",
)


def crowd(rows, seed):
    """People whose income and illness depend on their age."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows).astype(float)
    income = np.round(np.clip(rng.lognormal(10, 0.6, rows) * (1 + age / 100), 0, 399_000), 2)
    income[rng.random(rows) < 0.1] = np.nan
    smoker = np.where(rng.random(rows) < 0.05, np.nan, rng.integers(0, 2, rows))
    ill = (rng.random(rows) < 1 / (1 + np.exp(-(age - 60) / 8))).astype(float)
    weight = np.round(np.clip(rng.normal(75, 15, rows), 20, 200), 1)
    return Table.of(COLUMNS, [age, income, rng.integers(0, 4, rows), weight, smoker, ill], rows)


def cells(table, changed):
    return Table(table.columns, changed)


def shuffled(table, seed=0):
    return table.take(np.random.default_rng(seed).permutation(len(table)))


def independent(table, seed=0):
    """The rows of ``table`` with every column in an order of its own."""
    rng = np.random.default_rng(seed)
    return cells(table, np.column_stack([rng.permutation(column) for column in table.values.T]))


def by_region(train, holdout):
    """The people of each region, as of clusters of rows."""
    regions = {f"cluster-{code + 1}": code for code in range(4)}
    return tuple(Crowd(name, train["region"] == code, holdout["region"] == code) for name, code in regions.items())


def one_region_copied(train, fresh):
    """As many rows as ``train``: its people of the first region, and strangers of the others."""
    copied, others = train.take(train["region"] == 0), fresh.take(fresh["region"] != 0)
    return stack([copied, others.take(slice(0, len(train) - len(copied)))])


def evidence(synthetic, *, train, holdout, partition=ONE_PART):
    return Evidence(train, holdout, synthetic, partition)


def in_regions(synthetic, *, train, holdout, **more):
    """The same of whole rows, with the people of each region beside it."""
    return Evidence(train, holdout, synthetic, ONE_PART, clusters=by_region(train, holdout), **more)


def found(findings, name, where=""):
    """The one finding called ``name`` at ``where``."""
    (one,) = [finding for finding in findings if finding.name == name and finding.where == where]
    return one
