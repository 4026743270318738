"""A Cox model, fitted exactly: the paper checks its Remission trees against one.

Glossary
--------
b           coefficients; the hazard of a row is h0(t) exp(<b, x>)
risk set    rows that are still followed just before a time
S0, S1, S2  sums over the risk set of exp(<b, x>), of x exp(<b, x>) and of x x' exp(<b, x>)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dipolar.survival import Survival, check_outcome

__all__ = ["CoxFit", "fit_cox"]

MAX_STEPS = 50
TOLERANCE = 1e-12
WORST_CONDITION = 1e14

# A hazard that changes by more than exp(20) over one standard deviation of a covariate is on its way to infinity.
MOST_PER_SD = 20.0

NO_MAXIMUM = (
    "X should leave the partial likelihood a maximum, and it has none: a covariate is constant, a combination of "
    "others, or separates the early events from the late ones. Drop it."
)

# Value, gradient, and minus the second derivative.
Likelihood = tuple[float, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class CoxFit:
    """Coefficients that maximise the partial likelihood, and how sure they are."""

    coefficients: np.ndarray  # (p,)
    standard_errors: np.ndarray  # (p,)
    log_likelihood: float
    n_steps: int


def fit_cox(X: Any, y: Any) -> CoxFit:
    r"""Maximise the partial likelihood with Breslow's rule for tied times, by Newton's method.

    .. math:: \ell(b) = \sum_{i: \delta_i = 1} \Big\{ \langle b, x_i \rangle - \log \sum_{j: t_j \ge t_i}
              e^{\langle b, x_j \rangle} \Big\}

    is concave; a step that does not raise it is halved.

    Parameters
    ----------
    X : array-like of shape (n, p)
    y : outcomes in any accepted form

    Raises
    ------
    ValueError
        Where the likelihood has no maximum: a covariate separates the events from the rest, or is a combination of
        others.

    References
    ----------
    Breslow, N. (1974). Covariance analysis of censored survival data. Biometrics 30, 89-99.
    """
    outcome = check_outcome(y)
    X = np.asarray(X, dtype=np.float64)
    X = X - X.mean(axis=0)  # changes neither b nor the likelihood, and keeps exponents small
    coefficients = np.zeros(X.shape[1])
    state = _partial_likelihood(coefficients, X, outcome)
    for step in range(1, MAX_STEPS + 1):
        value, gradient, information = state
        direction = _solve(information, gradient)
        coefficients, state = _climb(coefficients, direction, value, X, outcome)
        # Half the rise that a quadratic would have; near the maximum the step just made squares what is left.
        if direction @ gradient / 2 <= TOLERANCE * (1 + abs(value)):
            if (np.abs(coefficients) * X.std(axis=0) > MOST_PER_SD).any():
                break
            errors = np.sqrt(np.diag(np.linalg.inv(state[2])))
            return CoxFit(coefficients, errors, float(state[0]), step)
    raise ValueError(NO_MAXIMUM)


def _climb(
    coefficients: np.ndarray, direction: np.ndarray, value: float, X: np.ndarray, outcome: Survival
) -> tuple[np.ndarray, Likelihood]:
    """Go along a direction, half as far where that does not raise the likelihood."""
    size = 1.0
    while size > TOLERANCE:
        candidate = coefficients + size * direction
        state = _partial_likelihood(candidate, X, outcome)
        if state[0] >= value:
            return candidate, state
        size /= 2
    return coefficients, _partial_likelihood(coefficients, X, outcome)


def _partial_likelihood(coefficients: np.ndarray, X: np.ndarray, outcome: Survival) -> Likelihood:
    """Return the log partial likelihood, its gradient, and minus its second derivative."""
    score = X @ coefficients
    value, gradient, information = 0.0, np.zeros(X.shape[1]), np.zeros((X.shape[1], X.shape[1]))
    for t in np.unique(outcome.time[outcome.event]):
        at_risk, here = outcome.time >= t, (outcome.time == t) & outcome.event
        top = score[at_risk].max()
        risk = np.exp(score[at_risk] - top)  # the largest is 1, so that no sum is 0 or infinite
        s0 = risk.sum()
        mean = risk @ X[at_risk] / s0
        square = (risk[:, None] * X[at_risk]).T @ X[at_risk] / s0
        n_events = here.sum()
        value += score[here].sum() - n_events * (np.log(s0) + top)
        gradient += X[here].sum(axis=0) - n_events * mean
        information += n_events * (square - np.outer(mean, mean))
    return float(value), gradient, information


def _solve(information: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return the step of Newton's method."""
    if not np.isfinite(information).all() or np.linalg.cond(information) > WORST_CONDITION:
        raise ValueError(NO_MAXIMUM)
    return np.linalg.solve(information, gradient)
