"""Solvers of the node problem behind one interface: `solve(problem, solver=..., tol=...)`.

"interior_point"
    The default: a primal-dual interior-point method on the factor of the kernel (`_core.interior_point`). It takes
    8 to 20 steps whatever kappa is.
"osqp"
    The operator-splitting solver that the paper used, on the paper's dual with its 2 n variables and dense kernel
    matrix. Slow, and there for reference; the package `osqp` has to be installed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dipolar._core.interior_point import (
    LEFT,
    N_HINGE_ROWS,
    PRICE,
    ROOM,
    SLACK,
    interior_point,
)
from dipolar.node_svm.problem import NodeProblem, NodeSolution, degenerate_solution, finish

__all__ = ["SOLVERS", "solve"]

# Newton steps of the interior-point method; it has never been seen to need half as many.
MAX_NEWTON_STEPS = 100

# The interior-point method aims at this fraction of the tolerance. Its last steps gain several digits each, so the
# better scores are nearly free, and what rounding takes from them at extreme kappa does not matter.
OVERSHOOT = 1e-3

# OSQP's own default of 4000 steps is rarely enough here.
MAX_OSQP_STEPS = 100_000


def solve(problem: NodeProblem, solver: str = "interior_point", tol: float = 1e-6) -> NodeSolution:
    """Solve one node problem to a relative duality gap of `tol`, or say in the status that it was not reached.

    Parameters
    ----------
    problem : NodeProblem
    solver : {"interior_point", "osqp"}
    tol : float
        Wanted relative duality gap. OSQP takes it as its absolute and relative tolerance, which are about the
        residuals of its own conditions, so its gap may be larger.
    """
    trivial = degenerate_solution(problem)
    if trivial is not None:
        return trivial
    return SOLVERS[solver](problem, tol)


def solve_interior_point(problem: NodeProblem, tol: float) -> NodeSolution:
    """Scale the problem to unit margin and costs of at most 1, solve it, and scale back."""
    n, rank = problem.features.shape
    largest = max(problem.upward.max(), problem.downward.max())
    scale = np.sqrt(problem.kappa * largest / problem.margin)
    cost = np.concatenate((problem.upward, problem.downward))
    cost /= largest

    hinge = _central_hinges(cost)
    solution, scores = np.zeros(rank + 1), np.zeros(n)
    small = np.empty((3, rank + 1))
    rows = np.empty((3, n))
    iterations, _ = interior_point(
        problem.features,
        scale,
        cost,
        OVERSHOOT * tol,
        MAX_NEWTON_STEPS,
        hinge,
        np.empty((rank + 1, rank + 1)),
        *small,
        *rows,
        solution,
        scores,
    )
    weights = (problem.margin * scale) * solution[:rank]
    mu = (problem.kappa * largest) * hinge[PRICE]
    return finish(problem, weights, mu[:n], mu[n:], iterations, tol)


def solve_osqp(problem: NodeProblem, tol: float) -> NodeSolution:
    """The paper's dual, as the paper solved it."""
    try:
        import osqp
        from scipy import sparse
    except ImportError as error:
        raise ImportError(
            "solver='osqp' needs the package osqp: pip install 'osqp>=1.0'. The default solver needs no package."
        ) from error
    n = len(problem.upward)
    gram = problem.features @ problem.features.T
    quadratic = sparse.csc_matrix(np.triu(np.block([[gram, -gram], [-gram, gram]])))
    balance = np.concatenate((np.ones(n), -np.ones(n)))
    constraints = sparse.vstack([sparse.identity(2 * n), sparse.csr_matrix(balance)], format="csc")
    upper = problem.kappa * np.concatenate((problem.upward, problem.downward))
    model = osqp.OSQP()
    model.setup(
        P=quadratic,
        q=np.full(2 * n, -problem.margin),
        A=constraints,
        l=np.zeros(2 * n + 1),
        u=np.append(upper, 0.0),
        eps_abs=tol,
        eps_rel=tol,
        max_iter=MAX_OSQP_STEPS,
        verbose=False,
    )
    result = model.solve(raise_error=False)
    mu = np.nan_to_num(np.asarray(result.x, dtype=np.float64))
    weights = (mu[:n] - mu[n:]) @ problem.features
    return finish(problem, weights, mu[:n], mu[n:], int(result.info.iter), tol)


def _central_hinges(cost: np.ndarray) -> np.ndarray:
    """A first point for w = b = 0 at which price * room = left * slack; hinges without a cost stay zero."""
    hinge = np.zeros((N_HINGE_ROWS, len(cost)))
    present = cost > 0
    hinge[PRICE] = cost * (2.0 / 3.0)
    hinge[LEFT] = cost * (1.0 / 3.0)
    hinge[ROOM] = present
    hinge[SLACK] = 2.0 * present
    return hinge


SOLVERS: dict[str, Callable[[NodeProblem, float], NodeSolution]] = {
    "interior_point": solve_interior_point,
    "osqp": solve_osqp,
}
