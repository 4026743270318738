"""The results of a study in an SQLite file: a row for each finished unit, and one process at a time.

A row is there once its transaction is, whatever ends the process after that. SQLite locks the file from the moment it
is opened until it is closed or its process ends; a second process is refused, whatever its options, and changes
nothing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dipolar.cli.messages import UserError
from dipolar_reproduction.study import Unit

# In the first bytes of the file, beside SQLite's own mark.
APPLICATION_ID, VERSION = 0x6469706F, 1

SCHEMA = (
    "CREATE TABLE study (header TEXT NOT NULL)",
    "CREATE TABLE sessions (number INTEGER PRIMARY KEY, session TEXT NOT NULL)",
    # A unit that raised has an error instead of a result. Rows are numbered in the order in which units ended.
    "CREATE TABLE units (number INTEGER PRIMARY KEY, source TEXT NOT NULL, replicate INTEGER NOT NULL, "
    "model TEXT NOT NULL, session INTEGER NOT NULL, result TEXT, error TEXT, UNIQUE (source, replicate, model))",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {VERSION}",
)

WAYS_OUT = {
    sqlite3.SQLITE_BUSY: "another run is using it. Wait for that run or stop it, or give another --output.",
    sqlite3.SQLITE_NOTADB: "it is no file of results. Move it away, or give another --output.",
    sqlite3.SQLITE_FULL: "there is no room left. What was finished is in it; make room and continue with --resume.",
}

# How many differences of the settings an error names.
DIFFERENCES_SHOWN = 3


@dataclass
class Recorded:
    """What a file of results holds."""

    header: dict[str, Any]
    sessions: list[dict[str, Any]] = field(default_factory=list)
    units: dict[Unit, dict[str, Any]] = field(default_factory=dict)  # in the order in which they ended
    failures: dict[Unit, str] = field(default_factory=dict)


class Store:
    """A file of results that is open in this process alone."""

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        if must_exist and not path.exists():
            raise UserError(f"{path} does not exist. Give the .sqlite file of a study.")
        self.path = path
        with self._explained():
            # Every statement outside of `_transaction` is a transaction of its own.
            self._connection = sqlite3.connect(path, timeout=0, isolation_level=None)
            # A lock that was taken is kept until the file is closed.
            self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        try:
            with self._transaction() as execute:
                self._check_format(execute)
        except BaseException:
            self.close()
            raise

    def begin(self, header: Mapping[str, Any], *, resume: bool = False, force: bool = False) -> None:
        """Start a new file, continue one that was made with the same settings, or empty it to start anew."""
        with self._transaction() as execute:
            found = execute("SELECT header FROM study").fetchone()
            if found and not (resume or force):
                raise UserError(
                    f"there are results already: {self.path}. Continue them with --resume, replace them with --force, "
                    "or give another --output."
                )
            if found and resume:
                _refuse_other_settings(self.path, json.loads(found[0]), header)
                return
            for table in ("study", "sessions", "units"):
                execute(f"DELETE FROM {table}")
            execute("INSERT INTO study VALUES (?)", (_json(header),))

    def add_session(self, session: Mapping[str, Any]) -> int:
        """Say what the following units are computed with, and return its number."""
        with self._transaction() as execute:
            (number,) = execute("SELECT COUNT(*) FROM sessions").fetchone()
            execute("INSERT INTO sessions VALUES (?, ?)", (number, _json(session)))
        return number

    def add_unit(self, unit: Unit, session: int, result: Mapping[str, Any] | None, error: str | None = None) -> None:
        """Keep the result of a unit, or the error that it raised; once this returns, no kill can take it away."""
        row = (unit.source, unit.replicate, unit.model, session, None if result is None else _json(result), error)
        with self._explained():
            self._connection.execute(
                "INSERT OR REPLACE INTO units (source, replicate, model, session, result, error) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                row,
            )

    def fill(self, recorded: Recorded, *, force: bool = False) -> None:
        """Take in all that an export holds, in one transaction."""
        with self._transaction():
            self.begin(recorded.header, force=force)
            for session in recorded.sessions:
                self.add_session(session)
            for unit, record in recorded.units.items():
                self.add_unit(unit, record["session"], {k: v for k, v in record.items() if k != "session"})
            for unit, error in recorded.failures.items():
                self.add_unit(unit, len(recorded.sessions) - 1, None, error)

    def read(self) -> Recorded:
        """Return all that the file holds."""
        with self._transaction() as execute:
            header = execute("SELECT header FROM study").fetchone()
            if header is None:
                raise UserError(f"{self.path} holds no results yet.")
            recorded = Recorded(json.loads(header[0]))
            for (session,) in execute("SELECT session FROM sessions ORDER BY number"):
                recorded.sessions.append(json.loads(session))
            columns = "source, replicate, model, session, result, error"
            for *name, number, result, error in execute(f"SELECT {columns} FROM units ORDER BY number"):
                if error is None:
                    recorded.units[Unit(*name)] = {**json.loads(result), "session": number}
                else:
                    recorded.failures[Unit(*name)] = error
        return recorded

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _check_format(self, execute: Any) -> None:
        """Make the tables of a new file; refuse one of another program or version."""
        if execute("SELECT COUNT(*) FROM sqlite_master").fetchone() == (0,):
            for statement in SCHEMA:
                execute(statement)
        found = [execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        if found != [APPLICATION_ID, VERSION]:
            raise UserError(f"{self.path} cannot be used: {WAYS_OUT[sqlite3.SQLITE_NOTADB]}")

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        """Do all that is inside or, if it raises, nothing; inside of another transaction, be a part of that."""
        with self._explained():
            if self._connection.in_transaction:
                yield self._connection.execute
                return
            with self._connection:
                self._connection.execute("BEGIN EXCLUSIVE")
                yield self._connection.execute

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Tell an error of SQLite as one that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the details
            way_out = WAYS_OUT.get(code, f"{error}. Check the disk and the permissions, or give another --output.")
            raise UserError(f"{self.path} cannot be used: {way_out}") from error
        except json.JSONDecodeError as error:
            raise UserError(f"{self.path} is damaged: {error}. Start anew with --force.") from error


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def _refuse_other_settings(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    differences = _differences(json.loads(_json(wanted)), found)
    if differences:
        shown = "; ".join(differences[:DIFFERENCES_SHOWN])
        more = f"; and {len(differences) - DIFFERENCES_SHOWN} more" if len(differences) > DIFFERENCES_SHOWN else ""
        raise UserError(
            f"{path} was made with other settings and cannot be continued: {shown}{more}. Give another --output, or "
            "replace it with --force."
        )


def _differences(wanted: Any, found: Any, name: str = "") -> list[str]:
    """Name every entry in which two documents differ."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        keys = dict.fromkeys([*wanted, *found])
        inner = {key: f"{name}.{key}" if name else key for key in keys}
        return [text for key in keys for text in _differences(wanted.get(key), found.get(key), inner[key])]
    return [] if wanted == found else [f"{name} is {found!r} there and {wanted!r} now"]
