"""A manifest is a value of one known format that says no more and no less than its fields."""

import pytest
from pydantic import ValidationError

from models.column_trace import ColumnTrace
from models.manifest import FORMAT, CodeFacts, IndexEntry, Manifest, PublishedFile, SourceFacts

MANIFEST = Manifest(
    name="people",
    version=3,
    rows=70,
    files=(PublishedFile(path="synthetic.csv", sha256="ab" * 32, bytes=1_234),),
    source=SourceFacts(kind="csv", rows=100, training_rows=70, holdout_rows=30, version="cd" * 32),
    spec_digest="0" * 64,
    schema_digest="1" * 64,
    seed_commitment="2" * 64,
    partition={"parts": []},
    generators={"all": {"kind": "marginal"}},
    join={"settings": {"kind": "shuffled"}},
    verdict="pass",
    reason="all passed",
    code=CodeFacts(version="0.1.0", revision=None, modified=False, digest="3" * 64, packages={"numpy": "2.4"}),
    columns=(ColumnTrace(name="age", kind="integer", role="plain", dtype="int64", treatment="drawn by a generator"),),
)


def test_a_manifest_comes_back_from_its_json():
    assert Manifest.model_validate_json(MANIFEST.model_dump_json()) == MANIFEST
    assert MANIFEST.format == FORMAT == 1


def test_without_a_privacy_budget_it_says_that_none_is_claimed():
    assert MANIFEST.epsilon is None
    assert MANIFEST.privacy_statement.startswith("No end-to-end differential privacy is claimed")


@pytest.mark.parametrize("change", [{"format": 2}, {"at": "2020-01-01"}, {"rows": "many"}, {"source": {"kind": "csv"}}])
def test_another_format_another_key_or_a_wrong_type_is_no_manifest(change):
    with pytest.raises(ValidationError):
        Manifest.model_validate({**MANIFEST.model_dump(mode="json"), **change})


def test_a_manifest_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        MANIFEST.verdict = "pass"


def test_no_field_is_there_for_a_time_a_run_or_a_hash_of_private_rows():
    assert set(SourceFacts.model_fields) == {"kind", "rows", "training_rows", "holdout_rows", "version"}
    assert not [name for name in Manifest.model_fields if "time" in name or "run" in name or "date" in name]


@pytest.mark.parametrize("line", ['{"version":1}', '{"version":1,"manifest":"a","before":"","more":1}', "[]", "1", "{"])
def test_what_lacks_something_or_has_something_else_is_no_entry_of_an_index(line):
    with pytest.raises(ValidationError):
        IndexEntry.model_validate_json(line)
