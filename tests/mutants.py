"""Damaged model files: saved models of every kind, changed at random in bytes, structure and meaning.

    python -m tests.mutants --cases 20000

Case number n is the same file on every run. Each is either refused with `ModelFileError`, or what was loaded has to
predict: everything, at once, with answers that can be true.
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import io
import json
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dipolar import LogRankSurvivalForest, LogRankSurvivalTree, ModelFileError, SurvivalTreeCV
from dipolar.kernels import GaussianKernel
from dipolar.model_file import write_model
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.tree.export import export_dot, export_text, to_dict
from tests.models import forest_of, paper_tree
from tests.test_growing import sample

# A case that takes longer hangs. It is the time of this process, so that a busy machine does not matter.
MOST_SECONDS = 2.0

# After so many seconds of anybody's time the process ends with a traceback.
DEAD_SECONDS = 120

# Covariates up to this number are made up to predict for.
MOST_COLUMNS = 1000

FITTED: dict[str, Any] = {
    "cuts": LogRankSurvivalTree(pruning="bootstrap", n_bootstraps=2, random_state=0, fleming_harrington=(0.5, 0.5)),
    "planes": paper_tree(kernel="linear", standardize=True, pruning="validation", random_state=0),
    "quadratic": paper_tree(kernel="quadratic", max_depth=3, pruning="fixed", alpha=1.0, random_state=0),
    "polynomial": paper_tree(kernel="polynomial", degree=7, max_rank=8, max_depth=3, random_state=0),
    "rbf": paper_tree(kernel="rbf", max_rank=20, max_depth=3, random_state=0),
    "laplacian": paper_tree(kernel="laplacian", max_rank=20, max_depth=3, standardize=True, random_state=0),
    "sigmoid": paper_tree(kernel="sigmoid", max_rank=20, max_depth=2, random_state=0),
    "leaf": LogRankSurvivalTree(min_logrank=1e6, random_state=0),
    "forest of cuts": LogRankSurvivalForest(4, time_grid=(0.1, 0.5, 1.0), min_logrank=1.0, random_state=0),
    "forest of planes": forest_of(4, min_logrank=1.0, random_state=0),
    "forest of kernels": forest_of(
        4, kernel=("linear", "quadratic", "rbf"), min_logrank=1.0, random_state=0, max_features=None
    ),
    "tuned": SurvivalTreeCV(
        paper_tree(max_rank=20, pruning="fixed", alpha=1.0),
        param_grid={"svm__kernel": ["rbf", GaussianKernel(sigma2=2.0)]},
        max_depth=[2],
        cv=2,
        random_state=0,
    ),
    "tuned cuts": SurvivalTreeCV(LogRankSurvivalTree(), max_depth=[2], cv=2, random_state=0),
}

INTEGERS = (0, 1, -1, 2, 3, 7, 100, 127, -128, 2**15, 2**31 - 1, -(2**31), 2**62, 2**63 - 1, -(2**63), -(2**62))
FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-12, 5e-324, 1e-75, 1e15, 1e75, 1e150, 1e225, 1e300, -1e75, -1e300,
    np.nan, np.inf, -np.inf, 1 + 1e-15,
)  # fmt: skip
JSON_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 19, 20, 21, 300, 1023, 10**6, 2**31, 2**63, 10**400, 0.5, -0.5, 1e-300, 1e300, 1e75,
    "", "linear", "rbf", "nonsense", "1", "x" * 10_000, [], [1], [1, 2], [[]], {}, {"a": 1}, "axis", "surface",
    "GaussianKernel", "PolynomialKernel", "LinearKernel", float("nan"), float("inf"), "LogRankSurvivalTree",
    "DipoleSurvivalTree", "BaseSurvivalTree", "DipoleSVM", {"distance_quantile": 0.5}, {"mapping": {"svm__kappa": [1]}},
    {"kernel": {"name": "PolynomialKernel", "parameters": {"degree": 2, "coef0": 1.0}}},
    {"estimator": "DipoleSVM", "parameters": {}}, {"estimator": "LogRankSurvivalTree", "parameters": {}},
    {"estimator": "BaseSurvivalTree", "parameters": {}}, {"estimator": "SurvivalTreeCV", "parameters": {}},
)  # fmt: skip

OTHER_TYPES = (
    (">i8", 8),
    ("<i8", 8),
    (">f8", 8),
    ("<f8", 8),
    ("<f4", 4),
    ("<i4", 4),
    ("|b1", 1),
    ("|i1", 1),
    ("<U1", 4),
)


@dataclass
class Contents:
    """What is in the file of a model."""

    header: Any
    arrays: dict[str, np.ndarray]


@dataclass(frozen=True)
class Subject:
    """A saved model."""

    name: str
    estimator: type
    data: bytes
    contents: Contents


class FaultError(Exception):
    """An answer that cannot be true."""


def make_subjects(folder: Path) -> list[Subject]:
    """Fit and save a model of every kind."""
    X, survival = sample(160, 4)
    subjects = []
    for name, model in FITTED.items():
        rows = X.copy()
        if model.__sklearn_tags__().input_tags.allow_nan:
            rows[::9, 1] = np.nan
        path = folder / "fitted"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(rows, (survival.time, survival.event)).save(path)
        subjects.append(Subject(name, type(model), path.read_bytes(), read_contents(path)))
    return subjects


def read_contents(path: Path) -> Contents:
    """Take the file of a model apart."""
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("header.json"))
        names = [name for name in archive.namelist() if name.startswith("arrays/")]
        arrays = {name[7:-4]: np.load(io.BytesIO(archive.read(name))) for name in names}
    return Contents(header, arrays)


def encode_array(values: np.ndarray) -> bytes:
    """Return what NumPy writes for an array."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(values), allow_pickle=True)
    return stream.getvalue()


def encode(contents: Contents) -> bytes:
    """Write a file as `save` does, whatever the contents."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        write_model(path, contents.header, contents.arrays)
        return path.read_bytes()


# Changes of bytes.


def change_bytes(subject: Subject, rng: np.random.Generator) -> bytes:
    data = bytearray(subject.data)
    for _ in range(int(rng.integers(1, 4))):
        start = int(rng.integers(len(data)))
        stop = min(len(data), start + int(rng.choice([1, 2, 8, 100, 5000])))
        piece = data[start:stop]
        match rng.integers(6):
            case 0:
                data[start] ^= 1 << int(rng.integers(8))
            case 1:
                data[start:stop] = rng.bytes(len(piece))
            case 2:
                del data[start:stop]
            case 3:
                data[start:start] = piece
            case 4:
                data[start:stop] = bytes(len(piece))
            case _:
                data[start:stop] = rng.choice([b"\xff", b"[", b'"', b"PK\x01\x02"]) * max(1, len(piece) // 4)
        if not data:
            return b""
    return bytes(data)


def truncate(subject: Subject, rng: np.random.Generator) -> bytes:
    return subject.data[: int(rng.integers(len(subject.data)))]


def change_directory(subject: Subject, rng: np.random.Generator) -> bytes:
    """Change fields of the zip's own structures: flags, methods, sizes, offsets, names."""
    data = bytearray(subject.data)
    places = [
        place
        for mark in (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06")
        for place in _places(subject.data, mark)
    ]
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.choice(places)) + 4 + int(rng.integers(44))
        value = int(rng.choice([0, 1, 9, 0x41, 0xFFFF, 0xFFFFFFFF, int(rng.integers(2**32))]))
        width = int(rng.choice([1, 2, 4]))
        data[place : place + width] = struct.pack("<I", value)[:width]
    return bytes(data)


def change_entries(subject: Subject, rng: np.random.Generator) -> bytes:
    """Leave entries out, write them twice or under other names, add others, bombs among them."""
    with zipfile.ZipFile(io.BytesIO(subject.data)) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    chosen = int(rng.integers(len(entries)))
    name, content = entries[chosen]
    other = entries[int(rng.integers(len(entries)))]
    method = zipfile.ZIP_DEFLATED
    match rng.integers(9):
        case 0:
            del entries[chosen]
        case 1:
            entries.append((name, content))
        case 2:
            entries[chosen] = (other[0], content)
        case 3:
            names = ["evil", "../evil", "arrays/evil.npy", "arrays/", "/header.json", "a\0b", "ü.json", "note.json"]
            entries.append((str(rng.choice(names)), content))
        case 4:
            entries[chosen] = (name, bytes(int(rng.integers(1, 3_000_000))))
        case 5:
            entries[chosen] = (name, content[: len(content) // 2])
        case 6:
            entries[chosen] = (name, content + b"\0" * int(rng.integers(1, 100)))
        case 7:
            rng.shuffle(entries)  # type: ignore[arg-type]
        case _:
            method = int(rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]))
    return zipped(entries, method)


def change_array_header(subject: Subject, rng: np.random.Generator) -> bytes:
    """Replace the text that NumPy begins an array with."""
    with zipfile.ZipFile(io.BytesIO(subject.data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    name = str(rng.choice([name for name in entries if name.startswith("arrays/")]))
    content = bytearray(entries[name])
    length = struct.unpack("<H", content[8:10])[0]
    values = content[10 + length :]
    texts = [
        array_header("'|O'", "(3,)"),
        array_header("'<f8'", "(2, 2)").replace("False", "True"),
        array_header("'<f8'", "(999999999999999,)"),
        array_header("'<f8'", "(-1,)"),
        array_header("'<f8'", "(0, 999999999999999)"),
        array_header("[('a', '<f8')]", "(1,)"),
        *(array_header(f"'{kind}'", f"({len(values) // width},)") for kind, width in OTHER_TYPES),
        "(" * 3000,
        "__import__('os').mkdir('owned')",
        "",
    ]
    if rng.random() < 0.3:
        content[int(rng.integers(10 + length))] = int(rng.integers(256))
    else:
        text = str(rng.choice(texts)).encode() + b"\n"
        content = content[:8] + struct.pack("<H", len(text)) + text + values
    entries[name] = bytes(content)
    return zipped(list(entries.items()), zipfile.ZIP_DEFLATED)


def array_header(descr: str, shape: str) -> str:
    """Return the text that NumPy begins an array with."""
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"


def change_json_text(subject: Subject, rng: np.random.Generator) -> bytes:
    with zipfile.ZipFile(io.BytesIO(subject.data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    text = entries["header.json"]
    start = int(rng.integers(len(text)))
    pieces = [b"[" * 5000, b'{"a":' * 5000, b"\xff", b'"', b"NaN", b"1e999", b"-", b"\\ud800", b"9" * 5000, b"{}", b","]
    entries["header.json"] = text[:start] + pieces[int(rng.integers(len(pieces)))] + text[start:]
    return zipped(list(entries.items()), zipfile.ZIP_STORED)


def zipped(entries: list[tuple[str, bytes]], method: int) -> bytes:
    """Return a zip file of these entries, names used twice included."""
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", compression=method) as archive:
        warnings.simplefilter("ignore")
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return stream.getvalue()


def _places(data: bytes, mark: bytes) -> Iterator[int]:
    place = data.find(mark)
    while place >= 0:
        yield place
        place = data.find(mark, place + 1)


# Changes of what a file means: it is written anew, without any damage.


def change_header(subject: Subject, rng: np.random.Generator) -> bytes:
    header = json.loads(json.dumps(subject.contents.header))
    for _ in range(int(rng.integers(1, 3))):
        inside = header
        while True:
            key = _some_key(inside, rng)
            deeper = inside[key]
            if not isinstance(deeper, dict | list) or not deeper or rng.random() < 0.1:
                break
            inside = deeper
        if rng.random() < 0.1:
            del inside[key]
        else:
            # A copy: the next change may be one inside it.
            inside[key] = copy.deepcopy(JSON_VALUES[int(rng.integers(len(JSON_VALUES)))])
        if not header:
            break
    return encode(Contents(header, subject.contents.arrays))


def _some_key(inside: Any, rng: np.random.Generator) -> Any:
    return list(inside)[int(rng.integers(len(inside)))] if isinstance(inside, dict) else int(rng.integers(len(inside)))


def change_arrays(subject: Subject, rng: np.random.Generator) -> bytes:
    arrays = dict(subject.contents.arrays)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        name = str(rng.choice(list(arrays)))
        arrays[name] = changed(arrays[name], arrays, rng)
    return encode(Contents(subject.contents.header, arrays))


def change_a_number(subject: Subject, rng: np.random.Generator) -> bytes:
    """The smallest change of meaning: one number of one array, to a value that is not absurd in itself."""
    arrays = dict(subject.contents.arrays)
    filled = [name for name, values in arrays.items() if values.size]
    name = str(rng.choice(filled))
    values = arrays[name] = arrays[name].copy()
    place = int(rng.integers(values.size))
    flat = values.reshape(-1)
    if values.dtype.kind == "b":
        flat[place] = ~flat[place]
    elif values.dtype.kind == "i":
        flat[place] += int(rng.choice([-2, -1, 1, 2]))
    else:
        flat[place] *= float(rng.choice([-1.0, 0.0, 0.5, 0.999999, 1.000001, 2.0, 1e3, 1e9]))
    return encode(Contents(subject.contents.header, arrays))


def change_and_repair(subject: Subject, rng: np.random.Generator) -> bytes:
    """Change a life table or a statistic of a tree, and with it all sums that would give it away."""
    arrays = dict(subject.contents.arrays)
    if "tree.left" not in arrays:
        return change_a_number(subject, rng)
    name = f"tree.{rng.choice(['tables.time', 'tables.at_risk', 'tables.events', 'logrank', 'gain'])}"
    values = arrays[name] = arrays[name].copy()
    places = rng.integers(len(values), size=int(rng.integers(1, 4)))
    factor = float(rng.choice([-1.0, 0.0, 0.5, 2.0, 1e9, np.nan, np.inf]))
    with np.errstate(all="ignore"):
        values[places] = values[places] * factor if rng.random() < 0.7 else _wild(values.dtype, len(values), rng)
        _repair(arrays)
    return encode(Contents(subject.contents.header, arrays))


def _repair(arrays: dict[str, np.ndarray]) -> None:
    left, offset = arrays["tree.left"], arrays["tree.tables.offset"]
    at_risk, events = arrays["tree.tables.at_risk"], arrays["tree.tables.events"]
    for name, in_leaves in (("n_samples", at_risk[offset[:-1]]), ("n_events", np.add.reduceat(events, offset[:-1]))):
        in_nodes = np.zeros(len(left))
        in_nodes[left < 0] = in_leaves
        for node in range(len(left) - 1, -1, -1):
            if left[node] >= 0:
                in_nodes[node] = in_nodes[left[node]] + in_nodes[left[node] + 1]
        arrays[f"tree.{name}"] = in_nodes
    removed_at, members = arrays["path.removed_at"], range(len(arrays["path.alphas"]))
    arrays["path.statistics"] = np.array([arrays["tree.logrank"][removed_at > member].sum() for member in members])
    time = arrays["tree.tables.time"]
    arrays["unique_times"] = np.union1d(arrays["unique_times"], time)
    arrays["event_times"] = np.union1d(arrays["event_times"], time[events > 0])


def changed(values: np.ndarray, arrays: dict[str, np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Return an array that is damaged in one of many ways."""
    values = values.copy()
    flat = values.reshape(-1)
    places = rng.integers(max(1, flat.size), size=int(rng.integers(1, 4)))
    match int(rng.integers(14)) if flat.size else int(rng.integers(8, 14)):
        case 0 | 1 | 2 | 3:
            flat[places] = _wild(values.dtype, len(flat), rng)
        case 4:
            flat[places] = flat[places][::-1] if len(places) > 1 else flat[rng.integers(flat.size)]
        case 5:
            rng.shuffle(flat)
        case 6:
            flat[:] = _wild(values.dtype, len(flat), rng)
        case 7:
            values = -values if values.dtype.kind != "b" else ~values
        case 8:
            values = values[: int(rng.integers(len(values) + 1))]
        case 9:
            values = np.concatenate([values, values[: int(rng.integers(1, 4))]])
        case 10:
            with np.errstate(invalid="ignore"):
                values = values.astype(
                    str(rng.choice(["<f8", "<i8", "<i4", "|b1", "<f4", ">f8", "<c16", "<U3", "|u1"]))
                )
        case 11:
            values = values.reshape([(1, -1), (-1, 1), (1, 1, -1)][int(rng.integers(3))])
        case 12:
            values = arrays[str(rng.choice(list(arrays)))]
        case _:
            values = wrapped_offsets(len(values), int(values.reshape(-1)[-1]) if _is_whole(values) else len(values))
    return values


def wrapped_offsets(length: int, end: int) -> np.ndarray:
    """Return offsets whose differences, in 64 bits, are all positive: [0, 2**62, 2**63 - 1, -2**63, ..., end]."""
    first = [0, 2**62, 2**63 - 1, -(2**63), -1] if length > 5 else [0, 2**63 - 1, -2][:length]
    return np.array([*first, *range(end - (length - len(first)) + 1, end + 1)], np.int64)


def _is_whole(values: np.ndarray) -> bool:
    return values.dtype.kind == "i" and values.size > 0


def _wild(dtype: np.dtype, length: int, rng: np.random.Generator) -> Any:
    if dtype.kind == "b":
        return bool(rng.integers(2))
    if dtype.kind == "i":
        near = [length - 1, length, length + 1, length // 2]
        bounds = np.iinfo(dtype)
        return int(np.clip(int(rng.choice(np.array([*INTEGERS, *near], dtype=object))), bounds.min, bounds.max))
    return FLOATS[int(rng.integers(len(FLOATS)))]


MUTATIONS: tuple[tuple[Callable[[Subject, np.random.Generator], bytes], float], ...] = (
    (change_bytes, 0.08),
    (truncate, 0.02),
    (change_directory, 0.08),
    (change_entries, 0.07),
    (change_array_header, 0.07),
    (change_json_text, 0.04),
    (change_header, 0.16),
    (change_a_number, 0.16),
    (change_and_repair, 0.10),
    (change_arrays, 0.22),
)


def mutant(subjects: list[Subject], case: int) -> tuple[Subject, str, bytes]:
    """Return the model that a case damages, the kind of damage, and the file."""
    rng = np.random.default_rng([20, case])
    subject = subjects[case % len(subjects)]
    shares = [share for _, share in MUTATIONS]
    mutate = MUTATIONS[int(rng.choice(len(MUTATIONS), p=shares))][0]
    return subject, mutate.__name__, mutate(subject, rng)


# What is asked of a model that was loaded.


def require(holds: Any, what: str) -> None:
    if not holds:
        raise FaultError(what)


def typical_rows(model: Any) -> np.ndarray:
    """Rows like those that the model was fitted to, as far as it knows them."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, model.n_features_in_))
    model = _answering(model)
    splits = model.tree_.splits if isinstance(model, BaseSurvivalTree) else model.forest_.trees[0].splits
    if hasattr(splits, "mean"):
        X = splits.mean + splits.scale * X
    if model._allow_nan:
        X[::5] = np.nan
    return np.clip(X, -1e75, 1e75)


def _answering(model: Any) -> Any:
    """Return the model that the answers come from."""
    return model.best_estimator_ if isinstance(model, SurvivalTreeCV) else model


def ask_everything(model: Any) -> None:
    """Predict in all ways, describe, prune, save; raise FaultError for an answer that cannot be true."""
    if model.n_features_in_ > MOST_COLUMNS:
        return
    X = typical_rows(model)
    risk = model.predict(X)
    require(np.isfinite(risk).all() and (risk >= 0).all(), "a risk is negative or no number")
    survival = model.predict_survival_function(X, return_array=True)
    require(((survival >= 0) & (survival <= 1)).all(), "a survival curve leaves [0, 1]")
    require((np.diff(survival, axis=1) <= 0).all(), "a survival curve rises")
    hazard = model.predict_cumulative_hazard_function(X, return_array=True)
    require(np.isfinite(hazard).all() and (np.diff(hazard, axis=1) >= 0).all(), "a cumulative hazard falls")
    require((hazard >= 0).all(), "a cumulative hazard is negative")
    for function in model.predict_survival_function(X[:2]):
        values = function([0.0, 0.3, 1e9])
        require(((values >= 0) & (values <= 1)).all(), "a survival function leaves [0, 1]")
    require((model.predict_median(X) >= 0).all(), "a median is negative or no number")
    require(np.isfinite(model.predict_quantile(X, 0.2, "restricted_mean")).all(), "a quantile is no number")
    rmst = model.predict_rmst(X)
    require(np.isfinite(rmst).all() and (rmst >= 0).all(), "a restricted mean is negative or no number")
    shares = model.feature_importances_
    require(np.isfinite(shares).all() and (shares >= 0).all(), "an importance is negative or no number")
    if isinstance(model, SurvivalTreeCV):
        _ask_tuned(model, X)
    elif isinstance(model, BaseSurvivalTree):
        _ask_tree(model, X)
    else:
        _ask_forest(model, X)


def _ask_tree(model: BaseSurvivalTree, X: np.ndarray) -> None:
    leaf = model.apply(X)
    require(np.isin(leaf, model.tree_.leaves).all(), "a row is not in a leaf")
    require(model.decision_path(X).shape == (len(X), model.tree_.n_nodes), "a path has nodes of another tree")
    if not np.isnan(X).any():
        require(np.isfinite(model.split_scores(X)).all(), "a score is no number")
    require(len(model.node_frame()) == model.tree_.n_nodes, "the table has other nodes")
    data = json.dumps(to_dict(model), allow_nan=False)
    require(len(data) > 0 and export_text(model) and export_dot(model), "there is no description")
    for alpha in (0.0, 3.0, 1e9):
        model.prune(alpha).predict(X)
    if model.pruning in (None, "fixed"):
        model.cut_back(1).predict(X)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m")
        require(type(model).load(Path(folder) / "m").tree_ == model.tree_, "what is saved again is another tree")


def _ask_tuned(model: SurvivalTreeCV, X: np.ndarray) -> None:
    chosen = model.best_estimator_
    require(np.array_equal(model.apply(X), chosen.apply(X)), "the chosen tree is another one")
    _ask_tree(chosen, X)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m")
        again = type(model).load(Path(folder) / "m")
    require(again.best_estimator_.tree_ == chosen.tree_, "what is saved again is another tree")


def _ask_forest(model: Any, X: np.ndarray) -> None:
    leaf = model.apply(X)
    for number, tree in enumerate(model.forest_.trees):
        require(np.isin(leaf[:, number], tree.leaves).all(), "a row is not in a leaf")
    shares = model.proximity(X)
    require(((shares >= 0) & (shares <= 1 + 1e-12)).all(), "a proximity is not a share")
    single = model.tree(0)
    require(np.array_equal(single.apply(X), leaf[:, 0]) and export_text(single), "a single tree is another one")
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m")
        require(type(model).load(Path(folder) / "m").forest_ == model.forest_, "what is saved again is another forest")


def outcome(subject: Subject, data: bytes, path: Path) -> str:
    """Return "refused", "loaded", or what is wrong."""
    path.write_bytes(data)
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                model = subject.estimator.load(path)
            except ModelFileError as error:
                result, fault = "refused", len(str(error)) > 1000 and "a message of more than 1000 characters"
            else:
                ask_everything(model)
                result, fault = "loaded", ""
    except Exception as error:
        result, fault = "", f"{type(error).__name__}: {error!s:.200}"
    if time.process_time() - start > MOST_SECONDS:
        fault = fault or f"took {time.process_time() - start:.1f} s"
    return f"fault: {fault}" if fault else result


def main() -> int:
    """Run cases; print counts, and every fault with its number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        subjects = make_subjects(Path(folder))
        for subject in subjects:  # compiles what is compiled on first use
            outcome(subject, subject.data, Path(folder) / "m")
            result = outcome(subject, subject.data, Path(folder) / "m")
            if result != "loaded":
                print(f"unchanged {subject.name}: {result}", flush=True)
        for case in range(options.first, options.first + options.cases):
            faulthandler.dump_traceback_later(DEAD_SECONDS, exit=True)
            subject, kind, data = mutant(subjects, case)
            start = time.process_time()
            result = outcome(subject, data, Path(folder) / "m")
            slowest = max(slowest, time.process_time() - start)
            counts[kind, result.split(":")[0]] += 1
            if result.startswith("fault"):
                print(f"case {case}, {subject.name}, {kind}: {result}", flush=True)
            if case % 1000 == 999:
                print(f"{case + 1} cases, slowest {slowest:.2f} s", file=sys.stderr, flush=True)
        faulthandler.cancel_dump_traceback_later()
    for (kind, result), count in sorted(counts.items()):
        print(f"{kind:20} {result:8} {count:6}")
    total = Counter[str]()
    for (_, result), count in counts.items():
        total[result] += count
    print(f"all: {dict(sorted(total.items()))}, slowest {slowest:.2f} s")
    return 1 if total["fault"] else 0


if __name__ == "__main__":
    sys.exit(main())
