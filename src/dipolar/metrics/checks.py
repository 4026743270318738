"""The border of the metrics: outcomes with weights, risks and times, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dipolar.survival import Survival, check_outcome
from dipolar.validation import check_sample_weight

__all__ = ["Rows", "check_risk", "check_rows", "check_times"]


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
    weight = check_sample_weight(sample_weight, len(survival))
    origin = np.argsort(survival.time)
    origin = origin[weight[origin] > 0]
    if not len(origin):
        raise ValueError(
            f"{name} has no rows of positive weight ({len(survival)} rows in all), and a score needs at least one."
        )
    return Rows(survival.take(origin), weight[origin], origin, len(survival))


def check_risk(risk: Any, rows: Rows, n_times: int | None = None) -> np.ndarray:
    """Return the risks of the rows that count: one per row or, where `n_times` allows it, one per row and time."""
    values = np.asarray(risk, dtype=np.float64)
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
    values = np.atleast_1d(np.asarray(times, dtype=np.float64))
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
