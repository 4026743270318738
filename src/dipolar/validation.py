"""The border of the estimators: covariates and sample weights, checked once."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from dipolar.survival import Survival, check_outcome

__all__ = ["check_fit_data", "check_predict_data", "check_sample_weight", "check_weighted_outcome"]

# How many columns with missing values an error message lists.
COLUMNS_SHOWN = 8

# What makes numbers of columns as people have them. It stands further out, and is named only.
WITH_ENCODER = "dipolar.make_pipeline(dipolar.CovariateEncoder(), estimator)"

DATE_TYPES = ("datetime", "date", "timedelta", "duration")

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
    X = _as_numbers(estimator, X, reset=True)
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
    seen = weight > 0
    if not seen.any():
        raise ValueError("sample_weight is zero in every row. At least one row needs a positive weight.")
    survival.time[seen] = check_outcome(survival.take(seen)).time
    return survival, weight


def check_predict_data(estimator: Any, X: Any, *, allow_nan: bool = False) -> np.ndarray:
    """Check the covariates that a fitted estimator is to predict for."""
    X = _as_numbers(estimator, X, reset=False)
    _require_numbers(X, getattr(estimator, "feature_names_in_", None), allow_nan)
    return X


def check_sample_weight(sample_weight: Any, n_samples: int, name: str = "sample_weight") -> np.ndarray:
    """Return float64 weights, one per row, that can be summed and multiplied; None counts every row once."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name=name, ensure_min_samples=0)
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise ValueError(f"{name} should have one value per row, shape ({n_samples},), got shape {weight.shape}.")
    negative = np.flatnonzero(weight < 0)
    if len(negative):
        raise ValueError(
            f"{name} must not be negative, got {weight[negative[0]]} in row {negative[0]} "
            f"({len(negative)} such rows). A weight says how often a row counts."
        )
    _require_counts(weight, name)
    return weight


def _require_counts(weight: np.ndarray, name: str) -> None:
    """Refuse weights that cannot be summed and multiplied like counts of rows."""
    faint = np.flatnonzero((weight > 0) & (weight < SMALLEST_WEIGHT))
    with np.errstate(over="ignore"):
        total = weight.sum()
    if len(faint) or total > LARGEST_TOTAL:
        fault = f"{weight[faint[0]]:g} in row {faint[0]}" if len(faint) else f"a sum of {total:g}"
        raise ValueError(
            f"{name} must be 0 or at least {SMALLEST_WEIGHT:g}, and sum to at most {LARGEST_TOTAL:g}, got "
            f"{fault}. A weight says how often a row counts: multiply all of them by one factor, and set negligible "
            "ones to 0."
        )


def _as_numbers(estimator: Any, X: Any, *, reset: bool) -> np.ndarray:
    """Return X as float64; an error says which columns have cells that are no numbers."""
    if _has_dates(X):  # NumPy would take them for nanoseconds
        _refuse_other_cells(X)
    try:
        return validate_data(estimator, X, dtype=np.float64, order="C", ensure_all_finite=False, reset=reset)
    except (TypeError, ValueError):
        _refuse_other_cells(X)
        raise


def _has_dates(X: Any) -> bool:
    dtypes = getattr(X, "dtypes", [getattr(X, "dtype", None)])
    return any(str(dtype).lower().startswith(DATE_TYPES) for dtype in dtypes)


def _refuse_other_cells(X: Any) -> None:
    """Raise ValueError if columns of X hold text, dates, or gaps that are no NaN."""
    others = [(name, next(filter(_is_other, cells), None)) for name, cells in _listed_columns(X)]
    found = [
        f"{name} ({cell!r:.40})" if isinstance(cell, str) else f"{name} ({cell!s:.40})"
        for name, cell in others
        if cell is not None
    ]
    if found:
        more = f" and {len(found) - COLUMNS_SHOWN} more columns" if len(found) > COLUMNS_SHOWN else ""
        raise ValueError(
            f"X has columns that are not numbers: {', '.join(found[:COLUMNS_SHOWN])}{more}. Make numbers of them, for "
            f"example with {WITH_ENCODER}."
        )


def _listed_columns(X: Any) -> list[tuple[str, list[Any]]]:
    """Return the names and cells of the columns of a DataFrame, or of an array of any objects."""
    if hasattr(X, "iloc") and X.ndim == 2:
        return [(str(name), X.iloc[:, place].tolist()) for place, name in enumerate(X.columns)]
    if hasattr(X, "get_columns"):
        return [(series.name, series.to_list()) for series in X.get_columns()]
    try:
        table = np.asarray(X)
    except ValueError:  # rows of several lengths
        return []
    is_other = table.ndim == 2 and table.dtype.kind in "OUSMm"
    return [(f"column {place}", table[:, place].tolist()) for place in range(table.shape[1])] if is_other else []


def _is_other(cell: Any) -> bool:
    if isinstance(cell, str | bytes):
        try:
            float(cell)
        except ValueError:
            return True
        return False
    return isinstance(cell, datetime.date | datetime.timedelta) or type(cell).__name__ in ("NAType", "NaTType")


def _require_numbers(X: np.ndarray, names: Any, allow_nan: bool) -> None:
    if X.size and max(X.max(), -X.min()) <= LARGEST_COVARIATE:
        return  # a NaN would make that False
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
            f"X contains NaN: {_column_counts(missing, names)}. Fill them, for example "
            f"with {WITH_ENCODER}, or drop the rows."
        )


def _column_counts(counts: np.ndarray, names: Any) -> str:
    columns = np.flatnonzero(counts)
    shown = ", ".join(
        f"{names[column] if names is not None else f'column {column}'} ({counts[column]})"
        for column in columns[:COLUMNS_SHOWN]
    )
    more = f" and {len(columns) - COLUMNS_SHOWN} more columns" if len(columns) > COLUMNS_SHOWN else ""
    return shown + more
