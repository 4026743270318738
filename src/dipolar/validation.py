"""The border of the estimators: covariates and sample weights, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from dipolar.survival import Survival, check_outcome

__all__ = ["check_fit_data", "check_predict_data", "check_sample_weight", "check_weighted_outcome"]

# How many columns with missing values an error message lists.
COLUMNS_SHOWN = 8

# Squares of covariates, and sums of them, have to stay finite.
LARGEST_COVARIATE = 1e75

# Weights count rows: their sum has to be exact in floating point, and a product of two must not vanish beside it.
LARGEST_TOTAL = 2.0**53
SMALLEST_WEIGHT = 1e-12


def check_fit_data(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    allow_nan: bool = False,
    drop_unseen: bool = True,
) -> tuple[np.ndarray, Survival, np.ndarray]:
    """Check what `fit` was given; return float64 covariates, outcomes and weights of equal length.

    A weight counts how often a row was seen, so rows of weight zero are absent from the result, unless `drop_unseen` is
    False because row numbers (of folds, say) have to keep their meaning.
    """
    X = validate_data(estimator, X, dtype=np.float64, order="C", ensure_all_finite=False)
    _require_numbers(X, getattr(estimator, "feature_names_in_", None), allow_nan)
    survival, weight = check_weighted_outcome(y, sample_weight, X)
    seen = weight > 0
    if drop_unseen and not seen.all():
        return X[seen], survival.take(seen), weight[seen]
    return X, survival, weight


def check_weighted_outcome(y: Any, sample_weight: Any, X: np.ndarray) -> tuple[Survival, np.ndarray]:
    """Check the outcomes and weights of the rows of X.

    Rows of weight zero leave no trace: there has to be an event without them, and it does not depend on them which
    times are equal up to rounding.
    """
    survival = check_outcome(y, require_event=False, join=False)
    check_consistent_length(X, survival.time)
    weight = check_sample_weight(sample_weight, len(X))
    _require_counts(weight)
    seen = weight > 0
    if not seen.any():
        raise ValueError("sample_weight is zero in every row. At least one row needs a positive weight.")
    survival.time[seen] = check_outcome(survival.take(seen)).time
    return survival, weight


def check_predict_data(estimator: Any, X: Any, *, allow_nan: bool = False) -> np.ndarray:
    """Check the covariates that a fitted estimator is to predict for."""
    X = validate_data(estimator, X, dtype=np.float64, order="C", ensure_all_finite=False, reset=False)
    _require_numbers(X, getattr(estimator, "feature_names_in_", None), allow_nan)
    return X


def check_sample_weight(sample_weight: Any, n_samples: int) -> np.ndarray:
    """Return float64 weights, one per row; None counts every row once."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight", ensure_min_samples=0
    )
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight should have one value per row, shape ({n_samples},), got shape {weight.shape}."
        )
    negative = np.flatnonzero(weight < 0)
    if len(negative):
        raise ValueError(
            f"sample_weight must not be negative, got {weight[negative[0]]} in row {negative[0]} "
            f"({len(negative)} such rows). A weight says how often a row counts."
        )
    return weight


def _require_counts(weight: np.ndarray) -> None:
    """Refuse weights that cannot be summed and multiplied like counts of rows."""
    faint = np.flatnonzero((weight > 0) & (weight < SMALLEST_WEIGHT))
    with np.errstate(over="ignore"):
        total = weight.sum()
    if len(faint) or total > LARGEST_TOTAL:
        fault = f"{weight[faint[0]]:g} in row {faint[0]}" if len(faint) else f"a sum of {total:g}"
        raise ValueError(
            f"sample_weight must be 0 or at least {SMALLEST_WEIGHT:g}, and sum to at most {LARGEST_TOTAL:g}, got "
            f"{fault}. A weight says how often a row counts: multiply all of them by one factor, and set negligible "
            "ones to 0."
        )


def _require_numbers(X: np.ndarray, names: Any, allow_nan: bool) -> None:
    infinite = np.isinf(X).sum(axis=0)
    if infinite.any():
        raise ValueError(
            f"X contains infinity (inf): {_column_counts(infinite, names)}. "
            "Replace infinite values before fitting or predicting."
        )
    large = (np.abs(X) > LARGEST_COVARIATE).sum(axis=0)
    if large.any():
        raise ValueError(
            f"X holds values beyond {LARGEST_COVARIATE:g}: {_column_counts(large, names)}. Use other units, or scale "
            "these columns, for example with sklearn.preprocessing.RobustScaler."
        )
    missing = np.isnan(X).sum(axis=0)
    if missing.any() and not allow_nan:
        raise ValueError(
            f"X contains NaN: {_column_counts(missing, names)}. Impute them first, for example "
            "make_pipeline(sklearn.impute.SimpleImputer(strategy='median'), estimator), or drop the rows."
        )


def _column_counts(counts: np.ndarray, names: Any) -> str:
    columns = np.flatnonzero(counts)
    shown = ", ".join(
        f"{names[column] if names is not None else f'column {column}'} ({counts[column]})"
        for column in columns[:COLUMNS_SHOWN]
    )
    more = f" and {len(columns) - COLUMNS_SHOWN} more columns" if len(columns) > COLUMNS_SHOWN else ""
    return shown + more
