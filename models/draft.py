"""A first schema for review: what a column's profile suggests that it is.

A draft errs towards disclosing less. Levels and peaks are values that at least k rows share, bounds are rounded outward
(``models.rounding``), and identifiers are told by what their values look like. Roles are guessed from names alone. The
reasons name counts, never a value, so they can stand on a screen and in a schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal

import numpy as np

from models.rounding import date_bounds, day_bounds, iso_text, number_bounds
from models.schema import TICKS_PER_DAY, Column, Kind, Resolution, Role, Scalar
from models.table import Floats, Integers

RARE = "(rare)"
FEW_LEVELS = 10
WIDE = 100
MOST_PEAKS = 100
NEARLY_UNIQUE = 0.9
TEXT_WORDS = 5.0
DENSE = 1.1
MOST_DECIMALS = 6
SKEWED = 0.05
NEIGHBOURS = 5
SIGMAS = 5.0
DOMINANT = 100
FAR = 0.5

ROLE_WORDS: dict[Role, re.Pattern[str]] = {
    Role.TARGET: re.compile("target|class|label|outcome"),
    Role.SENSITIVE: re.compile(
        "alcohol|cancer|cannabis|cocaine|credit|debt|drugs?|hiv|icd|income|lab|marijuana|phq|phq9|religion|salary|wages?|"
        "(convict|crimin|depress|diabet|diagnos|disab|disease|medicat|mental|pregnan|psych|sexual|smok|suicid|treatment).*"
    ),
    Role.QUASI_IDENTIFIER: re.compile(
        "age|birthday|city|country|county|dob|education|gender|height|household|job|marital|municipality|native|postal|"
        "postcode|profession|race|region|sex|state|town|zip|zipcode|(birth|ethnic|national|occupation).*"
    ),
}
IDENTIFIER_WORDS = re.compile("cpr|email|guid|iban|ids?|identifier|mrn|passport|phone|pid|seqn|ssn|uuid")


MomentKind = Literal[Kind.DATETIME, Kind.DATE, Kind.TIME, Kind.DURATION]


@dataclass(frozen=True)
class Numbers:
    """Distinct finite ``values`` in ascending order and how many rows have each.

    ``precision`` is the relative precision of the type (0 for exact ones), ``scale`` its decimals where it has any, and
    ``limits`` the range that it can hold.
    """

    values: Floats
    counts: Integers
    precision: float
    limits: tuple[float, float]
    scale: int | None = None
    infinite: int = 0


@dataclass(frozen=True)
class Moments:
    """Distinct ``values`` in ticks of ``resolution``, ascending, and how many rows have each."""

    kind: MomentKind
    values: Floats
    counts: Integers
    resolution: Resolution
    limits: tuple[float, float]
    format: str | None = None
    note: str = ""


@dataclass(frozen=True)
class Levels:
    """Values without arithmetic: text, booleans, and whatever a dictionary holds.

    ``shared`` are the values that at least k rows have, with their counts, in the order in which they should be listed;
    ``covered`` rows have one of them. ``mask`` is a pattern that all texts follow (``#`` for a digit, or ``uuid``);
    ``looks_like`` says what the texts seem to be that text should not be; ``numeric`` levels are numbers kept exactly.
    """

    shared: tuple[tuple[Scalar, int], ...]
    distinct: int
    covered: int
    dictionary: bool = False
    ordered: bool = False
    words: float = 0.0
    mask: str | None = None
    note: str = ""
    looks_like: str = ""
    numeric: bool = False


@dataclass(frozen=True)
class Booleans:
    true: int
    false: int


@dataclass(frozen=True)
class Unsupported:
    """Cells of a type that cannot be modelled: lists, bytes, structures."""


@dataclass(frozen=True)
class Profile:
    """What drafting needs to know of one column. It holds exact values, so it is never written down."""

    name: str
    dtype: str
    rows: int
    missing: int
    cells: Numbers | Moments | Levels | Booleans | Unsupported | None

    @property
    def present(self) -> int:
        return self.rows - self.missing


@dataclass(frozen=True)
class Drafted:
    """A column, why it is so, and what a person must be warned of (part of the reason, too)."""

    column: Column
    why: str
    warning: str = ""


def draft_column(profile: Profile, k: int) -> Drafted:
    """The column that ``profile`` suggests; ``k`` rows must share a value before the draft tells it."""
    cells = profile.cells
    if isinstance(cells, Unsupported):
        return _drafted(
            profile, "cells of this type cannot be modelled: left out of the release", kind=Kind.TEXT, include=False
        )
    if cells is None or profile.present == 0:
        return _drafted(profile, "no row has a value", kind=Kind.CONSTANT, levels=())
    drafters: dict[type, Callable[[Profile, Any, int], Drafted]] = {
        Booleans: _boolean,
        Levels: _levels,
        Numbers: _numbers,
        Moments: _moments,
    }
    drafted = drafters[type(cells)](profile, cells, k)
    role = Role.IDENTIFIER if drafted.column.kind is Kind.IDENTIFIER else suggested_role(profile.name)
    return replace(drafted, column=drafted.column.model_copy(update={"role": role}))


def suggested_role(name: str) -> Role:
    """What a column's name alone suggests; a person corrects it."""
    return next((role for role, known in ROLE_WORDS.items() if any(map(known.fullmatch, _words(name)))), Role.PLAIN)


def _words(name: str) -> list[str]:
    """The words of a name: ``patientID`` and ``patient_id`` are both patient and id."""
    return re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower())


def _names_an_identifier(name: str) -> bool:
    return any(map(IDENTIFIER_WORDS.fullmatch, _words(name)))


def _drafted(profile: Profile, why: str, **fields: Any) -> Drafted:
    column = Column(**{"name": profile.name, "dtype": profile.dtype, "nullable": profile.missing > 0, **fields})
    return Drafted(column, why + _gap_note(profile))


def _warned(drafted: Drafted, warning: str) -> Drafted:
    return replace(drafted, why=f"{drafted.why}; {warning}", warning=warning) if warning else drafted


def _gap_note(profile: Profile) -> str:
    return f"; {_percent(profile.missing, profile.rows)} missing" if profile.missing else ""


def _percent(part: int, whole: int) -> str:
    share = 100 * part / whole
    return "under 1 %" if 0 < share < 1 else f"{share:.0f} %"


def _is_constant(profile: Profile, distinct: int, k: int) -> bool:
    return distinct == 1 and profile.missing == 0 and profile.rows >= k


def _boolean(profile: Profile, cells: Booleans, k: int) -> Drafted:
    if _is_constant(profile, (cells.true > 0) + (cells.false > 0), k):
        return _drafted(profile, "all rows share one value", kind=Kind.CONSTANT, levels=(cells.true > 0,))
    return _drafted(profile, "true or false", kind=Kind.BOOLEAN)


def _levels(profile: Profile, cells: Levels, k: int) -> Drafted:
    if cells.distinct == 1 and cells.shared and _is_constant(profile, 1, k):
        return _drafted(profile, "all rows share one value", kind=Kind.CONSTANT, levels=(cells.shared[0][0],))
    nearly_unique = profile.rows > k and cells.distinct >= NEARLY_UNIQUE * profile.present
    named = _names_an_identifier(profile.name)
    if cells.looks_like and not named and (nearly_unique or cells.covered < profile.present / 2):
        advice = "convert it in the source; as it is, it is taken for free text and refused"
        warning = f"LOOKS LIKE {cells.looks_like}: {advice}"
        return _warned(_drafted(profile, "hardly any value repeats", kind=Kind.TEXT), warning)
    if cells.words >= TEXT_WORDS and cells.covered < profile.present / 2:
        return _drafted(
            profile, "free text is not modelled: set 'include: false', or another kind if it is none", kind=Kind.TEXT
        )
    if (
        cells.mask == "uuid"
        or nearly_unique
        or (named and profile.present < k * cells.distinct)
        or (cells.numeric and cells.covered < profile.present / 2)
    ):
        return _identifier(profile, cells.distinct, _shared_mask(profile, cells, k), cells.note)
    return _categorical(profile, cells, k)


def _shared_mask(profile: Profile, cells: Levels, k: int) -> str | None:
    """The pattern, unless fewer than ``k`` rows share characters that it spells out."""
    spelled_out = cells.mask is not None and cells.mask != "uuid" and cells.mask.strip("#") != ""
    return None if spelled_out and profile.present < k else cells.mask


def _identifier(profile: Profile, distinct: int, mask: str | None, note: str = "") -> Drafted:
    unique = distinct == profile.rows
    how = (
        "every value occurs once" if distinct == profile.present else f"{distinct:,} values in {profile.present:,} rows"
    )
    made = f"made anew as {mask}" if mask else "made anew as running numbers"
    return _drafted(
        profile, "; ".join(filter(None, (how, made, note))), kind=Kind.IDENTIFIER, format=mask, unique=unique
    )


def _categorical(profile: Profile, cells: Levels, k: int) -> Drafted:
    levels = tuple(level for level, _ in cells.shared)
    unlisted = profile.present - cells.covered
    fields: dict[str, Any] = {"kind": Kind.CATEGORICAL, "levels": levels, "ordered": cells.ordered}
    why = [f"{len(levels):,} level{'' if len(levels) == 1 else 's'} that at least {k} rows share", cells.note]
    if len(levels) > WIDE:
        why.append("wide: a larger k or 'unlisted: other' with fewer levels is quicker to learn")
    if unlisted:
        fields |= _unlisted_policy(profile, cells)
        read_as = (
            "missing"
            if fields["unlisted"] == "missing"
            else RARE
            if fields["other"] == RARE
            else "the most common level"
        )
        why.append(f"rarer values ({_percent(unlisted, profile.present)} of the cells) are read as {read_as}")
    return _warned(_drafted(profile, "; ".join(filter(None, why)), **fields), _levels_warning(profile, cells, fields))


def _levels_warning(profile: Profile, cells: Levels, fields: dict[str, Any]) -> str:
    """What is lost where most cells are rare, or where the text is something else that should be modelled as such."""
    unlisted = profile.present - cells.covered
    hint = f"LOOKS LIKE {cells.looks_like}: convert it in the source" if cells.looks_like else ""
    if unlisted <= profile.present / 2:
        return hint
    stand_in = "missing" if fields["unlisted"] == "missing" else f"'{RARE}'" if fields["other"] == RARE else "one level"
    lost = f"{_percent(unlisted, profile.present)} of the cells BECOME {stand_in}"
    return f"{lost}; {hint or 'group the values in the source, use a smaller k, or leave the column out'}"


def _unlisted_policy(profile: Profile, cells: Levels) -> dict[str, Any]:
    """Text may gain a level of its own; a dictionary's values are declared, so there a rare one gives way."""
    if not cells.dictionary and not cells.numeric:
        return {"unlisted": "other", "other": RARE}
    if profile.missing or not cells.shared:
        return {"unlisted": "missing", "nullable": True}
    return {"unlisted": "other", "other": max(cells.shared, key=lambda level: level[1])[0]}


def _numbers(profile: Profile, cells: Numbers, k: int) -> Drafted:
    values, counts = cells.values, cells.counts
    if not len(values):
        return _drafted(profile, _infinite_note(cells), kind=Kind.CONTINUOUS, bounds=(0.0, 1.0))
    whole = bool((values == np.rint(values)).all())
    if whole and not cells.infinite and _numbers_rows(profile, cells, k):
        return _identifier(profile, len(values), None)
    if len(values) <= FEW_LEVELS and int(counts.min()) >= k and not cells.infinite:
        listed = tuple(int(value) if whole else float(value) for value in values)
        if _is_constant(profile, len(values), k):
            return _drafted(profile, "all rows share one value", kind=Kind.CONSTANT, levels=listed)
        why = f"{len(values)} numbers that at least {k} rows share"
        return _drafted(profile, why, kind=Kind.CATEGORICAL, levels=listed, ordered=True)
    return _measured(profile, cells, whole, k)


def _numbers_rows(profile: Profile, cells: Numbers, k: int) -> bool:
    """Whether whole numbers are there to tell rows apart: all different and closely packed, or so named."""
    named = _names_an_identifier(profile.name)
    if int(cells.counts.max()) == 1 and profile.present > 1:
        packed = float(cells.values[-1] - cells.values[0]) + 1 <= DENSE * len(cells.values)
        return named or (packed and profile.rows > k)
    return named and profile.present < k * len(cells.values)


def _measured(profile: Profile, cells: Numbers, whole: bool, k: int) -> Drafted:
    """A column of numbers: their grid, bounds, scale and peaks."""
    values, counts = cells.values, cells.counts
    decimals = 0 if whole else decimals_of(values, cells.precision, cells.scale)
    grid = 0.0 if decimals is None else 10.0**-decimals
    log = heavily_skewed(values, counts) and (grid > 0 or values[0] > 0)
    low, high = number_bounds(values, counts, k, grid, log)
    low, high = max(low, cells.limits[0]), min(high, cells.limits[1])
    found = peaks(values, counts, k)
    what = (
        "whole numbers"
        if whole
        else "numbers"
        if decimals is None
        else f"numbers with {decimals} decimal{'s' if decimals > 1 else ''}"
    )
    why = [what, _infinite_note(cells), "log scale" if log else "", _peak_note(found), "bounds rounded outward"]
    drafted = _drafted(
        profile,
        "; ".join(filter(None, why)),
        kind=Kind.INTEGER if whole else Kind.CONTINUOUS,
        bounds=(int(low), int(high)) if whole else (low, high),
        decimals=None if whole else decimals,
        scale="log" if log else "linear",
        peaks=tuple(map(int, found)) if whole else found,
    )
    spread = np.log(np.maximum(values, grid or values[0])) if log else values
    return _warned(drafted, _far_warning(spread, counts, k))


def _far_warning(values: Floats, counts: Integers, k: int) -> str:
    """Warns where fewer than k rows lie far beyond the rest: by half of the range of all but k rows at each end."""
    below, above = np.cumsum(counts), np.cumsum(counts[::-1])
    first, last = int(np.searchsorted(below, k)), len(values) - 1 - int(np.searchsorted(above, k))
    if first > last:
        return ""
    far = FAR * (values[last] - values[first])
    gaps = np.diff(values)
    ends = [end for end, gap in (("lower", gaps[:first]), ("upper", gaps[last:])) if (gap > far).any()]
    return f"the {' and '.join(ends)} BOUND HANGS ON FEWER THAN {k} ROWS far from the rest: review it" if ends else ""


def _infinite_note(cells: Numbers) -> str:
    return (
        f"{cells.infinite:,} infinite cells break the contract: make them missing in the source"
        if cells.infinite
        else ""
    )


def _peak_note(found: tuple[float, ...]) -> str:
    if not found:
        return ""
    several = len(found) > 1
    return f"{len(found)} frequent value{'s are' if several else ' is'} kept exactly (peaks)"


def _moments(profile: Profile, cells: Moments, k: int) -> Drafted:
    values, counts = cells.values, cells.counts
    dated = cells.kind in (Kind.DATE, Kind.DATETIME)
    found = peaks(values, counts, max(k, ceil(counts.sum() / DOMINANT)) if dated else k)
    if cells.kind is Kind.TIME:
        bounds: tuple[str, str] | tuple[float, float] = day_bounds(cells.resolution)
        rounded = "bounds are the whole day"
    elif cells.kind is Kind.DURATION:
        low, high = number_bounds(values, counts, k, 1.0)
        per_second = TICKS_PER_DAY[cells.resolution] / 86_400
        bounds = max(low, cells.limits[0]) / per_second, min(high, cells.limits[1]) / per_second
        rounded = "bounds rounded outward, in seconds"
    else:
        bounds = date_bounds(values, counts, k, cells.resolution, cells.limits)
        rounded = "bounds rounded outward"
    what = f"{cells.kind}s written as {cells.format}" if cells.format else f"{cells.kind}s"
    why = [what, cells.note, f"to the {cells.resolution}", _peak_note(found), rounded]
    drafted = _drafted(
        profile,
        "; ".join(filter(None, why)),
        kind=cells.kind,
        bounds=bounds,
        resolution=cells.resolution,
        peaks=tuple(_moment(peak, cells) for peak in found),
        format=cells.format,
    )
    return drafted if cells.kind is Kind.TIME else _warned(drafted, _far_warning(values, counts, k))


def _moment(tick: float, cells: Moments) -> str | float:
    """A tick as a schema writes it: ISO text, or seconds of a duration."""
    if cells.kind is Kind.DURATION:
        return tick * 86_400 / TICKS_PER_DAY[cells.resolution]
    text = iso_text(int(tick), cells.resolution)
    return text.partition("T")[2] if cells.kind is Kind.TIME else text


def decimals_of(values: Floats, precision: float, scale: int | None) -> int | None:
    """The fewest decimals, up to ``scale`` or six, that write all ``values`` as exactly as their type holds them."""
    if scale is not None and precision == 0:
        return next((d for d in range(scale) if _written_with(values, d, 2.0**-50)), scale)
    return next((d for d in range(MOST_DECIMALS + 1) if _written_with(values, d, precision)), None)


def _written_with(values: Floats, decimals: int, precision: float) -> bool:
    return bool((np.abs(np.round(values, decimals) - values) <= precision * np.abs(values)).all())


def heavily_skewed(values: Floats, counts: Integers) -> bool:
    """Whether nothing is negative and half of the positive cells lie in the lowest twentieth of the range."""
    if values[0] < 0 or len(values) <= FEW_LEVELS:
        return False
    positive, rows = values[values > 0], np.cumsum(counts[values > 0])
    middle = positive[np.searchsorted(rows, rows[-1] / 2)]
    return bool(middle - positive[0] < SKEWED * (positive[-1] - positive[0]))


def peaks(values: Floats, counts: Integers, k: int) -> tuple[float, ...]:
    """The values that at least k rows share and that stand out: the most striking hundred, ascending.

    Surroundings are the median count of the five distinct values on either side, whichever is more. A value stands out
    where it has more than twice the rows of its surroundings, and five standard deviations of them more.
    """
    common = np.flatnonzero(counts >= k)
    around = np.maximum(
        _medians(counts, common, range(-NEIGHBOURS, 0)), _medians(counts, common, range(1, NEIGHBOURS + 1))
    )
    excess = counts[common] - around
    standing = np.flatnonzero((excess > around) & (excess > SIGMAS * np.sqrt(around)))
    kept = standing[np.argsort(-excess[standing], kind="stable")][:MOST_PEAKS]
    return tuple(float(value) for value in np.sort(values[common[kept]]))


def _medians(counts: Integers, places: Integers, steps: range) -> Floats:
    """For each of ``places`` the median of the counts that lie ``steps`` away; 0 where there is none."""
    near = places[:, np.newaxis] + np.array(steps)
    inside = (near >= 0) & (near < len(counts))
    found = np.where(inside, counts[np.clip(near, 0, len(counts) - 1)], np.nan)
    found[~inside.any(axis=1)] = 0.0
    medians: Floats = np.nanmedian(found, axis=1) if len(places) else np.zeros(0)
    return medians
