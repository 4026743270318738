"""Univariate splits: the covariate and the cut with the largest statistic of the log-rank family."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dipolar._core.logrank import EXPONENTIAL, FAMILIES, LOGRANK, best_cut, two_sample_logrank
from dipolar._core.partition import partition_orders
from dipolar.curves import tabulate
from dipolar.survival import Survival
from dipolar.tree.splits import AxisCuts
from dipolar.tree.splitter import GrowthLimits, NodeRows, Split, Splitter

__all__ = ["LogRankSplitter", "best_threshold"]


class LogRankSplitter(Splitter):
    """Try every cut of every covariate.

    Rows are sorted once, at the root, by each covariate and by time; each node owns the same slice of all
    these orders, and a split partitions them without sorting again.

    Parameters
    ----------
    criterion : str
        A key of `dipolar._core.logrank.FAMILIES`.
    exponents : tuple of float
        The Fleming-Harrington exponents (rho, gamma).
    max_features : int or None
        How many covariates to draw in each node; None tries all of them.
    """

    def __init__(
        self,
        criterion: str = "logrank",
        exponents: tuple[float, float] = (1.0, 0.0),
        max_features: int | None = None,
    ) -> None:
        self.family = FAMILIES[criterion]
        self.rho, self.gamma = (float(exponent) for exponent in exponents)
        self.max_features = max_features

    def begin(
        self,
        X: np.ndarray,
        survival: Survival,
        weight: np.ndarray,
        limits: GrowthLimits,
        rng: np.random.Generator,
    ) -> None:
        n, n_features = X.shape
        self._columns = np.ascontiguousarray(X.T)
        self._time, self._event, self._weight = survival.time, survival.event, weight
        self._features = np.arange(n_features)
        self._limits = np.array([limits.min_samples_leaf, limits.min_events_leaf])
        self._exposure = self._baseline_exposure(survival, weight)

        # int32 holds the row numbers: these orders are the largest arrays of the whole fit.
        self._orders = np.empty((n_features + 1, n), dtype=np.int32)
        for feature in range(n_features):
            self._orders[feature] = np.argsort(self._columns[feature], kind="stable")
        self._orders[-1] = np.lexsort((~survival.event, survival.time))

        self._goes_left = np.zeros(n, dtype=bool)
        self._buffer = np.empty(n, dtype=np.int32)
        self._scratch = (
            np.empty(n, dtype=np.int32), np.empty(n), np.empty(n), np.empty((5, n + 2)), np.empty((n + 2, 2)),
        )  # fmt: skip

    def find(self, node: NodeRows, rng: np.random.Generator) -> Split | None:
        best = np.empty(4)
        features = self._draw_features(rng)
        found = best_cut(
            self._columns, self._orders, node.start, node.stop, features, len(features),
            self._time, self._event, self._weight, self._exposure, self._limits,
            self.family, self.rho, self.gamma, *self._scratch, best,
        )  # fmt: skip
        if not found:
            return None
        gain, feature, threshold, missing_left = float(best[0]), int(best[1]), float(best[2]), best[3] == 1.0
        x = self._columns[feature][node.rows]
        goes_left = x <= threshold
        missing = np.isnan(x)
        missing_seen = bool(missing.any())
        if not missing_seen:
            # Nothing to learn from: a value that is missing later on follows the larger child.
            weight = self._weight[node.rows]
            missing_left = weight @ goes_left > weight @ ~goes_left
        elif missing_left:
            goes_left |= missing
        logrank = gain if self.family == LOGRANK else self._logrank(node, goes_left)
        return Split((feature, threshold, bool(missing_left), missing_seen), goes_left, gain, logrank)

    def descend(self, node: NodeRows, split: Split) -> None:
        self._goes_left[node.rows] = split.goes_left
        partition_orders(self._orders, node.start, node.stop, self._goes_left, self._buffer)

    def freeze(self, cuts: Sequence[tuple[int, float, bool, bool] | None]) -> AxisCuts:
        return AxisCuts.collect(cuts)

    def _draw_features(self, rng: np.random.Generator) -> np.ndarray:
        if self.max_features is None or self.max_features >= len(self._features):
            return self._features
        return np.sort(rng.choice(len(self._features), self.max_features, replace=False))

    def _logrank(self, node: NodeRows, goes_left: np.ndarray) -> float:
        self._goes_left[node.rows] = goes_left
        rows = self._orders[-1, node.start : node.stop]
        return float(two_sample_logrank(self._time[rows], self._event[rows], self._weight[rows], self._goes_left[rows]))

    def _baseline_exposure(self, survival: Survival, weight: np.ndarray) -> np.ndarray:
        """Return weight times the root's Nelson-Aalen estimate at each row's time.

        LeBlanc and Crowley (1992) replace times by this estimate once, at the root: under proportional
        hazards the rows of a node are then exponential with one rate.
        """
        if self.family != EXPONENTIAL:
            return np.zeros(len(weight))
        hazard = tabulate(survival, weight)[0].cumulative_hazard_function()
        return weight * hazard(survival.time)


def best_threshold(
    score: np.ndarray, survival: Survival, weight: np.ndarray, limits: GrowthLimits
) -> tuple[float, Split] | None:
    """Cut a score where the log-rank statistic is largest; return the threshold and the split, left being <= it.

    Parameters
    ----------
    score : ndarray of shape (n_rows,)
        Any score of the rows of a node, for example that of a surface.
    survival, weight : Survival, ndarray
        Outcomes and frequencies of the same rows.
    limits : GrowthLimits
        The smallest children that are allowed.

    Returns
    -------
    threshold, split : float, Split
        None where no cut is admissible or none has a positive statistic.
    """
    rng = np.random.default_rng(0)  # nothing is drawn: there is one covariate
    splitter = LogRankSplitter()
    splitter.begin(score.reshape(-1, 1), survival, weight, limits, rng)
    split = splitter.find(NodeRows(0, len(score), np.arange(len(score)), 0), rng)
    return None if split is None else (split.cut[1], split)
