"""A target of the loader: saved models that were damaged are refused in one documented way, or are sound models."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dipolar import (
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalForest,
    LogRankSurvivalTree,
    SurvivalTreeCV,
)
from dipolar.model_file import ModelFileError
from fuzz.answers import answering, check_answers, check_forest, check_tree
from fuzz.draw import Draw
from fuzz.faults import FaultError

__all__ = ["TARGETS", "WORDS"]

WORDS = frozenset({"saved", "file", "holds"})

Entries = dict[str, bytes]

NUMBERS = (0, -1, 1, 2, 300, 2**31, 2**62, -(2**63), 10**400, 0.5, 1e-300, 1e300, float("nan"), float("inf"))
VALUES: tuple[Any, ...] = (
    *NUMBERS,
    None,
    True,
    "",
    "linear",
    "rbf",
    "\ud800",
    "x" * 10**5,
    [],
    [1, 2],
    {},
    {"a": 1},
    [[[[]]]],
)


@cache
def saved_models() -> tuple[tuple[Any, bytes], ...]:
    """Return small fitted models of every kind, and the files that they are saved to."""
    rng = np.random.default_rng(0)
    X, time = rng.normal(size=(60, 3)), rng.integers(1, 30, 60).astype(float)
    y = time * np.exp(X[:, 0]), rng.random(60) < 0.7
    small, forest = {"max_depth": 3, "random_state": 0}, {"n_estimators": 3, "min_logrank": 0.0, "random_state": 0}
    models = [
        LogRankSurvivalTree(**small, pruning="bootstrap", n_bootstraps=2),
        *(DipoleSurvivalTree(DipoleSVM(kernel), **small) for kernel in ("linear", "quadratic", "rbf", "sigmoid")),
        LogRankSurvivalForest(**forest),
        DipoleSurvivalForest([DipoleSVM(kernel) for kernel in ("linear", "quadratic", "rbf")], **forest),
        SurvivalTreeCV(param_grid={"svm__kappa": [100.0]}, max_depth=[2], cv=2),
    ]
    return tuple((model.fit(X, y), _saved(model)) for model in models)


def check_damaged(draw: Draw) -> None:
    """Damage a file and load it."""
    model, content = draw.one_of(saved_models())
    damage = draw.one_of(DAMAGES)
    draw.note("model", type(model).__name__)
    draw.note("damage", damage.__name__)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        path.write_bytes(damage(draw, content))
        try:
            loaded = type(model).load(path)
        except ModelFileError:
            raise
        except ValueError as error:
            raise FaultError(f"load raised {type(error).__name__}: {error}") from error
    X = draw.rng.normal(size=(20, loaded.n_features_in_))
    with answering("a model that was loaded"), np.errstate(over="ignore"):
        check_answers(loaded, X)
        loaded = getattr(loaded, "best_estimator_", loaded)
        (check_tree if hasattr(loaded, "decision_path") else check_forest)(loaded, X)


def _saved(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model"))
        return Path(folder, "model").read_bytes()


def changed_bytes(draw: Draw, content: bytes) -> bytes:
    """Some bytes are other ones."""
    data = np.frombuffer(content, np.uint8).copy()
    places = draw.rng.integers(len(data), size=draw.one_of((1, 1, 4, 40)))
    data[places] = draw.rng.integers(256, size=len(places))
    return data.tobytes()


def cut(draw: Draw, content: bytes) -> bytes:
    """A part is missing, at the end or inside."""
    start = int(draw.rng.integers(len(content)))
    end = len(content) if draw.chance(0.5) else start + int(draw.rng.integers(1, 100))
    return content[:start] + content[end:]


def _entrywise(change: Callable[[Draw, Entries], None]) -> Callable[[Draw, bytes], bytes]:
    """Make a change of a file's entries one of the file: its checksums are right again."""

    def damage(draw: Draw, content: bytes) -> bytes:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
        change(draw, entries)
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for name, data in entries.items():
                archive.writestr(name, data)
        return stream.getvalue()

    damage.__name__ = change.__name__
    return damage


@_entrywise
def header_value(draw: Draw, entries: Entries) -> None:
    """A value of the header, at any depth, is another one, or gone."""
    header = json.loads(entries["header.json"])
    holder: Any = header
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = draw.one_of(keys)
        if isinstance(holder[key], dict | list) and len(holder[key]) and draw.chance(0.8):
            holder = holder[key]
            continue
        break
    draw.note("key", key)
    if isinstance(holder, dict) and draw.chance(0.15):
        del holder[key]
    else:
        holder[key] = draw.note("value", draw.one_of(VALUES))
    entries["header.json"] = json.dumps(header).encode()


@_entrywise
def array_values(draw: Draw, entries: Entries) -> None:
    """Some numbers of one or two arrays are other ones."""
    for name in draw.some_of(_arrays(entries), 2):
        array = np.load(io.BytesIO(entries[draw.note("array", name)])).copy()
        if array.size == 0:
            continue
        flat = array.reshape(-1)
        places = draw.rng.integers(flat.size, size=draw.one_of((1, 1, 3)))
        with np.errstate(all="ignore"):
            if draw.chance(0.5):
                flat[places] = flat[draw.rng.integers(flat.size, size=len(places))]
            elif array.dtype.kind in "iu":
                info = np.iinfo(array.dtype)
                numbers = (0, 1, -1, 7, 2**30, 2**31 - 1, 2**62, info.max, info.min)
                flat[places] = np.clip(draw.one_of(numbers), info.min, info.max)
            else:
                flat[places] = draw.one_of([number for number in NUMBERS if number != 10**400])
        entries[name] = _packed(array)


@_entrywise
def array_form(draw: Draw, entries: Entries) -> None:
    """One array has another length, shape or type, is another array, or is gone."""
    names = _arrays(entries)
    name, other = draw.note("array", draw.one_of(names)), draw.one_of(names)
    array = np.load(io.BytesIO(entries[name]))
    changes: dict[str, Callable[[], np.ndarray | None]] = {
        "shorter": lambda: array[:-1],
        "longer": lambda: np.concatenate([array, array[:1]]),
        "empty": lambda: array[:0],
        "reversed": lambda: array[::-1],
        "doubled": lambda: array[None],
        "other type": lambda: array.astype(draw.one_of(("f4", "i1", "u8", ">f8", "c16", "?", "U3"))),
        "another array": lambda: np.load(io.BytesIO(entries[other])),
        "gone": lambda: None,
        "number": lambda: np.array(1.0),
    }
    change = changes[draw.note("change", draw.one_of(list(changes)))]
    with np.errstate(all="ignore"):
        changed = change()
    if changed is None:
        del entries[name]
    else:
        entries[name] = _packed(changed)


def _arrays(entries: Entries) -> list[str]:
    return [name for name in entries if name.endswith(".npy")]


def _packed(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


DAMAGES = (changed_bytes, cut, header_value, header_value, array_values, array_values, array_values, array_form)
TARGETS = {"files": check_damaged}
