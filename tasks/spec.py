"""The spec and the schema as files: read, checked together before any row is read, and written for review."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from models.errors import Fault, SpecError
from models.schema import Schema
from models.spec import Spec, faults_between, parse_schema, parse_spec
from tasks import sources
from tasks.sources import Source
from tasks.workspace import Workspace


@dataclass(frozen=True)
class Plan:
    """All that was decided before a run: spec, reviewed schema, source settings, and the workspace they belong to."""

    path: Path
    spec: Spec
    schema: Schema
    source: Source
    workspace: Workspace

    @property
    def expectations(self) -> Path | None:
        """The owner's own expectation suite, where the spec names one."""
        return None if self.spec.expectations is None else self.workspace.root / self.spec.expectations


def load(path: Path) -> Plan:
    """The plan that the file ``path`` states. Raises SpecError with every fault of spec, schema and source together."""
    spec, schema, source, faults = None, None, None, list[Fault]()
    said = read_yaml(path, "see 'parquetry init'")
    try:
        spec = parse_spec(said)
    except SpecError as error:
        faults.extend(error.faults)
    try:
        source = sources.catalog.build(said.get("source"))
    except SpecError as error:
        faults.extend(error.faults)
    if isinstance(said.get("schema"), str):
        try:
            schema = parse_schema(read_yaml(path.parent / said["schema"], "write it with 'parquetry init'"))
        except SpecError as error:
            faults.extend(error.faults)
    if spec and schema:
        faults.extend(faults_between(spec, schema))
    if spec and spec.expectations and not (path.parent / spec.expectations).is_file():
        faults.append(Fault("expectations", f"no file '{spec.expectations}' beside the spec", "correct the path or remove the key"))
    if faults or spec is None or schema is None or source is None:
        raise SpecError(faults)
    return Plan(path, spec, schema, source.below(path.parent), Workspace(path.parent.resolve()))


def read_yaml(path: Path, remedy: str) -> dict[str, Any]:
    """The mapping in a YAML file. Raises SpecError with line and column where it cannot be read."""
    try:
        said = yaml.load(path.read_bytes(), Loader=_Loader)
    except OSError as error:
        raise SpecError(Fault(str(path), (error.strerror or "cannot be read").lower(), remedy)) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "somewhere"
        raise SpecError(Fault(str(path), f"not YAML: {getattr(error, 'problem', None) or 'cannot be read'} at {place}", "correct it")) from None
    if not isinstance(said, dict):
        raise SpecError(Fault(str(path), "holds no mapping of keys to values", remedy))
    return said


class _Loader(yaml.SafeLoader):
    """YAML with the scalars of version 1.2: in 1.1 a level called ``No`` is a boolean and ``07:30`` a number."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _initials in (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("null", r"^(?:~|null|Null|NULL|)$", "~nN"),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_initials) + ([""] if _tag == "null" else []))
