"""What a forest tries when it chooses its own settings, how settings are judged, and which are taken.

Every candidate grows trees on the same samples and is judged by the integrated Brier score of the rows that its trees
have not seen. All of it is done on the rows in their own order, so that a choice depends neither on how rows came nor
on who computes; candidates that differ by rounding alone are equal, and the earlier one is taken.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from dipolar.curves import tabulate
from dipolar.forest.out_of_bag import OutOfBag
from dipolar.forest.planting import Planting, plant
from dipolar.forest.record import Forest
from dipolar.metrics.grids import TruncationWarning
from dipolar.progress import Reporter
from dipolar.resampling import deal_out
from dipolar.rows import TrainingRows
from dipolar.survival import Survival, survival_outcome
from dipolar.tree.record import Tree

__all__ = ["check_settings", "choose_settings", "listed_settings", "with_settings"]

# Trees that a candidate is judged by.
TRIAL_TREES = 50

# Parts of the rows, by which the standard error of a difference between two candidates is estimated.
PARTS = 10

# Brier scores that differ by a smaller share differ by rounding.
ROUNDING = 1e-9

# What does not decide how a tree is grown.
NOT_TUNED = ("n_estimators", "time_grid", "oob_score", "tune", "warm_start", "n_jobs", "random_state", "verbose")

# Covariates, outcomes and weights as they are given.
Data = tuple[np.ndarray, Survival, np.ndarray]


@dataclass(frozen=True)
class _Trial:
    """What the rows that the first trees of a candidate have not seen say about it."""

    settings: Mapping[str, Any]
    brier: float
    brier_of_parts: np.ndarray  # (PARTS,), NaN where it is not defined on a part
    concordance: float
    n_leaves: float
    seconds: float


def listed_settings(forest: Any, tune: Any, recommended: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the candidates that `tune` stands for; none is made before it is asked for."""
    if isinstance(tune, bool | np.bool_):
        return recommended if tune else ()
    hint = "True tries what is recommended; a dict of lists such as {'min_samples_leaf': [5, 20]} what it says."
    try:
        grid = ParameterGrid(tune)
        n_candidates = len(grid)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"tune must be True, False or a dict of lists of values, got {tune!r:.200}: {error}. {hint}"
        ) from error
    if not n_candidates:
        raise ValueError(f"tune must list at least one candidate, got {tune!r:.200}. {hint}")
    check_settings(forest, {name for part in grid.param_grid for name in part})
    return grid


def check_settings(forest: Any, names: Iterable[str]) -> None:
    """Raise ValueError unless all names are those of parameters that a forest may choose."""
    known = [name for name in forest.get_params(deep=True) if name not in NOT_TUNED]
    for name in names:
        if name not in known:
            shown = [each for each in known if "__" not in each]
            raise ValueError(
                f"tune must name parameters of a {type(forest).__name__} that decide how trees grow, "
                f"got {name!r:.100}. Choose from {shown}; those of a single machine begin with svm__."
            )


def with_settings(forest: Any, settings: Mapping[str, Any]) -> Any:
    """Return an unfitted copy of a forest with some parameters of its own, machines among them copied too."""
    return clone(forest).set_params(**_copied(settings))


def _copied(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: clone(value, safe=False) for name, value in settings.items()}


def choose_settings(
    forest: Any, candidates: Sequence[Mapping[str, Any]], data: Data, n_trees: int, seed: int
) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the settings of the candidate with the best out-of-bag Brier score, and what all of them came to."""
    report = Reporter(forest.verbose)
    trials = []
    for settings in candidates:
        trials.append(_try_out(forest, settings, data, min(n_trees, TRIAL_TREES), seed))
        report.searching(len(trials), len(candidates))
    return _copied(_best(trials).settings), _tabulate(trials, forest.get_params(deep=True))


def _try_out(forest: Any, settings: Mapping[str, Any], data: Data, n_trees: int, seed: int) -> _Trial:
    """Grow the first trees of a candidate, and judge them by the rows that they have not seen."""
    start = time.perf_counter()
    candidate = with_settings(forest, settings)
    rows = candidate._arrange(*data)
    planting = candidate._planting(rows, seed)
    trees, _ = plant(planting, rows, range(n_trees), candidate.n_jobs)
    unseen = _unseen_rows(trees, planting, rows)
    risk, curves = unseen.risk(unseen.leaves), unseen.survival(unseen.leaves)
    parts = deal_out(rows.weight, rows.survival.event, PARTS, np.random.default_rng(seed))
    return _Trial(
        settings,
        brier=_or_nan(unseen.brier, curves),
        brier_of_parts=_briers_of_parts(unseen, curves, parts),
        concordance=_or_nan(unseen.concordance, risk),
        n_leaves=float(np.mean([tree.n_leaves for tree in trees])),
        seconds=time.perf_counter() - start,
    )


def _unseen_rows(trees: Sequence[Tree], planting: Planting, rows: TrainingRows) -> OutOfBag:
    """Return the rows in their own order, each seen by the trees whose sample it is not in."""
    events = np.unique(rows.survival.time[rows.survival.event])
    forest = Forest(trees, events, tabulate(rows.survival, rows.weight))
    y = survival_outcome(rows.survival.time, rows.survival.event)
    return OutOfBag(forest, planting, replace(rows, number=np.arange(len(y))), rows.X, y, rows.weight)


def _briers_of_parts(unseen: OutOfBag, curves: np.ndarray, parts: Sequence[np.ndarray]) -> np.ndarray:
    with warnings.catch_warnings():
        # A part may end before the rows do; it is compared with the same part of another candidate.
        warnings.simplefilter("ignore", TruncationWarning)
        return np.array([_or_nan(unseen.brier, curves, part) for part in parts])


def _or_nan(score: Callable[..., float], *arguments: Any) -> float:
    """Return a score; NaN where it is not defined."""
    try:
        return score(*arguments)
    except ValueError:
        return np.nan


def _best(trials: Sequence[_Trial]) -> _Trial:
    """Return the one with the smallest Brier score; of those that differ by rounding alone, the first.

    The forest as it is given is left only for one that is better by more than the standard error of the difference.
    """
    defined = [trial for trial in trials if not np.isnan(trial.brier)]
    if not defined:
        raise ValueError(
            "tune cannot choose by the integrated Brier score out of bag, which is not defined on these rows: it needs "
            "rows that are in some samples only, and events at several times. Set tune=False."
        )
    bar = min(trial.brier for trial in defined) * (1.0 + ROUNDING)
    best = next(trial for trial in defined if trial.brier <= bar)
    as_given = [trial for trial in defined if not trial.settings and trial.brier - best.brier <= _error(trial, best)]
    return as_given[0] if as_given else best


def _error(one: _Trial, other: _Trial) -> float:
    """Return the standard error of the difference of two Brier scores, estimated by those of parts of the rows."""
    differences = one.brier_of_parts - other.brier_of_parts
    differences = differences[~np.isnan(differences)]
    return float(differences.std(ddof=1) / np.sqrt(len(differences))) if len(differences) > 1 else 0.0


def _tabulate(trials: Sequence[_Trial], given: Mapping[str, Any]) -> pd.DataFrame:
    """One row per candidate, in the order in which they were tried; `given` has what a candidate leaves alone."""
    names = dict.fromkeys(name for trial in trials for name in trial.settings)
    records = [
        {name: trial.settings.get(name, given[name]) for name in names}
        | {
            "oob_brier": trial.brier,
            "oob_concordance": trial.concordance,
            "mean_n_leaves": trial.n_leaves,
            "seconds": trial.seconds,
        }
        for trial in trials
    ]
    return pd.DataFrame.from_records(records)
