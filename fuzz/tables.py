"""Files of rows as they might come: CSV, Excel, Parquet and worse, with odd cells and damaged bytes."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd

from fuzz.draw import Draw

__all__ = ["draw_columns", "typed_columns", "write_file"]

Columns = dict[str, list[Any]]

OUTCOME_NAMES = (("time", "event"), ("days", "status"), ("futime", "death"), ("OS.time", "censored"))
NAMES = (
    "age",
    "risk",
    "sex",
    "x",
    "patient_id",
    "stage",
    "seen",
    "=cmd()",
    "größe",
    "a,b",
    "a;b",
    " ",
    "",
    "[id]",
    "{x}",
)
ODD_NAMES = (*NAMES, "time", "status", "x" * 300, "a\nb", '"', "'", "\u202e", "\ufeffx", "{", "\x1b[31m", "[bold]")

FORMULAS = ("=1+1", "+A1", "-2+cmd|'x'!A0", "@SUM(A1)", "\t=1", "＝1", "#N/A", "=HYPERLINK(1)", "-", "+")
NUMBERS = (
    "1",
    "2.5",
    "-3.5",
    "1e5",
    "007",
    "+4",
    "1,5",
    "1.234,5",
    "1'000",
    "5%",
    "1e999",
    "-1e-999",
    "0x1F",
    "٣",
    "½",
)
WORDS = ("a", "B", "yes", "no", "alive", "dead", "true", "NA", "", "nan", "inf", "-inf", "None", "ZÜRICH", "İ", "ß")
DATES = ("2020-01-02", "31.12.1999", "12/31/99", "0001-01-01", "9999-12-31", "2020-02-30", "1 Jan 2020", "24:00")
ODD = ('"', '""', 'a"b', "a,b", "a;b", "a\nb", "a\rb", "a\tb", "|", "\\", "'", "\x00", "\x01", "\x1a", "\x7f", "\x85")
STRANGE = ("\u2028", "\ufeff", "\ufffe", "\U0010ffff", "😀", "e\u0301", "\u202e", "[red]x[/]", ":smile:", "%s", "{0}")
TYPED = (
    *(0, 1, 2, -1, 2**31, 2**63, 10**400, 0.5, 1e308, -1e308, 5e-324, float("nan"), float("inf"), True, False, None),
    *(datetime.date(2020, 1, 2), datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31), datetime.time(1, 2)),
    *(datetime.timedelta(days=3), decimal.Decimal("1.50"), decimal.Decimal("NaN"), b"bytes", [1, 2], {"a": 1}),
)


def draw_columns(draw: Draw) -> Columns:
    """Return the columns of a table; in tame cases one that can be fitted."""
    n = int(draw.rng.integers(30, 60)) if draw.is_tame else draw.one_of((0, 1, 2, 5, 30, 60))
    time, event = OUTCOME_NAMES[0] if draw.is_tame else draw.one_of(OUTCOME_NAMES)
    columns: Columns = {
        time: [f"{value:.3g}" for value in draw.rng.exponential(100, n)],
        event: [draw.one_of(("0", "1")) for _ in range(n)],
        "age": [str(value) for value in draw.rng.integers(20, 90, n)],
        "sex": [draw.one_of(("m", "f")) for _ in range(n)],
    }
    for _ in range(int(draw.rng.integers(0, 4))):
        columns[draw.ordinary_or_wild(NAMES, ODD_NAMES)] = _cells(draw, n)
    if not draw.is_tame and draw.chance(0.3) and n:
        columns[draw.one_of(list(columns))][int(draw.rng.integers(n))] = _odd_cell(draw)
    return columns


def _cells(draw: Draw, n: int) -> list[str]:
    kinds: dict[str, Callable[[], str]] = {
        "numbers": lambda: f"{draw.rng.normal():.4g}",
        "codes": lambda: draw.one_of(("1", "2", "3")),
        "words": lambda: draw.one_of(WORDS),
        "any number": lambda: draw.one_of(NUMBERS),
        "dates": lambda: draw.one_of(DATES[:2]),
        "any date": lambda: draw.one_of(DATES),
        "formulas": lambda: draw.one_of(FORMULAS),
        "odd": lambda: _odd_cell(draw),
    }
    make = kinds[draw.note("cells", draw.one_of(list(kinds)[:2] if draw.is_tame else list(kinds)))]
    return [make() for _ in range(n)]


def _odd_cell(draw: Draw) -> str:
    if draw.chance(0.02):
        return "x" * draw.one_of((32_767, 32_768, 131_072, 131_073))
    return str(draw.one_of((*ODD, *STRANGE, *FORMULAS, *NUMBERS, *DATES)))


def write_file(draw: Draw, columns: Columns, folder: Path) -> Path:
    """Write a table to a file of some kind, and perhaps damage it; return its path."""
    kind = draw.note("file", draw.one_of(("csv",) if draw.is_tame else ("csv",) * 5 + tuple(WRITERS)))
    content = WRITERS[kind](draw, columns)
    if not draw.is_tame and draw.chance(0.15):
        content = _damaged(draw, content)
    suffix = kind if draw.is_tame or draw.chance(0.95) else draw.one_of((*WRITERS, "txt", "xls", "XLSX"))
    path = folder / f"data.{suffix}"
    path.write_bytes(content)
    return path


def _damaged(draw: Draw, content: bytes) -> bytes:
    how = draw.note("damage", draw.one_of(("cut", "changed", "inserted", "repeated", "nothing")))
    if how == "nothing" or not content:
        return b""
    place = int(draw.rng.integers(len(content)))
    if how == "cut":
        return content[:place]
    if how == "repeated":
        return content + content[place:]
    few = draw.one_of((1, 1, 3, 30))
    junk = draw.one_of((draw.rng.bytes(few), b"\0" * few, b'"' * few, b"\xff" * few, b"[" * 100_000))
    return content[:place] + junk + content[place + (len(junk) if how == "changed" else 0) :]


def _csv(draw: Draw, columns: Columns) -> bytes:
    separator = "," if draw.is_tame else draw.note("separator", draw.one_of(",,;\t|: "))
    quotes = draw.is_tame or draw.chance(0.7)
    ending = draw.one_of(("\n", "\r\n", "\r"))

    def written(cell: str) -> str:
        needs = any(sign in cell for sign in (separator, '"', "\n", "\r"))
        return '"' + cell.replace('"', '""') + '"' if quotes and needs else cell

    lines = [separator.join(map(written, row)) for row in ([*columns], *zip(*columns.values()))]
    if not draw.is_tame and draw.chance(0.1):  # a line of another width
        lines.insert(int(draw.rng.integers(len(lines) + 1)), separator * int(draw.rng.integers(9)) + "z")
    text = ending.join(lines) + draw.one_of(("", ending))
    encodings = ("utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "utf-32", "cp1252", "shift_jis", "utf-7")
    encoding = "utf-8" if draw.is_tame else draw.note("encoding", draw.one_of(("utf-8", *encodings)))
    content = text.encode(encoding, "replace")
    return content.replace(b"z", b"\x00\xd8") if encoding.startswith("utf-16") and draw.chance(0.3) else content


def _json_lines(draw: Draw, columns: Columns) -> bytes:
    if draw.chance(0.2):
        return draw.one_of((b"[", b'{"a":', b"[\n", b"{}\n")) * draw.one_of((1, 10, 100_000))
    rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
    return "\n".join(json.dumps(row, ensure_ascii=draw.chance(0.5)) for row in rows).encode()


def typed_columns(draw: Draw, columns: Columns) -> Columns:
    """Put values of other types into some cells."""
    typed = {name: [_as_number(cell) for cell in cells] for name, cells in columns.items()}
    for name in draw.some_of(list(typed), 3) if draw.chance(0.6) else ():
        share = draw.one_of((0.05, 1.0))
        kinds = draw.some_of(TYPED, 3)
        typed[name] = [draw.one_of(kinds) if draw.chance(share) else cell for cell in typed[name]]
    return typed


def _as_number(cell: str) -> Any:
    try:
        return float(cell)
    except ValueError:
        return cell


def _excel(draw: Draw, columns: Columns) -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    typed = typed_columns(draw, columns)
    for row in ([*typed], *zip(*typed.values())):
        sheet.append([_for_excel(cell) for cell in row])
    if draw.chance(0.1):
        draw.one_of((book.create_sheet, book.create_chartsheet))("legend", draw.one_of((0, 1)))
    if draw.chance(0.1) and sheet.max_row > 1:
        sheet.merge_cells(start_row=1, start_column=1, end_row=2, end_column=2)
    stream = io.BytesIO()
    book.save(stream)
    return _edited(draw, stream.getvalue()) if draw.chance(0.3) else stream.getvalue()


def _for_excel(cell: Any) -> Any:
    """Return a cell that openpyxl can write."""
    if isinstance(cell, str):
        return "".join(sign for sign in cell if sign.isprintable() or sign in "\t\n")
    is_plain = cell is None or isinstance(cell, bool | int | float | datetime.datetime | datetime.date)
    return cell if is_plain and not (isinstance(cell, int) and abs(cell) > 1e300) else str(cell)


def _edited(draw: Draw, content: bytes) -> bytes:
    """Return an Excel file with one of its parts changed, under right checksums."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = draw.note("part", draw.one_of(list(parts)))
    edits: dict[str, Callable[[bytes], bytes | None]] = {
        "gone": lambda part: None,
        "empty": lambda part: b"",
        "cut": lambda part: part[: len(part) // 2],
        "digits": lambda part: part.replace(b"1", draw.one_of((b"9" * 400, b"-1", b"x", b"1e999"))),
        "types": lambda part: part.replace(b't="n"', draw.one_of((b't="e"', b't="d"', b't="b"', b't="s"', b't="q"'))),
        "nested": lambda part: part.replace(b"><", b">" + b"<a>" * 5000 + b"</a>" * 5000 + b"<", 1),
        "entity": lambda part: b'<!DOCTYPE a [<!ENTITY b "c">]>' + part,
        "other": lambda part: parts[draw.one_of(list(parts))],
    }
    part = edits[draw.note("edit", draw.one_of(list(edits)))](parts.pop(name))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for key, data in (parts if part is None else parts | {name: part}).items():
            archive.writestr(key, data)
    return stream.getvalue()


def _parquet(draw: Draw, columns: Columns) -> bytes:
    typed = typed_columns(draw, columns)
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in typed.items()})
    for name in frame:
        for target in draw.some_of((None, "category", "float32", "Int64", "string", "datetime64[ns, CET]"), 3):
            with suppress(Exception), np.errstate(over="ignore"):  # some types hold only some columns
                frame[name] = frame[name] if target is None else frame[name].astype(target)
                break
    stream = io.BytesIO()
    try:
        frame.to_parquet(stream)
    except Exception:  # what Parquet cannot hold is no case; plain text it can
        stream = io.BytesIO()
        frame.astype(str).to_parquet(stream)
    return stream.getvalue()


def _noise(draw: Draw, columns: Columns) -> bytes:
    return bytes(draw.rng.bytes(int(draw.rng.integers(2000)))) if draw.chance(0.5) else np.zeros(100, "u1").tobytes()


WRITERS: dict[str, Callable[[Draw, Columns], bytes]] = {
    "csv": _csv,
    "xlsx": _excel,
    "parquet": _parquet,
    "jsonl": _json_lines,
    "dat": _noise,
}
