"""Splits along surfaces: hyperplanes, and whatever a kernel makes of them.

A row goes left when its score is below 0; :class:`dipolar.factors.Surface` says which way rows on the surface go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from dipolar.factors import Surface
from dipolar.kernels import (
    GaussianKernel,
    Kernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    SigmoidKernel,
)
from dipolar.tree.flat import entries, is_offset, numbers, offsets
from dipolar.tree.rules import (
    Condition,
    first_that_fits,
    flatten,
    influence_rules,
    plain_monomials,
    plain_terms,
    polynomial_terms,
    prototype_text,
    sum_rules,
)
from dipolar.tree.splits import Splits, register_kind

__all__ = ["SurfaceCut", "Surfaces", "surface_shares"]

# The kernels that a saved file may name. A name from a file only ever selects an entry of this table.
SAVED_KERNELS: dict[str, type[Kernel]] = {
    cls.__name__: cls for cls in (LinearKernel, PolynomialKernel, GaussianKernel, LaplacianKernel, SigmoidKernel)
}

# Rows of a node that are looked at to share its gain among the covariates.
ROWS_FOR_SHARES = 64

# Numbers that may be copied at a time for that (8 MB).
NUMBERS_FOR_SHARES = 1_000_000


@dataclass(frozen=True)
class SurfaceCut:
    """One split surface, as found."""

    surface: Surface
    shares: np.ndarray  # (n_features,) how the gain is shared among covariates: not negative, sum 1


def surface_shares(surface: Surface, X: np.ndarray) -> np.ndarray:
    """Share the gain of a surface among the covariates by how much its score depends on each.

    A covariate counts with the mean absolute change of the score when its values are replaced by their mean. For a
    hyperplane this is |coefficient| times the mean absolute deviation. At most 64 rows, evenly spread, are looked at.

    Parameters
    ----------
    surface : Surface
        The split of the node.
    X : ndarray of shape (n_rows, n_features)
        The rows of the node, scaled as the surface wants them.
    """
    n_features = X.shape[1]
    effect = np.zeros(n_features)
    if len(X) > ROWS_FOR_SHARES:
        X = X[np.linspace(0, len(X) - 1, ROWS_FOR_SHARES).astype(np.int64)]
    scores, mean = surface.score(X), X.mean(axis=0)
    step = max(1, NUMBERS_FOR_SHARES // X.size)
    for first in range(0, n_features, step):
        features = np.arange(first, min(first + step, n_features))
        flattened = np.tile(X, (len(features), 1, 1))
        flattened[np.arange(len(features)), :, features] = mean[features, None]
        moved = surface.score(flattened.reshape(-1, n_features)).reshape(len(features), len(X))
        effect[features] = np.abs(moved - scores).mean(axis=1)
    total = effect.sum()
    return effect / total if total > 0 else np.full(n_features, 1.0 / n_features)


@register_kind
@dataclass(frozen=True, eq=False)
class Surfaces(Splits):
    """The surfaces of all nodes in flat arrays.

    Split s, counted over the nodes that are split, owns the coefficients `offset[s]` to `offset[s + 1]` and the basis
    rows `basis_row[basis_offset[s]]` to `basis_row[basis_offset[s + 1]]`: none of them where its coefficients belong
    to explicit features of the kernel. Each basis row is kept once, whatever the number of nodes that use it.
    """

    kind: ClassVar[str] = "surface"

    kernel: Kernel
    split: np.ndarray  # (n_nodes,) int32, number of the node's split; -1 in leaves
    offset: np.ndarray  # (n_splits + 1,) int64
    coefficient: np.ndarray  # (n_coefficients,) float64
    basis_offset: np.ndarray  # (n_splits + 1,) int64
    basis_row: np.ndarray  # (n_basis_rows,) int32, rows of `basis`
    basis: np.ndarray  # (n_basis, n_columns) float64, scaled
    intercept: np.ndarray  # (n_splits,) float64
    boundary: np.ndarray  # (n_splits,) float64
    shares: np.ndarray  # (n_splits, n_features) float64
    mean: np.ndarray  # (n_features,) float64, subtracted from covariates first
    scale: np.ndarray  # (n_features,) float64, by which they are divided then

    @classmethod
    def collect(
        cls,
        cuts: Sequence[SurfaceCut | None],
        kernel: Kernel,
        n_features: int,
        mean: np.ndarray | None = None,
        scale: np.ndarray | None = None,
    ) -> Surfaces:
        """Build the record from one surface per node, None in leaves.

        `mean` and `scale` say how covariates were standardised; None leaves them as they are.
        """
        found = [cut for cut in cuts if cut is not None]
        surfaces = [cut.surface for cut in found]
        rows = [surface.rows for surface in surfaces if len(surface.rows)]
        none = np.empty((0, n_features)), np.empty(0)
        basis, basis_row = np.unique(np.concatenate(rows), axis=0, return_inverse=True) if rows else none
        return cls(
            kernel=kernel,
            split=numbers(np.array([cut is not None for cut in cuts])),
            offset=offsets([len(surface.coefficients) for surface in surfaces]),
            coefficient=np.concatenate([np.empty(0), *(surface.coefficients for surface in surfaces)]),
            basis_offset=offsets([len(surface.rows) for surface in surfaces]),
            basis_row=basis_row.reshape(-1).astype(np.int32),
            basis=basis,
            intercept=np.array([surface.intercept for surface in surfaces], np.float64),
            boundary=np.array([surface.boundary for surface in surfaces], np.float64),
            shares=np.array([cut.shares for cut in found], np.float64).reshape(len(found), n_features),
            mean=np.zeros(n_features) if mean is None else np.asarray(mean, np.float64),
            scale=np.ones(n_features) if scale is None else np.asarray(scale, np.float64),
        )

    def surface(self, node: int) -> Surface:
        """Return the surface of a node that is split; it scores rows that have been standardised."""
        split = self.split[node]
        rows = self.basis_row[self.basis_offset[split] : self.basis_offset[split + 1]]
        coefficient = self.coefficient[self.offset[split] : self.offset[split + 1]]
        place = float(self.intercept[split]), float(self.boundary[split])
        return Surface(self.kernel, self.basis[rows], coefficient, *place)

    def score(self, X: np.ndarray, node: int) -> np.ndarray:
        return self.surface(node).score(self._standardised(X))

    def feature_shares(self, node: int, n_features: int) -> np.ndarray:
        return self.shares[self.split[node]]

    def used(self, n_features: int) -> np.ndarray:
        return np.asarray((self.shares > 0).any(axis=0))

    def condition(self, node: int, names: Sequence[str], width: int | None = None) -> Condition:
        surface, shares = self.surface(node), self.shares[self.split[node]]
        names = [flatten(name) for name in names]
        terms = self.terms(node)
        sums = () if terms is None else sum_rules(terms, surface.boundary, names, shares)
        return first_that_fits(chain(sums, influence_rules(surface, names, shares)), width)

    def prototypes(self, node: int, names: Sequence[str]) -> str:
        surface, shares = self.surface(node), self.shares[self.split[node]]
        if not len(surface.rows) or self.terms(node) is not None:
            return ""
        rows = surface.rows * self.scale + self.mean
        return prototype_text(rows, surface.score(surface.rows), [flatten(name) for name in names], shares)

    def terms(self, node: int) -> dict[tuple[int, ...], float] | None:
        """Return the score of a node as a sum: the coefficient of each product of covariates, in their own units.

        A product is given by its columns, repeated for powers; () is the constant. None where the kernel is not a
        polynomial.
        """
        return polynomial_terms(self.surface(node), self.mean, self.scale)

    def plain_shared(self, rows: bool) -> dict[str, Any]:
        columns = np.arange(len(self.mean))
        is_expanded = self.kernel.n_features(len(columns)) is not None
        return {
            "kernel": self.kernel.plain(),
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            "monomials": plain_monomials(self.kernel, columns) if is_expanded else [],
            "basis": self.basis.tolist() if rows else None,
        }

    def plain(self, node: int, rows: bool) -> dict[str, Any]:
        split, surface = self.split[node], self.surface(node)
        return {
            "coefficients": surface.coefficients.tolist(),
            "basis_rows": self.basis_row[self.basis_offset[split] : self.basis_offset[split + 1]].tolist(),
            "intercept": surface.intercept,
            "boundary": surface.boundary,
            "shares": self.shares[split].tolist(),
            "terms": plain_terms(self.terms(node)),
        }

    def take(self, nodes: np.ndarray, is_split: np.ndarray) -> Surfaces:
        kept = self.split[nodes[is_split]]
        rows = self.basis_row[entries(self.basis_offset, kept)]
        used, basis_row = np.unique(rows, return_inverse=True)
        return replace(
            self,
            split=numbers(is_split),
            offset=offsets(np.diff(self.offset)[kept]),
            coefficient=self.coefficient[entries(self.offset, kept)],
            basis_offset=offsets(np.diff(self.basis_offset)[kept]),
            basis_row=basis_row.reshape(-1).astype(np.int32),
            basis=self.basis[used],
            intercept=self.intercept[kept],
            boundary=self.boundary[kept],
            shares=self.shares[kept],
        )

    def settings(self) -> dict[str, Any]:
        parameters = {field.name: getattr(self.kernel, field.name) for field in fields(self.kernel)}
        return {"kernel": type(self.kernel).__name__, "parameters": parameters}

    def to_arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in SURFACE_FIELDS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], settings: Mapping[str, Any]) -> Surfaces:
        name = settings["kernel"]
        if name not in SAVED_KERNELS:
            raise ValueError(f"an unknown kernel {name!r}; known are {sorted(SAVED_KERNELS)}")
        kernel = SAVED_KERNELS[name](**settings["parameters"])
        return cls(kernel, **{name: np.asarray(arrays[name], dtype) for name, dtype in SURFACE_FIELDS.items()})

    def check(self, is_split: np.ndarray, n_features: int) -> None:
        n_splits = int(is_split.sum())
        if not np.array_equal(self.split, numbers(is_split)):
            raise ValueError("the surfaces do not belong to the nodes that are split")
        shapes_fit = (
            is_offset(self.offset, n_splits, len(self.coefficient))
            and is_offset(self.basis_offset, n_splits, len(self.basis_row))
            and self.basis.shape[1:] == (n_features,)
            and self.intercept.shape == self.boundary.shape == (n_splits,)
            and self.shares.shape == (n_splits, n_features)
            and self.mean.shape == self.scale.shape == (n_features,)
        )
        if not shapes_fit or ((self.basis_row < 0) | (self.basis_row >= len(self.basis))).any():
            raise ValueError("the arrays of the surfaces do not fit together")

    def _standardised(self, X: np.ndarray) -> np.ndarray:
        if not self.mean.any() and (self.scale == 1).all():
            return X
        return (X - self.mean) / self.scale


# Name and width of the arrays of surfaces.
SURFACE_FIELDS = {
    "split": np.int32,
    "offset": np.int64,
    "coefficient": np.float64,
    "basis_offset": np.int64,
    "basis_row": np.int32,
    "basis": np.float64,
    "intercept": np.float64,
    "boundary": np.float64,
    "shares": np.float64,
    "mean": np.float64,
    "scale": np.float64,
}
