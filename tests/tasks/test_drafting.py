"""What ``init`` writes can be loaded as it is, whatever the table, and tells nobody's value."""

import datetime as dt
import subprocess
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.column_trace import treatment
from models.errors import ContractError, SourceError, SpecError, StateError
from models.schema import Column, Schema
from tasks.codec import encode
from tasks.drafting import schema_text, source_settings, spec_text, write_drafts
from tasks.profiles import draft
from tasks.sources.csv_ import AsWritten
from tasks.spec import load
from tasks.yaml_files import read_yaml, yaml_text

ROWS = 60
RNG = np.random.default_rng(5)
DAYS = pd.date_range("2020-01-01", periods=ROWS)
NUMBERS = RNG.normal(50, 10, ROWS).round(2)
GAPS = RNG.random(ROWS) < 0.25

AWKWARD = {
    "int64": pd.Series(RNG.integers(0, 10**6, ROWS)),
    "int with NaN": pd.Series(np.where(GAPS, np.nan, RNG.integers(0, 10**6, ROWS))),
    "Int64": pd.Series(RNG.integers(0, 10**6, ROWS)).astype("Int64").mask(GAPS),
    "float": pd.Series(NUMBERS),
    "Float64": pd.Series(NUMBERS).astype("Float64").mask(GAPS),
    "bool": pd.Series(RNG.random(ROWS) < 0.5),
    "boolean": pd.Series(RNG.random(ROWS) < 0.5).astype("boolean").mask(GAPS),
    "object": pd.Series(RNG.choice(["a", "b"], ROWS), dtype=object),
    "string": pd.Series(RNG.choice(["a", "b"], ROWS), dtype="string").mask(GAPS),
    "category": pd.Series(RNG.choice(["a", "b"], ROWS)).astype("category"),
    "ordered category": pd.Series(pd.Categorical(RNG.choice(["lo", "hi"], ROWS), ["lo", "mid", "hi"], ordered=True)),
    "category of numbers": pd.Series(RNG.choice([1, 2], ROWS)).astype("category"),
    "datetime64[s]": pd.Series(DAYS.astype("datetime64[s]")),
    "datetime64[ns]": pd.Series((DAYS + pd.Timedelta("90ns")).astype("datetime64[ns]")),
    "datetime with NaT": pd.Series(DAYS).mask(GAPS),
    "datetime tz": pd.Series(DAYS.tz_localize("Europe/Berlin")),
    "date strings": pd.Series(DAYS.strftime("%d/%m/%Y")),
    "python date": pd.Series([day.date() for day in DAYS]),
    "python time": pd.Series([dt.time(row % 24, 30) for row in range(ROWS)]),
    "Decimal": pd.Series([Decimal(f"{number:.2f}") for number in NUMBERS]),
    "timedelta": pd.Series(pd.to_timedelta(RNG.integers(0, 10**6, ROWS), unit="s")),
    "leading zeros": pd.Series([f"{number:05d}" for number in range(ROWS)]),
    "near-unique names": pd.Series([f"person {chr(97 + row % 26)}{row}" for row in range(ROWS)]),
    "constant": pd.Series([7] * ROWS),
    "constant text": pd.Series(["same: text # here"] * ROWS),
    "all missing": pd.Series([np.nan] * ROWS),
    "all missing text": pd.Series([None] * ROWS, dtype="string"),
    "inf": pd.Series(np.where(np.arange(ROWS) == 3, np.inf, NUMBERS)),
    "wide range": pd.Series(10 ** RNG.uniform(-6, 9, ROWS)),
    "lists": pd.Series([[1, 2]] * ROWS),
    "bytes": pd.Series([b"x"] * ROWS),
}  # fmt: skip


def write(folder, table, name="table.parquet"):
    pq.write_table(table, folder / name)
    return str(folder / name)


def drafted(source, into, **said):
    return write_drafts(source, **{"table": None, "name": None, "into": into, "k": 10, "replace": False, **said})


@pytest.mark.parametrize("dtype", AWKWARD)
def test_every_dtype_is_drafted_so_that_it_loads_as_it_was_drafted(tmp_path, dtype):
    """An integer stands beside it, so that there is something to model."""
    table = pa.Table.from_pandas(pd.DataFrame({dtype: AWKWARD[dtype], "beside": RNG.integers(0, 10**6, ROWS)}))
    drafts = drafted(write(tmp_path, table), tmp_path)
    plan = load(drafts.spec)
    read = plan.source.read()
    assert plan.schema == draft(read, 10)[0]
    assert plan.schema[dtype].dtype == str(read[dtype].type)
    assert read.num_rows == ROWS


def test_frequent_dates_and_times_are_written_so_that_a_person_can_read_them_and_mean_the_same_when_read(tmp_path):
    often, places = dt.datetime(2020, 1, 31, 22), range(60)
    moments = [often if place < 20 else dt.datetime(2020, 1, 1 + place % 30, place % 24) for place in places]
    table = pa.table({
        "day": [moment.date() for moment in moments],
        "at": pa.array(moments, pa.timestamp("s")),
        "there": pa.array([moment.replace(tzinfo=dt.UTC) for moment in moments], pa.timestamp("us", "Europe/Berlin")),
        "clock": [moment.time() for moment in moments],
        "took": pa.array([5_400 if place < 20 else 60 * place for place in places], pa.duration("s")),
    })  # fmt: skip
    drafts = drafted(write(tmp_path, table), tmp_path)
    said = {column["name"]: column["peaks"] for column in read_yaml(drafts.schema, "")["columns"]}
    there = table["there"][0].as_py().replace(tzinfo=None).isoformat(timespec="minutes")
    assert said == {"day": ["2020-01-31"], "at": ["2020-01-31T22:00"], "there": [there],
                    "clock": ["22:00"], "took": [5400.0]}  # fmt: skip
    plan = load(drafts.spec)
    rows = plan.source.read()
    assert plan.schema == draft(rows, 10)[0]
    for column in plan.schema.columns:
        assert encode(rows, plan.schema)[column.name][0] == column.peak_numbers[0]


@pytest.mark.parametrize("rows", [1, 2, 20])
def test_small_tables_are_drafted_so_that_they_load(tmp_path, rows):
    table = pa.table({"age": RNG.integers(18, 90, rows) * 7, "score": RNG.normal(size=rows), "flag": [True] * rows})
    assert load(drafted(write(tmp_path, table), tmp_path).spec).schema.names == ("age", "score", "flag")


def test_a_wide_table_is_cut_into_parts_of_about_twenty_columns(tmp_path):
    table = pa.table({f"c{number}": RNG.normal(size=30) for number in range(65)})
    spec = load(drafted(write(tmp_path, table), tmp_path).spec).spec
    assert (spec.partition.parts, spec.join.kind, spec.generator.kind) == (3, "swap", "cart")


def test_free_text_is_drafted_and_refused_by_name_with_advice_when_it_is_loaded(tmp_path):
    notes = [f"patient {row} came with a cough and left with number {row}" for row in range(ROWS)]
    table = pa.table({"notes": notes + notes[:30], "age": RNG.integers(0, 99, ROWS + 30)})
    drafts = drafted(write(tmp_path, table), tmp_path)
    with pytest.raises(SpecError, match=r"notes: free text is not synthesised .leave it out with 'include: false'"):
        load(drafts.spec)


def test_a_table_of_identifiers_alone_is_drafted_and_told_when_it_is_loaded(tmp_path):
    drafts = drafted(write(tmp_path, pa.table({"id": list(range(ROWS))})), tmp_path)
    with pytest.raises(SpecError, match="none of its 1 columns can be modelled"):
        load(drafts.spec)


AWKWARD_NAMES = [
    "a\nb", "- a", "# a", "a # b", "a: b", "'a'", '"a"', "a\\b", " a ", "a\tb", "{a", "[a]", "*a", "&a", "!a", "|",
    ">", "%a", "@a", "`a", "?", "? a", ":", "-", "---", "...", "null", "No", "yes", "true", "1", "1e5", "07:30", "08",
    "2020-01-01", "~", "<<", "=", "ä ö", "名前", "😀", "a\u2028b", "a\x85b", "a\x07b", "\ufeffa", "a" * 200,
    "a b " * 60, "a,b", "x\r\ny",
]  # fmt: skip


def test_awkward_names_and_levels_survive_the_yaml(tmp_path):
    columns = tuple(
        Column(name=name, kind="categorical", dtype="string", levels=(*AWKWARD_NAMES, ""), unlisted="other", other=name)
        for name in AWKWARD_NAMES
    )
    schema = Schema(columns=columns)
    whys = {name: f"made anew as {name}#" for name in AWKWARD_NAMES}
    (tmp_path / "schema.yaml").write_text(schema_text("odd", schema, whys), encoding="utf-8", newline="")
    assert Schema.model_validate(read_yaml(tmp_path / "schema.yaml", "")) == schema


@settings(max_examples=60, deadline=None)
@given(name=st.text(min_size=1), levels=st.sets(st.text() | st.integers() | st.floats(allow_nan=False), max_size=4))
def test_any_name_and_any_level_survive_the_yaml(tmp_path_factory, name, levels):
    fields = {"kind": "categorical", "dtype": "string", "nullable": True}
    columns = Column(name=name, levels=tuple(levels), **fields), Column(name=f"{name}+", levels=(), **fields)
    schema = Schema(columns=columns)
    path = tmp_path_factory.mktemp("any") / "schema.yaml"
    path.write_text(schema_text("any", schema, {name: name, f"{name}+": ""}), encoding="utf-8", newline="")
    assert Schema.model_validate(read_yaml(path, "")) == schema


@pytest.mark.parametrize("name", AWKWARD_NAMES)
def test_an_awkward_name_of_an_entity_or_a_path_survives_the_spec(tmp_path, name):
    schema = Schema(columns=(
        Column(name=name, kind="identifier", role="identifier", dtype="string"),
        Column(name="age", kind="integer", dtype="int64", bounds=(0, 99)),
    ))  # fmt: skip
    text = spec_text("odd", {"kind": "csv", "path": f"{name}.csv"}, schema)
    (tmp_path / "spec.yaml").write_text(text, encoding="utf-8", newline="")
    (tmp_path / "data" / "schemas").mkdir(parents=True)
    (tmp_path / "data" / "schemas" / "odd.yaml").write_text(yaml_text(schema.model_dump(mode="json")), encoding="utf-8")
    plan = load(tmp_path / "spec.yaml")
    assert plan.spec.split.entity == name
    assert plan.spec.source["path"] == f"{name}.csv"


def test_what_fewer_than_k_rows_share_stands_in_no_file(tmp_path):
    """A level, an identifier's pattern, a number, a day and a long text of single people."""
    rows = 50
    table = pa.table({
        "ward": ["CANARY-WARD"] * 9 + ["common"] * (rows - 9),
        "name": [f"CANARY-NAME-{number:03d}x{number % 7}" for number in range(rows)],
        "income": [77_731.37, *RNG.normal(30_000, 5_000, rows - 1)],
        "visits": [77_731, *range(20, 19 + rows)],
        "born": [dt.date(1903, 7, 31)] + [dt.date(1970, 1, 1 + row % 28) for row in range(rows - 1)],
        "seen": [dt.datetime(2031, 7, 13, 4, 5, 6)] + [dt.datetime(2020, 1, 1, row % 24) for row in range(rows - 1)],
        "size": pa.array(["CANARY-SIZE"] + ["s", "m"] * 24 + ["m"]).dictionary_encode(),
    })  # fmt: skip
    drafted(write(tmp_path, table), tmp_path)
    files = {path: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.*") if path.suffix != ".parquet"}
    assert {path.name for path in files} == {"spec.yaml", "table.yaml", "spec.schema.json"}
    for canary in ("CANARY-WARD", "CANARY-SIZE", "77731", "77_731", "1903-07-31", "2031-07-13", "04:05:06"):
        assert not [path.name for path, text in files.items() if canary in text], canary


def test_a_pattern_of_few_rows_is_not_spelled_out(tmp_path):
    drafted(write(tmp_path, pa.table({"patient_id": ["CANARY-1", "CANARY-2"], "age": [31, 77]})), tmp_path)
    assert "CANARY" not in (tmp_path / "data" / "schemas" / "table.yaml").read_text(encoding="utf-8")


def test_the_drafts_say_of_each_column_what_will_happen_and_why(tmp_path):
    table = pa.table({"id": list(range(ROWS)), "ward": ["a"] * 40 + ["b"] * 15 + ["rare"] * 5})
    drafts = drafted(write(tmp_path, table), tmp_path)
    text = drafts.schema.read_text(encoding="utf-8")
    for column in drafts.columns:
        assert f"  # {column.why}; {column.treatment}\n" in text
        assert column.treatment == treatment(load(drafts.spec).schema[column.name], 10)
    assert (drafts.rows, [column.kind for column in drafts.columns]) == (ROWS, ["identifier", "categorical"])
    assert load(drafts.spec).spec.split.entity == "id"
    assert "k: 10 " in text


# Sources


def test_every_kind_of_source_is_drafted_so_that_it_loads_and_reads(tmp_path):
    table = pa.table({"age": RNG.integers(18, 90, ROWS), "sex": RNG.choice(["f", "m"], ROWS)})
    (tmp_path / "many").mkdir()
    write(tmp_path / "many", table.slice(0, 30), "1.parquet")
    write(tmp_path / "many", table.slice(30), "2.parquet")
    (tmp_path / "My Table.csv").write_text(table.to_pandas().to_csv(index=False))
    table.to_pandas().to_csv(tmp_path / "packed.csv.gz", index=False)
    with duckdb.connect(str(tmp_path / "house.duckdb")) as connection:
        connection.register("rows", table)
        connection.execute("CREATE TABLE visits AS SELECT * FROM rows")
    asked = dict.fromkeys(["many", "My Table.csv", "packed.csv.gz", "many/1*.parquet"]) | {"house.duckdb": "visits"}
    names = []
    for said, of in asked.items():
        drafts = drafted(str(tmp_path / said), tmp_path / "into" / str(len(names)), table=of)
        plan = load(drafts.spec)
        assert plan.source.read().num_rows == drafts.rows == (30 if "*" in said else ROWS)
        names.append(plan.spec.name)
    assert names == ["many", "my-table", "packed", "1", "visits"]


def test_paths_are_as_seen_from_the_folder_of_the_spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert source_settings("t.csv", None, Path("work"))["path"] == "../t.csv"
    assert source_settings("t.csv", None, Path())["path"] == "t.csv"


def test_a_servers_connection_is_named_never_written(tmp_path):
    said = source_settings("postgres:WAREHOUSE", "public.visits", tmp_path)
    assert said == {"kind": "postgres", "connection_env": "WAREHOUSE", "table": "public.visits"}
    schema = draft(pa.table({"age": [1, 5, 8]}), 10)[0]
    assert "  connection_env: WAREHOUSE\n  table: public.visits\n" in spec_text("visits", said, schema)


@pytest.mark.parametrize("said", ["postgres:WAREHOUSE", "house.duckdb"])
def test_a_warehouse_without_a_table_is_refused(tmp_path, said):
    with pytest.raises(SpecError, match=r"which table is not said .add --table NAME"):
        source_settings(said, None, tmp_path)


@pytest.mark.parametrize("said", ["table.xlsx", "postgres", "postgres:", "nowhere"])
def test_what_is_no_source_is_refused_with_advice(tmp_path, said):
    with pytest.raises(SpecError, match="is no CSV, Parquet or DuckDB file and no postgres:VARIABLE"):
        drafted(said, tmp_path)


def test_a_source_that_cannot_be_read_or_drafted_leaves_no_file(tmp_path):
    with pytest.raises(SourceError):
        drafted(str(tmp_path / "none.csv"), tmp_path / "into")
    with pytest.raises(ContractError, match="has no row"):
        drafted(write(tmp_path, pa.table({"a": pa.array([], pa.int64())})), tmp_path / "into")
    assert not (tmp_path / "into").exists()


def test_files_that_are_there_are_replaced_only_by_force(tmp_path):
    source = write(tmp_path, pa.table({"age": RNG.integers(18, 90, ROWS)}))
    drafts = drafted(source, tmp_path)
    drafts.spec.write_text("mine")
    with pytest.raises(SpecError) as refusal:
        drafted(source, tmp_path)
    assert [fault.where for fault in refusal.value.faults] == [str(drafts.spec), str(drafts.schema)]
    assert "use --force to replace it" in str(refusal.value)
    assert drafts.spec.read_text() == "mine"
    assert load(drafted(source, tmp_path, replace=True).spec)


@pytest.mark.parametrize("name", ["Has Space", "../up", "a/b", "", "ä", "a" * 64, "-a"])
def test_a_name_that_is_no_name_of_a_folder_is_refused_with_one_that_is(tmp_path, name):
    source = write(tmp_path, pa.table({"age": RNG.integers(18, 90, ROWS)}))
    if name:
        with pytest.raises(SpecError, match=r"--name: must be at most 63 lower-case letters, .* .for example"):
            drafted(source, tmp_path, name=name)
    else:
        assert drafted(source, tmp_path, name=name).schema.stem == "table"


@pytest.mark.parametrize("name", ["2020", "null", "true", "1e5", "no"])
def test_a_name_that_yaml_would_read_as_something_else_stays_a_name(tmp_path, name):
    source = write(tmp_path, pa.table({"age": RNG.integers(18, 90, ROWS)}), f"{name}.parquet")
    assert load(drafted(source, tmp_path).spec).spec.name == name


def test_what_must_not_be_overlooked_in_a_csv_is_warned_of_and_spelled_out(tmp_path):
    lines = [f"{20 + row * 3};{'NA' if row < 2 else 'x'};{row}%" for row in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["age;note;", *lines, ""]))
    with pytest.raises(SourceError, match="the delimiter seems to be ';'"):
        drafted(str(tmp_path / "t.csv"), tmp_path)
    drafts = drafted(str(tmp_path / "t.csv"), tmp_path, csv=AsWritten(";", "latin-1"))
    said = "\n".join(drafts.warnings)
    assert "unnamed_3: the header has no name for this column" in said
    assert "note: read as missing: 'NA' in 2 cells" in said
    assert "unnamed_3: LOOKS LIKE numbers with a % sign" in said
    source = read_yaml(drafts.spec, "")["source"]
    assert (source["delimiter"], source["encoding"]) == (";", "latin-1")
    assert {"", "NA", "#N/A"} <= set(source["null_values"])


def test_numbers_with_a_decimal_comma_are_read_as_numbers_where_that_is_said(tmp_path):
    (tmp_path / "t.csv").write_text("age;dose\n" + "".join(f"{20 + row};{row % 37},{row % 10}\n" for row in range(60)))
    drafts = drafted(str(tmp_path / "t.csv"), tmp_path, csv=AsWritten(";"))
    assert "numbers with a decimal comma are read as numbers with --decimal-point ','" in drafts.warnings
    drafts = drafted(str(tmp_path / "t.csv"), tmp_path, replace=True, csv=AsWritten(";", decimal_point=","))
    assert drafts.warnings == ()
    assert load(drafts.spec).schema["dose"].kind == "continuous"


def test_a_csv_without_anything_odd_has_no_warning_and_a_short_source(tmp_path):
    lines = [f"{20 + row % 7 * 3},{'ab'[row % 2]}" for row in range(400)]
    (tmp_path / "t.csv").write_text("\n".join(["age,ward", *lines, ""]))
    drafts = drafted(str(tmp_path / "t.csv"), tmp_path)
    assert drafts.warnings == ()
    assert set(read_yaml(drafts.spec, "")["source"]) == {"kind", "path"}


def test_a_tab_can_be_said(tmp_path):
    (tmp_path / "t.csv").write_text("age\tward\n" + "".join(f"{20 + row % 7}\t{'ab'[row % 2]}\n" for row in range(400)))
    drafts = drafted(str(tmp_path / "t.csv"), tmp_path, csv=AsWritten("\\t"))
    assert load(drafts.spec).source.read().column_names == ["age", "ward"]


@pytest.mark.parametrize("name", ["table.parquet", "*.parquet", "."])
def test_a_source_that_git_would_take_along_is_warned_of(tmp_path, name):
    (tmp_path / "in").mkdir()
    write(tmp_path / "in", pa.table({"age": RNG.integers(18, 90, ROWS)}))
    said = str(tmp_path / "in" / name)

    def warnings():
        return "".join(drafted(said, tmp_path / "into", replace=True).warnings)

    assert "git" not in warnings()
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    assert "lies in a git repository that does NOT IGNORE it" in warnings()
    assert "add it to .gitignore" in warnings()
    subprocess.run([*git, "add", "in"], check=True)
    assert "is TRACKED BY GIT" in warnings()
    subprocess.run([*git, "rm", "-rq", "--cached", "in"], check=True)
    (tmp_path / ".gitignore").write_text("/in/\n")
    assert "git" not in warnings()


def test_a_place_that_takes_no_files_is_told_before_the_source_is_read(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match=r"spec\.yaml: cannot be written: a file stands where a folder should be"):
        drafted(str(tmp_path / "none.csv"), tmp_path / "file")


def test_how_a_csv_is_written_is_not_said_of_other_files(tmp_path):
    with pytest.raises(SpecError, match="--delimiter: is for CSV files"):
        drafted(write(tmp_path, pa.table({"age": [1]})), tmp_path, csv=AsWritten(";"))
