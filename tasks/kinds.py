"""The catalogues as a table, and the spec as a JSON Schema for editors."""

from __future__ import annotations

import inspect
from typing import Any

from models import generators, joins, measures, partitioners
from models.catalog import Catalog
from models.policy import GENERAL, Policy
from models.spec import Spec
from tasks import sources

CATALOGS: tuple[Catalog[Any], ...] = (
    sources.catalog,
    partitioners.catalog,
    generators.catalog,
    joins.catalog,
    measures.catalog,
)


def described() -> list[dict[str, str]]:
    """Every kind with the first sentence of its docstring (imports every kind)."""
    return [
        {"family": catalog.family, "kind": kind, "what": _first_sentence(catalog.settings(kind))}
        for catalog in CATALOGS
        for kind in catalog.kinds()
    ]


def _first_sentence(settings: type[Any]) -> str:
    return " ".join((inspect.getdoc(settings) or "").split("\n\n")[0].split())


def spec_json_schema() -> dict[str, Any]:
    """The JSON Schema of a spec: sections by kind, with every kind's own settings."""
    schema = Spec.model_json_schema(by_alias=True)
    definitions, properties = schema["$defs"], schema["properties"]

    def lifted(part: dict[str, Any]) -> dict[str, Any]:
        """``part`` as it stands in the whole, where references look for definitions at the top."""
        definitions.update(part.pop("$defs"))
        return part

    sections = {"source": sources, "partition": partitioners, "generator": generators, "join": joins}
    for section, family in sections.items():
        described = {"description": properties[section]["description"]} if "description" in properties[section] else {}
        properties[section] = {**described, **lifted(family.catalog.json_schema())}
    properties["source"]["anyOf"].pop(0)  # no source can be read by its kind alone
    of_a_part = {key: said for key, said in properties["generator"].items() if key != "description"}
    properties["generators"] = {**properties["generators"], "additionalProperties": of_a_part}
    policy = Policy.model_json_schema()
    definitions.update(policy["$defs"])
    properties["audit"] = {
        "type": "object",
        "description": properties["audit"]["description"],
        "additionalProperties": False,
        "properties": {
            **{key: policy["properties"][key] for key in GENERAL},
            **{kind: lifted(measures.catalog.settings_schema(kind)) for kind in measures.catalog.kinds()},
        },
    }
    return {**schema, "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Parquetry spec"}
