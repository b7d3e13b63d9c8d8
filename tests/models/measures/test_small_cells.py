"""A lone rare level and cells of few people fail where nothing but a leak explains them, and pass where chance does."""

import numpy as np
import pytest
from crowd import cells, crowd, found

from models.evidence import Evidence
from models.finding import Verdict
from models.measures.small_cells import SmallCells
from models.partition import Part, Partition
from models.policy import Preset
from models.randomness import Seed
from models.schema import Column, Role
from models.table import Table

LEVELS = ("a", "b", "c", "d", "rare", "rarer")
ROLES = {"age": Role.QUASI_IDENTIFIER, "region": Role.QUASI_IDENTIFIER, "weight": Role.QUASI_IDENTIFIER}


def people(seed, rows=600):
    """A crowd with quasi-identifiers and a column ``secret`` of four frequent levels out of six."""
    table = crowd(rows, seed)
    secret = Column(name="secret", kind="categorical", dtype="string", role="sensitive", levels=LEVELS)
    columns = tuple(c.model_copy(update={"role": ROLES.get(c.name, c.role)}) for c in table.columns)
    drawn = np.random.default_rng(seed + 100).integers(0, 4, (rows, 1)).astype(float)
    return Table((*columns, secret), np.hstack([table.values, drawn]))


def having(table, level, *rows):
    changed = table.values.copy()
    changed[list(rows), table.names.index("secret")] = LEVELS.index(level)
    return cells(table, changed)


TRAIN, HOLDOUT, FRESH = people(1), people(2), people(3)
SEED = Seed.of(1)


def measured(synthetic=FRESH, *, train=TRAIN, holdout=HOLDOUT, **settings):
    parts = Partition(parts=(Part(name="all", columns=train.names),), reason="")
    return SmallCells(**settings).measure(Evidence(train, holdout, synthetic, parts), SEED)


# Rare levels


def test_one_person_s_level_that_the_release_shows_fails():
    rare = found(measured(having(FRESH, "rare", 5), train=having(TRAIN, "rare", 0)), "Rare levels", "secret")
    assert (rare.estimate, rare.observed, rare.verdict) == (1, 1, Verdict.FAIL)


def test_it_passes_where_the_release_does_not_show_it_or_others_have_it_too():
    train, drawn = having(TRAIN, "rare", 0), having(FRESH, "rare", 5)
    for findings in (measured(FRESH, train=train), measured(drawn, train=train, holdout=having(HOLDOUT, "rare", 7))):
        assert found(findings, "Rare levels").verdict is Verdict.PASS


def test_a_level_that_the_release_made_up_is_nobody_s():
    assert found(measured(having(FRESH, "rare", 5)), "Rare levels").observed == 0


def test_k_people_are_not_few():
    train, drawn = having(TRAIN, "rare", *range(5)), having(FRESH, "rare", 5)
    assert found(measured(drawn, train=train), "Rare levels", "secret").verdict is Verdict.FAIL
    assert found(measured(drawn, train=train, k=5), "Rare levels").verdict is Verdict.PASS


def test_among_levels_of_all_sizes_a_rare_one_is_no_surprise():
    names = tuple(f"l{j}" for j in range(40))
    column = Column(name="country", kind="categorical", dtype="string", levels=names)
    shares = 0.8 ** np.arange(40)
    rng = np.random.default_rng(4)
    tables = [Table((column,), rng.choice(40, (600, 1), p=shares / shares.sum()).astype(float)) for _ in range(3)]
    rare = found(measured(tables[2], train=tables[0], holdout=tables[1]), "Rare levels", "country")
    assert rare.observed > 0
    assert rare.verdict is Verdict.PASS


def test_many_leaked_levels_fail_in_any_column():
    column = Column(name="code", kind="categorical", dtype="string", levels=tuple(range(400)))
    numbers = np.arange(400.0)[:, None]
    train, holdout = Table((column,), numbers[:200]), Table((column,), numbers[200:])
    rare = found(measured(train, train=train, holdout=holdout), "Rare levels", "code")
    assert (rare.observed, rare.verdict) == (200, Verdict.FAIL)


def test_too_few_held_out_rows_decide_nothing():
    rare = found(measured(holdout=HOLDOUT.take(slice(0, 50))), "Rare levels")
    assert (rare.estimate, rare.verdict) == (None, Verdict.INCONCLUSIVE)
    assert "50 held-out rows need not have a level that 10 training rows have" in rare.reason


def test_levels_of_few_people_are_told_whoever_else_has_them():
    train, drawn = having(TRAIN, "rare", 0), having(FRESH, "rare", 5)
    few = found(measured(drawn, train=train, holdout=having(HOLDOUT, "rare", 7)), "Levels of few people")
    shown = 4 + 2 + 2 + 5
    assert few.estimate == few.control == pytest.approx(1 / shown)
    assert few.verdict is None


# Cells

DIGITS = tuple(range(200))


def pair(*rows, secret=(), role="quasi-identifier"):
    key = Column(name="key", kind="categorical", dtype="string", role=role, levels=DIGITS)
    other = Column(name="other", kind="boolean", dtype="bool", role="sensitive")
    values = np.column_stack([rows, secret or np.zeros(len(rows))]).astype(float)
    return Table((key, other), values)


def test_people_in_cells_that_nobody_else_has_are_counted_where_the_release_shows_them():
    train, holdout = pair(1, 2, 2, 3, 4), pair(4, 5, 6, 7, 8)
    small = found(measured(pair(1, 2, 9, 4, 5), train=train, holdout=holdout), "Small cells")
    assert (small.observed, small.control) == (pytest.approx(3 / 5), pytest.approx(1 / 5))


def test_a_copy_fails_and_strangers_do_not():
    assert found(measured(TRAIN), "Small cells").verdict is Verdict.FAIL
    small = found(measured(FRESH), "Small cells")
    assert small.verdict is not Verdict.FAIL
    assert small.planted > small.limit


def test_without_a_leak_the_difference_is_a_matter_of_the_split_and_so_is_its_interval():
    """Sixty people in cells of one to three, among many in one cell: who of them is a training person is chance."""
    cell = np.concatenate([np.repeat(np.arange(1, 31), np.tile([1, 2, 3], 10)), np.zeros(440, dtype=int)])
    rng, shown, differences, halves = np.random.default_rng(1), pair(*range(31)), [], []
    for _ in range(200):
        order = rng.permutation(cell)
        small = found(measured(shown, train=pair(*order[:350]), holdout=pair(*order[350:])), "Small cells")
        differences.append(small.estimate)
        halves.append((small.estimate - small.interval.low) / 1.96)
    assert abs(np.mean(differences)) < 3 * np.std(differences) / np.sqrt(200)
    assert np.std(differences) == pytest.approx(np.sqrt(np.mean(np.square(halves))), rel=0.2)


def test_where_a_copy_could_not_be_told_from_strangers_nothing_is_gated():
    """Few held-out people: ten have a cell with one training person each, so that twenty without one tell nothing."""
    train = pair(*range(30), *[99] * 170)
    holdout = pair(*range(10), *[99] * 40)
    small = found(measured(pair(*range(30)), train=train, holdout=holdout), "Small cells")
    assert (small.observed, small.control) == (pytest.approx(0.1), pytest.approx(10 * 0.75 / 50))
    assert small.limit is None
    assert "a copy of the training rows would reach -5.00 % only" in small.reason


def test_rows_in_small_cells_are_counted_whoever_else_is_in_them():
    rows = found(measured(pair(1, 1, 2, 9), train=pair(1, 2, 2), holdout=pair(1, 3, 3), k=2), "Rows in small cells")
    assert (rows.estimate, rows.control) == (0.5, 0.5)


def test_a_unique_that_is_unique_in_the_release_is_replicated():
    train, holdout = pair(1, 2, 3, 3), pair(4, 5, 6, 6)
    uniques = found(measured(pair(1, 2, 2, 4), train=train, holdout=holdout), "Replicated uniques")
    assert (uniques.observed, uniques.control, uniques.verdict) == (0.25, 0.25, None)


def test_a_cell_whose_synthetic_rows_agree_discloses_what_is_true():
    train, holdout = pair(1, 1, 2, 3, secret=(0, 1, 1, 1)), pair(1, 2, 3, 4, secret=(0, 0, 0, 0))
    drawn = pair(1, 1, 2, 2, secret=(0, 0, 1, 0))
    disclosive = found(measured(drawn, train=train, holdout=holdout), "Disclosive", "other")
    assert (disclosive.observed, disclosive.control) == (0.25, 0.25)


def test_what_is_reported_can_be_gated():
    findings = measured(TRAIN, uniques=0.01, disclosive=0.01)
    assert found(findings, "Replicated uniques").verdict is Verdict.FAIL
    assert found(findings, "Disclosive", "secret").verdict is Verdict.FAIL


def test_a_missing_cell_is_a_value_and_numbers_are_banded():
    age = Column(name="age", kind="integer", dtype="int64", role="quasi-identifier", bounds=(0, 99), nullable=True)
    train, holdout, drawn = (
        Table((age,), np.array([rows], dtype=float).T) for rows in ([11, np.nan], [51, 52], [19, np.nan])
    )
    assert found(measured(drawn, train=train, holdout=holdout), "Small cells").observed == 1


def test_without_quasi_identifiers_nothing_is_gated_about_cells():
    train = pair(1, 2, role="plain")
    findings = measured(train, train=train, holdout=train)
    for name in ("Small cells", "Replicated uniques", "Disclosive"):
        one = found(findings, name)
        assert (one.estimate, one.limit) == (None, None)
        assert "no column is declared a quasi-identifier" in one.reason


def test_without_a_secret_nothing_is_disclosed():
    train = pair(1, 2).select(["key"])
    assert "sensitive" in found(measured(train, train=train, holdout=train), "Disclosive").reason


def test_without_held_out_rows_nothing_passes():
    findings = measured(holdout=HOLDOUT.take(slice(0, 0)), uniques=0.05)
    for name in ("Rare levels", "Small cells", "Replicated uniques"):
        assert found(findings, name).verdict is Verdict.INCONCLUSIVE
    assert found(findings, "Levels of few people").control is None


def test_many_quasi_identifiers_are_no_trouble():
    rng = np.random.default_rng(1)
    columns = tuple(
        Column(name=f"c{j}", kind="categorical", dtype="string", role="quasi-identifier", levels=tuple(range(50)))
        for j in range(12)
    )
    train, holdout = (Table(columns, rng.integers(0, 50, (30, 12)).astype(float)) for _ in range(2))
    small = found(measured(train, train=train, holdout=holdout), "Small cells")
    assert (small.observed, small.control) == (1, 0)


def test_presets_take_smaller_groups_for_few():
    thresholds = [SmallCells(**SmallCells.presets.get(preset, {})) for preset in Preset]
    assert [(each.k, each.cells) for each in thresholds] == [(10, 0.005), (5, 0.02), (3, 0.05)]
