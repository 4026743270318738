"""The paper's algorithm 1: orient the dipoles, solve, orient them anew by the scores, until nothing moves.

Orienting by a surface never raises its criterion, and neither does solving for that orientation, so the values
of the criterion fall from round to round and the loop ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dipolar.dipoles import Dipoles
from dipolar.node_svm.problem import NodeProblem, NodeSolution, SolverStatus, least_value, node_criterion
from dipolar.node_svm.solvers import SOLVERS, solve
from dipolar.parameters import check_choice, check_kappa, check_number
from dipolar.quantiles import weighted_quantile

__all__ = ["Settled", "SplitStatus", "SvmSettings", "best_optimum", "settle"]

# The authors draw at most this many covariates for their quartile starts.
MAX_QUARTILE_COVARIATES = 10

# The criterion counts as settled when it moves by less than this fraction of `tol`, whatever its size.
ABSOLUTE_FRACTION = 0.1

INITS = ("median", "quartile", "positive")


class SplitStatus(StrEnum):
    """How the search for a node's surface ended."""

    SETTLED = "settled"  #: the criterion or the orientation stopped moving
    REORIENTATION_LIMIT = "reorientation_limit"  #: the limit on rounds came first
    UNCONVERGED = "unconverged"  #: the last solve did not reach its tolerance
    NO_MIXED_DIPOLES = "no_mixed_dipoles"  #: no pair of rows ought to part
    ONE_SIDED = "one_sided"  #: the orientation pulls all rows to one side
    CONSTANT = "constant"  #: all rows have the same features


#: What the end of the last solve means for the search.
ENDS = {
    SolverStatus.OPTIMAL: SplitStatus.SETTLED,
    SolverStatus.INACCURATE: SplitStatus.UNCONVERGED,
    SolverStatus.ONE_SIDED: SplitStatus.ONE_SIDED,
    SolverStatus.CONSTANT: SplitStatus.CONSTANT,
}


@dataclass(frozen=True)
class SvmSettings:
    """What the search needs to know besides the rows."""

    kappa: float
    margin: float
    init: str = "median"
    solver: str = "interior_point"
    tol: float = 1e-2
    solver_tol: float = 1e-6
    max_reorientations: int = 250

    def __post_init__(self) -> None:
        check_kappa(self.kappa)
        check_number("tol", self.tol, low=0)
        check_number("solver_tol", self.solver_tol, above=0, high=1)
        check_number("max_reorientations", self.max_reorientations, low=0, whole=True)
        check_choice("init", self.init, INITS)
        check_choice("solver", self.solver, SOLVERS)


@dataclass(frozen=True)
class Settled:
    """The last surface of the search, and how it was reached."""

    solution: NodeSolution
    criterion_path: np.ndarray  # optimum of each orientation that was solved, non-increasing
    status: SplitStatus

    @property
    def n_reorientations(self) -> int:
        return max(0, len(self.criterion_path) - 1)


def settle(
    features: np.ndarray,
    X: np.ndarray,
    weight: np.ndarray,
    dipoles: Dipoles,
    settings: SvmSettings,
    rng: np.random.Generator,
) -> Settled:
    """Find the surface of one node.

    Parameters
    ----------
    features : ndarray of shape (n_samples, rank)
        Centred factor of the kernel on the node's rows.
    X, weight : ndarray
        The node's rows, for the starting hyperplanes.
    dipoles : Dipoles
    settings : SvmSettings
    rng : Generator
        Draws the covariates of the quartile starts where there are more than ten.
    """

    def problem_for(scores: np.ndarray) -> NodeProblem:
        return NodeProblem(features, *dipoles.orient(scores), settings.kappa, settings.margin)

    if not dipoles.has_mixed:
        return _no_search(problem_for(np.zeros(len(X))), settings, SplitStatus.NO_MIXED_DIPOLES)

    problem, solution = _best_start(problem_for, X, weight, settings, rng)
    path = [solution.primal]
    while solution.status is SolverStatus.OPTIMAL:
        last, problem = problem, problem_for(solution.scores)
        if np.array_equal(problem.upward, last.upward) and np.array_equal(problem.downward, last.downward):
            break
        if len(path) > settings.max_reorientations:
            return Settled(solution, np.array(path), SplitStatus.REORIENTATION_LIMIT)
        candidate = solve(problem, settings.solver, settings.solver_tol)
        if candidate.primal >= path[-1]:  # not better than what is there, up to the precision of the solves
            break
        solution = candidate
        path.append(candidate.primal)
        if path[-2] - path[-1] <= settings.tol * max(path[-2], ABSOLUTE_FRACTION):
            break
    return Settled(solution, np.array(path), ENDS[solution.status])


def _no_search(problem: NodeProblem, settings: SvmSettings, status: SplitStatus) -> Settled:
    """Solve the one orientation there is; without mixed dipoles it is one-sided."""
    solution = solve(problem, settings.solver, settings.solver_tol)
    return Settled(solution, np.array([solution.primal]), status)


def _best_start(problem_for, X, weight, settings, rng) -> tuple[NodeProblem, NodeSolution]:
    """Solve for the best of the starting orientations; see `init` of DipoleSVM."""
    if settings.init == "quartile":
        starts = _axis_scores(X, weight, (0.25, 0.5, 0.75), _draw_columns(X, rng))
        return best_optimum([problem_for(scores) for scores in starts], settings)

    scores = np.zeros(len(X))
    if settings.init == "median":
        # The criterion of the hyperplane itself: its normal is a unit vector.
        unit = np.ones(1)
        starts = _axis_scores(X, weight, (0.5,), np.arange(X.shape[1]))
        scores = min(starts, key=lambda start: node_criterion(problem_for(start), unit, start))
    problem = problem_for(scores)
    return problem, solve(problem, settings.solver, settings.solver_tol)


def best_optimum(problems: list[NodeProblem], settings: SvmSettings) -> tuple[NodeProblem, NodeSolution]:
    """The problem with the smallest optimum, and its solution; of equal ones the first.

    Most problems need not be solved for that. A lower bound that is nearly free says which to begin with and which
    cannot win any more, and the solver gives the others up as soon as its own bound says so.
    """
    floors = np.array([least_value(problem) for problem in problems])
    best, winner = np.inf, None
    unproven: list[tuple[NodeProblem, NodeSolution]] = []
    for k in np.argsort(floors, kind="stable"):
        if floors[k] > best:
            break
        solution = solve(problems[k], settings.solver, settings.solver_tol, enough=best)
        if solution.status is not SolverStatus.OPTIMAL:
            unproven.append((problems[k], solution))
        elif winner is None or (solution.primal, k) < (best, winner[0]):
            best, winner = solution.primal, (k, solution)
    if winner is None:
        return min(unproven, key=lambda pair: pair[1].primal)
    return problems[winner[0]], winner[1]


def _draw_columns(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """At most ten covariates, constant ones left out where others are there."""
    columns = np.flatnonzero(np.ptp(X, axis=0) > 0)
    if not len(columns):
        return np.arange(1)
    if len(columns) <= MAX_QUARTILE_COVARIATES:
        return columns
    return np.sort(rng.choice(columns, MAX_QUARTILE_COVARIATES, replace=False))


def _axis_scores(
    X: np.ndarray, weight: np.ndarray, quantiles: tuple[float, ...], columns: np.ndarray
) -> Iterator[np.ndarray]:
    """Scores of the hyperplanes that cut one covariate at one of its quantiles."""
    for column in columns:
        values = X[:, column]
        for quantile in quantiles:
            yield values - weighted_quantile(values, weight, quantile)
