"""One candidate of a search on one fold: grown to every depth on the training rows, scored on the others."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, UndefinedMetricWarning

from dipolar.metrics.scorers import SurvivalScorer
from dipolar.progress import telling
from dipolar.rows import TrainingRows
from dipolar.tree.dipole_tree import DipoleSurvivalTree
from dipolar.tree.estimator import BaseSurvivalTree

__all__ = ["Fold", "Places", "Scored", "make_candidate", "risk_trend", "score_path", "tabulate_paths"]


@dataclass(frozen=True)
class Fold:
    """With which weight each row grows trees, and with which it scores them."""

    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True)
class Scored:
    """One tree, grown on one training fold and scored on its test fold."""

    scores: dict[str, float]
    trend: tuple[float, float]  # of the hazard with the predicted risk: score statistic and its variance
    n_leaves: int
    seconds: float


class Places:
    """The covariates that candidates meet in each fold: wide ones in coordinates, found once for all that share them.

    Scorers of the user's own meet the covariates as they are.
    """

    def __init__(self, rows: TrainingRows, may_move: bool) -> None:
        self._rows, self._may_move = rows, may_move
        self._found: dict[Any, np.ndarray | None] = {}

    def of(self, tree: BaseSurvivalTree, fold: Fold) -> tuple[BaseSurvivalTree, np.ndarray]:
        """Return what to grow a candidate as, and on which covariates."""
        X = self._rows.X
        if not (self._may_move and isinstance(tree, DipoleSurvivalTree) and X.shape[1] > len(X)):
            return tree, X
        key = id(fold), repr(tree.svm.get_params() | {"kappa": None})
        if key not in self._found:
            is_seen = fold.train > 0
            seen, unseen = np.flatnonzero(is_seen), np.flatnonzero(~is_seen)
            moved = tree._in_coordinates(self._rows.take(seen, fold.train), X[unseen])
            self._found[key] = None if moved is None else moved[np.argsort(np.concatenate((seen, unseen)))]
        found = self._found[key]
        if found is None:
            return tree, X
        moved = clone(tree).set_params(svm__standardize=False)
        moved._tells_shares = False  # coordinates are no covariates
        return moved, found


def make_candidate(template: BaseSurvivalTree, parameters: dict[str, Any]) -> BaseSurvivalTree:
    """Return an unfitted tree with some parameters; a machine among them is its own, so that setting its parameters
    leaves those of the other candidates alone."""
    return clone(template).set_params(**{name: clone(value, safe=False) for name, value in parameters.items()})


def score_path(tree, X, depths, y, copies, fold, scorers) -> list[Scored]:
    """Grow a tree on one fold and score it at each depth."""
    train, test = np.flatnonzero(fold.train), np.flatnonzero(fold.test)
    weight = fold.test[test]
    # Scorers that are not told of weights meet rows as often as they were given, `copies` for a weight of one.
    repeated = np.repeat(test, np.maximum(1, np.rint(weight * copies[test])).astype(np.int64))
    path = []
    with telling(None), warnings.catch_warnings():
        # Of single candidates neither says anything to the user: the chosen tree tells the first itself, and the second
        # is what the rule for trees of one leaf is about.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for grown, seconds in _grow_depths(tree, depths, X[train], y[train], fold.train[train]):
            scores = {
                name: _score(name, scorer, grown, X[test], y[test], sample_weight=weight)
                if isinstance(scorer, SurvivalScorer)
                else _score(name, scorer, grown, X[repeated], y[repeated])
                for name, scorer in scorers.items()
            }
            trend = risk_trend(y[test], grown.predict(X[test]), weight)
            path.append(Scored(scores, trend, grown.n_leaves_, seconds))
    return path


def risk_trend(y: np.ndarray, risk: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Return the score statistic of Cox's model at zero for the ranks of the risks, and its variance.

    At each event time: the ranks of the rows with an event less what they are on average among the rows at risk.
    """
    _, level = np.unique(risk, return_inverse=True)
    size = np.bincount(level, weights=weight)
    rank = ((np.cumsum(size) - 0.5 * size) / size.sum() - 0.5)[level]
    times, at = np.unique(y["time"], return_inverse=True)

    def at_risk(values: np.ndarray) -> np.ndarray:
        return np.cumsum(np.bincount(at, weights=values, minlength=len(times))[::-1])[::-1]

    gone = weight * y["event"]
    events, n = np.bincount(at, weights=gone, minlength=len(times)), at_risk(weight)
    mean = at_risk(weight * rank) / n
    spread = at_risk(weight * rank**2) / n - mean**2
    # Of tied events all but the first are drawn from fewer rows.
    tied = np.where(n > 1, (n - events) / np.maximum(n - 1, 1), 0.0).clip(0.0, 1.0)
    return float(gone @ rank - events @ mean), float(events @ (spread * tied))


def _grow_depths(tree, depths, X, y, weight) -> Iterator[tuple[BaseSurvivalTree, float]]:
    """Yield a fitted tree for every depth with the seconds it took; one is enough where it can be cut back."""
    start = time.perf_counter()
    if depths == [None]:
        yield _copy(tree).fit(X, y, weight), time.perf_counter() - start
    elif tree.pruning in (None, "fixed"):
        deepest = _copy(tree).set_params(max_depth=depths[-1]).fit(X, y, weight)
        seconds = time.perf_counter() - start
        yield from ((deepest.cut_back(depth), seconds / len(depths)) for depth in depths)
    else:
        for depth in depths:
            start = time.perf_counter()
            grown = _copy(tree).set_params(max_depth=depth).fit(X, y, weight)
            yield grown, time.perf_counter() - start


def _copy(tree: BaseSurvivalTree) -> BaseSurvivalTree:
    """Return an unfitted copy that leaves out what its original leaves out."""
    copied = clone(tree)
    vars(copied).update({name: value for name, value in vars(tree).items() if name == "_tells_shares"})
    return copied


def _score(name: str, scorer: Any, tree: BaseSurvivalTree, X: np.ndarray, y: np.ndarray, **weight: Any) -> float:
    """Score a fold; NaN with a warning where the score is not defined on it."""
    try:
        return float(scorer(tree, X, y, **weight))
    except ValueError as error:
        warnings.warn(
            f"{name!r} is not defined on a test fold of {len(X)} rows: {error}", FitFailedWarning, stacklevel=2
        )
        return np.nan


def tabulate_paths(
    families: list[dict[str, Any]],
    depths: Sequence[int | None],
    paths: list[list[Scored]],
    names: list[str],
    n_folds: int,
) -> pd.DataFrame:
    """One row per candidate; `paths` holds the folds of the first family first."""
    records = []
    for number, family in enumerate(families):
        of_family = paths[number * n_folds : (number + 1) * n_folds]
        for step, depth in enumerate(depths):
            cells = [path[step] for path in of_family]
            record: dict[str, Any] = dict(family)
            if depth is not None:
                record["max_depth"] = depth
            for name in names:
                values = np.array([cell.scores[name] for cell in cells])
                record[f"mean_test_{name}"] = values.mean()
                record[f"std_test_{name}"] = values.std(ddof=1) if n_folds > 1 else 0.0
                record |= {f"split{fold}_test_{name}": value for fold, value in enumerate(values)}
            score, variance = np.sum([cell.trend for cell in cells], axis=0)
            record["trend"] = score / np.sqrt(variance) if variance > 0 else 0.0
            record["mean_n_leaves"] = np.mean([cell.n_leaves for cell in cells])
            record["mean_fit_time"] = np.mean([cell.seconds for cell in cells])
            records.append(record)
    return pd.DataFrame.from_records(records)
