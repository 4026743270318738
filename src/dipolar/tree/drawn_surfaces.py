"""Splits along surfaces of a few drawn covariates each, with a kernel of its own per node: those of forests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from dipolar._core.surfaces import GAUSSIAN, LINEAR, QUADRATIC, route_surfaces, surface_score
from dipolar.factors import Surface
from dipolar.kernels import GaussianKernel, Kernel, LinearKernel, PolynomialKernel
from dipolar.tree.rules import first_that_fits, flatten, influence_rules, polynomial_terms, sum_rules
from dipolar.tree.splits import Splits, register_kind
from dipolar.tree.surfaces import _entries, _is_offset, _numbers, _offsets

__all__ = ["KERNEL_CODES", "DrawnSurfaces"]

# The kernels of drawn surfaces, by the names that users give them.
KERNEL_CODES = {"linear": LINEAR, "quadratic": QUADRATIC, "rbf": GAUSSIAN}

# Name and width of the arrays of drawn surfaces.
DRAWN_FIELDS = {
    "split": np.int32,
    "kernel": np.int8,
    "column_offset": np.int64,
    "column": np.int32,
    "offset": np.int64,
    "coefficient": np.float64,
    "basis_offset": np.int64,
    "basis": np.float64,
    "intercept": np.float64,
    "mean": np.float64,
    "scale": np.float64,
}


@register_kind
@dataclass(frozen=True, eq=False)
class DrawnSurfaces(Splits):
    """The surfaces of all nodes in flat arrays; a row with a score below 0 goes left.

    Split s, counted over the nodes that are split, owns the columns `column_offset[s]` to `column_offset[s + 1]`, the
    coefficients `offset[s]` to `offset[s + 1]` and the values `basis_offset[s]` to `basis_offset[s + 1]`: of the
    Gaussian kernel, one value per column for each coefficient. See `dipolar._core.surfaces` for the scores.
    """

    kind: ClassVar[str] = "drawn_surface"

    split: np.ndarray  # (n_nodes,) int32, number of the node's split; -1 in leaves
    kernel: np.ndarray  # (n_splits,) int8, a code of `KERNEL_CODES`
    column_offset: np.ndarray  # (n_splits + 1,) int64
    column: np.ndarray  # (n_columns,) int32, covariates
    offset: np.ndarray  # (n_splits + 1,) int64
    coefficient: np.ndarray  # (n_coefficients,) float64
    basis_offset: np.ndarray  # (n_splits + 1,) int64
    basis: np.ndarray  # (n_values,) float64, standardised
    intercept: np.ndarray  # (n_splits,) float64
    mean: np.ndarray  # (n_features,) float64, subtracted from covariates first
    scale: np.ndarray  # (n_features,) float64, by which they are divided then

    def standardised(self, X: np.ndarray) -> np.ndarray:
        """Return covariates on the scale of the coefficients."""
        return (X - self.mean) / self.scale

    def route(self, X: np.ndarray, left: np.ndarray) -> np.ndarray:
        return self.route_standardised(self.standardised(X), left)

    def route_standardised(self, Z: np.ndarray, left: np.ndarray) -> np.ndarray:
        """Send rows down that have been standardised already."""
        leaf = np.empty(len(Z), dtype=np.int32)
        route_surfaces(
            Z, left, self.split, self.kernel, self.column_offset, self.column, self.offset, self.coefficient,
            self.basis_offset, self.basis, self.intercept, leaf,
        )  # fmt: skip
        return leaf
