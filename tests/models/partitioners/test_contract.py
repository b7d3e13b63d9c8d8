"""What holds for every partitioner, whatever the table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from models.errors import SpecError
from models.partition import Assignment
from models.partitioners import Partitioner, RowPartitioner, catalog, kinds
from models.randomness import Seed
from models.schema import Column, Kind, Schema
from models.table import Table

NAN = np.nan


def number(name: str) -> Column:
    return Column(name=name, kind=Kind.CONTINUOUS, dtype="double", nullable=True, bounds=(-99, 99))


def levels(name: str, count: int) -> Column:
    return Column(name=name, kind=Kind.CATEGORICAL, dtype="string", nullable=True, levels=tuple(range(count)))


def mixed(rows: int = 120) -> Table:
    random = np.random.default_rng(7)
    base, noise, other = random.normal(size=(3, rows))
    cells = [base, base + noise, (base > 0) * 1.0, random.integers(0, 5, rows), other]
    return Table.of([number("a"), number("b"), levels("c", 2), levels("d", 5), number("e")], cells, rows)


def constant() -> Table:
    return Table.of([number("a"), levels("b", 3), number("c")], [np.ones(60)] * 3, 60)


def missing() -> Table:
    return Table.of([number("a"), levels("b", 3), number("c")], [np.full(60, NAN)] * 3, 60)


def thousands_of_levels() -> Table:
    cells = [np.arange(5000.0), np.arange(5000.0)[::-1], np.arange(5000.0) % 7]
    return Table.of([levels("a", 5000), levels("b", 5000), number("c")], cells, 5000)


def one_row() -> Table:
    return Table.of([number("a"), levels("b", 3)], [np.ones(1)] * 2, 1)


def hundred_columns() -> Table:
    return Table.of([number(f"c{j}") for j in range(100)], list(np.random.default_rng(3).normal(size=(100, 60))), 60)


TABLES: list[Callable[[], Table]] = [mixed, constant, missing, thousands_of_levels, one_row, hundred_columns]


def into(kind: str, parts: int, table: Table) -> Partitioner:
    if kind == "given":
        named = {f"part-{number}": table.names[number::parts] for number in range(parts)}
        return catalog.build({"kind": kind, "parts": named})
    return catalog.build({"kind": kind, "parts": parts})


@pytest.mark.parametrize("make", TABLES)
@pytest.mark.parametrize("kind", kinds("columns"))
def test_every_column_stands_in_exactly_one_part(kind: str, make: Callable[[], Table]):
    table = make()
    for parts in (1, 2, len(table.columns)):
        found = into(kind, parts, table).partition(table, Seed.of(1))
        assert sorted(found.columns) == sorted(table.names)
        assert len(found.parts) == parts
        assert found.reason


@pytest.mark.parametrize("kind", kinds("columns"))
def test_a_part_has_no_column_but_those_that_it_may_have_by_the_settings(kind: str):
    table = mixed()
    partitioner = into(kind, 2, table)
    for part in partitioner.partition(table, Seed.of(1)).parts:
        may = [column.name for column in partitioner.columns_of(part.name, Schema(columns=table.columns))]
        assert set(part.columns) <= set(may)


@pytest.mark.parametrize("kind", kinds("columns"))
def test_the_names_of_the_parts_are_known_before_rows_are_read(kind: str):
    for parts in (1, 3):
        partitioner = into(kind, parts, mixed())
        assert partitioner.names() == tuple(part.name for part in partitioner.partition(mixed(), Seed.of(1)).parts)


@pytest.mark.parametrize("kind", [kind for kind in kinds("columns") if kind != "optimised"])
def test_parts_are_of_equal_size_give_or_take_one(kind: str):
    table = hundred_columns()
    for parts in (3, 7):
        sizes = [len(part.columns) for part in into(kind, parts, table).partition(table, Seed.of(1)).parts]
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("kind", kinds("columns"))
def test_the_same_seed_gives_the_same_partition(kind: str):
    first, second = (into(kind, 2, mixed()).partition(mixed(), Seed.of(5)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("kind", kinds("columns"))
def test_one_part_is_the_undivided_table(kind: str):
    found = into(kind, 1, mixed()).partition(mixed(), Seed.of(1))
    assert found.parts[0].columns == mixed().names
    assert found.ratio is None


@pytest.mark.parametrize("kind", kinds("columns"))
def test_the_ratio_is_filled_in_where_there_is_association_within_parts(kind: str):
    found = into(kind, 2, mixed()).partition(mixed(), Seed.of(1))
    assert found.ratio is not None
    assert found.ratio >= 0


@pytest.mark.parametrize("kind", [kind for kind in kinds("columns") if kind != "given"])
def test_more_parts_than_columns_is_told_before_rows_are_read_and_refused_after(kind: str):
    partitioner, table = into(kind, 6, mixed()), mixed()
    assert "6 parts for 5 columns" in str(partitioner.faults(Schema(columns=table.columns))[0])
    with pytest.raises(SpecError, match="6 parts for 5 columns"):
        partitioner.partition(table, Seed.of(1))


@pytest.mark.parametrize("kind", [kind for kind in kinds("columns") if kind != "given"])
def test_columns_that_are_not_modelled_do_not_count(kind: str):
    identifier = Column(name="id", kind=Kind.IDENTIFIER, dtype="string")
    schema = Schema(columns=(identifier, *mixed().columns))
    assert into(kind, 5, mixed()).faults(schema) == []
    assert into(kind, 6, mixed()).faults(schema)


@pytest.mark.parametrize("kind", kinds("columns"))
def test_no_part_at_all_is_refused(kind: str):
    with pytest.raises(SpecError):
        catalog.build({"kind": kind, "parts": 0})


def by_rows(kind: str, table: Table) -> RowPartitioner:
    levelled = [column.name for column in table.columns if not column.numeric]
    built = catalog.build({"kind": kind, **({"column": levelled[0]} if kind == "strata" else {})})
    assert isinstance(built, RowPartitioner)
    return built


def all_levels() -> Table:
    random = np.random.default_rng(3)
    return Table.of([levels(name, 4) for name in "abc"], list(random.integers(0, 4, (3, 400)).astype(float)), 400)


def gaps_everywhere() -> Table:
    table = all_levels()
    cells = np.where(np.random.default_rng(4).random((400, 3)) < 0.5, NAN, table.values)
    return Table((levels("a", 4), number("b"), number("c")), cells)


def only_duplicates() -> Table:
    return Table.of([number("a"), levels("b", 3)], [np.repeat([0.0, 5.0], 100), np.repeat([0.0, 2.0], 100)], 200)


def thirty_rows() -> Table:
    return mixed(30)


ROW_TABLES = [*TABLES[:5], all_levels, gaps_everywhere, only_duplicates, thirty_rows]


@pytest.mark.parametrize("make", ROW_TABLES)
@pytest.mark.parametrize("kind", kinds("rows"))
def test_every_row_is_in_one_cluster_that_is_large_enough_to_learn_from(kind: str, make: Callable[[], Table]):
    table = make()
    found = by_rows(kind, table).partition(table, Seed.of(1))
    assert found.rows.shape == (len(table),)
    assert len(found.sizes) == 1 or min(found.sizes) >= max(50, 0.05 * len(table))
    assert found.told.columns == table.names
    assert found.told.reason
    assert sum(cluster.share for cluster in found.told.clusters) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("make", ROW_TABLES)
@pytest.mark.parametrize("kind", kinds("rows"))
def test_the_same_seed_gives_the_same_clusters_and_other_rows_one_of_them(kind: str, make: Callable[[], Table]):
    table = make()
    partitioner = by_rows(kind, table)
    first, second = (partitioner.partition(table, Seed.of(5)) for _ in range(2))
    assert first.told == second.told
    assert np.array_equal(first.rows, second.rows)
    placed = partitioner.placing(table, first)(table)
    assert set(placed) <= set(range(len(first.names)))
    assert partitioner.placing(table, first)(table.take(slice(0, 0))).shape == (0,)


@pytest.mark.parametrize("kind", kinds("rows"))
def test_the_names_of_the_clusters_are_among_those_known_before_rows_are_read(kind: str):
    partitioner = by_rows(kind, only_duplicates())
    assert set(partitioner.partition(only_duplicates(), Seed.of(1)).names) <= set(partitioner.names())


@pytest.mark.parametrize("kind", kinds("rows"))
def test_more_rows_join_the_clusters_there_are(kind: str):
    table = only_duplicates()
    partitioner = by_rows(kind, table)
    found = partitioner.partition(table, Seed.of(1))
    more = partitioner.extended(found, table, table.take(np.array([0, 199])))
    assert isinstance(more, Assignment)
    assert more.told == found.told
    assert more.rows.tolist() == [*found.rows, found.rows[0], found.rows[199]]


@pytest.mark.parametrize("kind", kinds("rows"))
def test_the_people_of_a_cluster_are_told_by_one_rule_for_both_tables(kind: str):
    table = only_duplicates()
    partitioner = by_rows(kind, table)
    first, second = partitioner.crowds(partitioner.partition(table, Seed.of(1)), table, table.take(slice(90, 110)))
    assert (first.train.sum(), first.holdout.sum(), second.train.sum(), second.holdout.sum()) == (100, 10, 100, 10)
    whole = thirty_rows()
    alone = by_rows(kind, whole)
    assert alone.crowds(alone.partition(whole, Seed.of(1)), whole, whole) == ()


def test_columns_have_no_crowds_and_stay_divided_as_they_are():
    partitioner = into("random", 2, mixed())
    found = partitioner.partition(mixed(), Seed.of(1))
    assert partitioner.crowds(found, mixed(), mixed()) == ()
    assert partitioner.extended(found, mixed(), mixed()) is found


@pytest.mark.parametrize("kind", catalog.kinds())
def test_what_is_divided_may_be_said_and_must_be_true(kind: str):
    own = "rows" if kind in kinds("rows") else "columns"
    other = "columns" if own == "rows" else "rows"
    needed = {"strata": {"column": "c"}, "given": {"parts": {"a": ["x"]}}}
    said = {"kind": kind, **needed.get(kind, {})}
    assert catalog.build({**said, "by": own}) == catalog.build(said)
    with pytest.raises(SpecError, match=f"this kind divides {own}, not {other}; {other} are divided by: ") as refusal:
        catalog.build({**said, "by": other})
    assert all(kind in str(refusal.value) for kind in kinds(other))
    with pytest.raises(SpecError, match="'columns' or 'rows'"):
        catalog.build({**said, "by": "cells"})
