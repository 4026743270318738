"""From a user's choices to a machine that splits nodes: what is learnt once, from the rows of the root.

The width of the kernel, the margin and the scale of the covariates come from all training rows and are the same in
every node of a tree.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dipolar.dipoles import DipoleRule, Dipoles
from dipolar.factors import Factor, Surface, factorise
from dipolar.kernels import LARGEST_SCALE, Kernel, make_kernel
from dipolar.node_svm.reorientation import Settled, SvmSettings, settle
from dipolar.parameters import check_flag, check_number
from dipolar.quantiles import pairwise_distance_quantile
from dipolar.scaling import mean_and_deviation, require_spread

__all__ = ["NodeSplit", "NodeSvm", "SvmPlan", "snap"]

# A row whose score is within this fraction of the margin lies on the surface, and its side is a matter of rule, not
# of rounding. Solvers find scores to about a tenth of it.
SURFACE_FRACTION = 1e-6


@dataclass(frozen=True)
class SvmPlan:
    """All that a user chooses about the node SVM; see the parameters of :class:`dipolar.DipoleSVM`."""

    kernel: Any
    kappa: float
    gamma: float | None
    degree: int
    coef0: float
    sigma2: float | None
    pure_quantile: float
    mixed_quantile: float
    pure_weight: float
    mixed_weight: float
    cutoff_rule: str
    margin: Any
    margin_quantile: float
    standardize: bool
    init: str
    solver: str
    tol: float
    solver_tol: float
    max_reorientations: int
    factor_tol: float
    max_rank: int | None

    @classmethod
    def of(cls, estimator: Any) -> SvmPlan:
        """Read the plan off an estimator that has these parameters."""
        return cls(**{field.name: getattr(estimator, field.name) for field in fields(cls)})

    def __post_init__(self) -> None:
        check_flag("standardize", self.standardize)
        check_number("factor_tol", self.factor_tol, low=0, high=1)
        check_number("margin_quantile", self.margin_quantile, low=0, high=1, hint="It is a fraction, not percent.")
        if self.max_rank is not None:
            check_number("max_rank", self.max_rank, low=1, whole=True, hint="None sets no limit.")

    def dipole_rule(self) -> DipoleRule:
        return DipoleRule(
            self.pure_quantile, self.mixed_quantile, self.pure_weight, self.mixed_weight, self.cutoff_rule
        )

    def learn(self, X: np.ndarray, weight: np.ndarray, rng: np.random.Generator) -> NodeSvm:
        """Fix scale, kernel and margin by the rows of the root."""
        mean, scale = self._find_scale(X, weight)
        X = (X - mean) / scale if self.standardize else X
        require_spread(X)
        kernel = make_kernel(
            self.kernel, X, weight, degree=self.degree, coef0=self.coef0, gamma=self.gamma, sigma2=self.sigma2
        )
        settings = SvmSettings(
            kappa=self.kappa,
            margin=self._find_margin(X, weight, rng),
            init=self.init,
            solver=self.solver,
            tol=self.tol,
            solver_tol=self.solver_tol,
            max_reorientations=self.max_reorientations,
        )
        return NodeSvm(kernel, mean, scale, settings, self.factor_tol, self.max_rank)

    def _find_scale(self, X: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not self.standardize:
            return np.zeros(X.shape[1]), np.ones(X.shape[1])
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError("standardize=True needs covariates, but with kernel='precomputed' X is a kernel matrix.")
        return mean_and_deviation(X, weight)

    def _find_margin(self, X: np.ndarray, weight: np.ndarray, rng: np.random.Generator) -> float:
        if isinstance(self.margin, str) and self.margin == "auto":
            return pairwise_distance_quantile(X, weight, self.margin_quantile, rng)
        return check_number("margin", self.margin, low=1 / LARGEST_SCALE, high=LARGEST_SCALE, hint="Or pass 'auto'.")


@dataclass(frozen=True)
class NodeSvm:
    """Splits any set of rows of the training data."""

    kernel: Kernel
    mean: np.ndarray  # (n_features,) subtracted from covariates
    scale: np.ndarray  # (n_features,) by which they are divided then
    settings: SvmSettings
    factor_tol: float
    max_rank: int | None

    def scaled(self, X: np.ndarray) -> np.ndarray:
        """Covariates as the kernel wants them."""
        if not self.mean.any() and (self.scale == 1.0).all():
            return X
        return (X - self.mean) / self.scale

    def with_kappa(self, kappa: float) -> NodeSvm:
        """The same machine with another price of the dipole loss."""
        return replace(self, settings=replace(self.settings, kappa=kappa))

    def factorise(self, X: np.ndarray) -> Factor:
        """Factor the kernel on (scaled) rows."""
        return factorise(self.kernel, X, self.factor_tol, self.max_rank)

    def split(
        self,
        X: np.ndarray,
        weight: np.ndarray,
        dipoles: Dipoles,
        rng: np.random.Generator,
        factor: Factor | None = None,
    ) -> NodeSplit:
        """Find the surface that parts the mixed dipoles of these (scaled) rows and keeps the pure ones together.

        `factor` is the kernel's on the same rows, if it is known already.
        """
        factor = self.factorise(X) if factor is None else factor
        settled = settle(factor.features, X, weight, dipoles, self.settings, rng)
        surface = factor.surface(settled.solution.weights, settled.solution.intercept)
        boundary = find_boundary(settled.solution.scores, SURFACE_FRACTION * self.settings.margin)
        return NodeSplit(surface, boundary, factor, settled)


@dataclass(frozen=True)
class NodeSplit:
    """A surface that splits a node, and everything that is known of how it was found."""

    surface: Surface
    boundary: float  # rows with a score below it go left; its size is how close to 0 counts as on the surface
    factor: Factor
    settled: Settled


def find_boundary(scores: np.ndarray, tolerance: float) -> float:
    """Say to which side rows on the surface go: to the nearer of their neighbours, so that the wider gap is cut.

    Returns minus the tolerance, which sends scores around 0 right, or plus the tolerance, which sends them left. They
    go right if no training row is there to ask.
    """
    on_surface = np.abs(scores) <= tolerance
    if not on_surface.any():
        return -tolerance
    gap_left = -np.max(scores, where=scores < -tolerance, initial=-np.inf)
    gap_right = np.min(scores, where=scores > tolerance, initial=np.inf)
    return tolerance if gap_left < gap_right else -tolerance


def snap(scores: np.ndarray, boundary: float) -> np.ndarray:
    """Give the rows on the surface, in place, a score that tells their side: 0 on the right, the least below 0 left."""
    scores[np.abs(scores) <= abs(boundary)] = min(0.0, -boundary)
    return scores
