"""What holds for every partitioner, whatever the table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from models.errors import SpecError
from models.partitioners import Partitioner, catalog
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
@pytest.mark.parametrize("kind", catalog.kinds())
def test_every_column_stands_in_exactly_one_part(kind: str, make: Callable[[], Table]):
    table = make()
    for parts in (1, 2, len(table.columns)):
        found = into(kind, parts, table).partition(table, Seed.of(1))
        assert sorted(found.columns) == sorted(table.names)
        assert len(found.parts) == parts
        assert found.reason


@pytest.mark.parametrize("kind", catalog.kinds())
def test_the_names_of_the_parts_are_known_before_rows_are_read(kind: str):
    for parts in (1, 3):
        partitioner = into(kind, parts, mixed())
        assert partitioner.names() == tuple(part.name for part in partitioner.partition(mixed(), Seed.of(1)).parts)


@pytest.mark.parametrize("kind", catalog.kinds())
def test_parts_are_of_equal_size_give_or_take_one(kind: str):
    table = hundred_columns()
    for parts in (3, 7):
        sizes = [len(part.columns) for part in into(kind, parts, table).partition(table, Seed.of(1)).parts]
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("kind", catalog.kinds())
def test_the_same_seed_gives_the_same_partition(kind: str):
    first, second = (into(kind, 2, mixed()).partition(mixed(), Seed.of(5)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("kind", catalog.kinds())
def test_one_part_is_the_undivided_table(kind: str):
    found = into(kind, 1, mixed()).partition(mixed(), Seed.of(1))
    assert found.parts[0].columns == mixed().names
    assert found.ratio is None


@pytest.mark.parametrize("kind", catalog.kinds())
def test_the_ratio_is_filled_in_where_there_is_association_within_parts(kind: str):
    found = into(kind, 2, mixed()).partition(mixed(), Seed.of(1))
    assert found.ratio is not None
    assert found.ratio >= 0


@pytest.mark.parametrize("kind", [kind for kind in catalog.kinds() if kind != "given"])
def test_more_parts_than_columns_is_told_before_rows_are_read_and_refused_after(kind: str):
    partitioner, table = into(kind, 6, mixed()), mixed()
    assert "6 parts for 5 columns" in str(partitioner.faults(Schema(columns=table.columns))[0])
    with pytest.raises(SpecError, match="6 parts for 5 columns"):
        partitioner.partition(table, Seed.of(1))


@pytest.mark.parametrize("kind", [kind for kind in catalog.kinds() if kind != "given"])
def test_columns_that_are_not_modelled_do_not_count(kind: str):
    identifier = Column(name="id", kind=Kind.IDENTIFIER, dtype="string")
    schema = Schema(columns=(identifier, *mixed().columns))
    assert into(kind, 5, mixed()).faults(schema) == []
    assert into(kind, 6, mixed()).faults(schema)


@pytest.mark.parametrize("kind", catalog.kinds())
def test_no_part_at_all_is_refused(kind: str):
    with pytest.raises(SpecError):
        catalog.build({"kind": kind, "parts": 0})
