"""Texts are dates only if they name a day and can be written back."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tasks.date_text import parse, render


def texts(*values: str | None) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, pa.large_string())])


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("%Y-%m-%d", "1850-02-28"),
        ("%d/%m/%Y", "31/12/1999"),
        ("%d-%b-%Y", "02-Jan-2020"),
        ("%d-%b-%y", "02-Jan-69"),
        ("%Y-%m-%dT%H:%M:%S+02:00", "2020-01-02T03:04:05+02:00"),
        ("%Y-%m-%dT%H:%M:%S.%f-05:00", "2020-01-02T03:04:05.000123-05:00"),
        ("%H:%M", "07:05"),
        ("%Y-%m-%dT%H:%M:%SZ", "2020-01-02T03:04:05Z"),
        ("%Y-%m-%d %H:%M:%S.%f", "2020-01-02 03:04:05.000123"),
        ("%H:%M:%S.%f", "23:59:59.999999"),
    ],
)
def test_what_is_read_is_written_the_same(format, text):
    assert render(parse(texts(text, None), format), format).to_pylist() == [text, None]


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("%Y-%m-%d", "2020-02-30"),
        ("%Y-%m-%d", "2020-02-01 "),
        ("%Y-%m-%d", "CANARY"),
        ("%H:%M", "24:00"),
        ("%H:%M:%S.%f", "23:59:59"),
        ("%H:%M:%S.%f", "23:59:59.12"),
    ],
)
def test_what_is_no_date_is_null(format, text):
    assert parse(texts(text), format).to_pylist() == [None]


def test_leading_zeros_and_capitals_do_not_matter():
    assert parse(texts("1/2/2020"), "%d/%m/%Y") == parse(texts("01/02/2020"), "%d/%m/%Y")
    assert parse(texts("02-JAN-2020"), "%d-%b-%Y") == parse(texts("02-Jan-2020"), "%d-%b-%Y")


def test_milliseconds_are_written_with_three_digits():
    moments = parse(texts("2020-01-02 03:04:05.250"), "%Y-%m-%d %H:%M:%S.%f").cast(pa.timestamp("ms"))
    assert render(moments, "%Y-%m-%d %H:%M:%S.%f").to_pylist() == ["2020-01-02 03:04:05.250"]


def test_no_text_at_all_is_no_date_at_all():
    assert len(parse(texts(), "%H:%M")) == 0


def test_a_long_year_has_four_digits_and_a_short_one_two():
    assert parse(texts("09-Dec-21"), "%d-%b-%Y").to_pylist() == [None]
    assert parse(texts("19/08/2022"), "%d/%m/%y").to_pylist() == [None]
    assert parse(texts("0001-01-01"), "%Y-%m-%d").null_count == 0
