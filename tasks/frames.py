"""pandas at the border: DataFrames become Arrow tables, and Arrow tables the very dtypes of a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from models.errors import ContractError, Fault
from tasks.arrow_types import plain

if TYPE_CHECKING:
    import pandas as pd

REMEDY = "give the column one type"


def from_pandas(frame: pd.DataFrame) -> pa.Table:
    """The columns of ``frame``, named by their text; the index is left out.

    Raises ContractError naming every column whose cells have no common type, and every name that occurs twice.
    """
    names = [str(name) for name in frame.columns]
    faults = [
        Fault(name, f"{names.count(name)} columns have this name", "rename all but one")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    cells = []
    for position, name in enumerate(names):
        array, problem = _cells(frame.iloc[:, position])
        cells.append(array)
        faults += [Fault(name, problem, REMEDY)] if problem else []
    if faults:
        raise ContractError(faults)
    return pa.table(cells, names=names) if names else pa.table({"": pa.nulls(len(frame))}).select([])


def to_pandas(table: pa.Table, like: pd.DataFrame) -> pd.DataFrame:
    """``table`` with the dtypes and column labels of ``like``, which may have other rows and columns besides.

    A categorical column declares the categories of ``like``, whether they occur in ``table`` or not.
    """
    import pandas as pd

    place = {str(label): position for position, label in enumerate(like.columns)}
    unknown = [name for name in table.column_names if name not in place]
    if unknown:
        raise ContractError(
            Fault(name, "the DataFrame to follow has no such column", "give the one that was synthesised")
            for name in unknown
        )
    places = [place[name] for name in table.column_names]
    series = [_series(cells, like.iloc[:, position]) for cells, position in zip(table.columns, places, strict=True)]
    frame = pd.concat(series, axis=1) if series else pd.DataFrame(index=range(table.num_rows))
    frame.columns = like.columns.take(places)
    return frame


def _cells(series: pd.Series) -> tuple[pa.Array | pa.ChunkedArray, str]:
    """The cells as Arrow, or why not. Arrow's own messages quote cells, so none of them is passed on."""
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        return _categories(series), ""
    if pd.api.types.is_object_dtype(series.dtype) and (problem := _mixture(series)):
        return pa.nulls(len(series)), problem
    try:
        cells = pa.array(series, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError):
        return pa.nulls(len(series)), f"dtype {series.dtype} has no counterpart in Arrow"
    if isinstance(cells.type, pa.BaseExtensionType):
        return pa.nulls(len(series)), f"dtype {series.dtype} is not supported"
    return cells, ""


def _mixture(series: pd.Series) -> str:
    """What types an object column mixes, where it does. Whole and other numbers may stand together."""
    types = {type(cell) for cell in series[series.notna()]}
    numbers = (int, float, np.integer, np.floating)
    if len(types) <= 1 or all(issubclass(kind, numbers) and kind is not bool for kind in types):
        return ""
    return f"its cells have {len(types)} types: {', '.join(sorted(kind.__name__ for kind in types))}"


def _categories(series: pd.Series) -> pa.DictionaryArray:
    codes = series.cat.codes.to_numpy()
    categories = series.cat.categories
    values = pa.array(_category_texts(categories) if not _plain(categories) else categories)
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), values, ordered=bool(series.cat.ordered))


def _plain(categories: Any) -> bool:
    """Whether Arrow can hold the categories themselves; intervals and other objects go by their text."""
    import pandas as pd

    kind = pd.api.types.infer_dtype(categories, skipna=False)
    return kind in ("string", "integer", "floating", "boolean", "datetime64", "date", "empty") and not isinstance(
        categories.dtype, (pd.IntervalDtype, pd.PeriodDtype)
    )


def _category_texts(categories: Any) -> list[str]:
    return [str(category) for category in categories]


def _series(cells: pa.ChunkedArray, like: pd.Series) -> pd.Series:
    import pandas as pd

    dtype = like.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _categorical(cells, dtype)
    if isinstance(dtype, pd.ArrowDtype):
        return pd.Series(pd.array(cells.cast(dtype.pyarrow_dtype), dtype=dtype))
    if pd.api.types.is_object_dtype(dtype):
        return _objects(cells, like)
    if hasattr(dtype, "__from_arrow__"):
        return pd.Series(dtype.__from_arrow__(cells), dtype=dtype)
    return cells.to_pandas(date_as_object=False).astype(dtype)


def _categorical(cells: pa.ChunkedArray, dtype: pd.CategoricalDtype) -> pd.Series:
    """Categories as ``dtype`` declares them; values that it does not know (made-up identifiers) are declared after."""
    import pandas as pd

    coded = pc.dictionary_encode(plain(cells).combine_chunks())
    values, categories = coded.dictionary.to_pylist(), dtype.categories
    known = list(categories) if _plain(categories) else _category_texts(categories)
    declared = set(known)
    new = [value for value in values if value not in declared]
    if new and _plain(categories):
        dtype = pd.CategoricalDtype(categories.append(pd.Index(new, dtype=categories.dtype)), dtype.ordered)
        known += new
    position = {value: place for place, value in enumerate(known)}
    places = np.array([*(position.get(value, -1) for value in values), -1], dtype=np.int64)
    codes = coded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    return pd.Series(pd.Categorical.from_codes(places[codes], dtype=dtype))


def _objects(cells: pa.ChunkedArray, like: pd.Series) -> pd.Series:
    """Python objects; what is missing is missing as it was in ``like`` (None, NaN, NaT or NA)."""
    import pandas as pd

    gaps = like[like.isna()]
    gap = gaps.iloc[0] if len(gaps) else None
    values = np.empty(len(cells), dtype=object)
    values[:] = [gap if cell is None else cell for cell in cells.to_pylist()]
    return pd.Series(values, dtype=object)
