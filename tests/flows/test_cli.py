"""The command line: what each command prints, its exit codes, and what it does not import."""

import json
import logging
import resource
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import CommandLine, environment
from small_world import CANARY_INCOME, CANARY_NAME, people, run_stages, write_workspace

from flows.cli import INTERRUPTED, app, main
from tasks.spec import load
from tasks.stages import STAGES

COMMANDS = [command.name or command.callback.__name__ for command in app.registered_commands]
HEAVY = {"prefect", "great_expectations", "dvc", "pandas", "sklearn", "scipy", "torch", "duckdb"}


@pytest.fixture(autouse=True)
def _its_own_log():
    """The command line sets the log up; the tests that follow find it as it was."""
    log = logging.getLogger("parquetry")
    before = log.handlers, log.propagate
    yield
    log.handlers, log.propagate = before


@pytest.fixture
def say(monkeypatch, capsys):
    """Calls ``parquetry`` in this process; its exit code, standard output and standard error."""
    monkeypatch.setenv("COLUMNS", "200")

    def called(*words):
        monkeypatch.setattr(sys, "argv", ["parquetry", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return called


def test_every_command_has_help_that_says_what_it_is_for(say):
    for command in COMMANDS:
        code, out, _ = say(command, "--help")
        assert code == 0
        assert f"{command} [OPTIONS]" in out
    code, out, _ = say("--help")
    assert code == 0
    assert all(command in out for command in COMMANDS)
    assert "8 withheld by the audit" in out


def test_check_of_a_sound_spec(say, finished):
    code, out, _ = say("check", finished.path)
    assert (code, out.strip()) == (0, "people: spec and schema are sound (6 columns, 5 modelled).")
    code, out, _ = say("check", finished.path, "--json")
    said = json.loads(out)
    assert (code, said["ok"], said["columns"], said["digest"]) == (0, True, 6, finished.spec.digest())


def test_all_faults_of_a_spec_are_told_at_once_and_standard_output_stays_empty(say, tmp_path):
    spec = write_workspace(tmp_path, join="shufled", rows=-5)
    code, out, err = say("check", spec, "--json")
    assert (code, out) == (3, "")
    assert "cannot be followed" in err
    assert "did you mean 'shuffled'?" in err
    assert "rows must lie between 1 and 1,000,000,000, not at -5" in err


def test_plan_shows_the_parts(say, finished):
    code, out, _ = say("plan", finished.path)
    assert code == 0
    assert "people: 600 rows" in out
    assert "age, income" in out
    assert "a row becomes" in out
    assert "3 numbers" in out
    code, out, _ = say("plan", finished.path, "--json")
    assert [part["name"] for part in json.loads(out)["parts"]] == ["money", "habits"]


def test_a_single_stage_runs_without_a_server(say, workspace):
    code, out, _ = say("run", workspace, "--only", "join")
    synthetic = load(workspace).workspace.synthetic
    made = f"Synthetic rows: 420 in {synthetic}; not audited yet"
    assert (code, out.splitlines()) == (0, ["Stage: join: nothing had changed", made])
    shutil.rmtree(load(workspace).workspace.joined)
    code, out, err = say("run", workspace, "--only", "join", "--json")
    assert (code, json.loads(out)["state"]) == (0, "done")
    assert json.loads(out)["facts"]["Synthetic rows"].startswith("420 in ")
    assert "join: begins" in err
    assert "420 of 420 proposed rows accepted" in err


def test_the_release_stage_alone_tells_version_table_and_report(say, workspace):
    folder = load(workspace).workspace.released / "people" / "v1"
    code, out, _ = say("run", workspace, "--only", "release")
    assert code == 0
    assert f"Release: people@v1 in {folder}\n" in out
    assert f"Report: {folder / 'audit.html'}\n" in out


def test_plan_shows_clusters_and_synthesize_makes_them(say, clustered, tmp_path):
    code, out, _ = say("plan", clustered.path)
    assert code == 0
    assert "cluster-2" in out
    assert "of the rows; sex: m" in out
    made = tmp_path / "made.parquet"
    words = ("synthesize", clustered.workspace.train, made, "--generator", "copula", "--clusters", "2")
    assert say(*words, "--rows", "9")[:2] == (0, f"9 rows written to {made}\n")
    code, _, err = say(*words, "--parts", "2")
    assert code == 3
    assert "divide either columns or rows" in err


def test_quiet_means_results_only(say, workspace):
    shutil.rmtree(load(workspace).workspace.joined)
    code, out, err = say("--quiet", "run", workspace, "--only", "join")
    assert (code, out.splitlines()[0], err) == (0, "Stage: join: done", "")


def test_verify_tells_a_release_that_is_as_published(say, finished):
    folder = finished.workspace.released / "people" / "v1"
    code, out, _ = say("verify", folder)
    assert code == 0
    assert "people v1: 7 files are as published." in out
    code, out, _ = say("verify", folder, "--json")
    assert json.loads(out) == {"ok": True, "name": "people", "version": 1, "files": 7}


def test_explain_tells_a_column_and_a_release(say, finished):
    code, out, _ = say("explain", "income", "--spec", finished.path, "--json")
    said = json.loads(out)
    assert (code, said["column"], said["newest release"]) == (0, "income", "people@v1")
    code, out, _ = say("explain", "people@v1", "--spec", finished.path)
    assert code == 0
    assert "600 rows" in out


def test_kinds_are_listed_and_the_spec_has_a_json_schema(say):
    code, out, _ = say("kinds")
    assert code == 0
    assert "marginal" in out
    listed = json.loads(say("kinds", "--json")[1])
    assert {row["family"] for row in listed} == {"source", "partitioner", "generator", "join", "measure"}
    assert json.loads(say("kinds", "--json-schema")[1])["title"] == "Parquetry spec"


def test_synthesize_writes_a_file_and_says_loudly_that_nothing_was_audited(say, finished, tmp_path):
    table = pq.read_table(finished.workspace.root / "people.parquet").drop_columns(["person"])
    pq.write_table(table, tmp_path / "in.parquet")
    code, out, err = say(
        "synthesize",
        tmp_path / "in.parquet",
        tmp_path / "out.parquet",
        "--generator",
        "marginal",
        "--rows",
        50,
        "--seed",
        1,
    )
    assert (code, out.strip()) == (0, f"50 rows written to {tmp_path / 'out.parquet'}")
    assert "600 rows of 5 columns read; learning from them" in err
    assert "NOT AUDITED" in err
    assert b"NOT AUDITED" in pq.read_metadata(tmp_path / "out.parquet").metadata[b"parquetry"]


def test_init_writes_a_spec_that_check_accepts(say, tmp_path):
    pq.write_table(people(200), tmp_path / "visitors.parquet")
    code, out, err = say("init", tmp_path / "visitors.parquet", "--into", tmp_path)
    assert code == 0
    assert "200 rows, 6 columns" in out
    assert str(int(CANARY_INCOME)) not in out + err
    assert say("check", tmp_path / "spec.yaml")[0] == 0
    assert say("init", tmp_path / "visitors.parquet", "--into", tmp_path)[0] == 3


def test_audit_of_anybodys_table_ends_with_the_verdict_for_a_code(say, finished, tmp_path):
    """A table that is a copy of the real one does not pass; without held-out rows nothing can."""
    real = finished.workspace.train
    code, out, err = say(
        "audit", real, real, "--holdout", finished.workspace.holdout, "--report", tmp_path / "audit.html", "--json"
    )
    assert code == 8
    assert "ublish" not in err
    assert json.loads(out)["verdict"] == "fail"
    assert (tmp_path / "audit.html").is_file()
    code, out, _ = say(
        "audit", real, real, "--holdout", finished.workspace.holdout, "--report", tmp_path / "audit.html"
    )
    assert code == 8
    assert "Verdict: leaks (fail). " in out
    assert f"Report: {tmp_path / 'audit.html'}\n" in out
    assert "ublish" not in out
    pq.write_table(pq.read_table(finished.workspace.synthetic).drop_columns(["person"]), tmp_path / "synthetic.parquet")
    code, out, _ = say("audit", real, tmp_path / "synthetic.parquet", "--report", tmp_path / "audit.html")
    assert code == 8
    assert "Verdict: not shown to be safe (inconclusive). " in out


def test_names_in_brackets_are_printed_as_they_are(say, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{1000 + 7 * row % 900},{'ab'[row % 2]}" for row in range(100)]
    (tmp_path / "in.csv").write_text("\n".join(["income [usd],[/bold] :x:", *lines, ""]))
    calls = [("init", "in.csv"), ("plan",), ("explain", "income [usd]"), ("audit", "in.csv", "in.csv")]
    for words in calls:
        code, out, _ = say(*words)
        assert code == (8 if words[0] == "audit" else 0)
        assert "income [usd]" in out
    assert "[/bold] :x:" in say("plan")[1]


def test_a_csv_is_read_as_the_call_says_it_is_written(say, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{7 * row % 90},5;{'aé'[row % 2]}" for row in range(100)]
    (tmp_path / "in.csv").write_text("\n".join(["größe;x", *lines, ""]), encoding="latin-1")
    written = ("--delimiter", ";", "--encoding", "latin-1", "--decimal-point", ",")
    assert say("init", "in.csv", *written)[0] == 0
    assert "größe" in say("plan")[1]
    assert say("synthesize", "in.csv", "out.csv", *written, "--rows", "1")[:2] == (0, "1 row written to out.csv\n")
    code, out, _ = say("audit", "in.csv", "in.csv", *written)
    assert (code, "größe" in out) == (8, True)
    assert say("synthesize", "in.csv", "out.csv", "--decimal-point", ".")[0] == 4


def test_a_wrong_call_has_code_2(say):
    assert say("check", "--colour")[0] == 2
    assert say("audit", "one.csv")[0] == 2
    assert say("paint")[0] == 2


def test_an_unknown_stage_has_code_3(say, finished):
    code, _, err = say("run", finished.path, "--only", "jion")
    assert code == 3
    assert "did you mean 'join'?" in err


def test_a_source_that_cannot_be_read_has_code_4(say, workspace):
    (workspace.parent / "people.parquet").unlink()
    for words in (("plan", workspace), ("run", workspace, "--only", "ingest")):
        code, _, err = say(*words)
        assert code == 4
        assert "people.parquet: no such file" in err


def test_data_that_broke_its_contract_has_code_5_and_no_cell_is_told(say, tmp_path):
    table = people(100)
    ages = table["age"].to_pylist()
    ages[0] = 7_431
    spec = write_workspace(tmp_path, table=table.set_column(1, "age", pa.array(ages)))
    code, _, err = say("run", spec, "--only", "ingest")
    assert code == 5
    assert "age" in err
    assert "7431" not in err.replace(",", "")


def test_a_synthesis_that_fails_has_code_6_and_names_the_part(say, tmp_path, crew):
    spec = write_workspace(tmp_path, generators={"habits": {"kind": "hydragan", "clusters": 1_000}})
    run_stages(spec, crew, STAGES[:2])
    code, _, err = say("run", spec, "--only", "train")
    assert code == 6
    assert "habits: clusters: 1,000 clusters of 420 rows" in err
    assert "money" not in err.split("The synthesis failed")[1]
    assert load(spec).workspace.sampler("money").is_dir()


def test_an_audit_that_cannot_be_computed_has_code_7(say, workspace):
    train = load(workspace).workspace.train
    pq.write_table(pq.read_table(train).slice(1), train)
    code, _, err = say("run", workspace, "--only", "audit")
    assert code == 7
    assert "train.parquet: is not the table that was ingested" in err


def test_a_release_that_the_audit_withholds_has_code_8(say, workspace):
    from tasks.yaml_files import read_yaml, yaml_text

    workspace.write_text(
        yaml_text({**read_yaml(workspace, ""), "audit": {"copies": {"whole": {"exact": 0, "near": 0}}}})
    )
    assert say("run", workspace, "--only", "audit")[0] == 0
    code, _, err = say("run", workspace, "--only", "release")
    assert code == 8
    assert "Withheld by the audit; nothing is published" in err
    assert "read data/withheld/people/audit.html" in err


def test_a_release_that_was_tampered_with_has_code_9(say, workspace):
    released = load(workspace).workspace.released / "people" / "v1"
    text = (released / "synthetic.csv").read_bytes()
    (released / "synthetic.csv").write_bytes(text[:-2] + bytes([text[-2] ^ 1]) + text[-1:])
    code, out, err = say("verify", released, "--json")
    assert (code, out) == (9, "")
    assert "synthetic.csv" in err


def test_a_workspace_that_another_run_holds_has_code_10_and_says_who(say, workspace):
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import fcntl, os\nlock = open({str(workspace.parent / 'data' / '.lock')!r}, 'w')\n"
            "fcntl.flock(lock, fcntl.LOCK_EX)\nlock.write(str(os.getpid()))\nlock.flush()\nprint(flush=True)\ninput()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        holder.stdout.readline()
        code, _, err = say("run", workspace, "--only", "join")
    finally:
        holder.communicate("\n")
    assert code == 10
    assert f"(process {holder.pid})" in err


def test_an_artifact_that_is_missing_or_no_release_has_code_11(say, tmp_path):
    assert say("verify", tmp_path)[0] == 11
    code, _, err = say("run", write_workspace(tmp_path), "--only", "join")
    assert code == 11
    assert "run the stage that makes it" in err


def test_a_fault_of_our_own_has_code_1_and_is_told_without_its_words(tmp_path):
    """Where the whole traceback lies is told; only its owner may read it. A library that is broken stands for it."""
    (tmp_path / "duckdb.py").write_text("raise KeyError('CANARY-7431')")
    variables = environment(tmp_path, TMPDIR=str(tmp_path))
    variables["PYTHONPATH"] = f"{tmp_path}:{variables['PYTHONPATH']}"
    (tmp_path / "house.duckdb").write_text("")
    done = CommandLine(tmp_path, variables)("init", "house.duckdb", "--table", "visits")
    assert (done.returncode, done.stdout) == (1, "")
    assert "A fault in Parquetry" in done.stderr
    assert "KeyError in duckdb.py, line 1" in done.stderr
    assert not {"Traceback", "CANARY-7431"} & set(done.stderr.replace("'", " ").split())
    (kept,) = tmp_path.glob("parquetry-*/fault-parquetry.txt")
    assert str(kept) in done.stderr
    assert "CANARY-7431" in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("words", "code", "told"), [
    ("check folder", 3, "folder: is a directory"),
    ("plan folder", 3, "folder: is a directory"),
    ("run folder --only ingest", 3, "folder: is a directory"),
    ("explain age --spec folder", 3, "folder: is a directory"),
    ("explain age --spec in.csv/spec.yaml", 3, "spec.yaml: not a directory"),
    ("verify in.csv", 11, "in.csv: no manifest.json"),
    ("init in.csv --into in.csv", 11, "spec.yaml: cannot be written: a file stands where a folder should be"),
    ("init in.csv --into /proc/none", 11, "spec.yaml: no file can be made in '/proc'"),
    ("init broken.csv", 4, "broken.csv: input/output error"),
    ("synthesize folder out.csv", 4, "folder: no such file"),
    ("synthesize broken.parquet out.csv", 4, "broken.parquet: input/output error"),
    ("synthesize in.csv folder.csv", 11, "folder.csv: cannot be written: is a folder"),
    ("synthesize in.csv in.csv/out.csv", 11, "out.csv: cannot be written: a file stands where a folder should be"),
    ("synthesize in.csv /proc/out.csv", 11, "/proc/out.csv: no file can be made in '/proc'"),
    ("audit in.csv in.csv --report folder", 11, "folder: cannot be written: is a folder"),
    ("audit in.csv in.csv --report full", 11, "full: cannot be written: is a device or a pipe"),
    ("audit in.csv broken.csv", 4, "broken.csv: input/output error"),
])  # fmt: skip
def test_what_the_operating_system_refuses_is_no_fault_of_ours(say, tmp_path, monkeypatch, words, code, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("age\n" + "".join(f"{20 + row % 50}\n" for row in range(100)))
    for folder in ("folder", "folder.csv"):
        (tmp_path / folder).mkdir()
    for name, file in {"broken.csv": "self/mem", "broken.parquet": "self/mem"}.items():
        (tmp_path / name).symlink_to(f"/proc/{file}")
    (tmp_path / "full").symlink_to("/dev/full")
    before = sorted(tmp_path.rglob("*"))
    found, out, err = say(*words.split())
    assert (found, out) == (code, "")
    assert told in err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_workspace_where_nothing_can_be_made_is_told(say, tmp_path):
    spec = write_workspace(tmp_path)
    (tmp_path / "data").write_text("")
    for words in (("plan", spec), ("run", spec, "--only", "ingest")):
        code, _, err = say(*words)
        assert code == 11
        assert "a file stands where a folder should be" in err


def test_a_standard_output_that_takes_no_more_is_told_and_one_that_nobody_reads_is_none_of_our_faults(command):
    with open("/dev/full", "w") as full:
        process = command.start("kinds", "--json", stdout=full)
        assert "standard output: the disk is full" in process.communicate(timeout=60)[1]
    assert process.returncode == 11
    for words in (("kinds",), ("kinds", "--json"), ("kinds", "--json-schema")):
        process = command.start(*words)
        process.stdout.close()
        assert process.stderr.read() == ""
        process.wait(timeout=60)


def interrupted(command, place, *words):
    """``parquetry`` as its own process that hears Ctrl-C just before it renames something to ``place``."""
    code = (
        "import os, signal, sys\n"
        "def interrupt(event, facts):\n"
        f"    if event == 'os.rename' and os.fspath(facts[1]).endswith({place!r}):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.addaudithook(interrupt)\n"
        f"sys.argv = {['parquetry', *map(str, words)]!r}\n"
        "from flows.cli import main\nmain()\n"
    )
    said = {"env": command.variables, "cwd": command.home, "capture_output": True, "text": True, "check": False}
    return subprocess.run([sys.executable, "-c", code], **said)


def test_ctrl_c_ends_a_synthesis_with_code_130_one_line_and_nothing_half_written(command, tmp_path):
    pq.write_table(people(60).drop_columns(["person"]), tmp_path / "in.parquet")
    done = interrupted(command, "out.csv", "synthesize", tmp_path / "in.parquet", tmp_path / "out.csv")
    assert (done.returncode, done.stdout) == (INTERRUPTED, "")
    assert done.stderr.splitlines()[1:] == ["Interrupted. Nothing is left half-written, and what was finished is kept."]
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["in.parquet"]


def test_ctrl_c_ends_a_stage_with_code_130_and_the_next_run_goes_on_from_there(command, workspace, say):
    shutil.rmtree(load(workspace).workspace.joined)
    done = interrupted(command, "interim/joined", "run", workspace, "--only", "join")
    assert (done.returncode, done.stdout) == (INTERRUPTED, "")
    assert done.stderr.splitlines()[-1] == "Interrupted. Nothing is left half-written, and what was finished is kept."
    assert "Traceback" not in done.stderr
    assert not list(workspace.parent.rglob("*.part"))
    assert not load(workspace).workspace.joined.exists()
    assert say("run", workspace, "--only", "join")[0] == 0


def imported_by(command, *calls):
    """The top modules that are imported after each of ``calls``, all made in one process."""
    code = (
        "import sys\nfrom flows.cli import main\n"
        f"for words in {[[str(word) for word in words] for words in calls]!r}:\n"
        "    sys.argv = ['parquetry', *words]\n"
        "    try:\n        main()\n    except SystemExit:\n        pass\n"
        "    print('imported', *{name.split('.')[0] for name in sys.modules})\n"
    )
    said = {"env": command.variables, "cwd": command.home, "capture_output": True, "text": True, "check": True}
    lines = subprocess.run([sys.executable, "-c", code], **said).stdout.splitlines()
    return [set(line.split()[1:]) for line in lines if line.startswith("imported ")]


def test_check_imports_nothing_heavy_and_what_only_reads_files_little(command, finished):
    after_check, *_, after_verify = imported_by(
        command,
        ("check", finished.path),
        ("explain", "income", "--spec", finished.path),
        ("kinds",),
        ("kinds", "--json-schema"),
        ("verify", finished.workspace.released / "people" / "v1"),
    )
    assert not after_check & HEAVY
    assert not after_verify & (HEAVY - {"pandas"})


def test_check_answers_within_two_seconds_of_computing(command, finished):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert command("check", finished.path).returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2


def test_no_command_but_run_and_serve_imports_prefect(command, finished, tmp_path):
    pq.write_table(people(60).drop_columns(["person"]), tmp_path / "in.parquet")
    imported = imported_by(
        command,
        ("plan", finished.path),
        ("init", tmp_path / "in.parquet", "--into", tmp_path),
        ("synthesize", tmp_path / "in.parquet", tmp_path / "out.parquet", "--generator", "marginal"),
        ("audit", tmp_path / "in.parquet", tmp_path / "out.parquet", "--report", tmp_path / "audit.html"),
        ("run", finished.path, "--only", "join"),
        ("serve", tmp_path / "missing.yaml"),
    )
    assert len(imported) == 6
    assert (tmp_path / "audit.html").is_file()
    assert "prefect" not in imported[-1]


def test_no_refusal_quotes_a_canary(say, workspace):
    """Faults of columns are told by name and count, also where the cells are the ones that nobody may see."""
    table = people()
    broken = table.set_column(0, "person", pa.array([None] * 3 + table["person"].to_pylist()[3:]))
    pq.write_table(
        broken.set_column(3, "income", pa.array([CANARY_INCOME * 10] * 600)), workspace.parent / "people.parquet"
    )
    code, out, err = say("run", workspace, "--only", "ingest")
    assert code == 5
    assert not {CANARY_NAME, "777310", "777,310"} & set((out + err).split())
    assert "77731" not in (out + err).replace(",", "")
