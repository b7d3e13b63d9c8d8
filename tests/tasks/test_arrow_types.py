"""Types are written in the schema as Arrow writes them, and read back as the same types."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tasks.arrow_types import arrow_type, family, plain

TYPES = [
    pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.bool_(), pa.null(), pa.string(),
    pa.large_string(), pa.string_view(),
    pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.duration("us"), pa.timestamp("ms"),
    pa.timestamp("us", "America/Argentina/Buenos_Aires"), pa.timestamp("s", "+02:00"), pa.decimal32(5, 2),
    pa.decimal64(12, 0), pa.decimal128(38, 10), pa.decimal256(60, 10),
    pa.dictionary(pa.int8(), pa.string(), ordered=True), pa.dictionary(pa.uint16(), pa.timestamp("ns", "UTC")),
]  # fmt: skip


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_a_type_is_what_its_text_says(kind):
    assert arrow_type(str(kind)) == kind


@pytest.mark.parametrize(
    "text", ["list<item: int64>", "CANARY", "", "timestamp[s, tz=]", "dictionary<values=x, indices=int8, ordered=0>"]
)
def test_other_texts_are_no_type(text):
    with pytest.raises(ValueError, match="No type alias"):
        arrow_type(text)


def test_families_look_at_the_values_not_at_their_storage():
    assert [family(kind) for kind in TYPES[:8]] == ["number"] * 5 + ["boolean", "null", "text"]
    assert family(pa.dictionary(pa.int8(), pa.date32())) == "date"
    assert family(pa.list_(pa.int8())) == "other"


def test_plain_cells_have_no_dictionary():
    cells = pa.chunked_array([pa.array(["a", None]).dictionary_encode(), pa.array(["b"]).dictionary_encode()])
    assert plain(cells).type == pa.large_string()
    assert plain(cells).to_pylist() == ["a", None, "b"]
