"""DataFrames become Arrow tables and back, or the column that cannot is named."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from models.errors import ContractError
from tasks.frames import from_pandas, to_pandas


def object_of(values: list) -> pd.Series:
    series = pd.Series(np.empty(len(values), dtype=object), dtype=object)
    series[:] = values
    return series


@pytest.mark.parametrize(
    ("series", "found"),
    [
        (object_of(["CANARY-7431", 7431]), "2 types: int, str"),
        (object_of([True, 7431.5]), "2 types: bool, float"),
        (object_of([dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)]), "2 types: date, datetime"),
        (pd.Series([1j]), "no counterpart in Arrow"),
        (object_of([object()]), "no counterpart in Arrow"),
        (pd.Series(pd.period_range("2020", periods=2, freq="M")), "is not supported"),
    ],
)
def test_columns_without_one_type_are_refused_by_name(series, found):
    with pytest.raises(ContractError) as caught:
        from_pandas(pd.DataFrame({"good": [1] * len(series), "bad": series}))
    assert "bad: " in str(caught.value)
    assert found in str(caught.value)
    assert "good" not in str(caught.value)
    assert "7431" not in str(caught.value)


def test_names_that_are_the_same_as_text_are_refused():
    with pytest.raises(ContractError, match="1: 2 columns have this name"):
        from_pandas(pd.DataFrame([[1, 2]], columns=[1, "1"]))


def test_whole_and_other_numbers_may_stand_together():
    assert from_pandas(pd.DataFrame({"x": object_of([1, 2.5])})).schema.field("x").type == pa.float64()


def test_a_frame_without_columns_keeps_its_rows():
    assert from_pandas(pd.DataFrame(index=range(3))).num_rows == 3


def test_a_frame_to_follow_must_have_the_columns():
    with pytest.raises(ContractError, match="b: the DataFrame to follow has no such column"):
        to_pandas(pa.table({"b": [1]}), pd.DataFrame({"a": [1]}))


def test_rare_categories_that_became_other_join_the_declared_ones():
    like = pd.DataFrame({"x": pd.Series(["a"], dtype="category")})
    assert to_pandas(pa.table({"x": ["a", "(rare)"]}), like)["x"].tolist() == ["a", "(rare)"]
