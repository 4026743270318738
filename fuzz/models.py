"""Targets of the estimators: each is fitted to drawn rows, asked for everything it can say, and fitted once more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from fuzz.answers import answering, answers_of, check_answers, check_forest, check_svm, check_tree, require_same
from fuzz.draw import Draw
from fuzz.faults import CLEAR_ERRORS, fault_of, require
from fuzz.relations import RELATIONS, Fitted, fit
from fuzz.rows import Rows, draw_rows
from fuzz.settings import KINDS, PARAMETERS, draw_estimator, draw_mistaken

__all__ = ["TARGETS", "WORDS"]

# What an error may be about: parameters and data.
WORDS = PARAMETERS | {"X", "y", "time", "event", "sample_weight"}

# The most rows of a case, which keep it cheap, and the share of the cases with missing values.
MOST_ROWS = {"svm": 150, "logrank tree": 200, "dipole tree": 120, "tuned tree": 80}
MISSING = {"logrank tree": 0.3, "logrank forest": 0.3}

# Shares of the cases that ask for what takes longer.
LONG = 0.05


def check_model(draw: Draw, *, kind: str) -> None:
    """Fit an estimator and hold its answers against everything that is known of them."""
    rows = draw_rows(draw, most=MOST_ROWS.get(kind, 120), missing=MISSING.get(kind, 0.02))
    model = draw_estimator(draw, kind)
    if isinstance(getattr(model, "kernel", None), str) and model.kernel == "precomputed" and kind == "svm":
        rows = as_gram_matrix(rows)
    fit(model, rows)
    with answering("a fitted model"):
        CHECKS[kind](model, rows.X)
        answers = answers_of(model, rows.X)
    if draw.chance(LONG):
        ask_at_length(draw, model, rows)
    if model.__dict__.get("kernel") != "precomputed":
        relation = draw.one_of(RELATIONS)
        draw.note("relation", relation.__name__)
        relation(draw, Fitted(model, rows, rows.X, answers))
    fresh = fresh_rows(draw, rows)
    CHECKS[kind](model, fresh)


def check_mistaken(draw: Draw) -> None:
    """Fit an estimator with one wrong parameter: an error says which, and what is fitted is sound."""
    model, name = draw_mistaken(draw)
    X, time = draw.rng.normal(size=(40, 3)), draw.rng.integers(1, 30, 40).astype(float)
    rows = Rows(X, time, draw.rng.random(40) < 0.7, None)
    try:
        fit(model, rows)
    except CLEAR_ERRORS as error:
        require(fault_of(error, WORDS) is not None or name in str(error), f"no word about {name}: {error}")
        raise
    with answering("a fitted model"):
        answers_of(model, X)


def as_gram_matrix(rows: Rows) -> Rows:
    """Return rows whose covariates are the values of a kernel."""
    with np.errstate(all="ignore"):
        return replace(rows, X=rows.X @ rows.X.T)


def fresh_rows(draw: Draw, rows: Rows) -> np.ndarray:
    """Return covariates that the model has not seen."""
    kind = draw.note("asked", draw.ordinary_or_wild(("close", "drawn anew"), ("zeros", "far", "farther", "one")))
    n, p = rows.X.shape
    if kind == "close":
        return rows.X + draw.rng.normal(size=(n, p)) * 1e-6
    sizes = {"drawn anew": 1.0, "zeros": 0.0, "far": 1e9, "farther": 1e74, "one": 1.0}
    return draw.rng.normal(size=(1 if kind == "one" else 20, p)) * sizes[kind]


def check_tuned(model: Any, X: np.ndarray) -> None:
    """Check a tree that tuned itself."""
    check_answers(model, X)
    best = model.best_estimator_
    check_tree(best, X)
    require_same(answers_of(model, X), answers_of(best, X), "the chosen tree")
    means = model.cv_results_[f"mean_test_{model.scorer_names_[0]}"]
    require(np.isfinite(model.best_score_) and not means.isna().all(), "the best score is not a number")
    require(
        model.tolerance > 0 or model.level is not None or model.best_score_ == means.max(),
        "the best score is not the highest",
    )


def ask_at_length(draw: Draw, model: Any, rows: Rows) -> None:
    """Ask a model for what takes longer."""
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "prune"):
        check_tree(model.prune(draw.one_of((0.0, 2.0, 1e9))), rows.X)
        if model.pruning in (None, "fixed"):
            check_tree(model.cut_back(2), rows.X)
    if hasattr(model, "importance"):
        kind, scoring = draw.one_of(("permute", "negate")), draw.one_of(("concordance", "brier"))
        found = model.importance(
            rows.X, rows.y, rows.weight, kind=kind, scoring=scoring, n_repeats=2, random_state=0
        ).importances
        require(not np.isinf(found).any(), "importances are infinite")
        more = clone(model).set_params(warm_start=True)
        fit(more.set_params(n_estimators=2), rows)
        fit(more.set_params(n_estimators=4), rows)
        at_once = fit(clone(model).set_params(n_estimators=4), rows)
        if model.random_state is not None:
            require_same(answers_of(at_once, rows.X), answers_of(more, rows.X), "a forest grown in two steps")


def all_of(*checks: Callable[[Any, np.ndarray], None]) -> Callable[[Any, np.ndarray], None]:
    """Return one check that makes several."""

    def check(model: Any, X: np.ndarray) -> None:
        for single in checks:
            single(model, X)

    return check


CHECKS = {
    "svm": check_svm,
    "logrank tree": all_of(check_answers, check_tree),
    "dipole tree": all_of(check_answers, check_tree),
    "tuned tree": check_tuned,
    "logrank forest": all_of(check_answers, check_forest),
    "dipole forest": all_of(check_answers, check_forest),
}
TARGETS: dict[str, Callable[[Draw], None]] = {kind: partial(check_model, kind=kind) for kind in KINDS}
TARGETS["mistakes"] = check_mistaken
