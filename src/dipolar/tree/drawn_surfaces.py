"""Splits along surfaces of a few drawn covariates each, with a kernel of its own per node: those of forests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, ClassVar

import numpy as np

from dipolar._core.surfaces import GAUSSIAN, LINEAR, QUADRATIC, n_coefficients, route_surfaces
from dipolar.factors import Surface
from dipolar.kernels import LARGEST_SCALE, GaussianKernel, Kernel, LinearKernel, PolynomialKernel
from dipolar.records import index, reals, wholes
from dipolar.records import offsets as offsets_of
from dipolar.tree.flat import entries, numbers, offsets
from dipolar.tree.rules import first_that_fits, flatten, influence_rules, polynomial_terms, sum_rules
from dipolar.tree.splits import Splits, register_kind
from dipolar.tree.surfaces import (
    COEFFICIENT,
    MEAN,
    SCALE,
    SCORE,
    SPLIT_NUMBER,
    SurfaceCut,
    Surfaces,
    check_split_numbers,
)

__all__ = ["KERNEL_CODES", "DrawnSurfaces"]

# The kernels of drawn surfaces, by the names that users give them.
KERNEL_CODES = {"linear": LINEAR, "quadratic": QUADRATIC, "rbf": GAUSSIAN}

KERNEL_CODE = wholes("splits", low=min(KERNEL_CODES.values()), high=max(KERNEL_CODES.values()), dtype=np.int8)


@register_kind
@dataclass(frozen=True, eq=False)
class DrawnSurfaces(Splits):
    """The surfaces of all nodes in flat arrays; a row with a score below 0 goes left.

    Split s, counted over the nodes that are split, owns the columns `column_offset[s]` to `column_offset[s + 1]`, the
    coefficients `offset[s]` to `offset[s + 1]` and the values `basis_offset[s]` to `basis_offset[s + 1]`: of the
    Gaussian kernel, one value per column for each coefficient. `dipolar._core.surfaces` says how they make a score.
    """

    kind: ClassVar[str] = "drawn_surface"

    split: Annotated[np.ndarray, SPLIT_NUMBER]
    kernel: Annotated[np.ndarray, KERNEL_CODE]  # a code of `KERNEL_CODES`
    column_offset: Annotated[np.ndarray, offsets_of("splits", into="columns", may_be_empty=False)]
    column: Annotated[np.ndarray, index("columns", into="features")]
    offset: Annotated[np.ndarray, offsets_of("splits", into="coefficients", may_be_empty=False)]
    coefficient: Annotated[np.ndarray, COEFFICIENT]
    basis_offset: Annotated[np.ndarray, offsets_of("splits", into="values")]
    basis: Annotated[np.ndarray, reals("values", low=-LARGEST_SCALE, high=LARGEST_SCALE)]  # standardised
    intercept: Annotated[np.ndarray, SCORE]
    mean: Annotated[np.ndarray, MEAN]
    scale: Annotated[np.ndarray, SCALE]

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
        return self.surface(node).score(self.prepare(X)[:, self.columns(node)])

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

    def rule(self, node: int, names: Sequence[str], width: int | None = None, *, prototypes: bool = False) -> str:
        columns, surface = self.columns(node), self.surface(node)
        names = [flatten(names[column]) for column in columns]
        shares = self.feature_shares(node, len(self.mean))[columns]
        influence = influence_rules(surface, names, shares)
        terms = polynomial_terms(surface, self.mean[columns], self.scale[columns])
        if terms is None:
            return first_that_fits(influence, width)
        return first_that_fits(chain(sum_rules(terms, 0.0, names, shares), influence), width)

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

    def as_single(self) -> Splits:
        """Return hyperplanes of all covariates, if all surfaces are linear: most coefficients are zero then."""
        if (self.kernel != LINEAR).any():
            return self
        n_features = len(self.mean)
        cuts: list[SurfaceCut | None] = []
        for node, split in enumerate(self.split):
            if split < 0:
                cuts.append(None)
                continue
            coefficients = np.zeros(n_features)
            coefficients[self.columns(node)] = self.surface(node).coefficients
            surface = Surface(LinearKernel(), np.empty((0, n_features)), coefficients, float(self.intercept[split]))
            cuts.append(SurfaceCut(surface, 0.0, self.feature_shares(node, n_features)))
        return Surfaces.collect(cuts, LinearKernel(), n_features, self.mean, self.scale)

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

    def _check_meaning(self, is_split: np.ndarray) -> None:
        check_split_numbers(self.split, is_split)
        n_columns, n_found, n_values = (np.diff(o) for o in (self.column_offset, self.offset, self.basis_offset))
        owner = np.repeat(np.arange(len(n_columns)), n_columns)
        if len(np.unique(owner * len(self.mean) + self.column)) < len(self.column):
            raise ValueError("a surface has a covariate twice")
        kinds = zip(self.kernel.tolist(), n_columns.tolist(), n_found.tolist())
        n_wanted = np.array([n_coefficients(*kind) for kind in kinds], np.int64)
        n_basis = np.where(self.kernel == GAUSSIAN, n_found * n_columns, 0)
        if not np.array_equal(n_found, n_wanted) or not np.array_equal(n_values, n_basis):
            raise ValueError("a surface has not the coefficients that its kernel needs")
        is_flat = np.logical_and.reduceat(self.coefficient == 0, self.offset[:-1]) if len(n_found) else n_found
        if is_flat.any():
            raise ValueError("the coefficients of a surface are all 0")


def _kernel(code: int, n_columns: int) -> Kernel:
    if code == LINEAR:
        return LinearKernel()
    return PolynomialKernel(degree=2, coef0=1.0) if code == QUADRATIC else GaussianKernel(float(n_columns))
