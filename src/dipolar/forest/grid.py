"""The times at which the curves of a forest are averaged."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from dipolar.parameters import check_number
from dipolar.quantiles import thin_out
from dipolar.survival import LARGEST_TIME

__all__ = ["grid_of_curves"]


def grid_of_curves(grid: Any, events: np.ndarray) -> np.ndarray:
    """Return what the parameter `time_grid` stands for, given the distinct event times."""
    if grid is None:
        return events
    hint = "None takes every event time, an integer that many of their quantiles, an array its own times."
    if isinstance(grid, Integral) and not isinstance(grid, bool):
        size = int(check_number("time_grid", grid, low=1, whole=True, hint=hint))
        return thin_out(events, size)
    try:
        times = np.unique(np.asarray(grid, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"time_grid must be None, an integer or an array of times, got {grid!r}. {hint}") from error
    if not len(times) or np.ndim(grid) != 1 or not ((times >= 0) & (times <= LARGEST_TIME)).all():
        raise ValueError(f"time_grid must hold times from 0 to {LARGEST_TIME:g}, got {grid!r}. {hint}")
    return times
