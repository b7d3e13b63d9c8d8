"""A catalogue finds kinds by file name, builds settings from what a spec says, and fails loudly."""

import sys
from typing import Literal

import pytest

from models.catalog import Catalog
from models.errors import SpecError
from models.schema import Frozen


class Dish(Frozen):
    """Something to cook."""


@pytest.fixture
def catalog(tmp_path, monkeypatch):
    package = tmp_path / "dishes_of_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "soup.py").write_text(
        "from typing import Literal\nfrom test_catalog_base import Dish\n"
        "class Soup(Dish):\n    kind: Literal['soup'] = 'soup'\n    salt: int = 1\n"
    )
    (package / "random_.py").write_text(
        "from typing import Literal\nfrom test_catalog_base import Dish\n"
        "class Anything(Dish):\n    kind: Literal['random'] = 'random'\n"
    )
    (package / "burnt.py").write_text("import no_such_module_at_all\n")
    (package / "empty.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "test_catalog_base", type(sys)("test_catalog_base"))
    sys.modules["test_catalog_base"].Dish = Dish
    return Catalog("dishes_of_test", Dish)


def test_kinds_are_the_files_of_the_package_and_are_not_imported_to_be_listed(catalog):
    assert catalog.kinds() == ("burnt", "empty", "random", "soup")
    assert "dishes_of_test.burnt" not in sys.modules


def test_settings_are_built_from_a_name_a_mapping_or_themselves(catalog):
    assert catalog.build("soup").salt == 1
    soup = catalog.build({"kind": "soup", "salt": 3})
    assert soup.salt == 3
    assert catalog.build(soup) is soup


def test_a_trailing_underscore_is_not_part_of_the_kind(catalog):
    assert catalog.build("random").kind == "random"


def test_an_unknown_kind_is_named_with_the_nearest(catalog):
    with pytest.raises(SpecError, match=r"unknown kind 'soap' \(did you mean 'soup'"):
        catalog.build("soap")


def test_a_mapping_without_kind_is_told_the_kinds(catalog):
    with pytest.raises(SpecError, match=r"no kind is named .*soup"):
        catalog.build({"salt": 1})


def test_all_faults_of_the_settings_are_told_and_no_value(catalog):
    with pytest.raises(SpecError) as refusal:
        catalog.build({"kind": "soup", "slat": 1, "salt": "CANARY"})
    told = str(refusal.value)
    assert "dish 'soup'.slat: unknown key (did you mean 'salt'?" in told
    assert "dish 'soup'.salt: Input should be a valid integer" in told
    assert "CANARY" not in told


def test_a_kind_that_cannot_be_imported_fails_loudly(catalog):
    with pytest.raises(ModuleNotFoundError):
        catalog.settings("burnt")


def test_a_file_without_a_kind_fails_loudly(catalog):
    with pytest.raises(TypeError, match="must define one Dish, not 0"):
        catalog.settings("empty")


def test_the_json_schema_accepts_a_kinds_name_or_its_settings(tmp_path, monkeypatch):
    from models import joins

    choices = joins.catalog.json_schema()["anyOf"]
    assert choices[0]["enum"] == list(joins.catalog.kinds())
    assert {choice["properties"]["kind"]["const"] for choice in choices[1:]} == set(joins.catalog.kinds())


def test_literals_name_the_kind_that_the_file_names():
    from tasks.kinds import CATALOGS

    for catalog in CATALOGS:
        for kind in catalog.kinds():
            assert catalog.settings(kind).model_fields["kind"].annotation == Literal[kind]
