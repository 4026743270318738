"""Saved models: one zip file with a JSON header and plain arrays; nothing in it is ever executed.

    header.json          format, version, estimator, parameters, names; what is not an array
    arrays/<name>.npy    NumPy's own format, read with allow_pickle=False

An interrupted save leaves the old file or none (see `dipolar.files`). Every array carries a checksum (the zip's), and
what was read is checked to be a tree before compiled code sees it.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from dipolar.files import write_whole

__all__ = [
    "FORMAT",
    "VERSION",
    "not_a_model",
    "plain_parameters",
    "read_model",
    "restored_parameters",
    "write_model",
]

FORMAT = "dipolar-tree"

# Raised when a reader of the old version could no longer understand a new file.
VERSION = 1


def write_model(
    file: str | os.PathLike[str] | BinaryIO, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a header of JSON types and named arrays to one file, whole or not at all, or to a stream."""
    text = json.dumps({"format": FORMAT, "version": VERSION, **header}, indent=1)
    if isinstance(file, str | os.PathLike):
        with write_whole(file) as stream:
            _write_zip(stream, text, arrays)
    else:
        _write_zip(file, text, arrays)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read what :func:`write_model` wrote; raise ValueError for any other file."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read("header.json"))
            _check_header(header, path)
            names = [name for name in archive.namelist() if name.startswith("arrays/")]
            arrays = {name[len("arrays/") : -len(".npy")]: _read_array(archive, name) for name in names}
    except (
        zipfile.BadZipFile,
        KeyError,
        EOFError,
        json.JSONDecodeError,
        UnicodeDecodeError,
        zlib.error,
    ) as error:
        raise not_a_model(path, error) from error
    return header, arrays


def plain_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator as JSON types; a `random_state` that is not an integer becomes None."""
    parameters = {}
    for name, value in estimator.get_params(deep=False).items():
        value = value.item() if isinstance(value, np.generic) else value
        value = value.tolist() if isinstance(value, np.ndarray) else value
        if name == "random_state" and not isinstance(value, int):
            value = None
        try:
            json.dumps(value)
        except TypeError as error:
            raise ValueError(
                f"{name}={value!r} cannot be saved: only numbers, strings, None and tuples of them can "
                "be written without pickle. Use pickle or joblib for this model."
            ) from error
        parameters[name] = value
    return parameters


def restored_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Undo :func:`plain_parameters`: JSON has no tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}


def not_a_model(path: str | os.PathLike[str], reason: object) -> ValueError:
    """Return the error for a file that cannot be a saved model."""
    return ValueError(
        f"{os.fspath(path)!r} is not a complete saved dipolar tree: {reason}. The file is truncated, damaged "
        "or of another kind; save the model again with its save(path) method."
    )


def _write_zip(stream: Any, text: str, arrays: Mapping[str, np.ndarray]) -> None:
    with zipfile.ZipFile(stream, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", text)
        for name, values in arrays.items():
            with archive.open(f"arrays/{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.ascontiguousarray(values), allow_pickle=False)


def _read_array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    try:
        with archive.open(name) as entry:
            values = np.lib.format.read_array(entry, allow_pickle=False)
            # Reading to the end is what makes the zip compare its checksum.
            trailing = entry.read()
    except (ValueError, zlib.error) as error:
        raise zipfile.BadZipFile(f"{name} is not an array of numbers ({error})") from error
    if trailing:
        raise zipfile.BadZipFile(f"{name} has bytes after its array")
    return values


def _check_header(header: Any, path: str | os.PathLike[str]) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise not_a_model(path, "its header does not say that it is one")
    version = header.get("version")
    if not isinstance(version, int) or version < 1:
        raise not_a_model(path, f"it has the format version {version!r}")
    if version > VERSION:
        raise ValueError(
            f"{os.fspath(path)!r} was saved in format version {version}, and this dipolar reads up to "
            f"{VERSION}. Upgrade dipolar to load it."
        )
