"""Files that are written: refused before the work where they cannot be, and whole or absent after it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pandas as pd

from dipolar.cli.messages import UserError, reason_of
from dipolar.cli.spreadsheets import CannotHoldError, write_csv, write_excel, write_parquet
from dipolar.files import place_of, write_whole

__all__ = ["check_destination", "check_table_destination", "whole_file", "write_table"]

WRITERS = {".csv": write_csv, ".parquet": write_parquet, ".xlsx": write_excel}


def check_destination(path: Path | None, *, force: bool, sources: Iterable[str | Path | None] = ()) -> None:
    """Refuse a file that could not be written, that would replace another unless `force`, or that is read as well."""
    if path is None:
        return
    try:
        place, old = place_of(path)
    except IsADirectoryError as error:
        raise UserError(f"{path} is a folder. Give the name of a file in it.") from error
    except OSError as error:
        raise UserError(f"{path} cannot be written: {reason_of(error)}. Give another name.") from error
    if any(source is not None and place == Path(source).resolve() for source in sources):
        raise UserError(f"{path} is named twice, and would be overwritten. Give another name.")
    if old is not None and not force:
        raise UserError(f"{path} exists already. Give another name, or replace it: --force.")
    if not place.parent.is_dir():
        folder = place.parent if path.is_symlink() else path.parent
        raise UserError(f"the folder {folder} does not exist. Make it, or give another place for {path.name}.")
    try:
        # Asking for permissions is not enough: a disk may be full, or mounted for reading only.
        with tempfile.TemporaryFile(dir=place.parent) as probe:
            probe.write(b"\0")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {reason_of(error)}. Give another folder.") from error


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears complete or not at all; what the system has against it is told to the user."""
    try:
        with write_whole(path) as stream:
            yield stream
    except OSError as error:
        raise UserError(f"{path} could not be written: {reason_of(error)}.") from error


def check_table_destination(path: Path | None, *, force: bool, sources: Iterable[str | Path | None] = ()) -> None:
    """Refuse as `check_destination` does, and file types that no table is written to."""
    if path is not None and path.suffix.lower() not in WRITERS:
        *others, last = WRITERS
        raise UserError(f"{path} should end with {', '.join(others)} or {last}.")
    check_destination(path, force=force, sources=sources)


def write_table(frame: pd.DataFrame, path: Path) -> list[str]:
    """Write a frame as the suffix says, without its index; return what had to be done to its cells."""
    try:
        with whole_file(path) as stream:
            return WRITERS[path.suffix.lower()](frame, stream)
    except CannotHoldError as error:
        raise UserError(f"{path}: {error} Give a name that ends with .csv or .parquet.") from error
