"""Surfaces of the node SVM on drawn covariates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dipolar._core.surfaces import GAUSSIAN, NO_SPLIT, UNCONVERGED, find_surfaces, n_coefficients
from dipolar.forest.drawing import draw_orders
from dipolar.survival import Survival
from dipolar.tree.drawn_surfaces import DrawnSurfaces
from dipolar.tree.splitter import GrowthLimits
from dipolar.tree.surfaces import _numbers, _offsets

__all__ = ["SurfaceFinder", "SurfacePlan"]


@dataclass(frozen=True)
class SurfacePlan:
    """What a user chooses about the surfaces of a forest."""

    kernels: tuple[int, ...]  # codes, one of which is drawn for each node
    kappa: float
    quantiles: tuple[float, float]  # of pure and mixed dipoles
    prices: tuple[float, float]
    max_features: int
    by_logrank: bool
    max_reorientations: int = 2
    solver_tol: float = 1e-3
    max_rows: int = 256
    max_rank: int = 16


class SurfaceFinder:
    def __init__(
        self,
        Z: np.ndarray,
        survival: Survival,
        weight: np.ndarray,
        limits: GrowthLimits,
        plan: SurfacePlan,
        rng: np.random.Generator,
    ) -> None:
        self.orders = np.flatnonzero(weight).astype(np.int32).reshape(1, -1)
        self.goes_left = np.zeros(len(weight), dtype=bool)
        self._Z, self._outcome, self._plan, self._rng = Z, (survival.time, survival.event, weight), plan, rng
        self._limits = np.array([limits.min_samples_leaf, limits.min_events_leaf])
        self._quantiles, self._prices = np.array(plan.quantiles, float), np.array(plan.prices, float)
        self._found: list[list] = []
        self.n_unconverged = 0
        m = min(plan.max_features, Z.shape[1])
        self._n_columns = m
        self._rank = max(n_coefficients(kernel, m, plan.max_rank) for kernel in plan.kernels)
        self._basis = plan.max_rank * m if GAUSSIAN in plan.kernels else 0

    def find(self, start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        plan, count = self._plan, len(start)
        drawn = draw_orders(count, self._Z.shape[1], plan.max_features, self._rng)
        kernel = np.array(plan.kernels)[self._rng.integers(len(plan.kernels), size=count)]
        first = self._rng.random(count)
        logrank = np.empty(count)
        status = np.empty(count, np.int64)
        n_columns, column = np.empty(count, np.int64), np.empty((count, self._n_columns), np.int64)
        n_found, coefficient = np.empty(count, np.int64), np.empty((count, self._rank))
        basis, intercept = np.empty((count, self._basis)), np.empty(count)
        find_surfaces(
            self._Z, self.orders[0], start, stop, drawn, kernel, first, plan.max_features, plan.max_rows,
            plan.max_rank, *self._outcome, self._limits, self._quantiles, self._prices, plan.kappa, plan.solver_tol,
            plan.max_reorientations, plan.by_logrank, self.goes_left,
            n_columns, column, n_found, coefficient, basis, intercept, logrank, status,
        )  # fmt: skip
        self._found.append([kernel, n_columns, column, n_found, coefficient, basis, intercept])
        self.n_unconverged += np.count_nonzero(status == UNCONVERGED)
        logrank[status == NO_SPLIT] = 0.0
        return logrank, logrank

    def freeze(self, found: np.ndarray) -> DrawnSurfaces:
        used = found[found >= 0]
        if not len(self._found):
            self.find(np.empty(0, np.int64), np.empty(0, np.int64))
        kernel, n_columns, column, n_found, coefficient, basis, intercept = (
            np.concatenate(parts)[used] for parts in zip(*self._found)
        )
        n_basis = np.where(kernel == GAUSSIAN, n_columns * n_found, 0)
        p = self._Z.shape[1]
        return DrawnSurfaces(
            split=_numbers(found >= 0),
            kernel=kernel.astype(np.int8),
            column_offset=_offsets(n_columns),
            column=column[np.arange(column.shape[1]) < n_columns[:, None]].astype(np.int32),
            offset=_offsets(n_found),
            coefficient=coefficient[np.arange(coefficient.shape[1]) < n_found[:, None]],
            basis_offset=_offsets(n_basis),
            basis=basis[np.arange(basis.shape[1]) < n_basis[:, None]],
            intercept=intercept,
            mean=np.zeros(p),
            scale=np.ones(p),
        )
