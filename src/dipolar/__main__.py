"""The demonstration behind `make demo`: the paper's four trees on the Worcester Heart Attack Study."""

from __future__ import annotations

import time

import numpy as np
from sklearn.model_selection import train_test_split

from dipolar import DipoleSurvivalTree, LogRankSurvivalTree, __version__
from dipolar.datasets import load_whas500

ROW = "{:<12} {:>6} {:>7} {:>9} {:>9} {:>8}  {}"


def make_trees() -> dict[str, LogRankSurvivalTree | DipoleSurvivalTree]:
    """The univariate tree and the three kernels, grown to leaves of ten patients and pruned by the bootstrap."""
    size = {"min_samples_split": 20, "min_samples_leaf": 10, "pruning": "bootstrap", "random_state": 0}
    trees: dict[str, LogRankSurvivalTree | DipoleSurvivalTree] = {"univariate": LogRankSurvivalTree(**size)}
    for kernel in ("linear", "quadratic", "rbf"):
        trees[kernel] = DipoleSurvivalTree(kernel=kernel, kappa=0.01, standardize=True, init="quartile", **size)
    return trees


def describe_leaves(tree: LogRankSurvivalTree | DipoleSurvivalTree) -> str:
    """Median survival in days and number of rows of each leaf, the longest median first."""
    frame = tree.node_frame()
    leaves = frame[frame["is_leaf"]].sort_values(["median", "n"], ascending=False)
    shown = [
        f"{'>' if np.isinf(row['median']) else ''}{_days(row, tree)} ({row['n']:.0f})" for _, row in leaves.iterrows()
    ]
    return "  ".join(shown)


def _days(leaf, tree: LogRankSurvivalTree | DipoleSurvivalTree) -> str:
    """The median, or the end of follow-up where it is not reached."""
    return f"{leaf['median'] if np.isfinite(leaf['median']) else tree.unique_times_[-1]:.0f}"


def main() -> None:
    """Fit the trees on one half of the data and score them on the other."""
    X, y = load_whas500(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y["event"])
    print(f"dipolar {__version__}: WHAS500, {len(X_train)} patients to learn from, {len(X_test)} to be tested on")
    print(f"covariates: {', '.join(X.columns)}\n")
    print(
        ROW.format("tree", "leaves", "grown", "C, train", "C, test", "seconds", "median days (patients) in the leaves")
    )
    for name, tree in make_trees().items():
        start = time.perf_counter()
        tree.fit(X_train, y_train)
        seconds = time.perf_counter() - start
        scores = [f"{tree.score(*part):.3f}" for part in ((X_train, y_train), (X_test, y_test))]
        sizes = tree.n_leaves_, tree.grown_.n_leaves
        print(ROW.format(name, *sizes, *scores, f"{seconds:.2f}", describe_leaves(tree)))
    print("\nC is Harrell's concordance, ties counted 1/2. The first fits include the time to load compiled code.")


if __name__ == "__main__":
    main()
