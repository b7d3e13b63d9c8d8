"""A table in model form is one read-only matrix with described columns."""

import numpy as np
import pytest

from models.schema import Column
from models.table import Table, beside, digest, stack

A = Column(name="a", kind="integer", dtype="int64", bounds=(0, 9))
B = Column(name="b", kind="integer", dtype="int64", bounds=(0, 9), nullable=True)


def table():
    return Table((A, B), np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0]]))


def test_columns_are_found_by_name_and_selected_in_the_order_asked_for():
    assert table()["a"].tolist() == [1, 3, 5]
    assert table().select(["b", "a"]).values[0].tolist() == [2, 1]
    assert (whole := table()).select(whole.names) is whole


def test_rows_are_taken_by_number_mask_or_slice():
    assert table().take(np.array([2, 0]))["a"].tolist() == [5, 1]
    assert len(table().take(np.array([True, False, True]))) == 2
    assert len(table().take(slice(1, None))) == 2


def test_a_missing_value_is_known_as_missing():
    assert table().missing.tolist() == [[False, False], [False, True], [False, False]]


def test_a_table_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        table().values[0, 0] = 9


def test_values_must_fit_their_description():
    with pytest.raises(ValueError, match="2 columns described"):
        Table((A, B), np.zeros((3, 1)))


def test_a_table_without_columns_still_has_rows():
    assert len(Table.of([], [], rows=4)) == 4


def test_tables_are_put_side_by_side_and_below_one_another():
    both = beside([table().select(["b"]), table().select(["a"])])
    assert both.names == ("b", "a")
    assert len(stack([table(), table()])) == 6
    with pytest.raises(ValueError, match="different columns"):
        stack([table(), both])


def test_a_digest_tells_tables_apart_by_names_cells_and_order_and_by_nothing_else():
    assert digest(table()) == digest(table().select(["a", "b"]))
    assert digest(table()) != digest(table().take(np.array([1, 0, 2])))
    assert digest(table()) != digest(table().take(slice(0, 2)))
    assert digest(table().select(["a"])) != digest(Table((B,), table().values[:, :1]))
    negative = Table((A,), np.array([[-0.0]]))
    assert digest(negative) == digest(Table((A,), np.array([[0.0]])))
