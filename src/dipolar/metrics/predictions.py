"""Predicted survival curves in the forms that scores accept, as one curve per distinct prediction.

Rows of one leaf share a curve, so that a score needs one curve per leaf and the number of its curve per row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dipolar._core.brier import group_rows
from dipolar.metrics.checks import Rows, as_numbers

__all__ = ["SurvivalPredictions", "check_predictions"]

ACCEPTED_FORMS = (
    "Pass an array of shape (n_samples, n_times), a sequence of n_samples step functions (as "
    "predict_survival_function returns it), or a pair (curves, index) of distinct curves, as an array or as "
    "functions, and the number of the curve of every row."
)

# Cells of a block of curves: what is computed at once takes some tens of megabytes at most.
BLOCK_CELLS = 1 << 20

# How far a probability may leave [0, 1] by rounding.
ROUNDING = 1e-9


class SurvivalPredictions:
    """Distinct predicted curves, and which of them every row has.

    The curves are functions, or rows of an array whose columns belong to a time grid.
    """

    def __init__(self, curves: Any, index: np.ndarray) -> None:
        self.curves = curves  # object array of callables, or float64 array (n_curves, n_times)
        self.index = index  # (n_rows,) int64

    @property
    def is_tabulated(self) -> bool:
        """Whether the curves are known on a time grid only."""
        return isinstance(self.curves, np.ndarray) and self.curves.ndim == 2

    def rows_of_curves(self) -> tuple[np.ndarray, np.ndarray]:
        """Return offsets and rows: curve c belongs to the rows `rows[offset[c]:offset[c + 1]]`."""
        offset, rows = np.empty(len(self.curves) + 1, np.int64), np.empty(len(self.index), np.int64)
        group_rows(self.index, offset, rows)
        return offset, rows

    def blocks(self, times: np.ndarray, kept: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the number of a first curve, and a table of that and the following curves at `times`.

        `kept` marks the columns of a tabulated prediction that belong to `times`.
        """
        step = max(1, BLOCK_CELLS // len(times))
        for start in range(0, len(self.curves), step):
            yield start, self._table(slice(start, start + step), times, kept)

    def at_one_time(self, time: float) -> np.ndarray:
        """Return each row's curve at one time, which a tabulated prediction must be of."""
        tables = [table[:, 0] for _, table in self.blocks(np.array([time]), np.ones(1, dtype=bool))]
        return np.concatenate(tables)[self.index]

    def at_own_times(self, times: np.ndarray) -> np.ndarray:
        """Return each row's curve at that row's own time."""
        values = np.empty(len(times))
        offset, rows = self.rows_of_curves()
        for curve, first, last in zip(self.curves, offset[:-1], offset[1:]):
            if last > first:
                own = rows[first:last]
                values[own] = evaluate(curve, times[own])
        return _check_probabilities(values)

    def _table(self, block: slice, times: np.ndarray, kept: np.ndarray) -> np.ndarray:
        if self.is_tabulated:
            curves = self.curves[block]
            return _check_probabilities(np.ascontiguousarray(curves if kept.all() else curves[:, kept]))
        return _check_probabilities(np.array([evaluate(curve, times) for curve in self.curves[block]]))


def evaluate(curve: Any, times: np.ndarray) -> np.ndarray:
    """Return a step function at `times`; beyond its domain, where it has one, it keeps its last value."""
    domain = getattr(curve, "domain", None)
    if domain is not None and len(times) and (times.max() > domain[1] or times.min() < domain[0]):
        times = np.clip(times, *domain)
    values = as_numbers(curve(times), "survival")
    if values.shape != times.shape:
        raise ValueError(
            f"survival: a function of {len(times)} times should return as many probabilities, got shape {values.shape}."
        )
    return values


def check_predictions(survival: Any, rows: Rows, n_times: int | None) -> SurvivalPredictions:
    """Read predicted survival curves of the rows that count.

    `n_times` is the number of columns that a tabulated prediction must have; None where no times were given.
    """
    n_rows = rows.n_given
    if isinstance(survival, tuple) and len(survival) == 2 and not callable(survival[1]):
        curves, index = _distinct_curves(survival[0]), np.asarray(survival[1])
        _check_index(index, n_rows, len(curves))
    else:
        curves = _distinct_curves(survival)
        if len(curves) != n_rows:
            raise ValueError(
                f"survival should have {n_rows} rows, one per row of y, got {len(curves)}. {ACCEPTED_FORMS}"
            )
        curves, index = _merge_same_objects(curves)
    index = index[rows.origin].astype(np.int64)
    if curves.ndim == 2:
        _check_columns(curves.shape[1], n_times)
    return SurvivalPredictions(curves, index)


def _distinct_curves(survival: Any) -> np.ndarray:
    """Return an object array of functions, or a float64 array with a row per curve."""
    if not hasattr(survival, "__array__") and not isinstance(survival, Iterable):
        raise ValueError(f"survival cannot be read: {type(survival).__name__}. {ACCEPTED_FORMS}")
    entries = np.asarray(survival) if hasattr(survival, "__array__") else list(survival)
    if np.ndim(entries) and len(entries) and callable(entries[0]):
        return _functions(entries)
    values = as_numbers(entries, "survival")
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise ValueError(f"survival has shape {values.shape}. {ACCEPTED_FORMS}")
    return values


def _functions(entries: Any) -> np.ndarray:
    bad = next((number for number, entry in enumerate(entries) if not callable(entry)), None)
    if bad is not None:
        raise ValueError(
            f"survival holds functions, but entry {bad} is {type(entries[bad]).__name__}. {ACCEPTED_FORMS}"
        )
    functions = np.empty(len(entries), dtype=object)
    functions[:] = entries
    return functions


def _merge_same_objects(curves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the curves as they appear; functions that are one object, as those of a leaf are, become one."""
    if curves.ndim == 2:
        return curves, np.arange(len(curves))
    addresses = np.fromiter(map(id, curves.tolist()), dtype=np.uint64, count=len(curves))
    _, first, index = np.unique(addresses, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    number = np.empty(len(first), dtype=np.int64)
    number[appearance] = np.arange(len(first))
    return curves[first[appearance]], number[index.reshape(-1)]


def _check_index(index: np.ndarray, n_rows: int, n_curves: int) -> None:
    if index.shape != (n_rows,) or index.dtype.kind not in "iu":
        raise ValueError(
            f"survival=(curves, index): index should hold one integer per row, shape ({n_rows},), got dtype "
            f"{index.dtype} and shape {index.shape}."
        )
    if n_rows and (index.min() < 0 or index.max() >= n_curves):
        raise ValueError(
            f"survival=(curves, index): index must lie between 0 and {n_curves - 1}, the number of curves less one, "
            f"got values from {index.min()} to {index.max()}."
        )


def _check_columns(n_columns: int, n_times: int | None) -> None:
    if n_times is None:
        raise ValueError(
            "survival is an array, and times says which times its columns belong to: pass times, or pass the step "
            "functions that predict_survival_function returns."
        )
    if n_columns != n_times:
        raise ValueError(f"survival should have one column per time, {n_times} of them, got {n_columns}.")


def _check_probabilities(values: np.ndarray) -> np.ndarray:
    # A NaN makes both of them NaN, and no comparison with NaN holds.
    low, high = values.min(), values.max()
    if not (low >= -ROUNDING and high <= 1 + ROUNDING):
        bad = values[~((values >= -ROUNDING) & (values <= 1 + ROUNDING))]
        raise ValueError(
            f"survival must hold probabilities between 0 and 1, got {bad[0]} ({bad.size} such values). Risks and "
            "cumulative hazards are not probabilities: exp(-hazard) is one."
        )
    return values
