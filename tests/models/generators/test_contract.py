"""What holds for every generator, whatever the table."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from models.errors import StateError, SynthesisError
from models.generators import ConditionalGenerator, ConditionalSampler, Generator, Sampler, catalog
from models.randomness import Seed
from models.schema import Column, Kind
from models.state import State
from models.table import Floats, Table

NAN = np.nan
KINDS = catalog.kinds()
DEPENDENT = [kind for kind in KINDS if kind != "marginal"]
QUICK: dict[str, dict[str, Any]] = {"hydragan": {"steps": 20, "hidden": 64, "checkpoints": 1}}
"""Settings with which a kind that trains for long keeps to the contract in seconds, on tables of a few rows."""
THOROUGH: dict[str, dict[str, Any]] = {"hydragan": {"steps": 500, "learning_rate": 0.003, "checkpoints": 1}}
"""The same, on tables that it is to learn."""


def continuous(name: str, **more: Any) -> Column:
    return Column(name=name, kind=Kind.CONTINUOUS, dtype="double", bounds=(-100, 100), **more)


def integer(name: str, low: int, high: int, **more: Any) -> Column:
    return Column(name=name, kind=Kind.INTEGER, dtype="int64", bounds=(low, high), **more)


def levelled(name: str, count: int, **more: Any) -> Column:
    return Column(name=name, kind=Kind.CATEGORICAL, dtype="int64", levels=tuple(range(count)), **more)


def boolean(name: str) -> Column:
    return Column(name=name, kind=Kind.BOOLEAN, dtype="bool")


def moment(name: str) -> Column:
    bounds = ("2020-01-01", "2021-01-01")
    return Column(
        name=name, kind=Kind.DATETIME, dtype="timestamp[s]", resolution="second", bounds=bounds, nullable=True
    )


def mixed(rows: int) -> Table:
    """Every sort of column; ``amount`` follows ``group`` and is missing mostly where ``flag`` is set."""
    rng = Seed.of(rows).generator()
    group, flag = rng.integers(0, 4, rows), rng.integers(0, 2, rows)
    amount = np.clip(np.round(10.0 * group + rng.normal(size=rows), 2), -100, 100)
    amount[rng.random(rows) < np.where(flag == 1, 0.6, 0.05)] = NAN
    seen = np.where(rng.random(rows) < 0.1, NAN, 1.58e9 + rng.integers(0, 30_000_000, rows))
    count = np.where(rng.random(rows) < 0.5, 0, rng.integers(0, 5000, rows))
    free = rng.normal(size=rows)
    columns = [
        levelled("group", 4), boolean("flag"), continuous("amount", decimals=2, nullable=True), moment("seen"),
        integer("count", 0, 5000, peaks=(0,), scale="log"), continuous("free"), levelled("grade", 3, ordered=True),
    ]  # fmt: skip
    return Table.of(columns, [group, flag, amount, seen, count, free, np.minimum(group, 2)], rows)


def all_missing() -> Table:
    maybe = [continuous("x", nullable=True), levelled("l", 3, nullable=True), levelled("none", 0, nullable=True)]
    return Table.of([*maybe, boolean("b")], [*np.full((3, 40), NAN), np.arange(40) % 2], 40)


def constant() -> Table:
    columns = [integer("one", 3, 3), levelled("l", 1), integer("seven", 0, 10_000, peaks=(7,)), boolean("b")]
    return Table.of(columns, [np.full(40, 3.0), np.zeros(40), np.full(40, 7.0), np.arange(40) % 2], 40)


def all_levelled() -> Table:
    rng = Seed.of(1).generator()
    columns = [levelled("a", 3), levelled("b", 5, nullable=True), boolean("c")]
    holes = np.where(rng.random(60) < 0.2, NAN, rng.integers(0, 5, 60))
    return Table.of(columns, [rng.integers(0, 3, 60), holes, rng.integers(0, 2, 60)], 60)


def all_numeric() -> Table:
    rng = Seed.of(1).generator()
    columns = [continuous("a"), continuous("b"), integer("c", 0, 9)]
    return Table.of(columns, [*rng.normal(size=(2, 60)), rng.integers(0, 9, 60)], 60)


def wide() -> Table:
    rng = Seed.of(1).generator()
    columns = [continuous(f"x{j}", nullable=True) if j % 2 else levelled(f"l{j}", 4) for j in range(300)]
    cells = [rng.normal(size=50) if j % 2 else rng.integers(0, 4, 50) for j in range(300)]
    return Table.of(columns, cells, 50)


def many_levels() -> Table:
    """A level's number, which no generator may look at, decides about ``x``; about twenty rows share a level."""
    rng = Seed.of(1).generator()
    place = 20 * rng.integers(0, 250, 5000)
    return Table.of([levelled("place", 5000), continuous("x")], [place, place / 50 + rng.normal(size=5000)], 5000)


def breached() -> Table:
    """Cells are missing where the schema allows none."""
    columns = [integer("x", 0, 9), levelled("l", 3), integer("none", 0, 9), levelled("void", 2)]
    holes = np.where(np.arange(40) % 4 == 0, NAN, np.arange(40) % 3)
    return Table.of(columns, [holes, holes, np.full(40, NAN), np.full(40, NAN)], 40)


TABLES: dict[str, Callable[[], Table]] = {
    "mixed": lambda: mixed(400),
    "1 row": lambda: mixed(1),
    "2 rows": lambda: mixed(2),
    "20 rows": lambda: mixed(20),
    "all missing": all_missing,
    "constant": constant,
    "all levelled": all_levelled,
    "all numeric": all_numeric,
    "one number": lambda: all_numeric().select(["a"]),
    "one levelled column": lambda: all_levelled().select(["b"]),
    "300 columns": wide,
    "5,000 levels": many_levels,
    "breached": breached,
}

every_kind = pytest.mark.parametrize("kind", KINDS)
every_table = pytest.mark.parametrize("name", TABLES)


@cache
def table_of(name: str) -> Table:
    return TABLES[name]()


@cache
def fitted(kind: str, name: str) -> Sampler:
    return built(kind).fit(table_of(name), Seed.of(7))


@cache
def learned(kind: str) -> Table:
    """4,000 rows of what a kind has learned from as many."""
    return built(kind, THOROUGH).fit(mixed(4000), Seed.of(1)).sample(4000, Seed.of(2))


def built(kind: str, settings: dict[str, dict[str, Any]] = QUICK) -> Generator:
    return catalog.build({"kind": kind, **settings.get(kind, {})})


def same(first: Table, second: Table) -> bool:
    return first.values.tobytes() == second.values.tobytes()


@every_kind
@every_table
def test_the_same_seed_gives_the_same_bytes(kind: str, name: str):
    again = built(kind).fit(table_of(name), Seed.of(7))
    assert same(fitted(kind, name).sample(30, Seed.of(8)), again.sample(30, Seed.of(8)))


@every_kind
def test_another_seed_gives_other_rows(kind: str):
    sampler = fitted(kind, "mixed")
    assert not same(sampler.sample(30, Seed.of(8)), sampler.sample(30, Seed.of(9)))


@every_kind
@every_table
def test_what_is_restored_from_a_state_draws_the_same_rows(kind: str, name: str):
    sampler = fitted(kind, name)
    state = sampler.state()
    facts = json.loads(json.dumps(dict(state.facts)))
    stored = State(state.kind, state.version, facts, {key: array.copy() for key, array in state.arrays.items()})
    restored = catalog.settings(state.kind).sampler.restore(stored, table_of(name).columns)
    assert same(restored.sample(30, Seed.of(8)), sampler.sample(30, Seed.of(8)))


@every_kind
def test_a_state_of_an_unknown_format_is_refused(kind: str):
    state = fitted(kind, "mixed").state()
    with pytest.raises(StateError, match="format"):
        catalog.settings(kind).sampler.restore(State(kind, 99, state.facts, state.arrays), table_of("mixed").columns)


@every_kind
@every_table
def test_rows_have_the_columns_asked_for_and_keep_to_the_schema(kind: str, name: str):
    drawn = fitted(kind, name).sample(57, Seed.of(8))
    assert len(drawn) == 57
    assert drawn.columns == table_of(name).columns
    assert not [column.name for column in drawn.columns if list(faults(column, drawn[column.name]))]


def faults(column: Column, cells: Floats) -> Iterator[str]:
    values = cells[~np.isnan(cells)]
    if len(values) < len(cells) and not column.nullable:
        yield "missing"
    if not column.numeric and not np.isin(values, np.arange(len(column.alphabet))).all():
        yield "level"
    if column.numeric and len(values) and not column.low <= values.min() <= values.max() <= column.high:
        yield "bounds"
    if column.step is not None and not np.array_equal(values, np.round(values, column.decimals or 0)):
        yield "step"


@every_kind
def test_no_rows_can_be_asked_for(kind: str):
    drawn = fitted(kind, "mixed").sample(0, Seed.of(8))
    assert drawn.values.shape == (0, 7)


@every_kind
def test_what_is_missing_or_constant_stays_so(kind: str):
    missing = fitted(kind, "all missing").sample(30, Seed.of(8))
    assert np.isnan(missing["none"]).all()
    assert np.isnan(missing["x"]).mean() > 0.8
    same_everywhere = fitted(kind, "constant").sample(30, Seed.of(8))
    assert set(same_everywhere["one"]) == {3.0}
    assert set(same_everywhere["l"]) == {0.0}


@every_kind
def test_shares_of_levels_peaks_and_missing_values_are_kept(kind: str):
    table, drawn = mixed(4000), learned(kind)
    for level in range(4):
        assert np.mean(drawn["group"] == level) == pytest.approx(np.mean(table["group"] == level), abs=0.04)
    assert np.mean(drawn["count"] == 0) == pytest.approx(np.mean(table["count"] == 0), abs=0.04)
    assert np.isnan(drawn["amount"]).mean() == pytest.approx(np.isnan(table["amount"]).mean(), abs=0.04)


@pytest.mark.parametrize("kind", DEPENDENT)
def test_missingness_keeps_its_dependence_on_another_column(kind: str):
    drawn = learned(kind)
    missing = np.isnan(drawn["amount"])
    assert missing[drawn["flag"] == 1].mean() == pytest.approx(0.6, abs=0.1)
    assert missing[drawn["flag"] == 0].mean() == pytest.approx(0.05, abs=0.05)


@pytest.mark.parametrize("kind", DEPENDENT)
def test_a_number_keeps_its_dependence_on_a_level(kind: str):
    drawn = learned(kind)
    present = ~np.isnan(drawn["amount"])
    assert np.corrcoef(drawn["amount"][present], drawn["group"][present])[0, 1] > 0.9


@pytest.mark.parametrize("kind", DEPENDENT)
def test_thousands_of_levels_keep_their_tie_to_a_number(kind: str):
    drawn = fitted(kind, "5,000 levels").sample(2000, Seed.of(8))
    assert np.corrcoef(drawn["place"], drawn["x"])[0, 1] > 0.5


def planted() -> tuple[Table, Floats]:
    """Numbers far off any round grid, single outliers among them, and the forms in which they might be kept."""
    rng = Seed.of(3).generator()
    free = np.append(rng.normal(size=199) * 7.31, 93.7182818284)
    cents = np.append(np.round(rng.normal(size=199) * 20, 2), -98.76)
    big = np.append(rng.integers(100_000_000, 500_000_000, 199), 987_654_321).astype(np.float64)
    columns = [continuous("free"), continuous("cents", decimals=2), integer("big", 0, 1_000_000_000), levelled("l", 2)]
    table = Table.of(columns, [free, cents, big, np.arange(200) % 2], 200)
    standard = [(values - values.mean()) / values.std() for values in (free, big)]
    return table, np.concatenate([free, big, *standard, [-98.76, -9876.0]])


@every_kind
def test_no_training_value_is_in_the_state(kind: str):
    table, values = planted()
    assert not kept(built(kind).fit(table, Seed.of(1)).state(), values)


def kept(state: State, values: Floats) -> bool:
    """Whether any of ``values`` is among the numbers of a state."""
    arrays = [np.ravel(array).astype(np.float64) for array in state.arrays.values()]
    held = np.unique(np.concatenate([*arrays, numbers_of(dict(state.facts))]))
    gaps = np.abs(held[np.isfinite(held)][:, None] - values[None, :])
    return bool(np.any(gaps <= 1e-12 * np.maximum(np.abs(values), 1.0)))


def numbers_of(facts: object) -> Floats:
    found: list[float] = []
    keep = lambda text: found.append(float(text))  # noqa: E731
    json.loads(json.dumps(facts), parse_float=keep, parse_int=keep)
    return np.array(found)


def test_the_search_for_training_values_finds_one_that_is_there():
    assert numbers_of({"edges": [0, [{"low": 93.7182818284}]]}).tolist() == [0.0, 93.7182818284]


@every_kind
def test_an_outlier_of_a_fine_grid_is_not_drawn_again(kind: str):
    table, _ = planted()
    drawn = built(kind).fit(table, Seed.of(1)).sample(2000, Seed.of(2))
    assert 987_654_321 not in drawn["big"]
    assert 93.7182818284 not in drawn["free"]


@every_kind
def test_the_width_is_bounded_and_known_before_fitting(kind: str):
    settings = built(kind)
    assert 7 <= settings.width(table_of("mixed").columns) <= 100
    assert settings.width(table_of("5,000 levels").columns) <= 1000


@every_kind
def test_importing_a_kind_imports_nothing_heavy(kind: str):
    heavy = {"sklearn", "scipy", "torch", "pandas", "pyarrow"}
    build = f"import sys; from models.generators import catalog; catalog.build({kind!r})"
    told = f"{build}; print(*{heavy} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# ---- what cannot be followed ----------------------------------------------------------------------------------------

IMPOSSIBLE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "cart": ({"order": ("flag", "amout", "kount")}, ["order", "order"]),
    "hydragan": (
        {"reidentification": 0.5, "accuracy": 1.0, "realism": 0.0, "distribution": 0.0},
        ["reidentification", "accuracy", "realism"],
    ),
}
"""Settings that cannot be followed for the columns of ``mixed``, and where."""
every_impossible = pytest.mark.parametrize("kind", IMPOSSIBLE)


@every_kind
@every_table
def test_by_its_default_settings_a_kind_refuses_no_columns(kind: str, name: str):
    assert catalog.build(kind).faults(table_of(name).columns) == []


@every_impossible
def test_all_that_cannot_be_followed_is_told_by_setting_and_refused_by_the_fit(kind: str):
    said, where = IMPOSSIBLE[kind]
    table, settings = mixed(40), catalog.build({"kind": kind, **said})
    faults = settings.faults(table.columns)
    assert [fault.where for fault in faults] == where
    assert set(where) <= set(type(settings).model_fields)
    with pytest.raises(SynthesisError) as refused:
        settings.fit(table, Seed.of(1))
    assert refused.value.faults == tuple(faults)


@every_impossible
def test_what_all_columns_cannot_meet_no_selection_of_them_can(kind: str):
    settings, columns = catalog.build({"kind": kind, **IMPOSSIBLE[kind][0]}), mixed(1).columns
    told = [{(fault.where, fault.found) for fault in settings.faults(columns[:count])} for count in range(1, 8)]
    assert all(more <= fewer for fewer, more in pairwise(told))


# ---- columns given others -------------------------------------------------------------------------------------------

CONDITIONAL = [kind for kind in KINDS if issubclass(catalog.settings(kind), ConditionalGenerator)]
every_conditional = pytest.mark.parametrize("kind", CONDITIONAL)
every_wide_table = pytest.mark.parametrize("name", [name for name in TABLES if len(TABLES[name]().columns) > 1])


def halves(table: Table) -> tuple[Table, Table]:
    """The first half of the columns, to be given, and the other ones."""
    middle = len(table.columns) // 2
    return table.select(table.names[:middle]), table.select(table.names[middle:])


@cache
def fitted_given(kind: str, name: str) -> ConditionalSampler:
    given, own = halves(table_of(name))
    return conditional(kind).fit_given(own, given, Seed.of(7))


def conditional(kind: str) -> ConditionalGenerator:
    settings = built(kind)
    assert isinstance(settings, ConditionalGenerator)
    return settings


@every_conditional
@every_wide_table
def test_what_was_given_is_restored_with_a_state_and_the_same_seed_gives_the_same_bytes(kind: str, name: str):
    given, own = halves(table_of(name))
    sampler = fitted_given(kind, name)
    drawn = sampler.sample_given(given, Seed.of(8))
    again = conditional(kind).fit_given(own, given, Seed.of(7))
    state = again.state()
    stored = State(state.kind, state.version, json.loads(json.dumps(dict(state.facts))), dict(state.arrays))
    restored = catalog.settings(kind).sampler.restore(stored, (*given.columns, *own.columns))
    assert isinstance(restored, ConditionalSampler)
    assert (restored.given, restored.columns) == (given.columns, own.columns)
    assert same(drawn, again.sample_given(given, Seed.of(8)))
    assert same(drawn, restored.sample_given(given, Seed.of(8)))


@every_conditional
@every_wide_table
def test_rows_drawn_given_others_keep_to_the_schema(kind: str, name: str):
    given, own = halves(table_of(name))
    drawn = fitted_given(kind, name).sample_given(given, Seed.of(8))
    assert len(drawn) == len(given)
    assert drawn.columns == own.columns
    assert not [column.name for column in drawn.columns if list(faults(column, drawn[column.name]))]


@every_conditional
def test_given_no_column_it_is_the_plain_fit(kind: str):
    table = table_of("mixed")
    nothing = Table.of((), (), len(table))
    given = conditional(kind).fit_given(table, nothing, Seed.of(7)).sample_given(nothing, Seed.of(8))
    assert same(given, fitted(kind, "mixed").sample(len(table), Seed.of(8)))


@every_conditional
@every_wide_table
def test_a_sampler_knows_whether_what_it_draws_depends_on_the_rows_given(kind: str, name: str):
    given, own = halves(table_of(name))
    sampler = fitted_given(kind, name)
    reversed_rows = given.take(np.arange(len(given))[::-1])
    one, other = (sampler.sample_given(rows, Seed.of(8)) for rows in (given, reversed_rows))
    assert sampler.informed or same(one, other)
    restored = type(sampler).restore(sampler.state(), (*given.columns, *own.columns))
    assert restored.informed is sampler.informed


@every_conditional
def test_a_sampler_is_informed_where_columns_depend_on_those_given_and_not_where_none_were_given(kind: str):
    table = mixed(4000)
    given = table.select(["group", "flag"])
    assert conditional(kind).fit_given(table.select(["amount"]), given, Seed.of(1)).informed
    assert not conditional(kind).fit(table, Seed.of(1)).informed


@every_conditional
def test_another_seed_draws_others_beside_the_same_rows(kind: str):
    given, _ = halves(table_of("mixed"))
    one, other = (fitted_given(kind, "mixed").sample_given(given, Seed.of(number)) for number in (8, 9))
    assert not same(one, other)


@every_conditional
def test_no_rows_may_be_given(kind: str):
    given, own = halves(table_of("mixed"))
    drawn = fitted_given(kind, "mixed").sample_given(given.take(slice(0, 0)), Seed.of(8))
    assert drawn.values.shape == (0, len(own.columns))


@every_conditional
def test_rows_may_have_more_columns_than_those_given_in_any_order(kind: str):
    table = table_of("mixed")
    given, _ = halves(table)
    sampler = fitted_given(kind, "mixed")
    drawn = sampler.sample_given(table.select(table.names[::-1]), Seed.of(8))
    assert same(drawn, sampler.sample_given(given, Seed.of(8)))


@every_conditional
def test_levels_and_gaps_that_no_training_row_had_may_be_given(kind: str):
    columns = [levelled("l", 3, nullable=True), integer("x", 0, 9, nullable=True), boolean("b")]
    cells = np.arange(200)
    table = Table.of(columns, [cells % 2, cells % 9, cells % 2], 200)
    sampler = conditional(kind).fit_given(table.select(["b"]), table.select(["l", "x"]), Seed.of(7))
    strange = Table.of(columns[:2], [np.full(400, 2.0), np.full(400, NAN)], 400)
    drawn = sampler.sample_given(strange, Seed.of(8))
    assert set(drawn["b"]) <= {0.0, 1.0}


@every_conditional
def test_values_and_gaps_depend_on_the_rows_given(kind: str):
    table = mixed(4000)
    given = table.select(["group", "flag"])
    drawn = (
        conditional(kind).fit_given(table.select(["amount", "free"]), given, Seed.of(1)).sample_given(given, Seed.of(2))
    )
    missing = np.isnan(drawn["amount"])
    assert missing[given["flag"] == 1].mean() == pytest.approx(0.6, abs=0.1)
    assert missing[given["flag"] == 0].mean() == pytest.approx(0.05, abs=0.05)
    assert np.corrcoef(drawn["amount"][~missing], given["group"][~missing])[0, 1] > 0.9
    assert abs(np.corrcoef(drawn["free"], given["group"])[0, 1]) < 0.1


@every_conditional
def test_no_training_value_of_what_was_given_is_in_the_state(kind: str):
    table, values = planted()
    state = conditional(kind).fit_given(table.select(["l"]), table.select(table.names[:3]), Seed.of(1)).state()
    assert not kept(state, values)
