"""The spec: all that a person decides about a synthesis, in one typed file that is checked before any row is read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BeforeValidator, Field, ValidationError, field_validator, model_validator

from models import joins, partitioners
from models.catalog import NestedFaultsError, chosen, faults_of
from models.errors import Fault, SpecError, nearest
from models.generators import ConditionalGenerator, Generator
from models.generators import catalog as generator_catalog
from models.partition import Clustering, Partition
from models.policy import Policy
from models.rules import rule_faults
from models.schema import Column, Frozen, Kind, Role, Schema, identifier_capacity, subset

GeneratorKind = Annotated[Generator, chosen(generator_catalog)]
PartitionerKind = Annotated[partitioners.Partitioner, chosen(partitioners.catalog)]
JoinKind = Annotated[joins.Join, chosen(joins.catalog)]


def _policy(said: object) -> object:
    """The audit's policy, from what the section says."""
    if not isinstance(said, Mapping):
        return said
    try:
        return Policy.of(said)
    except SpecError as error:
        raise NestedFaultsError(error) from None


NAME = r"^[a-z0-9][a-z0-9-]{0,62}$"
"""A data set's name is also the name of folders, of files and of a git tag."""


class Split(Frozen):
    """How rows are held out. The held-out rows are the audit's control set: nothing else ever sees them."""

    holdout: float = Field(default=0.3, gt=0, lt=1, description="share of rows (or of entities) that is held out")
    entity: str | None = Field(
        default=None, description="column that says whose row it is; a person's rows stay together"
    )


def _cron_field(value: str) -> str:
    """The pattern of values of this shape, ranges of them and ``*``, each with a step, as a list."""
    one = rf"(\*|({value})(-({value}))?)(/\d+)?"
    return rf"{one}(,{one})*"


CRON_FIELDS = {
    "minute": _cron_field(r"[0-5]?\d"),
    "hour": _cron_field(r"[01]?\d|2[0-3]"),
    "day": _cron_field(r"0?[1-9]|[12]\d|3[01]|L"),
    "month": _cron_field(r"0?[1-9]|1[0-2]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC"),
    "weekday": _cron_field(r"L?([0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)(#[1-5])?"),
}


class Schedule(Frozen):
    """When runs start by themselves: a cron line or an interval."""

    cron: str | None = None
    interval: float | None = Field(default=None, gt=0, description="seconds between runs")
    timezone: str = "UTC"

    @field_validator("cron")
    @classmethod
    def _five_fields(cls, cron: str | None) -> str | None:
        said = [] if cron is None else cron.split()
        if cron is not None and len(said) != len(CRON_FIELDS):
            raise ValueError(f"a cron line has five fields ({', '.join(CRON_FIELDS)}), not {len(said)}")
        wrong = [
            name
            for (name, shape), field in zip(CRON_FIELDS.items(), said, strict=False)
            if not re.fullmatch(shape, field, re.IGNORECASE)
        ]
        if wrong:
            raise ValueError(f"no cron line: its {' and '.join(wrong)} cannot be read")
        return cron

    @field_validator("timezone")
    @classmethod
    def _known(cls, timezone: str) -> str:
        try:
            ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ValueError(f"no time zone is called '{timezone}'; they are called like 'Europe/Berlin'") from None
        return timezone

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.cron is None) == (self.interval is None):
            raise ValueError("give either cron or interval")
        return self


class Trigger(Frozen):
    """The event that starts a run, as a warehouse job would post it."""

    event: str = "warehouse.table.updated"
    resource: str = Field(description="resource id of the event, for example 'warehouse.visits'; '*' matches any end")


class Limits(Frozen):
    """How long work may take. What comes out does not depend on it, so that no digest of a spec contains it."""

    part_seconds: int | None = Field(
        default=None, gt=0, le=1_000_000, description="a part that is trained or drawn for longer is ended"
    )


class Spec(Frozen):
    """One data set and what becomes of it. Paths are relative to the folder that the spec lies in."""

    name: str = Field(pattern=NAME, description="name of the released data set")
    source: Mapping[str, Any] = Field(description="where the rows are read: kind and its settings")
    schema_file: str = Field(alias="schema", description="the reviewed schema (YAML)")
    expectations: str | None = Field(default=None, description="the owner's own Great Expectations suite (JSON)")
    split: Split = Split()
    partition: PartitionerKind
    generator: GeneratorKind = Field(description="the generator of every part that 'generators' does not name")
    generators: dict[str, GeneratorKind] = Field(default_factory=dict, description="generators by the name of the part")
    join: JoinKind
    rows: int | Literal["as-training"] = Field(default="as-training", description="rows to release")
    audit: Annotated[Policy, BeforeValidator(_policy)] = Field(
        default_factory=lambda: Policy.of({}),
        description="for whom the release is (preset), and settings by kind of measure",
    )
    limits: Limits = Limits()
    schedule: Schedule | None = None
    trigger: Trigger | None = None

    @field_validator("rows")
    @classmethod
    def _size(cls, rows: int | str) -> int | str:
        if isinstance(rows, int) and not 1 <= rows <= 1_000_000_000:
            raise ValueError(f"rows must lie between 1 and 1,000,000,000, not at {rows:,}")
        return rows

    def generator_of(self, part: str) -> Generator:
        return self.generators.get(part, self.generator)

    def rows_for(self, training_rows: int) -> int:
        """The rows to release."""
        return training_rows if self.rows == "as-training" else self.rows

    def section(self, name: str) -> Any:
        """One section as JSON, the same for the same meaning however the file was written."""
        return self._meaning().get(name)

    def digest(self) -> str:
        """SHA-256 of the spec's meaning: comments, order and spelled-out defaults do not change it, nor do limits."""
        meaning = {name: said for name, said in self._meaning().items() if name != "limits"}
        return hashlib.sha256(json.dumps(meaning, sort_keys=True).encode()).hexdigest()

    def _meaning(self) -> dict[str, Any]:
        """All sections as JSON, and the order of the parts, which an object of JSON does not have."""
        said = json.loads(self.model_dump_json(by_alias=True, serialize_as_any=True))
        return {**said, "partition": {**said["partition"], "order": self.partition.names()}}


def parse_spec(said: object) -> Spec:
    """The spec that a YAML file's content means. Raises SpecError with all faults."""
    spec: Spec = _parse(Spec, said, "")
    return spec


def parse_schema(said: object) -> Schema:
    """The schema that a YAML file's content means. Raises SpecError with all faults."""
    try:
        schema: Schema = _parse(Schema, said, "schema")
    except SpecError as error:
        raise SpecError([_by_column_name(fault, said) for fault in error.faults]) from None
    return schema


def _parse(model: Any, said: object, where: str) -> Any:
    if not isinstance(said, Mapping):
        raise SpecError(Fault(where or "spec", "the file holds no mapping of keys to values", "see 'parquetry init'"))
    try:
        return model.model_validate(dict(said))
    except ValidationError as error:
        raise SpecError(faults_of(error, model, where)) from None


def _by_column_name(fault: Fault, said: object) -> Fault:
    """The fault with its column's name in place of its number, where the column has one."""
    steps = fault.where.split(".")
    columns = said.get("columns") if isinstance(said, Mapping) else None
    if len(steps) < 3 or steps[1] != "columns" or not steps[2].isdigit() or not isinstance(columns, list):
        return fault
    column = columns[int(steps[2])]
    name = column.get("name") if isinstance(column, Mapping) else None
    return Fault(".".join([*steps[:2], str(name), *steps[3:]]), fault.found, fault.remedy) if name else fault


def faults_between(spec: Spec, schema: Schema) -> list[Fault]:
    """What a spec asks of a schema that the schema cannot give; told before any row is read."""
    return [
        *_text_columns(schema),
        *_nothing_to_model(schema),
        *Recipe.of(spec).faults(schema),
        *_unknown_parts(spec),
        *_unknown_clusters(spec),
        *_entity(spec, schema),
        *(beyond_numbering(schema, spec.rows) if isinstance(spec.rows, int) else ()),
        *rule_faults(schema.rules, schema.modelled),
    ]


def _text_columns(schema: Schema) -> list[Fault]:
    return [
        Fault(
            column.name,
            "free text is not synthesised",
            "leave it out with 'include: false', or make it 'kind: categorical' with reviewed levels",
        )
        for column in schema.columns
        if column.include and column.kind is Kind.TEXT
    ]


def _nothing_to_model(schema: Schema) -> list[Fault]:
    if schema.modelled:
        return []
    return [
        Fault(
            "schema",
            f"none of its {len(schema.columns)} columns can be modelled",
            "include at least one column that is not an identifier, a constant or text",
        )
    ]


@dataclass(frozen=True)
class Recipe:
    """The settings that synthesis depends on."""

    partition: partitioners.Partitioner
    generator: Generator
    generators: Mapping[str, Generator]
    join: joins.Join

    @classmethod
    def of(cls, spec: Spec) -> Self:
        return cls(spec.partition, spec.generator, spec.generators, spec.join)

    def generator_of(self, part: str) -> Generator:
        return self.generators.get(part, self.generator)

    def faults(self, schema: Schema) -> list[Fault]:
        """What cannot be followed for this schema, told before any row is read.

        Where parts are found by a look at the rows, what can be said of any parts; ``faults_of`` says the rest.
        """
        columns = {name: self.partition.columns_of(name, schema) for name in self.partition.names()}
        return [*self.partition.faults(schema), *self._faults(self.partition.by, columns)]

    def faults_of(self, told: Partition | Clustering, columns: Sequence[Column]) -> list[Fault]:
        """What cannot be done with the parts that were found of ``columns``, told before anything is fitted."""
        return self._faults(told.by, {name: subset(columns, told.columns_of(name)) for name in told.names})

    def _faults(self, by: str, columns: Mapping[str, Sequence[Column]]) -> list[Fault]:
        """What cannot be joined, or which generator cannot do what is asked of it; ``columns`` by part, in order."""
        generators = {part: self.generator_of(part) for part in columns}
        return [*(self.join.faults(by) or unable(self.join, generators)), *self._unfit(columns)]

    def _unfit(self, columns: Mapping[str, Sequence[Column]]) -> list[Fault]:
        """What generators cannot be fitted to the ``columns`` of their parts; once where it is so for several parts."""
        found: dict[Fault, list[str]] = {}
        for part, those in columns.items():
            key = f"generators.{part}" if part in self.generators else "generator"
            for fault in self.generator_of(part).faults(those):
                found.setdefault(replace(fault, where=f"{key}.{fault.where}"), []).append(part)
        others = [part for part in columns if part not in self.generators]
        return [
            fault if parts == others or parts[0] in self.generators else _only_in(parts, fault)
            for fault, parts in found.items()
        ]


def _only_in(parts: Sequence[str], fault: Fault) -> Fault:
    return replace(fault, found=f"in {', '.join(parts)}, {fault.found}")


def unable(join: joins.Join, generators: Mapping[str, Generator]) -> list[Fault]:
    """Which generators, by the names of all parts in order, cannot draw their part given others, as ``join`` asks."""
    return [
        Fault(
            f"generators.{part}",
            f"'{generator.kind}' cannot draw a part given others, as 'join: {join.kind}' asks of it",
            f"use one of: {', '.join(_conditional())}",
        )
        for part, generator in generators.items()
        if join.given(tuple(generators), part) and not isinstance(generator, ConditionalGenerator)
    ]


def _conditional() -> list[str]:
    """The kinds of generators that can draw columns given others (imports every kind)."""
    kinds = generator_catalog.kinds()
    return [kind for kind in kinds if issubclass(generator_catalog.settings(kind), ConditionalGenerator)]


def _unknown_parts(spec: Spec) -> list[Fault]:
    names = spec.partition.names()
    return [
        Fault(f"generators.{part}", "the partition has no such part", nearest(part, names))
        for part in spec.generators
        if part not in names
    ]


def _unknown_clusters(spec: Spec) -> list[Fault]:
    by_rows = spec.partition.by == "rows"
    names = spec.partition.names() if by_rows else ()
    remedy = "" if by_rows else "divide rows ('partition: {by: rows, ...}'), or take the limits out"
    return [
        Fault(f"audit.{kind}.clusters.{name}", "there is no such cluster", remedy or nearest(name, names))
        for kind, measure in spec.audit.measures.items()
        for name in measure.limited
        if name not in names
    ]


def _entity(spec: Spec, schema: Schema) -> list[Fault]:
    entity = spec.split.entity
    if entity is None:
        return []
    if entity not in schema.names:
        return [
            Fault(
                "split.entity", f"'{entity}' is not a column of the schema", "name the column that says whose row it is"
            )
        ]
    if schema[entity].role is not Role.IDENTIFIER:
        return [
            Fault(entity, f"is the split's entity but has role '{schema[entity].role}'", "give it 'role: identifier'")
        ]
    return []


def beyond_numbering(schema: Schema, rows: int) -> list[Fault]:
    """The identifiers whose format has too few digits for ``rows`` rows."""
    return [
        Fault(
            column.name,
            f"its format numbers {identifier_capacity(column.format):,} rows at most, {rows:,} are asked for",
            "widen the format with more '#'",
        )
        for column in schema.released
        if column.kind is Kind.IDENTIFIER
        and column.format
        and "#" in column.format
        and identifier_capacity(column.format) < rows
    ]
