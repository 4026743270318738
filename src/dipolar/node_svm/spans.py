"""Wide rows in as many coordinates as there are rows.

With more covariates than rows, most kernels see of the rows no more than their inner products. These are the same in
an orthonormal basis of what the rows span, where a row has at most as many coordinates as there are rows:

    Z = R Q'      Z the (scaled) rows, (n, p);  R their coordinates, (n, rank);  Q' Q = 1

A search on R finds the surface of a search on Z, and nothing in it walks over p. Rows of a node are some of the rows of
R. Q is never made: R is the pivoted Cholesky factor of the rows' inner products, and with the rows B of its basis and
their triangle T, Q w = B' T'^-1 w.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular

from dipolar.kernels import Kernel, LinearKernel
from dipolar.node_svm.factors import Surface, factorise, few_features

__all__ = ["Span", "sees_angles_only", "spread_over"]


@dataclass(frozen=True)
class Span:
    """Some rows in an orthonormal basis of what they span."""

    rows: np.ndarray  # (n, p), scaled
    coordinates: np.ndarray  # (n, rank)
    basis: np.ndarray  # (rank,) numbers of the rows whose coordinates are the triangle
    triangle: np.ndarray  # (rank, rank), lower

    def normals(self, weights: np.ndarray) -> np.ndarray:
        """Return the gradients over the covariates of linear functions of the coordinates: (rank, k) to (p, k)."""
        basis, coefficients = self.expansion(weights)
        return self.rows[basis].T @ coefficients

    def expansion(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Row numbers and coefficients with sum_k coefficient_k <row_k, z> = <coordinates of z, weights>."""
        return self.basis, solve_triangular(self.triangle, weights, lower=True, trans="T", check_finite=False)

    def locate(self, Z: np.ndarray) -> np.ndarray:
        """Return any (scaled) rows in coordinates, the last of which says how far a row is from the span.

        Distances and inner products of any row with those of the span are what they are in Z.
        """
        inside = solve_triangular(self.triangle, self.rows[self.basis] @ Z.T, lower=True, check_finite=False).T
        beyond = np.einsum("ij,ij->i", Z, Z) - np.einsum("ij,ij->i", inside, inside)
        return np.column_stack((inside, np.sqrt(np.maximum(beyond, 0.0))))

    @property
    def inside(self) -> np.ndarray:
        """The coordinates of its own rows, as `locate` tells them."""
        return np.column_stack((self.coordinates, np.zeros(len(self.rows))))

    def restore(self, surface: Surface, basis: np.ndarray) -> Surface:
        """Return the surface over the covariates that one over the coordinates is; its basis rows are `basis`."""
        if len(basis):
            return replace(surface, rows=self.rows[basis])
        normal = self.normals(surface.coefficients)
        return replace(surface, rows=np.empty((0, self.rows.shape[1])), coefficients=normal)


def spread_over(rows: np.ndarray, kernels: list[Kernel]) -> Span | None:
    """Return wide rows in fewer coordinates, in which the kernels are the same; None for rows that are not wide.

    Rows are wide where they have more covariates than explicit features are used for.
    """
    n, p = rows.shape
    if few_features(p, n) or not all(sees_angles_only(kernel, n) for kernel in kernels):
        return None
    factor = factorise(LinearKernel(), rows, whole=True)
    if factor.rank == 0:
        return None
    return Span(rows, np.ascontiguousarray(factor.features + factor.centre), factor.basis, factor.triangle)


def sees_angles_only(kernel: Kernel, n_rows: int) -> bool:
    """Whether a surface of the kernel over coordinates can be told over the covariates: by a normal, or by rows."""
    return kernel.is_rotation_invariant and (isinstance(kernel, LinearKernel) or kernel.n_features(n_rows) is None)
