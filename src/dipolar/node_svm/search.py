"""The search for the surface of one node, in compiled code or around a solver that compiled code cannot call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from types import FunctionType
from typing import NamedTuple

import numpy as np

from dipolar._core import search as compiled_search
from dipolar._core.search import GIVEN, HAZARD, MEDIAN, POSITIVE, QUARTILE, SearchRules, settle_nodes, value_cuts
from dipolar.node_svm.interior_point import suits_blas
from dipolar.node_svm.problem import NodeProblem
from dipolar.node_svm.solvers import solve
from dipolar.quantiles import weighted_quantile
from dipolar.survival import Survival

__all__ = ["INITS", "STATUSES", "Settled", "SplitStatus", "Starts", "settle", "starting_cuts"]

#: Where a search may start.
INITS = {"hazard": HAZARD, "median": MEDIAN, "quartile": QUARTILE, "positive": POSITIVE}

# The authors draw at most this many covariates for their quartile starts.
MAX_QUARTILE_COVARIATES = 10


class SplitStatus(StrEnum):
    """How the search for a node's surface ended."""

    SETTLED = "settled"  #: the criterion or the orientation stopped moving, or no re-orientation was asked for
    REORIENTATION_LIMIT = "reorientation_limit"  #: the limit on rounds came first
    INTERRUPTED = "interrupted"  #: a later round did not reach its tolerance; the surface is that of the round before
    UNCONVERGED = "unconverged"  #: no solve reached its tolerance
    NO_MIXED_DIPOLES = "no_mixed_dipoles"  #: no pair of rows ought to part
    ONE_SIDED = "one_sided"  #: the orientation pulls all rows to one side
    CONSTANT = "constant"  #: all rows have the same features

    @property
    def has_surface(self) -> bool:
        """Whether a surface was found, and proven."""
        return self in (SplitStatus.SETTLED, SplitStatus.REORIENTATION_LIMIT, SplitStatus.INTERRUPTED)

    @property
    def wants_another_solver(self) -> bool:
        """Whether a solve fell short of its tolerance, which a slower one may reach."""
        return self in (SplitStatus.INTERRUPTED, SplitStatus.UNCONVERGED)


#: The same by the numbers of `_core.search`.
STATUSES = tuple(SplitStatus)


@dataclass(frozen=True)
class Settled:
    """The last surface of a search, and how it was reached."""

    status: SplitStatus
    weights: np.ndarray  # (rank,)
    intercept: float
    scores: np.ndarray  # (n_samples,)
    criterion_path: np.ndarray  # optimum of each orientation that was solved; they fall
    dual: float  # what proves the last of them: a lower bound of it

    @property
    def relative_gap(self) -> float:
        """A proven bound on the relative error of the last optimum; 0 where there is nothing to solve."""
        if not len(self.criterion_path):
            return np.inf if self.status is SplitStatus.UNCONVERGED else 0.0
        return max(0.0, 1.0 - self.dual / self.criterion_path[-1])


def settle(
    features: np.ndarray,
    survival: Survival,
    weight: np.ndarray,
    X: np.ndarray,
    starts: Starts,
    rules: SearchRules,
    solver: str = "interior_point",
    scores: np.ndarray | None = None,
) -> Settled:
    """Find the surface of one node.

    Parameters
    ----------
    features : ndarray of shape (n_samples, rank)
        Centred factor of the kernel on the node's rows, which are in dipole order.
    survival, weight : Survival, ndarray
        Outcomes and frequencies.
    X, starts : ndarray of shape (n_samples, n_columns), Starts
        Covariates, and where the search may cut them to start (see :func:`starting_cuts`).
    rules : SearchRules
    solver : {"interior_point", "osqp"}
    scores : ndarray of shape (n_samples,), default=None
        What to start from instead.
    """
    table = np.ascontiguousarray(features.T)
    rules = rules if scores is None else rules._replace(init=GIVEN)
    start = np.zeros(len(weight)) if scores is None else scores
    rows = np.arange(len(weight), dtype=np.int32)
    args = survival.time, survival.event, weight, table, np.ascontiguousarray(X), rows, *starts, rules
    if solver == "interior_point" and not suits_blas(*features.shape):
        found = _settle_compiled(args, start.copy())
        if not found.status.wants_another_solver:
            return found
    return _settle_around(_solver(solver), args, start.copy())


class Starts(NamedTuple):
    """The univariate cuts that a search starts from, if it does."""

    cuts: np.ndarray = np.empty((0, 2))  # (n_cuts, 2), column and value
    floors: np.ndarray = np.empty(0)  # (n_cuts,) lower bounds of the optima from each of them


def starting_cuts(
    X: np.ndarray, survival: Survival, weight: np.ndarray, rules: SearchRules, rng: np.random.Generator
) -> Starts:
    """Return the cuts that a search in a node starts from.

    Each covariate at its median, and then the one with the smallest criterion; or each at its quartiles: then at most
    ten covariates, drawn at random, constant ones left out where others are there.
    """
    quantiles: tuple[float, ...]
    if rules.init == MEDIAN:
        columns, quantiles = np.arange(X.shape[1]), (0.5,)
    elif rules.init == QUARTILE:
        columns, quantiles = np.flatnonzero(np.ptp(X, axis=0) > 0), (0.25, 0.5, 0.75)
        columns = columns if len(columns) else np.arange(1)
        if len(columns) > MAX_QUARTILE_COVARIATES:
            columns = np.sort(rng.choice(columns, MAX_QUARTILE_COVARIATES, replace=False))
    else:
        return Starts()
    cuts = np.array([(c, weighted_quantile(X[:, c], weight, q)) for c in columns for q in quantiles], np.float64)
    values = np.empty(len(cuts))
    rows = np.arange(len(weight), dtype=np.int32)
    value_cuts(survival.time, survival.event, weight, np.ascontiguousarray(X), rows, cuts, rules, values)
    if rules.init == QUARTILE:
        return Starts(cuts, values)
    best = int(np.argmin(values))
    return Starts(cuts[best : best + 1], np.zeros(1))


def _settle_compiled(args: tuple, scores: np.ndarray) -> Settled:
    time, event, weight, table, X, rows, cuts, floors, rules = args
    rank, n = table.shape
    weights, path = np.zeros((1, rank)), np.empty((1, rules.max_reorientations + 1))
    status, n_solved = np.empty(1, np.int64), np.empty(1, np.int64)
    intercept, dual = np.empty(1), np.empty(1)
    settle_nodes(
        time, event, weight, rows, np.array([0, n]), table.ravel(), np.array([0, table.size]),
        np.array([rank]), X, cuts, floors, np.array([0, len(cuts)]), rules,
        weights, scores, path, status, n_solved, intercept, dual,
    )  # fmt: skip
    return Settled(STATUSES[status[0]], weights[0], intercept[0], scores, path[0, : n_solved[0]], dual[0])


def _settle_around(solve_one: Callable, args: tuple, scores: np.ndarray) -> Settled:
    """Run the very search that compiled code runs, as plain Python around another solver."""
    table, rules = args[3], args[-1]
    source = getattr(compiled_search.settle, "py_func", compiled_search.settle)
    search = FunctionType(source.__code__, {**source.__globals__, "solve": solve_one})
    weights, path = np.zeros(len(table)), np.empty(rules.max_reorientations + 1)
    status, n_solved, intercept, dual = search(*args, weights, scores, path)
    return Settled(STATUSES[status], weights, float(intercept), scores, path[:n_solved], float(dual))


def _solver(solver: str) -> Callable:
    """Return `solve` of `_core.search` by a solver that takes its time and mends its certificate."""

    def solve_one(features, cost, largest, kappa, margin, tol, enough, weights, scores):
        n = len(scores)
        problem = NodeProblem(features.T, largest * cost[:n], largest * cost[n:], kappa, margin)
        found = solve(problem, solver, tol, enough)
        weights[:], scores[:] = found.weights, found.scores
        return found.primal, found.dual, found.intercept

    return solve_one
