"""What is written comes back as it was: a level called No stays a level called No."""

import pytest

from models.errors import SpecError
from tasks.yaml_files import read_yaml, yaml_text

AWKWARD = [
    "No",
    "yes",
    "on",
    "07:30",
    "08",
    "00123",
    "1_000",
    "1e5",
    "0x1f",
    "2017-01-01",
    "null",
    "~",
    "",
    "true",
    ".5",
    " a ",
    "a: b",
    "#",
    "Ü",
]


def test_awkward_text_stays_text(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_text(yaml_text({"levels": AWKWARD}))
    assert read_yaml(path, "")["levels"] == AWKWARD


def test_numbers_booleans_and_nulls_stay_what_they_are(tmp_path):
    values = [0, -3, 1.5, 1e16, 1e-7, True, False, None]
    path = tmp_path / "f.yaml"
    path.write_text(yaml_text({"values": values}))
    back = read_yaml(path, "")["values"]
    assert back == values
    assert [type(value) for value in back] == [type(value) for value in values]


def test_what_people_write_without_quotes_means_what_they_see(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_text("levels: [No, 07:30, 08, 2017-01-01, 1e5, 5, 5.0, true, ~]\n")
    assert read_yaml(path, "")["levels"] == ["No", "07:30", "08", "2017-01-01", 1e5, 5, 5.0, True, None]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: [1,\nb: 2", "cannot be read as YAML at line"),
        ("- 1\n", "no mapping"),
        ("a: !!python/object:os.system {}", "cannot be read as YAML"),
    ],
)
def test_what_cannot_be_read_is_refused_without_quoting_it(tmp_path, text, complaint):
    path = tmp_path / "f.yaml"
    path.write_text(text)
    with pytest.raises(SpecError, match=complaint):
        read_yaml(path, "correct it")


def test_a_missing_file_is_refused_with_advice(tmp_path):
    with pytest.raises(SpecError, match=r"no such file or directory \(see init\)"):
        read_yaml(tmp_path / "none.yaml", "see init")


def test_a_key_that_is_written_twice_is_refused_by_name_and_place(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_text("rows: 1\nsplit:\n  holdout: 0.1\n  holdout: 0.2\n")
    with pytest.raises(SpecError, match="the key 'holdout' is written twice at line 4, column 3"):
        read_yaml(path, "")
