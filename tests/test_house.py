"""The house rules that a machine can keep: rooms, mirrors, sizes, no pickles, and a README that tells the truth."""

import ast
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("flows", "tasks", "models")
MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py") if path.name != "__init__.py")
PICKLERS = {"pickle", "cPickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def tree_of(path):
    return ast.parse(path.read_text())


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_every_module_has_a_test_in_the_mirrored_place(module):
    mirrored = ROOT / "tests" / module.parent.relative_to(ROOT) / f"test_{module.stem.strip('_')}.py"
    assert mirrored.is_file(), f"write {name_of(mirrored)}"


def test_no_package_under_tests_shadows_the_code():
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_no_module_bears_the_name_of_the_standard_library():
    assert not [name_of(path) for path in MODULES if path.stem in sys.stdlib_module_names and path.stem != "__main__"]


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_nothing_is_pickled_or_unpickled(module):
    for node in ast.walk(tree_of(module)):
        imported = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
        origin = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not PICKLERS & {name.split(".")[0] for name in [*imported, *origin]}
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert isinstance(node.value, ast.Constant)
            assert node.value.value is False
        if isinstance(node, ast.Attribute) and node.attr == "load" and isinstance(node.value, ast.Name):
            assert node.value.id != "torch"


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_every_numpy_file_is_read_without_pickle(module):
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"np.load", "numpy.load"}:
            assert "allow_pickle" in {keyword.arg for keyword in node.keywords}


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_no_function_is_longer_than_a_screen(module):
    functions = [
        node for node in ast.walk(tree_of(module)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    assert not [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in functions
        if node.end_lineno - node.lineno >= 60
    ]


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_every_module_says_what_it_is(module):
    assert ast.get_docstring(tree_of(module))


def readme():
    return (ROOT / "README.md").read_text()


def table_after(heading):
    """The first cells of the table below a heading of the README, without backticks."""
    section = readme().split(f"{heading}\n", 1)[1].split("\n## ")[0].split("\n### ")[0]
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("|")]
    return [row.strip("`") for row in rows[2:]]


def test_the_readme_lists_the_kinds_that_there_are():
    from tasks.kinds import CATALOGS

    for catalog in CATALOGS:
        assert tuple(sorted(table_after(f"### {catalog.family.capitalize()} kinds"))) == catalog.kinds()


def test_the_readme_lists_the_exit_codes_that_there_are():
    from flows.cli import INTERRUPTED
    from models.errors import KINDS

    codes = [0, 1, 2, *(kind.exit_code for kind in KINDS), INTERRUPTED]
    assert table_after("## Exit codes") == list(map(str, codes))


def test_the_readme_lists_the_commands_that_there_are():
    from flows.cli import app

    listed = [re.match(r"parquetry ([a-z-]+)", row).group(1) for row in table_after("## Commands")]
    assert listed == [command.name or command.callback.__name__ for command in app.registered_commands]


def test_the_readme_names_the_rooms_of_the_tree():
    top = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")} - {
        "__pycache__",
        "parquetry.egg-info",
    }
    for name in ("flows", "tasks", "models", "data", "tests", "dvc.yaml", "spec.yaml", "Makefile"):
        assert name in top
        assert name in readme().split("## The tree\n", 1)[1].split("```")[1]


def test_python_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", readme(), flags=re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_links_in_the_documents_lead_to_files():
    for document in (
        ROOT / "README.md",
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("data/**/README.md"),
        ROOT / "CONTRIBUTING.md",
    ):
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / link).exists(), f"{name_of(document)} links to {link}"


def test_the_example_spec_is_sound_and_dvc_yaml_is_what_it_means():
    from tasks.spec import load
    from tasks.stages import STAGES
    from tasks.versions import Outline, dvc_yaml

    plan = load(ROOT / "spec.yaml")
    assert (ROOT / "dvc.yaml").read_text() == dvc_yaml(Outline.of(plan, STAGES))


def test_the_example_spec_names_all_kinds():
    from models import generators, joins, partitioners

    spec = (ROOT / "spec.yaml").read_text()
    for kinds in (generators.catalog.kinds(), joins.catalog.kinds(), *map(partitioners.kinds, ("columns", "rows"))):
        assert f"kinds: {', '.join(kinds)}" in spec


def test_the_json_schema_that_editors_read_is_up_to_date():
    from tasks.kinds import spec_json_schema

    assert json.loads((ROOT / "data/schemas/spec.schema.json").read_text()) == json.loads(
        json.dumps(spec_json_schema())
    )


def test_the_demo_data_has_the_hash_that_its_card_states():
    from tasks.store import sha256_of

    assert sha256_of(ROOT / "data/examples/nhanes.csv") in (ROOT / "data/examples/README.md").read_text()
