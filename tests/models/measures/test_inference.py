"""Inference: the release must not tell a training person's secret that it would not tell of a stranger."""

import numpy as np
import pytest
from crowd import cells, crowd, found, shuffled

from models.evidence import Evidence
from models.finding import Verdict
from models.measures import catalog
from models.measures.inference import Inference
from models.partition import Part, Partition
from models.randomness import Seed
from models.schema import Column, Role
from models.table import Table, beside, stack

TRAIN, HOLDOUT, FRESH = crowd(600, 1), crowd(600, 2), crowd(600, 3)
SEED = Seed.of(1)
GAIN, LOOK_UP, MODEL = "Inference", "Inference risk, nearest row", "Inference risk, model"
SECRET = Column(
    name="secret", kind="categorical", dtype="string", levels=tuple("abcdefgh"), role="sensitive", nullable=True
)


def with_secret(table, seed, column=SECRET, draw=lambda rng, rows: rng.integers(0, 8, rows)):
    """``table`` with a column that has nothing to do with the others."""
    return beside([table, Table((column,), draw(np.random.default_rng(seed + 100), len(table)).astype(float)[:, None])])


def three(column=SECRET, draw=lambda rng, rows: rng.integers(0, 8, rows)):
    return [with_secret(table, seed, column, draw) for table, seed in ((TRAIN, 1), (HOLDOUT, 2), (FRESH, 3))]


def declared(table, **roles):
    columns = tuple(c.model_copy(update={"role": Role(roles.get(c.name, c.role))}) for c in table.columns)
    return Table(columns, table.values)


def measured(release, train, holdout, **more):
    partition = Partition(parts=(Part(name="all", columns=train.names),), reason="")
    return Inference(**{"rounds": 5, **more}).measure(Evidence(train, holdout, release, partition), SEED)


def test_a_copy_tells_a_secret_that_nothing_else_tells():
    train, holdout, _ = three()
    said = found(measured(shuffled(train), train, holdout), GAIN, "secret")
    assert said.observed > 0.95
    assert said.control == pytest.approx(1 / 8, abs=0.05)
    assert said.verdict is Verdict.FAIL


def test_strangers_tell_none():
    train, holdout, fresh = three()
    said = found(measured(fresh, train, holdout), GAIN, "secret")
    assert said.estimate == pytest.approx(0, abs=0.05)
    assert said.verdict is not Verdict.FAIL
    assert said.planted > 0.8


def test_quasi_identifiers_with_the_secret_leak_it_whatever_the_other_columns_are():
    roles = {"age": "quasi-identifier", "income": "quasi-identifier", "region": "quasi-identifier"}
    train, holdout, fresh = (declared(table, **roles) for table in three())
    changed = fresh.values.copy()
    for name in (*roles, "secret"):
        changed[:, fresh.names.index(name)] = train[name]
    assert found(measured(shuffled(cells(fresh, changed)), train, holdout), GAIN, "secret").verdict is Verdict.FAIL


def test_where_quasi_identifiers_are_too_coarse_to_find_anybody_the_attacker_knows_all_columns():
    train, holdout, fresh = (declared(table, smoker="quasi-identifier") for table in three())
    assert found(measured(fresh, train, holdout), GAIN, "secret").planted > 0.8
    assert found(measured(shuffled(train), train, holdout), GAIN, "secret").verdict is Verdict.FAIL


def test_what_follows_from_other_columns_for_everybody_is_no_secret():
    def told(table):
        return beside([table, Table((SECRET,), table["region"][:, None])])

    train, holdout, fresh = told(TRAIN), told(HOLDOUT), told(FRESH)
    region = [declared(table, region="quasi-identifier") for table in (fresh, train, holdout)]
    said = found(measured(*region), GAIN, "secret")
    assert (said.observed, said.control, said.estimate, said.planted) == (1, 1, 0, None)
    assert said.verdict is Verdict.PASS
    assert found(measured(*region), LOOK_UP, "secret").estimate is None


def test_a_leaked_rare_illness_fails_though_a_plain_guess_is_nearly_always_right():
    ill = Column(name="sick", kind="boolean", dtype="bool", role="sensitive")
    train, holdout, fresh = three(ill, lambda rng, rows: rng.random(rows) < 0.05)
    copy = found(measured(train, train, holdout), GAIN, "sick")
    # Plain rates differ by 7 percentage points or so, of which half is the illness of one in twenty.
    assert copy.estimate > 0.2
    assert copy.verdict is Verdict.FAIL
    assert found(measured(fresh, train, holdout), GAIN, "sick").estimate == pytest.approx(0, abs=0.03)


def test_a_surplus_of_people_who_are_easy_to_guess_is_no_gain():
    ill = Column(name="sick", kind="boolean", dtype="bool", role="sensitive")
    train, holdout, fresh = three(ill, lambda rng, rows: rng.random(rows) < 0.3)
    healthy = np.flatnonzero(train["sick"] == 0)
    many = stack([train, train.take(healthy), train.take(healthy)])
    said = found(measured(fresh, many, holdout), GAIN, "sick")
    plain = found(measured(fresh, many, holdout), MODEL, "sick")
    assert plain.observed - plain.control > 0.08
    assert said.estimate == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize("sign", [1, -1], ids=["above zero", "below zero"])
def test_numbers_are_right_within_a_twentieth_of_the_spread_whatever_their_sign(sign):
    bounds = (0, 100) if sign > 0 else (-100, 0)
    number = Column(name="debt", kind="continuous", dtype="double", bounds=bounds, role="sensitive")
    tables = three(number, lambda rng, rows: sign * rng.uniform(1, 100, rows))
    train, holdout, fresh = tables
    strangers, copy = (found(measured(release, train, holdout), GAIN, "debt") for release in (fresh, train))
    # The 5 % and the 95 % quantile lie 90 apart: a guess at random is right within 4.5 on either side.
    assert strangers.control == pytest.approx(0.09, abs=0.04)
    assert copy.observed > 0.95
    assert copy.verdict is Verdict.FAIL


def test_a_number_that_most_people_share_has_the_whole_range_as_its_spread():
    gain = Column(name="gain", kind="integer", dtype="int64", bounds=(0, 100), role="sensitive")
    train, holdout, _ = three(gain, lambda rng, rows: np.where(rng.random(rows) < 0.02, 100, 0))
    near = train.values.copy()
    near[:, -1] = np.clip(near[:, -1] + 5, 0, 100)
    assert found(measured(cells(train, near), train, holdout), LOOK_UP, "gain").observed > 0.95
    near[:, -1] = np.clip(near[:, -1] + 6, 0, 100)
    assert found(measured(cells(train, near), train, holdout), LOOK_UP, "gain").observed < 0.05


def test_equal_released_rows_share_their_secrets_in_equal_parts():
    known = Column(name="known", kind="integer", dtype="int64", bounds=(0, 9), role="quasi-identifier")

    def table(*rows):
        return Table((known, SECRET), np.array(rows, dtype=float))

    release = table([0, 0], [0, 0], [0, 1], [5, 2])
    said = found(measured(release, table([0, 0], [0, 1], [4, 2]), table([9, 3])), LOOK_UP, "secret")
    assert said.observed == pytest.approx((2 / 3 + 1 / 3 + 1) / 3)
    assert said.control == 0


def test_people_and_released_rows_without_the_secret_are_left_out():
    train, holdout, fresh = three()
    gaps = [table.values.copy() for table in (train, holdout, fresh)]
    for values in gaps:
        values[:150, -1] = np.nan
    train, holdout, fresh = (Table(train.columns, values) for values in gaps)
    said = found(measured(train, train, holdout), GAIN, "secret")
    assert said.n == 450
    assert said.observed > 0.95


def test_a_release_that_never_tells_the_secret_gains_nothing():
    train, holdout, fresh = three()
    mute = fresh.values.copy()
    mute[:, -1] = np.nan
    said = found(measured(cells(fresh, mute), train, holdout), GAIN, "secret")
    assert (said.observed, said.control) == (0, 0)
    assert said.verdict is Verdict.PASS


def test_secrets_are_sensitive_columns_else_targets_else_those_most_told():
    def asked(**roles):
        tables = (declared(table, **roles) for table in (FRESH, TRAIN, HOLDOUT))
        return [finding.where for finding in measured(*tables, secrets=2) if finding.name == GAIN]

    assert asked(region="sensitive", smoker="sensitive") == ["region", "smoker"]
    assert asked() == ["ill"]
    assert sorted(asked(ill="plain")) == ["age", "ill"]


def test_the_gated_figure_is_that_of_the_attacker_who_gains_more():
    train, holdout, _ = three()
    gain, *risks = measured(train, train, holdout)
    assert [risk.name for risk in risks] == [LOOK_UP, MODEL]
    assert gain.observed == pytest.approx(max(risk.observed for risk in risks), abs=0.02)
    assert [risk.verdict for risk in risks] == [None, None]


def test_a_model_tells_what_the_nearest_row_hides():
    """A secret that one known number tells, among many that have nothing to do with it."""
    rng = np.random.default_rng(1)
    noise = [Column(name=f"n{j}", kind="continuous", dtype="double", bounds=(0, 1)) for j in range(12)]
    columns = (*noise, SECRET)

    def table(rows):
        values = rng.random((rows, 12))
        return Table(columns, np.column_stack([values, np.floor(values[:, 0] * 2)]))

    findings = measured(table(400), table(400), table(400))
    assert found(findings, MODEL, "secret").control > 0.95
    assert found(findings, LOOK_UP, "secret").control < 0.85


def test_without_strangers_nothing_is_decided():
    train, holdout, fresh = three()
    said = found(measured(fresh, train, holdout.take(slice(0, 0))), GAIN, "secret")
    assert said.verdict is Verdict.INCONCLUSIVE
    assert "without held-out people" in said.reason


@pytest.mark.parametrize("names", [["secret"], ["age", "secret"]], ids=["nothing is known", "nobody has one"])
def test_where_there_is_no_secret_to_guess_nothing_is_gated(names):
    tables = [table.select(names) for table in three()]
    train, holdout, fresh = tables
    values = train.values.copy()
    values[:, -1] = np.nan
    (said,) = measured(fresh, cells(train, values), holdout)
    assert said.estimate is None
    assert said.verdict is None
    assert said.reason


def test_limits_are_settings():
    train, holdout, _ = three()
    assert found(measured(train, train, holdout, limit=None), GAIN, "secret").verdict is None
    assert found(measured(train, train, holdout, people=100), GAIN, "secret").n == 100


@pytest.mark.parametrize(("preset", "limit"), [("trusted-partner", 0.1), ("internal", 0.15)])
def test_presets_relax_the_limit(preset, limit):
    assert catalog.build({"kind": "inference", **Inference.presets[preset]}).limit == limit
