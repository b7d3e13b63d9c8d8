"""The audit as a flow: its table is in the Prefect UI as it is published."""

import json

import pytest

pytestmark = pytest.mark.slow


def test_the_audit_table_and_its_verdict_are_an_artifact(runs, server):
    newest = server.ask("/artifacts/people-audit/latest")
    assert newest["type"] == "table"
    assert newest["description"].startswith("pass: ")
    shown = json.loads(newest["data"])
    assert shown == json.loads(runs.second.stdout)["findings"]
    assert {"check", "synthetic", "control", "verdict"} <= set(shown[0])
