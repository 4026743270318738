"""What has to hold of the answers of a fitted model, whatever it was fitted to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dipolar.node_svm.search import SplitStatus
from dipolar.tree.export import export_dot, export_text, to_dict
from fuzz.faults import CLEAR_ERRORS, FaultError, require

__all__ = ["answering", "answers_of", "check_answers", "check_forest", "check_svm", "check_tree", "require_same"]

# What differs by less is the same curve.
ROUNDING = 1e-9

# Answers on the scale of time.
IN_TIME = ("median", "rmst")


@contextmanager
def answering(doing: str) -> Iterator[None]:
    """Make any error a fault: what a fitted model is asked for here, it has to answer."""
    try:
        yield
    except CLEAR_ERRORS as error:
        raise FaultError(f"{doing} raised {type(error).__name__}: {error}") from error


def answers_of(model: Any, X: np.ndarray) -> dict[str, np.ndarray]:
    """Return what a model says about some rows."""
    if hasattr(model, "support_vectors_"):
        return {"score": model.decision_function(X)}
    answers = {
        "risk": model.predict(X),
        "survival": model.predict_survival_function(X, return_array=True),
        "hazard": model.predict_cumulative_hazard_function(X, return_array=True),
        "median": model.predict_median(X, "restricted_mean"),
    }
    if hasattr(model, "apply"):
        answers |= {"leaf": model.apply(X), "rmst": model.predict_rmst(X)}
    return answers


def require_same(
    one: dict[str, np.ndarray], other: dict[str, np.ndarray], what: str, *, unit: float | None = None
) -> None:
    """Require that two models say the same to the last bit; times only up to rounding where a unit is given."""
    for name, values in one.items():
        if name in IN_TIME and unit is not None:
            same = np.allclose(values * unit, other[name], rtol=1e-9, atol=0)
        else:
            same = np.array_equal(values, other[name], equal_nan=True)
        require(same, f"another {name} for {what}")


def check_svm(model: Any, X: np.ndarray) -> None:
    """Check a fitted node SVM."""
    scores = model.decision_function(X)
    require(np.isfinite(scores).all(), f"scores are not finite, status {model.status_}")
    require(np.array_equal(model.predict(X), scores >= 0), "predict is not the sign of the score")
    path = model.criterion_path_
    require(np.isfinite(path).all(), f"criterion is not finite, status {model.status_}")
    require((np.diff(path) <= 1e-6 * np.abs(path[:-1]) + 1e-300).all(), "criterion rises")
    require(model.status_ in set(SplitStatus), f"unknown status {model.status_}")
    if model.status_ in (SplitStatus.SETTLED, SplitStatus.REORIENTATION_LIMIT):
        require(model.duality_gap_ <= model.solver_tol, f"status {model.status_} at a gap of {model.duality_gap_}")
    require(0 < model.margin_ < np.inf, f"margin is {model.margin_}")


def check_answers(model: Any, X: np.ndarray) -> None:
    """Check the risks, curves and times that a tree or a forest predicts."""
    times = model.unique_times_
    risk = model.predict(X)
    require(np.isfinite(risk).all() and (risk >= 0).all(), "risk is not a finite number of events")
    survival = _check_curves(
        model.predict_survival_function(X), model.predict_survival_function(X, return_array=True), times
    )
    require((survival <= 1).all() and (survival >= 0).all(), "survival outside [0, 1]")
    require((np.diff(survival, axis=1) <= 0).all(), "survival rises")
    hazard = _check_curves(
        model.predict_cumulative_hazard_function(X),
        model.predict_cumulative_hazard_function(X, return_array=True),
        times,
    )
    require((hazard >= 0).all(), "hazard below 0")
    require((np.diff(hazard, axis=1) >= 0).all(), "cumulative hazard falls")
    _check_times(model, X)


def check_tree(model: Any, X: np.ndarray) -> None:
    """Check routing, scores and the written forms of a tree."""
    leaf, passed = model.apply(X), model.decision_path(X).toarray()
    record = model.tree_
    require(np.isin(leaf, record.leaves).all(), "apply returns a node that is no leaf")
    require(passed[np.arange(len(X)), leaf].all(), "decision_path does not end where apply does")
    splits = np.flatnonzero(record.is_split)
    scores = model.split_scores(X)
    require(scores.shape == (len(X), len(splits)), "one score per row and split")
    for column, node in enumerate(splits):
        here = passed[:, node] & ~np.isnan(X).any(axis=1)
        goes_left = passed[here, record.left[node]]
        require(np.array_equal(scores[here, column] < 0, goes_left), "the sign of a score is not the side")
    importances = model.feature_importances_
    require(np.isfinite(importances).all() and (importances >= 0).all(), "importances are not finite")
    require(importances.sum() == 0 or np.isclose(importances.sum(), 1), "importances do not sum to 1")
    check_written(model)


def check_written(tree: Any) -> None:
    """Check the forms in which a tree is written."""
    data = to_dict(tree)
    require(json.loads(json.dumps(data, allow_nan=False)) == data, "to_dict does not survive JSON")
    require(len(data["nodes"]) == tree.tree_.n_nodes, "to_dict leaves nodes out")
    require(len(export_text(tree).splitlines()) == tree.tree_.n_nodes, "export_text does not have a line per node")
    require(export_dot(tree).count("->") == tree.tree_.n_nodes - 1, "export_dot does not have all edges")
    require(len(tree.node_frame()) == tree.tree_.n_nodes, "node_frame leaves nodes out")


def check_forest(model: Any, X: np.ndarray) -> None:
    """Check what only a forest says."""
    leaf = model.apply(X)
    require(leaf.shape == (len(X), len(model.forest_)), "one leaf per row and tree")
    shares = model.proximity(X[:20])
    require(((shares >= 0) & (shares <= 1)).all() and np.allclose(np.diag(shares), 1), "proximities outside [0, 1]")
    importances = model.feature_importances_
    require(np.isfinite(importances).all() and (importances >= 0).all(), "importances are not finite")
    if hasattr(model, "oob_prediction_"):
        known = ~np.isnan(model.oob_prediction_)
        require(np.isfinite(model.oob_prediction_[known]).all(), "out-of-bag risk is not finite")
        curves = model.oob_survival_[known]
        require(((curves >= 0) & (curves <= 1)).all(), "out-of-bag survival outside [0, 1]")
        require((np.diff(curves, axis=1) <= 0).all(), "out-of-bag survival rises")
        require(np.isnan(model.oob_score_) or 0 <= model.oob_score_ <= 1, f"out-of-bag score {model.oob_score_}")
    tree = model.tree(len(model.forest_) - 1)
    require(np.array_equal(tree.apply(X), leaf[:, -1]), "a single tree and its forest find different leaves")
    check_written(tree)


def _check_curves(functions: np.ndarray, table: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Check that step functions and their values on the grid are the same finite curves; return the values."""
    require(table.shape == (len(functions), len(times)), "one value per row and time")
    require(np.isfinite(table).all(), "curves are not finite")
    for function, values in list(zip(functions, table))[:10]:
        require(np.allclose(function(times), values, rtol=ROUNDING, atol=ROUNDING), "step functions are other curves")
        require(function(times[-1] * 2) == function(times[-1]), "a curve moves beyond its last time")
        require(function(-1.0) == function.start, "a curve does not start where it should")
    return table


def _check_times(model: Any, X: np.ndarray) -> None:
    """Check medians, and, where the model has them, other quantiles and restricted means."""
    last = model.unique_times_[-1]
    median = model.predict_median(X)
    require(not np.isnan(median).any() and (median >= 0).all(), "median is not a time")
    at_median = [1.0 - function(time) for function, time in zip(model.predict_survival_function(X), median)]
    reached = np.isfinite(median)
    require((np.array(at_median)[reached] >= 0.5 - 1e-6).all(), "survival at the median is above 1/2")
    for rule in ("largest", "restricted_mean"):
        instead = model.predict_median(X, rule)
        require(np.isfinite(instead).all() and (instead >= 0).all(), f"median with unreached={rule} is not a time")
        require(np.array_equal(instead[reached], median[reached]), f"unreached={rule} moves a median that is reached")
    if not hasattr(model, "predict_quantile"):
        return
    early, late = model.predict_quantile(X, 0.2), model.predict_quantile(X, 0.8)
    require((early <= median).all() and (median <= late).all(), "quantiles are out of order")
    area = model.predict_rmst(X)
    require(np.isfinite(area).all() and (area >= 0).all(), "restricted mean is not a time")
    require((area <= last * (1 + ROUNDING)).all(), "restricted mean is beyond its horizon")
    require((model.predict_rmst(X, last / 2) <= area * (1 + ROUNDING)).all(), "restricted means fall with the horizon")
