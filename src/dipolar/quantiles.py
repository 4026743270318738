"""Quantiles of weighted values, where a weight counts how often a value was seen."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

__all__ = ["pairwise_distance_quantile", "thin_out", "weighted_quantile"]

# Up to this many rows every pair is measured; beyond it, this many pairs drawn at random are.
MAX_ROWS_ALL_PAIRS = 1000
N_DRAWN_PAIRS = 500_000


def weighted_quantile(values: np.ndarray, weight: np.ndarray, quantile: float) -> float:
    """Interpolated quantile (R's type 7, numpy's default) of values that count `weight` times each."""
    last = len(values) - 1
    if (weight == 1.0).all():
        position = quantile * last
        below, above = int(position), min(last, int(position) + 1)
        parted = np.partition(values, (below, above))
        lower, upper = parted[below], parted[above]
    else:
        order = np.argsort(values, kind="stable")
        values, cumulative = values[order], np.cumsum(weight[order])
        position = max(0.0, quantile * (cumulative[-1] - 1.0))
        lower = values[min(last, np.searchsorted(cumulative, position, side="right"))]
        upper = values[min(last, np.searchsorted(cumulative, position + 1.0, side="right"))]
    return float(lower + (position - np.floor(position)) * (upper - lower))


def thin_out(values: np.ndarray, size: int) -> np.ndarray:
    """Return at most `size` of the values, at even ranks, first and last included."""
    if len(values) <= size:
        return values
    return values[np.round(np.linspace(0, len(values) - 1, size)).astype(np.int64)]


def pairwise_distance_quantile(X: np.ndarray, weight: np.ndarray, quantile: float, rng: np.random.Generator) -> float:
    """Quantile of the Euclidean distances between rows that differ; 1 where no two rows do.

    Up to 1000 rows all pairs are measured. Beyond that 500,000 pairs are drawn with replacement, each row with a
    probability proportional to its weight: the standard error of the quantile's rank is then below 0.1 percent.
    """
    n = len(X)
    if n <= MAX_ROWS_ALL_PAIRS:
        squares = pdist(X, "sqeuclidean")
        pair_weight = _pair_weights(weight)
    else:
        cumulative = np.cumsum(weight)
        first, second = np.searchsorted(cumulative, rng.uniform(0, cumulative[-1], (2, N_DRAWN_PAIRS)))
        first, second = np.minimum(first, n - 1), np.minimum(second, n - 1)
        pair_weight = np.ones(N_DRAWN_PAIRS)
        squares = np.zeros(N_DRAWN_PAIRS)
        for column in X.T:
            squares += (column[first] - column[second]) ** 2
    differ = squares > 0
    if not differ.any():
        return 1.0
    return weighted_quantile(np.sqrt(squares[differ]), pair_weight[differ], quantile)


def _pair_weights(weight: np.ndarray) -> np.ndarray:
    """Return the product of the weights of every two rows, in the order of `pdist`."""
    n = len(weight)
    if (weight == 1.0).all():
        return np.ones(n * (n - 1) // 2)
    first, second = np.triu_indices(n, k=1)
    return weight[first] * weight[second]
