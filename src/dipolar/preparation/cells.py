"""Cells of a table as numbers, dates or text.

A column is an array of one of three kinds: float64 (missing: NaN), datetime64[s] (missing: NaT), or object with one str
per cell (missing: None). Files of plain text give the last kind only; what it means is decided later.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np

__all__ = [
    "DATE_FORMATS",
    "MISSING_WORDS",
    "as_dates",
    "as_numbers",
    "as_text",
    "clean_text",
    "date_format",
    "is_missing",
    "with_decimal_point",
]

# What people write into a cell that has no value, in lower case.
MISSING_WORDS = frozenset({"", ".", "-", "?", "na", "n/a", "#n/a", "nan", "null", "missing"})

# Tried in this order; the first that reads every cell is taken, so that 03/04/2020 is a day in April.
DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %H:%M",
    "%d %b %Y",
    "%d-%b-%Y",
)

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
LEADING_ZERO = re.compile(r"[+-]?0\d")
NUMBER_WITH_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?")


def clean_text(cell: Any) -> str | None:
    """Return a cell of text without blanks around it; None where it says that there is no value."""
    text = str(cell).strip()
    return None if text.lower() in MISSING_WORDS else text


def with_decimal_point(text: str) -> str:
    """Return 1.234,5 and 1234,5 as 1234.5, and anything else as it is."""
    return text.replace(".", "").replace(",", ".") if NUMBER_WITH_COMMA.fullmatch(text) else text


def is_missing(column: np.ndarray) -> np.ndarray:
    """Return True for the cells without a value."""
    if column.dtype == object:
        return np.array([cell is None for cell in column], dtype=bool)
    return np.isnat(column) if column.dtype.kind == "M" else np.isnan(column)


def as_numbers(column: np.ndarray) -> np.ndarray:
    """Return float64, NaN where a cell is missing or not a finite number."""
    if column.dtype.kind == "M":
        return np.full(len(column), np.nan)
    if column.dtype == object:
        return _by_distinct_cell(column, _number, np.nan, np.float64)
    return np.where(np.isfinite(column), column, np.nan)


def as_text(column: np.ndarray) -> np.ndarray:
    """Return one str per cell, None where it is missing; whole numbers have no decimal point."""
    if column.dtype == object:
        # Numbers that were written as 2.0 here and as 2 elsewhere are the same.
        return _by_distinct_cell(column, _plain, None, object)
    if column.dtype.kind == "M":
        return np.array([None if np.isnat(date) else str(date)[:10] for date in column], dtype=object)
    return np.array([None if np.isnan(number) else _write(number) for number in column], dtype=object)


def as_dates(column: np.ndarray, form: str | None) -> np.ndarray:
    """Return datetime64[s], NaT where a cell is missing or not a date of the given format."""
    if column.dtype.kind == "M":
        return column
    if column.dtype != object or form is None:
        return np.full(len(column), "NaT", dtype="datetime64[s]")
    return _by_distinct_cell(column, lambda text: _date(text, form), "NaT", "datetime64[s]")


def date_format(column: np.ndarray) -> str | None:
    """Return the format in which every known cell of a text column is a date; None if there is none."""
    known = {cell for cell in column if cell is not None}
    for form in DATE_FORMATS if known else ():
        if all(_date(text, form) is not None for text in known):
            return form
    return None


def _by_distinct_cell(column: np.ndarray, read: Callable[[str], Any], missing: Any, dtype: Any) -> np.ndarray:
    """Read every distinct text once; columns repeat themselves."""
    meaning = {text: read(text) for text in {cell for cell in column if cell is not None}}
    cells = [missing if cell is None else meaning[cell] for cell in column]
    return np.array([missing if value is None else value for value in cells], dtype=dtype)


def _number(text: str) -> float | None:
    number = float(text) if NUMBER.fullmatch(text) else np.nan
    return number if np.isfinite(number) else None


def _plain(text: str) -> str:
    """Return 2.0 and +2 as 2; a code such as 007 is not a number."""
    number = None if LEADING_ZERO.match(text) else _number(text)
    return text if number is None else _write(number)


def _write(number: float) -> str:
    return str(int(number)) if abs(number) < 1e15 and number == int(number) else repr(float(number))


def _date(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None
