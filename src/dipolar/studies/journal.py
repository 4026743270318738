"""The results file: JSON lines, only ever appended to, readable whatever interrupted the writing.

    {"format": "dipolar-study", "version": 2, "study": ..., "seed": ..., "settings": ...}      the first line
    {"session": {"dipolar": ..., "numpy": ..., "jobs": ...}}                                   one for each run
    {"unit": ["planar-2", 0, "linear"], ..., "seconds": ..., "wall": ...}                      one for each unit
    {"failed": ["planar-2", 1, "rbf"], "error": "..."}                                         a unit that raised

A line is there once its newline is: what follows the last newline was cut off by a kill or a full disk, and is removed
before anything is appended. Every line ends with a checksum of what is before it. Lines that were damaged or changed
are told with their numbers, and cost their own unit only.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

from dipolar.studies.unit import StudyError, Unit

try:
    import fcntl
except ImportError:  # no such thing as a lock of this kind here
    fcntl = None  # type: ignore[assignment]

__all__ = ["Journal", "Recorded", "read_journal"]

# Files of version 1 have no checksums; they are read and continued.
FORMAT, VERSION, READABLE = "dipolar-study", 2, (1, 2)

# How many differences of the settings an error names.
DIFFERENCES_SHOWN = 3


@dataclass
class Recorded:
    """What a results file holds."""

    header: dict[str, Any] = field(default_factory=dict)
    sessions: list[dict[str, Any]] = field(default_factory=list)
    units: dict[Unit, dict[str, Any]] = field(default_factory=dict)
    failures: dict[Unit, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # lines that could not be used, with their numbers
    n_bytes: int = 0  # length of the complete lines

    def add_line(self, number: int, line: bytes) -> None:
        """Take in one line; a line that cannot be used becomes a note."""
        try:
            document = _parse(line)
            if number == 1:
                self.header = _check_header(document)
            if self.header["version"] > 1 or "crc" in document:
                _check_sum(line, document.pop("crc", None))
            if number == 1:
                return
            if "session" in document:
                self.sessions.append(dict(document["session"]))
            elif "failed" in document:
                self._add_failure(_read_unit(document["failed"]), str(document["error"]))
            else:
                self._add_unit(number, _read_unit(document["unit"]), document)
        except (ValueError, KeyError, TypeError) as error:
            if number == 1:
                raise StudyError(
                    f"line 1 is not the first line of a results file ({error}). Its settings are unknown: start anew "
                    "in another folder, or replace it with --force."
                ) from error
            self.notes.append(f"line {number} cannot be read and is left out: {error}")

    def _add_unit(self, number: int, unit: Unit, document: dict[str, Any]) -> None:
        if unit in self.units:
            self.notes.append(f"line {number} repeats the unit {unit}; the first one counts")
            return
        document["session"] = len(self.sessions) - 1
        self.units[unit] = document
        self.failures.pop(unit, None)

    def _add_failure(self, unit: Unit, error: str) -> None:
        if unit not in self.units:
            self.failures[unit] = error


def read_journal(path: Path) -> Recorded:
    """Read a results file, or one that gzip has packed; a last line without its end is left out."""
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError) as error:
        raise StudyError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    recorded = Recorded()
    *lines, rest = content.split(b"\n")
    recorded.n_bytes = len(content) - len(rest)
    try:
        for number, line in enumerate(lines, start=1):
            recorded.add_line(number, line)
    except StudyError as error:
        raise StudyError(f"{path}: {error}") from error
    if rest:
        recorded.notes.append(
            f"line {len(lines) + 1} breaks off, as a line does that was being written; it is left out"
        )
    if not recorded.header and not rest:
        raise StudyError(f"{path} is empty. Start anew in another folder, or replace it with --force.")
    return recorded


class Journal:
    """A results file that is open for appending, by this process alone."""

    def __init__(self, path: Path, stream: BinaryIO, recorded: Recorded) -> None:
        self.path = path
        self.recorded = recorded
        self._stream = stream

    @classmethod
    def create(cls, path: Path, header: Mapping[str, Any]) -> Journal:
        """Start a file with its first line; it appears with that line or not at all."""
        header = {"format": FORMAT, "version": VERSION, **header}
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with open(temporary, "wb") as stream:
                stream.write(_line(header))
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise StudyError(f"{path} cannot be written: {error.strerror}. Give another folder.") from error
        return cls.resume(path, header)

    @classmethod
    def resume(cls, path: Path, header: Mapping[str, Any]) -> Journal:
        """Continue a file that was made with the same settings; its torn end, if any, is cut off."""
        try:
            stream = open(path, "r+b", buffering=0)  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise StudyError(f"{path} cannot be opened for writing: {error.strerror}.") from error
        try:
            _lock(stream, path)
            recorded = read_journal(path)
            if recorded.header:
                _refuse_other_settings(path, recorded.header, header)
            stream.truncate(recorded.n_bytes)
            stream.seek(recorded.n_bytes)
            journal = cls(path, stream, recorded)
            if not recorded.header:  # the very first line was torn
                journal._append({"format": FORMAT, "version": VERSION, **header})
                recorded.header = dict(header)
        except BaseException:
            stream.close()
            raise
        return journal

    def add_session(self, session: Mapping[str, Any]) -> None:
        """Say what the following units are computed with."""
        self._append({"session": dict(session)})
        self.recorded.sessions.append(dict(session))

    def add_unit(self, unit: Unit, result: Mapping[str, Any]) -> None:
        """Write the result of a unit; once this returns, no kill can take it away."""
        document = {"unit": [unit.source, unit.replicate, unit.model], **result}
        self._append(document)
        # What is read is what later runs see: rounded as JSON rounds it.
        self.recorded._add_unit(0, unit, json.loads(json.dumps(document)))

    def add_failure(self, unit: Unit, error: str) -> None:
        """Note that a unit raised an error; it is tried again when the study is resumed."""
        self._append({"failed": [unit.source, unit.replicate, unit.model], "error": error})
        self.recorded._add_failure(unit, error)

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _append(self, document: Mapping[str, Any]) -> None:
        """Write a line or nothing: what a full disk let through of it is taken back."""
        start, left = self._stream.tell(), _line(document)
        try:
            while left:
                left = left[self._stream.write(left) :]
            os.fsync(self._stream.fileno())
        except OSError as error:
            with suppress(OSError):
                self._stream.truncate(start)
            raise StudyError(
                f"{self.path} cannot be written any further: {error.strerror}. What was finished before is in it; make "
                "room and continue with --resume."
            ) from error


def _line(document: Mapping[str, Any]) -> bytes:
    body = json.dumps(document, separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode()
    return body[:-1] + f',"crc":{crc32(body)}}}\n'.encode()


def _parse(line: bytes) -> dict[str, Any]:
    try:
        document = json.loads(line, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise ValueError("it is not text") from error
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    return document


def _check_sum(line: bytes, found: Any) -> None:
    if found != crc32(line.rpartition(b',"crc":')[0] + b"}"):
        raise ValueError("its checksum is wrong")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _read_unit(value: Any) -> Unit:
    source, replicate, model = value
    if not isinstance(source, str) or not isinstance(model, str) or type(replicate) is not int:
        raise ValueError(f"{value!r} does not name a unit")
    return Unit(source, replicate, model)


def _check_header(document: dict[str, Any]) -> dict[str, Any]:
    if document.get("format") != FORMAT:
        raise ValueError(f"its format is {document.get('format')!r}, not {FORMAT!r}")
    if document.get("version") not in READABLE:
        raise ValueError(f"its version is {document.get('version')!r}, and this program reads {READABLE}")
    return document


def _refuse_other_settings(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    differences = _differences(json.loads(json.dumps(dict(wanted))), dict(found))
    if differences:
        shown = "; ".join(differences[:DIFFERENCES_SHOWN])
        more = f"; and {len(differences) - DIFFERENCES_SHOWN} more" if len(differences) > DIFFERENCES_SHOWN else ""
        raise StudyError(
            f"{path} was made with other settings and cannot be continued: {shown}{more}. Give another --output, or "
            "replace it with --force."
        )


def _differences(wanted: Any, found: Any, name: str = "") -> list[str]:
    """Name every entry in which two documents differ."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        parts = []
        for key in dict.fromkeys([*wanted, *found]):
            if key in ("format", "version") and not name:
                continue
            inner = f"{name}.{key}" if name else key
            parts += _differences(wanted.get(key), found.get(key), inner)
        return parts
    return [] if wanted == found else [f"{name} is {found!r} there and {wanted!r} now"]


def _lock(stream: BinaryIO, path: Path) -> None:
    """Keep other processes from writing to the same file; the lock goes with the process, however that ends."""
    if fcntl is None:
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise StudyError(f"{path} is being written by another run. Wait for it, or give another --output.") from error
