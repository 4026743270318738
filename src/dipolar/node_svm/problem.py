"""The node problem, its solution, and the words in which a solver says how it ended.

    minimise  1/2 |w|^2 + kappa * sum_j ( upward_j * max(0, margin - s_j) + downward_j * max(0, margin + s_j) )
    with      s_j = <w, features_j> + b

It is a soft-margin SVM in which every row stands on both sides, with a cost on each. Its dual, in
`net` = mu+ - mu- of the paper:

    maximise  margin * sum_j (mu+_j + mu-_j) - 1/2 |features' net|^2
    with      0 <= mu+ <= kappa * upward,   0 <= mu- <= kappa * downward,   sum of net = 0
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dipolar._core.certificate import certify, feasible_net, middle_intercept

__all__ = ["NodeProblem", "NodeSolution", "SolverStatus", "finish", "node_criterion"]


# Rounds of the projection that mends a dual solution; each gains a few digits until rounding is reached.
PROJECTIONS = 3


class SolverStatus(StrEnum):
    """How a solver ended."""

    OPTIMAL = "optimal"  #: the relative duality gap is within the tolerance
    INACCURATE = "inaccurate"  #: the solver stopped early; the gap says how far from optimal it is at most
    ONE_SIDED = "one_sided"  #: nothing pulls down, or nothing pulls up: any constant score of that sign is optimal
    CONSTANT = "constant"  #: all rows have the same features: no surface can part them


@dataclass(frozen=True)
class NodeProblem:
    """One convex problem: centred features, and the pulls that an orientation of the dipoles gives."""

    features: np.ndarray  # (n_samples, rank) float64, columns of mean zero; fastest where these are contiguous
    upward: np.ndarray  # (n_samples,) >= 0
    downward: np.ndarray  # (n_samples,) >= 0
    kappa: float
    margin: float


@dataclass(frozen=True)
class NodeSolution:
    """Scores of the rows, the surface that makes them, and the proof of how good it is."""

    weights: np.ndarray  # (rank,) w
    intercept: float  # b, the middle of its set of minimisers
    scores: np.ndarray  # (n_samples,)
    net: np.ndarray  # (n_samples,) mu+ - mu-, feasible for the dual
    primal: float
    dual: float
    iterations: int
    status: SolverStatus

    @property
    def relative_gap(self) -> float:
        """(primal - dual) / primal: a bound on the relative error of the objective; infinite where rounding won."""
        gap = self.primal - self.dual
        if not math.isfinite(gap):
            return math.inf
        return max(0.0, gap) / self.primal if self.primal > 0 else 0.0


def node_criterion(problem: NodeProblem, weights: np.ndarray, scores: np.ndarray) -> float:
    """Value of the objective for a surface with these weights and scores."""
    above, below = np.maximum(problem.margin - scores, 0.0), np.maximum(problem.margin + scores, 0.0)
    return float(0.5 * weights @ weights + problem.kappa * (problem.upward @ above + problem.downward @ below))


def finish(
    problem: NodeProblem,
    weights: np.ndarray,
    mu_up: np.ndarray,
    mu_down: np.ndarray,
    iterations: int,
    tol: float,
    mend: bool = True,
) -> NodeSolution:
    """Give a solver's weights their intercept, make its dual variables feasible (in place), and certify both.

    Where the certificate falls short of `tol`, `mend` has the dual variables projected for a better one.
    """
    upward, downward, kappa, margin = problem.upward, problem.downward, problem.kappa, problem.margin
    scores = problem.features @ weights
    if not np.isfinite(scores).all():  # numbers have overflowed: a flat surface, whose certificate says how bad it is
        weights, scores = np.zeros_like(weights), np.zeros_like(scores)
        mu_up, mu_down = np.zeros_like(mu_up), np.zeros_like(mu_down)
    net = np.empty(len(scores))
    by_score = np.argsort(scores)
    intercept, loss, gain = certify(by_score, upward, downward, kappa, margin, mu_up, mu_down, scores, net)
    primal = float(0.5 * weights @ weights + loss)
    dual = _dual_value(problem, net, gain)
    if mend and primal - dual > tol * primal:
        projected = np.empty(len(scores))
        sum_of_mu = feasible_net(*_project(problem, weights, mu_up, mu_down), upward, downward, kappa, projected)
        value = _dual_value(problem, projected, margin * sum_of_mu)
        net, dual = (projected, value) if value > dual else (net, dual)
    is_proven = math.isfinite(primal) and primal - dual <= tol * primal
    status = SolverStatus.OPTIMAL if is_proven else SolverStatus.INACCURATE
    return NodeSolution(weights, intercept, scores, net, primal, dual, iterations, status)


def degenerate_solution(problem: NodeProblem) -> NodeSolution | None:
    """The solution of a problem that no surface can improve on a constant score for; None for all others."""
    up, down = problem.upward.any(), problem.downward.any()
    if up and down and problem.features.any():
        return None
    n, rank = problem.features.shape
    status = SolverStatus.CONSTANT if up and down else SolverStatus.ONE_SIDED
    if up and down:
        # All scores are equal to b, and the objective is piecewise linear in it.
        intercept = middle_intercept(np.zeros(n), np.arange(n), problem.upward, problem.downward, problem.margin)
    else:
        intercept = -problem.margin if down else problem.margin
    scores = np.full(n, float(intercept))
    value = node_criterion(problem, np.zeros(rank), scores)
    return NodeSolution(np.zeros(rank), float(intercept), scores, np.zeros(n), value, value, 0, status)


def _dual_value(problem: NodeProblem, net: np.ndarray, gain: float) -> float:
    """The dual value of feasible variables, whose sum times the margin is `gain`: a lower bound of the optimum."""
    reach = net @ problem.features
    return float(gain - 0.5 * reach @ reach)


def _project(
    problem: NodeProblem, weights: np.ndarray, mu_up: np.ndarray, mu_down: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Move the dual variables to where features' net = weights and sum of net = 0, those at a bound the least.

    At large kappa and on large features, a rounding error of the dual variables is a visible error of
    features' net; it does not harm the surface, but without this correction its certificate would suffer.
    """
    lifted = np.column_stack((problem.features, np.ones(len(mu_up))))
    size = np.linalg.norm(lifted, axis=0)
    size[size == 0] = 1.0
    lifted, wanted = lifted / size, np.append(weights, 0.0) / size
    upper = problem.kappa * np.concatenate((problem.upward, problem.downward))
    both = np.concatenate((lifted, -lifted))
    mu = np.concatenate((mu_up, mu_down)).clip(0.0, upper)
    for _ in range(PROJECTIONS):
        room = np.minimum(mu, upper - mu)
        change = room * np.linalg.lstsq((room[:, None] * both).T, wanted - mu @ both, rcond=None)[0]
        mu = np.clip(mu + change, 0.0, upper)
    return mu[: len(mu_up)], mu[len(mu_up) :]
