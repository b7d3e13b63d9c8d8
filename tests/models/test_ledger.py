"""The ledger tells how often a data set was audited before."""

import pytest

from models.ledger import AuditEntry, place_of, standing


def entry(audited, verdict="fail", **more):
    said = {"name": "people", "table": "t1", "spec": "s", "seed": "a", "audited": audited, "verdict": verdict}
    return AuditEntry(**{**said, **more})


def test_the_first_audit_is_told_as_such():
    said = standing([entry("1")])
    assert (said.number, said.of_this_table, said.withheld, said.seeds) == (1, 1, 0, 1)
    assert said.sentence == "This is the first audit of this data set."


def test_another_seed_after_a_withheld_run_leaves_a_trace():
    said = standing([entry("1"), entry("2", verdict="pass", seed="b")])
    assert (said.number, said.of_this_table, said.withheld, said.seeds) == (2, 2, 1, 2)
    assert said.sentence.startswith(
        "1 audit of this data set came before this one: 1 of the same source table, 1 that did not pass, with 2 seeds"
    )


def test_other_data_sets_and_other_tables_are_told_apart():
    entries = [entry("1", name="others"), entry("2", table="t0", verdict="pass"), entry("3")]
    assert standing(entries).model_dump() == {
        "number": 2, "of_this_table": 1, "withheld": 0, "seeds": 1, "lost": False,
    }  # fmt: skip


@pytest.mark.parametrize("entries", [[entry("1")], [entry("1"), entry("2")]], ids=["first", "second"])
def test_a_ledger_that_lost_lines_is_told(entries):
    assert standing(entries, lost=True).sentence.endswith("releases tell of more audits than it knows.")


def test_the_same_audit_is_found_wherever_it_stands_in_the_chain():
    entries = [entry("1", before="x"), entry("2", before="y")]
    assert place_of(entry("2"), entries) == 1
    assert place_of(entry("2", verdict="pass"), entries) is None
    assert place_of(entry("3"), entries) is None
