"""The default solver: `_core.interior_point` on a scaled problem, compiled for small ranks, by BLAS for large ones.

With few features a step is a handful of short loops, and compiled code runs the whole method. With many, nearly all
the time goes into forming and factoring the Newton matrix, which BLAS and LAPACK do several times faster than loops;
the loop around them is then Python, over the same compiled steps.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

from dipolar._core.interior_point import (
    LEFT,
    N_HINGE_ROWS,
    PATIENCE,
    PRICE,
    ROOM,
    SLACK,
    advance,
    factorise,
    follow_scores,
    has_converged,
    interior_point,
    plan_prices,
    prepare_step,
)
from dipolar.node_svm.problem import NodeProblem, NodeSolution, finish

__all__ = ["solve_interior_point"]

# Newton steps; the method has never been seen to need half as many.
MAX_NEWTON_STEPS = 100

# The method aims at this fraction of the tolerance. Its last steps gain several digits each, so the better scores are
# nearly free, and what rounding takes from them at extreme kappa does not matter.
OVERSHOOT = 1e-3

# From this rank on, BLAS is faster than compiled loops.
BLAS_RANK = 48


def solve_interior_point(problem: NodeProblem, tol: float) -> NodeSolution:
    """Scale the problem to unit margin and costs of at most 1, solve it, and scale back."""
    n, rank = problem.features.shape
    largest = max(problem.upward.max(), problem.downward.max())
    scale = np.sqrt(problem.kappa * largest / problem.margin)
    cost = np.concatenate((problem.upward, problem.downward))
    cost /= largest

    hinge = _central_hinges(cost)
    iterate = iterate_by_blas if rank >= BLAS_RANK else iterate_compiled
    solution, iterations = iterate(problem.features, scale, cost, OVERSHOOT * tol, hinge)
    weights = (problem.margin * scale) * solution[:rank]
    mu = (problem.kappa * largest) * hinge[PRICE]
    return finish(problem, weights, mu[:n], mu[n:], iterations, tol)


def iterate_compiled(
    features: np.ndarray, scale: float, cost: np.ndarray, tol: float, hinge: np.ndarray
) -> tuple[np.ndarray, int]:
    """Run the method in compiled code; returns (w, b) and the number of steps, and overwrites `hinge`."""
    n, rank = features.shape
    solution, scores = np.zeros(rank + 1), np.zeros(n)
    scratch = np.empty((rank + 1, rank + 1)), *np.empty((3, rank + 1)), *np.empty((3, n))
    arguments = features, scale, cost, tol, MAX_NEWTON_STEPS, hinge, *scratch, solution, scores
    return solution, interior_point(*arguments)


def iterate_by_blas(
    features: np.ndarray, scale: float, cost: np.ndarray, tol: float, hinge: np.ndarray
) -> tuple[np.ndarray, int]:
    """The same method step by step; see `_core.interior_point.interior_point`."""
    n = len(features)
    lifted = np.column_stack((scale * features, np.ones(n)))  # scores are `lifted @ solution`
    ridge = np.append(np.ones(features.shape[1]), 0.0)
    solution, scores = np.zeros(lifted.shape[1]), np.zeros(n)
    curvature, pulls = np.empty(n), np.empty(n)
    n_products = 2 * np.count_nonzero(cost)

    best, fruitless = np.inf, 0
    for iteration in range(MAX_NEWTON_STEPS):
        gap = hinge[PRICE] @ hinge[ROOM] + hinge[LEFT] @ hinge[SLACK]
        residual = (hinge[PRICE, :n] - hinge[PRICE, n:]) @ lifted - ridge * solution
        objective = cost @ hinge[SLACK] + 0.5 * (ridge * solution) @ solution
        off = gap + np.abs(residual).sum()
        fruitless = 0 if off < 0.9 * best else fruitless + 1
        best = min(best, off)
        if has_converged(gap, objective, np.abs(residual * solution).sum(), tol) or fruitless > PATIENCE:
            return solution, iteration

        prepare_step(hinge, curvature)
        factor = _newton_factor(lifted, curvature, ridge)
        target = 0.0
        for corrector in (False, True):
            plan_prices(hinge, scores, target, corrector, pulls)
            direction = dpotrs(factor, pulls @ lifted + residual, lower=1)[0]
            moved = lifted @ direction
            length, gap_after = follow_scores(hinge, moved, gap)
            target = (gap_after / gap) ** 2 * gap_after / n_products
        advance(hinge, length)
        solution += length * direction
        scores += length * moved
    return solution, MAX_NEWTON_STEPS


def _newton_factor(lifted: np.ndarray, curvature: np.ndarray, ridge: np.ndarray) -> np.ndarray:
    """Cholesky factor of ridge + lifted' C lifted."""
    root = lifted * np.sqrt(curvature)[:, None]
    matrix = dsyrk(1.0, root.T, lower=1)
    matrix.flat[:: len(ridge) + 1] += ridge
    factor, info = dpotrf(matrix, lower=1)
    if info == 0:
        return factor
    # Rounding has made it indefinite; the compiled factor blocks the directions that are lost.
    by_rows = np.ascontiguousarray(matrix)
    factorise(by_rows, np.empty(len(ridge)), np.empty(len(ridge)))
    return np.asfortranarray(by_rows)


def _central_hinges(cost: np.ndarray) -> np.ndarray:
    """A first point for w = b = 0 at which price * room = left * slack; hinges without a cost stay zero."""
    hinge = np.zeros((N_HINGE_ROWS, len(cost)))
    present = cost > 0
    hinge[PRICE] = cost * (2.0 / 3.0)
    hinge[LEFT] = cost * (1.0 / 3.0)
    hinge[ROOM] = present
    hinge[SLACK] = 2.0 * present
    return hinge
