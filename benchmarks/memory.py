"""Memory of a forest's medians, quantiles and restricted means: by blocks of rows, and off a table of all curves.

Run `python benchmarks/memory.py`. Every figure comes from a fresh process: the growth of its largest resident size
(ru_maxrss) after the first prediction of a few rows, when model and compiled code are there. What the table takes is
measured where it fits and computed elsewhere, as rows times event times times 8 bytes. Figures with a target are
printed with it, and one that misses it says MISS.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

import numpy as np

from dipolar import DipoleSurvivalForest, LogRankSurvivalForest, survival_outcome

FORESTS = {"logrank": LogRankSurvivalForest, "dipole": DipoleSurvivalForest}
METHODS = ("predict_median", "predict_quantile", "predict_rmst")
N_FEATURES = 10
N_PREDICTED = 100_000
TARGET = 300  # MB

# Rows that are learnt from; their events are about seven in ten.
N_LEARNT = (1_000, 10_000)

# A table beyond this size is not made.
LARGEST_TABLE = 1_000  # MB


def make_data(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, N_FEATURES))
    return X, survival_outcome(rng.exponential(np.exp(X[:, 0] - X[:, 1])), rng.random(n) < 0.7)


def read_off_table(forest: LogRankSurvivalForest, X: np.ndarray) -> np.ndarray:
    """Medians by way of all curves."""
    table = forest.predict_survival_function(X, forest.event_times_)
    reached = table[:, -1] <= 0.5
    return np.where(reached, forest.event_times_[np.argmax(table <= 0.5, axis=1)], np.inf)


def resident() -> float:
    """Return the largest resident size so far in MB."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / 2**20 if sys.platform == "darwin" else size / 2**10


def measure(kind: str, n_learnt: int, method: str) -> None:
    """Print by how many MB a prediction makes this process grow, and the number of event times."""
    X, y = make_data(n_learnt)
    forest = FORESTS[kind](n_estimators=20, random_state=0).fit(X, y)
    predict = (lambda X: read_off_table(forest, X)) if method == "table" else getattr(forest, method)
    predict(X[:10])
    many = np.random.default_rng(1).normal(size=(N_PREDICTED, N_FEATURES))
    before = resident()
    predict(many)
    print(resident() - before, len(forest.event_times_))


def measured(kind: str, n_learnt: int, method: str) -> tuple[float, int]:
    """Measure in a fresh process."""
    command = [sys.executable, __file__, "--measure", kind, str(n_learnt), method]
    grown, n_times = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(grown), int(n_times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", nargs=3, metavar=("FOREST", "ROWS", "METHOD"), help="one figure, in this process")
    chosen = parser.parse_args().measure
    if chosen:
        return measure(chosen[0], int(chosen[1]), chosen[2])

    print(f"{N_PREDICTED:,} rows predicted; growth of the largest resident size in MB\n")
    print(f"{'forest':<10}{'event times':>12}  {'':<18}{'MB':>8}  {'target':<10}")
    for kind in FORESTS:
        for n_learnt in N_LEARNT:
            for method in METHODS:
                grown, n_times = measured(kind, n_learnt, method)
                verdict = "ok" if grown < TARGET else "MISS"
                print(f"{kind:<10}{n_times:>12,}  {method:<18}{grown:>8.0f}  < {TARGET:<8}{verdict}", flush=True)
            size = N_PREDICTED * n_times * 8 / 2**20
            grown, how = (measured(kind, n_learnt, "table")[0], "") if size < LARGEST_TABLE else (size, "computed")
            print(f"{kind:<10}{n_times:>12,}  {'table of curves':<18}{grown:>8.0f}  {how}", flush=True)
    return None


if __name__ == "__main__":
    main()
