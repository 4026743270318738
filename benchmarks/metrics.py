"""Scores against scikit-survival and lifelines: time and equality, in one run.

Run `python benchmarks/metrics.py`. Every figure that has a target is printed with it, and one that misses it says
MISS; the same lines are written to benchmarks/results/metrics.md. Compiling is not timed.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

# One thread each, set before NumPy is loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
from lifelines.utils import concordance_index as lifelines_concordance  # noqa: E402
from sksurv import metrics as sksurv_metrics  # noqa: E402

from dipolar import LogRankSurvivalTree, metrics, survival_outcome  # noqa: E402

PACKAGES = ("dipolar", "numpy", "numba", "scikit-learn", "scikit-survival", "lifelines")
RESULTS = Path(__file__).parent / "results" / "metrics.md"
EQUAL = 1e-10

HEAD = """# Scores: time and equality

Made by `python benchmarks/metrics.py`. {machine}; {versions}.

A tree predicts functions, and scikit-survival scores a table of all rows that has to be made of them: "from functions"
counts the making, "table for free" does not. lifelines has no Brier score.

| what | value | target | |
| --- | ---: | --- | --- |
"""

lines: list[str] = []


def make_data(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Covariates of which two matter, outcomes of which a third is censored, and a risk with an error."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    times = rng.exponential(np.exp(-X[:, 0] - 0.5 * X[:, 1] ** 2))
    censoring = rng.exponential(2.0, size=n)
    return X, survival_outcome(np.minimum(times, censoring), times <= censoring), X[:, 0] + rng.normal(size=n)


def timed(run: Callable[[], float], repeats: int) -> tuple[float, float]:
    """Return the result and the shortest of some wall-clock times."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        value = run()
        seconds.append(time.perf_counter() - start)
    return value, min(seconds)


def report(what: str, value: str, target: str = "", ok: bool | None = None) -> None:
    """Print one figure and keep it for the file; `ok` says whether it meets its target."""
    verdict = "" if ok is None else ("met" if ok else "MISS")
    print(f"{what:<76} {value:>12}  {target:<10} {verdict}", flush=True)
    lines.append(f"| {what} | {value} | {target} | {verdict} |")


def compare(what: str, ours: tuple[float, float], theirs: tuple[float, float], target: float | None) -> None:
    """Report two times, their ratio, and whether the values are equal."""
    ratio, difference = theirs[1] / ours[1], abs(theirs[0] - ours[0])
    report(f"{what}: theirs", f"{1e3 * theirs[1]:.1f} ms")
    wanted = "" if target is None else f">= {target:g}"
    report(f"{what}: times faster", f"{ratio:.0f}", wanted, None if target is None else ratio >= target)
    report(f"{what}: difference", f"{difference:.0e}", f"<= {EQUAL:g}", difference <= EQUAL)


def concordance() -> None:
    """Harrell's and Uno's index, n = 20,000; Harrell's, n = 1,000,000.

    scikit-survival takes risks within 1e-8 as tied unless told not to.
    """
    _, y, risk = make_data(20_000)
    event, times = y["event"], y["time"]
    metrics.concordance_index(y[:100], risk[:100])
    ours = timed(lambda: metrics.concordance_index(y, risk), 7)
    report("concordance, n=20000: ours", f"{1e3 * ours[1]:.1f} ms")
    theirs = timed(lambda: sksurv_metrics.concordance_index_censored(event, times, risk, tied_tol=0)[0], 1)
    compare("concordance, n=20000, scikit-survival", ours, theirs, 50)
    theirs = timed(lambda: lifelines_concordance(times, -risk, event), 1)
    compare("concordance, n=20000, lifelines", ours, theirs, 50)

    tau = float(np.quantile(times, 0.9))
    ours = timed(lambda: metrics.concordance_index_ipcw(y, y, risk, tau), 7)
    report("Uno's concordance, n=20000: ours", f"{1e3 * ours[1]:.1f} ms")
    theirs = timed(lambda: sksurv_metrics.concordance_index_ipcw(y, y, risk, tau, tied_tol=0)[0], 1)
    compare("Uno's concordance, n=20000, scikit-survival", ours, theirs, 50)

    _, y, risk = make_data(1_000_000)
    _, seconds = timed(lambda: metrics.concordance_index(y, risk), 3)
    report("concordance, n=1000000: ours", f"{seconds:.2f} s")


def integrated_brier() -> None:
    """Integrated Brier score of a tree with 60 leaves, n = 20,000 for training and for evaluation.

    A tree predicts functions; scikit-survival scores a table of all rows, which has to be made of them first.
    """
    X, y, _ = make_data(40_000, seed=1)
    train, test = slice(0, 20_000), slice(20_000, None)
    tree = LogRankSurvivalTree(max_leaf_nodes=60).fit(X[train], y[train])
    functions = tree.predict_survival_function(X[test])
    for n_times in (200, 1000):
        times = np.quantile(y["time"][test], np.linspace(0.02, 0.9, n_times))
        compare_brier(f"{tree.n_leaves_} leaves, {n_times} times", y[train], y[test], functions, times)
    print("lifelines has no Brier score.")


def compare_brier(name: str, train: np.ndarray, test: np.ndarray, functions: np.ndarray, times: np.ndarray) -> None:
    """Report one grid: from functions to the score, and from a table that both are given."""

    def make_table() -> np.ndarray:
        return np.array([function(times) for function in functions])

    def ours(survival) -> float:
        return metrics.integrated_brier_score(train, test, survival, times)

    def theirs(survival) -> float:
        return sksurv_metrics.integrated_brier_score(train, test, survival, times)

    table = make_table()
    from_functions, from_table = timed(lambda: ours(functions), 7), timed(lambda: ours(table), 3)
    report(f"IBS, n=20000, {name}: ours, from functions", f"{1e3 * from_functions[1]:.1f} ms")
    report(f"IBS, n=20000, {name}: ours, from a table", f"{1e3 * from_table[1]:.1f} ms")
    compare(f"IBS, n=20000, {name}, from functions", from_functions, timed(lambda: theirs(make_table()), 1), 20)
    given = timed(lambda: theirs(table), 2)
    compare(f"IBS, n=20000, {name}, table for free", from_functions, given, None)
    compare(f"IBS, n=20000, {name}, both from a table", from_table, given, None)


def main() -> None:
    machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, one thread used"
    print(machine)
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in PACKAGES)
    print(versions)
    for part in (concordance, integrated_brier):
        print(f"\n{(part.__doc__ or '').splitlines()[0]}")
        part()
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(HEAD.format(machine=machine, versions=versions) + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
