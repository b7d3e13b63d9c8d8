"""A DataFrame goes in and one of the same columns and dtypes comes out; what is impossible is refused by name."""

import logging

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_world import write_workspace
from typer.testing import CliRunner

from flows.cli import app
from models import generators
from models.errors import ContractError, SpecError, StateError
from tasks.csv_files import same_rows
from tasks.sources.csv_ import AsWritten, Csv
from tasks.store import read_table
from tasks.trial import WARNING, drafted, recipe, synthesize, synthesize_file

ROWS = 80


def frame(rows=ROWS):
    rng = np.random.default_rng(3)
    return pd.DataFrame({
        "id": [f"P-{number:03d}" for number in range(rows)],
        "age": rng.integers(18, 90, rows),
        "sex": pd.Categorical(rng.choice(["f", "m"], rows), ["f", "m", "x"]),
        "income": pd.Series(rng.normal(30_000, 5_000, rows).round(2)).mask(rng.random(rows) < 0.2),
        "seen": pd.date_range("2020-01-01", periods=rows, tz="Europe/Berlin"),
        7: pd.array(rng.random(rows) < 0.5, dtype="boolean"),
    })  # fmt: skip


@pytest.mark.parametrize("generator", generators.catalog.kinds())
@pytest.mark.parametrize("rows", [0, 1, 33, None])
def test_columns_dtypes_and_number_of_rows_are_as_asked(generator, rows):
    made = synthesize(frame(), generator=generator, rows=rows, seed=1)
    pd.testing.assert_series_equal(made.dtypes.drop("sex"), frame().dtypes.drop("sex"))
    assert list(made["sex"].cat.categories) == ["f", "m", "x"]
    assert len(made) == (ROWS if rows is None else rows)


@pytest.mark.parametrize("join", ["concatenation", "resample", "shuffled", "swap", "validated"])
def test_several_parts_are_joined(join):
    assert synthesize(frame(), parts=3, join=join, rows=20, seed=1).shape == (20, 6)


def test_several_clusters_are_put_below_one_another():
    assert synthesize(frame(200), clusters=3, rows=20, seed=1).shape == (20, 6)
    assert synthesize(frame(200), clusters=3, seed=1).equals(synthesize(frame(200), clusters=3, seed=1))


def test_columns_and_rows_cannot_both_be_divided_nor_clusters_be_joined_as_parts_are():
    with pytest.raises(SpecError, match=r"3 parts of columns and 2 clusters of rows .divide either columns or rows"):
        synthesize(frame(), parts=3, clusters=2)
    with pytest.raises(SpecError, match="'validated' cannot join clusters of rows"):
        synthesize(frame(), clusters=2, join="validated")


def test_a_seed_makes_it_repeatable_and_without_one_it_never_is():
    assert synthesize(frame(), seed=1).equals(synthesize(frame(), seed=1))
    assert not synthesize(frame(), seed=1).equals(synthesize(frame(), seed=2))
    assert not synthesize(frame()).equals(synthesize(frame()))


def test_identifiers_are_made_anew_and_levels_that_few_rows_share_do_not_come_out():
    people = frame()
    people["id"] = [f"CANARY-{number:03d}" for number in range(500, 500 + ROWS)]
    people["ward"] = ["common"] * (ROWS - 3) + ["CANARY"] * 3
    made = synthesize(people, seed=1)
    assert made["id"].tolist()[:2] == ["CANARY-001", "CANARY-002"]
    assert set(made["ward"]) <= {"common", "(rare)"}
    assert "CANARY" in set(synthesize(people, seed=1, k=3)["ward"])


def refusal(kind=SpecError, data=None, **said):
    with pytest.raises(kind) as error:
        synthesize(frame() if data is None else data, **said)
    return str(error.value)


def test_what_is_impossible_is_refused_by_name():
    assert "6 parts for 5 columns (ask for at most 5 parts)" in refusal(parts=6)
    assert "'clustered'.parts" in refusal(parts=0)
    assert "unknown kind 'crat' (did you mean 'cart'?" in refusal(generator="crat")
    assert "unknown kind 'shufled' (did you mean 'shuffled'?" in refusal(join="shufled")
    assert "rows: -1 rows cannot be made" in refusal(rows=-1)
    assert "id: its format numbers 1,000 rows at most, 1,001 are asked for" in refusal(rows=1_001)


def test_all_that_cannot_be_made_is_told_at_once():
    told = refusal(generator="marginal", parts=6, join="conditional", rows=1_001)
    assert "6 parts for 5 columns" in told
    assert "generators.part-2: 'marginal' cannot draw a part given others" in told
    assert "1,001 are asked for" in told


def test_a_wrong_kind_is_told_before_the_rows_are_looked_at():
    assert "generator" in refusal(data="no frame at all", generator="crat")


def test_free_text_is_refused_with_advice():
    people = frame(60)
    people["notes"] = [f"a long story number {number % 40} of what had happened" for number in range(60)]
    assert "notes: free text is not synthesised (drop it, or run 'parquetry init'" in refusal(data=people)


@pytest.mark.parametrize("columns", [{"id": range(50)}, {"same": [1] * 50}, {"id": range(50), "gone": [None] * 50}])
def test_a_table_with_nothing_to_learn_is_refused(columns):
    told = refusal(data=pd.DataFrame(columns))
    assert f"none of its {len(columns)} columns can be modelled" in told


@pytest.mark.parametrize("data", [frame(0), pd.DataFrame()])
def test_a_table_without_rows_is_refused(data):
    assert "table: has no row" in refusal(ContractError, data=data)


@pytest.mark.parametrize("rows", [1, 2])
def test_one_or_two_rows_are_enough(rows):
    assert synthesize(frame(rows), rows=5, seed=1).shape == (5, 6)


# Files


@pytest.fixture
def source(tmp_path):
    people = frame().drop(columns=7)
    people["sex"] = people["sex"].cat.remove_unused_categories()
    people.to_parquet(tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


def from_file(source, target, **said):
    usual = {"spec": None, "generator": "cart", "parts": 2, "clusters": None, "join": None, "rows": None, "seed": 7}
    return synthesize_file(source, target, **{**usual, **said})


def test_the_file_the_call_and_the_command_make_the_same_rows(source, tmp_path):
    called = synthesize(pd.read_parquet(source), parts=2, seed=7)
    assert from_file(source, tmp_path / "file.parquet") == ROWS
    words = ["synthesize", str(source), str(tmp_path / "command.parquet"), "--parts", "2", "--seed", "7"]
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "file.parquet"), called)
    assert (tmp_path / "file.parquet").read_bytes() == (tmp_path / "command.parquet").read_bytes()


def test_types_come_back_and_the_parquet_file_carries_the_warning(source, tmp_path):
    from_file(source, tmp_path / "out.parquet", rows=5)
    made, real = pq.read_schema(tmp_path / "out.parquet"), pq.read_schema(source)
    assert made.equals(real)
    assert made.metadata[b"parquetry"].decode() == WARNING
    assert "NOT AUDITED" in WARNING


def test_csv_can_be_read_and_written(source, tmp_path):
    from_file(source, tmp_path / "out.parquet")
    from_file(source, tmp_path / "out.csv")
    assert same_rows(read_table(tmp_path / "out.parquet"), tmp_path / "out.csv")
    assert from_file(tmp_path / "out.csv", tmp_path / "again.csv", rows=3) == 3


def test_a_spec_gives_partition_generators_join_and_schema(workspace, tmp_path):
    source = workspace.parent / "people.parquet"
    assert from_file(source, tmp_path / "out.parquet", spec=workspace, rows=9, parts=99) == 9
    assert read_table(tmp_path / "out.parquet")["person"].to_pylist()[0] == "P-00001"


def test_rows_that_the_join_could_not_make_are_told(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("parquetry"), "propagate", True)
    never = {"kind": "validated", "threshold": {"kind": "fixed", "value": 1.0}, "rounds": 1, "draws": 1}
    dependent = {"kind": "given", "parts": {"age": ["age", "sex", "visit"], "income": ["income", "smoker"]}}
    spec = write_workspace(tmp_path, join=never, partition=dependent)
    assert from_file(tmp_path / "people.parquet", tmp_path / "out.parquet", spec=spec, rows=70) == 0
    assert "70 rows fewer than asked for: the join accepted no more" in caplog.text


def test_a_csv_is_read_as_it_is_said_or_as_the_spec_says_it_is_written(tmp_path):
    rows = "".join(f"{18 + row % 60};{row % 9},5;{'-' if row % 7 else 'é'}\n" for row in range(200))
    (tmp_path / "in.csv").write_text("age;dose;mark\n" + rows, encoding="latin-1")
    from_file(tmp_path / "in.csv", tmp_path / "out.parquet", csv=AsWritten(";", "latin-1"))
    assert read_table(tmp_path / "out.parquet")["dose"].type == pa.string()
    from_file(tmp_path / "in.csv", tmp_path / "OUT.CSV", csv=AsWritten(";", "latin-1", ","))
    assert Csv(path=str(tmp_path / "OUT.CSV")).read()["dose"].type == pa.float64()
    settings = {"delimiter": ";", "encoding": "latin-1", "decimal_point": ",", "null_values": ["-"]}
    source = {"kind": "csv", "path": "elsewhere.csv", **settings}
    columns = [
        {"name": "age", "kind": "integer", "dtype": "int64", "bounds": [0, 99]},
        {"name": "dose", "kind": "continuous", "dtype": "double", "bounds": [0, 10], "decimals": 1},
        {"name": "mark", "kind": "categorical", "dtype": "string", "levels": ["é"], "nullable": True},
    ]
    spec = write_workspace(tmp_path, schema={"columns": columns}, source=source, partition={"kind": "clustered"},
                           split={})  # fmt: skip
    from_file(tmp_path / "in.csv", tmp_path / "out.parquet", spec=spec)
    made = read_table(tmp_path / "out.parquet")
    assert (made["dose"].type, set(made["mark"].to_pylist())) == (pa.float64(), {"é", None})


def test_how_a_csv_is_written_is_not_said_of_other_files(source, tmp_path):
    with pytest.raises(SpecError, match="--delimiter: is for CSV files"):
        from_file(source, tmp_path / "out.parquet", csv=AsWritten(";"))


def test_what_was_made_never_lies_among_the_files_it_was_made_from(source, tmp_path):
    with pytest.raises(SpecError, match="would lie among the files of the source"):
        from_file(tmp_path, tmp_path / "made" / "out.parquet")
    with pytest.raises(StateError, match="cannot be written: is a folder"):
        (tmp_path / "taken.csv").mkdir()
        from_file(tmp_path / "none.parquet", tmp_path / "taken.csv")


def test_files_that_cannot_be_written_are_refused_before_anything_is_read(source, tmp_path):
    for name, told in (("out.xlsx", r"cannot write '\.xlsx' files"), ("out", "has no suffix that tells what to write")):
        with pytest.raises(SpecError, match=told):
            from_file(tmp_path / "none.parquet", tmp_path / name)
    with pytest.raises(SpecError, match="is the source itself"):
        from_file(source, tmp_path / "." / "in.parquet")


def test_the_short_form_keeps_together_what_belongs_together():
    how = recipe("marginal", 2, None, None)
    assert (how.partition.kind, how.join.kind, how.generator_of("part-2").kind) == ("clustered", "shuffled", "marginal")
    how = recipe("marginal", 1, 3, None)
    assert (how.partition.kind, how.join.kind, how.partition.names()[-1]) == ("kmeans", "concatenation", "cluster-3")


def test_the_drafted_schema_is_that_of_the_table():
    assert drafted(pa.table({"age": [31, 42, 57], "flag": [True, False, True]}), 2).names == ("age", "flag")
