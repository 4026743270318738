"""The training rows of a model, in one order that does not depend on how they came."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dipolar.scaling import mean_and_deviation
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

    @cached_property
    def standardised(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean and deviation of the covariates, and these less the one by the other; see `mean_and_deviation`."""
        mean, deviation = mean_and_deviation(self.X, self.weight)
        scaled = self.X - mean
        scaled /= deviation
        return mean, deviation, scaled

    @property
    def n_given(self) -> np.ndarray:
        """How many of the given rows each of these is."""
        return np.bincount(self.number[self.number >= 0], minlength=len(self.weight))

    def take(self, chosen: np.ndarray, weight: np.ndarray) -> TrainingRows:
        """Return some of these rows, by their numbers, with other weights of all rows; `number` is not kept."""
        none = np.empty(0, np.int64)
        return TrainingRows(self.X[chosen], self.survival.take(chosen), weight[chosen], self.first[chosen], none)

    def weigh(self, weight: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Return what each of these rows weighs among some of the given rows, chosen by numbers or by a mask."""
        chosen = np.arange(len(weight))[chosen]
        chosen = chosen[self.number[chosen] >= 0]
        return np.bincount(self.number[chosen], weights=weight[chosen], minlength=len(self.weight))


def arrange_rows(X: np.ndarray, survival: Survival, weight: np.ndarray, *, events_first: bool = True) -> TrainingRows:
    """Sort the rows by outcome and covariates, and add up the weights of equal ones.

    What is learnt then depends on which rows were seen how often and on nothing else: not on their order, nor on
    whether a row came twice or with a weight of 2.
    """
    given = np.flatnonzero(weight > 0)
    time, event = survival.time[given], survival.event[given]
    late = ~event if events_first else event
    order = np.lexsort((late, time))
    tied = (np.diff(time[order]) == 0) & (event[order][1:] == event[order][:-1])
    if tied.any():
        # Equal rows by their weights, so that a sum of fractions has one order as well.
        order = _by_covariates(X[given], (late, time), weight[given])
    rows = given[order]
    is_first = np.ones(len(rows), dtype=bool)
    is_first[1:][tied] = ~_same_rows(X, rows[1:][tied], rows[:-1][tied])
    number = np.full(len(weight), -1)
    number[rows] = np.cumsum(is_first) - 1
    first = np.flatnonzero(is_first)
    total = np.add.reduceat(weight[rows], first)
    distinct = X[rows[first]]
    distinct += 0.0  # makes zeros of either sign one number
    return TrainingRows(distinct, survival.take(rows[first]), total, np.minimum.reduceat(rows, first), number)


# By how many covariates tied rows are sorted first.
FIRST_COVARIATES = 64


def _by_covariates(X: np.ndarray, by: tuple[np.ndarray, ...], weight: np.ndarray) -> np.ndarray:
    """Sort rows by outcome, then covariates, the first one first, then weight."""
    leading = X[:, :FIRST_COVARIATES]
    order = np.lexsort((*leading.T[::-1], *by))
    same = _same_rows(leading, order[1:], order[:-1])
    for key in by:
        same &= key[order][1:] == key[order][:-1]
    # Where those do not tell all rows apart, and there are many more, these are rarely needed.
    return np.lexsort((weight, *X.T[::-1], *by)) if same.any() else order


def _same_rows(X: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Tell which pairs of rows have the same covariates; two missing values are the same."""
    same = X[one] == X[other]
    if not same.all():
        same |= np.isnan(X[one]) & np.isnan(X[other])
    return same.all(axis=1)
