"""The same operations on two versions of the library, such as a branch and where it came from.

    python benchmarks/before_after.py measure --output before.jsonl      # with the one version importable
    python benchmarks/before_after.py measure --output after.jsonl       # with the other
    python benchmarks/before_after.py compare before.jsonl after.jsonl

`PYTHONPATH=/path/to/checkout/src` says which version is measured. Each operation is run until it has taken a second,
at least three times, and the shortest CPU time counts. What it came to (leaves, re-orientations) is kept beside it, so
that a difference in time can be told from a difference in what was done. Compiling is measured apart, in a fresh
process for every kind of model whose cache is empty. Every line of a file is one figure; `compare` prints the ratios
and says which operations run at less than 0.9 of the speed they had.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# One thread each, set before NumPy is loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

import dipolar  # noqa: E402
from dipolar import (  # noqa: E402
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalForest,
    LogRankSurvivalTree,
    survival_outcome,
)
from dipolar.metrics import concordance_index, integrated_brier_score  # noqa: E402
from dipolar.node_svm.problem import NodeProblem  # noqa: E402
from dipolar.node_svm.solvers import solve  # noqa: E402
from dipolar.simulation import simulate  # noqa: E402
from dipolar.survival import check_outcome  # noqa: E402

SLOWER = 0.9
LEAST_RUNS, LEAST_SECONDS = 3, 1.0

KERNELS = {"linear": "planar-4", "quadratic": "ellipse-4", "rbf": "ellipse-4"}
ETAS = (-4.0, 0.0, 2.0)
DEPTHS = (1, 2, 3, 4)

# Models that are fitted in fresh processes, as they come.
COLD = {
    "DipoleSVM": "DipoleSVM()",
    "LogRankSurvivalTree": "LogRankSurvivalTree()",
    "DipoleSurvivalTree": "DipoleSurvivalTree()",
    "LogRankSurvivalForest": "LogRankSurvivalForest(n_estimators=2)",
    "DipoleSurvivalForest": "DipoleSurvivalForest(n_estimators=2)",
}

# A machine of its own makes the tree's splits since this is so; before, the tree took all parameters itself.
HAS_MACHINES = hasattr(dipolar, "SurvivalTreeCV")

Operation = tuple[str, Callable[[], Any], Callable[[Any], str]]


def paper_svm(kernel: str, kappa: float) -> Any:
    """The machine of the paper's text."""
    if not HAS_MACHINES:
        return DipoleSVM(kernel, kappa=kappa)
    from paper import paper_svm

    return paper_svm(kernel, kappa)


def paper_tree(kernel: str, kappa: float, **changes: Any) -> DipoleSurvivalTree:
    """A tree with the paper's settings."""
    if not HAS_MACHINES:
        return DipoleSurvivalTree(kernel=kernel, kappa=kappa, **changes)
    from paper import paper_tree

    return paper_tree(paper_svm(kernel, kappa), **changes)


def search(kernel: str) -> Any:
    """A search over kappa and depth in five folds."""
    tree, shared = paper_tree(kernel, 1.0), {"max_depth": DEPTHS, "random_state": 0}
    if not HAS_MACHINES:
        return dipolar.DipoleSurvivalTreeCV(kernel=kernel, eta=ETAS, estimator=tree, **shared)
    grid = {"svm__kappa": np.exp(ETAS)}
    return dipolar.SurvivalTreeCV(tree, param_grid=grid, tolerance=0, level=None, **shared)


def curves_at_events(forest: Any, X: np.ndarray) -> np.ndarray:
    """Survival curves at the event times of the training rows."""
    if not HAS_MACHINES:
        return forest.predict_survival_function(X, return_array=True)
    return forest.predict_survival_function(X, forest.event_times_)


def dipoles_of(survival: Any) -> tuple[Callable[[], Any], Callable[[Any, np.ndarray], Any]]:
    """How to find the cut-offs of these rows, and how to orient what was found by scores in time order."""
    n = len(survival.time)
    weight = np.ones(n)
    if not HAS_MACHINES:
        from dipolar.dipoles import DipoleRule, Dipoles

        return lambda: Dipoles(survival, weight, DipoleRule()), lambda dipoles, scores: dipoles.orient(scores)

    from dipolar._core.dipoles import orient_rows
    from dipolar._core.search import fill_levels
    from dipolar.node_svm.dipoles import find_cutoffs

    def find() -> Any:
        ordered = survival.take(np.lexsort((~survival.event, survival.time)))
        return ordered, find_cutoffs(ordered, weight, 0.25, 0.75, "text").bounds("text")

    def orient(found: Any, scores: np.ndarray) -> None:
        ordered, bounds = found
        level, upward, downward = np.empty(n), np.zeros(n), np.zeros(n)
        fill_levels(scores, level)
        orient_rows(ordered.time, ordered.event, weight, level, bounds, 1.0, False, upward, downward)

    return find, orient


def make_data(n: int, p: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two covariates that matter, noise, and a third of the rows censored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    times = rng.exponential(np.exp(-X[:, 0] - 0.5 * X[:, 1] ** 2))
    censoring = rng.exponential(2.0, size=n)
    return X, survival_outcome(np.minimum(times, censoring), times <= censoring)


def nothing(_: Any) -> str:
    return ""


def leaves(tree: Any) -> str:
    return f"{tree.n_leaves_} leaves"


def node_solves() -> Iterator[Operation]:
    """One node problem of each size and rank, by the solver alone."""
    rng = np.random.default_rng(0)
    for n, rank in ((60, 4), (250, 4), (250, 35), (1000, 14), (1000, 129)):
        features = rng.normal(size=(n, rank))
        problem = NodeProblem(np.asfortranarray(features - features.mean(axis=0)), *rng.random((2, n)), 1.0, 1.0)
        name = f"node solve, n={n}, rank {rank}"
        yield name, lambda problem=problem: solve(problem), lambda solution: f"{solution.iterations} steps"


def machines() -> Iterator[Operation]:
    for kernel, design in KERNELS.items():
        for n in (250, 1000, 5000):
            data = simulate(design, n, random_state=0)
            svm = paper_svm(kernel, 1.0)
            fit = lambda svm=svm, data=data: svm.fit(data.X, data.y)  # noqa: E731
            yield f"SVM, {kernel}, n={n}", fit, lambda svm: f"{svm.n_reorientations_} re-orientations, {svm.status_}"
        new = simulate(design, 100_000, random_state=1).X
        svm = paper_svm(kernel, 1.0).fit(data.X, data.y)
        yield f"SVM, {kernel}: score 100,000 rows", lambda svm=svm, new=new: svm.decision_function(new), nothing


def trees() -> Iterator[Operation]:
    data = simulate("planar-2", 250, random_state=0)
    for kernel in KERNELS:
        for eta in ETAS:
            tree = paper_tree(kernel, np.exp(eta))
            yield f"paper's tree, {kernel}, eta {eta:g}", lambda tree=tree: tree.fit(data.X, data.y), leaves
    for kernel in ("linear", "rbf"):
        name = f"search, {kernel}, {len(ETAS)} kappas, {len(DEPTHS)} depths, 5 folds"
        yield name, lambda kernel=kernel: search(kernel).fit(data.X, data.y), lambda s: leaves(s.best_estimator_)
    for n in (1000, 20_000):
        X, y = make_data(n, 5)
        tree = LogRankSurvivalTree()
        yield f"log-rank tree, n={n}", lambda tree=tree, X=X, y=y: tree.fit(X, y), leaves
    new, _ = make_data(100_000, 5, seed=1)
    tree = LogRankSurvivalTree().fit(X, y)
    yield "log-rank tree: risk of 100,000 rows", lambda: tree.predict(new), nothing
    yield "log-rank tree: medians of 100,000 rows", lambda: tree.predict_median(new), nothing
    oblique = paper_tree("linear", 1.0, max_depth=4).fit(X[:2000], y[:2000])
    yield "linear tree: risk of 100,000 rows", lambda: oblique.predict(new), nothing


def forests() -> Iterator[Operation]:
    for kind in (LogRankSurvivalForest, DipoleSurvivalForest):
        for n, n_trees in ((500, 100), (5000, 20)):
            X, y = make_data(n, 10)
            forest = kind(n_estimators=n_trees, random_state=0)
            name = f"{kind.__name__}, n={n}, {n_trees} trees"
            yield f"{name}: fit", lambda forest=forest, X=X, y=y: forest.fit(X, y), nothing
            fitted = kind(n_estimators=n_trees, random_state=0).fit(X, y)
            new, _ = make_data(2000, 10, seed=1)
            yield f"{name}: risk of 2000 rows", lambda forest=fitted, new=new: forest.predict(new), nothing
            yield f"{name}: curves of 500 rows", lambda f=fitted, new=new: curves_at_events(f, new[:500]), nothing


def orientation() -> Iterator[Operation]:
    X, y = make_data(1_000_000, 2)
    find, orient = dipoles_of(check_outcome(y))
    yield "cut-offs, n=1,000,000", find, nothing
    found = find()
    yield "orientation, n=1,000,000", lambda: orient(found, X[:, 0]), nothing


def scores() -> Iterator[Operation]:
    for n in (20_000, 1_000_000):
        X, y = make_data(n, 2)
        yield f"concordance, n={n}", lambda X=X, y=y: concordance_index(y, X[:, 0]), lambda c: f"{c:.6f}"
    X, y = make_data(20_000, 5)
    curves = LogRankSurvivalTree(max_leaf_nodes=60).fit(X, y).predict_survival_function(X)
    yield "integrated Brier score, n=20000", lambda: integrated_brier_score(y, y, curves), lambda s: f"{s:.6f}"


PARTS: dict[str, Callable[[], Iterator[Operation]]] = {
    "node": node_solves,
    "svm": machines,
    "trees": trees,
    "forests": forests,
    "orientation": orientation,
    "scores": scores,
}


def accuracy() -> Iterator[tuple[str, float, str]]:
    """Five-fold cross-validation of both forests on the bundled sets, rows with gaps left out."""
    from sklearn.model_selection import StratifiedKFold, cross_validate

    from dipolar import datasets
    from dipolar.metrics import get_scorer

    scorers = {"C": get_scorer("concordance"), "IBS": get_scorer("neg_ibs")}
    for name in ("addicts", "cost", "leuksurv", "mgus", "remission", "whas500"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        X = np.asarray(X, float)
        whole = ~np.isnan(X).any(axis=1)
        X, y = X[whole], y[whole]
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y["event"]))
        for kind in (LogRankSurvivalForest, DipoleSurvivalForest):
            start = time.process_time()
            found = cross_validate(kind(random_state=0), X, y, cv=folds, scoring=scorers)
            seconds = time.process_time() - start
            c, ibs = found["test_C"].mean(), -found["test_IBS"].mean()
            yield f"{kind.__name__}, {name}, 5 folds", seconds, f"C {c:.4f}, IBS {ibs:.4f}"


def shortest(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the shortest CPU time of several runs, and what the last one returned; the first one compiles."""
    run()
    seconds: list[float] = []
    while len(seconds) < LEAST_RUNS or sum(seconds) < LEAST_SECONDS:
        start = time.process_time()
        result = run()
        seconds.append(time.process_time() - start)
    return min(seconds), result


def measure_cold(model: str) -> float:
    """Return the CPU seconds by which the first fit and prediction of a process without a cache exceed the second."""
    code = (
        "import time, numpy as np; from dipolar import *; "
        "rng = np.random.default_rng(0); X = rng.normal(size=(100, 3)); y = rng.exponential(np.exp(X[:, 0])); "
        "times = [time.process_time()]; "
        f"[({model}.fit(X, y).predict(X), times.append(time.process_time())) for _ in range(2)]; "
        "print((times[1] - times[0]) - (times[2] - times[1]))"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, text=True)
    return float(done.stdout)


def measure(parts: list[str], output: Path | None) -> None:
    lines = []

    def keep(name: str, seconds: float, made: str = "") -> None:
        lines.append(json.dumps({"name": name, "seconds": seconds, "made": made}))
        print(lines[-1], flush=True)

    for part, operations in PARTS.items():
        if not parts or part in parts:
            for name, run, describe in operations():
                seconds, result = shortest(run)
                keep(name, seconds, describe(result))
    if not parts or "accuracy" in parts:
        for name, seconds, made in accuracy():
            keep(name, seconds, made)
    if not parts or "cold" in parts:
        for name, model in COLD.items():
            keep(f"cold: {name}", measure_cold(model))
    if output is not None:
        output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def compare(before: Path, after: Path) -> int:
    """Print both files and their ratios; return how many operations have become slower."""
    old, new = read(before), read(after)
    slower = 0
    print("| operation | before | after | times faster | |")
    print("| --- | ---: | ---: | ---: | --- |")
    for name in [name for name in old if name in new]:
        ratio = old[name]["seconds"] / new[name]["seconds"]
        slower += ratio < SLOWER
        made = [of["made"] for of in (old[name], new[name])]
        remarks = ["**SLOWER**"] * (ratio < SLOWER) + [" / ".join(made)] * (made[0] != made[1])
        seconds = [f"{1e3 * of[name]['seconds']:.4g} ms" for of in (old, new)]
        print(f"| {name} | {seconds[0]} | {seconds[1]} | {ratio:.2f} | {'; '.join(remarks)} |")
    for which, only in (("before", old.keys() - new.keys()), ("after", new.keys() - old.keys())):
        if only:
            print(f"\nOnly in the file {which}: {'; '.join(sorted(only))}.")
    print(f"\n{slower} of {len(old.keys() & new.keys())} run at less than {SLOWER} of the speed they had.")
    return slower


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The figures of a file by name."""
    figures = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {figure["name"]: figure for figure in figures}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure", help="measure the version that is importable")
    measuring.add_argument("parts", nargs="*", choices=[[], *PARTS, "accuracy", "cold"], help="default: all")
    measuring.add_argument("--output", type=Path, help="file for the figures")
    comparing = commands.add_parser("compare", help="print the ratios of two files; status 1 if anything is slower")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "compare":
        sys.exit(1 if compare(options.before, options.after) else 0)
    print(f"python {platform.python_version()}, {platform.machine()}; {Path(dipolar.__file__).parent}", file=sys.stderr)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measure(options.parts, options.output)


if __name__ == "__main__":
    main()
