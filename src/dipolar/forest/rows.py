"""The training rows of a forest, in one order that does not depend on how they came."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dipolar.survival import Survival

__all__ = ["ForestRows", "arrange_rows"]


@dataclass(frozen=True)
class ForestRows:
    """Distinct rows sorted by time, events first among equal times; a weight counts how often a row was seen."""

    X: np.ndarray  # (n_rows, n_features) float64, C-contiguous
    survival: Survival
    weight: np.ndarray  # (n_rows,) > 0
    number: np.ndarray  # (n_samples,) int64, which of these rows each given row is; -1 for rows of weight zero


def arrange_rows(X: np.ndarray, survival: Survival, weight: np.ndarray) -> ForestRows:
    """Sort the rows by outcome and covariates and add up the weights of equal ones.

    What a forest draws then depends on which rows were seen how often and on nothing else: not on their order, nor on
    whether a row came twice or with a weight of 2.
    """
    n_samples, given = len(weight), np.flatnonzero(weight > 0)
    time, event = survival.time[given], survival.event[given]
    order = np.lexsort((~event, time))
    tied = (np.diff(time[order]) == 0) & (event[order][1:] == event[order][:-1])
    if tied.any():
        order = np.lexsort((*X[given].T[::-1], ~event, time))
    rows = given[order]
    X, survival, weight = X[rows], survival.take(rows), weight[rows]
    equal = (np.diff(survival.time) == 0) & (survival.event[1:] == survival.event[:-1]) & (X[1:] == X[:-1]).all(axis=1)
    is_first = np.concatenate(([True], ~equal))
    number = np.full(n_samples, -1)
    number[rows] = np.cumsum(is_first) - 1
    first = np.flatnonzero(is_first)
    return ForestRows(X[first], survival.take(first), np.add.reduceat(weight, first), number)
