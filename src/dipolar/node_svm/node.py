"""Split one set of rows: factor the kernel on them, let the dipoles settle, keep the surface."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dipolar.dipoles import Dipoles
from dipolar.factors import Factor, Surface, factorise
from dipolar.kernels import Kernel
from dipolar.node_svm.reorientation import Settled, SvmSettings, settle

__all__ = ["NodeSplit", "split_node"]

# A row whose score is within this fraction of the margin lies on the surface, at fit and at predict alike; it
# counts as score 0 and so goes right. Solvers find scores to about a tenth of it.
SURFACE_FRACTION = 1e-6


@dataclass(frozen=True)
class NodeSplit:
    """A surface that splits a node, and everything that is known of how it was found."""

    surface: Surface
    surface_tolerance: float
    factor: Factor
    settled: Settled


def snap(scores: np.ndarray, tolerance: float) -> np.ndarray:
    """Set the scores of rows that lie on the surface to exactly 0, in place."""
    scores[np.abs(scores) <= tolerance] = 0.0
    return scores


def split_node(
    kernel: Kernel,
    X: np.ndarray,
    weight: np.ndarray,
    dipoles: Dipoles,
    settings: SvmSettings,
    random_state: np.random.RandomState,
    *,
    factor_tol: float = 1e-6,
    max_rank: int | None = None,
) -> NodeSplit:
    """Find the surface that parts the mixed dipoles of these rows and keeps the pure ones together.

    Parameters
    ----------
    kernel : Kernel
    X, weight : ndarray
        The rows of the node and how often each counts.
    dipoles : Dipoles
        Of the same rows.
    settings : SvmSettings
    random_state : RandomState
    factor_tol, max_rank : float, int or None
        See :func:`dipolar.factors.factorise`.
    """
    factor = factorise(kernel, X, factor_tol, max_rank)
    settled = settle(factor.features, X, weight, dipoles, settings, random_state)
    surface = factor.surface(settled.solution.weights, settled.solution.intercept)
    return NodeSplit(surface, SURFACE_FRACTION * settings.margin, factor, settled)
