"""Columns of whatever a table came as: a pandas or polars DataFrame, or an array.

A column is an array of cells of one of three kinds (see `cells`), and what its type says beyond them.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from dipolar.preparation.cells import as_text, clean_text, is_missing

__all__ = ["Column", "as_levels", "is_frame", "read_column", "read_columns"]

ONE_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True)
class Column:
    """The cells of a column, and what its type says: whether it holds booleans, or categories in some order."""

    name: str
    cells: np.ndarray  # float64, datetime64[s], or object with one str or None each
    is_boolean: bool = False
    levels: tuple[str, ...] | None = None  # of a categorical type
    is_ordered: bool = False

    @property
    def is_known(self) -> np.ndarray:
        """True for the cells that have a value."""
        return ~is_missing(self.cells)

    @property
    def n_distinct(self) -> int:
        """How many different values there are."""
        return len(pd.unique(self.cells[self.is_known]))

    def take(self, rows: np.ndarray) -> Column:
        """Return the column of some rows."""
        return Column(self.name, self.cells[rows], self.is_boolean, self.levels, self.is_ordered)


def is_frame(X: Any) -> bool:
    """Tell whether X is a DataFrame, of pandas or of polars."""
    return isinstance(X, pd.DataFrame) or _is_polars(X)


def read_columns(X: Any, names: Sequence[str]) -> list[Column]:
    """Read all columns of a DataFrame or of an array with two axes."""
    if isinstance(X, pd.DataFrame):
        return [read_column(name, X.iloc[:, place]) for place, name in enumerate(names)]
    if _is_polars(X):
        return [_read_polars(name, series) for name, series in zip(names, X.get_columns())]
    return [read_column(name, pd.Series(X[:, place])) for place, name in enumerate(names)]


def read_column(name: str, series: pd.Series) -> Column:
    """Read one column of a pandas DataFrame."""
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _read_categories(name, series)
    if pd.api.types.is_bool_dtype(dtype):
        return Column(name, series.to_numpy(dtype=np.float64, na_value=np.nan), is_boolean=True)
    if pd.api.types.is_complex_dtype(dtype):
        raise ValueError(f"Complex data not supported: {name}. Give real and imaginary part as two columns.")
    if pd.api.types.is_numeric_dtype(dtype):
        return Column(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    if pd.api.types.is_datetime64_any_dtype(dtype):
        if getattr(series.dt, "tz", None) is not None:
            series = series.dt.tz_convert("UTC").dt.tz_localize(None)
        return Column(name, series.to_numpy(dtype="datetime64[s]"))
    if pd.api.types.is_timedelta64_dtype(dtype):
        return Column(name, series.to_numpy() / ONE_DAY)
    return _read_objects(name, series.astype(object))


def _is_polars(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "get_columns")


def _read_polars(name: str, series: Any) -> Column:
    """Read a series of polars: numbers as numbers, all else as the objects that it lists."""
    if series.dtype.is_numeric():
        return Column(name, np.array([np.nan if cell is None else float(cell) for cell in series.to_list()]))
    column = _read_objects(name, series.to_list())
    kind = type(series.dtype).__name__
    if kind == "Boolean":
        return Column(name, _as_floats(column.cells), is_boolean=True)
    if kind not in ("Categorical", "Enum") or column.cells.dtype != object:
        return column
    declared = series.dtype.categories.to_list() if kind == "Enum" else sorted(set(column.cells) - {None})
    return Column(name, column.cells, levels=as_levels(declared))


def as_levels(values: Iterable[Any]) -> tuple[str, ...]:
    """Return different categories as they are written in cells, in their order."""
    return tuple(dict.fromkeys(as_text(np.array([*map(_text, values), None], dtype=object))[:-1].tolist()))


def _as_floats(cells: np.ndarray) -> np.ndarray:
    """Return cells without any value as float64."""
    return cells if cells.dtype == np.float64 else np.full(len(cells), np.nan)


def _read_categories(name: str, series: pd.Series) -> Column:
    """Read a column of categories: what they are called is left as it is."""
    declared = list(series.cat.categories)
    cells = np.array([*map(_text, declared), None], dtype=object)[series.cat.codes.to_numpy()]
    return Column(name, cells, levels=as_levels(declared), is_ordered=bool(series.cat.ordered))


def _read_objects(name: str, objects: Iterable[Any]) -> Column:
    cells = [_cell_or_none(cell) for cell in objects]
    known = [cell for cell in cells if cell is not None]
    if known and all(isinstance(cell, bool | np.bool_) for cell in known):
        return Column(name, np.array([np.nan if cell is None else float(cell) for cell in cells]), is_boolean=True)
    if known and all(isinstance(cell, Real | Decimal) for cell in known):
        return Column(name, np.array([np.nan if cell is None else _float(cell) for cell in cells]))
    if known and all(isinstance(cell, datetime.date) for cell in known):
        return Column(name, np.array([_seconds(cell) for cell in cells], dtype="datetime64[s]"))
    return Column(name, np.array([_cleaned(cell) for cell in cells], dtype=object))


def _cleaned(cell: Any) -> str | None:
    return cell if cell is None or isinstance(cell, str) else clean_text(_text(cell))


def _cell_or_none(cell: Any) -> Any:
    if isinstance(cell, str):
        return clean_text(cell)
    return None if pd.api.types.is_scalar(cell) and pd.isna(cell) else cell


def _text(cell: Any) -> str:
    """Return a cell as text; whole numbers have no decimal point."""
    if isinstance(cell, Real | Decimal) and not isinstance(cell, bool | np.bool_):
        return f"{_float(cell):.15g}"
    return str(cell)


def _float(number: Any) -> float:
    """Return a number of a cell; an Excel file may have whole ones of any length."""
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def _seconds(cell: datetime.date | None) -> np.datetime64:
    if isinstance(cell, datetime.datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(cell, "s")
