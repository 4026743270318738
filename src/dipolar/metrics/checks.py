"""The border of the metrics: outcomes with weights, risks and times, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dipolar.survival import Survival, check_outcome
from dipolar.validation import check_sample_weight

__all__ = ["Rows", "as_numbers", "check_labels", "check_risk", "check_rows", "check_times"]

# What the weights of some outcomes are called.
WEIGHT_NAMES = {"y_train": "train_weight"}


@dataclass(frozen=True, eq=False)
class Rows:
    """Checked outcomes by ascending time, with positive weights, and which of the rows passed in they are."""

    survival: Survival
    weight: np.ndarray  # (n_rows,) float64, > 0
    origin: np.ndarray  # (n_rows,) number of the row passed in; rows of weight zero are absent
    n_given: int  # number of rows passed in

    @property
    def time(self) -> np.ndarray:
        return self.survival.time

    @property
    def event(self) -> np.ndarray:
        return self.survival.event

    def __len__(self) -> int:
        return len(self.weight)


def check_rows(y: Any, sample_weight: Any = None, name: str = "y") -> Rows:
    """Read outcomes and weights; rows of weight zero are left out, events are not required."""
    survival = check_outcome(y, require_event=False)
    weight = check_sample_weight(sample_weight, len(survival), WEIGHT_NAMES.get(name, "sample_weight"))
    origin = np.argsort(survival.time)
    origin = origin[weight[origin] > 0]
    if not len(origin):
        raise ValueError(
            f"{name} has no rows of positive weight ({len(survival)} rows in all), and a score needs at least one."
        )
    return Rows(survival.take(origin), weight[origin], origin, len(survival))


def as_numbers(values: Any, name: str) -> np.ndarray:
    """Return values as a float64 array."""
    try:
        array = np.asarray(values)
        if array.dtype.kind != "c":
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} should be an array of numbers: {error}") from error
    raise ValueError(f"{name} should be an array of real numbers, got dtype {array.dtype}.")


def check_labels(groups: Any, rows: Rows, others: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the groups of the rows that count, ascending, and the number of each row's group."""
    try:
        labels = np.asarray(groups)
    except ValueError as error:
        raise ValueError(f"groups should hold one label per row: {error}") from error
    if labels.shape != (rows.n_given,):
        raise ValueError(
            f"groups should {others}hold one label per row, shape ({rows.n_given},), got shape {labels.shape}."
        )
    try:
        names, number = np.unique(labels[rows.origin], return_inverse=True)
    except TypeError as error:
        raise ValueError(f"groups should hold labels of one kind, such as numbers or text: {error}") from error
    return names, number.reshape(-1)


def check_risk(risk: Any, rows: Rows, n_times: int | None = None) -> np.ndarray:
    """Return the risks of the rows that count: one per row or, where `n_times` allows it, one per row and time."""
    values = as_numbers(risk, "risk")
    shapes = [(rows.n_given,)] + ([] if n_times is None else [(rows.n_given, n_times)])
    if values.shape not in shapes:
        raise ValueError(
            f"risk should have shape {' or '.join(map(str, shapes))}, one value per row of y, got {values.shape}."
        )
    missing = np.flatnonzero(np.isnan(values.reshape(len(values), -1)).any(axis=1))
    if len(missing):
        raise ValueError(
            f"risk is NaN in {len(missing)} rows, the first of them row {missing[0]}. A row without a prediction "
            "cannot be ranked: drop it from risk and y, or predict it."
        )
    return values[rows.origin]


def check_times(times: Any) -> np.ndarray:
    """Return a time grid: finite, not negative, strictly ascending."""
    values = np.atleast_1d(as_numbers(times, "times"))
    if values.ndim != 1 or not len(values):
        raise ValueError(f"times should be a non-empty one-dimensional grid, got shape {values.shape}.")
    if not np.isfinite(values).all() or values[0] < 0:
        raise ValueError(f"times must be finite and not negative, got {values[(values < 0) | ~np.isfinite(values)]}.")
    if (np.diff(values) <= 0).any():
        raise ValueError(
            "times must ascend strictly. np.unique(times) does that; the columns of predicted probabilities, if "
            "any, have to follow the same order."
        )
    return values
