"""Files that are written: refused before the work where they cannot be, and whole or absent after it."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from dipolar.cli.messages import UserError

__all__ = ["check_destination", "check_table_destination", "whole_file", "write_table"]

TABLE_SUFFIXES = (".csv", ".parquet", ".xlsx")


def check_destination(path: Path | None, *, force: bool, sources: Iterable[str | Path | None] = ()) -> None:
    """Refuse a file that could not be written, that would replace another unless `force`, or that is read as well."""
    if path is None:
        return
    if path.is_dir():
        raise UserError(f"{path} is a folder. Give the name of a file in it.")
    if any(source is not None and _same_file(path, Path(source)) for source in sources):
        raise UserError(f"{path} is named twice, and would be overwritten. Give another name.")
    if path.exists() and not force:
        raise UserError(f"{path} exists already. Give another name, or replace it: --force.")
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist. Make it, or give another place for {path.name}.")
    try:
        # Asking for permissions is not enough: a disk may be full, or mounted for reading only.
        with tempfile.TemporaryFile(dir=path.parent) as probe:
            probe.write(b"\0")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}. Give another folder.") from error


def check_table_destination(path: Path | None, *, force: bool, sources: Iterable[str | Path | None] = ()) -> None:
    """Refuse as `check_destination` does, and file types that no table is written to."""
    if path is not None and path.suffix.lower() not in TABLE_SUFFIXES:
        raise UserError(f"{path} should end with {', '.join(TABLE_SUFFIXES[:-1])} or {TABLE_SUFFIXES[-1]}.")
    check_destination(path, force=force, sources=sources)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a temporary name beside `path`, and move what was written there to its place in one step."""
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(8)}{path.suffix}")
    try:
        yield temporary
        _flush_to_disk(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise UserError(f"{path} could not be written: {error.strerror or error}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame as the suffix says."""
    with whole_file(path) as temporary:
        if path.suffix.lower() == ".parquet":
            frame.to_parquet(temporary, index=False)
        elif path.suffix.lower() == ".xlsx":
            frame.to_excel(temporary, index=False)
        else:
            frame.to_csv(temporary, index=False)


def _same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _flush_to_disk(path: Path) -> None:
    with open(path, "rb+") as stream:
        os.fsync(stream.fileno())
