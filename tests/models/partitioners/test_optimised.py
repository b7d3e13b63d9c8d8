"""The number of parts follows from what may be lost, what a generator can bear, and what must stay apart."""

from __future__ import annotations

import numpy as np
import pytest

from models.errors import SpecError
from models.partition import Partition
from models.partitioners.optimised import Optimised
from models.randomness import Seed
from models.ratio import LEAST_ROWS
from models.schema import Column, Kind, Role, Schema
from models.table import Table


def groups(*sizes: int, rows: int = 400, shared: float = 0.0, roles: dict[str, Role] | None = None) -> Table:
    """Groups of columns that follow one hidden number each, and all of them another one as far as ``shared`` says.

    ``a0`` is the first column of the first group.
    """
    random = np.random.default_rng(2)
    names = [f"{'abcdef'[group]}{member}" for group, size in enumerate(sizes) for member in range(size)]
    hidden = np.repeat(random.normal(size=(len(sizes), rows)), sizes, axis=0) + shared * random.normal(size=rows)
    cells = hidden + 0.3 * random.normal(size=hidden.shape)
    said = {"kind": Kind.CONTINUOUS, "dtype": "double", "bounds": (-99, 99)}
    columns = [Column(name=name, role=(roles or {}).get(name, Role.PLAIN), **said) for name in names]
    return Table.of(columns, list(cells), rows)


def divided(table: Table, **settings: object) -> Partition:
    return Optimised(**settings).partition(table, Seed.of(1))


def columns(partition: Partition) -> list[str]:
    return [" ".join(part.columns) for part in partition.parts]


def test_groups_that_share_nothing_become_parts_and_nothing_is_expected_to_be_lost():
    found = divided(groups(3, 3, 3), at_most=3)
    assert columns(found) == ["a0 a1 a2", "b0 b1 b2", "c0 c1 c2"]
    assert "no more association lies between them than chance shows" in found.reason


def test_one_more_part_than_there_are_groups_would_lose_too_much_and_the_reason_says_so():
    found = divided(groups(3, 3), at_most=4, loss=0.05)
    assert columns(found) == ["a0 a1 a2", "b0 b1 b2"]
    assert "3 parts would lose" in found.reason
    assert "more than the 5% allowed" in found.reason


def test_the_expected_loss_is_what_lies_between_times_what_the_join_does_not_bring_back():
    # two columns, all of whose association lies between them
    assert "100% of the table's association" in divided(groups(2), parts=2).reason
    assert "bring back 85% of that, so 15% is expected to be lost" in divided(groups(2), parts=2).reason
    assert "bring back 85% of that, so 15% is expected to be lost" in divided(groups(3), parts=3).reason
    assert "bring back 40% of that, so 60% is expected to be lost" in divided(groups(2), parts=2, recovery=0.4).reason


def test_a_join_that_brings_nothing_back_leaves_a_dependent_table_whole():
    table = groups(2, 2, shared=1)
    assert len(divided(table, recovery=1, at_most=2).parts) == 2
    assert len(divided(table, recovery=0, at_most=2).parts) == 1


def test_nothing_comes_back_where_no_validator_can_be_trained():
    assert "bring back 0%" in divided(groups(2, rows=LEAST_ROWS - 1), parts=2).reason
    assert "bring back 85%" in divided(groups(2, rows=LEAST_ROWS), parts=2).reason


def test_what_chance_alone_may_show_is_not_lost():
    noise = groups(*[1] * 6, rows=200)
    assert "nothing is expected to be lost" in divided(noise, parts=2, recovery=0).reason


def test_no_part_is_larger_than_a_generator_can_bear_even_if_more_is_lost_than_allowed():
    found = divided(groups(6), most=2, loss=0.01, at_most=6)
    assert [len(part.columns) for part in found.parts] == [2, 2, 2]
    assert "more than the 1% allowed, but with fewer parts sizes or roles do not fit" in found.reason


def test_parts_may_differ_in_size_but_none_is_a_mere_splinter():
    found = divided(groups(4, 2), parts=2)
    assert columns(found) == ["a0 a1 a2 a3", "b0 b1"]
    assert min(len(part.columns) for part in divided(groups(11, 1), parts=2).parts) == 3


SECRET = {"a0": Role.SENSITIVE, "a1": Role.QUASI_IDENTIFIER, "b0": Role.QUASI_IDENTIFIER}


def test_a_secret_shares_no_part_with_what_gives_people_away():
    apart = divided(groups(3, 3, roles=SECRET), at_most=2)
    assert not any({"a0", "a1"} <= set(part.columns) or {"a0", "b0"} <= set(part.columns) for part in apart.parts)
    anywhere = divided(groups(3, 3, roles=SECRET), at_most=2, sensitive="anywhere")
    assert columns(anywhere) == ["a0 a1 a2", "b0 b1 b2"]


def test_a_lone_secret_is_kept_apart_in_a_part_of_any_size():
    roles = {"a0": Role.SENSITIVE, **{f"a{j}": Role.QUASI_IDENTIFIER for j in range(1, 8)}}
    assert columns(divided(groups(8, roles=roles), at_most=2)) == ["a0", "a1 a2 a3 a4 a5 a6 a7"]


def test_names_are_those_of_the_largest_number_of_parts():
    assert Optimised(at_most=3).names() == ("part-1", "part-2", "part-3")
    assert Optimised(parts=2, at_most=3).names() == ("part-1", "part-2")
    found = divided(groups(3, 3), at_most=4, loss=0.05)
    assert tuple(part.name for part in found.parts) == ("part-1", "part-2")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"most": 2, "at_most": 2},
            "6 columns in at most 2 parts of at most 2 with 1 sensitive apart from 2 quasi-identifying ones",
        ),
        (
            {"most": 2, "parts": 2},
            "6 columns in at most 2 parts of at most 2 with 1 sensitive apart from 2 quasi-identifying ones",
        ),
        ({"at_most": 1}, "6 columns in at most 1 parts with 1 sensitive apart from 2 quasi-identifying ones"),
        ({"most": 3, "at_most": 2}, None),
        ({"at_most": 1, "sensitive": "anywhere"}, None),
    ],
)
def test_what_sizes_and_roles_rule_out_is_told_before_rows_are_read_and_refused_after(
    settings: dict[str, object], told: str | None
):
    table = groups(3, 3, roles=SECRET)
    faults = Optimised(**settings).faults(Schema(columns=table.columns))
    if told is None:
        assert faults == []
        assert divided(table, **settings)
        return
    assert told in str(faults[0])
    with pytest.raises(SpecError, match="cannot be had"):
        divided(table, **settings)


def test_a_schema_without_columns_has_no_fault_of_size():
    assert Optimised(most=3).faults(Schema(columns=())) == Optimised().faults(Schema(columns=()))
