"""Univariate cuts on drawn covariates."""

from __future__ import annotations

import numpy as np

from dipolar._core.growth import CUT_FIELDS, find_axis_cuts, keep_sampled
from dipolar._core.logrank import EXPONENTIAL
from dipolar.curves import tabulate
from dipolar.forest.drawing import draw_orders
from dipolar.survival import Survival
from dipolar.tree.splits import AXIS_FIELDS, AxisCuts
from dipolar.tree.splitter import GrowthLimits

__all__ = ["AxisFinder", "sort_columns"]


def sort_columns(X: np.ndarray) -> np.ndarray:
    """Return the rows sorted by each covariate, missing values last, and once as they are: (n_features + 1, n)."""
    n, n_features = X.shape
    orders = np.empty((n_features + 1, n), dtype=np.int32)
    for feature in range(n_features):
        orders[feature] = np.argsort(X[:, feature], kind="stable")
    orders[-1] = np.arange(n)
    return orders


class AxisFinder:
    """Tries every cut of the covariates that are drawn for a node.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n)
        Covariates of all rows.
    all_orders : ndarray of shape (n_features + 1, n)
        Made by :func:`sort_columns`, once for all trees.
    survival, weight : Survival, ndarray
        Outcomes of all rows, sorted by time, and how often each row is in the sample.
    limits : GrowthLimits
    family, exponents : int, tuple of float
        Of `dipolar._core.logrank`.
    max_features : int
        How many covariates that vary in a node are tried there.
    rng : Generator
    """

    def __init__(
        self,
        columns: np.ndarray,
        all_orders: np.ndarray,
        survival: Survival,
        weight: np.ndarray,
        limits: GrowthLimits,
        family: int,
        exponents: tuple[float, float],
        max_features: int,
        rng: np.random.Generator,
    ) -> None:
        n = len(weight)
        self.orders = np.empty((len(all_orders), np.count_nonzero(weight)), np.int32)
        keep_sampled(all_orders, weight, self.orders)
        self.goes_left = np.zeros(n, dtype=bool)
        self._columns, self._rng, self._max_features = columns, rng, max_features
        self._outcome = survival.time, survival.event, weight, _baseline_exposure(survival, weight, family)
        self._limits = np.array([limits.min_samples_leaf, limits.min_events_leaf])
        self._criterion = family, *exponents
        self._scratch = (
            np.empty(n, dtype=np.int32), np.empty(n), np.empty(n), np.empty((5, n + 2)), np.empty((n + 2, 2)),
        )  # fmt: skip
        self._cuts: list[np.ndarray] = []

    def find(self, start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        drawn = draw_orders(len(start), len(self._columns), self._max_features, self._rng)
        cuts = np.empty((len(start), CUT_FIELDS))
        find_axis_cuts(
            self._columns, self.orders, start, stop, drawn, self._max_features, *self._outcome, self._limits,
            *self._criterion, *self._scratch, self.goes_left, cuts,
        )  # fmt: skip
        self._cuts.append(cuts)
        return np.where(cuts[:, 1] >= 0, cuts[:, 0], 0.0), cuts[:, 4]

    def freeze(self, found: np.ndarray) -> AxisCuts:
        leaf = np.array([[0.0, -1.0, np.nan, 0.0, 0.0, 0.0]])
        cuts = np.concatenate((*self._cuts, leaf))[found]  # -1, a leaf, takes the last one
        return AxisCuts(*(cuts[:, slot].astype(dtype) for slot, dtype in zip((1, 2, 3, 5), AXIS_FIELDS.values())))


def _baseline_exposure(survival: Survival, weight: np.ndarray, family: int) -> np.ndarray:
    """Return weight times the sample's Nelson-Aalen estimate at each row's time (LeBlanc and Crowley 1992)."""
    if family != EXPONENTIAL:
        return np.zeros(len(weight))
    rows = weight > 0
    hazard = tabulate(survival.take(rows), weight[rows])[0].cumulative_hazard_function()
    return weight * hazard(survival.time)
