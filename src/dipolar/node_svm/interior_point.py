"""The default solver: `_core.interior_point` on a scaled problem, compiled for most nodes, by BLAS for the largest.

Compiled code runs the whole method, and while the features fit the cache nothing is faster. In larger nodes with many
features nearly all the time goes into forming and factoring the Newton matrix, which is what BLAS and LAPACK are for;
the loop around them is then Python, over the same compiled steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs

from dipolar._core.interior_point import (
    FRUITFUL,
    LEAST_REACH,
    MOST_REACH,
    N_PAIR_ROWS,
    PATIENCE,
    PRICE,
    TRUST,
    advance,
    central_pairs,
    factorise,
    follow_scores,
    has_converged,
    interior_point,
    measure_pairs,
    measure_surface,
    plan_prices,
    prepare_step,
    substitute,
)
from dipolar.node_svm.problem import NodeProblem, NodeSolution, SolverStatus, finish

__all__ = ["solve_interior_point"]

# Newton steps; the method has never been seen to need half as many.
MAX_NEWTON_STEPS = 100

# The method aims at this fraction of the tolerance. Its last steps gain several digits each, so the better scores are
# nearly free, and what rounding takes from them at extreme kappa does not matter.
OVERSHOOT = 1e-3

# Bounds seen on the way are not quite exact; the method stops when one is clearly above what is enough.
CLEARLY = 1.002

# BLAS is faster than compiled loops from this rank and this many multiplications per Newton matrix on.
BLAS_RANK = 48
BLAS_WORK = 1e8


def solve_interior_point(problem: NodeProblem, tol: float, enough: float = np.inf) -> NodeSolution:
    """Scale the problem to unit margin and costs of at most 1, solve it, and scale back.

    Once the optimum is certain to lie above `enough` the method stops; the solution is then not optimal, but its dual
    value proves that.
    """
    n, rank = problem.features.shape
    cost = np.concatenate((problem.upward, problem.downward))
    largest = cost.max()
    cost /= largest
    scale = math.sqrt(problem.kappa * largest / problem.margin)
    value = problem.margin * problem.kappa * largest  # of one unit of the scaled objective

    lifted = lift(problem.features, scale)
    pairs = np.zeros((N_PAIR_ROWS, 4 * n))
    iterate = iterate_by_blas if suits_blas(n, rank) else iterate_compiled
    surface, iterations = iterate(lifted, cost, OVERSHOOT * tol, CLEARLY * enough / value, pairs)
    if not math.isfinite(surface @ surface) or not math.isfinite(scale):
        surface[:] = pairs[PRICE] = 0.0  # a certificate that is far off tells of the overflow
    weights = surface[1 : rank + 1] * (problem.margin * scale)
    mu = pairs[PRICE, : 2 * n] * (problem.kappa * largest)
    is_race = math.isfinite(enough)
    solution = finish(problem, weights, mu[:n], mu[n:], iterations, tol, mend=not is_race)
    if is_race and solution.status is not SolverStatus.OPTIMAL and solution.dual <= enough:
        return solve_interior_point(problem, tol)  # it was stopped by a bound that was not quite one
    return solution


def suits_blas(n: Any, rank: Any) -> Any:
    """Whether BLAS is faster for a node of this size; numbers or arrays."""
    return (rank >= BLAS_RANK) & (n * rank**2 >= BLAS_WORK)


def lift(features: np.ndarray, scale: float) -> np.ndarray:
    """A row of ones for the intercept, the scaled features, and rows of zeros up to a multiple of four."""
    n, rank = features.shape
    lifted = np.zeros((-(-(rank + 1) // 4) * 4, n))
    lifted[0] = 1.0
    np.multiply(features.T, scale, out=lifted[1 : rank + 1])
    return lifted


def iterate_compiled(
    lifted: np.ndarray, cost: np.ndarray, tol: float, enough: float, pairs: np.ndarray
) -> tuple[np.ndarray, int]:
    """Run the method in compiled code; returns (b, w) and the number of steps, and overwrites `pairs`."""
    size, n = lifted.shape
    solution, scores = np.zeros(size), np.zeros(n)
    scratch = np.empty((size, size)), np.empty((3, size)), np.empty((3, n))
    steps = interior_point(lifted, cost, tol, enough, MAX_NEWTON_STEPS, pairs, *scratch, solution, scores)
    return solution, steps


def iterate_by_blas(
    lifted: np.ndarray, cost: np.ndarray, tol: float, enough: float, pairs: np.ndarray
) -> tuple[np.ndarray, int]:
    """The same method step by step; see `_core.interior_point.interior_point`."""
    size, n = lifted.shape
    solution, scores = np.zeros(size), np.zeros(n)
    curvature, pulls, weighted = np.empty(n), np.empty(n), np.empty_like(lifted)
    n_pairs = central_pairs(cost, pairs)

    best, fruitless = np.inf, 0
    for iteration in range(MAX_NEWTON_STEPS):
        gap, loss, prices = measure_pairs(pairs, cost, pulls)
        residual = lifted @ pulls
        objective, bound, unmet, off = measure_surface(gap, loss, prices, solution, residual)
        fruitless = 0 if off < FRUITFUL * best else fruitless + 1
        best = min(best, off)
        if has_converged(gap, objective, unmet, tol) or bound > enough or fruitless > PATIENCE:
            return solution, iteration

        prepare_step(pairs, curvature)
        solve_newton = newton_solver(lifted, curvature, weighted)
        target, bend, reach = 0.0, 0.0, 1.0
        for _ in range(2):
            plan_prices(pairs, scores, target, bend, pulls)
            direction = solve_newton(lifted @ pulls + residual)
            moved = direction @ lifted
            length, gap_after = follow_scores(pairs, moved, gap, reach)
            reach = LEAST_REACH + (MOST_REACH - LEAST_REACH) * length
            target = (gap_after / gap) ** 2 * gap_after / n_pairs
            bend = min(1.0, TRUST * length)
        advance(pairs, length)
        solution += length * direction
        scores += length * moved
    return solution, MAX_NEWTON_STEPS


def newton_solver(
    lifted: np.ndarray, curvature: np.ndarray, weighted: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """What solves a system with lifted C lifted' plus 1 for each feature; `weighted` is scratch."""
    np.multiply(lifted, np.sqrt(curvature), out=weighted)
    matrix = dsyrk(1.0, weighted.T, trans=1, lower=1)
    size = len(lifted)
    matrix.T.flat[size + 1 :: size + 1] += 1.0
    factor, info = dpotrf(matrix, lower=1)
    if info == 0:
        return lambda vector: dpotrs(factor, vector, lower=1)[0]

    # Rounding has made it indefinite; the compiled factor blocks the directions that are lost.
    blocked = np.ascontiguousarray(matrix)
    factorise(blocked, np.empty(size))

    def solve(vector: np.ndarray) -> np.ndarray:
        substitute(blocked, vector)
        return vector

    return solve
