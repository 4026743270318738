"""Forests: time to fit and predict, and size on disk, against scikit-survival's RandomSurvivalForest.

Run `python benchmarks/forests.py`. One thread each, CPU time, compiled beforehand, equal numbers of trees and limits
(min_samples_split 6, min_samples_leaf 3, no other; sqrt of the covariates drawn). Times are continuous, as in a study
that counts days; a last case has times of two digits, of which there are few, where scikit-survival is at its best.
Figures with a target are printed with it, and one that misses it says MISS. The largest case needs some GB of memory:
scikit-survival keeps a curve over all distinct times in every leaf.
"""

from __future__ import annotations

import importlib.metadata
import os
import pickle
import platform
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

# One thread each, set before NumPy is loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
from sksurv.ensemble import RandomSurvivalForest  # noqa: E402

from dipolar import DipoleSurvivalForest, LogRankSurvivalForest, survival_outcome  # noqa: E402

PACKAGES = ("dipolar", "numpy", "numba", "scikit-learn", "scikit-survival")
# Rows, trees of each forest, digits of the times, and how many times faster the log-rank forest should be fitted.
CASES = ((1_000, 50, None, 5), (5_000, 10, None, 20), (20_000, 1, None, 50), (5_000, 10, 2, None), (20_000, 5, 2, None))
N_FEATURES = 10
N_PREDICTED = 500


def make_data(n: int, digits: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Ten covariates, five of which matter; a third of the times censored."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, N_FEATURES))
    time_to_event = rng.exponential(np.exp(-X[:, :5] @ np.array([0.8, -0.6, 0.4, 0.3, -0.2])))
    censoring = rng.exponential(2.0, size=n)
    observed = np.minimum(time_to_event, censoring)
    if digits is not None:
        observed = np.ceil(10**digits * observed) / 10**digits
    return X, survival_outcome(observed, time_to_event <= censoring)


def timed(run: Callable) -> tuple[float, object]:
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def report(what: str, value: str, target: str = "", ok: bool | None = None) -> None:
    """Print one figure; `ok` says whether it meets its target."""
    verdict = "" if ok is None else ("ok" if ok else "MISS")
    print(f"{what:<70} {value:>12}  {target:<12} {verdict}", flush=True)


def megabytes_saved(forest) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forest.dipolar"
        forest.save(path)
        return path.stat().st_size / 1e6


def compare(n: int, n_trees: int, digits: int | None, target: float | None) -> None:
    """One size: the two log-rank forests, and the dipole forest beside them."""
    X, y = make_data(n, digits)
    limits = {"n_estimators": n_trees, "min_samples_split": 6, "min_samples_leaf": 3, "random_state": 0}
    ours = LogRankSurvivalForest(**limits, min_logrank=0.0)
    theirs = RandomSurvivalForest(**limits, max_features="sqrt")
    dipole = DipoleSurvivalForest(**limits, min_logrank=0.0)

    our_seconds, _ = timed(lambda: ours.fit(X, y))
    their_seconds, _ = timed(lambda: theirs.fit(X, y))
    dipole_seconds, _ = timed(lambda: dipole.fit(X, y))
    name = f"n={n:,}, {len(np.unique(y['time'])):,} times, {n_trees} trees"
    report(f"{name}: RandomSurvivalForest, fit", f"{their_seconds:.2f} s")
    report(f"{name}: LogRankSurvivalForest, fit", f"{our_seconds:.3f} s")
    ratio = their_seconds / our_seconds
    meets = None if target is None else ratio >= target
    report(f"{name}: times faster to fit", f"{ratio:.0f}", "" if target is None else f">= {target}", meets)
    slower = dipole_seconds / our_seconds
    wanted = n == 5_000
    what = f"{name}: DipoleSurvivalForest, fit, times LogRankSurvivalForest"
    report(what, f"{slower:.2f}", "<= 3" if wanted else "", slower <= 3 if wanted else None)

    new = X[:N_PREDICTED]
    our_seconds, _ = timed(lambda: ours.predict_survival_function(new, ours.event_times_))
    their_seconds, _ = timed(lambda: theirs.predict_survival_function(new, return_array=True))
    report(f"{name}: times faster to predict {N_PREDICTED} curves", f"{their_seconds / our_seconds:.1f}")
    size = len(pickle.dumps(theirs)) / 1e6
    smaller = size / megabytes_saved(ours)
    report(f"{name}: RandomSurvivalForest, pickled", f"{size:.1f} MB")
    report(f"{name}: LogRankSurvivalForest, saved: times smaller", f"{smaller:.0f}", ">= 20", smaller >= 20)


def main() -> None:
    packages = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    print(f"python {platform.python_version()}, {platform.machine()}; {packages}\n")
    X, y = make_data(200)
    for forest in (LogRankSurvivalForest(2), DipoleSurvivalForest(n_estimators=2)):  # compiles
        forest.fit(X, y).predict_survival_function(X[:5], return_array=True)
    for case in CASES:
        compare(*case)


if __name__ == "__main__":
    main()
