"""The reviewed schema: what each column is, which values it may take, and what will happen to it.

Bounds and levels are public facts that a person has reviewed. Nothing that is fitted may learn a bound or a level
from the rows; it takes them from here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from enum import StrEnum
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from models.errors import Fault, SpecError, nearest
from models.rules import Rule

Scalar = bool | int | float | str
Resolution = Literal["day", "hour", "minute", "second", "millisecond", "microsecond", "nanosecond"]

TICKS_PER_DAY: dict[str, int] = {
    "day": 1,
    "hour": 24,
    "minute": 24 * 60,
    "second": 86_400,
    "millisecond": 86_400 * 10**3,
    "microsecond": 86_400 * 10**6,
    "nanosecond": 86_400 * 10**9,
}


OFFSET = re.compile(r"T.*[+-]")
"""What numpy would count back to UTC."""


class Kind(StrEnum):
    """What a column's values are. Missing values may occur in every kind."""

    CONTINUOUS = "continuous"
    INTEGER = "integer"
    CATEGORICAL = "categorical"
    BOOLEAN = "boolean"
    DATETIME = "datetime"
    DATE = "date"
    TIME = "time"
    DURATION = "duration"
    IDENTIFIER = "identifier"
    CONSTANT = "constant"
    TEXT = "text"


class Role(StrEnum):
    """What a column is to an attacker and to an analyst."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    TARGET = "target"
    PLAIN = "plain"


NUMERIC = frozenset({Kind.CONTINUOUS, Kind.INTEGER, Kind.DATETIME, Kind.DATE, Kind.TIME, Kind.DURATION})
LEVELLED = frozenset({Kind.CATEGORICAL, Kind.BOOLEAN})
TEMPORAL = frozenset({Kind.DATETIME, Kind.DATE, Kind.TIME, Kind.DURATION})


class Frozen(BaseModel):
    """A value that refuses unknown keys, names the nearest valid one, and cannot be changed."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


def _temporal_text(value: object) -> object:
    """Dates, which some readers of YAML make of ``2017-01-01``, as ISO text."""
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    return value


Bound = Annotated[int | float | str, BeforeValidator(_temporal_text)]


class Column(Frozen):
    """One column of the schema.

    ``dtype`` is the Arrow type as text, and what comes out has it again. ``bounds`` are numbers for ``continuous`` and
    ``integer``, seconds for ``duration``, ISO text for ``date``, ``datetime`` (local time where a zone is set) and
    ``time``. ``peaks`` are single values that many rows share (a zero, a top code), written as bounds are; a number
    among dates or times is one of ticks. They are drawn as themselves, not as part of a bin. ``levels`` lists what a
    categorical column may hold; ``unlisted`` says what becomes of a value that it does not list: ``refuse`` (a breach
    of contract), ``missing``, or ``other`` (it is read as ``other``). ``format`` is the pattern of an identifier (``#``
    stands for a digit, ``uuid`` for a whole one) or the strptime format of dates kept as text. ``unique`` says that no
    two rows may share an identifier.
    ``include: false`` leaves the column out of the release.
    """

    name: str = Field(min_length=1)
    kind: Kind
    role: Role = Role.PLAIN
    dtype: str
    nullable: bool = False
    bounds: tuple[Bound, Bound] | None = None
    decimals: int | None = Field(default=None, ge=0, le=18)
    resolution: Resolution | None = None
    scale: Literal["linear", "log"] = "linear"
    peaks: tuple[Bound, ...] = ()
    levels: tuple[Scalar, ...] | None = None
    ordered: bool = False
    unlisted: Literal["refuse", "missing", "other"] = "refuse"
    other: Scalar | None = None
    format: str | None = None
    unique: bool = False
    include: bool = True

    @property
    def modelled(self) -> bool:
        """Whether generators see the column. Identifiers and constants are made anew; text is refused."""
        return self.include and self.kind in NUMERIC | LEVELLED

    @property
    def numeric(self) -> bool:
        return self.kind in NUMERIC

    @property
    def alphabet(self) -> tuple[Scalar, ...]:
        """All values a levelled column may take in model form, by code: the levels, then ``other`` if it is not one."""
        if self.kind is Kind.BOOLEAN:
            return (False, True)
        levels = self.levels or ()
        if self.unlisted == "other" and self.other is not None and self.other not in levels:
            return (*levels, self.other)
        return levels

    @property
    def low(self) -> float:
        """The lower bound as a model number (see ``number``)."""
        assert self.bounds is not None
        return self.number(self.bounds[0])

    @property
    def high(self) -> float:
        assert self.bounds is not None
        return self.number(self.bounds[1])

    @property
    def peak_numbers(self) -> tuple[float, ...]:
        """The peaks as model numbers."""
        ticks = self.kind in TEMPORAL and self.kind is not Kind.DURATION
        return tuple(float(p) if ticks and not isinstance(p, str) else self.number(p) for p in self.peaks)

    @property
    def step(self) -> float | None:
        """The grid of model numbers: 1 for integers and ticks, 10^-decimals, or None where any number may come."""
        if self.kind is Kind.CONTINUOUS:
            return None if self.decimals is None else 10.0**-self.decimals
        return 1.0

    def number(self, value: float | str) -> float:
        """A bound as a model number: itself, or ticks of ``resolution`` since 1970 or midnight."""
        if self.kind not in TEMPORAL:
            return float(value)
        ticks = TICKS_PER_DAY[self.resolution or "day"]
        if self.kind is Kind.DURATION:
            return float(value) * ticks / 86_400
        if self.kind is Kind.TIME:
            return _nanoseconds_of_day(str(value)) * ticks / TICKS_PER_DAY["nanosecond"]
        if OFFSET.search(str(value)):
            raise ValueError("bounds and peaks are in local time, without an offset")
        # In nanoseconds no year after 2262 can be written.
        unit: Literal["ns", "us"] = "ns" if self.resolution == "nanosecond" else "us"
        moment = np.datetime64(str(value).replace("Z", ""), unit).astype(np.int64)
        return float(moment // (TICKS_PER_DAY["nanosecond" if unit == "ns" else "microsecond"] // ticks))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        problems = list(_inconsistencies(self))
        if problems:
            raise ValueError("; ".join(problems))
        return self


def _nanoseconds_of_day(text: str) -> int:
    hours, minutes, seconds = (*text.split(":"), "0", "0")[:3]
    return (int(hours) * 3600 + int(minutes) * 60) * 10**9 + round(float(seconds) * 1e9)


def _inconsistencies(column: Column) -> Iterable[str]:
    if not column.include:
        return
    if column.kind in NUMERIC:
        yield from _bound_problems(column)
    elif column.bounds is not None:
        yield f"kind {column.kind} takes no bounds"
    if column.kind in (Kind.CATEGORICAL, Kind.CONSTANT) and column.levels is None:
        yield f"kind {column.kind} needs levels (a list, possibly empty)"
    if column.kind not in (Kind.CATEGORICAL, Kind.CONSTANT) and column.levels is not None:
        yield f"kind {column.kind} takes no levels"
    if column.levels is not None and len({(type(v), v) for v in column.levels}) != len(column.levels):
        yield "a level is listed twice"
    if column.kind is Kind.CONSTANT and len(column.levels or ()) > 1:
        yield f"a constant has at most one level, not {len(column.levels or ())}"
    if column.kind is Kind.CATEGORICAL and not column.alphabet and not column.nullable:
        yield "no level is left to draw from (list levels, or set 'unlisted: other' with an 'other' value)"
    if column.unlisted == "other" and column.other is None:
        yield "'unlisted: other' needs the value 'other'"
    if column.unlisted == "missing" and not column.nullable:
        yield "'unlisted: missing' needs 'nullable: true'"
    if column.unique and column.kind is not Kind.IDENTIFIER:
        yield "only identifiers can be unique (generators draw every row anew)"
    if column.kind in TEMPORAL and column.resolution is None:
        yield f"kind {column.kind} needs a resolution"


def _bound_problems(column: Column) -> Iterable[str]:
    if column.bounds is None:
        yield f"kind {column.kind} needs bounds [low, high]"
        return
    try:
        low, high = column.low, column.high
    except (ValueError, TypeError, OverflowError):
        yield f"bounds of kind {column.kind} cannot be read"
        return
    if not (np.isfinite(low) and np.isfinite(high)) or low > high:
        yield "bounds must be finite, the lower one first"
    else:
        yield from _peak_problems(column, low, high)
    if column.scale == "log" and low <= 0 and column.kind is Kind.CONTINUOUS and column.decimals is None:
        yield "scale log on bounds that reach zero needs decimals"


def _peak_problems(column: Column, low: float, high: float) -> Iterable[str]:
    try:
        outside = [not low <= peak <= high for peak in column.peak_numbers]
    except (ValueError, TypeError, OverflowError):
        yield f"peaks of kind {column.kind} cannot be read"
        return
    if any(outside):
        yield "a peak lies outside the bounds"


class Schema(Frozen):
    """The columns of a table in their order, and the number of rows that must share a level before it is listed."""

    columns: tuple[Column, ...]
    k: int = Field(
        default=10, ge=1, description="a level is listed, and a peak kept, only when at least k rows share it"
    )
    rules: tuple[Rule, ...] = Field(default=(), description="what every row must keep (see models.rules)")

    @model_validator(mode="after")
    def _unique(self) -> Self:
        names = [column.name for column in self.columns]
        twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if twice:
            raise ValueError(f"column named twice: {', '.join(twice)}")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def modelled(self) -> tuple[Column, ...]:
        """The columns that generators see, in order."""
        return tuple(column for column in self.columns if column.modelled)

    @property
    def released(self) -> tuple[Column, ...]:
        """The columns that a release has, in order."""
        return tuple(column for column in self.columns if column.include)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise SpecError(Fault(name, "no such column in the schema", nearest(name, self.names)))

    def having(self, role: Role) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role is role)


IDENTIFIER_SLOT = re.compile(r"#+")


def identifier_capacity(pattern: str) -> int:
    """How many identifiers a pattern such as ``P-####`` can number."""
    digits = sum(len(slot) for slot in IDENTIFIER_SLOT.findall(pattern))
    return int(10**digits)


def subset(columns: Sequence[Column], names: Iterable[str]) -> tuple[Column, ...]:
    """The columns called ``names``, in the order of ``names``."""
    by_name = {column.name: column for column in columns}
    return tuple(by_name[name] for name in names)
