"""Tuning: how long the paper's search takes, how good the untouched default is, and what pure dipoles should weigh.

Run `python benchmarks/tuning.py`, or one part of it: `python benchmarks/tuning.py speed`. Figures with a target are
printed with it, and one that misses it says MISS. `quality` and `weights` write tuning_quality.md and tuning_weights.md
in benchmarks/results.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path

# One thread each, set before NumPy is loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import paper  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.model_selection import GridSearchCV, StratifiedKFold  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sksurv.linear_model import CoxPHSurvivalAnalysis  # noqa: E402

from dipolar import DipoleSurvivalTree, LogRankSurvivalTree, SurvivalTreeCV  # noqa: E402
from dipolar.datasets import load_dataset  # noqa: E402
from dipolar.metrics import concordance_index, integrated_brier_score  # noqa: E402
from dipolar.simulation import simulate  # noqa: E402

PACKAGES = ("dipolar", "numpy", "numba", "scikit-learn", "scikit-survival", "osqp")
RESULTS = Path(__file__).parent / "results"
DATA = ("remission", "addicts", "cost", "leuksurv", "mgus", "whas500")
PAPER_ETA = np.arange(-4.0, 4.5, 0.5)
# Of the 5-fold cross-validation of `quality`.
REPEATS = int(os.environ.get("REPEATS", "10"))
SEARCHED_DEPTHS = (1, 2, 3, 4, 5, 6)
PURE_WEIGHTS = (1.0, 0.3, 0.1, 0.03, 0.0)
# One fit of ours is too short for the clock.
OUR_REPEATS = 5


def versions() -> str:
    """Where the figures come from."""
    packages = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    return f"python {platform.python_version()}, {platform.machine()}, one thread of {os.cpu_count()}; {packages}"


def report(what: str, value: str, target: str = "", ok: bool | None = None) -> None:
    """Print one figure; `ok` says whether it meets its target."""
    verdict = "" if ok is None else ("ok" if ok else "MISS")
    print(f"{what:<62} {value:>14}  {target:<14} {verdict}", flush=True)


def paper_tree(kernel: str, kappa: float = 1.0, init: str = "quartile", **changes) -> DipoleSurvivalTree:
    """The settings of the paper's simulation tables."""
    svm = paper.paper_svm(kernel, kappa, init=init, cutoff_rule="scripts")
    return paper.paper_tree(svm, **{"min_samples_split": 21, "pruning": "fixed", "alpha": 2.8} | changes)


def speed() -> None:
    """The paper's tuning (17 values of eta, 5 folds, pruning, n = 250) on planar designs of 2, 4 and 7 covariates."""
    for design in ("planar-2", "planar-4", "planar-7"):
        data = simulate(design, 250, random_state=0)
        for kernel in ("linear", "quadratic", "rbf"):
            search = SurvivalTreeCV(
                paper_tree(kernel),
                param_grid={"svm__kappa": np.exp(PAPER_ETA)},
                max_depth=None,
                tolerance=0,
                level=None,
                random_state=0,
            )
            search.fit(data.X[:60], data.y[:60])
            start = time.process_time()
            search.fit(data.X, data.y)
            seconds = time.process_time() - start
            n_trees = len(PAPER_ETA) * 5 + 1
            what = f"{design}, {kernel}"
            report(f"{what}: whole tuning, {n_trees} trees", f"{seconds:.2f} s")
            report(f"{what}: trees per second", f"{n_trees / seconds:.0f}")
            ratio = osqp_ratio(kernel, data)
            report(f"{what}: times faster than OSQP on a sample", f"{ratio:.0f}", ">= 200", ratio >= 200)


def osqp_ratio(kernel: str, data) -> float:
    """Time the same fits with both solvers on the rows of one training fold; OSQP to a relative duality gap of 1e-4.

    With the Gaussian kernel these are five of the 17 fits of the fold, from the smoothest surface to the roughest. With
    few features such fits take OSQP an hour, so there the sample is the root, from one start, at two values of eta.
    """
    X, y = data.X[:200], data.y[:200]
    is_cheap = kernel == "rbf"
    sample = {} if is_cheap else {"init": "median", "max_depth": 1}
    ours = theirs = 0.0
    for eta in (-4.0, -2.0, 0.0, 2.0, 4.0) if is_cheap else (-4.0, 0.0):
        tree = paper_tree(kernel, np.exp(eta), **sample).fit(X, y)
        start = time.process_time()
        for _ in range(OUR_REPEATS):
            tree.fit(X, y)
        ours += (time.process_time() - start) / OUR_REPEATS
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.process_time()
            tree.set_params(svm__solver="osqp", svm__solver_tol=1e-4).fit(X, y)
            theirs += time.process_time() - start
    return theirs / ours


def make_models(seed: int) -> dict[str, object]:
    """The untouched default and the two trees that it is compared with."""
    from sksurv.tree import SurvivalTree

    return {
        "SurvivalTreeCV()": SurvivalTreeCV(random_state=seed),
        "LogRankSurvivalTree(pruning='bootstrap')": LogRankSurvivalTree(pruning="bootstrap", random_state=seed),
        "sksurv SurvivalTree, tuned depth": GridSearchCV(
            SurvivalTree(random_state=seed), {"max_depth": SEARCHED_DEPTHS}, cv=5
        ),
    }


def score_fold(model, train: tuple, test: tuple) -> dict[str, float]:
    """Fit and score one model on one fold."""
    start = time.perf_counter()
    model.fit(*train)
    seconds = time.perf_counter() - start
    fitted = getattr(model, "best_estimator_", model)
    curves = fitted.predict_survival_function(test[0])
    return {
        "C": concordance_index(test[1], fitted.predict(test[0])),
        "IBS": float(integrated_brier_score(train[1], test[1], curves)),
        "leaves": getattr(fitted, "n_leaves_", np.nan) if hasattr(fitted, "n_leaves_") else fitted.tree_.n_leaves,
        "seconds": seconds,
    }


def quality(repeats: int = REPEATS) -> None:
    """The untouched default against a pruned log-rank tree and a scikit-survival tree of tuned depth."""
    records = []
    for name in DATA:
        data = load_dataset(name)
        for seed in range(repeats):
            folds = StratifiedKFold(5, shuffle=True, random_state=seed).split(data.data, data.target["event"])
            for train, test in folds:
                imputer = SimpleImputer(strategy="median").fit(data.data.iloc[train])
                parts = [(imputer.transform(data.data.iloc[rows]), data.target[rows]) for rows in (train, test)]
                for model_name, model in make_models(seed).items():
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        records.append({"data": name, "model": model_name, **score_fold(model, *parts)})
        so_far = pd.DataFrame(records)
        print(
            so_far[so_far["data"] == name].groupby("model")[["C", "IBS", "leaves", "seconds"]].mean().round(4),
            flush=True,
        )
    write_quality(pd.DataFrame(records), repeats)


def write_quality(records: pd.DataFrame, repeats: int) -> None:
    """Print who wins, and write the table."""
    mean = records.groupby(["data", "model"])[["C", "IBS", "leaves", "seconds"]].mean().round(4)
    ours = mean.xs("SurvivalTreeCV()", level="model")
    lines = [
        "# Quality of the untouched `SurvivalTreeCV()`",
        "",
        f"`python benchmarks/tuning.py quality`: {repeats} times 5-fold cross-validation. {versions()}.",
        "",
        "| data | model | Harrell's C | IBS (Graf) | leaves | seconds |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for (name, model), row in mean.iterrows():
        lines.append(f"| {name} | {model} | {row.C:.3f} | {row.IBS:.4f} | {row.leaves:.1f} | {row.seconds:.2f} |")
    lines.append("")
    for model in sorted(set(records["model"]) - {"SurvivalTreeCV()"}):
        rival = mean.xs(model, level="model")
        wins = {"C": (ours.C >= rival.C).sum(), "IBS": (ours.IBS <= rival.IBS).sum()}
        for score, count in wins.items():
            report(f"{score}: sets on which it is at least as good as {model}", f"{count} of 6", "6 of 6", count == 6)
            lines.append(f"- {score}: at least as good as {model} on {count} of {len(ours)} sets.")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "tuning_quality.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def weights(repeats: int = 2) -> None:
    """How well the first surface of a tree orders the rows, by the weight of the pure dipoles; beside Cox's model."""
    lines = [
        "# What pure dipoles should weigh",
        "",
        "`python benchmarks/tuning.py weights`: Harrell's C of the score of one linear `DipoleSVM` (kappa = exp(-4)),",
        f"{repeats} times 5-fold cross-validation, by `pure_weight`; a mixed dipole has the weight 1. {versions()}.",
        "",
        "| data | " + " | ".join(f"{weight:g}" for weight in PURE_WEIGHTS) + " | Cox (ridge 0.001) |",
        "| --- |" + " --- |" * (len(PURE_WEIGHTS) + 1),
    ]
    for name in DATA:
        data = load_dataset(name)
        scores = [
            score_directions(data.data.iloc[train], data.target[train], data.data.iloc[test], data.target[test])
            for seed in range(repeats)
            for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(
                data.data, data.target["event"]
            )
        ]
        lines.append(f"| {name} | " + " | ".join(f"{score:.3f}" for score in np.mean(scores, axis=0)) + " |")
        print(lines[-1], flush=True)
    (RESULTS / "tuning_weights.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def score_directions(X_train, y_train, X_test, y_test) -> list[float]:
    """Concordance on the test rows of one surface for each weight, and of Cox's model."""
    prepare = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    Z_train, Z_test = prepare.fit_transform(X_train), prepare.transform(X_test)
    scores = []
    for weight in PURE_WEIGHTS:
        svm = paper.paper_svm("linear", np.exp(-4.0), pure_weight=weight).fit(Z_train, y_train)
        # A surface has no worse side: the training rows say which one it is.
        sign = 1.0 if concordance_index(y_train, svm.decision_function(Z_train)) >= 0.5 else -1.0
        scores.append(concordance_index(y_test, sign * svm.decision_function(Z_test)))
    cox = CoxPHSurvivalAnalysis(alpha=1e-3).fit(Z_train, y_train)
    return [*scores, concordance_index(y_test, cox.predict(Z_test))]


PARTS: dict[str, Callable[[], None]] = {"speed": speed, "quality": quality, "weights": weights}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="default: all")
    chosen = parser.parse_args().parts
    print(versions())
    for name, run in PARTS.items():
        if not chosen or name in chosen:
            print(f"\n{name}: {(run.__doc__ or '').splitlines()[0]}")
            run()


if __name__ == "__main__":
    main()
