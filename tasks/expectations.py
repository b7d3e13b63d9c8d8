"""The contract as a Great Expectations suite, and the owner's own suite. The only importer of great_expectations.

The reviewed schema is the authority: ``tasks/contract.py`` reads and counts, and the suite that is derived from the
schema must agree. The owner's suite adds what a schema cannot say. Great Expectations is asked for a yes or no only,
since everything else it reports holds cells; nothing it says is logged, shown or kept.
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from models.errors import ContractError, Fault, SpecError, nearest
from models.schema import NUMERIC, TEMPORAL, Column, Kind, Scalar, Schema
from models.validation import Check, Validation, promised
from tasks.arrow_types import arrow_type, family, plain, units_per_day
from tasks.contract import Breach, beyond_floats, breaches, floats, ticks
from tasks.date_text import parse

if TYPE_CHECKING:
    import great_expectations as gx
    import pandas as pd

SECONDS_PER_DAY = 86_400
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def validate(table: pa.Table, schema: Schema, own_suite: Path | None = None, *, released: bool = False) -> Validation:
    """Every check of the schema, and of the owner's suite where there is one, on ``table``.

    With ``released`` the table is a synthetic one: it keeps what ``promised(schema)`` says, and the owner's
    expectations about columns that are left out, or about the table as a whole (its columns, its number of rows), are
    not asked.
    Raises SpecError if the owner's suite cannot be read or evaluated.
    """
    contract = promised(schema) if released else schema
    own = [] if own_suite is None else _asked(own_suite, schema, contract, released)
    found = _evaluate(_frame(table, schema, ticked=True), suite_of(contract).expectations)
    checks = _agreed(found, breaches(table, contract))
    if own_suite is not None:
        checks += _own_checks(own_suite, _evaluate(_frame(table, schema, ticked=False), own))
    return Validation(checks=tuple(checks))


def ensure(validation: Validation) -> None:
    """Raises ContractError with every check that failed. A validation without a check is a failed one."""
    if not validation.checks:
        raise ContractError(Fault("table", "not one check was made", "give the schema at least one column"))
    if not validation.passed:
        raise ContractError(_fault(check) for check in validation.failed)


def _fault(check: Check) -> Fault:
    counted = check.found or (f"{check.rows_failed:,} rows failed" if check.rows_failed is not None else "not met")
    whose = "" if check.source == "schema" else " of the owner's suite"
    return Fault(check.column or "table", f"{check.check}{whose}: {counted}", check.remedy)


def suite_of(schema: Schema) -> gx.ExpectationSuite:
    """The schema as expectations about the frame that ``validate`` makes of a table, with moments as model numbers.

    Each says in its ``meta`` which check of ``tasks/contract.py`` it is. Types, formats and columns that the schema
    does not name are judged by the contract alone: Great Expectations judges types by pandas, which renames them.
    """
    import great_expectations as gx

    asked = [expectation for column in schema.released for expectation in _expectations(column)]
    return gx.ExpectationSuite(name="schema", expectations=asked)


def _expectations(column: Column) -> Iterator[Any]:
    import great_expectations.expectations as gxe

    def about(check: str) -> dict[str, Any]:
        return {"column": column.name, "meta": {"check": check}}

    yield gxe.ExpectColumnToExist(**about("missing"))
    if not column.nullable:
        yield gxe.ExpectColumnValuesToNotBeNull(**about("null"))
    if column.kind in NUMERIC:
        yield gxe.ExpectColumnValuesToBeBetween(**about("bounds"), min_value=column.low, max_value=column.high)
    levels = _listed(column)
    if levels is not None:
        yield gxe.ExpectColumnValuesToBeInSet(**about("levels"), value_set=levels)
    if column.unique:
        yield gxe.ExpectColumnValuesToBeUnique(**about("unique"))


def _listed(column: Column) -> list[Scalar] | None:
    """What a column may hold, as the frame holds it; None where any value may come or the contract alone can tell."""
    stored = family(arrow_type(column.dtype))
    if column.kind is Kind.CONSTANT and stored == "text":
        return [str(level) for level in column.levels or ()]
    if column.kind not in (Kind.CATEGORICAL, Kind.BOOLEAN, Kind.CONSTANT) or column.unlisted != "refuse":
        return None
    levels = column.alphabet if column.kind is not Kind.CONSTANT else column.levels or ()
    if stored == "text":
        return [level for level in levels if isinstance(level, str)]
    if stored != "number" or any(beyond_floats(level) for level in levels):
        return None
    return [float(level) for level in levels]


def load_suite(path: Path) -> gx.ExpectationSuite:
    """The owner's suite in the JSON that Great Expectations 1 writes. Each must be met: a severity is not looked at.

    Raises SpecError naming the file and every expectation of it that is unknown or lacks an argument.
    """
    import great_expectations as gx

    said = _suite_json(path)
    built, faults = [], list[Fault]()
    with _quiet():
        for number, one in enumerate(said, start=1):
            try:
                built.append(_built(path, one, number))
            except SpecError as error:
                faults.extend(error.faults)
    if faults:
        raise SpecError(faults)
    return gx.ExpectationSuite(name="own", expectations=built)


def _suite_json(path: Path) -> list[Any]:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        found = (error.strerror or "cannot be read").lower()
        raise SpecError(Fault(str(path), found, "correct 'expectations' in the spec")) from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise SpecError(Fault(str(path), "is no JSON", "write it with Great Expectations, or by its example")) from None
    if not isinstance(said, dict) or not isinstance(said.get("expectations"), list):
        raise SpecError(Fault(str(path), "holds no list of 'expectations'", "write it with Great Expectations 1"))
    return said["expectations"]


def _built(path: Path, one: Any, number: int) -> Any:
    """One expectation, told apart by its number. A suite would drop an unknown one and only log that it did."""
    from great_expectations.compatibility.pydantic import ValidationError
    from great_expectations.exceptions import ExpectationNotFoundError
    from great_expectations.expectations import registry

    kind = one.get("type") if isinstance(one, dict) else None
    if not isinstance(kind, str):
        where = _where(path, number, "of no type")
        raise SpecError(Fault(where, "has no 'type'", "name it as Great Expectations 1 does"))
    where = _where(path, number, kind)
    try:
        implementation = registry.get_expectation_impl(kind)
    except ExpectationNotFoundError:
        close = nearest(kind, registry.list_registered_expectation_implementations()).partition("valid:")[0]
        raise SpecError(Fault(where, "no such expectation", close.strip())) from None
    arguments = one.get("kwargs", {})
    if not isinstance(arguments, dict):
        raise SpecError(Fault(where, "'kwargs' is no mapping", "see its documentation"))
    if any(isinstance(said, dict) and "$PARAMETER" in said for said in arguments.values()):
        raise SpecError(Fault(where, "has a parameter, and nothing here supplies it", "write the value"))
    try:
        return implementation(**{**arguments, **_midnights(arguments), "meta": {"number": number}})
    except ValidationError as error:
        wrong = sorted({str(found["loc"][0]) for found in error.errors()} - {"__root__"})
        found = f"wrong arguments: {', '.join(wrong) or 'they do not fit together'}"
        raise SpecError(Fault(where, found, "see its documentation")) from None


def _midnights(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Bounds that are written as days, as moments: the frame has no days, and pandas does not compare the two."""
    bounds = {key: arguments[key] for key in ("min_value", "max_value") if isinstance(arguments.get(key), str)}
    return {key: f"{text}T00:00:00" for key, text in bounds.items() if DAY.fullmatch(text)}


def _where(path: Path, number: int, kind: str) -> str:
    return f"{path}, expectation {number} ({kind})"


def _asked(path: Path, schema: Schema, contract: Schema, released: bool) -> list[Any]:
    """The owner's expectations that can be asked of a table of ``contract``. Raises SpecError for unknown columns."""
    asked, faults = [], list[Fault]()
    for expectation in load_suite(path).expectations:
        names = _columns(expectation)
        unknown = [name for name in names if name not in schema.names]
        if unknown:
            where = _where(path, expectation.meta["number"], expectation.expectation_type)
            found = [Fault(where, f"no column '{name}' in the schema", nearest(name, schema.names)) for name in unknown]
            faults.extend(found)
        elif not released or (names and set(names) <= set(contract.names)):
            asked.append(expectation)
    if faults:
        raise SpecError(faults)
    return asked


def _columns(expectation: Any) -> tuple[str, ...]:
    """The columns whose cells an expectation looks at; none for one about the table as a whole."""
    if expectation.expectation_type.startswith("expect_table_"):
        return ()
    kwargs = expectation.configuration.kwargs
    single = [kwargs[key] for key in ("column", "column_A", "column_B") if isinstance(kwargs.get(key), str)]
    return (*single, *(name for name in kwargs.get("column_list") or () if isinstance(name, str)))


def _frame(table: pa.Table, schema: Schema, *, ticked: bool) -> pd.DataFrame:
    """The table in dtypes that Great Expectations compares rightly. A name that occurs twice is left out.

    Numbers are numpy's. Moments are naive local ``datetime64[us]``, times of day and durations seconds, as an owner
    would write them; ``ticked``, they are model numbers instead: Great Expectations compares moments one by one.
    """
    import pandas as pd

    once = [name for name in table.column_names if table.column_names.count(name) == 1]
    known = {column.name: column for column in schema.columns}
    series = {name: _series(known.get(name), plain(table.column(name)), ticked) for name in once}
    return pd.DataFrame(series, index=range(table.num_rows))


def _series(column: Column | None, cells: pa.ChunkedArray, ticked: bool) -> Any:
    """One column of the frame; ``column`` is None for one that the schema does not know."""
    import pandas as pd

    if column is not None and column.kind in TEMPORAL and column.include:
        if family(cells.type) == "text" and column.format:
            cells = parse(cells, column.format)
        if ticked and family(cells.type) in ("timestamp", "date", "time", "duration"):
            return ticks(column, cells)
        if column.kind is Kind.TIME and pa.types.is_timestamp(cells.type):
            cells = cells.cast(pa.time64("us"))
    read = READERS.get(family(cells.type))
    return read(column, cells) if read else pd.Series(cells.to_pandas())


def _numbers(column: Column | None, cells: pa.ChunkedArray) -> Any:
    if not pa.types.is_integer(cells.type):
        return floats(cells)
    if not cells.null_count:
        return cells.to_numpy()
    if column is not None and column.kind is Kind.IDENTIFIER:  # as floats, long numbers would run together
        return cells.to_pandas(integer_object_nulls=True)
    return floats(cells)


def _moments(column: Column | None, cells: pa.ChunkedArray) -> Any:
    """Moments with a zone become local time of the zone that the schema says."""
    if pa.types.is_timestamp(cells.type) and cells.type.tz is not None:
        zone = getattr(arrow_type(column.dtype), "tz", None) if column is not None else None
        cells = pc.local_timestamp(cells.cast(pa.timestamp(cells.type.unit, zone or cells.type.tz)))
    return cells.cast(pa.timestamp("us"), safe=False).to_numpy()


def _seconds(column: Column | None, cells: pa.ChunkedArray) -> Any:
    width = pa.int32() if cells.type.bit_width == 32 else pa.int64()
    return floats(cells.cast(width)) / (units_per_day(cells.type) / SECONDS_PER_DAY)


READERS = {
    "number": _numbers,
    "null": _numbers,
    "timestamp": _moments,
    "date": _moments,
    "time": _seconds,
    "duration": _seconds,
}


Outcome = tuple[Any, bool, bool]
"""An expectation, whether it is met, and whether it could be evaluated at all."""


def _evaluate(data: pd.DataFrame, expectations: Sequence[Any]) -> list[Outcome]:
    """Great Expectations takes columns whose names differ in case alone for one: it sees each without the other."""
    spelled = Counter(name.casefold() for name in data.columns)
    alike = {name for name in data.columns if spelled[name.casefold()] > 1}
    asked: dict[frozenset[str], list[Any]] = {}
    for expectation in expectations:
        asked.setdefault(frozenset(alike.intersection(_columns(expectation))), []).append(expectation)
    outcomes: list[Outcome] = []
    for names, about in asked.items():
        taken = {name.casefold() for name in names}
        outcomes += _asked_of(data.drop(columns=[one for one in alike - names if one.casefold() in taken]), about)
    return outcomes


def _asked_of(data: pd.DataFrame, expectations: Sequence[Any]) -> list[Outcome]:
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    suite = gx.ExpectationSuite(name="asked", expectations=[one.copy(deep=True) for one in expectations])
    with _quiet():
        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = ProgressBarsConfig(globally=False, metric_calculations=False)
        source = context.data_sources.add_pandas("memory").add_dataframe_asset("table")
        batch = source.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": data})
        results = batch.validate(suite, result_format="BOOLEAN_ONLY").results
    return [(one.expectation_config, bool(one.success), not _raised(one.exception_info)) for one in results]


def _raised(info: Mapping[str, Any]) -> bool:
    """Whether an exception stands in a result: one flat record where none came, one per metric where some did."""
    return any(record.get("raised_exception") for record in (info, *info.values()) if isinstance(record, Mapping))


@contextmanager
def _quiet() -> Iterator[None]:
    """Within it Great Expectations says nothing: what it would say of a fault may quote cells.

    Its loggers have levels of their own, so their records are caught at the root of them all.
    """
    log = logging.getLogger("great_expectations")
    before = log.handlers, log.propagate
    log.handlers, log.propagate = [logging.NullHandler()], False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.handlers, log.propagate = before


def _agreed(outcomes: Iterable[Outcome], found: Sequence[Breach]) -> list[Check]:
    """What contract and suite say together: a check passes where both say so, and rows are the contract's count.

    Where the contract has another name for what is wrong with a column, that name is told and not a second one.
    """
    broken = {(breach.column, breach.check): breach for breach in found}
    columns = {breach.column for breach in found}
    checks = [_broken(breach) for breach in found]
    for asked, met, _ in outcomes:
        column, check = asked.kwargs["column"], asked.meta["check"]
        if (column, check) in broken or (not met and column in columns):
            continue
        checks.append(Check(column=column, check=check, source="schema", passed=met, rows_failed=0 if met else None))
    return checks


def _broken(breach: Breach) -> Check:
    told = {"rows_failed": breach.rows, "found": breach.found, "remedy": breach.remedy}
    return Check(column=breach.column, check=breach.check, source="schema", passed=False, **told)


def _own_checks(path: Path, outcomes: Iterable[Outcome]) -> list[Check]:
    """The owner's checks in the order of the file; SpecError for those that fail because they cannot be evaluated."""
    checks, faults = [], list[Fault]()
    for asked, met, evaluated in sorted(outcomes, key=lambda outcome: int(outcome[0].meta["number"])):
        if not evaluated:
            where = _where(path, asked.meta["number"], asked.type)
            remedy = "compare its arguments with the column's kind"
            faults.append(Fault(where, "cannot be evaluated on this table", remedy))
        columns = ", ".join(_columns(asked.to_domain_obj())) or None
        remedy = "" if met else f"correct the source, or expectation {asked.meta['number']} of the suite"
        checks.append(Check(column=columns, check=asked.type, source="user", passed=met, remedy=remedy))
    if faults:
        raise SpecError(faults)
    return checks
