"""Splits by the node SVM: along the surface that it finds, or along its score where the log-rank is largest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from dipolar.dipoles import Cutoffs, Dipoles, score_levels
from dipolar.factors import Factor, Surface
from dipolar.node_svm.plan import NodeSvm, SvmPlan
from dipolar.node_svm.reorientation import SplitStatus
from dipolar.survival import Survival
from dipolar.tree.logrank_splitter import best_threshold
from dipolar.tree.splitter import GrowthLimits, NodeRows, Split, Splitter, split_logrank
from dipolar.tree.surfaces import SurfaceCut, Surfaces, surface_shares

__all__ = ["DIPOLE_SCOPES", "THRESHOLDS", "DipoleSplitter", "RootMemory"]

DIPOLE_SCOPES = ("root", "node")
THRESHOLDS = ("svm", "logrank")

# With these ends of the search there is nothing to split.
NO_SURFACE = (SplitStatus.NO_MIXED_DIPOLES, SplitStatus.ONE_SIDED, SplitStatus.CONSTANT)


@dataclass(frozen=True)
class _Root:
    """What a tree learns from all its rows before it splits the first node."""

    X: np.ndarray  # scaled
    cutoffs: Cutoffs | None  # None where each node has its own
    svm: NodeSvm
    factor: Factor


class RootMemory:
    """Keeps what trees that differ in kappa alone have in common, for as long as they are grown on the same rows."""

    def __init__(self) -> None:
        self._key: object = None
        self._root: _Root | None = None

    def recall(self, plan: SvmPlan, arrays: Sequence[np.ndarray], learn: Callable[[], _Root]) -> _Root:
        """Return the root of a tree with this plan on these arrays, learnt now or before."""
        digest = blake2b()
        for array in arrays:
            digest.update(array.tobytes())
        key = replace(plan, kappa=1.0), arrays[0].shape, digest.digest()
        if self._root is None or self._key != key:
            self._key, self._root = key, learn()
        return self._root


class DipoleSplitter(Splitter):
    """Let every node settle its dipoles.

    Parameters
    ----------
    plan : SvmPlan
    dipole_scope : {"root", "node"}
        Whether the cut-offs of time gaps are those of the whole training set or of each node's own rows.
    threshold : {"svm", "logrank"}
        Whether to cut at score 0 or where the log-rank statistic along the score is largest.
    memory : RootMemory, default=None
        Shared by the splitters of trees that differ in kappa alone.

    Attributes
    ----------
    ends : Counter
        How often the search ended in which :class:`SplitStatus`.
    """

    def __init__(
        self, plan: SvmPlan, dipole_scope: str = "root", threshold: str = "svm", memory: RootMemory | None = None
    ) -> None:
        self.plan, self.dipole_scope, self.threshold = plan, dipole_scope, threshold
        self.memory = RootMemory() if memory is None else memory

    def begin(
        self,
        X: np.ndarray,
        survival: Survival,
        weight: np.ndarray,
        limits: GrowthLimits,
        rng: np.random.Generator,
    ) -> None:
        self._rule = self.plan.dipole_rule()
        own = rng.spawn(1)[0]  # what is drawn for the root leaves no trace, whether it is drawn or remembered
        root = self.memory.recall(
            self.plan,
            (X, survival.time, survival.event, weight),
            lambda: self._learn_root(X, survival, weight, own),
        )
        self._svm = root.svm.with_kappa(self.plan.kappa)
        self._root_factor, self._cutoffs = root.factor, root.cutoffs
        self._X, self._survival, self._weight = root.X, survival, weight
        self._limits = limits
        self.ends: Counter[SplitStatus] = Counter()

    def find(self, node: NodeRows, rng: np.random.Generator) -> Split | None:
        X, weight, survival = self._X[node.rows], self._weight[node.rows], self._survival.take(node.rows)
        dipoles = Dipoles(survival, weight, self._rule, self._cutoffs)
        if not dipoles.has_mixed:
            self.ends[SplitStatus.NO_MIXED_DIPOLES] += 1
            return None
        factor = self._root_factor if len(node.rows) == len(self._X) else None
        found = self._svm.split(X, weight, dipoles, rng, factor)
        self.ends[found.settled.status] += 1
        if found.settled.status in NO_SURFACE or found.surface.is_flat:
            return None
        if self.threshold == "logrank":
            return self._cut_by_logrank(found.surface, X, survival, weight)
        goes_left = found.surface.score(X) < 0
        if goes_left.all() or not goes_left.any():
            return None
        logrank = split_logrank(survival, weight, goes_left)
        return self._split(found.surface, X, goes_left, logrank)

    def freeze(self, cuts: Sequence[SurfaceCut | None]) -> Surfaces:
        return Surfaces.collect(cuts, self._svm.kernel, self._X.shape[1], self._svm.mean, self._svm.scale)

    def _learn_root(self, X: np.ndarray, survival: Survival, weight: np.ndarray, rng: np.random.Generator) -> _Root:
        svm = self.plan.learn(X, weight, rng)
        cutoffs = Dipoles(survival, weight, self._rule).cutoffs if self.dipole_scope == "root" else None
        X = svm.scaled(X)
        return _Root(X, cutoffs, svm, svm.factorise(X))

    def _cut_by_logrank(self, surface: Surface, X: np.ndarray, survival: Survival, weight: np.ndarray) -> Split | None:
        """Move the surface to the best cut along its score, half-way between the rows on either side.

        Rows that differ by no more than rounding are not parted: scores are compared on their grid of levels. Rows on
        the moved surface go right; none of those that it is learnt from is there.
        """
        scores = surface.sums(X)
        best = best_threshold(score_levels(scores), survival, weight, self._limits)
        if best is None:
            return None
        goes_left, logrank = best[1].goes_left, best[1].logrank
        below, above = scores[goes_left].max(), scores[~goes_left].min()
        boundary = -min(abs(surface.boundary), 0.25 * (above - below))
        moved = replace(surface, intercept=surface.intercept - 0.5 * (below + above), boundary=boundary)
        return self._split(moved, X, goes_left, logrank)

    def _split(self, surface: Surface, X: np.ndarray, goes_left: np.ndarray, logrank: float) -> Split:
        return Split(SurfaceCut(surface, surface_shares(surface, X)), goes_left, logrank, logrank)
