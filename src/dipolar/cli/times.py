"""Times at which survival is told: quartiles of the event times, as numbers that people use."""

from __future__ import annotations

import numpy as np

__all__ = ["time_words", "usual_times"]

QUARTILES = (0.25, 0.5, 0.75)

# What people count in, where the unit is known.
ROUND = {
    "days": (1, 2, 3, 5, 7, 10, 14, 21, 30, 60, 90, 120, 180, 270, 365, 545, 730, 1095, 1460, 1825, 2555, 3650),
    "weeks": (1, 2, 3, 4, 6, 8, 10, 13, 20, 26, 39, 52, 78, 104, 156, 208, 260, 364, 520),
    "months": (1, 2, 3, 6, 9, 12, 18, 24, 30, 36, 48, 60, 72, 84, 96, 120, 180, 240),
    "years": (0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50),
}
DIGITS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 10)


def usual_times(
    time: np.ndarray, event: np.ndarray, time_unit: str | None = None, weight: np.ndarray | None = None
) -> list[float]:
    """Return up to three times near the quartiles of the event times, ascending.

    Parameters
    ----------
    time, event : ndarray of shape (n_samples,)
    time_unit : str, default=None
        Days, weeks, months and years are rounded to what people count in, other times to one or two digits.
    weight : ndarray of shape (n_samples,), default=None
        How often each row counts.
    """
    share = np.where(event, 1.0 if weight is None else weight, 0.0)
    order = np.argsort(time, kind="stable")
    reached = np.cumsum(share[order])
    if not reached[-1] > 0:
        return []
    quartiles = time[order][np.searchsorted(reached, np.multiply(QUARTILES, reached[-1]))]
    rounded = {_rounded(float(quartile), time_unit) for quartile in quartiles}
    return sorted(each for each in rounded if each <= time.max()) or [float(quartiles[1])]


def time_words(time: float) -> str:
    """Write a time as briefly as it can be told from others."""
    return f"{time:.10g}"


def _rounded(time: float, time_unit: str | None) -> float:
    """Return the nearest round number, by ratio."""
    if not time > 0:
        return 0.0
    numbers = np.array(ROUND.get((time_unit or "").lower(), ()), dtype=float)
    if not len(numbers) or not numbers[0] <= time <= numbers[-1]:
        power = 10.0 ** np.floor(np.log10(time))
        with np.errstate(over="ignore"):
            numbers = np.array([float(f"{digit * power:.6g}") for digit in DIGITS])
    with np.errstate(divide="ignore"):
        return float(numbers[np.argmin(np.abs(np.log(numbers) - np.log(time)))])
