"""Univariate cuts on drawn covariates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dipolar._core.growth import CUT_FIELDS, CUT_LOGRANK, MISSING_SEEN, find_axis_cuts, keep_sampled
from dipolar._core.logrank import FEATURE, GAIN, MISSING_LEFT, THRESHOLD, Family
from dipolar.curves import tabulate
from dipolar.rows import TrainingRows
from dipolar.survival import Survival
from dipolar.tree.drawing import draw_orders
from dipolar.tree.limits import GrowthLimits
from dipolar.tree.splits import AxisCuts

__all__ = ["AxisFinder", "AxisSplitter", "sort_columns"]


# What is passed where nodes are kept sorted by all covariates.
NO_PICKING = np.empty((0, 0), np.int32), np.empty(0, bool), np.empty(0, np.int32)

# Levels of a tree, more or less.
LEVELS = 6


def sort_columns(X: np.ndarray) -> np.ndarray:
    """Return the rows sorted by each covariate, missing values last, and once as they are: (n_features + 1, n)."""
    n, n_features = X.shape
    orders = np.empty((n_features + 1, n), dtype=np.int32)
    for feature in range(n_features):
        orders[feature] = np.argsort(X[:, feature], kind="stable")
    orders[-1] = np.arange(n)
    return orders


@dataclass(frozen=True)
class AxisSplitter:
    """Univariate cuts with the largest statistic of the log-rank family over the covariates drawn for a node."""

    family: Family
    max_features: int  # covariates that vary in a node and are tried there

    events_first = True

    def check(self) -> None:
        """Nothing is left to check."""

    def prepare(self, rows: TrainingRows, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Return the covariates by columns, and the rows sorted by each of them."""
        return np.ascontiguousarray(rows.X.T), sort_columns(rows.X)

    def finder(
        self,
        survival: Survival,
        weight: np.ndarray,
        limits: GrowthLimits,
        rng: np.random.Generator,
        *prepared: np.ndarray,
    ) -> AxisFinder:
        """Return the finder of the tree of one sample."""
        return AxisFinder(self, survival, weight, limits, rng, *prepared)


class AxisFinder:
    """Finds the cuts of one tree.

    Parameters
    ----------
    splitter : AxisSplitter
    survival, weight : Survival, ndarray
        Outcomes of all rows, sorted by time, and how often each row is in the sample.
    limits : GrowthLimits
    rng : Generator
        Draws the covariates of each node.
    columns : ndarray of shape (n_features, n)
        Covariates of all rows.
    sorted_rows : ndarray of shape (n_features + 1, n)
        Made by :func:`sort_columns`, once for all trees.
    """

    n_unconverged = 0  # a search over all cuts has nothing to converge

    def __init__(
        self,
        splitter: AxisSplitter,
        survival: Survival,
        weight: np.ndarray,
        limits: GrowthLimits,
        rng: np.random.Generator,
        columns: np.ndarray,
        sorted_rows: np.ndarray,
    ) -> None:
        n = len(weight)
        # Of many covariates few are tried in each node; its rows are then sorted by these alone.
        is_wide = _sorts_few(splitter.max_features, float(weight.sum()), limits, len(columns))
        kept = sorted_rows[-1:] if is_wide else sorted_rows
        self.orders = np.empty((len(kept), np.count_nonzero(weight)), np.int32)
        keep_sampled(kept, weight, self.orders)
        self._picking = (sorted_rows, np.zeros(n, bool), np.empty(n, np.int32)) if is_wide else NO_PICKING
        self.goes_left = np.zeros(n, dtype=bool)
        self._columns, self._rng, self._max_features = columns, rng, splitter.max_features
        self._outcome = survival.time, survival.event, weight, _baseline_exposure(survival, weight, splitter.family)
        self._limits = np.array([limits.min_samples_leaf, limits.min_events_leaf])
        self._family = splitter.family
        self._scratch = (
            np.empty(n, dtype=np.int32), np.empty(n), np.empty(n), np.empty((5, n + 2)), np.empty((n + 2, 2)),
        )  # fmt: skip
        self._cuts: list[np.ndarray] = []

    def find(self, start: np.ndarray, stop: np.ndarray, parent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        drawn = draw_orders(len(start), len(self._columns), self._max_features, self._rng)
        cuts = np.empty((len(start), CUT_FIELDS))
        find_axis_cuts(
            self._columns, self.orders, start, stop, drawn, self._max_features, *self._outcome, self._limits,
            self._family, *self._scratch, *self._picking, self.goes_left, cuts,
        )  # fmt: skip
        self._cuts.append(cuts)
        return np.where(cuts[:, FEATURE] >= 0, cuts[:, GAIN], 0.0), cuts[:, CUT_LOGRANK]

    def freeze(self, found: np.ndarray) -> AxisCuts:
        of_leaf = np.zeros((1, CUT_FIELDS))
        of_leaf[0, [FEATURE, THRESHOLD]] = -1.0, np.nan
        cuts = np.concatenate((*self._cuts, of_leaf))[found]  # -1, a leaf, takes the last one
        return AxisCuts(
            feature=cuts[:, FEATURE].astype(np.int32),
            threshold=cuts[:, THRESHOLD].copy(),
            missing_left=cuts[:, MISSING_LEFT] == 1.0,
            missing_seen=cuts[:, MISSING_SEEN] == 1.0,
        )


def _sorts_few(max_features: int, n_rows: float, limits: GrowthLimits, n_features: int) -> bool:
    """Tell whether the covariates tried in all nodes are fewer than those that rows are divided by on all levels."""
    most_leaves = min(limits.max_leaf_nodes, n_rows / limits.min_samples_leaf)
    return max_features * most_leaves < LEVELS * n_features


def _baseline_exposure(survival: Survival, weight: np.ndarray, family: Family) -> np.ndarray:
    """Return weight times the sample's Nelson-Aalen estimate at each row's time (LeBlanc and Crowley 1992)."""
    if not family.is_exponential:
        return np.zeros(len(weight))
    rows = weight > 0
    hazard = tabulate(survival.take(rows), weight[rows])[0].cumulative_hazard_function()
    return weight * hazard(survival.time)
