"""The scale of covariates: mean and standard deviation, as the rows that are learnt from have them."""

from __future__ import annotations

import numpy as np

__all__ = ["SMALLEST_SPREAD", "mean_and_deviation", "require_spread"]

# A covariate whose values differ by less does not vary: the squares of its deviations would vanish.
SMALLEST_SPREAD = 1e-75

# Covariates that are looked at together: what is made of more than these leaves the cache.
COLUMNS_AT_A_TIME = 512


def mean_and_deviation(X: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what to subtract from each covariate and what to divide it by; a constant one is divided by 1."""
    if X.shape[1] > COLUMNS_AT_A_TIME:
        parts = np.array_split(X, -(-X.shape[1] // COLUMNS_AT_A_TIME), axis=1)
        means, deviations = zip(*(mean_and_deviation(part, weight) for part in parts))
        return np.concatenate(means), np.concatenate(deviations)
    mean = np.average(X, axis=0, weights=weight)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    varies = (X.max(axis=0) > X.min(axis=0)) & (deviation >= SMALLEST_SPREAD)
    return mean, np.where(varies, deviation, 1.0)


def require_spread(X: np.ndarray) -> None:
    """Refuse covariates that vary, but by so little that their squares vanish."""
    spread = float(np.ptp(X, axis=0).max(initial=0.0))
    if 0 < spread < SMALLEST_SPREAD:
        raise ValueError(
            f"X varies by at most {spread:g}, and the squares of such numbers cannot be told from 0. Use other units: "
            "multiply X by a large number."
        )
