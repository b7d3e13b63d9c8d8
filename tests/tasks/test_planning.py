"""The plan is what a run would do; only the seed that a run would draw is kept."""

import pyarrow as pa
import pytest
from small_world import SCHEMA, people, write_workspace

from models.errors import ContractError, SourceError, SpecError
from models.joins import catalog as joins
from models.partition import Part, Partition
from tasks.planning import preview, remarks
from tasks.spec import load
from tasks.synthesis import read_partition

TWO = (Part(name="one", columns=("a",)), Part(name="two", columns=("b",)))


def said(ratio, join="swap"):
    return " ".join(remarks(Partition(parts=TWO, reason="as given", ratio=ratio), joins.build(join)))


def test_the_plan_is_the_partition_that_the_run_makes(finished):
    seen, found = preview(finished.path), read_partition(finished)
    assert [(part.name, part.columns) for part in seen.parts] == [(part.name, part.columns) for part in found.parts]
    assert (seen.name, seen.rows, seen.ratio) == ("people", 600, found.ratio)


def test_the_plan_names_generators_and_the_width_of_their_encoding(tmp_path):
    seen = preview(write_workspace(tmp_path, generators={"money": "cart"}))
    assert [(part.name, part.generator) for part in seen.parts] == [("money", "cart"), ("habits", "marginal")]
    assert seen.parts[1].width == 3
    assert seen.as_dict()["parts"][0]["columns"] == ("age", "income")


def test_the_plan_tells_which_models_see_parts_that_are_not_theirs(tmp_path):
    alone, given = (preview(write_workspace(tmp_path, generator="cart", join=join)) for join in ("swap", "conditional"))
    assert given.parts[1].width == alone.parts[1].width + 4
    assert "The models of habits learn from the parts before theirs, too." in given.remarks
    assert not [remark for remark in alone.remarks if "learn from" in remark]


def test_nothing_is_written_but_the_seed(tmp_path):
    spec = write_workspace(tmp_path)
    before = set(tmp_path.rglob("*"))
    first = preview(spec)
    written = {path.relative_to(tmp_path).as_posix() for path in set(tmp_path.rglob("*")) - before}
    assert written == {"data", "data/secret", "data/secret/seed"}
    assert preview(spec) == first


@pytest.mark.parametrize(("ratio", "little", "much"), [
    (0.0, True, False), (0.29, True, False), (0.3, False, False), (1.0, False, False), (1.01, False, True),
])  # fmt: skip
def test_the_ratio_is_told_with_a_warning_where_a_join_is_asked_too_little_or_too_much(ratio, little, much):
    assert f"Association between parts over within parts: {ratio:.2f}." in said(ratio)
    assert ("'join: shuffled' loses little" in said(ratio)) is little
    assert ("Warning: more association lies between the parts than within them" in said(ratio)) is much


@pytest.mark.parametrize(("ratio", "told"), [
    (0.29, "'join: shuffled' would lose little, and no model would see another part than its own."),
    (0.3, "within parts: 0.30. The models of two learn from the parts before theirs, too."),
    (1.01, "than within them, for the later models to learn of the parts before theirs."),
])  # fmt: skip
def test_of_parts_drawn_given_others_no_validator_and_no_recovering_join_is_spoken_of(ratio, told):
    assert told in said(ratio, "conditional")
    assert "validator" not in said(ratio, "conditional")
    assert "No join recovers" not in said(ratio, "conditional")


def test_without_a_ratio_the_reason_alone_is_told():
    assert said(None) == "as given"
    assert said(None, "conditional") == "as given The models of two learn from the parts before theirs, too."


def test_rows_that_break_the_contract_are_told_by_column_and_count(tmp_path):
    broken = people(rows=50).drop_columns(["visit"]).append_column("extra", pa.array(range(50)))
    spec = write_workspace(tmp_path, table=broken.set_column(1, "age", pa.array([7] * 50)))
    with pytest.raises(ContractError) as refusal:
        preview(spec)
    assert {fault.where for fault in refusal.value.faults} == {"visit", "extra", "age"}


def test_what_a_run_would_refuse_after_dividing_is_refused(tmp_path):
    few = {"columns": [{**SCHEMA["columns"][0], "format": "P-##"}, *SCHEMA["columns"][1:]]}
    dealt = {"partition": {"kind": "random", "parts": 2}, "generator": {"kind": "cart", "order": ["age"]}}
    with pytest.raises(SpecError) as refusal:
        preview(write_workspace(tmp_path, schema=few, **dealt))
    assert [fault.where for fault in refusal.value.faults] == ["generator.order", "person"]


def test_a_spec_or_a_source_that_cannot_be_read_is_refused(tmp_path):
    spec = write_workspace(tmp_path, generator="magic")
    with pytest.raises(SpecError):
        preview(spec)
    spec = write_workspace(tmp_path, schema=SCHEMA)
    (tmp_path / "people.parquet").unlink()
    with pytest.raises(SourceError):
        preview(spec)
    assert load(spec).spec.name == "people"


def test_the_plan_of_divided_rows_tells_which_they_are_and_what_is_not_used(clustered, tmp_path):
    seen, told = preview(clustered.path), read_partition(clustered).told
    assert [(part.name, part.rows, part.generator) for part in seen.parts] == [
        ("cluster-1", told.clusters[0].said, "marginal"), ("cluster-2", told.clusters[1].said, "copula"),
    ]  # fmt: skip
    assert (seen.ratio, seen.remarks) == (None, (told.reason,))
    rows = {"partition": {"by": "rows", "kind": "kmeans"}, "join": "concatenation", "generators": {"cluster-8": "cart"}}
    assert preview(write_workspace(tmp_path, **rows)).remarks[-1].startswith("No part is called cluster-8")
