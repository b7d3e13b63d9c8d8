"""A file that exists is whole; what was half written leaves nothing behind."""

import errno
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from models.errors import StateError
from models.state import State
from tasks.store import (
    canonical,
    ensure_writable,
    read_json,
    read_state,
    read_table,
    sha256_of,
    sweep,
    whole_file,
    whole_folder,
    write_json,
    write_state,
    write_table,
)


def everything_in(folder):
    return sorted(path.name for path in folder.rglob("*"))


def test_a_table_comes_back_with_its_types_and_its_artifact_knows_it(tmp_path):
    table = pa.table({"a": pa.array([1, None], pa.int16()), "b": pa.array(["x", "y"]).dictionary_encode()})
    artifact = write_table(table, tmp_path / "t.parquet", {"note": "hello"})
    back = read_table(artifact.path)
    assert back.equals(table)
    assert back.schema.metadata[b"note"] == b"hello"
    assert (artifact.rows, artifact.columns, artifact.sha256) == (2, ("a", "b"), sha256_of(artifact.path))


def test_the_same_table_has_the_same_bytes(tmp_path):
    table = pa.table({"a": list(range(1000))})
    assert write_table(table, tmp_path / "1.parquet").sha256 == write_table(table, tmp_path / "2.parquet").sha256


def test_a_parquet_file_cut_in_half_is_a_state_error(tmp_path):
    path = write_table(pa.table({"a": list(range(1000))}), tmp_path / "t.parquet").path
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(StateError, match="not a whole Parquet file"):
        read_table(path)


def test_a_missing_file_is_a_state_error(tmp_path):
    for read in (read_table, read_json):
        with pytest.raises(StateError, match="no such file"):
            read(tmp_path / "none")


def test_json_is_canonical_and_comes_back(tmp_path):
    write_json({"b": 1, "a": "ü"}, tmp_path / "j.json")
    assert (tmp_path / "j.json").read_text() == '{"a":"ü","b":1}\n'
    assert read_json(tmp_path / "j.json") == {"a": "ü", "b": 1}


def test_canonical_json_refuses_what_json_has_no_number_for():
    with pytest.raises(ValueError, match="Out of range"):
        canonical({"x": float("nan")})


def test_json_cut_short_is_a_state_error(tmp_path):
    (tmp_path / "j.json").write_text('{"a":')
    with pytest.raises(StateError, match="not a whole JSON file"):
        read_json(tmp_path / "j.json")


def test_a_state_comes_back_as_it_was(tmp_path):
    state = State("cart", 3, {"depth": 2}, {"edges": np.array([1.5, 2.5]), "left": np.array([[1, 2]], dtype=np.int32)})
    write_state(state, tmp_path / "part-1")
    back = read_state(tmp_path / "part-1")
    assert (back.kind, back.version, back.facts) == ("cart", 3, {"depth": 2})
    assert all(
        np.array_equal(back.arrays[name], array) and back.arrays[name].dtype == array.dtype
        for name, array in state.arrays.items()
    )


def test_a_state_whose_arrays_are_cut_short_is_a_state_error(tmp_path):
    write_state(State("cart", 1, {}, {"edges": np.arange(100.0)}), tmp_path / "part-1")
    arrays = tmp_path / "part-1" / "arrays.safetensors"
    arrays.write_bytes(arrays.read_bytes()[:-8])
    with pytest.raises(StateError, match="missing or cut short"):
        read_state(tmp_path / "part-1")


def test_nothing_is_left_when_writing_a_file_fails(tmp_path):
    (tmp_path / "f").write_text("before")
    with pytest.raises(RuntimeError, match="power cut"), whole_file(tmp_path / "f") as beside:
        beside.write_text("half")
        raise RuntimeError("power cut")
    assert everything_in(tmp_path) == ["f"]
    assert (tmp_path / "f").read_text() == "before"


def test_nothing_is_left_when_writing_a_folder_fails(tmp_path):
    with pytest.raises(RuntimeError, match="power cut"), whole_folder(tmp_path / "v1", replace=False) as beside:
        (beside / "half").write_text("half")
        raise RuntimeError("power cut")
    assert everything_in(tmp_path) == []


def test_a_published_folder_is_never_overwritten(tmp_path):
    with whole_folder(tmp_path / "v1", replace=False) as beside:
        (beside / "f").write_text("first")
    with pytest.raises(StateError, match="never overwritten"), whole_folder(tmp_path / "v1", replace=False) as beside:
        (beside / "f").write_text("second")
    assert (tmp_path / "v1" / "f").read_text() == "first"
    assert everything_in(tmp_path) == ["f", "v1"]


@pytest.mark.parametrize(("place", "told"), [
    ("folder", "cannot be written: is a folder (name a file)"),
    ("folder/pipe", "cannot be written: is a device or a pipe (name a file)"),
    ("file/new", "cannot be written: a file stands where a folder should be"),
    ("file/deep/new", "cannot be written: a file stands where a folder should be"),
    ("folder/" + "x" * 260, "cannot be written: the name is too long"),
])  # fmt: skip
def test_a_place_where_no_file_can_be_written_is_told_before_and_while_it_is(tmp_path, place, told):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "folder" / "pipe")
    (tmp_path / "file").write_text("mine")
    before = everything_in(tmp_path)
    with pytest.raises(StateError) as early:
        ensure_writable(tmp_path / place)
    with pytest.raises(StateError) as late, whole_file(tmp_path / place) as beside:
        beside.write_text("new")
    assert str(early.value) == str(late.value)
    assert f"{tmp_path / place}: {told}" in str(early.value)
    assert everything_in(tmp_path) == before
    assert (tmp_path / "file").read_text() == "mine"


def test_a_file_system_that_takes_no_files_is_told():
    with pytest.raises(StateError, match=r"/proc/new: no file can be made in '/proc'"):
        ensure_writable(Path("/proc/new"))


def test_where_a_file_can_be_written_nothing_is_made_to_find_out(tmp_path):
    ensure_writable(tmp_path / "some" / "where" / "new")
    (tmp_path / "old").write_text("old")
    ensure_writable(tmp_path / "old")
    assert everything_in(tmp_path) == ["old"]


def test_a_full_disk_leaves_what_was_there(tmp_path):
    (tmp_path / "f").write_text("before")
    with (
        pytest.raises(StateError, match="f: cannot be written: the disk is full"),
        whole_file(tmp_path / "f") as beside,
    ):
        beside.symlink_to("/dev/full")
        beside.write_text("new")
    assert (everything_in(tmp_path), (tmp_path / "f").read_text()) == (["f"], "before")


def test_a_file_in_the_place_of_a_folder_is_told_and_kept(tmp_path):
    (tmp_path / "v1").write_text("mine")
    with pytest.raises(StateError, match="a file stands where"), whole_folder(tmp_path / "v1", replace=True) as beside:
        (beside / "f").write_text("new")
    assert (everything_in(tmp_path), (tmp_path / "v1").read_text()) == (["v1"], "mine")


def test_what_the_operating_system_does_not_refuse_a_person_goes_through(tmp_path):
    with pytest.raises(ConnectionResetError), whole_file(tmp_path / "f"):
        raise ConnectionResetError(errno.ECONNRESET, "reset")


def test_leftovers_of_a_killed_run_are_swept(tmp_path):
    (tmp_path / ".t.parquet.1234abcd.part").write_text("half")
    (tmp_path / "deep" / ".v1.1234abcd.part").mkdir(parents=True)
    (tmp_path / "whole").write_text("whole")
    sweep(tmp_path)
    assert everything_in(tmp_path) == ["deep", "whole"]


def test_the_hash_of_a_folder_tells_names_and_contents_apart(tmp_path):
    for name, file, text in (("a", "x", "1"), ("b", "y", "1"), ("c", "x", "2"), ("d", "x", "1")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(text)
    hashes = [sha256_of(tmp_path / name) for name in "abcd"]
    assert hashes[0] == hashes[3]
    assert len(set(hashes)) == 3
