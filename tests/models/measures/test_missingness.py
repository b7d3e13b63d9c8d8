"""Where cells are missing, and together with what."""

import numpy as np
import pytest
from crowd import crowd, found

from models.evidence import Evidence
from models.finding import Verdict
from models.measures.missingness import Missingness, pattern_distance
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column
from models.table import Table

COLUMNS = tuple(
    Column(name=name, kind="integer", dtype="int64", bounds=(0, 100), nullable=True) for name in ("age", "pay", "tax")
)
ONE = Partition(parts=(Part(name="all", columns=("age", "pay", "tax")),), reason="")
NAMES = ("Patterns of missing cells", "Missing cells, worst column", "Dependence of missing cells, worst")


def people(rows, seed, *, together=True, share=0.3):
    """Pay is missing in ``share`` of the rows, mostly of the old; tax is missing where pay is, or anywhere."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows).astype(float)
    chance = np.where(age > 50, 2 * share, 0.0) if together else np.full(rows, share)
    pay_gone = rng.random(rows) < chance
    tax_gone = pay_gone if together else rng.random(rows) < share
    pay, tax = (np.where(gone, np.nan, rng.integers(0, 100, rows)) for gone in (pay_gone, tax_gone))
    return Table(COLUMNS, np.column_stack([age, pay, tax]))


def measured(drawn, holdout=None, **more):
    unseen = people(400, 2) if holdout is None else holdout
    return Missingness(**more).measure(Evidence(people(600, 1), unseen, drawn, ONE), Seed.of(1))


def test_patterns_are_compared_row_by_row():
    one = np.array([[True, True], [False, False]])
    assert pattern_distance(one, one[::-1]) == 0
    assert pattern_distance(one, ~one) == 0
    assert pattern_distance(one, np.array([[True, False], [False, True]])) == 1
    assert pattern_distance(one, np.array([[False, False]])) == 0.5


def test_a_copy_misses_the_same_cells():
    assert [finding.estimate for finding in measured(people(600, 1))] == [0, 0, 0]


def test_strangers_differ_by_about_as_much_as_held_out_people():
    for finding in measured(people(600, 3)):
        assert finding.estimate == pytest.approx(finding.control, abs=0.06)


def test_cells_that_are_missing_independently_reach_the_baseline_though_no_column_is_off():
    patterns, share, dependence = (found_by(measured(people(600, 3, together=False)), name) for name in NAMES)
    assert patterns.estimate == pytest.approx(patterns.baseline, abs=0.07)
    assert patterns.estimate > 4 * patterns.control
    assert dependence.estimate == pytest.approx(dependence.baseline, abs=0.1)
    assert "pay missing" in dependence.where or "tax missing" in dependence.where
    assert share.estimate < 0.07


def found_by(findings, name):
    (one,) = [finding for finding in findings if finding.name == name]
    return one


def test_the_column_whose_share_is_furthest_off_is_named():
    filled = people(600, 1).values.copy()
    filled[:, 2] = 1.0
    share = found(measured(Table(COLUMNS, filled)), NAMES[1], "tax")
    assert share.estimate == pytest.approx(np.isnan(people(600, 1)["tax"]).mean())


def test_without_missing_cells_nothing_is_off():
    whole = crowd(50, 1).select(["age", "weight"])
    part = Partition(parts=(Part(name="all", columns=("age", "weight")),), reason="")
    findings = Missingness(patterns=0.0).measure(Evidence(whole, whole, whole, part), Seed.of(1))
    assert [finding.estimate for finding in findings] == [0, 0, 0]
    assert findings[0].verdict is Verdict.PASS
    assert findings[0].baseline == 0


def test_without_held_out_rows_there_is_no_control():
    assert {finding.control for finding in measured(people(600, 3), people(0, 2))} == {None}


def test_figures_are_gated_only_when_they_have_limits():
    apart = people(600, 3, together=False)
    assert {finding.verdict for finding in measured(apart)} == {None}
    assert {finding.verdict for finding in measured(apart, patterns=0.1, share=0.0, dependence=0.1)} == {Verdict.FAIL}
