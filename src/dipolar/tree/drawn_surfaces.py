"""Splits along surfaces of a few drawn covariates each, with a kernel of its own per node: those of forests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from dipolar._core.surfaces import GAUSSIAN, LINEAR, QUADRATIC, fill_scores, n_coefficients, route_surfaces
from dipolar.factors import Surface
from dipolar.kernels import GaussianKernel, Kernel, LinearKernel, PolynomialKernel
from dipolar.tree.flat import entries, is_offset, numbers, offsets
from dipolar.tree.rules import (
    Condition,
    first_that_fits,
    flatten,
    influence_rules,
    plain_monomials,
    plain_terms,
    polynomial_terms,
    sum_rules,
)
from dipolar.tree.splits import Splits, register_kind

__all__ = ["KERNEL_CODES", "DrawnSurfaces"]

# The kernels of drawn surfaces, by the names that users give them.
KERNEL_CODES = {"linear": LINEAR, "quadratic": QUADRATIC, "rbf": GAUSSIAN}


@register_kind
@dataclass(frozen=True, eq=False)
class DrawnSurfaces(Splits):
    """The surfaces of all nodes in flat arrays; a row with a score below 0 goes left.

    Split s, counted over the nodes that are split, owns the columns `column_offset[s]` to `column_offset[s + 1]`, the
    coefficients `offset[s]` to `offset[s + 1]` and the values `basis_offset[s]` to `basis_offset[s + 1]`: of the
    Gaussian kernel, one value per column for each coefficient. `dipolar._core.surfaces` says how they make a score.
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

    def columns(self, node: int) -> np.ndarray:
        """Return the covariates that a node looks at."""
        split = self.split[node]
        return self.column[self.column_offset[split] : self.column_offset[split + 1]]

    def surface(self, node: int) -> Surface:
        """Return the surface of a node that is split; it scores the node's columns of standardised rows."""
        split = self.split[node]
        n_columns = len(self.columns(node))
        basis = self.basis[self.basis_offset[split] : self.basis_offset[split + 1]].reshape(-1, n_columns)
        coefficient = self.coefficient[self.offset[split] : self.offset[split + 1]]
        kernel = _kernel(int(self.kernel[split]), n_columns)
        return Surface(kernel, basis, coefficient, float(self.intercept[split]))

    def score(self, X: np.ndarray, node: int) -> np.ndarray:
        surface, scores = self.surface(node), np.empty(len(X))
        fill_scores(
            int(self.kernel[self.split[node]]), self.prepare(X), np.arange(len(X), dtype=np.int32),
            self.columns(node).astype(np.int64), surface.coefficients, surface.rows.ravel(), surface.intercept, scores,
        )  # fmt: skip
        return scores

    def feature_shares(self, node: int, n_features: int) -> np.ndarray:
        """Share by the absolute coefficients of standardised covariates; a product counts for both its factors.

        The coefficients of a Gaussian surface do not belong to covariates, which then share equally.
        """
        columns, surface = self.columns(node), self.surface(node)
        shares = np.zeros(n_features)
        terms = polynomial_terms(surface, np.zeros(len(columns)), np.ones(len(columns)))
        if terms is None:
            shares[columns] = 1.0
        else:
            for monomial, weight in terms.items():
                shares[columns[list(monomial)]] += abs(weight)
        return shares / shares.sum()

    def used(self, n_features: int) -> np.ndarray:
        return np.bincount(self.column, minlength=n_features) > 0

    def condition(self, node: int, names: Sequence[str], width: int | None = None) -> Condition:
        columns, surface = self.columns(node), self.surface(node)
        names = [flatten(names[column]) for column in columns]
        shares = self.feature_shares(node, len(self.mean))[columns]
        terms = polynomial_terms(surface, self.mean[columns], self.scale[columns])
        sums = () if terms is None else sum_rules(terms, surface.boundary, names, shares)
        return first_that_fits(chain(sums, influence_rules(surface, names, shares)), width)

    def terms(self, node: int) -> dict[tuple[int, ...], float] | None:
        """Return the score of a node as a sum, as :meth:`dipolar.tree.surfaces.Surfaces.terms` does."""
        columns = self.columns(node)
        terms = polynomial_terms(self.surface(node), self.mean[columns], self.scale[columns])
        if terms is None:
            return None
        return {tuple(columns[list(places)].tolist()): weight for places, weight in terms.items()}

    def plain_shared(self, rows: bool) -> dict[str, Any]:
        return {"mean": self.mean.tolist(), "scale": self.scale.tolist()}

    def plain(self, node: int, rows: bool) -> dict[str, Any]:
        columns, surface = self.columns(node), self.surface(node)
        return {
            "kernel": surface.kernel.plain(),
            "columns": columns.tolist(),
            "coefficients": surface.coefficients.tolist(),
            "monomials": plain_monomials(surface.kernel, columns),
            "basis": surface.rows.tolist() if rows else None,
            "intercept": surface.intercept,
            "boundary": surface.boundary,
            "shares": self.feature_shares(node, len(self.mean)).tolist(),
            "terms": plain_terms(self.terms(node)),
        }

    def take(self, nodes: np.ndarray, is_split: np.ndarray) -> DrawnSurfaces:
        kept = self.split[nodes[is_split]]
        return replace(
            self,
            split=numbers(is_split),
            kernel=self.kernel[kept],
            column_offset=offsets(np.diff(self.column_offset)[kept]),
            column=self.column[entries(self.column_offset, kept)],
            offset=offsets(np.diff(self.offset)[kept]),
            coefficient=self.coefficient[entries(self.offset, kept)],
            basis_offset=offsets(np.diff(self.basis_offset)[kept]),
            basis=self.basis[entries(self.basis_offset, kept)],
            intercept=self.intercept[kept],
        )

    def prepare(self, X: np.ndarray) -> np.ndarray:
        return (X - self.mean) / self.scale

    def route(self, X: np.ndarray, left: np.ndarray) -> np.ndarray:
        return self.route_prepared(self.prepare(X), left)

    def route_prepared(self, X: np.ndarray, left: np.ndarray) -> np.ndarray:
        leaf = np.empty(len(X), dtype=np.int32)
        route_surfaces(
            X, left, self.split, self.kernel, self.column_offset, self.column, self.offset, self.coefficient,
            self.basis_offset, self.basis, self.intercept, leaf,
        )  # fmt: skip
        return leaf

    def to_arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in DRAWN_FIELDS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], settings: Mapping[str, Any]) -> DrawnSurfaces:
        return cls(**{name: np.asarray(arrays[name], dtype) for name, dtype in DRAWN_FIELDS.items()})

    def check(self, is_split: np.ndarray, n_features: int) -> None:
        n_splits = int(is_split.sum())
        if not np.array_equal(self.split, numbers(is_split)):
            raise ValueError("the surfaces do not belong to the nodes that are split")
        shapes_fit = (
            self.kernel.shape == self.intercept.shape == (n_splits,)
            and is_offset(self.column_offset, n_splits, len(self.column))
            and is_offset(self.offset, n_splits, len(self.coefficient))
            and is_offset(self.basis_offset, n_splits, len(self.basis))
            and self.mean.shape == self.scale.shape == (n_features,)
        )
        if not shapes_fit or ((self.column < 0) | (self.column >= n_features)).any():
            raise ValueError("the arrays of the surfaces do not fit together")
        n_columns, n_found, n_basis = (np.diff(o) for o in (self.column_offset, self.offset, self.basis_offset))
        for code, columns, found, basis in zip(self.kernel, n_columns, n_found, n_basis):
            if code not in KERNEL_CODES.values() or columns == 0:
                raise ValueError("a surface has no covariates, or an unknown kernel")
            if found != n_coefficients(code, columns, found) or basis != (found * columns if code == GAUSSIAN else 0):
                raise ValueError("a surface has not the coefficients that its kernel needs")


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


def _kernel(code: int, n_columns: int) -> Kernel:
    if code == LINEAR:
        return LinearKernel()
    return PolynomialKernel(degree=2, coef0=1.0) if code == QUADRATIC else GaussianKernel(float(n_columns))
