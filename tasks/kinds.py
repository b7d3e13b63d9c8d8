"""The catalogues as a table, and the spec as a JSON Schema for editors."""

from __future__ import annotations

import inspect
from typing import Any

from models import generators, joins, measures, partitioners
from models.catalog import Catalog
from models.spec import Spec
from tasks import sources

CATALOGS: tuple[Catalog[Any], ...] = (
    sources.catalog, partitioners.catalog, generators.catalog, joins.catalog, measures.catalog,
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
    properties = schema["properties"]
    properties["source"] = sources.catalog.json_schema()
    properties["partition"] = partitioners.catalog.json_schema()
    properties["join"] = joins.catalog.json_schema()
    properties["generator"] = generators.catalog.json_schema()
    properties["generators"] = {"type": "object", "additionalProperties": generators.catalog.json_schema()}
    properties["audit"] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {kind: measures.catalog.settings(kind).model_json_schema() for kind in measures.catalog.kinds()},
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Parquetry spec", **schema}
