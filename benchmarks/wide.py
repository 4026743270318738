"""Wide data: how long models take with up to 20,000 covariates of 300 rows, and how accurate they are.

Run `python benchmarks/wide.py speed` and `python benchmarks/wide.py accuracy`; `table` writes the tables again. What is
measured is appended to benchmarks/results/wide.jsonl, and what is there is not measured again; the tables are in
benchmarks/results/wide.md.

Speed: 300 rows, two latent factors of 50 covariates each, hazards that follow one of them; after compilation, on small
data in the same process. Other work on the machine makes clocks slower than they are: the CPU seconds of the last size,
by all threads, stand beside them, growth is that of CPU seconds, and the load is told. Peak memory is that of a process
that does one fit and nothing else, the data included.

Accuracy: five sets of gene expressions by 5-fold cross-validation, no screening, all learners with their defaults but
for Coxnet, whose penalty is chosen by 5-fold cross-validation of Harrell's C on the training rows. Missing numbers are
medians of the training rows, factors a column for each level but the first, all columns are scaled by the training
rows. These sets were never used to choose a default.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "2")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from sklearn.model_selection import StratifiedKFold  # noqa: E402

from dipolar import (  # noqa: E402
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalForest,
    SurvivalTreeCV,
    survival_outcome,
)
from dipolar.metrics import concordance_index, integrated_brier_score  # noqa: E402
from dipolar.tree.export import export_text, to_dict  # noqa: E402

HERE = Path(__file__).parent
RESULTS, TABLE = HERE / "results" / "wide.jsonl", HERE / "results" / "wide.md"
PACKAGES = ("dipolar", "numpy", "numba", "scipy", "scikit-learn", "scikit-survival", "SurvSet")

N_ROWS = 300
SIZES = (1_000, 5_000, 20_000)

#: Models of the table of speed, and seconds that each may take with 20,000 covariates.
MODELS: dict[str, tuple[Callable[[], Any], float]] = {
    "DipoleSVM, linear": (lambda: DipoleSVM(), 0.5),
    "DipoleSVM, Gaussian": (lambda: DipoleSVM("rbf"), 0.5),
    "DipoleSurvivalTree, linear": (lambda: DipoleSurvivalTree(), 1.0),
    "DipoleSurvivalTree, Gaussian": (lambda: DipoleSurvivalTree(DipoleSVM("rbf")), 1.0),
    "max_terms=3, linear": (lambda: DipoleSurvivalTree(max_terms=3), 10.0),
    "max_terms=3, Gaussian": (lambda: DipoleSurvivalTree(DipoleSVM("rbf"), max_terms=3), 10.0),
    "SurvivalTreeCV, linear": (lambda: SurvivalTreeCV(random_state=0), 10.0),
    "SurvivalTreeCV, Gaussian": (lambda: SurvivalTreeCV(DipoleSurvivalTree(DipoleSVM("rbf")), random_state=0), 10.0),
    "DipoleSurvivalForest": (lambda: DipoleSurvivalForest(random_state=0, n_jobs=2), 3.0),
    "LogRankSurvivalForest": (lambda: LogRankSurvivalForest(random_state=0, n_jobs=2), 3.0),
}

FOLDS = 5
SURVSET = ("DLBCL", "chop", "vdv", "AML_Bull")


def make_data(p: int, n: int = N_ROWS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(p)
    latent = rng.normal(size=(n, 2))
    X = rng.normal(size=(n, p))
    X[:, :100] += np.repeat(latent, 50, axis=1)
    time_ = rng.exponential(np.exp(-1.5 * latent[:, 0]))
    censored = rng.exponential(3.0, n)
    # Besides them, as in expressions, all covariates share a few components.
    X += rng.normal(size=(n, 10)) @ rng.normal(size=(10, p)) / 3 + latent[:, :1] * rng.normal(size=p) / 3
    return X, survival_outcome(np.minimum(time_, censored), time_ <= censored)


def keep(record: dict[str, Any]) -> None:
    with RESULTS.open("a") as file:
        file.write(json.dumps(record | {"versions": versions()}) + "\n")


def kept(kind: str) -> list[dict[str, Any]]:
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return [record for record in map(json.loads, lines) if record["kind"] == kind]


def versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in PACKAGES}


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


# Speed.


def measure(name: str, p: int) -> None:
    """Print what one model takes in this process, and what is done with it then."""
    model = MODELS[name][0]()
    model.fit(*make_data(400, 200))  # compiles
    X, y = make_data(p)
    before = time.process_time()
    record = {"kind": "speed", "model": name, "p": p, "fit": seconds(lambda: model.fit(X, y))}
    record["cpu"] = time.process_time() - before
    record["peak_MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    if not isinstance(model, DipoleSVM):
        record["predict"] = seconds(lambda: model.predict(X))
        path = HERE / "results" / f".wide-{os.getpid()}"
        record["save"] = seconds(lambda: model.save(path))
        record["file_MB"] = path.stat().st_size / 1e6
        path.unlink()
        record["importance"] = seconds(lambda: model.feature_importances_)
    if isinstance(model, DipoleSurvivalTree):
        import matplotlib

        matplotlib.use("Agg")
        from dipolar.plotting import plot_tree

        record["n_leaves"] = model.n_leaves_
        record["rules"] = seconds(lambda: export_text(model))
        record["short_rules"] = seconds(lambda: export_text(model, width=60))
        record["to_dict"] = seconds(lambda: to_dict(model))
        record["plot_tree"] = seconds(lambda: plot_tree(model))
    record["load"] = os.getloadavg()[0]
    print(json.dumps(record))


def run_speed() -> None:
    done = {(record["model"], record["p"]) for record in kept("speed")}
    for name in MODELS:
        for p in SIZES:
            if (name, p) in done:
                continue
            command = [sys.executable, __file__, "measure", name, str(p)]
            found = subprocess.run(command, capture_output=True, text=True)
            if found.returncode:
                print(f"{name}, {p}: {found.stderr[-500:]}", flush=True)
                continue
            print(found.stdout.strip(), flush=True)
            keep(json.loads(found.stdout.splitlines()[-1]))


# Accuracy.


def learners() -> dict[str, Callable[[], Any]]:
    from sksurv.ensemble import ComponentwiseGradientBoostingSurvivalAnalysis, RandomSurvivalForest

    return {
        "DipoleSurvivalTree": lambda: DipoleSurvivalTree(random_state=0),
        "DipoleSurvivalTree, Gaussian": lambda: DipoleSurvivalTree(DipoleSVM("rbf"), random_state=0),
        "DipoleSurvivalForest": lambda: DipoleSurvivalForest(random_state=0, n_jobs=2),
        "LogRankSurvivalForest": lambda: LogRankSurvivalForest(random_state=0, n_jobs=2),
        "sksurv Coxnet": lambda: Coxnet(),
        "sksurv ComponentwiseGradientBoosting": lambda: ComponentwiseGradientBoostingSurvivalAnalysis(random_state=0),
        "sksurv RandomSurvivalForest": lambda: RandomSurvivalForest(random_state=0, n_jobs=2),
        "SurvivalTreeCV": lambda: SurvivalTreeCV(random_state=0),
        "Kaplan-Meier": lambda: DipoleSurvivalTree(max_depth=0),
    }


class Coxnet:
    """Coxnet with a share of 0.9 of the absolute penalty, whose size is chosen by cross-validation."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Coxnet:
        from sksurv.linear_model import CoxnetSurvivalAnalysis

        options = {"l1_ratio": 0.9, "alpha_min_ratio": 0.05, "n_alphas": 50}
        alphas = CoxnetSurvivalAnalysis(**options).fit(X, y).alphas_
        scores = np.zeros(len(alphas))
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y["event"]):
            path = CoxnetSurvivalAnalysis(**options | {"alphas": alphas, "normalize": False}).fit(X[train], y[train])
            for number, alpha in enumerate(alphas):
                scores[number] += concordance_index(y[test], path.predict(X[test], alpha=alpha))
        best = float(alphas[np.argmax(scores)])
        self.model_ = CoxnetSurvivalAnalysis(l1_ratio=0.9, alphas=[best], fit_baseline_model=True).fit(X, y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model_.predict(X)

    def predict_survival_function(self, X: np.ndarray) -> np.ndarray:
        return self.model_.predict_survival_function(X)


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    if name == "breast":
        from sksurv.datasets import load_breast_cancer

        X, y = load_breast_cancer()
        return X, survival_outcome(y["t.tdm"], y["e.tdm"])
    from SurvSet.data import SurvLoader

    table = SurvLoader().load_dataset(ds_name=name)["df"]
    X = table[[column for column in table if column.startswith(("num_", "fac_"))]]
    return X, survival_outcome(np.maximum(table["time"], 1e-9), table["event"] == 1)


def as_numbers(X: pd.DataFrame, train: np.ndarray) -> np.ndarray:
    factors = [column for column in X if not pd.api.types.is_numeric_dtype(X[column])]
    numbers = X.drop(columns=factors).astype(float)
    numbers = numbers.fillna(numbers.iloc[train].median()).fillna(0.0)
    parts = [numbers, *(pd.get_dummies(X[column], drop_first=True, dtype=float) for column in factors)]
    values = pd.concat(parts, axis=1).to_numpy()
    spread = values[train].std(axis=0)
    return ((values - values[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, spread > 0]


def survival_at(model: Any, X: np.ndarray, times: np.ndarray) -> np.ndarray:
    curves = model.predict_survival_function(X)
    if isinstance(model, Coxnet) or type(model).__module__.startswith("sksurv"):
        return np.array([curve(np.clip(times, curve.domain[0], curve.domain[1])) for curve in curves])
    return model.predict_survival_function(X, times)


def run_accuracy() -> None:
    done = {(record["data"], record["fold"], record["model"]) for record in kept("accuracy")}
    slow = ("SurvivalTreeCV",)
    for names in ([name for name in learners() if name not in slow], list(slow)):
        for data in ("breast", *SURVSET):
            table, y = load(data)
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(table, y["event"])
            for fold, (train, test) in enumerate(folds):
                X = as_numbers(table, train)
                for name in names:
                    if (data, fold, name) not in done:
                        score(data, fold, name, X, y, train, test)


def score(data: str, fold: int, name: str, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> None:
    model, start = learners()[name](), time.perf_counter()
    record = {"kind": "accuracy", "data": data, "fold": fold, "model": name, "n": len(X), "p": X.shape[1]}
    # Times that both parts of the rows reach.
    last = min(y["time"][train].max(), np.quantile(y["time"][test], 0.9))
    first = max(y["time"][train].min(), y["time"][test].min())
    times = np.unique(y["time"][test][y["event"][test]])
    times = times[(times >= first) & (times < last)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[train], y[train])
            record["seconds"] = time.perf_counter() - start
            record["C"] = float(concordance_index(y[test], model.predict(X[test])))
            curves = survival_at(model, X[test], times)
            record["IBS"] = float(integrated_brier_score(y[train], y[test], curves, times))
            record["n_leaves"] = getattr(model, "n_leaves_", None)
    except Exception as error:
        record["error"] = repr(error)[:300]
    keep(record)
    print({key: record.get(key) for key in ("data", "fold", "model", "C", "IBS", "seconds", "error")}, flush=True)


# Tables.


def write_tables() -> None:
    lines = ["# Wide data", "", "Written by `python benchmarks/wide.py table`.", ""]
    lines += [" ".join(f"{name} {version}" for name, version in versions().items())]
    lines += [f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}.", ""]
    lines += [*speed_table(), "", *accuracy_table()]
    TABLE.write_text("\n".join(lines) + "\n")


def speed_table() -> list[str]:
    found = pd.DataFrame(kept("speed"))
    if found.empty:
        return []
    lines = [
        f"## Seconds to fit {N_ROWS} rows, by covariates",
        "",
        "| model | " + " | ".join(f"{p:,}" for p in SIZES) + " | CPU | goal | | grows as p^ | peak MB | load |",
        "| --- |" + " ---: |" * (len(SIZES) + 2) + " --- | ---: | ---: | ---: |",
    ]
    for name, (_, goal) in MODELS.items():
        of_model = found[found.model == name].drop_duplicates("p", keep="last").set_index("p")
        if not set(SIZES) <= set(of_model.index):
            continue
        fit = of_model.loc[list(SIZES), "fit"]
        growth = np.polyfit(np.log(SIZES), np.log(of_model.loc[list(SIZES), "cpu"]), 1)[0]
        last = of_model.loc[SIZES[-1]]
        verdict = "ok" if fit.iloc[-1] <= goal else "MISS"
        lines.append(
            f"| {name} | "
            + " | ".join(f"{value:.2f}" for value in fit)
            + f" | {last.cpu:.2f} | {goal:g} | {verdict} | {growth:.2f} | {last.peak_MB:.0f} | {last.load:.1f} |"
        )
    uses = ["predict", "importance", "save", "file_MB", "rules", "short_rules", "to_dict", "plot_tree"]
    if "predict" not in found:
        return lines
    shown = found[found.p == SIZES[-1]].dropna(subset=["predict"]).drop_duplicates("model", keep="last")
    lines += ["", f"## Seconds of what is done with a model of {SIZES[-1]:,} covariates", ""]
    lines += ["| model | leaves | " + " | ".join(uses) + " |", "| --- | ---: |" + " ---: |" * len(uses)]
    for _, row in shown.iterrows():
        cells = ["" if pd.isna(row.get(use)) else f"{row[use]:.2f}" for use in uses]
        leaves = row.get("n_leaves")
        lines.append(f"| {row.model} | {'' if pd.isna(leaves) else int(leaves)} | " + " | ".join(cells) + " |")
    return lines


def accuracy_table() -> list[str]:
    found = pd.DataFrame(kept("accuracy"))
    if found.empty:
        return []
    lines = [f"## {FOLDS}-fold cross-validation on gene expressions", ""]
    about = found.groupby("data", sort=False)[["n", "p"]].max()
    lines += [", ".join(f"{data}: {row.n} rows, {row.p:,} covariates" for data, row in about.iterrows()) + "."]
    for measure_, digits in (("C", 3), ("IBS", 4), ("seconds", 1)):
        if measure_ not in found:
            continue
        means = found.pivot_table(index="model", columns="data", values=measure_, sort=False)[list(about.index)]
        counts = found.dropna(subset=[measure_]).groupby("model").size()
        is_full = counts.reindex(means.index) == len(about) * FOLDS
        lines += ["", f"| {measure_} | " + " | ".join(means) + " | mean | folds |"]
        lines += ["| --- |" + " ---: |" * (len(means.columns) + 2)]
        for name, row in means.iterrows():
            mean = f"{row.mean():.{digits}f}" if is_full[name] else ""
            cells = ["" if pd.isna(value) else f"{value:.{digits}f}" for value in row]
            lines.append(f"| {name} | " + " | ".join(cells) + f" | {mean} | {counts[name]} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("speed", "accuracy", "table", "measure"))
    parser.add_argument("of", nargs="*", help="model and covariates of a single measurement")
    chosen = parser.parse_args()
    if chosen.what == "measure":
        return measure(chosen.of[0], int(chosen.of[1]))
    if chosen.what == "speed":
        run_speed()
    if chosen.what == "accuracy":
        run_accuracy()
    return write_tables()


if __name__ == "__main__":
    main()
