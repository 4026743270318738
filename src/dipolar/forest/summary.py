"""The single tree that says most nearly what a forest says.

A forest predicts well and cannot be read. A small tree that is fitted to its predictions, instead of to the outcomes,
can: the forest has smoothed away what is noise in single outcomes. How much of the forest it keeps is a number.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from dipolar.node_svm.svm import DipoleSVM
from dipolar.survival import Survival, survival_outcome
from dipolar.tree.dipole_tree import DipoleSurvivalTree
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.tree.logrank_tree import LogRankSurvivalTree
from dipolar.tree.pruning import pruning_path, split_statistics

__all__ = ["ForestSummary", "best_summary", "default_trees", "relabel"]

# Criteria of univariate trees that are tried: against the log-rank one, the others stress early times or large rates.
CRITERIA = ("logrank", "gehan", "exponential")

# Where oblique trees that are tried cut along their surfaces.
CUTS = ("svm", "logrank")

# Outcomes that a row is given in place of its own, at even quantiles of its predicted survival curve.
N_OUTCOMES = 5


class ForestSummary(NamedTuple):
    """A tree that stands for a forest.

    Parameters
    ----------
    tree : fitted survival tree
        Its splits follow the forest's predictions; the curves in its leaves are those of the outcomes.
    agreement : float
        The share of the variation of the forest's survival curves between rows that the leaves of such a tree explain
        on rows that it was not fitted to: 1 where it says all that the forest says, 0 where it says nothing.
    candidates : DataFrame
        The same of every tree that was tried, with the number of its leaves.
    """

    tree: BaseSurvivalTree
    agreement: float
    candidates: pd.DataFrame


def default_trees(max_leaf_nodes: int, seed: int) -> list[BaseSurvivalTree]:
    """Return the trees that are tried, as the library has them: univariate and oblique ones, by several criteria."""
    limits = {"max_depth": None, "max_leaf_nodes": max_leaf_nodes, "random_state": seed}
    return [
        *(LogRankSurvivalTree(criterion=criterion, **limits) for criterion in CRITERIA),
        *(DipoleSurvivalTree(DipoleSVM(cut=cut), **limits) for cut in CUTS),
    ]


def best_summary(
    trees: Sequence[BaseSurvivalTree],
    X: Any,
    survival: Survival,
    weight: np.ndarray,
    curves: np.ndarray,
    times: np.ndarray,
    n_folds: int,
    seed: int,
) -> ForestSummary:
    """Fit trees to a forest's predictions and keep the one that agrees best.

    Parameters
    ----------
    trees : sequence of unfitted survival trees
    X, survival, weight : array-like, Survival, ndarray
        Rows and their outcomes, for the curves in the leaves.
    curves, times : ndarray of shape (n_samples, n_times), (n_times,)
        What the forest predicts for them: survival curves at these times.
    n_folds, seed : int, int
        Of the cross-validation that the agreement is from.
    """
    rows = X if hasattr(X, "iloc") else np.asarray(X)
    told = _Told(rows, curves, times, weight)
    folds = list(KFold(n_folds, shuffle=True, random_state=seed).split(curves))
    agreements = [_agreement(tree, told, folds) for tree in trees]
    fitted = [told.teach(tree, np.arange(len(curves))) for tree in trees]
    best = int(np.argmax(agreements))
    candidates = pd.DataFrame(
        {
            "tree": [_short_name(tree) for tree in fitted],
            "n_leaves": [tree.n_leaves_ for tree in fitted],
            "agreement": agreements,
        }
    )
    return ForestSummary(relabel(fitted[best], rows, survival, weight), agreements[best], candidates)


@dataclass(frozen=True)
class _Told:
    """Rows with what a forest says about them."""

    X: Any
    curves: np.ndarray  # (n_samples, n_times) survival
    times: np.ndarray  # (n_times,)
    weight: np.ndarray  # (n_samples,)

    def rows(self, numbers: np.ndarray) -> Any:
        return self.X.iloc[numbers] if hasattr(self.X, "iloc") else self.X[numbers]

    def teach(self, tree: BaseSurvivalTree, numbers: np.ndarray) -> BaseSurvivalTree:
        """Fit a tree to outcomes that the forest expects of some rows.

        Each row has its event at even quantiles of its curve, or is censored at the last time if the curve does not
        fall that low; a fifth of its weight belongs to each. A statistic then is as large as it would be if the
        forest's curves were the truth.
        """
        level = (np.arange(N_OUTCOMES) + 0.5) / N_OUTCOMES
        below = self.curves[numbers][:, None, :] <= level[None, :, None]
        event = below.any(axis=2)
        time = np.where(event, self.times[np.argmax(below, axis=2)], self.times[-1])
        repeated = np.repeat(numbers, N_OUTCOMES)
        outcome = survival_outcome(time.ravel(), event.ravel())
        with warnings.catch_warnings():
            # How good a split is, is measured by the agreement; that of an unfinished solve is what it is.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return clone(tree).fit(self.rows(repeated), outcome, self.weight[repeated] / N_OUTCOMES)


def relabel(tree: BaseSurvivalTree, X: Any, survival: Survival, weight: np.ndarray) -> BaseSurvivalTree:
    """Return a copy of a fitted tree with the same splits and the sizes, statistics and curves of other outcomes."""
    other = copy.copy(tree)
    seen = weight > 0
    rows, outcome, weight = tree._check_covariates(X)[seen], survival.take(seen), weight[seen]
    record = tree.tree_.refill(rows, outcome, weight)
    statistics = split_statistics(record, rows, outcome, weight)
    other.grown_ = replace(record, logrank=statistics, gain=statistics)
    other.pruning_path_ = pruning_path(other.grown_)
    other.unique_times_ = np.unique(outcome.time)
    other.event_times_ = np.unique(outcome.time[outcome.event])
    other._take_member(0)
    return other


def _agreement(tree: BaseSurvivalTree, told: _Told, folds: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the share of the variation between rows that the leaves explain on the rows that are held out."""
    curves, weight = told.curves, told.weight
    within = between = 0.0
    for train, test in folds:
        fitted = told.teach(tree, train)
        centres = _leaf_means(fitted.apply(told.rows(train)), curves[train], weight[train], fitted.tree_.n_nodes)
        mean = np.average(curves[train], axis=0, weights=weight[train])
        leaf = fitted.apply(told.rows(test))
        within += float(weight[test] @ ((curves[test] - centres[leaf]) ** 2).sum(axis=1))
        between += float(weight[test] @ ((curves[test] - mean) ** 2).sum(axis=1))
    return 1.0 - within / between if between > 0 else 1.0


def _leaf_means(leaf: np.ndarray, curves: np.ndarray, weight: np.ndarray, n_nodes: int) -> np.ndarray:
    """Return the mean curve of the rows of each leaf."""
    sums = np.zeros((n_nodes, curves.shape[1]))
    np.add.at(sums, leaf, weight[:, None] * curves)
    size = np.bincount(leaf, weights=weight, minlength=n_nodes)
    return np.divide(sums, size[:, None], out=sums, where=size[:, None] > 0)


def _short_name(tree: BaseSurvivalTree) -> str:
    if isinstance(tree, DipoleSurvivalTree):
        return f"DipoleSurvivalTree({tree.svm!r})"
    criterion = getattr(tree, "criterion", None)
    return f"{type(tree).__name__}({'' if criterion is None else f'criterion={criterion!r}'})"
