"""No line of a chain can be changed, moved or taken out unseen."""

import stat

import pytest

from models.ledger import Link
from tasks.chains import extended, read_chain, write_chain


class Word(Link):
    word: str


@pytest.fixture
def path(tmp_path):
    entries = []
    for word in ("one", "two", "three"):
        entries = extended(entries, Word(word=word))
    write_chain(tmp_path / "chain.jsonl", entries)
    return tmp_path / "chain.jsonl"


def faults(path):
    return [str(fault) for fault in read_chain(path, Word, "restore it")[1]]


def test_what_was_written_is_read(path):
    entries, wrong = read_chain(path, Word, "restore it")
    assert [entry.word for entry in entries] == ["one", "two", "three"]
    assert not wrong


def test_no_file_is_an_empty_chain(tmp_path):
    assert read_chain(tmp_path / "none.jsonl", Word, "") == ([], [])


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [lines[0], lines[2]],
        lambda lines: [lines[1], lines[0], lines[2]],
        lambda lines: [lines[0], lines[1].replace(b"two", b"too"), lines[2]],
        lambda lines: [lines[0], lines[1].replace(b"{", b"{ "), lines[2]],
    ],
    ids=["taken out", "moved", "changed", "spaced"],
)
def test_a_line_that_was_tampered_with_breaks_the_chain(path, change):
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    assert "chain.jsonl: the chain breaks at line" in faults(path)[0]


def test_a_line_that_is_no_entry_is_told_by_its_number(path):
    with open(path, "a") as chain:
        chain.write('{"wrod":"four"}\n')
    assert faults(path) == ["chain.jsonl: line 4 is no entry (restore it)"]


def test_a_private_chain_is_for_its_owner_alone(path):
    write_chain(path, [Word(word="one")], private=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
