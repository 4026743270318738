"""Hyperplanes in round numbers: with as few significant digits as part the same rows.

Coefficients are relative to that of the most influential covariate, which is 1 or -1, and each has the fewest digits
that leave a gap between the sums of the two sides. The threshold is a number of few digits in that gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

import numpy as np

__all__ = ["RoundPlane", "round_plane"]

# Digits that a double has in any case.
MOST_DIGITS = 15

# Sums that differ by less than this fraction of their terms are one number that was added up in another order.
ROUNDING = 1e-12

# Share of the sum that a covariate needs to stay in it: what a solver leaves of others is rounding.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class RoundPlane:
    """Rows go left where the sum of coefficients times covariates is below the threshold."""

    coefficients: np.ndarray
    threshold: float
    tolerance: float  # sums that are less than this below the threshold are at it
    shares: np.ndarray  # of the covariates in the sum, by their mean absolute deviations


def round_plane(X: np.ndarray, is_left: np.ndarray, coefficients: np.ndarray) -> RoundPlane | None:
    """Round a hyperplane; None if 15 digits do not tell its sides.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The rows of a node, as they were given.
    is_left : bool ndarray of shape (n_rows,)
        On which side they are.
    coefficients : ndarray of shape (n_columns,)
        The normal of the hyperplane; lower sums are left.
    """
    spread = np.abs(X - X.mean(axis=0)).mean(axis=0)
    shares = _shares(coefficients, spread)
    exact = np.where(shares > NEGLIGIBLE, coefficients / abs(coefficients[np.argmax(shares)]), 0.0)
    for digits in range(1, MOST_DIGITS + 1):
        rounded = np.array([_round(value, digits) for value in exact])
        if _gap(X, is_left, rounded) is not None:
            break
    else:
        return None
    _shorten_each(X, is_left, rounded, exact, np.argsort(shares, kind="stable"))
    gap = _gap(X, is_left, rounded)
    assert gap is not None
    return RoundPlane(rounded, _threshold(*gap), gap[2], _shares(rounded, spread))


def _shorten_each(
    X: np.ndarray, is_left: np.ndarray, rounded: np.ndarray, exact: np.ndarray, order: np.ndarray
) -> None:
    """Round single coefficients further, in place, until none can lose a digit while the others stay as they are."""
    changed = True
    while changed:
        changed = False
        for column in order:
            for digits in range(1, MOST_DIGITS):
                trial = rounded.copy()
                trial[column] = _round(exact[column], digits)
                if trial[column] == rounded[column]:
                    break
                if _gap(X, is_left, trial) is not None:
                    rounded[column], changed = trial[column], True
                    break


def _gap(X: np.ndarray, is_left: np.ndarray, coefficients: np.ndarray) -> tuple[float, float, float] | None:
    """Return the largest sum on the left, the smallest on the right and the rounding of sums; None if they overlap."""
    sums, sizes = X @ coefficients, np.abs(X) @ np.abs(coefficients)
    below, above = float(sums[is_left].max()), float(sums[~is_left].min())
    tolerance = ROUNDING * float(sizes.max())
    return (below, above, tolerance) if above - below > 4 * tolerance else None


def _threshold(below: float, above: float, tolerance: float) -> float:
    """Return the number with the fewest digits above `below` and not above `above`, the nearest to their middle."""
    half_way = 0.5 * below + 0.5 * above
    middle = Decimal(f"{half_way if abs(half_way) > tolerance else 0.0:.{MOST_DIGITS}g}")
    up = ROUND_HALF_UP if middle > 0 else ROUND_HALF_DOWN  # decimal's "up" is away from 0
    for digits in range(1, MOST_DIGITS):
        threshold = float(middle.quantize(Decimal(1).scaleb(middle.adjusted() + 1 - digits), up))
        if below + 2 * tolerance < threshold <= above + 0.5 * tolerance:
            return threshold
    return float(middle)


def _round(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


def _shares(coefficients: np.ndarray, spread: np.ndarray) -> np.ndarray:
    effect = np.abs(coefficients) * spread
    return effect / effect.sum()
