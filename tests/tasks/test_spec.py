"""Spec, schema and source are checked wholly and together, from files alone, before a row is read."""

import subprocess
import sys
from pathlib import Path

import pytest
from small_world import SCHEMA, SPEC, write_workspace

from models.errors import SpecError
from tasks.spec import load, load_all
from tasks.yaml_files import yaml_text

ROOT = Path(__file__).parent.parent.parent


def faults(spec):
    with pytest.raises(SpecError) as refusal:
        load(spec)
    return [str(fault) for fault in refusal.value.faults]


def test_a_plan_is_spec_schema_source_and_workspace(tmp_path):
    plan = load(write_workspace(tmp_path))
    assert (plan.spec.name, plan.schema.names[0], plan.source.kind) == ("people", "person", "parquet")
    assert plan.workspace.root == tmp_path.resolve()
    assert plan.source.read().num_rows == 600
    assert plan.expectations is None


def test_paths_are_relative_to_the_folder_of_the_spec_wherever_one_stands(tmp_path, monkeypatch):
    spec = write_workspace(tmp_path / "deep" / "down")
    monkeypatch.chdir(tmp_path)
    assert load(spec.relative_to(tmp_path)).source.read().num_rows == 600


def test_nothing_is_read_of_the_source_and_nothing_is_written(tmp_path):
    spec = write_workspace(tmp_path)
    (tmp_path / "people.parquet").unlink()
    assert load(spec).schema
    assert sorted(path.name for path in tmp_path.iterdir()) == ["schema.yaml", "spec.yaml"]


def test_all_faults_of_spec_schema_and_source_are_told_at_once(tmp_path):
    source = {"kind": "parquet", "pth": "people.parquet"}
    schema = {"columns": [{"name": "age", "kind": "integer", "dtype": "int64"}, {"name": "sex", "knid": "boolean"}]}
    told = "\n".join(faults(write_workspace(tmp_path, schema=schema, source=source, nmae="x")))
    for fault in (
        "nmae: unknown key (did you mean 'name'?", "'parquet'.pth: unknown key (did you mean 'path'?",
        "'parquet'.path: is missing", "kind integer needs bounds", "schema.columns.sex.knid: unknown key",
    ):  # fmt: skip
        assert fault in told


def test_what_spec_and_schema_ask_of_each_other_is_told_together(tmp_path):
    schema = {"columns": [*SCHEMA["columns"], {"name": "notes", "kind": "text", "dtype": "string"}]}
    parts = {"kind": "given", "parts": {"money": ["age", "incone"], "habits": ["age", "sex", "smoker"]}}
    told = faults(write_workspace(
        tmp_path, schema=schema, partition=parts, split={"entity": "patient"}, rows=100_001,
        generators={"mony": "cart"}, expectations="suite.json",
    ))  # fmt: skip
    for start in (
        "notes: free text is not synthesised (leave it out with 'include: false'",
        "part 'money': unknown column 'incone' (did you mean 'income'?",
        "age: stands in the parts 2 times", "visit: stands in no part", "income: stands in no part",
        "generators.mony: the partition has no such part (did you mean 'money'? valid: habits, money)",
        "split.entity: 'patient' is not a column", "person: its format numbers 100,000 rows at most",
        "expectations: no file 'suite.json' beside the spec",
    ):  # fmt: skip
        assert [fault for fault in told if fault.startswith(start)], start


def test_the_owners_suite_is_found_beside_the_spec(tmp_path):
    spec = write_workspace(tmp_path, expectations="suite.json")
    (tmp_path / "suite.json").write_text("{}")
    assert load(spec).expectations == tmp_path.resolve() / "suite.json"


@pytest.mark.parametrize("lacking", ["source", "schema", "name"])
def test_a_section_that_is_lacking_is_told(tmp_path, lacking):
    spec = write_workspace(tmp_path)
    spec.write_text(yaml_text({key: said for key, said in SPEC.items() if key != lacking}))
    assert any(lacking in fault for fault in faults(spec))


@pytest.mark.parametrize("content", [b"", b"- name\n", b"name: [\n", b"\xff\xfe\xff", b"a: !!python/name:os.system\n"])
def test_a_spec_or_schema_that_is_no_mapping_or_no_yaml_is_refused_by_its_name(tmp_path, content):
    spec = write_workspace(tmp_path)
    (tmp_path / "schema.yaml").write_bytes(content)
    assert any("schema.yaml" in fault for fault in faults(spec))
    spec.write_bytes(content)
    assert [fault for fault in faults(spec) if "spec.yaml" in fault]


def test_a_spec_or_schema_that_is_not_there_is_refused_with_advice(tmp_path):
    assert "no such file or directory (see 'parquetry init')" in faults(tmp_path / "none.yaml")[0]
    spec = write_workspace(tmp_path)
    (tmp_path / "schema.yaml").unlink()
    assert "(write it with 'parquetry init')" in faults(spec)[0]
    spec.unlink()
    spec.mkdir()
    assert "is a directory" in faults(spec)[0]


def test_the_faults_of_several_specs_are_told_together_each_with_its_file(tmp_path):
    one, two = write_workspace(tmp_path / "one"), write_workspace(tmp_path / "two", name="others")
    assert [plan.spec.name for plan in load_all([one, two])] == ["people", "others"]
    write_workspace(tmp_path / "two")
    with pytest.raises(SpecError, match="'people' is the name of 2 of these specs") as refusal:
        load_all([one, two])
    assert [fault.where for fault in refusal.value.faults] == [f"{one}: name", f"{two}: name"]
    for spec in (one, two):
        write_workspace(spec.parent, generator="crat")
    with pytest.raises(SpecError) as refusal:
        load_all([one, two])
    assert [fault.where for fault in refusal.value.faults] == [f"{one}: generator", f"{two}: generator"]


def test_checking_is_free_of_servers_warehouses_and_data_frames(tmp_path):
    heavy = {"prefect", "great_expectations", "dvc", "pandas", "duckdb", "sklearn", "torch"}
    code = (
        "import sys; from pathlib import Path; from tasks.spec import load; load(Path(sys.argv[1]));"
        f"print(*({heavy} & sys.modules.keys()))"
    )
    spec = str(write_workspace(tmp_path))
    ran = subprocess.run([sys.executable, "-c", code, spec], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_a_dtype_that_is_no_type_is_told_before_a_row_is_read(tmp_path):
    columns = [{**column, "dtype": "int46"} if column["name"] == "age" else column for column in SCHEMA["columns"]]
    told = faults(write_workspace(tmp_path, schema={"columns": columns}))
    assert any(fault.startswith("age: its dtype 'int46' is no type that a table can have") for fault in told)


def test_a_fault_of_a_column_is_told_by_the_columns_name(tmp_path):
    columns = [{**column, "kind": "integre"} if column["name"] == "age" else column for column in SCHEMA["columns"]]
    assert any(
        "schema.columns.age.kind" in fault for fault in faults(write_workspace(tmp_path, schema={"columns": columns}))
    )
