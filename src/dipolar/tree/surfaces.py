"""Splits along surfaces: hyperplanes, and whatever a kernel makes of them.

A row goes left when its score is below the boundary of the node, a number so close to 0 that it only decides about
rows on the surface, at fit and at predict alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from dipolar.factors import Surface
from dipolar.kernels import (
    LARGEST_SCALE,
    MAX_DEGREE,
    GaussianKernel,
    Kernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    SigmoidKernel,
)
from dipolar.parameters import check_number
from dipolar.records import index, reals
from dipolar.records import offsets as offsets_of
from dipolar.scaling import SMALLEST_SPREAD
from dipolar.tree.flat import entries, numbers, offsets
from dipolar.tree.rules import (
    first_that_fits,
    flatten,
    influence_rules,
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

# What the parameters of a kernel may be; products of them with covariates stay finite.
KERNEL_RANGES: dict[str, dict[str, Any]] = {
    "degree": {"low": 1, "high": MAX_DEGREE, "whole": True},
    "coef0": {"low": -LARGEST_SCALE, "high": LARGEST_SCALE},
    "gamma": {"low": LARGEST_SCALE**-3, "high": LARGEST_SCALE**3},
    "sigma2": {"low": LARGEST_SCALE**-3, "high": LARGEST_SCALE**3},
}

# Coefficients and kernel values, and scores, which are sums of products of both, are no larger.
LARGEST_FACTOR, LARGEST_SCORE = LARGEST_SCALE**2, LARGEST_SCALE**3

# Shares sum to 1 but for rounding, which may also make values of kernels larger.
ROUNDING = 1e-6

# Rows of a node that are looked at to share its gain among the covariates.
ROWS_FOR_SHARES = 64

# Numbers that may be copied at a time for that (8 MB).
NUMBERS_FOR_SHARES = 1_000_000


# Arrays that all kinds of surfaces have.
SPLIT_NUMBER = index("nodes", into="splits", may_be_missing=True)  # number of the node's split; -1 in leaves
COEFFICIENT = reals("coefficients", low=-LARGEST_FACTOR, high=LARGEST_FACTOR)
SCORE = reals("splits", low=-LARGEST_SCORE, high=LARGEST_SCORE)
MEAN = reals("features", low=-2 * LARGEST_SCALE, high=2 * LARGEST_SCALE)  # subtracted from covariates first
SCALE = reals("features", low=SMALLEST_SPREAD, high=2 * LARGEST_SCALE)  # by which they are divided then


@dataclass(frozen=True)
class SurfaceCut:
    """One split surface, as found."""

    surface: Surface
    boundary: float  # rows with a score below it go left
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
    split: Annotated[np.ndarray, SPLIT_NUMBER]
    offset: Annotated[np.ndarray, offsets_of("splits", into="coefficients")]
    coefficient: Annotated[np.ndarray, COEFFICIENT]
    basis_offset: Annotated[np.ndarray, offsets_of("splits", into="uses of rows")]
    basis_row: Annotated[np.ndarray, index("uses of rows", into="rows")]
    basis: Annotated[np.ndarray, reals("rows", "features", low=-LARGEST_SCALE, high=LARGEST_SCALE)]  # scaled
    intercept: Annotated[np.ndarray, SCORE]
    boundary: Annotated[np.ndarray, SCORE]
    shares: Annotated[np.ndarray, reals("splits", "features", low=0, high=1 + ROUNDING)]
    mean: Annotated[np.ndarray, MEAN]
    scale: Annotated[np.ndarray, SCALE]

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
            boundary=np.array([cut.boundary for cut in found], np.float64),
            shares=np.array([cut.shares for cut in found], np.float64).reshape(len(found), n_features),
            mean=np.zeros(n_features) if mean is None else np.asarray(mean, np.float64),
            scale=np.ones(n_features) if scale is None else np.asarray(scale, np.float64),
        )

    def surface(self, node: int) -> Surface:
        """Return the surface of a node that is split; it scores rows that have been standardised."""
        split = self.split[node]
        rows = self.basis_row[self.basis_offset[split] : self.basis_offset[split + 1]]
        coefficient = self.coefficient[self.offset[split] : self.offset[split + 1]]
        return Surface(self.kernel, self.basis[rows], coefficient, float(self.intercept[split]))

    def score(self, X: np.ndarray, node: int) -> np.ndarray:
        return self.surface(node).score(self._standardised(X))

    def goes_left(self, X: np.ndarray, node: int) -> np.ndarray:
        return self.score(X, node) < self.boundary[self.split[node]]

    def feature_shares(self, node: int, n_features: int) -> np.ndarray:
        return self.shares[self.split[node]]

    def used(self, n_features: int) -> np.ndarray:
        return np.asarray((self.shares > 0).any(axis=0))

    def rule(self, node: int, names: Sequence[str], width: int | None = None, *, prototypes: bool = False) -> str:
        surface, shares = self.surface(node), self.shares[self.split[node]]
        names = [flatten(name) for name in names]
        terms = self.terms(node)
        if terms is not None:
            sums = sum_rules(terms, self.boundary[self.split[node]], names, shares)
            return first_that_fits(chain(sums, influence_rules(surface, names, shares)), width)
        rule = first_that_fits(influence_rules(surface, names, shares), width)
        if not prototypes or width is not None or not len(surface.rows):
            return rule
        rows = surface.rows * self.scale + self.mean
        return f"{rule}; {prototype_text(rows, surface.score(surface.rows), names, shares)}"

    def terms(self, node: int) -> dict[tuple[int, ...], float] | None:
        """Return the score of a node as a sum: the coefficient of each product of covariates, in their own units.

        A product is given by its columns, repeated for powers; () is the constant. None where the kernel is not a
        polynomial.
        """
        return polynomial_terms(self.surface(node), self.mean, self.scale)

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

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], settings: Mapping[str, Any]) -> Self:
        return cls.of_arrays(arrays, kernel=_read_kernel(settings))

    def _check_meaning(self, is_split: np.ndarray) -> None:
        check_split_numbers(self.split, is_split)
        _check_kernel(self.kernel)
        if (np.abs(self.shares.sum(axis=1) - 1.0) > ROUNDING).any():
            raise ValueError("the shares of a surface do not sum to 1")
        n_found, n_rows = np.diff(self.offset), np.diff(self.basis_offset)
        # Coefficients belong to basis rows, or to the explicit features of the kernel, or there are none.
        n_wanted = np.where(n_rows > 0, n_rows, self.kernel.n_features(len(self.mean)) or 0)
        if ((n_found != n_wanted) & ((n_found > 0) | (n_rows > 0))).any():
            raise ValueError("a surface has not the coefficients that its kernel needs")
        with np.errstate(over="ignore"):
            largest = self.kernel.diagonal(self.basis).max(initial=0.0)
        if not largest <= LARGEST_FACTOR * (1 + ROUNDING):
            raise ValueError(f"the kernel is larger than {LARGEST_FACTOR:g} on a basis row")

    def _standardised(self, X: np.ndarray) -> np.ndarray:
        if not self.mean.any() and (self.scale == 1).all():
            return X
        return (X - self.mean) / self.scale


def check_split_numbers(split: np.ndarray, is_split: np.ndarray) -> None:
    """Raise ValueError unless the nodes that are split, and no others, have the surfaces 0, 1, 2, ..."""
    if not np.array_equal(split, numbers(is_split)):
        raise ValueError("the surfaces do not belong to the nodes that are split")


def _read_kernel(settings: Mapping[str, Any]) -> Kernel:
    name, parameters = settings.get("kernel"), settings.get("parameters")
    if not isinstance(name, str) or name not in SAVED_KERNELS:
        raise ValueError(f"an unknown kernel {name!r:.60}; known are {sorted(SAVED_KERNELS)}")
    kernel = SAVED_KERNELS[name]
    wanted = {field.name for field in fields(kernel)}
    if not isinstance(parameters, dict) or parameters.keys() != wanted:
        raise ValueError(f"a {name} has other parameters than {sorted(wanted)}")
    return kernel(**parameters)


def _check_kernel(kernel: Kernel) -> None:
    values = {field.name: getattr(kernel, field.name) for field in fields(kernel)}
    for name, value in values.items():
        check_number(name, value, **KERNEL_RANGES[name])
    if isinstance(kernel, PolynomialKernel):
        check_number("coef0", kernel.coef0, low=0)
        with np.errstate(over="ignore"):
            constant = np.float64(kernel.coef0) ** kernel.degree
        if not constant <= LARGEST_SCORE * (1 + ROUNDING):
            raise ValueError(f"coef0={kernel.coef0:g} to the power of {kernel.degree} is larger than {LARGEST_SCORE:g}")
