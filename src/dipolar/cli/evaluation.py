"""Cross-validation of several trees on the same folds, each with its own preparation of the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed
from rich.table import Table as Grid
from sklearn.model_selection import RepeatedStratifiedKFold

from dipolar.cli.choices import TreeKind, TreeOptions
from dipolar.cli.data import Data
from dipolar.cli.messages import UserError, refusals_as_user_errors
from dipolar.metrics import scorers
from dipolar.parallel import run_tasks
from dipolar.pipeline import make_pipeline

__all__ = ["MEASURES", "Evaluation", "evaluate_trees"]

# Names in JSON, and headings for people.
MEASURES = {
    "harrell_c": "Harrell's C",
    "paper_c": "paper's C",
    "ibs": "IBS (Graf)",
    "leaves": "leaves",
}


@dataclass(frozen=True)
class Evaluation:
    """The scores of every tree on every fold."""

    kinds: list[TreeKind]
    scores: dict[TreeKind, np.ndarray]  # (n_folds, n_measures); NaN where a fold could not be scored

    def mean_and_sd(self, kind: TreeKind) -> dict[str, tuple[float | None, float | None]]:
        """Return mean and standard deviation over the folds that could be scored, by measure."""
        return {name: _mean_and_sd(column) for name, column in zip(MEASURES, self.scores[kind].T)}

    @property
    def n_unscored(self) -> int:
        """Number of fits that a measure could not be computed for."""
        return int(sum(np.isnan(scores).any(axis=1).sum() for scores in self.scores.values()))

    def to_json(self) -> list[dict[str, Any]]:
        return [
            {"tree": kind.value}
            | {name: {"mean": mean, "sd": sd} for name, (mean, sd) in self.mean_and_sd(kind).items()}
            for kind in self.kinds
        ]

    def grid(self) -> Grid:
        """Return the table for people."""
        grid = Grid(title="Mean (SD) over the test folds", title_justify="left", title_style="bold")
        grid.add_column("tree")
        for heading in MEASURES.values():
            grid.add_column(heading, justify="right")
        for kind in self.kinds:
            cells = [_cell(*pair, name == "leaves") for name, pair in self.mean_and_sd(kind).items()]
            grid.add_row(kind.value, *cells)
        return grid


def evaluate_trees(
    data: Data,
    kinds: list[TreeKind],
    asked: TreeOptions,
    *,
    folds: int,
    repeats: int,
    done: Callable[[int], None],
) -> Evaluation:
    """Fit and score every kind of tree on the folds of a repeated, stratified cross-validation.

    Parameters
    ----------
    data : Data
    kinds : list of TreeKind
    asked : TreeOptions
        Shared by the trees; `seed` shuffles the rows too and rises by one with each repeat, and `jobs` processes share
        the fits.
    folds, repeats : int
    done : callable
        Told the number of fits that are finished.
    """
    rows = _fold_rows(data, folds, repeats, asked.seed)
    tasks = [
        (kind, replace(asked, seed=asked.seed + number // folds), train, test)
        for number, (train, test) in enumerate(rows)
        for kind in kinds
    ]
    with refusals_as_user_errors():
        results = run_tasks([delayed(_score_fold)(data, *task) for task in tasks], asked.jobs)
        scores: dict[TreeKind, list[np.ndarray]] = {kind: [] for kind in kinds}
        for number, ((kind, *_), score) in enumerate(zip(tasks, results), start=1):
            scores[kind].append(score)
            done(number)
    return Evaluation(kinds, {kind: np.array(values) for kind, values in scores.items()})


def _fold_rows(data: Data, folds: int, repeats: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    fewest = int(min(data.y["event"].sum(), (~data.y["event"]).sum() or len(data.y)))
    if fewest < folds:
        raise UserError(
            f"{folds} folds need at least {folds} events and as many censored rows, and there are {fewest} of one. "
            "Ask for fewer: --folds K."
        )
    splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
    return splitter.split(data.y, data.y["event"])


def _score_fold(data: Data, kind: TreeKind, asked: TreeOptions, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Prepare and fit on the training rows, and score on the test rows."""
    model = make_pipeline(data.columns.encoder(data.covariates, kind.reference), asked.make(kind).set_params(n_jobs=1))
    measures = scorers("concordance", "concordance_paper", "neg_ibs")
    X = data.covariates
    with warnings.catch_warnings():
        # A tree of one leaf has no C of the paper's kind; it counts as 1/2, and the table shows the size of the tree.
        warnings.simplefilter("ignore")
        model.fit(X.iloc[train], data.y[train])
        harrell, paper, minus_ibs = (
            _score(measure, model, X.iloc[test], data.y[test]) for measure in measures.values()
        )
    return np.array([harrell, paper, -minus_ibs, model[-1].n_leaves_])


def _score(measure: Callable[..., float], model: Any, X: Any, y: np.ndarray) -> float:
    """Return a score, or NaN for a fold without a pair of rows to compare."""
    try:
        return measure(model, X, y)
    except ValueError:
        return np.nan


def _mean_and_sd(values: np.ndarray) -> tuple[float | None, float | None]:
    known = values[~np.isnan(values)]
    if not len(known):
        return None, None
    return float(known.mean()), float(known.std(ddof=1)) if len(known) > 1 else None


def _cell(mean: float | None, sd: float | None, is_count: bool) -> str:
    if mean is None:
        return "-"
    digits = 1 if is_count else 3
    return f"{mean:.{digits}f}" + (f" ({sd:.{digits}f})" if sd is not None else "")
