"""Scores on rows that a tree has not seen: it is grown anew on four fifths of its rows, and judged on the rest."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from dipolar.pipeline import make_pipeline
from dipolar.report.summary import GivenRows, score_rows
from dipolar.tree.described import Described, describe
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.validation import check_predict_data

__all__ = ["cross_validate"]

FOLDS = 5
SCORES = ("harrell", "paper", "ibs", "ibs_of_one_curve")


def cross_validate(described: Described, rows: GivenRows) -> dict[str, Any]:
    """Return the mean of each score over the folds with its standard error, or why there are none.

    Encoder and tree are fitted anew in every fold, so that neither has seen the rows that it is judged on.
    """
    try:
        folds = [_score_fold(described, rows, train, test) for train, test in _folds(rows)]
    except ValueError as error:
        return {"folds": FOLDS, "reason": str(error)} | {name: _none(str(error)) for name in SCORES}
    return {"folds": FOLDS, "reason": None} | {name: _mean([fold[name] for fold in folds]) for name in SCORES}


def _folds(rows: GivenRows) -> Any:
    """Part the rows; each part has its share of the events, where there are enough."""
    event = rows.survival.event
    enough = min(event.sum(), (~event).sum()) >= FOLDS
    splitter = (StratifiedKFold if enough else KFold)(FOLDS, shuffle=True, random_state=0)
    return splitter.split(np.zeros(len(event)), event)


def _score_fold(described: Described, rows: GivenRows, train: np.ndarray, test: np.ndarray) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = describe(_refitted(described, rows, train))
        seen = fitted.covariates(_safe_indexing(rows.X, test))
        leaf = fitted.tree.tree_.leaf_of(check_predict_data(fitted.tree, seen, allow_nan=fitted.tree._allow_nan))
        return score_rows(fitted.tree, "held-out rows", rows.survival.take(test), rows.weight[test], leaf)


def _refitted(described: Described, rows: GivenRows, train: np.ndarray) -> Any:
    tree = _like(described.tree)
    steps = [tree] if described.encoder is None else [clone(described.encoder), tree]
    pipeline = make_pipeline(*steps)
    weight = {f"{name}__sample_weight": rows.weight[train] for name, _ in pipeline.steps}
    pipeline.fit(_safe_indexing(rows.X, train), rows.y[train], **weight)
    return pipeline if described.encoder is not None else pipeline[-1]


def _like(tree: BaseSurvivalTree) -> BaseSurvivalTree:
    """Return an unfitted copy; where the tree was pruned anew by hand, it is pruned at that price."""
    copy = clone(tree)
    if copy.random_state is None:
        copy.random_state = 0  # one tree gives one page
    if tree._pruning_rule().choose(tree.pruning_path_) != tree.member_:
        copy.set_params(pruning="fixed", alpha=float(tree.pruning_path_.alphas[tree.member_]))
    return copy


def _mean(scores: list[dict[str, Any]]) -> dict[str, Any]:
    reason = next((score["reason"] for score in scores if score["reason"]), None)
    if reason is not None:
        return _none(f"in one of the folds: {reason}")
    values = np.array([score["value"] for score in scores])
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    return {"value": float(values.mean()), "error": error, "reason": None}


def _none(reason: str) -> dict[str, Any]:
    return {"value": None, "error": None, "reason": reason}
