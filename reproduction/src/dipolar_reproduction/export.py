"""Results as JSON lines, for keeping in a repository and for moving to another machine.

{"format": "dipolar-study", "version": 3, "study": ..., "seed": ..., "settings": ...}      the first line
{"session": {"dipolar": ..., "numpy": ..., "jobs": ...}}                                   one for each run
{"unit": ["planar-2", 0, "linear"], ..., "seconds": ..., "wall": ...}                      one for each unit of it
{"failed": ["planar-2", 1, "rbf"], "error": "..."}                                         a unit that raised
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dipolar.cli.messages import UserError
from dipolar_reproduction.store import Recorded
from dipolar_reproduction.study import Unit

# Lines of version 2 end with a checksum, which is not looked at.
FORMAT, VERSION, READABLE = "dipolar-study", 3, (1, 2, 3)


def read_export(path: Path) -> Recorded:
    """Read a file that `export_bytes` made, packed by gzip or not."""
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    recorded = Recorded({})
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            _take_in(recorded, json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(
                f"{path}: line {number} is not one of an export of results ({error}). Fetch the file again."
            ) from error
    if not recorded.header:
        raise UserError(f"{path} is empty. Fetch the file again.")
    return recorded


def _take_in(recorded: Recorded, document: dict[str, Any]) -> None:
    document.pop("crc", None)
    if not recorded.header:
        form, version = document.pop("format", None), document.pop("version", None)
        if form != FORMAT or version not in READABLE:
            raise ValueError(f"format {form!r}, version {version!r}")
        recorded.header = document
    elif "session" in document:
        recorded.sessions.append(dict(document["session"]))
    elif "failed" in document:
        recorded.failures[_unit(document["failed"])] = str(document["error"])
    else:
        unit = _unit(document.pop("unit"))
        if unit in recorded.units:
            raise ValueError(f"the unit {unit} is there twice")
        recorded.units[unit] = {**document, "session": len(recorded.sessions) - 1}
        recorded.failures.pop(unit, None)


def _unit(value: Any) -> Unit:
    source, replicate, model = value
    if not isinstance(source, str) or not isinstance(model, str) or type(replicate) is not int:
        raise ValueError(f"{value!r} does not name a unit")
    return Unit(source, replicate, model)


def export_bytes(recorded: Recorded, *, packed: bool) -> bytes:
    """Return the content of a file; the same results give the same bytes."""
    lines = [json.dumps(line, separators=(",", ":"), ensure_ascii=False) for line in _lines(recorded)]
    content = "".join(f"{line}\n" for line in lines).encode()
    return gzip.compress(content, mtime=0) if packed else content


def _lines(recorded: Recorded) -> Iterator[dict[str, Any]]:
    yield {"format": FORMAT, "version": VERSION, **recorded.header}
    for number, session in enumerate(recorded.sessions):
        yield {"session": session}
        for unit, record in recorded.units.items():
            if record["session"] == number:
                result = {name: value for name, value in record.items() if name != "session"}
                yield {"unit": [unit.source, unit.replicate, unit.model], **result}
    for unit, error in recorded.failures.items():
        yield {"failed": [unit.source, unit.replicate, unit.model], "error": error}
