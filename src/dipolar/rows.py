"""The training rows of a model, in one order that does not depend on how they came."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dipolar.survival import Survival

__all__ = ["TrainingRows", "arrange_rows"]


@dataclass(frozen=True)
class TrainingRows:
    """Distinct rows sorted by time, in dipole order among equal times; a weight counts how often a row was seen."""

    X: np.ndarray  # (n_rows, n_features) float64, C-contiguous
    survival: Survival
    weight: np.ndarray  # (n_rows,) > 0
    first: np.ndarray  # (n_rows,) int64, the first of the given rows that each of these is
    number: np.ndarray  # (n_samples,) int64, which of these rows each given row is; -1 for rows of weight zero


def arrange_rows(
    X: np.ndarray, survival: Survival, weight: np.ndarray, *, merge: bool = True, events_first: bool = True
) -> TrainingRows:
    """Sort the rows by outcome and covariates and, if they may be merged, add up the weights of equal ones.

    What is learnt then depends on which rows were seen how often and on nothing else: not on their order, nor on
    whether a row came twice or with a weight of 2.
    """
    given = np.flatnonzero(weight > 0)
    time, event = survival.time[given], survival.event[given]
    late = ~event if events_first else event
    order = np.lexsort((late, time))
    tied = (np.diff(time[order]) == 0) & (event[order][1:] == event[order][:-1])
    if tied.any():
        order = np.lexsort((*X[given].T[::-1], late, time))
    rows = given[order]
    is_first = np.ones(len(rows), dtype=bool)
    if merge and tied.any():
        is_first[1:][tied] = ~_same_rows(X, rows[1:][tied], rows[:-1][tied])
    number = np.full(len(weight), -1)
    number[rows] = np.cumsum(is_first) - 1
    first = np.flatnonzero(is_first)
    total = np.add.reduceat(weight[rows], first)
    return TrainingRows(X[rows[first]], survival.take(rows[first]), total, rows[first], number)


def _same_rows(X: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Tell which pairs of rows have the same covariates; two missing values are the same."""
    same = X[one] == X[other]
    if not same.all():
        same |= np.isnan(X[one]) & np.isnan(X[other])
    return same.all(axis=1)
