"""Predictions for many rows, block by block, so that no table of the curves of all rows is ever there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from joblib import delayed, effective_n_jobs

from dipolar._core.ensemble import fill_areas
from dipolar.parallel import run_tasks

__all__ = ["Predict", "areas_under", "by_blocks"]

# Cells of a table of curves that one worker computes at a time, and all of them together: 16 and 64 MB.
BLOCK_CELLS = 1 << 21
MOST_CELLS = 1 << 23

Predict = Callable[[np.ndarray], np.ndarray]


def by_blocks(
    X: np.ndarray, predict: Predict, n_cells: int, n_jobs: int | None, shape: tuple[int, ...] = ()
) -> np.ndarray:
    """Predict block by block of rows, in threads; a row takes `n_cells` cells, and its prediction has a shape."""
    n_workers = max(1, effective_n_jobs(n_jobs))
    step = max(1, min(BLOCK_CELLS, MOST_CELLS // n_workers) // (n_cells + X.shape[1]))
    blocks = [slice(start, start + step) for start in range(0, len(X), step)]
    result = np.empty((len(X), *shape))

    def fill(block: slice) -> None:
        result[block] = predict(X[block])

    for _ in run_tasks([delayed(fill)(block) for block in blocks], n_jobs, require="sharedmem"):
        pass
    return result


def areas_under(curves: np.ndarray, times: np.ndarray, horizon: float) -> np.ndarray:
    """Return the areas under step functions of value 1 at first, from 0 to `horizon`."""
    edges = np.minimum(np.concatenate(([0.0], times, [max(horizon, times[-1])])), horizon)
    areas = np.empty(len(curves))
    fill_areas(curves, np.diff(edges), areas)
    return areas
