"""A partition is disjoint, named and never empty-handed."""

import pytest
from pydantic import ValidationError

from models.partition import Part, Partition


def partition(**parts):
    return Partition(parts=tuple(Part(name=name, columns=columns) for name, columns in parts.items()), reason="given")


def test_columns_come_in_the_order_of_the_parts():
    assert partition(a=("x", "y"), b=("z",)).columns == ("x", "y", "z")


def test_a_column_in_two_parts_is_refused():
    with pytest.raises(ValidationError, match="a column stands in two parts"):
        partition(a=("x", "y"), b=("y",))


def test_a_part_without_a_column_is_refused():
    with pytest.raises(ValidationError, match="a part has no column"):
        partition(a=("x",), b=())


def test_two_parts_of_one_name_are_refused():
    with pytest.raises(ValidationError, match="two parts have the same name"):
        Partition(parts=(Part(name="a", columns=("x",)), Part(name="a", columns=("y",))), reason="given")


def test_a_partition_comes_back_from_json():
    there = partition(a=("x",), b=("y",))
    assert Partition.model_validate_json(there.model_dump_json()) == there
