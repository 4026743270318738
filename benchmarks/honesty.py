"""How far p-values and confidence limits can be trusted: rates over simulated data of which the truth is known.

Run `python benchmarks/honesty.py`. It prints two tables and writes them to benchmarks/results/honesty.md.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# One thread each, set before NumPy is loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

from dipolar import DipoleSurvivalTree, LogRankSurvivalTree  # noqa: E402
from dipolar.metrics import logrank_test  # noqa: E402
from dipolar.survival import Survival  # noqa: E402
from dipolar.tree.confidence import confidence_limits  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "honesty.md"

N_TESTS = 500  # data sets per line of the first table: a rate of 5 % has a standard error of 1 point
N_PERMUTATIONS = 99
N_TREES = 100  # data sets per line of the second table
POPULATION = 20_000  # covariates that stand for a whole population

HEAD = """# How far p-values and confidence limits can be trusted

Made by `python benchmarks/honesty.py`, in a quarter of an hour on one core.
"""

TESTS = f"""
## The log-rank test of groups that do not differ

Share of {N_TESTS} data sets in which `logrank_test` finds a difference at the 5 % level, by the chi-square law and by
{N_PERMUTATIONS} permutations. Times are exponential; half the rows are censored, or where it says "unequally", every
second group is followed eight times longer than the others.

| groups | rows in each | censored | events expected in each | chi-square | permutation |
| ---: | ---: | --- | ---: | ---: | ---: |
"""

BANDS = f"""
## The limits of curves in the leaves of a tree

Share of leaves whose pointwise 95 % limits hold the true survival probability of the population that reaches the leaf,
at the times by which a quarter, half and three quarters of the population have had the event. {N_TREES} data
sets of 300 rows with five normal covariates, of which one matters (hazard exp(x)) or none; 30 % are censored. "Rows
that grew it": the curves that every tree shows. "Fresh rows": the same leaves filled with 300 other rows.

| tree | covariates that matter | leaves | rows that grew it | fresh rows |
| --- | ---: | ---: | ---: | ---: |
"""

GROUPS = (
    *(([size] * n, "equally") for n, size in ((2, 10), (5, 10), (10, 10), (20, 10), (40, 5), (40, 10), (40, 20))),
    *(([size] * n, "equally") for n, size in ((10, 40), (10, 100))),
    ([300, 300, 3], "equally"),
    *(([20] * n, "unequally") for n in (2, 10, 40)),
    ([40, 5] * 5, "unequally"),
    ([5, 40] * 5, "unequally"),
)

TREES = {
    "log-rank, at least 20 rows in a leaf": lambda: LogRankSurvivalTree(min_samples_leaf=20, min_samples_split=40),
    "log-rank, pruned with alpha = 4": lambda: LogRankSurvivalTree(pruning="fixed"),
    "log-rank, pruned by the bootstrap": lambda: LogRankSurvivalTree(pruning="bootstrap", random_state=0),
    "dipoles, linear, pruned with alpha = 4": lambda: DipoleSurvivalTree(pruning="fixed", random_state=0),
}


def rejections(sizes: list[int], censored: str) -> tuple[float, float, float]:
    """Return the mean number of events in a group, and how often each method finds a difference."""
    rng = np.random.default_rng([len(sizes), sizes[0], len(censored)])
    group = np.repeat(np.arange(len(sizes)), sizes)
    follow_up = np.where((group % 2 == 0) & (censored == "unequally"), 0.125, 1.0)
    events, found = 0, np.zeros(2)
    for seed in range(N_TESTS):
        time, censoring = rng.exponential(size=len(group)), rng.exponential(follow_up)
        event = time <= censoring
        if not event.any():
            continue
        y = np.minimum(time, censoring), event
        law = logrank_test(y, group).p_value
        permuted = logrank_test(
            y, group, method="permutation", n_permutations=N_PERMUTATIONS, random_state=seed
        ).p_value
        found += law <= 0.05, permuted <= 0.05
        events += event.sum()
    return events / N_TESTS / len(sizes), *(found / N_TESTS)


def outcomes(rng: np.random.Generator, X: np.ndarray, matters: bool) -> Survival:
    """Draw times with hazard exp(x) or 1; an exponential censoring leaves 70 % of the events."""
    time = rng.exponential(np.exp(-X[:, 0]) if matters else np.ones(len(X)))
    censoring = rng.exponential(2.4, len(X))
    return Survival(np.minimum(time, censoring), time <= censoring)


def coverage(name: str, matters: bool) -> tuple[float, float, float]:
    """Return the mean number of leaves, and how often limits hold the truth: on the rows that grew them, on others."""
    rng = np.random.default_rng(0)
    n_leaves, held, n_held = 0, np.zeros(2), np.zeros(2)
    for _ in range(N_TREES):
        X, fresh, population = (rng.normal(size=(n, 5)) for n in (300, 300, POPULATION))
        survival = outcomes(rng, X, matters)
        tree = TREES[name]().fit(X, (survival.time, survival.event)).tree_
        hazard = np.exp(population[:, 0]) if matters else np.ones(POPULATION)
        times = np.quantile(rng.exponential(1 / hazard), [0.25, 0.5, 0.75])
        leaf = tree.leaf_of(population)
        size = np.maximum(np.bincount(leaf, minlength=tree.n_leaves), 1)
        truth = np.array([np.bincount(leaf, np.exp(-hazard * t), minlength=tree.n_leaves) / size for t in times]).T
        n_leaves += tree.n_leaves
        filled = [tree]
        if len(np.unique(tree.leaf_of(fresh))) == tree.n_leaves:
            filled.append(tree.refill(fresh, outcomes(rng, fresh, matters), np.ones(len(fresh))))
        for which, record in enumerate(filled):
            for table, true in zip(record.tables, truth):
                lower, upper = confidence_limits(table)
                # Where the curve has not begun or has ended, it has no limits.
                k = np.searchsorted(table.time, times, side="right") - 1
                known = (k >= 0) & (times <= table.time[-1]) & (table.survival[k] < 1) & np.isfinite(lower[k])
                held[which] += np.sum((lower[k] <= true) & (true <= upper[k]) & known)
                n_held[which] += np.sum(known)
    return n_leaves / N_TREES, *(held / n_held)


def main() -> None:
    parts = [HEAD, TESTS]
    for sizes, censored in GROUPS:
        events, law, permuted = rejections(sizes, censored)
        each = f"{sizes[0]}" if len(set(sizes)) == 1 else " and ".join(map(str, dict.fromkeys(sizes)))
        parts.append(f"| {len(sizes)} | {each} | {censored} | {events:.1f} | {law:.1%} | {permuted:.1%} |\n")
        print(parts[-1], end="", flush=True)
    parts.append(BANDS)
    for name in TREES:
        for matters in (False, True):
            leaves, own, fresh = coverage(name, matters)
            parts.append(f"| {name} | {int(matters)} | {leaves:.1f} | {own:.1%} | {fresh:.1%} |\n")
            print(parts[-1], end="", flush=True)
    RESULTS.write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
