"""What a node SVM learns once, from the rows of the root, and then splits any of their nodes with.

The scale of the covariates, the width of the kernel, the margin and, if they are those of the root, the bounds of the
dipoles come from all training rows and are the same in every node of a tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dipolar._core.search import SearchRules
from dipolar._core.surfaces import NO_SPREAD, best_shift, cut_at_zero
from dipolar.kernels import LARGEST_SCALE, Kernel, is_precomputed, make_kernel
from dipolar.node_svm.dipoles import CUTOFF_RULES, find_cutoffs
from dipolar.node_svm.factors import Factor, Surface, factorise
from dipolar.node_svm.search import INITS, Settled, Starts, settle, starting_cuts
from dipolar.node_svm.solvers import SOLVERS
from dipolar.node_svm.spans import Span, spread_over
from dipolar.parameters import LARGEST_WEIGHT, check_choice, check_flag, check_kappa, check_number
from dipolar.quantiles import pairwise_distance_quantile
from dipolar.rows import TrainingRows
from dipolar.scaling import require_spread
from dipolar.survival import Survival

__all__ = ["CUTS", "DistanceQuantile", "Inherited", "LearntSvm", "NodeSplit", "check_svm", "learn", "spread"]

KAPPA_SCALES = ("mean", "sum")

#: Where along its score a node may be cut.
CUTS = ("svm", "logrank")

# A row whose score is within this fraction of the margin lies on the surface, and its side is a matter of rule, not
# of rounding. Solvers find scores to about a tenth of it.
SURFACE_FRACTION = 1e-6

NO_LIMITS = np.zeros(2)


@dataclass(frozen=True)
class DistanceQuantile:
    """A margin as the paper takes it: a quantile of the distances between the training rows that differ.

    Of more than 1000 rows, 500,000 pairs are drawn.
    """

    quantile: float = 0.23

    def learn(self, X: np.ndarray, weight: np.ndarray, rng: np.random.Generator) -> float:
        """Return the margin for these rows."""
        return pairwise_distance_quantile(X, weight, self.quantile, rng)


@dataclass(frozen=True)
class LearntSvm:
    """Splits any set of rows of the training data; see the parameters of :class:`dipolar.DipoleSVM`."""

    kernel: Kernel
    mean: np.ndarray  # (n_features,) subtracted from covariates
    scale: np.ndarray  # (n_features,) by which they are divided then
    rules: SearchRules
    standardize: bool
    solver: str
    factor_tol: float
    max_rank: int | None
    by_logrank: bool

    def scaled(self, X: np.ndarray) -> np.ndarray:
        """Covariates as the kernel wants them."""
        if not self.mean.any() and (self.scale == 1.0).all():
            return X
        scaled = X - self.mean
        scaled /= self.scale
        return scaled

    def scaled_rows(self, rows: TrainingRows) -> np.ndarray:
        """The covariates of the rows that it was learnt from, as the kernel wants them."""
        return rows.standardised[2] if self.standardize else rows.X

    @property
    def tolerance(self) -> float:
        """How close to 0 a score is that counts as on the surface."""
        return SURFACE_FRACTION * self.rules.margin

    @property
    def starts_from_cuts(self) -> bool:
        """Whether a search starts from cuts of single covariates."""
        return self.rules.init in (INITS["median"], INITS["quartile"])

    def factorise(self, X: np.ndarray) -> Factor:
        """Factor the kernel on (scaled) rows."""
        return factorise(self.kernel, X, self.factor_tol, self.max_rank)

    def split(
        self,
        X: np.ndarray,
        survival: Survival,
        weight: np.ndarray,
        rng: np.random.Generator,
        factor: Factor | None = None,
        inherited: Inherited | None = None,
    ) -> NodeSplit:
        """Find the surface that parts the mixed dipoles of these (scaled) rows and keeps the pure ones together.

        `factor` is the kernel's on the same rows, if it is known already. An inherited score is one more feature, and
        the search starts from it.
        """
        factor = self.factorise(X) if factor is None else factor
        if inherited is None:
            starts = starting_cuts(X, survival, weight, self.rules, rng)
            settled = settle(factor.features, survival, weight, X, starts, self.rules, self.solver)
            return NodeSplit(factor.surface(settled.weights, settled.intercept), factor, settled)
        features = np.column_stack((factor.features, inherited.factor * inherited.centred))
        settled = settle(features, survival, weight, X, Starts(), self.rules, self.solver, inherited.centred)
        return NodeSplit(factor.surface(settled.weights[:-1], settled.intercept), factor, settled)

    def cut(
        self, surface: Surface, X: np.ndarray, survival: Survival, weight: np.ndarray, limits: np.ndarray = NO_LIMITS
    ) -> tuple[Surface, np.ndarray, float]:
        """Decide where a node is cut along its score; return the surface that does, its scores and the log-rank.

        The statistic is 0 where a child would be smaller than `limits` (weight of rows and of events).
        """
        args = surface.sums(X), survival.time, survival.event, weight, limits
        if self.by_logrank:
            shift, logrank = best_shift(*args)
            surface = replace(surface, intercept=surface.intercept - shift)
        else:
            boundary, logrank = cut_at_zero(*args, self.tolerance)
            surface = replace(surface, boundary=boundary)
        return surface, surface.score(X), float(logrank)


@dataclass(frozen=True)
class Inherited:
    """The score of a parent's surface as a feature of its child."""

    centred: np.ndarray  # (n_samples,) scores of the child's rows less their mean
    mean: float
    factor: float  # by which they are multiplied

    @classmethod
    def of(cls, scores: np.ndarray, spread: float) -> Inherited:
        """Scale the scores of the child's rows to the standard deviation `spread`."""
        mean = scores.mean()
        centred = scores - mean
        deviation = np.sqrt(np.mean(centred**2))
        varies = deviation > NO_SPREAD * np.abs(scores).max()
        return cls(centred, float(mean), spread / deviation if varies else 0.0)


@dataclass(frozen=True)
class NodeSplit:
    """A surface, and everything that is known of how it was found; an inherited score is not in the surface."""

    surface: Surface
    factor: Factor
    settled: Settled


def spread(svms: Sequence[LearntSvm], Z: np.ndarray) -> Span | None:
    """Return wide rows in coordinates in which the machines find what they find in Z; None where there are none."""
    return None if any(svm.starts_from_cuts for svm in svms) else spread_over(Z, [svm.kernel for svm in svms])


def check_svm(svm: Any) -> None:
    """Check the parameters of a `DipoleSVM` that stand for themselves."""
    for name in ("pure_quantile", "mixed_quantile"):
        check_number(name, getattr(svm, name), low=0, high=1, hint="Quantiles are fractions, not percent.")
    if svm.mixed_quantile <= svm.pure_quantile:
        raise ValueError(
            f"mixed_quantile must be larger than pure_quantile, got {svm.mixed_quantile} <= {svm.pure_quantile}. "
            "They bound the time gaps of mixed and pure dipoles; (0.25, 0.75) is a common choice."
        )
    hint = "1 gives pure dipoles the weight of mixed ones."
    check_number("pure_weight", svm.pure_weight, low=0, high=LARGEST_WEIGHT, hint=hint)
    check_kappa(svm.kappa)
    check_choice("kappa_scale", svm.kappa_scale, KAPPA_SCALES, hint="'sum' is the paper's.")
    check_flag("standardize", svm.standardize)
    if svm.standardize and is_precomputed(svm.kernel):
        raise ValueError(
            "standardize=True needs covariates, but with kernel='precomputed' X is a kernel matrix. Pass "
            "standardize=False."
        )
    make_kernel(svm.kernel).check()
    _check_margin(svm.margin)
    check_choice("cutoff_rule", svm.cutoff_rule, CUTOFF_RULES)
    check_choice("init", svm.init, INITS, hint="'hazard' is the best one.")
    check_choice("cut", svm.cut, CUTS, hint="'svm' is the paper's.")
    check_choice("solver", svm.solver, SOLVERS)
    check_number("tol", svm.tol, low=0)
    check_number("solver_tol", svm.solver_tol, above=0, high=1)
    check_number("max_reorientations", svm.max_reorientations, low=0, high=MOST_ROUNDS, whole=True)
    check_number("factor_tol", svm.factor_tol, low=0, high=1)
    if svm.max_rank is not None:
        check_number("max_rank", svm.max_rank, low=1, whole=True, hint="None sets no limit.")


# Rounds are recorded one by one.
MOST_ROUNDS = 1_000_000


def learn(svm: Any, rows: TrainingRows, rng: np.random.Generator, *, root_cutoffs: bool = False) -> LearntSvm:
    """Fix all that a `DipoleSVM` learns from the rows of the root.

    With `root_cutoffs` the time gaps that bound its dipoles are those of these rows, in every node.
    """
    check_svm(svm)
    mean, scale, X = rows.standardised if svm.standardize else _as_they_are(rows.X)
    require_spread(X)
    kernel = make_kernel(svm.kernel).fit(X, rows.weight)
    bounds = np.nan, np.nan
    if root_cutoffs:
        quantiles = svm.pure_quantile, svm.mixed_quantile
        bounds = find_cutoffs(rows.survival, rows.weight, *quantiles, svm.cutoff_rule).bounds(svm.cutoff_rule)
    rules = SearchRules(
        pure_quantile=float(svm.pure_quantile),
        mixed_quantile=float(svm.mixed_quantile),
        pure_weight=float(svm.pure_weight),
        is_scripts=svm.cutoff_rule == "scripts",
        pure_below=float(bounds[0]),
        mixed_from=float(bounds[1]),
        is_bounded=root_cutoffs,
        kappa=float(svm.kappa),
        per_dipole=svm.kappa_scale == "mean",
        margin=_find_margin(svm.margin, X, rows.weight, rng),
        init=INITS[svm.init],
        tol=float(svm.tol),
        solver_tol=float(svm.solver_tol),
        max_reorientations=int(svm.max_reorientations),
    )
    return LearntSvm(
        kernel,
        mean,
        scale,
        rules,
        bool(svm.standardize),
        svm.solver,
        svm.factor_tol,
        svm.max_rank,
        svm.cut == "logrank",
    )


def _as_they_are(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros(X.shape[1]), np.ones(X.shape[1]), X


def _find_margin(margin: Any, X: np.ndarray, weight: np.ndarray, rng: np.random.Generator) -> float:
    return margin.learn(X, weight, rng) if isinstance(margin, DistanceQuantile) else float(margin)


def _check_margin(margin: Any) -> None:
    if isinstance(margin, DistanceQuantile):
        hint = "DistanceQuantile takes a fraction, not percent."
        check_number("margin", margin.quantile, low=0, high=1, hint=hint)
    else:
        check_number("margin", margin, low=1 / LARGEST_SCALE, high=LARGEST_SCALE, hint="Or pass a DistanceQuantile.")
