"""Saved models: what comes back, and what is refused."""

import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest

from dipolar import LogRankSurvivalTree
from dipolar.model_file import VERSION
from tests.test_growing import sample


class OtherTree(LogRankSurvivalTree):
    """Another estimator that could have written a file."""


@pytest.fixture(scope="module")
def model():
    X, survival = sample()
    X[::9, 1] = np.nan
    settings = {
        "pruning": "bootstrap",
        "n_bootstraps": 3,
        "random_state": 0,
        "fleming_harrington": (0.5, 0.5),
    }
    return LogRankSurvivalTree(**settings).fit(X, (survival.time, survival.event))


@pytest.fixture
def saved(model, tmp_path):
    path = tmp_path / "model.dipolar"
    model.save(path)
    return path


def edit(path, header=None, arrays=None):
    """Write the file again with some entries replaced."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    if header:
        entries["header.json"] = json.dumps(json.loads(entries["header.json"]) | header).encode()
    for name, values in (arrays or {}).items():
        stream = io.BytesIO()
        np.lib.format.write_array(stream, values)
        entries[f"arrays/{name}.npy"] = stream.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)


def test_a_loaded_model_is_the_saved_one(model, saved):
    X, survival = sample(seed=1)
    loaded = LogRankSurvivalTree.load(saved)
    assert loaded.get_params() == model.get_params()
    assert loaded.tree_ == model.tree_ and loaded.grown_ == model.grown_
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(
        loaded.predict_survival_function(X, return_array=True),
        model.predict_survival_function(X, return_array=True),
    )
    assert loaded.prune(9.0).tree_ == model.prune(9.0).tree_
    y = survival.time, survival.event
    assert loaded.score(X, y) == model.score(X, y)


def test_names_come_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, survival = sample()
    frame = pandas.DataFrame(X, columns=["age", "bmi", "höhe"])
    LogRankSurvivalTree(max_depth=2).fit(frame, survival.time).save(tmp_path / "m")
    loaded = LogRankSurvivalTree.load(tmp_path / "m")
    assert list(loaded.feature_names_in_) == ["age", "bmi", "höhe"]
    loaded.predict(frame)


def test_every_truncated_file_is_refused(saved):
    data = saved.read_bytes()
    for size in [0, 1, 10, *range(100, len(data), 499), len(data) - 1]:
        saved.write_bytes(data[:size])
        with pytest.raises(ValueError, match="not a complete saved dipolar model"):
            LogRankSurvivalTree.load(saved)


def test_flipped_bits_are_noticed(saved):
    data = saved.read_bytes()
    with zipfile.ZipFile(saved) as archive:
        start = archive.getinfo("arrays/tree.left.npy").header_offset + 80
    for position in range(start, start + 60, 7):
        saved.write_bytes(data[:position] + bytes([data[position] ^ 0xFF]) + data[position + 1 :])
        with pytest.raises(ValueError, match="not a complete saved dipolar model"):
            LogRankSurvivalTree.load(saved)


@pytest.mark.parametrize("content", [b"", b"hello", pickle.dumps({"a": 1}), b"PK\x03\x04 nothing"])
def test_foreign_files_are_refused(tmp_path, content):
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a complete saved dipolar model"):
        LogRankSurvivalTree.load(path)


def test_a_foreign_zip_is_refused(tmp_path):
    np.savez(tmp_path / "foreign.npz", a=np.ones(3))
    with pytest.raises(ValueError, match="not a complete saved dipolar model"):
        LogRankSurvivalTree.load(tmp_path / "foreign.npz")


def test_a_newer_file_says_so(saved):
    edit(saved, header={"version": VERSION + 1})
    with pytest.raises(ValueError, match=r"format version 2, and this dipolar reads up to 1. Upgrade"):
        LogRankSurvivalTree.load(saved)


def test_another_estimator_says_so(saved):
    with pytest.raises(ValueError, match="holds a 'LogRankSurvivalTree', not a 'OtherTree'"):
        OtherTree.load(saved)


@pytest.mark.parametrize(
    ("header", "arrays"),
    [
        ({"splits": "os.system"}, {}),
        ({"member": 10_000}, {}),
        ({"parameters": {"no_such": 1}}, {}),
        ({"parameters": [1]}, {}),
        ({"n_features": 1}, {}),
        ({}, {"tree.left": np.zeros(3, np.int32)}),
        ({}, {"tree.splits.feature": np.zeros(3, np.int32)}),
        ({}, {"tree.tables.offset": np.array([0, 5])}),
        ({}, {"tree.tables.censored": np.zeros(3)}),
        ({}, {"path.removed_at": np.zeros(3, np.int32)}),
        ({}, {"event_times": np.array(["a", "b"])}),
    ],
)
def test_a_file_that_is_no_tree_is_refused(saved, header, arrays):
    edit(saved, header, arrays)
    with pytest.raises(ValueError, match="not a complete saved dipolar model"):
        LogRankSurvivalTree.load(saved)


def test_a_cycle_is_refused(model, saved):
    left = model.grown_.left.copy()
    left[np.flatnonzero(left >= 0)[-1]] = 0
    edit(saved, arrays={"tree.left": left})
    with pytest.raises(ValueError, match="child outside the tree"):
        LogRankSurvivalTree.load(saved)


def test_pickled_arrays_are_never_run(saved, tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "owned"),)

    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.array([Evil()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(saved, "a") as archive:
        archive.writestr("arrays/evil.npy", stream.getvalue())
    with pytest.raises(ValueError, match="not a complete saved dipolar model"):
        LogRankSurvivalTree.load(saved)
    assert not (tmp_path / "owned").exists()


def test_a_failed_save_leaves_the_old_file(model, saved, monkeypatch):
    before = saved.read_bytes()

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(OSError, match="disk full"):
        model.save(saved)
    assert saved.read_bytes() == before
    assert os.listdir(saved.parent) == [saved.name]


def test_a_missing_file_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        LogRankSurvivalTree.load(tmp_path / "none")


def test_generators_are_not_saved(tmp_path):
    X, survival = sample(50)
    model = LogRankSurvivalTree(random_state=np.random.RandomState(0)).fit(X, survival.time)
    model.save(tmp_path / "m")
    assert LogRankSurvivalTree.load(tmp_path / "m").random_state is None


def test_what_json_cannot_hold_is_named(model, tmp_path):
    other = model.prune(1.0)
    other.fleming_harrington = {1, 2}
    with pytest.raises(ValueError, match=r"fleming_harrington={1, 2} cannot be saved"):
        other.save(tmp_path / "m")
    with pytest.raises(ValueError, match=r"fleming_harrington=\(0.0, inf\) cannot be saved"):
        other.set_params(fleming_harrington=(0.0, np.inf)).save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_pickles_are_small_and_equal():
    X, survival = sample(4000, 5)
    model = LogRankSurvivalTree().fit(X, (survival.time, survival.event))
    data = pickle.dumps(model)
    assert len(data) < 1_000_000
    np.testing.assert_array_equal(pickle.loads(data).predict(X), model.predict(X))
