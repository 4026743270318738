"""What the report says in numbers about data and model: outcomes, covariates, scores, parameters."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import _safe_indexing

from dipolar.curves import LifeTables, tabulate
from dipolar.metrics import concordance_index, integrated_brier_score
from dipolar.report.columns import ColumnValues, describe_values, known_values, read_values
from dipolar.report.model import numbers
from dipolar.survival import Survival, check_outcome, survival_outcome
from dipolar.tree.described import Described
from dipolar.validation import check_predict_data, check_sample_weight

__all__ = [
    "GivenRows",
    "describe_covariates",
    "describe_outcome",
    "describe_parameters",
    "describe_scores",
    "score_rows",
]

# A parameter's value is cut after this many characters.
LONGEST_VALUE = 120


@dataclass(frozen=True)
class GivenRows:
    """Rows that the report is about, checked and sent down the tree; rows of weight zero are left out."""

    X: Any  # as given
    y: np.ndarray  # the outcome as a structured array
    columns: list[ColumnValues]
    survival: Survival
    weight: np.ndarray
    grown_leaf: np.ndarray  # position among the leaves of the grown tree
    leaf: np.ndarray  # position among the leaves of the fitted tree
    is_training: bool  # whether they are what the tree was fitted to, as far as its leaves can tell

    @classmethod
    def check(cls, described: Described, X: Any, y: Any, sample_weight: Any) -> GivenRows:
        """Check covariates, outcomes and weights against a fitted tree, or a pipeline of an encoder and one."""
        tree, _, encoder = described
        table = X
        X = check_predict_data(tree, described.covariates(X), allow_nan=tree._allow_nan)
        survival = check_outcome(y, require_event=False)
        if len(X) != len(survival):
            raise ValueError(f"X and y should have the same length, got {len(X)} and {len(survival)} rows.")
        weight = check_sample_weight(sample_weight, len(X))
        seen = weight > 0
        if not seen.any():
            raise ValueError("sample_weight is zero in every row. At least one row needs a positive weight.")
        known = X if encoder is None else known_values(encoder, table)
        columns = read_values(described, known[seen])
        table = _safe_indexing(table, np.flatnonzero(seen))
        X, survival, weight = X[seen], survival.take(seen), weight[seen]
        grown_leaf = tree.grown_.leaf_of(X)
        is_training = _same_tables(tree.grown_.tables, survival, weight, grown_leaf)
        y = survival_outcome(survival.time, survival.event)
        return cls(table, y, columns, survival, weight, grown_leaf, tree.tree_.leaf_of(X), is_training)

    @property
    def label(self) -> str:
        return "training data" if self.is_training else "data given"


def _same_tables(tables: LifeTables, survival: Survival, weight: np.ndarray, leaf: np.ndarray) -> bool:
    """Tell whether rows fill the leaves with the life tables that the tree has."""
    if len(np.unique(leaf)) < len(tables):
        return False
    filled = tabulate(survival, weight, leaf, len(tables))
    return all(
        mine.shape == its.shape and np.allclose(mine, its, rtol=1e-9, atol=0)
        for mine, its in (
            (filled.time, tables.time),
            (filled.events, tables.events),
            (filled.censored, tables.censored),
        )
    )


def training_rows(tree: Any) -> tuple[Survival, np.ndarray, np.ndarray]:
    """Return outcomes, weights and leaves of the training rows, which the life tables of the leaves hold."""
    return tree.tree_.tables.rows()


def describe_outcome(survival: Survival, weight: np.ndarray, label: str) -> dict[str, Any]:
    """Return counts and follow-up of some rows; the median follow-up is that of the reverse Kaplan-Meier curve."""
    reverse = tabulate(Survival(survival.time, ~survival.event), weight)[0]
    return {
        "label": label,
        "n": float(weight.sum()),
        "events": float(weight[survival.event].sum()),
        "median_follow_up": numbers([reverse.median()])[0],
        "total_time": float(weight @ survival.time),
    }


def describe_covariates(given: GivenRows) -> list[dict[str, Any]]:
    """Return one summary per column."""
    return [describe_values(column, given.weight) for column in given.columns]


def describe_scores(tree: Any, given: GivenRows | None) -> list[dict[str, Any]]:
    """Return the scores of the fitted tree on its training rows and, if they are others, on the rows given."""
    survival, weight, leaf = training_rows(tree)
    columns = [score_rows(tree, "training data", survival, weight, leaf)]
    if given is not None and not given.is_training:
        columns.append(score_rows(tree, given.label, given.survival, given.weight, given.leaf))
    return columns


def score_rows(tree: Any, label: str, survival: Survival, weight: np.ndarray, leaf: np.ndarray) -> dict[str, Any]:
    y = survival.time, survival.event
    train, train_weight, _ = training_rows(tree)
    tables = list(tree.tree_.tables)
    medians = np.array([table.median("mean") for table in tables])
    curves = [table.survival_function() for table in tables], leaf
    risk = tree.leaf_risk_[leaf]
    options = {"sample_weight": weight}
    of_medians = options | {"ties": "exclude", "tied_times": "exclude"}
    of_curves = options | {"train_weight": train_weight}
    everybody = [tabulate(train, train_weight)[0].survival_function()], np.zeros(len(survival), dtype=np.int64)
    return {
        "label": label,
        "n": float(weight.sum()),
        "events": float(weight[survival.event].sum()),
        "harrell": _attempt(concordance_index, y, risk, **options),
        "paper": _attempt(concordance_index, y, -medians[leaf], **of_medians),
        "ibs": _attempt(integrated_brier_score, (train.time, train.event), y, curves, **of_curves),
        "ibs_of_one_curve": _attempt(integrated_brier_score, (train.time, train.event), y, everybody, **of_curves),
    }


def _attempt(score: Callable[..., float], *data: Any, **options: Any) -> dict[str, Any]:
    """Return a score, or why these rows have none."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UndefinedMetricWarning)
        try:
            return {"value": float(score(*data, **options)), "reason": None}
        except (ValueError, UndefinedMetricWarning) as error:
            return {"value": None, "reason": str(error)}


def describe_parameters(model: BaseEstimator, prefix: str = "") -> list[dict[str, Any]]:
    """Return every parameter of a model as text, and whether it was left at its default.

    Instead of a machine that the model was given there are its parameters, called `svm__kappa` and so on.
    """
    defaults = {name: p.default for name, p in inspect.signature(type(model).__init__).parameters.items()}
    described = []
    for name, value in model.get_params(deep=False).items():
        if isinstance(value, BaseEstimator):
            described += describe_parameters(value, f"{prefix}{name}__")
        else:
            is_default = _same(value, defaults.get(name))
            described.append({"name": prefix + name, "value": _shorten(repr(value)), "is_default": is_default})
    return described


def _same(value: Any, default: Any) -> bool:
    """Tell whether two parameters are equal; 1 and 1.0 are, 1 and True are not."""
    plain = all(isinstance(number, int | float) and not isinstance(number, bool) for number in (value, default))
    return value == default if plain else repr(value) == repr(default)


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
