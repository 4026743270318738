"""Scorers: metrics as callables `(estimator, X, y)` that scikit-learn's `scoring=` takes.

scikit-learn looks names up in a registry of its own, to which nothing can be added from outside. The names
here are therefore turned into callables first, one by :func:`get_scorer` or several by :func:`scorers`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from operator import attrgetter, neg
from typing import Any, NamedTuple

import numpy as np

from dipolar.curves import LifeTables
from dipolar.metrics.auc import cumulative_dynamic_auc
from dipolar.metrics.brier import integrated_brier_score
from dipolar.metrics.concordance import concordance_index, concordance_index_ipcw

__all__ = ["SCORER_NAMES", "SurvivalScorer", "get_scorer", "scorers"]


class _Recipe(NamedTuple):
    """How a scorer is made."""

    predict: str  # the method that predicts
    metric: Callable[..., Any]  # called with outcomes, predictions and options
    weighted_by_censoring: bool  # whether the metric reads training outcomes as well
    value: Callable[[Any], float] = float  # from what the metric returns to a score, greater = better


_RECIPES = {
    "concordance": _Recipe("predict", concordance_index, False),
    "concordance_exclude": _Recipe("predict", partial(concordance_index, ties="exclude"), False),
    "concordance_paper": _Recipe(
        "predict_median", partial(concordance_index, ties="exclude", tied_times="exclude"), False
    ),
    "concordance_ipcw": _Recipe("predict", concordance_index_ipcw, True),
    "auc": _Recipe("predict", cumulative_dynamic_auc, True, attrgetter("mean")),
    "neg_ibs": _Recipe("predict_survival_function", partial(integrated_brier_score, variant="graf"), True, neg),
    "neg_ibs_paper": _Recipe(
        "predict_survival_function", partial(integrated_brier_score, variant="paper"), True, neg
    ),
    "neg_ibs_authors": _Recipe(
        "predict_survival_function", partial(integrated_brier_score, variant="authors"), True, neg
    ),
}  # fmt: skip

SCORER_NAMES = tuple(_RECIPES)

# Parameters of the metrics that a scorer fills in itself.
_FILLED_IN = {
    "y",
    "y_train",
    "y_test",
    "risk",
    "survival",
    "sample_weight",
    "train_weight",
    "ties",
    "tied_times",
    "variant",
}


class SurvivalScorer:
    """A metric as a callable `(estimator, X, y)` for `scoring=`; made by :func:`get_scorer`.

    Attributes
    ----------
    name : str
        One of `SCORER_NAMES`.
    y_train : outcomes or None
        What the censoring distribution is estimated from, where it was given.
    options : dict
        Options of the metric.
    """

    def __init__(self, name: str, y_train: Any, options: dict[str, Any]) -> None:
        self.name = name
        self.y_train = y_train
        self.options = options

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Predict for X and return the score of the predictions; greater is better."""
        recipe = _RECIPES[self.name]
        prediction = _predict(estimator, recipe.predict, X)
        options = dict(self.options, sample_weight=sample_weight)
        if not recipe.weighted_by_censoring:
            return recipe.value(recipe.metric(y, prediction, **options))
        y_train, options["train_weight"] = self._training_outcomes(estimator, y, sample_weight)
        return recipe.value(recipe.metric(y_train, y, prediction, **options))

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"get_scorer({self.name!r}{', y_train=...' if self.y_train is not None else ''}{options})"

    def _training_outcomes(self, estimator: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        """Return the outcomes, and weights, that the censoring distribution is estimated from."""
        if self.y_train is not None:
            return self.y_train, None
        known = training_outcomes(estimator)
        return (y, sample_weight) if known is None else known


def get_scorer(name: str, *, y_train: Any = None, **options: Any) -> SurvivalScorer:
    """Return a scorer by name, to be passed as `scoring=` or called as `scorer(estimator, X, y)`.

    =====================  ==============================================================  =====================
    name                   score, greater = better                                         what is predicted
    =====================  ==============================================================  =====================
    "concordance"          :func:`concordance_index`, Harrell's                            `predict`
    "concordance_exclude"  the same with `ties="exclude"`                                  `predict`
    "concordance_paper"    the same with `tied_times="exclude"`, of predicted medians      `predict_median`
    "concordance_ipcw"     :func:`concordance_index_ipcw`, Uno's                           `predict`
    "auc"                  mean of :func:`cumulative_dynamic_auc`                          `predict`
    "neg_ibs"              minus :func:`integrated_brier_score`                            survival function
    "neg_ibs_paper"        the same with `variant="paper"`                                 survival function
    "neg_ibs_authors"      the same with `variant="authors"`                               survival function
    =====================  ==============================================================  =====================

    They work for every estimator that follows scikit-survival's contract: `predict` returns risks, higher =
    earlier, and `predict_survival_function` functions of time. A pipeline or a fitted search is asked for
    what its last step or its best estimator predicts. "concordance_paper" needs `predict_median(X,
    unreached="mean")`, which the trees of this library have.

    Parameters
    ----------
    name : str
        See the table.
    y_train : outcomes in any accepted form, default=None
        What the censoring distribution is estimated from, for the scores that are weighted by it. scikit-learn
        does not tell a scorer the training outcomes. With None they are taken from the estimator if it knows
        them (the trees and forests of this library do; any other that has an attribute `training_outcome_`), else the
        evaluated rows stand in. In a cross-validation all outcomes may be passed: the distribution of
        censoring is a trait of the study.
    **options
        Options of the metric, such as `times`, `tau`, `left_limit`, `undefined` or `outside`. The last is
        "truncate" unless given: test folds often reach beyond their training folds.

    Examples
    --------
    >>> from dipolar.metrics import get_scorer
    >>> get_scorer("concordance")
    get_scorer('concordance')
    """
    if name not in _RECIPES:
        raise ValueError(
            f"name must be one of {list(SCORER_NAMES)}, got {name!r}. Losses are negated: greater is better."
        )
    known = _option_names(name)
    unknown = sorted(set(options) - known)
    if unknown:
        raise ValueError(f"The scorer {name!r} has no option {unknown[0]!r}; it has {sorted(known)} and y_train.")
    if "outside" in known:
        options.setdefault("outside", "truncate")
    return SurvivalScorer(name, y_train, options)


def scorers(*names: str, y_train: Any = None, **options: Any) -> dict[str, SurvivalScorer]:
    """Return several scorers by name as the dictionary that `scoring=` takes.

    `cross_validate` then reports each as `test_<name>`, and a search needs `refit="<name>"`. Without names all
    that any estimator of scikit-survival's contract can be evaluated by are returned, that is all but
    "concordance_paper". `y_train` and the options are those of :func:`get_scorer`; each scorer takes the
    options that it has, and an option that none of them has is an error.
    """
    names = names or tuple(name for name in SCORER_NAMES if name != "concordance_paper")
    for name in names:
        get_scorer(name)  # refuses an unknown name before its options are asked for
    known = set().union(*map(_option_names, names))
    unknown = sorted(set(options) - known)
    if unknown:
        raise ValueError(f"None of the scorers {list(names)} has an option {unknown[0]!r}; they have {sorted(known)}.")
    return {
        name: get_scorer(name, y_train=y_train, **{o: v for o, v in options.items() if o in _option_names(name)})
        for name in names
    }


def training_outcomes(estimator: Any) -> tuple[Any, Any] | None:
    """Return the outcomes and weights that an estimator was fitted to, where it knows them."""
    estimator = _innermost(estimator)
    outcome = getattr(estimator, "training_outcome_", None)
    if outcome is not None:
        return outcome, None
    for record in ("tree_", "forest_"):
        tables = getattr(getattr(estimator, record, None), "tables", None)
        if isinstance(tables, LifeTables):
            # Together the tables hold every training row.
            survival, weight, _ = tables.rows()
            return survival, weight
    return None


def _predict(estimator: Any, method: str, X: Any) -> Any:
    """Call a prediction method, also of the last step of a pipeline or of a search's best estimator."""
    if not hasattr(estimator, method):
        if hasattr(estimator, "best_estimator_"):
            return _predict(estimator.best_estimator_, method, X)
        if hasattr(estimator, "steps"):
            transformed = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
            return _predict(estimator.steps[-1][1], method, transformed)
        raise TypeError(
            f"{type(estimator).__name__} has no method {method}, which this scorer needs. Use one of the scorers "
            "that are based on 'predict'."
        )
    if method == "predict_median":
        return -np.asarray(estimator.predict_median(X, unreached="mean"))
    return getattr(estimator, method)(X)


def _innermost(estimator: Any) -> Any:
    """Return what is fitted inside searches and pipelines."""
    if hasattr(estimator, "best_estimator_"):
        return _innermost(estimator.best_estimator_)
    if hasattr(estimator, "steps"):
        return _innermost(estimator.steps[-1][1])
    return estimator


def _option_names(name: str) -> set[str]:
    return set(inspect.signature(_RECIPES[name].metric).parameters) - _FILLED_IN
