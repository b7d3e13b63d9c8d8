"""Names reach SQL as names."""

from __future__ import annotations

import pytest

from tasks.sql import quoted


@pytest.mark.parametrize(
    ("table", "sql"), [("a", '"a"'), ("s.a", '"s"."a"'), ('x"; DROP TABLE y; --', '"x""; DROP TABLE y; --"')]
)
def test_names_are_quoted_part_by_part(table, sql):
    assert quoted(table) == sql
