"""The catalogues as a table, and a JSON Schema by which an editor finds the typos that the spec would refuse."""

from pathlib import Path

import jsonschema
import pytest
from small_world import SPEC

from models.errors import SpecError
from models.spec import parse_spec
from tasks import sources
from tasks.kinds import CATALOGS, described, spec_json_schema
from tasks.yaml_files import read_yaml

ROOT = Path(__file__).parent.parent.parent
FULL = {
    **SPEC,
    "expectations": "suite.json",
    "generators": {"money": {"kind": "cart", "min_leaf": 5}},
    "join": {"kind": "validated", "threshold": {"kind": "auto", "share": 0.2}},
    "rows": 500,
    "schedule": {"cron": "0 3 * * *"},
    "trigger": {"resource": "warehouse.people"},
}
TYPOS = {
    "an unknown key": {"nmae": "people"},
    "an unknown generator": {"generator": "crat"},
    "an unknown generator of a part": {"generators": {"money": "crat"}},
    "an unknown setting of a kind": {"generator": {"kind": "cart", "min_laef": 5}},
    "settings without a kind": {"join": {"threshold": {"kind": "auto"}}},
    "an unknown setting within a setting": {"join": {"kind": "validated", "threshold": {"kind": "auto", "shaer": 1}}},
    "an unknown measure": {"audit": {"copeis": {}}},
    "an unknown limit": {"audit": {"copies": {"whole": {"exat": 0}}}},
    "a source without settings": {"source": "csv"},
    "an unknown setting of a source": {"source": {"kind": "csv", "path": "a.csv", "delimter": ";"}},
    "a share that is none": {"split": {"holdout": 2}},
    "a name that is none": {"name": "Two Words"},
    "a number where a text should be": {"schema": 3},
}


@pytest.fixture(scope="module")
def validator():
    schema = spec_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def parsed(spec):
    return parse_spec(spec), sources.catalog.build(spec["source"])


def test_every_kind_is_described_in_a_sentence_of_its_own():
    rows = described()
    assert [(row["family"], row["kind"]) for row in rows] == [
        (catalog.family, kind) for catalog in CATALOGS for kind in catalog.kinds()
    ]
    assert len({row["what"] for row in rows}) == len(rows)
    assert all(row["what"] and "\n" not in row["what"] for row in rows)


@pytest.mark.parametrize("spec", [SPEC, FULL, {**SPEC, "audit": {"membership": {}}}])
def test_what_the_spec_accepts_the_json_schema_accepts(validator, spec):
    assert parsed(spec)
    assert not list(validator.iter_errors(spec))


def test_the_example_spec_is_accepted(validator):
    assert not list(validator.iter_errors(read_yaml(ROOT / "spec.yaml", "")))


@pytest.mark.parametrize("typo", TYPOS)
def test_what_the_spec_refuses_the_json_schema_refuses(validator, typo):
    spec = {**FULL, **TYPOS[typo]}
    assert list(validator.iter_errors(spec))
    with pytest.raises(SpecError):
        parsed(spec)


@pytest.mark.parametrize("lacking", ["name", "source", "schema", "partition", "generator", "join"])
def test_what_must_be_said_must_be_said(validator, lacking):
    assert list(validator.iter_errors({key: said for key, said in SPEC.items() if key != lacking}))


def test_every_setting_of_every_kind_is_known_to_the_editor(validator):
    """Each kind's settings, spelled out with their defaults, are valid; so all that they refer to can be found."""
    sections = {"Source": None, "Partitioner": "partition", "Generator": "generator", "Join": "join"}
    needed = {"given": {"parts": {"all": ["age"]}}, "strata": {"column": "sex"}}
    for catalog in CATALOGS:
        section = sections.get(catalog.base.__name__)
        for kind in catalog.kinds() if section else ():
            settings = catalog.build({"kind": kind, **needed.get(kind, {})}).model_dump(mode="json")
            assert not list(validator.iter_errors({**SPEC, section: settings})), kind
    audit = {kind: measure.model_dump(mode="json") for kind, measure in parse_spec(SPEC).audit.measures.items()}
    assert not list(validator.iter_errors({**SPEC, "audit": audit}))
