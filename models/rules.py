"""Rules that every row must keep, as a person who knows the subject writes them in the schema.

    rules:
      - {lower: admission, upper: discharge}
      - {total: visits, of: [inpatient, outpatient], tolerance: 0}
      - {when: {column: sex, is: [male]}, then: {column: pregnant, is: [false, null]}}

A rule is a public fact, as bounds and levels are, and is checked against the columns before any row is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from models.errors import Fault, nearest

if TYPE_CHECKING:
    from models.schema import Column

Value = bool | int | float | str | None

NUMBERS = "numbers"
SORTS = {
    "continuous": NUMBERS,
    "integer": NUMBERS,
    "date": "dates",
    "datetime": "dates",
    "time": "times of day",
    "duration": "durations",
}
"""What can be compared with what, by kind of column; other kinds have no order."""


class Clause(BaseModel):
    """A value that refuses unknown keys and cannot be changed."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)


class Order(Clause):
    """``lower`` is at most ``upper``, where both are present."""

    lower: str
    upper: str

    @property
    def text(self) -> str:
        return f"{self.lower} <= {self.upper}"

    def faults(self, columns: Mapping[str, Column]) -> Iterator[Fault]:
        names = (self.lower, self.upper)
        yield from _unknown(self.text, names, columns)
        yield from _unordered(self.text, names, columns)
        sorts = sorted({SORTS[columns[name].kind] for name in names if name in columns and columns[name].numeric})
        if len(sorts) > 1:
            yield _fault(self.text, f"{' and '.join(sorts)} cannot be compared")


class Total(Clause):
    """``total`` is the sum of ``of``, to within ``tolerance``, where all of them are present."""

    total: str
    of: tuple[str, ...] = Field(min_length=1)
    tolerance: float = Field(default=0.0, ge=0, allow_inf_nan=False)

    @property
    def text(self) -> str:
        return f"{self.total} = {' + '.join(self.of)}" + (f" to within {self.tolerance:g}" if self.tolerance else "")

    def faults(self, columns: Mapping[str, Column]) -> Iterator[Fault]:
        names = (self.total, *self.of)
        yield from _unknown(self.text, names, columns)
        for name in names:
            if name in columns and SORTS.get(columns[name].kind) != NUMBERS:
                yield _fault(self.text, f"'{name}' is {columns[name].kind}: only numbers are added up")


class Condition(Clause):
    """What a cell has to be: one of the values of ``is`` (null: missing), or between ``at_least`` and ``at_most``.

    A missing cell meets a condition only where ``is`` has null.
    """

    column: str
    is_: tuple[Value, ...] = Field(default=(), alias="is")
    at_least: int | float | str | None = None
    at_most: int | float | str | None = None

    @property
    def ranged(self) -> bool:
        return self.at_least is not None or self.at_most is not None

    @property
    def text(self) -> str:
        ends = (("at least", self.at_least), ("at most", self.at_most))
        between = " and ".join(f"{word} {end}" for word, end in ends if end is not None)
        return f"{self.column} is {' or '.join([*map(_said, self.is_), *([between] if between else [])])}"

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if not self.is_ and not self.ranged:
            raise ValueError("a condition needs 'is' (a list of values), 'at_least' or 'at_most'")
        return self

    def faults(self, rule: str, columns: Mapping[str, Column]) -> Iterator[Fault]:
        yield from _unknown(rule, (self.column,), columns)
        column = columns.get(self.column)
        if column is None:
            return
        if column.numeric:
            unreadable = [value for value in (*self.is_, self.at_least, self.at_most) if not _readable(column, value)]
            if unreadable:
                yield _fault(rule, f"'{column.name}' is compared with what is no {column.kind}", "write it as a bound")
            return
        if self.ranged:
            yield _fault(rule, f"'{column.name}' is {column.kind}: levels have no range", "list them after 'is'")
        for value in self.is_:
            if value is not None and code_of(column, value) is None:
                levels = [_said(level) for level in column.alphabet]
                yield _fault(rule, f"'{column.name}' has no level '{_said(value)}'", nearest(_said(value), levels))


class Implication(Clause):
    """Where ``when`` holds, ``then`` holds."""

    when: Condition
    then: Condition

    @property
    def text(self) -> str:
        return f"if {self.when.text}, then {self.then.text}"

    def faults(self, columns: Mapping[str, Column]) -> Iterator[Fault]:
        yield from self.when.faults(self.text, columns)
        yield from self.then.faults(self.text, columns)


FORMS: Mapping[str, type[Clause]] = {"order": Order, "total": Total, "implication": Implication}


def _form(said: Any) -> str | None:
    """The form that shares most keys with what was said; None where none shares any."""
    keys = set(said) if isinstance(said, Mapping) else set(getattr(type(said), "model_fields", ()))
    shared = {form: len(keys & set(clause.model_fields)) for form, clause in FORMS.items()}
    form = max(shared, key=lambda form: shared[form])
    return form if shared[form] else None


Rule = Annotated[
    Annotated[Order, Tag("order")] | Annotated[Total, Tag("total")] | Annotated[Implication, Tag("implication")],
    Discriminator(
        _form,
        custom_error_type="rule",
        custom_error_message="a rule has the keys 'lower' and 'upper', or 'total' and 'of', or 'when' and 'then'",
    ),
]


def rule_faults(rules: Sequence[Rule], columns: Iterable[Column]) -> list[Fault]:
    """What the rules ask that ``columns``, the modelled ones, cannot answer."""
    known = {column.name: column for column in columns}
    return [fault for rule in rules for fault in rule.faults(known)]


def code_of(column: Column, value: Value) -> int | None:
    """The position of a level in the alphabet of a levelled column; None if it is no level. Truth is no number here."""
    same = (level == value and isinstance(level, bool) == isinstance(value, bool) for level in column.alphabet)
    return next((code for code, found in enumerate(same) if found), None)


def _fault(rule: str, found: str, remedy: str = "") -> Fault:
    return Fault(f"schema.rules: {rule}", found, remedy)


def _unknown(rule: str, names: Iterable[str], columns: Mapping[str, Column]) -> Iterator[Fault]:
    for name in names:
        if name not in columns:
            yield _fault(rule, f"'{name}' is no column that is modelled", nearest(name, list(columns)))


def _unordered(rule: str, names: Iterable[str], columns: Mapping[str, Column]) -> Iterator[Fault]:
    for name in names:
        if name in columns and not columns[name].numeric:
            yield _fault(rule, f"'{name}' is {columns[name].kind} and has no order that a rule can use")


def _readable(column: Column, value: Value) -> bool:
    if value is None:
        return True
    if isinstance(value, bool):
        return False
    try:
        column.number(value)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


def _said(value: Value) -> str:
    """A value as the schema's YAML has it, a missing one in words."""
    if value is None:
        return "missing"
    return str(value).lower() if isinstance(value, bool) else str(value)
