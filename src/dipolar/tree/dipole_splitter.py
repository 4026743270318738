"""Splits by the node SVM: along the surface that it finds, or along its score where the log-rank is largest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dipolar.dipoles import Cutoffs, Dipoles, score_levels
from dipolar.factors import Surface
from dipolar.node_svm.plan import NodeSvm, SvmPlan
from dipolar.node_svm.reorientation import SplitStatus
from dipolar.survival import Survival
from dipolar.tree.logrank_splitter import best_threshold
from dipolar.tree.splitter import GrowthLimits, NodeRows, Split, Splitter, split_logrank
from dipolar.tree.surfaces import SurfaceCut, Surfaces, surface_shares

__all__ = ["DIPOLE_SCOPES", "THRESHOLDS", "DipoleSplitter"]

DIPOLE_SCOPES = ("root", "node")
THRESHOLDS = ("svm", "logrank")

# With these ends of the search there is nothing to split.
NO_SURFACE = (SplitStatus.NO_MIXED_DIPOLES, SplitStatus.ONE_SIDED, SplitStatus.CONSTANT)


class DipoleSplitter(Splitter):
    """Let every node settle its dipoles.

    Parameters
    ----------
    plan : SvmPlan
    dipole_scope : {"root", "node"}
        Whether the cut-offs of time gaps are those of the whole training set or of each node's own rows.
    threshold : {"svm", "logrank"}
        Whether to cut at score 0 or where the log-rank statistic along the score is largest.

    Attributes
    ----------
    ends : Counter
        How often the search ended in which :class:`SplitStatus`.
    """

    def __init__(self, plan: SvmPlan, dipole_scope: str = "root", threshold: str = "svm") -> None:
        self.plan, self.dipole_scope, self.threshold = plan, dipole_scope, threshold

    def begin(
        self,
        X: np.ndarray,
        survival: Survival,
        weight: np.ndarray,
        limits: GrowthLimits,
        rng: np.random.Generator,
    ) -> None:
        self._rule = self.plan.dipole_rule()
        self._cutoffs: Cutoffs | None = None
        if self.dipole_scope == "root":
            self._cutoffs = Dipoles(survival, weight, self._rule).cutoffs
        self._svm: NodeSvm = self.plan.learn(X, weight, rng)
        self._X, self._survival, self._weight = self._svm.scaled(X), survival, weight
        self._limits = limits
        self.ends: Counter[SplitStatus] = Counter()

    def find(self, node: NodeRows, rng: np.random.Generator) -> Split | None:
        X, weight, survival = self._X[node.rows], self._weight[node.rows], self._survival.take(node.rows)
        dipoles = Dipoles(survival, weight, self._rule, self._cutoffs)
        if not dipoles.has_mixed:
            self.ends[SplitStatus.NO_MIXED_DIPOLES] += 1
            return None
        found = self._svm.split(X, weight, dipoles, rng)
        self.ends[found.settled.status] += 1
        if found.settled.status in NO_SURFACE or found.surface.is_flat:
            return None
        if self.threshold == "logrank":
            return self._cut_by_logrank(found.surface, X, survival, weight)
        goes_left = found.surface.score(X) < found.boundary
        if goes_left.all() or not goes_left.any():
            return None
        logrank = split_logrank(survival, weight, goes_left)
        return self._split(found.surface, found.boundary, X, goes_left, logrank)

    def freeze(self, cuts: Sequence[SurfaceCut | None]) -> Surfaces:
        return Surfaces.collect(cuts, self._svm.kernel, self._X.shape[1], self._svm.mean, self._svm.scale)

    def _cut_by_logrank(self, surface: Surface, X: np.ndarray, survival: Survival, weight: np.ndarray) -> Split | None:
        """Move the surface to the best cut along its score, half-way between the rows on either side.

        Rows that differ by no more than rounding are not parted: scores are compared on their grid of levels.
        """
        scores = surface.score(X)
        best = best_threshold(score_levels(scores), survival, weight, self._limits)
        if best is None:
            return None
        goes_left, logrank = best[1].goes_left, best[1].logrank
        below, above = scores[goes_left].max(), scores[~goes_left].min()
        moved = Surface(surface.kernel, surface.rows, surface.coefficients, surface.intercept - 0.5 * (below + above))
        return self._split(moved, 0.0, X, goes_left, logrank)

    def _split(self, surface: Surface, boundary: float, X: np.ndarray, goes_left: np.ndarray, logrank: float) -> Split:
        return Split(SurfaceCut(surface, boundary, surface_shares(surface, X)), goes_left, logrank, logrank)
