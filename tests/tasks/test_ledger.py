"""Every audit leaves a line, the same audit no second one, and no line can be unmade unseen."""

import json

import pytest

from models.errors import TamperedError
from models.ledger import AuditEntry
from tasks.ledger import enter
from tasks.workspace import Workspace


def entry(audited, **more):
    said = {"name": "people", "table": "t", "spec": "s", "seed": "a", "audited": audited, "verdict": "fail"}
    return AuditEntry(**{**said, **more})


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


def lines(workspace):
    return workspace.audits.read_text().splitlines()


def test_audits_are_numbered_in_their_order(workspace):
    assert [enter(workspace, entry(audited)).number for audited in "abc"] == [1, 2, 3]
    assert len(lines(workspace)) == 3


def test_the_same_audit_again_keeps_its_number(workspace):
    first = enter(workspace, entry("a"))
    enter(workspace, entry("b"))
    assert enter(workspace, entry("a")) == first
    assert len(lines(workspace)) == 2


def test_a_line_that_was_taken_out_is_found(workspace):
    for audited in "abc":
        enter(workspace, entry(audited))
    first, _, third = lines(workspace)
    workspace.audits.write_text(f"{first}\n{third}\n")
    with pytest.raises(TamperedError, match=r"audits\.jsonl: the chain breaks at line 2"):
        enter(workspace, entry("d"))


@pytest.mark.parametrize(("published", "lost"), [(1, False), (2, True)])
def test_a_ledger_that_knows_fewer_audits_than_releases_tell_of_is_not_whole(workspace, published, lost):
    manifest = workspace.released / "people" / "v1" / "manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"audits": {"number": published}}))
    assert enter(workspace, entry("a")).lost is lost
