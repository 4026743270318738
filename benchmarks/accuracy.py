"""Accuracy of forests, trees and other learners by repeated 5-fold cross-validation, defaults only.

Run `python benchmarks/accuracy.py --jobs 2`. Every finished fold is appended to
benchmarks/results/accuracy.jsonl, and those that are there are not run again; the table and the picture are made from
that file, alone with `--table`. The data are the six bundled sets, and sets that scikit-survival, lifelines and
SurvSet carry (the last is optional: `pip install SurvSet`).

All learners meet the same folds and the same preparation, learnt on the training rows: medians for missing numbers,
a column for each level of a factor but the first, covariates centred and scaled. Sets of more than 1000 rows are
cut to 1000, drawn with a fixed seed. A learner that fails on a fold gets the score of the Kaplan-Meier curve of the
training rows there and a concordance of 0.5, and is counted.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path

# One thread for each process, set before NumPy is loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from joblib import Parallel, delayed  # noqa: E402
from scipy.stats import friedmanchisquare, rankdata, studentized_range  # noqa: E402
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.model_selection import StratifiedKFold  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: E402

from dipolar import (  # noqa: E402
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    LogRankSurvivalForest,
    LogRankSurvivalTree,
    SurvivalTreeCV,
    survival_outcome,
)
from dipolar.curves import kaplan_meier  # noqa: E402
from dipolar.datasets import load_dataset  # noqa: E402
from dipolar.metrics import concordance_index, concordance_index_ipcw, integrated_brier_score  # noqa: E402

PACKAGES = ("dipolar", "numpy", "numba", "scikit-learn", "scikit-survival", "lifelines")
HERE = Path(__file__).parent
RESULTS = HERE / "results" / "accuracy.jsonl"
TABLE = HERE.parent / "docs" / "accuracy.md"
PICTURE = HERE.parent / "docs" / "images" / "accuracy_ranks.svg"
MOST_ROWS = 1000
N_FOLDS = 5

BUNDLED = ("remission", "addicts", "cost", "leuksurv", "mgus", "whas500")
SKSURV = {
    "aids": "load_aids",
    "breast": "load_breast_cancer",
    "flchain": "load_flchain",
    "gbsg2": "load_gbsg2",
    "veteran": "load_veterans_lung_cancer",
}
LIFELINES = {
    "democracy": ("load_dd", "duration", "observed", ("ctryname", "cowcode2", "politycode", "ehead", "leaderspellreg")),
    "kidney": ("load_kidney_transplant", "time", "death", ()),
    "larynx": ("load_larynx", "time", "death", ()),
    "lung": ("load_lung", "time", "status", ("inst",)),
    "rossi": ("load_rossi", "week", "arrest", ()),
}
SURVSET = ("pbc", "actg", "rott2")

SCORES = {"IBS": "smaller", "C": "larger", "Uno": "larger"}


def learners() -> dict[str, Callable]:
    """Every learner with its defaults and a seed."""
    from sksurv.ensemble import ExtraSurvivalTrees, GradientBoostingSurvivalAnalysis, RandomSurvivalForest
    from sksurv.linear_model import CoxPHSurvivalAnalysis
    from sksurv.svm import FastKernelSurvivalSVM
    from sksurv.tree import SurvivalTree

    return {
        "DipoleSurvivalForest": lambda: DipoleSurvivalForest(random_state=0),
        "LogRankSurvivalForest": lambda: LogRankSurvivalForest(random_state=0),
        "DipoleSurvivalTree": lambda: DipoleSurvivalTree(random_state=0),
        "SurvivalTreeCV": lambda: SurvivalTreeCV(random_state=0),
        "LogRankSurvivalTree": lambda: LogRankSurvivalTree(random_state=0),
        "LogRankSurvivalTree, depth 3": lambda: LogRankSurvivalTree(max_depth=3, min_samples_leaf=15, random_state=0),
        "SurvivalTreeCV of log-rank trees": lambda: SurvivalTreeCV(LogRankSurvivalTree(), random_state=0),
        "Cox in eight groups": lambda: CoxGroups(8),
        "sksurv RandomSurvivalForest": lambda: RandomSurvivalForest(random_state=0),
        "sksurv ExtraSurvivalTrees": lambda: ExtraSurvivalTrees(random_state=0),
        "sksurv GradientBoosting": lambda: GradientBoostingSurvivalAnalysis(random_state=0),
        "sksurv SurvivalTree": lambda: SurvivalTree(random_state=0),
        "sksurv FastKernelSurvivalSVM": lambda: FastKernelSurvivalSVM(kernel="rbf", random_state=0),
        "sksurv CoxPH": lambda: CoxPHSurvivalAnalysis(),
    }


class CoxGroups:
    """Cox's score cut into groups of equal size, with the Kaplan-Meier curve of each: a yardstick for trees."""

    def __init__(self, n_groups: int) -> None:
        self.n_groups = n_groups

    def fit(self, X: np.ndarray, y: np.ndarray) -> CoxGroups:
        from sksurv.linear_model import CoxPHSurvivalAnalysis

        self.model_ = CoxPHSurvivalAnalysis(alpha=1e-3).fit(X, y)
        score = self.model_.predict(X)
        self.cuts_ = np.unique(np.quantile(score, np.arange(1, self.n_groups) / self.n_groups))
        group = self._group(X)
        self.curves_ = {g: kaplan_meier(y["time"][group == g], y["event"][group == g]) for g in np.unique(group)}
        return self

    def _group(self, X: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.cuts_, self.model_.predict(X), side="right")

    @property
    def n_leaves_(self) -> int:
        return len(self.curves_)

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self._group(X)

    def predict_survival_function(self, X: np.ndarray) -> list:
        known = np.array(sorted(self.curves_))
        nearest = known[np.abs(self._group(X)[:, None] - known).argmin(axis=1)]
        return [self.curves_[g] for g in nearest]


# Data.


def data_sets() -> dict[str, Callable[[], tuple[pd.DataFrame, np.ndarray]]]:
    """Loaders by name."""
    found: dict[str, Callable] = {name: lambda name=name: _bundled(name) for name in BUNDLED}
    found |= {name: lambda loader=loader: _from_sksurv(loader) for name, loader in SKSURV.items()}
    found |= {name: lambda spec=spec: _from_lifelines(*spec) for name, spec in LIFELINES.items()}
    if importlib.util.find_spec("SurvSet") is not None:
        found |= {name: lambda name=name: from_survset(name) for name in SURVSET}
    return found


def _bundled(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    data = load_dataset(name)
    return data.data, data.target


def _from_sksurv(loader: str) -> tuple[pd.DataFrame, np.ndarray]:
    import sksurv.datasets

    X, y = getattr(sksurv.datasets, loader)()
    event, duration = y.dtype.names
    return X, survival_outcome(y[duration].astype(float), y[event])


def _from_lifelines(loader: str, duration: str, event: str, drop: tuple) -> tuple[pd.DataFrame, np.ndarray]:
    import lifelines.datasets

    table = getattr(lifelines.datasets, loader)()
    observed = table[event].to_numpy().astype(float)
    outcome = survival_outcome(table[duration].to_numpy(float), observed == observed.max())
    return table.drop(columns=[duration, event, *drop]), outcome


def from_survset(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    from SurvSet.data import SurvLoader

    table = SurvLoader().load_dataset(name)["df"]
    covariates = table[[column for column in table if column.startswith(("num_", "fac_"))]]
    return covariates, survival_outcome(table["time"].to_numpy(float), table["event"].to_numpy() == 1)


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """The rows of a data set, at most `MOST_ROWS` of them; the same in every process."""
    X, y = data_sets()[name]()
    keep = np.isfinite(y["time"]) & (y["time"] >= 0)
    rows = np.flatnonzero(keep)
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False))
    return X.iloc[rows].reset_index(drop=True), y[rows]


def prepare(X: pd.DataFrame, train: np.ndarray) -> np.ndarray:
    """Numbers for all rows, by what the training rows teach."""
    is_factor = X.dtypes.map(lambda kind: not pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind))
    factors, numbers = list(X.columns[is_factor]), list(X.columns[~is_factor])
    X = X.assign(**{name: X[name].astype(object).where(X[name].notna(), "missing").astype(str) for name in factors})
    one_hot = OneHotEncoder(drop="first", sparse_output=False, handle_unknown="ignore", min_frequency=5)
    encoder = ColumnTransformer([("numbers", SimpleImputer(strategy="median"), numbers), ("factors", one_hot, factors)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = make_pipeline(encoder, StandardScaler()).fit(X.iloc[train]).transform(X)
    return values[:, np.ptp(values[train], axis=0) > 0]


# Units of work.


def run_fold(name: str, repeat: int, fold: int, chosen: list[str]) -> list[dict]:
    """Run some learners on one fold."""
    X, y = load(name)
    train, test = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat).split(X, y["event"]))[fold]
    values = prepare(X, train)
    where = {"data": name, "repeat": repeat, "fold": fold}
    return [where | run_unit(learner, values, y, train, test) for learner in chosen]


def run_unit(learner: str, values: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict:
    """Fit one learner to the training rows and score it on the test rows."""
    record: dict = {"learner": learner, "failure": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        try:
            model = learners()[learner]().fit(values[train], y[train])
            record["fit"] = round(time.process_time() - start, 3)
            record |= score(model, values[test], y[train], y[test])
        except Exception as error:  # any failure of a learner is a result
            record["failure"] = f"{type(error).__name__}: {error}"[:120]
            record |= {"fit": round(time.process_time() - start, 3), "C": 0.5, "Uno": 0.5, "leaves": None}
            record["IBS"] = null_score(y[train], y[test])
    return record


def score(model, X: np.ndarray, y_train: np.ndarray, y_test: np.ndarray) -> dict:
    """Harrell's and Uno's concordance, the integrated Brier score by Graf, and the leaves of a single tree."""
    risk = model.predict(X)
    scores = {
        "C": concordance_index(y_test, risk),
        "Uno": concordance_index_ipcw(y_train, y_test, risk, outside="truncate"),
        "IBS": None,
        "leaves": count_leaves(model),
    }
    if hasattr(model, "predict_survival_function"):
        curves = model.predict_survival_function(X)
        scores["IBS"] = integrated_brier_score(y_train, y_test, curves, outside="truncate")
    return {key: None if value is None else round(float(value), 5) for key, value in scores.items()}


def null_score(y_train: np.ndarray, y_test: np.ndarray) -> float:
    """The Brier score of one curve for all."""
    curve = kaplan_meier(y_train["time"], y_train["event"])
    return round(float(integrated_brier_score(y_train, y_test, [curve] * len(y_test), outside="truncate")), 5)


def count_leaves(model) -> int | None:
    if hasattr(model, "n_leaves_"):
        return int(model.n_leaves_)
    tree = getattr(model, "tree_", None)
    return int((tree.children_left < 0).sum()) if hasattr(tree, "children_left") else None


def run(names: list[str], repeats: int, jobs: int) -> None:
    """Run what is not there yet and append it, unit by unit."""
    RESULTS.parent.mkdir(exist_ok=True)
    done = {(r["data"], r["repeat"], r["fold"], r["learner"]) for r in read()}
    tasks = []
    for repeat, name, fold in product(range(repeats), names, range(N_FOLDS)):
        missing = [learner for learner in learners() if (name, repeat, fold, learner) not in done]
        if missing:
            tasks.append(delayed(run_fold)(name, repeat, fold, missing))
    start = time.perf_counter()
    finished = Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)
    with RESULTS.open("a", encoding="utf-8") as file:
        for count, records in enumerate(finished, 1):
            file.writelines(json.dumps(record) + "\n" for record in records)
            file.flush()
            minutes = (time.perf_counter() - start) / 60
            print(f"{count} of {len(tasks)} folds, {minutes:.1f} min", flush=True)


def read() -> list[dict]:
    """What has been measured."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines() if line.strip()]


# Tables.


def complete(records: pd.DataFrame) -> pd.DataFrame:
    """Only repeats of a data set in which every learner met every fold."""
    size = records.groupby(["data", "repeat"])["learner"].transform("size")
    return records[size == N_FOLDS * records["learner"].nunique()]


def mean_scores(records: pd.DataFrame, score: str) -> pd.DataFrame:
    """Data sets by learners."""
    return records.groupby(["data", "learner"])[score].mean().unstack().dropna(axis=1)


def mean_ranks(means: pd.DataFrame, better: str) -> pd.Series:
    sign = 1.0 if better == "smaller" else -1.0
    ranks = rankdata(sign * means.round(6).to_numpy(), axis=1)
    return pd.Series(ranks.mean(axis=0), index=means.columns).sort_values()


def critical_difference(n_learners: int, n_sets: int, level: float = 0.05) -> float:
    """Of mean ranks, by Nemenyi's test (Demsar 2006)."""
    q = studentized_range.ppf(1 - level, n_learners, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_learners * (n_learners + 1) / (6 * n_sets)))


def write_table() -> None:
    """Write the page and the picture, and print who leads."""
    records = pd.DataFrame(read())
    records = complete(records[records["learner"].isin(learners())])
    n_sets = records["data"].nunique()
    repeats = records.groupby("data")["repeat"].nunique()
    n_repeats = str(repeats.min()) if repeats.min() == repeats.max() else f"{repeats.min()} to {repeats.max()}"
    lines = [
        "# Accuracy",
        "",
        f"`python benchmarks/accuracy.py`: {n_repeats} times 5-fold cross-validation on {n_sets} data sets, defaults.",
        f"{versions()}.",
        "",
        "Mean ranks (1 is best), with means over the data sets, and seconds of one fit on average:",
        "",
        "| learner | rank IBS | IBS | rank C | Harrell's C | rank Uno | Uno's C | leaves | seconds | failed folds |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    means = {score: mean_scores(records, score) for score in SCORES}
    ranks = {score: mean_ranks(means[score], better) for score, better in SCORES.items()}
    by_learner = records.groupby("learner")
    leaves, seconds = by_learner["leaves"].mean(), by_learner["fit"].mean()
    failures = by_learner["failure"].agg(lambda column: int(column.notna().sum()))
    for learner in ranks["C"].index.union(ranks["IBS"].index, sort=False):
        cells = [learner]
        for score in SCORES:
            known = learner in ranks[score].index
            cells += [f"{ranks[score][learner]:.2f}", f"{means[score][learner].mean():.4f}"] if known else ["", ""]
        cells += ["" if np.isnan(leaves[learner]) else f"{leaves[learner]:.1f}", f"{seconds[learner]:.2f}"]
        lines.append("| " + " | ".join([*cells, str(failures[learner])]) + " |")
    lines += ["", "![Mean ranks with critical differences](images/accuracy_ranks.svg)", ""]
    for score in ("IBS", "C"):
        table = means[score]
        statistic = friedmanchisquare(*table.to_numpy().T)
        lines += [
            f"{score}: Friedman's test of equal ranks, p = {statistic.pvalue:.1e}; ranks that differ by more than "
            f"{critical_difference(table.shape[1], n_sets):.2f} differ at the level 0.05 (Nemenyi).",
            "",
        ]
    for score, better in SCORES.items():
        lines += [f"## {score} ({better} is better)", "", *data_table(means[score], records), ""]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    draw({score: (ranks[score], critical_difference(len(ranks[score]), n_sets)) for score in ("IBS", "C")})
    print("\n".join(lines[6 : 10 + len(ranks["C"])]))


def data_table(means: pd.DataFrame, records: pd.DataFrame) -> list[str]:
    """One row per data set."""
    short = [name.removeprefix("sksurv ") for name in means.columns]
    lines = ["| data | n | " + " | ".join(short) + " |", "| --- | ---: |" + " ---: |" * len(short)]
    for name, row in means.iterrows():
        lines.append(f"| {name} | {len(load(str(name))[1])} | " + " | ".join(f"{value:.4f}" for value in row) + " |")
    return lines


def draw(panels: dict[str, tuple[pd.Series, float]]) -> None:
    """Mean ranks as dots, with a bar as long as the critical difference behind the best."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "dipolar"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(panels), figsize=(11, 3.6), layout="constrained")
    for axis, (score, (ranks, difference)) in zip(axes, panels.items(), strict=True):
        positions = np.arange(len(ranks))[::-1]
        axis.barh(positions[0], difference, left=ranks.iloc[0], height=len(ranks) * 2, color="#e8e8e8", zorder=0)
        ours = [not name.startswith("sksurv") for name in ranks.index]
        axis.scatter(ranks, positions, c=["#0072b2" if own else "#8a8a8a" for own in ours], s=40, zorder=2)
        axis.set_yticks(positions, labels=ranks.index)
        axis.set_ylim(-0.7, len(ranks) - 0.3)
        axis.set_xlim(max(0.5, ranks.iloc[0] - 0.5), ranks.iloc[-1] + 0.5)
        axis.set_xlabel(
            f"mean rank by {'integrated Brier score' if score == 'IBS' else 'the concordance index'} (1 is best)"
        )
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle("Shaded: not different from the best at the level 0.05 (Nemenyi)", fontsize=10)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, metadata={"Date": None})
    figure.savefig(PICTURE.with_suffix(".png"), dpi=130)


def versions() -> str:
    packages = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    return f"Python {platform.python_version()}, {platform.machine()}, one thread each; {packages}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--data", nargs="*", default=None, help="names of data sets; default: all")
    parser.add_argument("--table", action="store_true", help="only make the table and the picture")
    chosen = parser.parse_args()
    if not chosen.table:
        run(list(data_sets()) if chosen.data is None else chosen.data, chosen.repeats, chosen.jobs)
    write_table()


if __name__ == "__main__":
    main()
