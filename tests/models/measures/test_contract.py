"""What holds for every kind of measure."""

import numpy as np
import pytest
from crowd import COLUMNS, ONE_PART, TWO_PARTS, cells, crowd, evidence, independent

from models.evidence import Evidence
from models.finding import Verdict
from models.measures import catalog
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column
from models.table import Table

TRAIN, HOLDOUT, FRESH = crowd(120, 1), crowd(80, 2), crowd(110, 3)
LEVELS = ["region", "smoker", "ill"]
NUMBERS = ["age", "income", "weight"]


def gaps(table, name):
    changed = table.values.copy()
    changed[:, table.names.index(name)] = np.nan
    return cells(table, changed)


def constant(table, name):
    changed = table.values.copy()
    changed[:, table.names.index(name)] = 1.0
    return cells(table, changed)


def three(change):
    return Evidence(*(change(table) for table in (TRAIN, HOLDOUT, FRESH)), partition=partition_of(change(TRAIN)))


def partition_of(table):
    return Partition(parts=(Part(name="all", columns=table.names),), reason="")


WIDE = tuple(Column(name=f"l{j}", kind="categorical", dtype="string", levels=tuple(range(400))) for j in range(2))


def many_levels():
    tables = [Table(WIDE, np.random.default_rng(s).integers(0, 400, (60, 2)).astype(float)) for s in range(3)]
    return Evidence(*tables, partition=partition_of(tables[0]))


CASES = {
    "people": lambda: evidence(FRESH, train=TRAIN, holdout=HOLDOUT, partition=TWO_PARTS),
    "constant column": lambda: three(lambda table: constant(table, "age")),
    "wholly missing number": lambda: three(lambda table: gaps(table, "income")),
    "wholly missing level": lambda: three(lambda table: gaps(table, "smoker")),
    "wholly missing target": lambda: three(lambda table: gaps(table, "ill")),
    "missing in synthetic rows alone": lambda: evidence(gaps(FRESH, "weight"), train=TRAIN, holdout=HOLDOUT),
    "target missing in synthetic rows": lambda: evidence(gaps(FRESH, "ill"), train=TRAIN, holdout=HOLDOUT),
    "one class in synthetic rows": lambda: evidence(constant(FRESH, "ill"), train=TRAIN, holdout=HOLDOUT),
    "one synthetic row": lambda: evidence(FRESH.take(slice(0, 1)), train=TRAIN, holdout=HOLDOUT),
    "few real rows": lambda: evidence(FRESH, train=TRAIN.take(slice(0, 14)), holdout=HOLDOUT.take(slice(0, 6))),
    "one real row each": lambda: evidence(FRESH, train=TRAIN.take(slice(0, 1)), holdout=HOLDOUT.take(slice(0, 1))),
    "no held-out rows": lambda: evidence(FRESH, train=TRAIN, holdout=HOLDOUT.take(slice(0, 0)), partition=TWO_PARTS),
    "levels only": lambda: three(lambda table: table.select(LEVELS)),
    "numbers only": lambda: three(lambda table: table.select(NUMBERS)),
    "one column": lambda: three(lambda table: table.select(["age"])),
    "many levels": many_levels,
}


@pytest.fixture(scope="module", params=CASES, ids=str)
def case(request):
    return CASES[request.param]()


@pytest.mark.parametrize("kind", catalog.kinds())
def test_every_measure_answers_whatever_the_tables_are_like(kind, case):
    findings = catalog.build(kind).measure(case, Seed.of(1))
    assert findings
    for finding in findings:
        assert finding.measure == kind
        assert finding.question.endswith("?")
        assert finding.n >= 0
        assert finding.estimate is not None or finding.reason
        if finding.interval and finding.estimate is not None:
            assert finding.interval.low <= finding.estimate + 1e-12
            assert finding.estimate <= finding.interval.high + 1e-12


@pytest.mark.parametrize("kind", catalog.kinds())
def test_the_same_seed_gives_the_same_findings(kind):
    case = CASES["people"]
    assert catalog.build(kind).measure(case(), Seed.of(1)) == catalog.build(kind).measure(case(), Seed.of(1))


@pytest.mark.parametrize("kind", catalog.kinds())
def test_the_order_of_synthetic_rows_does_not_matter(kind):
    once, again = (
        catalog.build(kind).measure(evidence(drawn, train=TRAIN, holdout=HOLDOUT), Seed.of(1))
        for drawn in (FRESH, FRESH.take(np.arange(len(FRESH))[::-1]))
    )
    assert [f.estimate for f in once] == pytest.approx([f.estimate for f in again], abs=0.02)


@pytest.mark.parametrize("kind", ["copies", "membership", "preconditions"])
def test_few_rows_and_no_held_out_rows_never_pass(kind):
    for name in ("few real rows", "no held-out rows"):
        findings = catalog.build(kind).measure(CASES[name](), Seed.of(1))
        assert Verdict.INCONCLUSIVE in [finding.verdict for finding in findings]


@pytest.mark.parametrize("kind", catalog.kinds())
def test_a_measure_of_one_part_sees_no_parts(kind):
    case = evidence(independent(FRESH), train=TRAIN, holdout=HOLDOUT, partition=ONE_PART)
    assert not [f for f in catalog.build(kind).measure(case, Seed.of(1)) if f.where.startswith("part ")]


def test_tables_are_described_by_the_columns_that_the_cases_name():
    assert {*LEVELS, *NUMBERS} == {column.name for column in COLUMNS}
