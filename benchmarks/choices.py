"""What the defaults of single trees were chosen by: other data than the table of docs/accuracy.md.

Run `python benchmarks/choices.py trees --jobs 2`, or `pruning`, `tuning`, `terms`; needs SurvSet. Every finished fold
is appended to benchmarks/results/choices.jsonl, and what is there is not run again; the tables are made from that
file, alone with `--table`. Sets of more than 600 rows are cut to 600, drawn with a fixed seed; three folds; the
preparation is that of accuracy.py.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from accuracy import CoxGroups, from_survset, mean_ranks, null_score, prepare, score, versions  # sets the threads
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold

from dipolar import DipoleSurvivalTree, DipoleSVM, LogRankSurvivalTree, SurvivalTreeCV

RESULTS = Path(__file__).parent / "results" / "choices.jsonl"
TABLE = RESULTS.with_suffix(".md")
MOST_ROWS = 600
N_FOLDS = 3
N_REPEATS = 3

# None of them is in accuracy.py, under this name or another.
DATA = (
    *("phpl04K8a", "prostate", "Melanoma", "d.oropha.rec", "pharmacoSmoking", "zinc", "burn", "stagec", "vlbw"),
    *("follic", "Z243", "wpbc", "retinopathy", "Pbc3", "cgd", "scania", "Unemployment", "hepatoCellular"),
    *("dataDIVAT2", "TRACE", "Framingham", "grace", "uis", "colon", "nki70", "ova", "smarto"),
)


def dipole(**parameters: Any) -> Callable:
    svm = {name: parameters.pop(name) for name in list(parameters) if name in DipoleSVM().get_params()}
    return lambda: DipoleSurvivalTree(DipoleSVM(**svm), random_state=0, **parameters)


def logrank(**parameters: Any) -> Callable:
    return lambda: LogRankSurvivalTree(random_state=0, **parameters)


def tuned(estimator: Callable | None = None, **parameters: Any) -> Callable:
    return lambda: SurvivalTreeCV(None if estimator is None else estimator(), random_state=0, **parameters)


PAPER = {
    "init": "median",
    "pure_weight": 1.0,
    "kappa": float(np.exp(-4)),
    "kappa_scale": "sum",
    "max_reorientations": 250,
}
PAPER_TREE = {"inherit": 0, "dipole_scope": "root", "max_depth": None, "min_samples_leaf": 1, "min_samples_split": 20}
# Trees that are grown to be pruned.
GROWN = {"max_depth": None, "min_samples_leaf": 10, "min_samples_split": 20}
SETTLED = {"max_reorientations": 250}
KERNELS = {"linear": "linear", "Gaussian": "rbf", "quadratic": "quadratic"}

RULES: dict[str, dict[str, Any]] = {
    "": {},
    ", best": {"tolerance": 0},
    ", one standard error": {"tolerance": 1},
    ", no test": {"level": None},
}

QUESTIONS: dict[str, dict[str, Callable]] = {
    "trees": {
        "Cox in eight groups": lambda: CoxGroups(8),
        "log-rank tree (default)": logrank(),
        "log-rank tree, depth 3": logrank(max_depth=3),
        "log-rank tree, leaves of 3, no limit": logrank(max_depth=None, min_samples_leaf=3, min_samples_split=6),
        "the paper's tree, standardised, linear": dipole(**PAPER, **PAPER_TREE),
        "dipole tree (default)": dipole(),
        "depth 2": dipole(max_depth=2),
        "depth 3": dipole(max_depth=3),
        "depth 4": dipole(max_depth=4),
        "leaves of 10": dipole(min_samples_leaf=10),
        "leaves of 20": dipole(min_samples_leaf=20),
        "leaves of 30": dipole(min_samples_leaf=30),
        "leaves with 5 events": dipole(min_events_leaf=5),
        "leaves with 10 events": dipole(min_events_leaf=10),
        "splits of chi-square 1": dipole(min_logrank=1.0),
        "splits of chi-square 2": dipole(min_logrank=2.0),
        "splits of chi-square 3.84": dipole(min_logrank=3.84),
        "no inheritance": dipole(inherit=0),
        "inherit 1": dipole(inherit=1.0),
        "inherit 20": dipole(inherit=20.0),
        "median start, one solve": dipole(init="median"),
        "median start, settled": dipole(init="median", **SETTLED),
        "one re-orientation": dipole(max_reorientations=1),
        "two re-orientations": dipole(max_reorientations=2),
        "settled": dipole(**SETTLED),
        "cut by log-rank": dipole(cut="logrank"),
        "pure dipoles weigh 1": dipole(pure_weight=1.0),
        "pure dipoles weigh 0.3": dipole(pure_weight=0.3),
        "no pure dipoles": dipole(pure_weight=0.0),
        "cut-offs .1 and .9": dipole(pure_quantile=0.1, mixed_quantile=0.9),
        "cut-offs .49 and .51": dipole(pure_quantile=0.49, mixed_quantile=0.51),
    },
    "kappa": {
        f"{name}, kappa {kappa:g}{', settled' if rounds else ''}": dipole(
            kernel=kernel, kappa=kappa, max_reorientations=rounds
        )
        for rounds in (0, 250)
        for name, kernel in KERNELS.items()
        for kappa in (3.0, 10.0, 30.0, 100.0, 300.0)
    },
    "tuning": {
        "dipole tree (default)": dipole(),
        "log-rank tree (default)": logrank(),
        **{f"dipole{rule}": tuned(**settings) for rule, settings in RULES.items()},
        "dipole, by IBS": tuned(scoring="neg_ibs"),
        "dipole, depth only": tuned(param_grid={}),
        "dipole, depth and kernels": tuned(param_grid={"svm__kernel": ["linear", "quadratic", "rbf"]}),
        **{f"log-rank{rule}": tuned(LogRankSurvivalTree, **settings) for rule, settings in RULES.items()},
        "log-rank, by IBS": tuned(LogRankSurvivalTree, scoring="neg_ibs"),
    },
    "pruning": {
        f"{kind}: {rule}": make(**GROWN, **parameters)
        for kind, make in (("log-rank", logrank), ("dipole", dipole))
        for rule, parameters in {
            "none": {},
            **{f"bootstrap at {a}": {"pruning": "bootstrap", "alpha": a} for a in (2, 3, 4)},
            **{f"bootstrap as published, at {a}": {"pruning": "leblanc-crowley", "alpha": a} for a in (2, 3, 4)},
            **{f"validation at {a}": {"pruning": "validation", "alpha": a} for a in (2, 4)},
            **{f"fixed at {a}": {"pruning": "fixed", "alpha": a} for a in (4, 6, 8, 10, 15)},
        }.items()
    },
    "terms": {
        f"at most {n} covariates in a split" if n else "all covariates": dipole(max_terms=n) for n in (1, 2, 3, 5, None)
    },
}


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """The rows of a set, at most `MOST_ROWS` of them; the same in every process."""
    X, y = from_survset(name)
    rows = np.flatnonzero(np.isfinite(y["time"]) & (y["time"] >= 0))
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_ROWS, replace=False))
    return X.iloc[rows].reset_index(drop=True), y[rows]


def run_set(question: str, name: str, repeat: int, fold: int, missing: list[str]) -> list[dict]:
    """Run some answers to a question on one fold."""
    X, y = load(name)
    train, test = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat).split(X, y["event"]))[fold]
    values = prepare(X, train)
    where = {"question": question, "data": name, "repeat": repeat, "fold": fold}
    return [where | run_unit(QUESTIONS[question][choice], choice, values, y, train, test) for choice in missing]


def run_unit(make: Callable, choice: str, values: np.ndarray, y: np.ndarray, train, test) -> dict:
    record: dict = {"choice": choice, "failure": None}
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = make().fit(values[train], y[train])
            record["fit"] = round(time.process_time() - start, 3)
            return record | score(model, values[test], y[train], y[test])
        except Exception as error:  # any failure is a result
            record["failure"] = f"{type(error).__name__}: {error}"[:120]
            return record | {"C": 0.5, "Uno": 0.5, "IBS": null_score(y[train], y[test]), "leaves": None}


def run(question: str, jobs: int) -> None:
    """Run what is not there yet and append it."""
    done = {(r["question"], r["data"], r["repeat"], r["fold"], r["choice"]) for r in read()}
    tasks = []
    # Searches take their time: they meet the first partition only.
    for repeat, fold, name in product(range(1 if question == "tuning" else N_REPEATS), range(N_FOLDS), DATA):
        missing = [choice for choice in QUESTIONS[question] if (question, name, repeat, fold, choice) not in done]
        if missing:
            tasks.append(delayed(run_set)(question, name, repeat, fold, missing))
    with RESULTS.open("a", encoding="utf-8") as file:
        for count, records in enumerate(Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks), 1):
            file.writelines(json.dumps(record) + "\n" for record in records)
            file.flush()
            print(f"{count} of {len(tasks)} folds", flush=True)


def read() -> list[dict]:
    """What has been measured."""
    if not RESULTS.exists():
        return []
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]


def table(question: str) -> list[str]:
    """One row per choice."""
    records = pd.DataFrame(read())
    records = records[(records["question"] == question) & records["choice"].isin(QUESTIONS[question])]
    size = records.groupby(["data"])["choice"].transform("size")
    records = records[size == size.max()]
    lines = [
        f"## {question}",
        "",
        f"{records['data'].nunique()} sets.",
        "",
        "| choice | C | IBS | leaves | single leaves | rank C | rank IBS | seconds |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    means = {name: records.groupby(["data", "choice"])[name].mean().unstack() for name in ("C", "IBS", "leaves", "fit")}
    ranks = {"C": mean_ranks(means["C"], "larger"), "IBS": mean_ranks(means["IBS"], "smaller")}
    single = records.assign(one=records["leaves"] == 1).groupby("choice")["one"].mean()
    rows = [
        f"| {choice} | {means['C'][choice].mean():.4f} | {means['IBS'][choice].mean():.4f} | "
        f"{means['leaves'][choice].mean():.1f} | {single[choice]:.0%} | {ranks['C'][choice]:.1f} | "
        f"{ranks['IBS'][choice]:.1f} | {means['fit'][choice].mean():.3f} |"
        for choice in QUESTIONS[question]
    ]
    return [*lines, *rows, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="*", default=list(QUESTIONS), help=f"some of {', '.join(QUESTIONS)}")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="only make the tables")
    chosen = parser.parse_args()
    unknown = set(chosen.questions) - set(QUESTIONS)
    if unknown:
        parser.error(f"there are no questions {', '.join(sorted(unknown))}, only {', '.join(QUESTIONS)}")
    for question in chosen.questions:
        if not chosen.table:
            run(question, chosen.jobs)
    asked = sorted({record["question"] for record in read()}, key=list(QUESTIONS).index)
    head = ["# What the defaults of single trees were chosen by", "", f"{' '.join(DATA)}.", "", f"{versions()}.", ""]
    TABLE.write_text("\n".join([*head, *(line for question in asked for line in table(question))]), encoding="utf-8")
    print("\n".join(line for question in chosen.questions for line in table(question)))


if __name__ == "__main__":
    main()
