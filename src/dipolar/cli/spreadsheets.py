"""Tables for spreadsheets: text stays text, and is never taken for a formula.

A program that opens a file runs what it takes for a formula, and a cell that somebody else has typed may hold any. An
Excel file says of each cell that it is text. A CSV file cannot say that: there, text that begins like a formula and is
no number gets an apostrophe in front, which spreadsheets take for "this is text" (OWASP, "CSV Injection").
"""

from __future__ import annotations

import csv
import io
import re
from typing import Any, BinaryIO

import pandas as pd

from dipolar.cli.messages import counted

__all__ = ["CannotHoldError", "begins_like_a_formula", "write_csv", "write_excel", "write_parquet"]

# The wide forms of the signs are taken for the plain ones where text is Japanese.
FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

# What an .xlsx file has room for, its header included, and what no XML file can hold.
MOST_ROWS = 1_048_576
MOST_CHARACTERS = 32_767
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class CannotHoldError(ValueError):
    """A table does not fit into the type of file that was asked for."""


def begins_like_a_formula(cell: Any) -> bool:
    """Tell whether a spreadsheet would run a cell of text: -3.5 is a number, and -3.5+cmd() is none."""
    return isinstance(cell, str) and FORMULA.match(cell) is not None and NUMBER.fullmatch(cell) is None


def write_csv(frame: pd.DataFrame, stream: BinaryIO) -> list[str]:
    """Write a frame to CSV, with an apostrophe before text that begins like a formula; return what was done."""
    safe = frame.rename(columns=_with_apostrophe)
    notes = []
    for number, name in enumerate(frame.columns):
        cells = frame.iloc[:, number]
        changed = int(cells.map(begins_like_a_formula).sum()) + begins_like_a_formula(name)
        if changed:
            safe.isetitem(number, cells.map(_with_apostrophe))
            notes.append(
                f"{name}: an apostrophe before {counted(changed, 'text')} that spreadsheets would take for a formula"
            )
    # A carriage return ends a row for most readers, and Python quotes line feeds only.
    has_return = frame.map(lambda cell: isinstance(cell, str) and "\r" in cell).to_numpy().any()
    safe.to_csv(stream, index=False, quoting=csv.QUOTE_NONNUMERIC if has_return else csv.QUOTE_MINIMAL)
    return notes


def write_parquet(frame: pd.DataFrame, stream: BinaryIO) -> list[str]:
    """Write a frame to a Parquet file, which knows no formulas."""
    frame.to_parquet(stream, index=False)
    return []


def write_excel(frame: pd.DataFrame, stream: BinaryIO) -> list[str]:
    """Write a frame to an .xlsx file in which every text is marked as one."""
    _refuse_what_excel_cannot_hold(frame)
    content = io.BytesIO()  # openpyxl must not meet a full disk: it would complain again when its parts are deleted
    with pd.ExcelWriter(content, engine="openpyxl") as book:
        frame.to_excel(book, index=False)
        for row in book.book.active.iter_rows():
            for cell in row:
                if isinstance(cell.value, str):
                    cell.data_type = "s"  # and not a formula, or the code of an error
                    cell.quotePrefix = begins_like_a_formula(cell.value)
    stream.write(content.getbuffer())
    return []


def _with_apostrophe(cell: Any) -> Any:
    return f"'{cell}" if begins_like_a_formula(cell) else cell


def _refuse_what_excel_cannot_hold(frame: pd.DataFrame) -> None:
    if len(frame) >= MOST_ROWS:
        raise CannotHoldError(f"an Excel file has room for {MOST_ROWS - 1} rows, and there are {len(frame)}.")
    for name, column in frame.items():
        for cell in [name, *column]:
            if isinstance(cell, str) and len(cell) > MOST_CHARACTERS:
                raise CannotHoldError(
                    f"an Excel cell has room for {MOST_CHARACTERS} characters, and one of {str(name)[:40]!r} has "
                    f"{len(cell)}."
                )
            if isinstance(cell, str) and CONTROL.search(cell):
                raise CannotHoldError(f"a cell of {str(name)[:40]!r} holds a character that Excel files cannot hold.")
