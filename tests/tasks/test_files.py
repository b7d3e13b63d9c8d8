"""Files are found by name, folder or pattern, or the nearest names are told."""

from __future__ import annotations

import pytest

from models.errors import SourceError
from tasks.files import content_version, matching, opened


def test_what_is_not_there_is_told_with_what_is(tmp_path):
    (tmp_path / "patients.csv").write_text("a\n")
    with pytest.raises(SourceError, match=r"no such file \(did you mean 'patients\.csv'"):
        matching(str(tmp_path / "patient.csv"), "*.csv")
    with pytest.raises(SourceError, match="there is no folder"):
        matching(str(tmp_path / "nowhere" / "x.csv"), "*.csv")
    with pytest.raises(SourceError, match=r"holds 0 files called \*\.parquet"):
        matching(str(tmp_path), "*.parquet")


def test_a_folder_gives_its_files_in_order_and_nothing_else(tmp_path):
    for name in ("b.csv", "a.csv", "c.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "d.csv").mkdir()
    assert [file.name for file in matching(str(tmp_path), "*.csv")] == ["a.csv", "b.csv"]


def test_files_that_cannot_be_read_are_named_all_at_once(tmp_path):
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).symlink_to("/proc/self/mem")
    with pytest.raises(SourceError, match=r"one\.csv: input/output error .* two\.csv: input/output error"):
        matching(str(tmp_path), "*.csv")
    with pytest.raises(SourceError, match="file name too long"):
        matching("x" * 300, "*.csv")


def test_a_file_that_vanishes_is_told(tmp_path):
    with pytest.raises(SourceError, match=r"x\.csv: no such file or directory"):
        content_version("csv", [tmp_path / "x.csv"])
    with pytest.raises(SourceError, match=r"x\.csv: "):
        opened(tmp_path / "x.csv")
