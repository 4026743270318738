"""Cross-validation of several models on the same folds, each with its own preparation of the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import delayed
from rich.table import Table as Grid
from sklearn.model_selection import RepeatedStratifiedKFold

from dipolar.cli.contenders import Baseline, Contender
from dipolar.cli.data import Data
from dipolar.cli.messages import UserError
from dipolar.metrics import scorers
from dipolar.parallel import run_tasks

__all__ = ["MEASURES", "SCORES", "Evaluation", "cross_validate", "most_folds", "require_scored"]

# Names in JSON, and headings for people.
SCORES = {"harrell_c": "Harrell's C", "ibs": "IBS (Graf)"}
MEASURES = SCORES | {"leaves": "leaves"}

# Which way is good.
SIGN = {"harrell_c": 1.0, "ibs": -1.0}


@dataclass(frozen=True)
class FoldScore:
    """The measures of one model on one fold, NaN where there are none, and why."""

    measures: np.ndarray
    failure: str | None = None


@dataclass(frozen=True)
class Evaluation:
    """The scores of every model on every fold."""

    scores: dict[str, np.ndarray]  # by model, (n_folds, n_measures); NaN where a fold could not be scored
    folds: int
    repeats: int
    failures: dict[str, str]  # why a model could not be fitted to some fold

    @property
    def names(self) -> list[str]:
        """The models."""
        return list(self.scores)

    def mean_and_error(self, name: str, measure: str) -> tuple[float | None, float | None]:
        """Return the mean over the folds that could be scored, and its standard error."""
        return self._mean_and_error(self._column(name, measure))

    def lead(self, first: str, second: str, measure: str) -> tuple[float | None, float | None]:
        """Return by how much the first model scores better than the second on the same folds, with standard error."""
        difference = self._column(first, measure) - self._column(second, measure)
        return self._mean_and_error(SIGN[measure] * difference)

    @property
    def n_unscored(self) -> int:
        """Number of fits that a score could not be computed for."""
        return int(sum(np.isnan(scores[:, : len(SCORES)]).any(axis=1).sum() for scores in self.scores.values()))

    def to_json(self) -> list[dict[str, Any]]:
        return [{"model": name} | {measure: self._pair(name, measure) for measure in MEASURES} for name in self.names]

    def grid(self, title: str) -> Grid:
        """Return the table for people."""
        measures = [name for name in MEASURES if any(self.mean_and_error(model, name)[0] for model in self.names)]
        grid = Grid(title=title, title_justify="left", title_style="bold")
        grid.add_column("model")
        for measure in measures:
            grid.add_column(MEASURES[measure], justify="right")
        for name in self.names:
            grid.add_row(name, *(_cell(*self.mean_and_error(name, measure), measure) for measure in measures))
        return grid

    def _column(self, name: str, measure: str) -> np.ndarray:
        return self.scores[name][:, list(MEASURES).index(measure)]

    def _pair(self, name: str, measure: str) -> dict[str, float | None]:
        mean, error = self.mean_and_error(name, measure)
        return {"mean": mean, "se": error}

    def _mean_and_error(self, values: np.ndarray) -> tuple[float | None, float | None]:
        """Return mean and standard error; the error knows that folds share training rows (Nadeau and Bengio 2003)."""
        known = values[~np.isnan(values)]
        if not len(known):
            return None, None
        if len(known) == 1:
            return float(known[0]), None
        spread = np.sqrt(known.var(ddof=1) * (1 / len(known) + 1 / (self.folds - 1)))
        return float(known.mean()), float(spread)


def cross_validate(
    data: Data,
    contenders: Sequence[Contender | Baseline],
    *,
    folds: int,
    repeats: int = 1,
    seed: int = 0,
    jobs: int = 1,
    done: Callable[[int], None] = lambda _: None,
) -> Evaluation:
    """Fit and score every model on the folds of a repeated, stratified cross-validation.

    Parameters
    ----------
    data : Data
    contenders : sequence of Contender or Baseline
    folds, repeats, seed : int
        `seed` shuffles the rows; the seeds of the models rise by one with each repeat.
    jobs : int
        Number of processes that share the fits.
    done : callable
        Told the number of fits that are finished.
    """
    rows = _fold_rows(data, folds, repeats, seed)
    tasks = [(each, number // folds, *split) for number, split in enumerate(rows) for each in contenders]
    results = run_tasks([delayed(_score_fold)(data, *task) for task in tasks], jobs)
    scores: dict[str, list[np.ndarray]] = {each.name: [] for each in contenders}
    failures: dict[str, str] = {}
    for number, ((contender, *_), score) in enumerate(zip(tasks, results), start=1):
        scores[contender.name].append(score.measures)
        if score.failure is not None:
            failures.setdefault(contender.name, score.failure)
        done(number)
    return Evaluation({name: np.array(values) for name, values in scores.items()}, folds, repeats, failures)


def require_scored(result: Evaluation, names: Sequence[str]) -> None:
    """Refuse what no fold could be fitted with, such as parameters that a model does not take."""
    for name in names:
        if name in result.failures and np.isnan(result.scores[name]).all():
            raise UserError(result.failures[name])


def most_folds(data: Data) -> int:
    """Return into how many folds the rows can be dealt, each with an event and a censored row if there are any."""
    return int(min(data.y["event"].sum(), (~data.y["event"]).sum() or len(data.y)))


def _fold_rows(data: Data, folds: int, repeats: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    fewest = most_folds(data)
    if fewest < folds:
        raise UserError(
            f"{folds} folds need at least {folds} events and as many censored rows, and there are {fewest} of one. "
            "Ask for fewer: --folds K."
        )
    splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
    return splitter.split(data.y, data.y["event"])


def _score_fold(
    data: Data, contender: Contender | Baseline, n_later: int, train: np.ndarray, test: np.ndarray
) -> FoldScore:
    """Prepare and fit on the training rows, and score on the test rows."""
    X = data.covariates
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are told of the fit to all rows
        try:
            model = contender.make(data, n_later).fit(X.iloc[train], data.y[train])
        except (ValueError, ArithmeticError) as error:
            return FoldScore(np.full(len(MEASURES), np.nan), str(error))
        harrell, minus_ibs = (
            _score(measure, model, X.iloc[test], data.y[test]) for measure in scorers("concordance", "neg_ibs").values()
        )
    return FoldScore(np.array([harrell, -minus_ibs, _n_leaves(model)]))


def _score(measure: Callable[..., float], model: Any, X: Any, y: np.ndarray) -> float:
    """Return a score, or NaN for a fold without a pair of rows to compare."""
    try:
        return measure(model, X, y)
    except ValueError:
        return np.nan


def _n_leaves(model: Any) -> float:
    """Return the size of a tree, NaN for other models."""
    fitted = model.steps[-1][1] if hasattr(model, "steps") else model
    return float(getattr(fitted, "n_leaves_", np.nan))


def _cell(mean: float | None, error: float | None, measure: str) -> str:
    if mean is None:
        return ""
    if measure == "leaves":
        return f"{mean:.1f}"
    return f"{mean:.3f}" + (f" ± {error:.3f}" if error is not None else "")
