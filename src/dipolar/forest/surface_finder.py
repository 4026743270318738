"""Surfaces of the node SVM on drawn covariates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dipolar._core.surface_search import UNCONVERGED, cut_surfaces, settle_surfaces
from dipolar._core.surfaces import GAUSSIAN, n_coefficients
from dipolar.forest.drawing import draw_orders
from dipolar.scaling import mean_and_deviation, require_spread
from dipolar.survival import Survival
from dipolar.tree.drawn_surfaces import DrawnSurfaces
from dipolar.tree.flat import numbers, offsets
from dipolar.tree.splitter import GrowthLimits

__all__ = ["SurfaceFinder", "SurfaceRecipe"]


@dataclass(frozen=True)
class SurfaceRecipe:
    """Surfaces that part the mixed dipoles of a node, on the covariates drawn for it."""

    kernels: tuple[int, ...]  # codes, one of which is drawn for each node
    kappa: float  # weight of the mean loss of a dipole
    quantiles: tuple[float, float]  # of the time gaps of pure and mixed dipoles
    prices: tuple[float, float]  # of pure and mixed dipoles
    max_features: int  # covariates that vary in a node and are used there
    by_logrank: bool  # whether the score is cut where the log-rank statistic is largest, instead of at 0
    max_reorientations: int
    solver_tol: float
    max_rows: int  # of a node, from which its surface is learnt
    max_rank: int  # basis rows of a Gaussian surface

    def prepare(self, X: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return standardised covariates, and mean and scale by which they are."""
        require_spread(X)
        mean, scale = mean_and_deviation(X, weight)
        return (X - mean) / scale, mean, scale

    def finder(
        self,
        survival: Survival,
        weight: np.ndarray,
        limits: GrowthLimits,
        rng: np.random.Generator,
        *prepared: np.ndarray,
    ) -> SurfaceFinder:
        """Return the finder of the tree of one sample."""
        return SurfaceFinder(self, survival, weight, limits, rng, *prepared)


class _Found(NamedTuple):
    """Surfaces of some nodes, in tables that are wide enough for all of them."""

    kernel: np.ndarray  # (n_nodes,)
    n_columns: np.ndarray  # (n_nodes,)
    column: np.ndarray  # (n_nodes, max_features)
    n_found: np.ndarray  # (n_nodes,) number of coefficients
    coefficient: np.ndarray  # (n_nodes, max_coefficients)
    basis: np.ndarray  # (n_nodes, max_values)
    intercept: np.ndarray  # (n_nodes,)


class SurfaceFinder:
    """Finds the surfaces of one tree.

    Parameters
    ----------
    recipe : SurfaceRecipe
    survival, weight : Survival, ndarray
        Outcomes of all rows, sorted by time, and how often each row is in the sample.
    limits : GrowthLimits
    rng : Generator
        Draws the covariates, the kernel and, in large nodes, the rows of each surface.
    Z, mean, scale : ndarray
        Standardised covariates of all rows, and how to standardise others.
    """

    def __init__(
        self,
        recipe: SurfaceRecipe,
        survival: Survival,
        weight: np.ndarray,
        limits: GrowthLimits,
        rng: np.random.Generator,
        Z: np.ndarray,
        mean: np.ndarray,
        scale: np.ndarray,
    ) -> None:
        self.orders = np.flatnonzero(weight).astype(np.int32).reshape(1, -1)
        self.goes_left = np.zeros(len(weight), dtype=bool)
        self.n_unconverged = 0
        self._recipe, self._rng = recipe, rng
        self._Z, self._mean, self._scale = Z, mean, scale
        self._outcome = survival.time, survival.event, weight
        self._limits = np.array([limits.min_samples_leaf, limits.min_events_leaf])
        self._found: list[_Found] = [self._room(0)]

    def find(self, start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        recipe, found = self._recipe, self._room(len(start))
        drawn = draw_orders(len(start), self._Z.shape[1], recipe.max_features, self._rng)
        found.kernel[:] = self._rng.choice(recipe.kernels, len(start))
        first = self._rng.random(len(start))
        logrank, status = np.empty(len(start)), np.empty(len(start), np.int64)
        settle_surfaces(
            self._Z, self.orders[0], start, stop, drawn, first, recipe.max_features, recipe.max_rows, recipe.max_rank,
            *self._outcome, np.array(recipe.quantiles), np.array(recipe.prices), recipe.kappa, recipe.solver_tol,
            recipe.max_reorientations, *found, status,
        )  # fmt: skip
        cut_surfaces(
            self._Z, self.orders[0], start, stop, *self._outcome, self._limits, recipe.by_logrank, self.goes_left,
            *found, status, logrank,
        )  # fmt: skip
        self._found.append(found)
        self.n_unconverged += int(np.count_nonzero(status == UNCONVERGED))
        return logrank, logrank

    def freeze(self, found: np.ndarray) -> DrawnSurfaces:
        every = _Found(*(np.concatenate(parts)[found[found >= 0]] for parts in zip(*self._found)))
        n_basis = np.where(every.kernel == GAUSSIAN, every.n_columns * every.n_found, 0)
        return DrawnSurfaces(
            split=numbers(found >= 0),
            kernel=every.kernel.astype(np.int8),
            column_offset=offsets(every.n_columns),
            column=_leading(every.column, every.n_columns).astype(np.int32),
            offset=offsets(every.n_found),
            coefficient=_leading(every.coefficient, every.n_found),
            basis_offset=offsets(n_basis),
            basis=_leading(every.basis, n_basis),
            intercept=every.intercept,
            mean=self._mean,
            scale=self._scale,
        )

    def _room(self, n_nodes: int) -> _Found:
        recipe = self._recipe
        n_coefficient = max(n_coefficients(code, recipe.max_features, recipe.max_rank) for code in recipe.kernels)
        n_values = recipe.max_rank * recipe.max_features if GAUSSIAN in recipe.kernels else 0
        return _Found(
            kernel=np.empty(n_nodes, np.int64),
            n_columns=np.empty(n_nodes, np.int64),
            column=np.empty((n_nodes, recipe.max_features), np.int64),
            n_found=np.empty(n_nodes, np.int64),
            coefficient=np.empty((n_nodes, n_coefficient)),
            basis=np.empty((n_nodes, n_values)),
            intercept=np.empty(n_nodes),
        )


def _leading(table: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the first so many entries of each line, one line after the other."""
    return table[np.arange(table.shape[1]) < lengths[:, None]]
