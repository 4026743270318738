"""Tables as they come: CSV, Parquet and Excel files, and the bundled data sets."""

from __future__ import annotations

import codecs
import csv
import gc
import io
import os
import re
import select
import stat
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from dipolar.cli.messages import UserError, counted, listed, reason_of, suggestion
from dipolar.datasets import list_datasets, load_dataset
from dipolar.preparation.cells import with_decimal_point
from dipolar.preparation.columns import read_column

__all__ = ["Table", "read_table"]

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}

# Records from which the separator is told.
RECORDS_SNIFFED = 200

UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

ENCODINGS = ("utf-8", "latin-1", "cp1252", "iso8859-15", "cp1250", "mac-roman", "utf-16", "shift-jis", "gb18030")

# How objects and lists of things begin, and headers of tables do not: a column may be called [id].
JSON_START = re.compile(r"\s*(\{\s*[\"}]|\[\s*[\[{\"\d])")

# Seconds in which a pipe has to have a writer.
PATIENCE = 5.0

EXCEL_SUFFIXES = (".xlsx", ".xlsm")
PARQUET_SUFFIXES = (".parquet", ".pq")


@dataclass(frozen=True)
class Table:
    """Rows under named columns, all of whose names are different strings."""

    name: str
    frame: pd.DataFrame
    notes: list[str] = field(default_factory=list)  # what the reader had to decide
    bundled: bool = False
    time_unit: str | None = None  # where it is known

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.frame.columns)

    def cells(self, name: str) -> np.ndarray:
        """Return a column as numbers, dates or text; see `dipolar.preparation.cells`."""
        return read_column(name, self.frame[name]).cells

    def take(self, rows: np.ndarray) -> Table:
        """Return the table of some rows."""
        return replace(self, frame=self.frame.iloc[rows])


def read_table(data: str, covariates: str = "all", sheet: str | None = None, encoding: str | None = None) -> Table:
    """Read a file, or a bundled data set where no file has that name.

    Parameters
    ----------
    data : str
        Path or name.
    covariates : {"paper", "all"}, default="all"
        Which columns of a bundled set to take. Of a file all are taken.
    sheet : str, default=None
        Name of a sheet of an Excel file, or its number; None takes the first.
    encoding : str, default=None
        How the text of a CSV file is encoded; None takes UTF-8, UTF-16 or Latin-1, whichever it can be.
    """
    path = Path(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # readers have opinions on styles and the like
            return _read(path, data, covariates, sheet, encoding)
    except OSError as error:
        raise UserError(f"{data} cannot be read: {reason_of(error)}.") from error


def _read(path: Path, data: str, covariates: str, sheet: str | None, encoding: str | None) -> Table:
    is_bundled = data in set(list_datasets()["name"]) and not path.exists()
    if sheet is not None and (is_bundled or _suffix(path) not in EXCEL_SUFFIXES):
        raise UserError(f"--sheet chooses a sheet of an Excel file, and {data} is none. Leave it out.")
    if encoding is not None and (is_bundled or _suffix(path) in EXCEL_SUFFIXES + PARQUET_SUFFIXES):
        raise UserError(f"--encoding says how the text of a CSV file is written, and {data} is none. Leave it out.")
    if is_bundled:
        return _bundled(data, covariates)
    _require_file(path, data)
    if _suffix(path) in EXCEL_SUFFIXES:
        table = _read_excel(path, sheet)
    else:
        table = _read_parquet(path) if _suffix(path) in PARQUET_SUFFIXES else _read_csv(path, encoding)
    if not table.columns or not len(table):
        raise UserError(f"{data} has no rows below its header. Give a table with one row per person.")
    return table


def _suffix(path: Path) -> str:
    return path.suffix.lower()


def _require_file(path: Path, data: str) -> None:
    """Refuse what is no file, or not one of rows; a pipe is left to the reader of text."""
    try:
        about = path.stat()
    except FileNotFoundError as error:
        names = list(list_datasets()["name"])
        hint = suggestion(data, names) or f" Give a CSV, Parquet or Excel file, or a bundled set: {listed(names)}."
        raise UserError(f"there is no file {data}, nor a bundled data set of that name.{hint}") from error
    if stat.S_ISDIR(about.st_mode):
        raise UserError(f"{data} is a folder. Give a CSV, Parquet or Excel file in it.")
    if _suffix(path) == ".xls":
        raise UserError(f"{data} is in Excel's old format. Save it as .xlsx or as CSV.")
    if stat.S_ISFIFO(about.st_mode) and _suffix(path) not in EXCEL_SUFFIXES + PARQUET_SUFFIXES:
        return
    if not stat.S_ISREG(about.st_mode):
        raise UserError(f"{data} is not a regular file. Give a CSV, Parquet or Excel file, or CSV through a pipe.")
    if about.st_size == 0:
        raise UserError(f"{data} is empty. Give a table with a header line and one row per person.")


def _bundled(name: str, covariates: str) -> Table:
    bunch = load_dataset(name, covariates=covariates)
    assert isinstance(bunch, Bunch)
    return Table(name, bunch.frame.astype(np.float64), bundled=True, time_unit=bunch.time_unit)


# Text files.


def _read_csv(path: Path, encoding: str | None) -> Table:
    text, notes = _decode(path, _content(path), encoding)
    separator = _sniff(text)
    records = _records(path, text, separator)
    header, rows = _named(path, records[0][1]), records[1:]
    if separator != ",":
        notes.append(f"columns separated by {SEPARATORS[separator]}")
    cells = [[cell.strip() for cell in row] for _, row in rows]
    if separator != "," and _rewrite_decimal_commas(cells):
        notes.append("numbers with a decimal comma")
    return Table(path.name, pd.DataFrame(cells, columns=header, dtype=object), notes)


def _content(path: Path) -> bytes:
    """Return the bytes of a file, or all that comes through a pipe."""
    if not path.is_fifo():
        return path.read_bytes()
    # Opened without waiting: to wait for a writer that never comes would take for ever.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as pipe:
        select.select([pipe], [], [], PATIENCE)
        try:
            begin = os.read(pipe.fileno(), 1)
            if not begin:
                raise UserError(f"{path} is a pipe that nobody writes to. Start what writes to it, or give a file.")
        except BlockingIOError:  # somebody does, and takes some time
            begin = b""
        os.set_blocking(pipe.fileno(), True)
        return begin + pipe.read()


def _decode(path: Path, raw: bytes, encoding: str | None) -> tuple[str, list[str]]:
    if encoding is not None:
        text, notes = _decode_as_told(path, raw, encoding), [f"text in {encoding}, as told"]
    else:
        text, notes = _decode_utf16(path, raw) if raw.startswith(UTF16_MARKS) else _decode_bytes(raw)
    if "\0" in text:
        raise UserError(f"{path} is not a text file. Give a CSV, Parquet (.parquet) or Excel (.xlsx) file.")
    if JSON_START.match(text):
        raise UserError(f"{path} holds JSON, not a table. Give a CSV, Parquet (.parquet) or Excel (.xlsx) file.")
    return text, notes


def _decode_as_told(path: Path, raw: bytes, encoding: str) -> str:
    try:
        return raw.decode(encoding).removeprefix("\ufeff")
    except UnicodeError as error:
        raise UserError(
            f"{path} is no text in {encoding}: {error}. Name another --encoding, or leave it out."
        ) from error
    except (LookupError, ValueError) as error:  # a name with a NUL in it is a ValueError
        hint = suggestion(encoding, ENCODINGS) or f" Common ones are {listed(ENCODINGS)}."
        raise UserError(f"--encoding: there is no encoding {encoding!r:.60} of text.{hint}") from error


def _decode_bytes(raw: bytes) -> tuple[str, list[str]]:
    try:
        return raw.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return raw.decode("latin-1"), ["text in Latin-1"]


def _decode_utf16(path: Path, raw: bytes) -> tuple[str, list[str]]:
    try:
        return raw.decode("utf-16"), ["text in UTF-16"]
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path} begins as UTF-16 text and is damaged at byte {error.start}: {error.reason}. "
            "Save it again, as UTF-8 if you can."
        ) from error


def _sniff(text: str) -> str:
    """Return the separator that gives most records the width of the header, and the widest of several."""
    start = "\n".join(text.splitlines()[:RECORDS_SNIFFED])

    def fit_and_width(separator: str) -> tuple[bool, int]:
        widths: list[int] = []
        with suppress(csv.Error):  # the line is told when all is read
            widths += (len(record) for record in csv.reader(io.StringIO(start), delimiter=separator) if record)
        width = widths[0] if widths else 0
        return width > 1 and Counter(widths)[width] >= 0.8 * len(widths), width

    return max(SEPARATORS, key=fit_and_width)


def _records(path: Path, text: str, separator: str) -> list[tuple[int, list[str]]]:
    """Return line numbers and cells of the records that hold anything, all as wide as the first."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        records = [(reader.line_num, record) for record in reader if any(cell.strip() for cell in record)]
    except csv.Error as error:
        raise UserError(f"{path}, line {reader.line_num}: {error}. Is a quotation mark left open?") from error
    if not records:
        raise UserError(f"{path} is empty. Give a table with a header line and one row per person.")
    width = len(records[0][1])
    for line, record in records:
        if len(record) != width:
            raise UserError(
                f"{path}, line {line} has {counted(len(record), 'cell')}, and the header has {width} "
                f"(separated by {SEPARATORS[separator]}). Mend that line, or quote cells that hold the separator."
            )
    return records


def _named(path: Path, header: list[Any]) -> list[str]:
    """Return the names of the columns; one without a name gets its number."""
    names = [str(name).strip() for name in header]
    names = [name or f"column {number}" for number, name in enumerate(names, start=1)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UserError(f"{path} has several columns called {listed(map(repr, twice))}. Rename all but one of them.")
    return names


def _rewrite_decimal_commas(cells: list[list[str]]) -> bool:
    found = False
    for row in cells:
        for i, cell in enumerate(row):
            if "," in cell:
                row[i] = with_decimal_point(cell)
                found |= row[i] != cell
    return found


# Files with types.


def _read_parquet(path: Path) -> Table:
    try:
        frame = pd.read_parquet(path)
    except ImportError as error:
        raise UserError("Parquet files need the package pyarrow: pip install 'dipolar[cli]', or give a CSV.") from error
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is not a complete Parquet file. Write it again, or give a CSV.") from error
    return _from_frame(path, frame, [])


def _read_excel(path: Path, wanted: str | None) -> Table:
    with _quiet_parts():
        found = _parse_excel(path, wanted)
    if found is None:
        raise UserError(f"{path} is not a complete Excel file. Save it again as .xlsx, or give a CSV.")
    sheets, sheet, frame = found
    frame = frame[(frame != "").any(axis=1)]
    if not len(frame):
        raise UserError(f"{path}: the sheet {sheet!r} is empty. {_other_sheets(sheets, sheet)}")
    frame = frame.iloc[1:].set_axis(_named(path, list(frame.iloc[0])), axis=1)
    return _from_frame(path, frame, _sheet_notes(sheets, sheet, wanted))


def _parse_excel(path: Path, wanted: str | None) -> tuple[list[str], str, pd.DataFrame] | None:
    """Return the names of the sheets, the one that is read, and its cells; None for a damaged file."""
    try:
        with pd.ExcelFile(path, engine="openpyxl") as book:
            sheets = [str(name) for name in book.sheet_names]
            sheet = _sheet(path, sheets, wanted)
            return sheets, sheet, book.parse(sheet, dtype=object, header=None, keep_default_na=False)
    except UserError:
        raise
    except ImportError as error:
        raise UserError("Excel files need the package openpyxl: pip install 'dipolar[cli]', or give a CSV.") from error
    except Exception:  # whatever openpyxl trips over in a damaged file
        return None


@contextmanager
def _quiet_parts() -> Iterator[None]:
    """Do not show what parts of openpyxl raise when they are deleted: a damaged file is refused anyway, in one line."""
    hook = sys.unraisablehook
    sys.unraisablehook = lambda _: None
    try:
        yield
    finally:
        gc.collect()
        sys.unraisablehook = hook


def _sheet(path: Path, sheets: list[str], wanted: str | None) -> str:
    """Return the name of the sheet to read; a name goes before a number."""
    if wanted is None:
        return sheets[0]
    if wanted in sheets:
        return wanted
    if wanted.isdecimal() and 1 <= int(wanted) <= len(sheets):
        return sheets[int(wanted) - 1]
    hint = suggestion(wanted, sheets) or f" It has {listed(map(repr, sheets))}."
    raise UserError(f"--sheet: {path} has no sheet {wanted!r}.{hint}")


def _other_sheets(sheets: list[str], sheet: str) -> str:
    others = [name for name in sheets if name != sheet]
    return f"Name another one: --sheet {others[0]!r}." if others else "Put a table with a header line on it."


def _sheet_notes(sheets: list[str], sheet: str, wanted: str | None) -> list[str]:
    if wanted is not None:
        return [f"sheet {sheet!r}"]
    return [f"sheet {sheet!r}, the first of {len(sheets)}; --sheet takes another"] if len(sheets) > 1 else []


def _from_frame(path: Path, frame: pd.DataFrame, notes: list[str]) -> Table:
    return Table(path.name, frame.set_axis(_named(path, list(frame.columns)), axis=1), notes)
