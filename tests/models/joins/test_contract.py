"""What holds for every join, whatever the parts."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from models.errors import SynthesisError
from models.joins import Draw, Joined, Joiner, catalog
from models.randomness import Seed
from models.schema import Column, Kind
from models.table import Floats, Table

NAN = np.nan
Parts = list[Table]


def number(name: str) -> Column:
    return Column(name=name, kind=Kind.CONTINUOUS, dtype="double", nullable=True, bounds=(-1e6, 1e6))


def levels(name: str, count: int) -> Column:
    return Column(name=name, kind=Kind.CATEGORICAL, dtype="string", nullable=True, levels=tuple(range(count)))


def part(**cells: tuple[str, Floats]) -> Table:
    columns = [number(name) if kind == "number" else levels(name, 10_000) for name, (kind, _) in cells.items()]
    arrays = [values for _, values in cells.values()]
    return Table.of(columns, arrays, len(arrays[0]))


def dependent(rows: int = 120) -> Parts:
    """Two parts that share a sign; ``a`` and ``b`` number their rows, so that every joined row can be traced."""
    sign = np.random.default_rng(1).integers(0, 2, rows).astype(float)
    spread = np.linspace(0, 0.1, rows)
    return [part(a=("number", sign + spread), s=("level", sign)), part(b=("number", -sign - spread), t=("level", sign))]


def constant() -> Parts:
    return [part(a=("number", np.ones(80)), c=("level", np.zeros(80))), part(b=("number", np.zeros(80)))]


def missing() -> Parts:
    return [part(a=("number", np.full(80, NAN)), c=("level", np.full(80, NAN))), part(b=("level", np.full(80, NAN)))]


def thousands_of_levels() -> Parts:
    return [part(a=("level", np.arange(3000.0))), part(b=("level", np.arange(3000.0) % 1500))]


def three_parts() -> Parts:
    a, b = dependent(90)
    return [a, b, part(z=("number", np.where(np.arange(90) % 9 == 0, NAN, np.arange(90.0))))]


def few_rows() -> Parts:
    return dependent(3)


def one_part() -> Parts:
    return dependent()[:1]


MAKERS: list[Callable[[], Parts]] = [
    dependent, constant, missing, thousands_of_levels, three_parts, few_rows, one_part,
]  # fmt: skip


def drawing(parts: Parts) -> Draw:
    """Rows of every part in a random order of its own, over again where more are asked for than there are."""

    def draw(round: int, n: int) -> Parts:
        random = np.random.default_rng(round)
        return [piece.take(np.resize(random.permutation(len(piece)), n)) for piece in parts]

    return draw


@cache
def fitted(kind: str, make: Callable[[], Parts]) -> Joiner:
    return catalog.build(kind).fit(make(), Seed.of(1))


def joined(kind: str, make: Callable[[], Parts], n: int = 30, seed: int = 2) -> Joined:
    return fitted(kind, make).join(drawing(make()), n, Seed.of(seed))


def rows_of(table: Table) -> list[tuple[float, ...]]:
    return sorted(map(tuple, np.nan_to_num(table.values, nan=-7.0).tolist()))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("kind", catalog.kinds())
def test_columns_are_those_of_the_parts_and_rows_and_shortfall_add_up(kind: str, make: Callable[[], Parts]):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = joined(kind, make)
    assert found.table.columns == tuple(column for piece in make() for column in piece.columns)
    assert len(found.table) + found.shortfall == 30
    assert len(found.table) == found.accepted <= found.proposed


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("kind", catalog.kinds())
def test_each_part_of_a_joined_row_was_drawn(kind: str, make: Callable[[], Parts]):
    found = joined(kind, make).table
    for piece in make():
        assert set(rows_of(found.select(piece.names))) <= set(rows_of(piece))


@pytest.mark.parametrize("kind", [kind for kind in catalog.kinds() if kind != "resample"])
def test_no_drawn_row_is_used_twice(kind: str):
    found = fitted(kind, dependent).join(lambda round, n: dependent(n), 120, Seed.of(2)).table
    assert len(found)
    for column in ("a", "b"):
        assert len(np.unique(found[column])) == len(found)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("kind", catalog.kinds())
def test_the_same_seed_gives_the_same_bytes(kind: str, make: Callable[[], Parts]):
    again = catalog.build(kind).fit(make(), Seed.of(1)).join(drawing(make()), 30, Seed.of(2))
    assert again.table.values.tobytes() == joined(kind, make).table.values.tobytes()
    assert again.facts == joined(kind, make).facts


@pytest.mark.parametrize("kind", [kind for kind in catalog.kinds() if kind not in ("concatenation", "conditional")])
def test_another_seed_pairs_other_rows(kind: str):
    assert rows_of(joined(kind, dependent, seed=2).table) != rows_of(joined(kind, dependent, seed=3).table)


@pytest.mark.parametrize("kind", catalog.kinds())
def test_one_part_passes_as_it_is(kind: str):
    found = joined(kind, one_part)
    assert rows_of(found.table) == rows_of(drawing(one_part())(0, 30)[0])
    assert found.shortfall == 0


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("kind", catalog.kinds())
def test_no_row_asked_for_is_no_row(kind: str, make: Callable[[], Parts]):
    found = joined(kind, make, n=0)
    assert found.table.values.shape == (0, sum(len(piece.columns) for piece in make()))
    assert (found.accepted, found.shortfall) == (0, 0)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("kind", catalog.kinds())
def test_the_facts_can_be_written_down(kind: str, make: Callable[[], Parts]):
    facts = joined(kind, make).facts
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


@pytest.mark.parametrize("kind", catalog.kinds())
def test_real_parts_of_different_length_are_refused(kind: str):
    with pytest.raises(SynthesisError, match="part 1 has 3, part 2 has 4"):
        catalog.build(kind).fit([dependent(3)[0], dependent(4)[1]], Seed.of(1))


@pytest.mark.parametrize("kind", catalog.kinds())
def test_drawn_parts_of_different_length_are_refused(kind: str):
    with pytest.raises(SynthesisError, match="part 1 has 3, part 2 has 4"):
        fitted(kind, dependent).join(lambda round, n: [dependent(3)[0], dependent(4)[1]], 3, Seed.of(1))


@pytest.mark.parametrize("kind", catalog.kinds())
def test_what_is_given_is_not_changed(kind: str):
    parts = dependent()
    before = [piece.values.copy() for piece in parts]
    catalog.build(kind).fit(parts, Seed.of(1)).join(lambda round, n: parts, 40, Seed.of(2))
    assert all(np.array_equal(piece.values, old) for piece, old in zip(parts, before, strict=True))


@pytest.mark.parametrize("kind", catalog.kinds())
def test_parts_are_drawn_given_parts_before_them_alone(kind: str):
    names = ("a", "b", "c")
    for place, name in enumerate(names):
        assert set(catalog.build(kind).given(names, name)) <= set(names[:place])


@pytest.mark.parametrize("kind", catalog.kinds())
def test_parts_of_columns_can_be_joined_and_clusters_of_rows_by_concatenation_alone(kind: str):
    assert catalog.build(kind).faults("columns") == []
    told = [f"{fault.found} ({fault.remedy})" for fault in catalog.build(kind).faults("rows")]
    refused = f"'{kind}' cannot join clusters of rows (write 'join: concatenation')"
    assert told == ([] if kind == "concatenation" else [refused])
