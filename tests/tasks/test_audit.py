"""The audit looks at what ingest froze and at what will be published, and at anybody's tables by column names."""

import datetime as dt
import logging
import shutil
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from small_world import copied, run_stages

from models.errors import AuditError, ContractError, SourceError, SpecError, StateError
from models.schema import Role
from tasks.audit import alike, audit_files, in_words, read_audit
from tasks.sources.csv_ import AsWritten
from tasks.spec import load
from tasks.stages import AUDIT
from tasks.store import canonical, read_json, read_table, sha256_of, write_json, write_table

CANARY = "CANARY-2718"

# The stage


@pytest.fixture
def plan(workspace):
    """The plan of a copy of the finished workspace that a test may change."""
    return load(workspace)


@pytest.mark.parametrize("table", ["train", "holdout"])
def test_rows_that_ingest_did_not_freeze_are_not_audited(plan, crew, table):
    path = plan.workspace.raw / f"{table}.parquet"
    write_table(read_table(path).slice(1), path)
    with pytest.raises(AuditError, match=rf"{table}\.parquet: is not the table that was ingested .run the ingest"):
        run_stages(plan.path, crew, (AUDIT,))


def test_rows_that_the_synthesis_did_not_learn_from_are_not_audited(plan, crew):
    workspace = plan.workspace
    write_table(read_table(workspace.train).slice(1), workspace.train)
    intake = read_json(workspace.intake)
    write_json({**intake, "hashes": {**intake["hashes"], "train": sha256_of(workspace.train)}}, workspace.intake)
    with pytest.raises(AuditError, match="training rows: are not those that the synthesis learned from"):
        run_stages(plan.path, crew, (AUDIT,))


def test_what_is_audited_is_what_is_published(plan, crew):
    """The findings follow the file that the release stage would publish."""
    copied = read_table(plan.workspace.train)
    names = read_table(plan.workspace.synthetic)["person"]
    write_table(copied.add_column(0, "person", names), plan.workspace.synthetic)
    run_stages(plan.path, crew, (AUDIT,))
    said = read_audit(plan)
    assert said["verdict"] == "fail"
    assert said["rows"] == {"training": 420, "holdout": 180, "synthetic": 420}


def test_of_divided_rows_copies_and_membership_are_told_of_each_cluster_and_gated_of_all(clustered):
    said = read_audit(clustered)
    assert said["verdict"] == "pass"
    of_clusters = [finding for finding in said["findings"] if finding["where"].startswith("cluster-")]
    assert {(finding["name"], finding["where"]) for finding in of_clusters} == {
        (name, where)
        for name in ("Exact copies", "Near copies", "Closer to training rows", "Membership attack")
        for where in ("cluster-1", "cluster-2")
    }
    assert {finding["verdict"] for finding in of_clusters} == {None}
    assert all(finding["estimate"] is not None for finding in of_clusters)


def test_another_assignment_than_the_audited_one_is_found(clustered, tmp_path):
    plan = load(copied(clustered, tmp_path))
    rows = np.load(plan.workspace.assignment, allow_pickle=False)
    np.save(plan.workspace.assignment, 1 - rows, allow_pickle=False)
    with pytest.raises(AuditError, match=r"interim/partition/rows.npy: is not what was audited"):
        read_audit(plan)


def test_a_synthetic_table_that_breaks_the_schema_is_not_audited(plan, crew):
    table = read_table(plan.workspace.synthetic)
    write_table(table.set_column(1, "age", pa.array([101] * 420)), plan.workspace.synthetic)
    with pytest.raises(ContractError, match="age: 420 cells outside the bounds"):
        run_stages(plan.path, crew, (AUDIT,))


def test_the_report_tells_how_the_rows_were_joined_without_levels_of_facts(finished):
    said = read_audit(finished)
    assert said["join"] == {
        "kind": "shuffled", "asked": 420, "rows": 420, "shortfall": 0, "proposed": 420, "accepted": 420,
    }  # fmt: skip
    assert [part["generator"] for part in said["parts"]] == ["marginal", "marginal"]


def test_the_rules_of_the_schema_are_audited(plan, crew):
    schema = plan.path.parent / "schema.yaml"
    schema.write_text(schema.read_text() + "rules:\n  - {lower: income, upper: age}\n")
    run_stages(plan.path, crew, (AUDIT,))
    found = {f["where"]: f for f in read_audit(load(plan.path))["findings"] if f["name"] == "Broken rules"}
    assert found["income <= age"]["estimate"] > 0.8


def test_an_audit_that_was_never_made_cannot_be_read(plan):
    shutil.rmtree(plan.workspace.audit)
    with pytest.raises(StateError, match=r"audit\.html: no such file .*; audit\.json: no such file .run the stage"):
        read_audit(plan)


def test_an_audit_of_another_file_cannot_be_read(plan):
    plan.workspace.division.write_bytes(canonical({}))
    with pytest.raises(AuditError, match=r"interim/partition/partition\.json: is not what was audited"):
        read_audit(plan)


# Anybody's table


def crowd(rows, seed):
    """People with an identifier and columns of several types."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    return pa.table({
        "id": np.arange(rows),
        "age": age,
        "sex": rng.choice(["f", "m"], rows),
        "income": np.round(500 * age + rng.normal(20_000, 8_000, rows), 2),
        "smoker": rng.random(rows) < 0.3,
        "day": pa.array((18_262 + rng.integers(0, 700, rows)).astype("int32"), pa.date32()),
        "at": pa.array(1_600_000_000 + rng.integers(0, 10**7, rows)).cast(pa.timestamp("s")),
        "ward": pa.array(rng.choice(["x", "y", "z"], rows)).dictionary_encode(),
    })  # fmt: skip


REAL, DRAWN, UNSEEN = crowd(200, 1), crowd(200, 2), crowd(150, 3)


@pytest.fixture
def audited(tmp_path):
    """Write tables (as ``real``, ``drawn`` and ``unseen``) and audit them: what is said of them."""

    def write(name, table, kind):
        path = tmp_path / f"{name}.{kind}"
        if kind == "csv":
            pc.write_csv(table.set_column(7, "ward", table["ward"].cast(pa.string())) if "ward" in table.column_names
                         else table, path)  # fmt: skip
        elif kind == "pandas.csv":
            table.to_pandas().to_csv(path, index=False)
        else:
            pq.write_table(table, path)
        return path

    def audit(real=REAL, drawn=DRAWN, unseen=UNSEEN, kinds=("parquet", "parquet", "parquet"), roles=None):
        files = [None if table is None else write(name, table, kind) for name, table, kind in
                 zip(("real", "drawn", "unseen"), (real, drawn, unseen), kinds, strict=True)]  # fmt: skip
        return audit_files(*files, roles=roles, report=tmp_path / "report" / "audit.html")

    return audit


def findings(said, measure):
    return [finding for finding in said["findings"] if finding["measure"] == measure]


def refusal(kind, audited, **tables):
    with pytest.raises(kind) as error:
        audited(**tables)
    assert CANARY not in str(error.value)
    return str(error.value)


def test_a_table_of_other_people_does_not_fail_and_its_report_is_written(audited, tmp_path):
    said = audited()
    assert said["verdict"] == "inconclusive"
    assert (said["rows"], said["columns"]) == ({"training": 200, "holdout": 150, "synthetic": 200}, 7)
    assert said["name"] in (tmp_path / "report" / "audit.html").read_text(encoding="utf-8")


def test_a_table_of_many_other_people_passes(audited):
    def many(seed):
        rng = np.random.default_rng(seed)
        size = rng.normal(170, 10, 4_000)
        return pa.table({"size": size, "weight": size - 100 + rng.normal(0, 8, 4_000), "age": rng.normal(50, 9, 4_000)})

    assert audited(many(1), many(2), many(3))["verdict"] == "pass"


def test_a_copy_of_the_real_table_fails_though_its_identifiers_and_the_order_of_its_rows_are_others(audited):
    rng = np.random.default_rng(0)
    copied = REAL.take(rng.permutation(200)).set_column(0, "id", pa.array(rng.permutation(200)))
    said = audited(drawn=copied)
    assert said["verdict"] == "fail"
    assert findings(said, "copies")[0]["shown"] == 1.0


def test_columns_are_matched_by_name_whatever_their_order(audited):
    turned = DRAWN.select(DRAWN.column_names[::-1])
    assert audited(drawn=turned)["findings"] == audited()["findings"]


@pytest.mark.parametrize(
    "kinds", [("csv", "csv", "csv"), ("parquet", "csv", "pandas.csv"), ("pandas.csv", "parquet", "csv")]
)
def test_csv_and_parquet_may_stand_side_by_side(audited, kinds):
    """Figures that rest on how ties fall, or on what a learner drew, may move within their intervals with a column's
    inner form.
    """
    found, usual = audited(kinds=kinds)["findings"], audited()["findings"]
    assert [finding["title"] for finding in found] == [finding["title"] for finding in usual]
    for one, other in zip(found, usual, strict=True):
        width = 0 if other["low"] is None else other["high"] - other["low"]
        assert one["shown"] == pytest.approx(other["shown"], abs=max(0.03, width / 2)), one["title"]
    for measure in ("copies", "marginals"):
        assert findings({"findings": found}, measure) == findings({"findings": usual}, measure)


def test_columns_that_are_missing_or_extra_are_one_fault_of_their_table_with_what_may_be_a_slip(audited):
    drawn = DRAWN.drop_columns(["sex"]).rename_columns({"income": "incone", "age": "AGE"})
    with pytest.raises(SpecError) as error:
        audited(drawn=drawn, unseen=UNSEEN.append_column(CANARY.lower(), UNSEEN["age"]))
    assert [(fault.where, fault.found) for fault in error.value.faults] == [
        (
            "synthetic table",
            "lacks 3 columns of the real table: 'age' (is it 'AGE'?), 'sex', 'income' (is it 'incone'?); "
            "has 2 others: 'AGE', 'incone'",
        ),
        ("holdout table", "has 1 other: 'canary-2718'"),
    ]


def test_of_many_columns_that_differ_the_first_are_named_and_the_rest_counted():
    wide = {f"c{number:02d}": [1] for number in range(14)}
    with pytest.raises(SpecError) as error:
        alike({"real": pa.table(wide), "synthetic": pa.table({"c00": [1], "d": [1]})})
    (fault,) = error.value.faults
    assert "lacks 13 columns of the real table: 'c01', 'c02'," in fault.found
    assert "'c10' and 3 more; has 1 other: 'd'" in fault.found


@pytest.mark.parametrize(("verdict", "group", "words"), [
    ("pass", "set-up", "passes"), ("fail", "linking", "leaks"), ("fail", "fidelity", "too unlike the real table"),
    ("inconclusive", "singling-out", "not shown to be safe"), ("invalid", "set-up", "cannot be judged by these tables"),
])  # fmt: skip
def test_a_verdict_says_what_it_means_to_someone_who_did_not_make_the_table(verdict, group, words):
    assert in_words({"verdict": verdict, "findings": [{"group": group, "verdict": verdict}]}) == words


def test_a_report_never_takes_the_place_of_a_table_or_of_a_folder(tmp_path):
    for name in ("real.parquet", "drawn.parquet"):
        pq.write_table(REAL, tmp_path / name)
    files = tmp_path / "real.parquet", tmp_path / "drawn.parquet"
    before = files[1].read_bytes()
    with pytest.raises(SpecError, match=r"drawn\.parquet: is the synthetic table itself"):
        audit_files(*files, None, report=tmp_path / "." / "drawn.parquet")
    with pytest.raises(StateError, match="cannot be written: is a folder"):
        audit_files(*files, None, report=tmp_path)
    assert files[1].read_bytes() == before


def test_the_delimiter_and_the_encoding_are_those_of_all_csv_files(tmp_path):
    for name, table in (("real", REAL), ("drawn", DRAWN)):
        frame = table.drop_columns(["ward"]).to_pandas()
        frame.rename(columns={"sex": "Geschlecht é"}).to_csv(tmp_path / f"{name}.csv", sep=";", encoding="latin-1")
    files = tmp_path / "real.csv", tmp_path / "drawn.csv"
    said = audit_files(*files, None, report=tmp_path / "r.html", csv=AsWritten(";", "latin-1"))
    assert "Geschlecht é" in str(said["findings"])
    pq.write_table(REAL, tmp_path / "real.parquet")
    with pytest.raises(SpecError, match="--encoding: is for CSV files"):
        audit_files(
            *[tmp_path / "real.parquet"] * 2,
            None,
            report=tmp_path / "r.html",
            csv=AsWritten(encoding="utf8"),
        )


def test_text_in_the_place_of_numbers_is_refused_without_quoting_it(audited):
    told = refusal(SpecError, audited, drawn=DRAWN.set_column(1, "age", pa.array([CANARY] * 200)))
    assert "age: is kept in types of different sorts (real: int64, synthetic: string, holdout: int64)" in told


def test_levels_numbers_and_gaps_that_the_real_table_does_not_have_are_looked_at(audited):
    strange = DRAWN.set_column(2, "sex", pa.array(["new", None] * 100))
    strange = strange.set_column(3, "income", pa.array([1e9, None] * 100))
    worst = findings(audited(drawn=strange), "marginals")[0]
    assert worst["verdict"] == "fail"


def test_infinite_numbers_are_refused_by_column_and_count(audited):
    told = refusal(ContractError, audited, drawn=DRAWN.set_column(3, "income", pa.array([float("inf")] + [1.0] * 199)))
    assert "income: 1 cell infinite" in told


def test_one_synthetic_row_is_audited_and_none_is_refused(audited):
    assert audited(drawn=DRAWN.slice(0, 1))["rows"]["synthetic"] == 1
    assert "synthetic table: has no row" in refusal(AuditError, audited, drawn=DRAWN.slice(0, 0))
    assert "real table: has no row" in refusal(AuditError, audited, real=REAL.slice(0, 0))
    assert audited(real=REAL.slice(0, 1))["verdict"] != "pass"


def test_without_held_out_rows_nothing_passes(audited):
    for unseen in (None, UNSEEN.slice(0, 0)):
        said = audited(unseen=unseen)
        assert (said["verdict"], said["rows"]["holdout"]) == ("inconclusive", 0)


def test_a_target_is_what_models_are_asked_to_predict(audited):
    assert {finding["where"] for finding in findings(audited(roles={Role.TARGET: ["income"]}), "usefulness")} == {
        "income"
    }


def test_a_target_that_is_not_there_or_cannot_be_audited_is_refused(audited):
    told = refusal(SpecError, audited, roles={Role.TARGET: ["incone", "id"]})
    assert "no column 'incone' is audited (did you mean 'income'?" in told
    assert "no column 'id' is audited" in told


def test_a_sensitive_column_is_what_an_attacker_is_after(audited):
    def attacked(roles):
        return {finding["where"] for finding in findings(audited(roles=roles), "inference")}

    assert "income" not in attacked({Role.QUASI_IDENTIFIER: ["income"]})
    assert "income" in attacked({Role.SENSITIVE: ["income"], Role.QUASI_IDENTIFIER: ["age"]})


def test_a_column_has_one_role(audited):
    told = refusal(SpecError, audited, roles={Role.SENSITIVE: ["income"], Role.TARGET: ["income"]})
    assert told == "income: is given 2 roles (give each column one of them)"


def test_identifiers_are_left_out_and_the_log_says_so(audited, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("parquetry"), "propagate", True)
    audited()
    assert "'id' is left out of the audit: identifier" in caplog.text


def test_a_table_of_identifiers_alone_is_refused(audited):
    told = refusal(AuditError, audited, real=REAL.select(["id"]), drawn=DRAWN.select(["id"]), unseen=None)
    assert "none of the 1 columns can be audited" in told


def test_a_file_that_is_none_or_of_another_kind_is_refused(tmp_path):
    pq.write_table(REAL, tmp_path / "real.parquet")
    with pytest.raises(SourceError, match=r"none\.parquet: no such file"):
        audit_files(tmp_path / "real.parquet", tmp_path / "none.parquet", None, report=tmp_path / "r.html")
    with pytest.raises(SpecError, match="is no CSV or Parquet file by its name"):
        audit_files(tmp_path / "real.xlsx", tmp_path / "real.parquet", None, report=tmp_path / "r.html")


def test_no_cell_of_the_real_table_stands_in_the_report(audited, tmp_path):
    marked = REAL.set_column(2, "sex", pa.array([CANARY] + ["f"] * 199)).set_column(
        3, "income", pa.array([77_731.37, *[float(number) for number in range(199)]])
    )
    audited(real=marked)
    page = (tmp_path / "report" / "audit.html").read_text(encoding="utf-8")
    assert CANARY not in page
    assert "77731.37" not in page.replace(",", "")


def together(one, other):
    return alike({"real": pa.table({"x": one}), "synthetic": pa.table({"x": other})})["real"]["x"].type


DAY, NOON = dt.date(2020, 1, 31), dt.datetime(2020, 1, 31, 12)


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        (pa.array([1]), pa.array([1.5]), pa.float64()),
        (pa.array([2**60 + 1]), pa.array([1.5]), pa.float64()),
        (pa.array([1], pa.int8()), pa.array([300]), pa.int64()),
        (pa.array([Decimal("1.5")]), pa.array([1]), pa.float64()),
        (pa.array([1]), pa.nulls(1), pa.int64()),
        (pa.array(["a"]).dictionary_encode(), pa.array(["b"], pa.large_string()), pa.large_string()),
        (pa.array(["2020-01-31"]), pa.array([DAY]), pa.date32()),
        (pa.array(["2020-01-31 12:00:00"]), pa.array([NOON]), pa.timestamp("us")),
        (pa.array([DAY]), pa.array([NOON]), pa.timestamp("us")),
        (pa.array(["True", None]), pa.array([False, None]), pa.bool_()),
        (*[pa.array(["a"]).dictionary_encode()] * 2, pa.dictionary(pa.int32(), pa.string())),
    ],
)
def test_types_of_one_sort_become_the_one_that_holds_both(one, other, kind):
    assert together(one, other) == kind
    assert together(other, one) == kind


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.array([1]), pa.array([CANARY])),
        (pa.array([True]), pa.array([1])),
        (pa.array([DAY]), pa.array([CANARY])),
        (pa.array([True]), pa.array([CANARY])),
        (pa.array([dt.timedelta(1)]), pa.array([1])),
        (pa.array([NOON], pa.timestamp("us", "UTC")), pa.array([NOON])),
        (pa.array([10**15]).cast(pa.timestamp("s")), pa.array([1]).cast(pa.timestamp("ns"))),
    ],
)
def test_types_of_different_sorts_are_refused(one, other):
    with pytest.raises(SpecError, match="x: is kept in types of different sorts") as refusal:
        together(one, other)
    assert CANARY not in str(refusal.value)
