"""Solvers of the node problem behind one interface: `solve(problem, solver=..., tol=...)`.

"interior_point"
    The default: a primal-dual interior-point method on the factor of the kernel (`_core.interior_point`). It takes
    5 to 20 steps on most nodes and up to 80 on large ones in which little is to be found, whatever kappa is.
"osqp"
    The operator-splitting solver that the paper used, on the paper's dual with its 2 n variables and dense kernel
    matrix. Slow, and there for reference; the package `osqp` has to be installed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dipolar.node_svm.interior_point import solve_interior_point
from dipolar.node_svm.problem import NodeProblem, NodeSolution, degenerate_solution, finish

__all__ = ["SOLVERS", "solve"]

# OSQP's tolerances are about the residuals of its own conditions; the duality gap is about a hundred times larger.
OSQP_STRICTNESS = 1e-2

# OSQP's own default of 4000 steps is rarely enough here.
MAX_OSQP_STEPS = 100_000


def solve(
    problem: NodeProblem, solver: str = "interior_point", tol: float = 1e-6, enough: float = np.inf
) -> NodeSolution:
    """Solve one node problem to a relative duality gap of `tol`, or say in the status that it was not reached.

    Parameters
    ----------
    problem : NodeProblem
    solver : {"interior_point", "osqp"}
    tol : float
        Wanted relative duality gap. OSQP is given a hundredth of it as its absolute and relative tolerance.
    enough : float
        The solver may stop once it has proven that the optimum is larger. The solution is then no optimum, but its
        dual value is the proof. OSQP does not stop early.
    """
    trivial = degenerate_solution(problem)
    if trivial is not None:
        return trivial
    return SOLVERS[solver](problem, tol, enough)


def solve_osqp(problem: NodeProblem, tol: float, enough: float = np.inf) -> NodeSolution:
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
        eps_abs=OSQP_STRICTNESS * tol,
        eps_rel=OSQP_STRICTNESS * tol,
        max_iter=MAX_OSQP_STEPS,
        verbose=False,
    )
    result = model.solve(raise_error=False)
    mu = np.nan_to_num(np.asarray(result.x, dtype=np.float64))
    weights = (mu[:n] - mu[n:]) @ problem.features
    return finish(problem, weights, mu[:n], mu[n:], int(result.info.iter), tol)


SOLVERS: dict[str, Callable[[NodeProblem, float, float], NodeSolution]] = {
    "interior_point": solve_interior_point,
    "osqp": solve_osqp,
}
