"""Saved models: one zip file with a JSON header and plain arrays; nothing in it is ever executed.

    header.json          format, version, estimator, parameters, names; what is not an array
    arrays/<name>.npy    NumPy's own format
    <note>.json          what a program adds for itself (`add_note`)

An interrupted save leaves the old file or none (see `dipolar.files`).

Reading takes time and memory in proportion to the file, whatever is in it: nothing is inflated before the sizes that
the zip declares are known to be in proportion, no entry beyond its declared size, and JSON may not be nested deeply.
Here a file only becomes values and arrays of numbers; whether they make a model, the records say.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from dipolar.files import write_whole
from dipolar.kernels import KERNELS, Kernel
from dipolar.node_svm.learning import DistanceQuantile

__all__ = [
    "FORMAT",
    "VERSION",
    "ModelFileError",
    "add_note",
    "model_file",
    "plain_parameters",
    "plain_settings",
    "read_model",
    "read_note",
    "register_estimator",
    "restored_parameters",
    "write_model",
]

FORMAT = "dipolar-model"

# Raised when a reader of the old version could no longer understand a new file.
VERSION = 1

# The contents of a file are at most so many times its size. Models have 2 to 8; one that would have more is written
# without compression.
EXPANSION = 16

# Entries of a file; a model has up to 40.
MAX_ENTRIES = 200

# Brackets that JSON may open at a time; a header has up to 10.
MAX_DEPTH = 20

HEADER = "header.json"
ARRAY_ENTRY = re.compile(r"arrays/([a-z_]+(?:\.[a-z_]+)*)\.npy")
NOTE_ENTRY = re.compile(r"[a-z_]+\.json")

# What NumPy writes before an array: types of numbers only, rows first.
ARRAY_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([<>|](?:b1|i1|i4|i8|f8))', 'fortran_order': False, "
    rb"'shape': \((\d{1,15}(?:, \d{1,15})*,?|)\), \} *\n",
    re.DOTALL,
)

JSON_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)

ENCRYPTED = 0x41


class ModelFileError(ValueError):
    """A file is not a saved model that can be loaded: it is truncated, damaged, of another kind or version.

    Every `load` of the library raises this, and nothing else, whatever a file holds. A file that is not there or must
    not be read is the usual OSError.
    """


def write_model(
    file: str | os.PathLike[str] | BinaryIO, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a header of JSON types and named arrays to one file, whole or not at all, or to a stream."""
    text = json.dumps({"format": FORMAT, "version": VERSION, **header}, indent=1)
    if isinstance(file, str | os.PathLike):
        with write_whole(file) as stream:
            _write_compact(stream, text, arrays)
    else:
        _write_compact(file, text, arrays)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what :func:`write_model` wrote; raise ModelFileError for any other file."""
    with model_file(path), _opened(path) as entries:
        header = _read_header(entries, path)
        found = {match[1]: name for name in entries.names if (match := ARRAY_ENTRY.fullmatch(name))}
        return header, {name: _parse_array(entry, entries.read(entry)) for name, entry in found.items()}


def add_note(file: str | os.PathLike[str] | BinaryIO, name: str, value: Any) -> None:
    """Add JSON types to the file of a model under a name of their own; loading the model passes them over."""
    # Not compressed, as the header: its text can then be limited by the size of the file.
    with zipfile.ZipFile(file, "a", compression=zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{name}.json", json.dumps(value, indent=1, allow_nan=False))


def read_note(path: str | os.PathLike[str], name: str) -> Any:
    """Read what :func:`add_note` added, None if there is nothing; raise ModelFileError if it is damaged."""
    entry = f"{name}.json"
    with model_file(path), _opened(path) as entries:
        return _parse_json(entry, entries.read(entry)) if entry in entries.names else None


@contextmanager
def model_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever is wrong with values that a file holds into one error, which names the file."""
    try:
        yield
    except ModelFileError:
        raise
    except (OverflowError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{os.fspath(path)!r} is not a complete saved dipolar model: {error!s:.300}. The file is truncated, "
            "damaged or of another kind; save the model again with its save(path) method."
        ) from error


# The estimators that a file may name. A name from a file only ever selects an entry of this table.
ESTIMATORS: dict[str, type] = {}


def register_estimator(cls: type) -> type:
    """Let files name an estimator, as the model that they hold or as a part of one."""
    ESTIMATORS[cls.__name__] = cls
    return cls


def plain_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator as JSON types; a `random_state` that is not an integer becomes None."""
    parameters = estimator.get_params(deep=False)
    if "random_state" in parameters and not isinstance(parameters["random_state"], int | np.integer):
        parameters["random_state"] = None
    return plain_settings(parameters)


def plain_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return some parameters as JSON types."""
    plain = {}
    for name, value in settings.items():
        try:
            plain[name] = _plain(value)
        except TypeError as error:
            raise ValueError(
                f"{name}={value!r} cannot be saved: only finite numbers, strings, None, lists and dicts of them, "
                "registered kernels and estimators of dipolar can be written without pickle. Use pickle or joblib for "
                "this model."
            ) from error
    return plain


def restored_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Undo :func:`plain_parameters` and :func:`plain_settings`."""
    return {name: _restored(value) for name, value in parameters.items()}


def _plain(value: Any) -> Any:
    """Return a value as JSON types; what JSON does not have is an object with one word for what it is."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        raise TypeError("JSON has finite numbers only")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {"mapping": {key: _plain(item) for key, item in value.items()}}
    if type(value) in KERNELS.values():
        return {"kernel": value.to_dict()}
    if isinstance(value, DistanceQuantile):
        return {"distance_quantile": value.quantile}
    if ESTIMATORS.get(type(value).__name__) is type(value):
        return {"estimator": type(value).__name__, "parameters": plain_parameters(value)}
    raise TypeError(f"{type(value).__name__} is not plain")


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_restored(item) for item in value)
    if not isinstance(value, dict):
        return value
    match value:
        case {"mapping": dict(items)} if len(value) == 1:
            return restored_parameters(items)
        case {"kernel": plain} if len(value) == 1:
            return Kernel.from_dict(plain)
        case {"distance_quantile": quantile} if len(value) == 1:
            return DistanceQuantile(quantile)
        case {"estimator": str(name), "parameters": dict(parameters)} if name in ESTIMATORS and len(value) == 2:
            return ESTIMATORS[name](**restored_parameters(parameters))
    raise ValueError(f"a parameter is {value!r:.60}")


def _write_compact(stream: BinaryIO, text: str, arrays: Mapping[str, np.ndarray]) -> None:
    size = _write_zip(stream, text, arrays, zipfile.ZIP_DEFLATED)
    if size > EXPANSION * stream.tell():
        stream.seek(0)
        stream.truncate()
        _write_zip(stream, text, arrays, zipfile.ZIP_STORED)


def _write_zip(stream: Any, text: str, arrays: Mapping[str, np.ndarray], compression: int) -> int:
    """Write the entries, and return the size of their contents."""
    with zipfile.ZipFile(stream, "w", compression=compression) as archive:
        archive.writestr(HEADER, text, compress_type=zipfile.ZIP_STORED)
        for name, values in arrays.items():
            with archive.open(f"arrays/{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.ascontiguousarray(values), allow_pickle=False)
        return sum(entry.file_size for entry in archive.infolist())


class _Entries:
    """The entries of a zip file that has been found to be moderate."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._infos = {info.filename: info for info in archive.infolist()}

    @property
    def names(self) -> list[str]:
        return list(self._infos)

    def read(self, name: str) -> bytes:
        if name not in self._infos:
            raise ValueError(f"{name} is missing")
        info = self._infos[name]
        with _zip_errors(name), self._archive.open(info) as entry:
            # No further than the declared size; the checksum is compared when the end is reached.
            content = entry.read(info.file_size)
        if len(content) != info.file_size:
            raise ValueError(f"{name} is shorter than declared")
        return content


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[_Entries]:
    """Read a file, and yield its entries if their declared sizes are moderate."""
    data = _read_bytes(path)
    with _zip_errors("its directory"):
        archive = zipfile.ZipFile(io.BytesIO(data))
    with archive:
        _check_directory(archive.infolist(), len(data))
        yield _Entries(archive)


def _read_bytes(path: str | os.PathLike[str]) -> bytes:
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        # To open a pipe would wait for another program; a device may have no end.
        raise ValueError("it is not a regular file")
    with open(path, "rb") as stream:
        start = stream.read(4)
        if start != b"PK\x03\x04":
            raise ValueError("it does not begin as one")
        return start + stream.read()


@contextmanager
def _zip_errors(what: str) -> Iterator[None]:
    """Turn all that `zipfile` raises on damaged files, which is a long list, into ValueError."""
    try:
        yield
    except Exception as error:
        raise ValueError(f"{what} cannot be read ({error})") from error


def _check_directory(entries: list[zipfile.ZipInfo], size: int) -> None:
    """Raise ValueError unless every entry is one of a model, and all of them together are in proportion to the file."""
    names = [entry.filename for entry in entries]
    if len(names) > MAX_ENTRIES or len(set(names)) < len(names):
        raise ValueError(f"it has {len(names)} entries, of {len(set(names))} names")
    for entry in entries:
        is_text = NOTE_ENTRY.fullmatch(entry.filename) is not None
        if not is_text and not ARRAY_ENTRY.fullmatch(entry.filename):
            raise ValueError(f"it has an entry that is not a model's, {entry.filename!r:.60}")
        if entry.flag_bits & ENCRYPTED or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{entry.filename} is encrypted, or compressed in another way than by deflate")
        if is_text and entry.file_size > size:
            raise ValueError(f"{entry.filename} is larger than the file")
    contents, compressed = sum(entry.file_size for entry in entries), sum(entry.compress_size for entry in entries)
    if contents > EXPANSION * size or compressed > size:
        raise ValueError(f"its {size} bytes declare contents of {contents} bytes, from {compressed}")


def _read_header(entries: _Entries, path: str | os.PathLike[str]) -> dict[str, Any]:
    header = _parse_json(HEADER, entries.read(HEADER))
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError("its header does not say that it is one")
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"it has the format version {version!r:.60}")
    if version > VERSION:
        raise ModelFileError(
            f"{os.fspath(path)!r} was saved in format version {version:.6g}, and this dipolar reads up to {VERSION}. "
            "Upgrade dipolar to load it."
        )
    return header


def _parse_json(entry: str, content: bytes) -> Any:
    text = content.decode("utf-8")
    depth = 0
    for token in JSON_TOKEN.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth > MAX_DEPTH:
            raise ValueError(f"{entry} is nested deeper than {MAX_DEPTH} levels")
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise ValueError(f"{entry} is not JSON ({error})") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _parse_array(entry: str, content: bytes) -> np.ndarray:
    """Read NumPy's format; its header is compared with a pattern, where NumPy would evaluate it."""
    match = ARRAY_HEADER.match(content)
    if match is None:
        raise ValueError(f"{entry} is not an array of numbers")
    dtype = np.dtype(match[1].decode())
    shape = tuple(int(length) for length in match[2].replace(b",", b" ").split())
    if math.prod(shape) * dtype.itemsize != len(content) - match.end():
        raise ValueError(f"{entry} has {len(content) - match.end()} bytes, too many or too few for shape {shape}")
    values = np.frombuffer(content, dtype, offset=match.end()).reshape(shape)
    if dtype == np.bool_ and (values.view(np.uint8) > 1).any():
        raise ValueError(f"{entry} holds truth values that are neither 0 nor 1")
    # Compiled code is compiled for arrays of this machine's byte order that can be written to.
    return values.astype(dtype.newbyteorder("="))
