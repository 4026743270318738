"""Forests that choose their settings, beside those that do not, on the development sets.

Run `python benchmarks/forest_tuning.py`. Every finished fold is appended to benchmarks/results/forest_tuning.jsonl, and
those that are there are not run again; benchmarks/results/forest_tuning.md is made from that file, alone with
`--table`. The data are twenty sets of SurvSet (`pip install SurvSet`), none of which the accuracy benchmark uses, cut
to 600 rows and prepared as there; 3 folds, 100 trees.

Every setting that `tune=True` tries, and some that it does not, are run as forests of their own. From their scores out
of bag after 25, 50 and 100 trees the table tells what a choice by so many trees would have come to.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

# One thread for each process, set before NumPy is loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from accuracy import null_score, prepare, versions  # noqa: E402
from choices import load  # noqa: E402
from sklearn.model_selection import StratifiedKFold  # noqa: E402

from dipolar import DipoleSurvivalForest, LogRankSurvivalForest  # noqa: E402
from dipolar.forest import dipole_forest, logrank_forest  # noqa: E402
from dipolar.metrics import concordance_index, integrated_brier_score  # noqa: E402

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "forest_tuning.jsonl"
TABLE = HERE / "results" / "forest_tuning.md"

SETS = (
    "phpl04K8a", "prostate", "Melanoma", "d.oropha.rec", "pharmacoSmoking", "zinc", "burn", "stagec", "vlbw", "follic",
    "Z243", "wpbc", "retinopathy", "Pbc3", "cgd", "scania", "Unemployment", "diabetes", "hepatoCellular", "dataDIVAT2",
)  # fmt: skip
N_FOLDS = 3
TREES = (25, 50, 100)
MARGINS = (0.0, 0.005, 0.01, 0.02)

FORESTS = {"dipole": DipoleSurvivalForest, "log-rank": LogRankSurvivalForest}
TRIED = {"dipole": dipole_forest.SETTINGS, "log-rank": logrank_forest.SETTINGS}
# What was thought of, and is not among the settings that `tune=True` tries.
NOT_TRIED: dict[str, tuple[dict[str, Any], ...]] = {
    "dipole": (
        {"min_samples_leaf": 5},
        {"min_samples_leaf": 30},
        {"min_logrank": 0.0},
        {"max_features": 1},
        {"svm": dipole_forest.QUADRATIC, "min_logrank": 0.0},
    ),
    "log-rank": ({"min_samples_leaf": 5}, {"min_logrank": 0.0}, {"min_logrank": 3.84}, {"max_features": 1}),
}


def named(settings: dict[str, Any]) -> str:
    """Settings in words."""
    return ", ".join(f"{name}={_word(value)}" for name, value in settings.items()) or "default"


def _word(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_word, value)) + "]"
    return str(getattr(value, "kernel", value))


def learners() -> dict[str, Callable]:
    """Every learner by its name."""
    from sksurv.ensemble import RandomSurvivalForest
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    found: dict[str, Callable] = {}
    for kind, forest in FORESTS.items():
        for settings in (*TRIED[kind], *NOT_TRIED[kind]):
            found[f"{kind}: {named(settings)}"] = lambda forest=forest, settings=settings: forest(
                n_estimators=TREES[0], warm_start=True, oob_score=True, random_state=0, **settings
            )
        found[f"{kind}: tune"] = lambda forest=forest: forest(tune=True, oob_score=True, random_state=0)
    found["sksurv RandomSurvivalForest"] = lambda: RandomSurvivalForest(random_state=0)
    found["sksurv CoxPH"] = lambda: CoxPHSurvivalAnalysis()
    return found


# Units of work.


def run_unit(learner: str, values: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> dict:
    """Fit one learner to the training rows and score it on the test rows."""
    record: dict = {"learner": learner, "failure": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        try:
            model = learners()[learner]()
            record |= fit(model, values[train], y[train])
            record["fit"] = round(time.process_time() - start, 3)
            curves = model.predict_survival_function(values[test])
            record["IBS"] = integrated_brier_score(y[train], y[test], curves, outside="truncate")
            record["C"] = concordance_index(y[test], model.predict(values[test]))
        except Exception as error:  # any failure of a learner is a result
            record |= {"failure": f"{type(error).__name__}: {error}"[:120], "C": 0.5}
            record["IBS"] = null_score(y[train], y[test])
    return record


def fit(model, X: np.ndarray, y: np.ndarray) -> dict:
    """Fit a model; a forest with settings of its own by steps, so that it tells how it was after fewer trees."""
    if not getattr(model, "oob_score", False):
        model.fit(X, y)
        return {}
    steps = {}
    for n_trees in TREES if model.warm_start else TREES[-1:]:
        model.set_params(n_estimators=n_trees).fit(X, y)
        steps[f"oob{n_trees}"] = model.oob_brier_
    leaves = np.mean([tree.n_leaves for tree in model.forest_.trees])
    return steps | {"leaves": round(float(leaves), 2), "chosen": named(model.best_params_)}


def run(names: list[str]) -> None:
    """Run what is not there yet and append it, fold by fold."""
    RESULTS.parent.mkdir(exist_ok=True)
    done = {(r["data"], r["fold"], r["learner"]) for r in read()}
    for fold in range(N_FOLDS):
        for name in names:
            missing = [learner for learner in learners() if (name, fold, learner) not in done]
            if not missing:
                continue
            X, y = load(name)
            train, test = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y["event"]))[fold]
            values = prepare(X, train)
            where = {"data": name, "fold": fold, "n": len(train), "p": values.shape[1]}
            with RESULTS.open("a", encoding="utf-8") as file:
                for learner in missing:
                    file.write(json.dumps(where | run_unit(learner, values, y, train, test), default=float) + "\n")
            print(name, fold, flush=True)


def read() -> list[dict]:
    """What has been measured."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines() if line.strip()]


# Tables.


def write_table() -> None:
    """Write what all learners come to, what a choice adds, and what other rules would have chosen."""
    records = pd.DataFrame(read())
    records = records[records["learner"].isin(learners())]
    size = records.groupby(["data", "fold"])["learner"].transform("size")
    records = records[size == records["learner"].nunique()]
    n_folds = len(records[["data", "fold"]].drop_duplicates())
    lines = [
        "# Forests that choose their settings",
        "",
        f"`python benchmarks/forest_tuning.py`: {records['data'].nunique()} development sets, {n_folds} folds.",
        f"{versions()}.",
        "",
        *learner_table(records),
        "",
        "The rank is among all of these. Seconds include out-of-bag scores, for forests with settings of their own",
        "after 25, 50 and 100 trees.",
        "",
        "What the choice adds to out-of-bag scores: the gain over the default, out of bag and on the test rows.",
        "",
        *optimism_table(records),
        "",
        "What other rules would have come to. A rule takes the candidate with the best Brier score out of bag after",
        "some trees, if that is better than the default's by the margin, a share of it; `tune=True` takes 50 trees,",
        "and the standard error of the difference as its margin.",
        "",
        *rule_table(records),
        "",
        "IBS on the test rows by data set:",
        "",
        *data_table(records),
    ]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def learner_table(records: pd.DataFrame) -> list[str]:
    """Means over the folds; rank is among the learners of a data set, by the mean of its folds."""
    ranks = by_set(records, "IBS").rank(axis=1).mean()
    means = records.groupby("learner")[["IBS", "C", "oob100", "leaves", "fit"]].mean().assign(rank=ranks)
    failures = records[records["failure"].notna()].groupby("learner").size()
    lines = ["| learner | IBS | rank | Harrell's C | IBS out of bag | leaves | seconds | failed |"]
    lines.append("| --- |" + " ---: |" * 7)
    for learner, row in means.sort_values("IBS").iterrows():
        bag, leaves = ("" if np.isnan(row[key]) else f"{row[key]:.4f}"[:6] for key in ("oob100", "leaves"))
        cells = f"{row['IBS']:.4f} | {row['rank']:.1f} | {row['C']:.4f} | {bag} | {leaves} | {row['fit']:.2f}"
        lines.append(f"| {learner} | {cells} | {failures.get(learner, 0)} |")
    return lines


def optimism_table(records: pd.DataFrame) -> list[str]:
    lines = ["| forest | gain out of bag | gain on test rows | optimism | sets better, equal, worse | largest loss |"]
    lines.append("| --- |" + " ---: |" * 5)
    for kind in FORESTS:
        pair = [f"{kind}: default", f"{kind}: tune"]
        bag, test = (paired(records, score, *pair).mean() for score in ("oob100", "IBS"))
        differences = paired(records, "IBS", *pair).groupby("data").mean()
        better, worse = (differences > 1e-4).sum(), (differences < -1e-4).sum()
        counts = f"{better}, {len(differences) - better - worse}, {worse}"
        largest = f"{-differences.min():.4f} ({differences.idxmin()})"
        lines.append(f"| {kind} | {bag:.4f} | {test:.4f} | {bag - test:.4f} | {counts} | {largest} |")
    return lines


def rule_table(records: pd.DataFrame) -> list[str]:
    lines = ["| forest | trees | margin | IBS | Harrell's C | sets better, worse | choices other than the default |"]
    lines.append("| --- |" + " ---: |" * 6)
    for kind, tried in TRIED.items():
        names = [f"{kind}: {named(settings)}" for settings in tried]
        tables = {score: pivot(records, score)[names] for score in ("IBS", "C", *(f"oob{n}" for n in TREES))}
        for n_trees in TREES:
            for margin in MARGINS:
                bag = tables[f"oob{n_trees}"]
                better = bag.min(axis=1) < bag[names[0]] * (1.0 - margin)
                place = np.where(better, bag.to_numpy().argmin(axis=1), 0)
                took = {s: tables[s].to_numpy()[np.arange(len(place)), place] for s in ("IBS", "C")}
                gain = (tables["IBS"][names[0]] - took["IBS"]).groupby("data").mean()
                cells = [f"{took['IBS'].mean():.4f}", f"{took['C'].mean():.4f}"]
                cells += [f"{(gain > 1e-4).sum()}, {(gain < -1e-4).sum()}", f"{(place > 0).mean():.0%}"]
                lines.append(f"| {kind} | {n_trees} | {margin:.1%} | " + " | ".join(cells) + " |")
    return lines


def data_table(records: pd.DataFrame) -> list[str]:
    shown = [f"{kind}: {what}" for kind in FORESTS for what in ("default", "tune")]
    shown += ["sksurv RandomSurvivalForest", "sksurv CoxPH"]
    means = by_set(records, "IBS")[shown]
    lines = ["| data | " + " | ".join(shown) + " |", "| --- |" + " ---: |" * len(shown)]
    return lines + [
        f"| {name} | " + " | ".join(f"{value:.4f}" for value in row) + " |" for name, row in means.iterrows()
    ]


def pivot(records: pd.DataFrame, score: str) -> pd.DataFrame:
    """Folds by learners."""
    return records.pivot(index=["data", "fold"], columns="learner", values=score)


def by_set(records: pd.DataFrame, score: str) -> pd.DataFrame:
    """Data sets by learners."""
    return pivot(records, score).groupby("data").mean()


def paired(records: pd.DataFrame, score: str, first: str, second: str) -> pd.Series:
    """By how much the first score is larger, fold by fold."""
    table = pivot(records, score)
    return table[first] - table[second]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="*", default=SETS, help="names of data sets; default: all")
    parser.add_argument("--table", action="store_true", help="only make the table")
    chosen = parser.parse_args()
    if not chosen.table:
        run(chosen.data)
    write_table()


if __name__ == "__main__":
    main()
