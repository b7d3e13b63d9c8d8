"""What a table's columns look like, as far as drafting a schema needs to know."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from models.draft import Booleans, Drafted, Levels, MomentKind, Moments, Numbers, Profile, Unsupported, draft_column
from models.errors import ContractError, Fault
from models.schema import TICKS_PER_DAY, Kind, Resolution, Scalar, Schema
from models.table import Integers
from tasks.arrow_types import family, plain, unit_of, units_per_day, value_type
from tasks.contract import floats, missing_count, wide_decimals
from tasks.date_text import FRACTION, parse, render

EXACT = 2.0**63 - 1024
EXACT_WHOLE = 2**53
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
KINDS: dict[str, MomentKind] = {
    "timestamp": Kind.DATETIME,
    "date": Kind.DATE,
    "time": Kind.TIME,
    "duration": Kind.DURATION,
}
UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
LONGEST_MASK = 64
SAMPLE = 200

DATE_FORMATS = (
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y",
    "%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%B %d, %Y",
    "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y", "%d-%b-%y", "%d %b %y",
)  # fmt: skip
TIME_FORMATS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f")
ISO_FORMATS = tuple(f"%Y-%m-%d{mark}%H:%M:%S{end}" for mark in "T " for end in ("", "Z", FRACTION, FRACTION + "Z"))
FORMATS: dict[str, MomentKind] = (
    dict.fromkeys(DATE_FORMATS, Kind.DATE)
    | dict.fromkeys(TIME_FORMATS, Kind.TIME)
    | dict.fromkeys(ISO_FORMATS, Kind.DATETIME)
    | {f"{day} {clock}": Kind.DATETIME for day in DATE_FORMATS for clock in TIME_FORMATS}
    | {"%Y-%m-%dT%H:%M": Kind.DATETIME}
)
OFFSET = r"\d:\d{2}(?:\.\d+)?(?P<offset>[+-]\d{2}(?::?\d{2})?)$"
OFFSET_FORMATS = tuple(f"%Y-%m-%d{mark}%H:%M:%S{end}" for mark in "T " for end in ("", FRACTION))
EXAMPLE = 1_710_043_505
"""A moment, in seconds since 1970, by which a format is shown: no date of the table may be."""
DATE_LIKE = re.compile(r"####[-/.]##[-/.]##|##[-/.]##[-/.]####|##:##")
NUMBER_LIKE = (
    r"^[-+]?[$€£¥]? ?[-+]?(?:\d{1,3}(?:[,.' ]\d{3})+|0|[1-9]\d*)?(?:[.,]\d+)?"
    r" ?(?:%|[$€£¥]|°[CF]?|(?:kg|mg|g|lbs?|oz|km|cm|mm|m|ml|l|ms|s|min|h|hours?|days?|years?| [A-Za-zµ²³/]{1,8}))?$"
)
LOOKS = {
    "%$": "a % sign",
    "[$€£¥]": "a currency sign",
    r"[A-Za-zµ°²³]$": "a unit",
    r"\d[,.' ]\d{3}(?:\D|$)": "thousands separators",
    r",\d": "a decimal comma",
    r"\.\d": "a decimal point",
}
MOSTLY = 0.9


def draft(table: pa.Table, k: int) -> tuple[Schema, dict[str, str]]:
    """A schema for review, and for every column the reason why it is so. Raises as ``draft_columns`` does."""
    drafted = draft_columns(table, k)
    return Schema(columns=tuple(each.column for each in drafted), k=k), {each.column.name: each.why for each in drafted}


def draft_columns(table: pa.Table, k: int) -> list[Drafted]:
    """The columns of a schema for review, with their reasons and what a person must be warned of.

    Raises ContractError where there is nothing to draft from: no row, a column without a name or two of one name.
    """
    names = table.column_names
    faults = [
        Fault(name, f"{names.count(name)} columns have this name", "rename all but one")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    faults += [Fault(f"column {j + 1}", "has no name", "give it one") for j, name in enumerate(names) if not name]
    faults += [] if table.num_rows else [Fault("table", "has no row", "draft from a table with rows")]
    if faults:
        raise ContractError(faults)
    return [draft_column(profile(name, cells, k), k) for name, cells in zip(names, table.columns, strict=True)]


def profile(name: str, cells: pa.ChunkedArray, k: int) -> Profile:
    """The profile of one column; exact values are in it, so it is not to be kept."""
    missing = missing_count(cells)
    known = family(cells.type) == "other" or missing < len(cells)
    return Profile(name, str(cells.type), len(cells), missing, _content(cells, k) if known else None)


def _content(cells: pa.ChunkedArray, k: int) -> Numbers | Moments | Levels | Booleans | Unsupported:
    kind = family(cells.type)
    if kind == "other":
        return Unsupported()
    if pa.types.is_dictionary(cells.type) and kind in ("text", "number", "boolean"):
        return _dictionary(cells, k)
    if kind == "number":
        numbers = plain(cells)
        return _large_numbers(wide_decimals(numbers), k) if _beyond_floats(numbers) else _numbers(numbers)
    if kind == "boolean":
        true = int(pc.sum(plain(cells)).as_py() or 0)
        return Booleans(true, len(cells) - cells.null_count - true)
    return _text(plain(cells), k) if kind == "text" else _moments(plain(cells), KINDS[kind])


def _numbers(cells: pa.ChunkedArray) -> Numbers:
    kind = cells.type
    values = floats(cells)
    distinct, counts = np.unique(values[np.isfinite(values)] + 0.0, return_counts=True)
    infinite = int(np.isinf(values).sum())
    if pa.types.is_integer(kind):
        limits = np.iinfo(kind.to_pandas_dtype())
        return Numbers(distinct, counts, 0.0, (max(float(limits.min), -EXACT), min(float(limits.max), EXACT)), 0)
    if pa.types.is_decimal(kind):
        widest = 10.0 ** (kind.precision - kind.scale) - 10.0**-kind.scale
        return Numbers(distinct, counts, 0.0, (-widest, widest), max(0, min(kind.scale, 18)))
    precision = np.finfo(kind.to_pandas_dtype())
    return Numbers(distinct, counts, float(precision.eps), (float(precision.min), float(precision.max)), None, infinite)


def _beyond_floats(cells: pa.ChunkedArray) -> bool:
    """Whether integers or decimals are so large that float64 would take different ones for the same."""
    if pa.types.is_floating(cells.type):
        return False
    span = pc.min_max(wide_decimals(cells)).as_py()
    return max(abs(span["min"]), abs(span["max"])) > EXACT_WHOLE


def _large_numbers(cells: pa.ChunkedArray, k: int) -> Levels:
    """Exact numbers, which are levels: int where they are whole, else text."""
    counted = pc.value_counts(pc.drop_null(cells).combine_chunks())
    numbers, counts = counted.field("values").to_pylist(), counted.field("counts").to_numpy()
    whole = all(number == int(number) for number in numbers)
    shared = sorted((number, int(n)) for number, n in zip(numbers, counts, strict=True) if n >= k)
    return Levels(
        shared=tuple((int(number) if whole else str(number), n) for number, n in shared),
        distinct=len(numbers),
        covered=sum(n for _, n in shared),
        numeric=True,
        ordered=True,
        note="numbers beyond 2^53 are kept exactly: if they measure something, make them double in the source",
    )


def _moments(
    cells: pa.ChunkedArray,
    kind: MomentKind,
    format: str | None = None,
    resolution: Resolution | None = None,
    note: str = "",
) -> Moments:
    """Moments in local time, on ``resolution`` or the coarsest grid that holds them all."""
    zoned = pa.types.is_timestamp(cells.type) and cells.type.tz is not None
    local = pc.drop_null(pc.local_timestamp(cells) if zoned else cells)
    per_day = units_per_day(local.type)
    width = pa.int32() if local.type.bit_width == 32 else pa.int64()
    distinct, counts = np.unique(local.cast(width).to_numpy().astype(np.int64), return_counts=True)
    resolution = resolution or coarsest_grid(distinct, per_day, kind)
    values = (distinct // (per_day // TICKS_PER_DAY[resolution])).astype(np.float64)
    return Moments(kind, values, counts, resolution, _limits(local.type, resolution), format, note)


def coarsest_grid(moments: Integers, per_day: int, kind: MomentKind) -> Resolution:
    """The coarsest resolution on whose ticks all ``moments`` lie, counted in units of which a day has ``per_day``.

    Times of day are never coarser than hours, and moments since 1970 never finer than microseconds: float64 cannot
    tell their nanoseconds apart, so those are cut off.
    """
    fitting = (
        name
        for name, ticks in TICKS_PER_DAY.items()
        if ticks <= per_day and not (moments % (per_day // ticks)).any() and (ticks > 1 or kind is not Kind.TIME)
    )
    found = cast(Resolution, next(fitting))
    return "microsecond" if found == "nanosecond" and kind is Kind.DATETIME else found


def _limits(kind: pa.DataType, resolution: Resolution) -> tuple[float, float]:
    """The range of a type in ticks: what 64 bits hold, or the years 1 to 9999."""
    ticks = TICKS_PER_DAY[resolution]
    if pa.types.is_duration(kind) or unit_of(kind) == "ns":
        units = units_per_day(kind) // ticks
        return float(-EXACT // units + 1), float(EXACT // units)
    return FIRST_DAY * ticks, (LAST_DAY + 1) * ticks - 1


def _text(cells: pa.ChunkedArray, k: int) -> Levels | Moments:
    """Dates where all texts are dates of one format, else levels."""
    counted = pc.value_counts(pc.drop_null(cells).combine_chunks())
    texts, counts = counted.field("values"), counted.field("counts").to_numpy()
    constant = len(texts) == 1 and counts[0] >= k and cells.null_count == 0
    formats = [] if constant else date_formats(texts)
    if len(formats) == 1:
        moments = parse(pc.drop_null(cells), formats[0])
        kind = FORMATS.get(formats[0], Kind.DATETIME)
        return _moments(moments, kind, formats[0], _fraction(texts, formats[0]), _rewritten(texts, formats[0]))
    order = np.argsort(-counts, kind="stable")[: int((counts >= k).sum())]
    mask = mask_of(texts)
    dated = mask is not None and DATE_LIKE.search(mask) is not None
    shared = zip(texts.take(pa.array(order)).to_pylist(), counts[order].tolist(), strict=True)
    return Levels(
        shared=tuple(sorted(shared)),
        distinct=len(texts),
        covered=int(counts[order].sum()),
        words=float(np.average(pc.count_substring_regex(texts, r"\S+").to_numpy(), weights=counts)),
        mask=None if dated else mask,
        note="day and month cannot be told apart: set kind date and a format" if formats else "",
        looks_like=("" if formats else _moment_look(texts, dated)) or number_look(texts),
    )


def _fraction(texts: pa.Array, format: str) -> Resolution | None:
    """The resolution that a written fraction of a second has, whether it is ever other than zero or not."""
    if FRACTION not in format:
        return None
    return "millisecond" if pc.all(pc.match_substring_regex(texts, r"\.\d{3}(?:\D|$)")).as_py() else "microsecond"


def _rewritten(texts: pa.Array, format: str) -> str:
    """What to say where some texts lack the leading zeros or the capitals that ``format`` writes."""
    whole = pa.chunked_array([texts])
    if pc.all(pc.equal(render(parse(whole, format), format), whole)).as_py() or FRACTION in format:
        return ""
    example = render(pa.array([EXAMPLE], pa.timestamp("s")), format)[0].as_py()
    return f"not all are written so now: will be written as {example}"


def _moment_look(texts: pa.Array, dated: bool) -> str:
    """What to say of texts that seem to be dates or times, but are not read as such; ``dated``: their pattern does."""
    if pc.all(pc.match_substring_regex(texts, OFFSET)).as_py():
        return "moments with different UTC offsets, or of a format that is not known"
    return "dates or times of a format that is not known" if dated else ""


def number_look(texts: pa.Array) -> str:
    """What kind of written numbers nearly all ``texts`` are, or nothing; digits alone may be codes."""
    cut = pc.utf8_trim_whitespace(texts)
    digits = pc.match_substring_regex(cut, r"\d")
    numbers = pc.and_(digits, pc.match_substring_regex(cut, NUMBER_LIKE))
    codes = pc.match_substring_regex(cut, r"^\d+$")
    if _share(numbers) < MOSTLY or _share(codes) > 0.5:
        return ""
    found = {look: _share(pc.match_substring_regex(cut, pattern)) for pattern, look in LOOKS.items()}
    look = max(found, key=lambda name: found[name])
    return f"numbers with {look}"


def _share(true: pa.Array) -> float:
    return float(pc.mean(true).as_py() or 0.0)


def _dictionary(cells: pa.ChunkedArray, k: int) -> Levels:
    """Levels in the order in which the dictionary declares them."""
    coded = cells.unify_dictionaries()
    declared = (coded.chunk(0).dictionary if coded.num_chunks else pa.array([], value_type(cells.type))).to_pylist()
    codes = pc.drop_null(pa.chunked_array([chunk.indices for chunk in coded.chunks])).to_numpy()
    counts = np.bincount(codes, minlength=len(declared))
    rows: dict[Scalar, int] = {}
    for value, n in zip(declared, counts, strict=True):
        if value is not None:
            rows[_scalar(value)] = rows.get(_scalar(value), 0) + int(n)
    shared = tuple((value, n) for value, n in rows.items() if n >= k)
    is_text = family(cells.type) == "text"
    texts = (
        pa.array([value for value, n in zip(declared, counts, strict=True) if n], pa.large_string())
        if is_text
        else None
    )
    mask = mask_of(texts) if texts is not None else None
    dated = mask is not None and DATE_LIKE.search(mask) is not None
    return Levels(
        shared=shared,
        distinct=int((counts > 0).sum()),
        covered=sum(n for _, n in shared),
        dictionary=True,
        ordered=cells.type.ordered,
        mask=None if dated else mask,
        looks_like=_moment_look(texts, dated) or number_look(texts) if texts is not None else "",
    )


def _scalar(value: Scalar | Decimal) -> Scalar:
    """A value as a schema writes it: decimals as numbers, or as text where those are not exact; no negative zero."""
    if isinstance(value, Decimal) and value.copy_abs() > EXACT_WHOLE:
        return int(value) if value == int(value) else str(value)
    return float(value) + 0.0 if isinstance(value, (Decimal, float)) else value


def date_formats(texts: pa.Array) -> list[str]:
    """The known formats that all ``texts`` follow; two that only swap day and month mean that nobody can tell."""
    few = pa.chunked_array([texts.slice(0, SAMPLE)])
    likely = [format for format in (*FORMATS, *_offset_formats(texts)) if parse(few, format).null_count == 0]
    whole = pa.chunked_array([texts])
    fitting = [format for format in likely if len(texts) <= SAMPLE or parse(whole, format).null_count == 0]
    exact = [format for format in fitting if pc.all(pc.equal(render(parse(whole, format), format), whole)).as_py()]
    return exact or fitting


def _offset_formats(texts: pa.Array) -> list[str]:
    """ISO formats that end in the offset from UTC that all ``texts`` share; the clock stays as it is written."""
    offsets = pc.unique(pc.struct_field(pc.extract_regex(texts, OFFSET), "offset"))
    shared = offsets[0].as_py() if len(offsets) == 1 else None
    return [format + shared for format in OFFSET_FORMATS] if shared else []


def mask_of(texts: pa.Array) -> str | None:
    """The pattern that all ``texts`` follow: ``#`` where they have digits, one character elsewhere; or ``uuid``."""
    if pc.all(pc.match_substring_regex(texts, UUID)).as_py():
        return "uuid"
    lengths = pc.utf8_length(texts)
    shortest, longest = pc.min(lengths).as_py(), pc.max(lengths).as_py()
    if longest > LONGEST_MASK or shortest == 0:
        return None
    if shortest != longest:
        return _numbered_mask(texts)
    characters = texts.to_numpy(zero_copy_only=False).astype(f"U{longest}").view(np.uint32).reshape(len(texts), longest)
    digit = ((characters >= ord("0")) & (characters <= ord("9"))).all(axis=0)
    same = (characters == characters[0]).all(axis=0)
    if not (digit | same).all() or not digit.any() or (characters[0][~digit] == ord("#")).any():
        return None
    return "".join("#" if is_digit else chr(code) for is_digit, code in zip(digit, characters[0], strict=True))


def _numbered_mask(texts: pa.Array) -> str | None:
    """A common beginning and a number without leading zeros: ``P-7``, ``P-12``."""
    first = re.fullmatch(r"([^0-9#]+)[0-9]+", texts[0].as_py())
    if first is None:
        return None
    pattern = "^" + re.escape(first[1]) + "[0-9]+$"
    longest = pc.max(pc.utf8_length(texts)).as_py()
    return (
        first[1] + "#" * (longest - len(first[1])) if pc.all(pc.match_substring_regex(texts, pattern)).as_py() else None
    )
