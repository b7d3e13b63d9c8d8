"""The spec and the schema as files: read, checked together before any row is read, and written for review."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from models.errors import Fault, SpecError
from models.schema import Schema
from models.spec import Spec, faults_between, parse_schema, parse_spec
from tasks import sources
from tasks.sources import Source
from tasks.workspace import Workspace
from tasks.yaml_files import read_yaml

Read = TypeVar("Read")


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
    said = read_yaml(path, "see 'parquetry init'")
    faults: list[Fault] = []
    spec = _or_faults(lambda: parse_spec(said), faults)
    source = _or_faults(lambda: sources.catalog.build(said["source"]), faults) if "source" in said else None
    schema = (
        _or_faults(lambda: _schema(path.parent / said["schema"]), faults)
        if isinstance(said.get("schema"), str)
        else None
    )
    if schema:
        faults.extend(_unknown_types(schema))
    if spec and schema:
        faults.extend(faults_between(spec, schema))
    if spec and spec.expectations and not (path.parent / spec.expectations).is_file():
        faults.append(
            Fault(
                "expectations", f"no file '{spec.expectations}' beside the spec", "correct the path or remove the key"
            )
        )
    if faults or spec is None or schema is None or source is None:
        raise SpecError(faults)
    return Plan(path, spec, schema, source.below(path.parent), Workspace(path.parent.resolve()))


def _or_faults(read: Callable[[], Read], faults: list[Fault]) -> Read | None:
    """What ``read`` gives, or None with its faults added to ``faults``."""
    try:
        return read()
    except SpecError as error:
        faults.extend(error.faults)
        return None


def _unknown_types(schema: Schema) -> list[Fault]:
    """Columns whose dtype names no type that a table could have."""
    from tasks.arrow_types import arrow_type

    faults = []
    for column in schema.released:
        try:
            arrow_type(column.dtype)
        except ValueError:
            remedy = "write an Arrow type, for example int64, double, string, bool, date32[day] or timestamp[us]"
            faults.append(Fault(column.name, f"its dtype '{column.dtype}' is no type that a table can have", remedy))
    return faults


def _schema(path: Path) -> Schema:
    return parse_schema(read_yaml(path, "write it with 'parquetry init'"))


def load_all(paths: Sequence[Path]) -> list[Plan]:
    """The plans of several specs. Raises SpecError with the faults of all, and for a name that two of them have."""
    found, faults = list[Plan](), list[Fault]()
    for path in paths:
        try:
            found.append(load(path))
        except SpecError as error:
            faults += [Fault(f"{path}: {fault.where}", fault.found, fault.remedy) for fault in error.faults]
    times = Counter(plan.spec.name for plan in found)
    faults += [
        Fault(
            f"{plan.path}: name",
            f"'{plan.spec.name}' is the name of {times[plan.spec.name]} of these specs",
            "give each its own",
        )
        for plan in found
        if times[plan.spec.name] > 1
    ]
    if faults:
        raise SpecError(faults)
    return found
