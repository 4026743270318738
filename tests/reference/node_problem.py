"""The node problem as a textbook quadratic program, for outside solvers, and node problems to solve."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from dipolar.kernels import make_kernel
from dipolar.node_svm.factors import factorise
from dipolar.node_svm.problem import NodeProblem
from dipolar.survival import Survival
from tests.dipoles import Dipoles

KERNELS = ("linear", "quadratic", "polynomial", "rbf", "laplacian")


def make_problem(seed, kernel, kappa, n=None):
    """A node with ties in time, repeated and binary covariates; scores of one covariate orient its dipoles."""
    rng = np.random.RandomState(seed)
    n = rng.randint(15, 50) if n is None else n
    X = rng.normal(size=(n, rng.randint(1, 5))) * 10.0 ** rng.uniform(-1, 1)
    if seed % 3 == 0:
        X[:, 0] = X[:, 0] > 0
    if seed % 4 == 0:
        X[: n // 3] = X[n // 3 : 2 * (n // 3)]
    time = rng.exponential(np.exp(np.clip(X[:, -1] / X.std(), -3, 3)))
    if seed % 2 == 0:
        time = np.ceil(4 * time)
    survival = Survival(time, rng.uniform(size=n) < 0.8)
    weight = np.ones(n) if seed % 5 else rng.randint(1, 4, n).astype(float)
    order = np.lexsort((~survival.event, survival.time))  # dipole order
    X, survival, weight = X[order], survival.take(order), weight[order]
    factor = factorise(make_kernel(kernel).fit(X, weight), X, tol=1e-8)
    dipoles = Dipoles(survival, weight)
    start = X[:, 0] - np.median(X[:, 0])
    problem = NodeProblem(factor.features, *dipoles.orient(start), float(kappa), float(rng.choice([0.1, 1.0, 5.0])))
    return problem, X, weight, dipoles


def solve_with_clarabel(problem):
    """Optimal value by Clarabel on the primal; None where it did not converge.

    Variables (w, b, one slack per hinge); the hinges are divided by the margin to keep the numbers near 1.
    """
    import clarabel

    n, rank = problem.features.shape
    cost = problem.kappa * problem.margin * np.concatenate((problem.upward, problem.downward))
    quadratic = sparse.diags(np.concatenate((np.full(rank, problem.margin**2), np.zeros(1 + 2 * n)))).tocsc()
    linear = np.concatenate((np.zeros(rank + 1), cost))
    surface = np.hstack((problem.features, np.ones((n, 1))))
    rows = sparse.vstack(
        [
            sparse.hstack([-surface, -sparse.identity(n), sparse.csc_matrix((n, n))]),
            sparse.hstack([surface, sparse.csc_matrix((n, n)), -sparse.identity(n)]),
            sparse.hstack([sparse.csc_matrix((2 * n, rank + 1)), -sparse.identity(2 * n)]),
        ]
    ).tocsc()
    bounds = np.concatenate((-np.ones(2 * n), np.zeros(2 * n)))
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_rel = options.tol_gap_abs = options.tol_feas = 1e-10
    solver = clarabel.DefaultSolver(quadratic, linear, rows, bounds, [clarabel.NonnegativeConeT(4 * n)], options)
    result = solver.solve()
    return result.obj_val if str(result.status) == "Solved" else None
