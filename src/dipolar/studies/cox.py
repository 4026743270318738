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

from dipolar.survival import check_outcome

__all__ = ["CoxFit", "fit_cox"]

MAX_STEPS = 50
TOLERANCE = 1e-9


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
    value, gradient, information = _partial_likelihood(coefficients, X, outcome.time, outcome.event)
    for step in range(1, MAX_STEPS + 1):
        direction = _solve(information, gradient)
        # Half the drop that a quadratic would have: the distance to the maximum, in units of the likelihood.
        if direction @ gradient / 2 <= TOLERANCE * (1 + abs(value)):
            errors = np.sqrt(np.diag(np.linalg.inv(information)))
            return CoxFit(coefficients, errors, float(value), step)
        size = 1.0
        while True:
            candidate = coefficients + size * direction
            new = _partial_likelihood(candidate, X, outcome.time, outcome.event)
            if new[0] >= value or size < TOLERANCE:
                break
            size /= 2
        coefficients, (value, gradient, information) = candidate, new
    raise ValueError(_no_maximum())


def _partial_likelihood(
    coefficients: np.ndarray, X: np.ndarray, time: np.ndarray, event: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the log partial likelihood, its gradient, and minus its second derivative."""
    with np.errstate(over="ignore", invalid="ignore"):
        score = X @ coefficients
        risk = np.exp(score)
        value, gradient, information = 0.0, np.zeros(X.shape[1]), np.zeros((X.shape[1], X.shape[1]))
        for t in np.unique(time[event]):
            at_risk, here = time >= t, (time == t) & event
            s0 = risk[at_risk].sum()
            mean = risk[at_risk] @ X[at_risk] / s0
            square = (risk[at_risk, None] * X[at_risk]).T @ X[at_risk] / s0
            n_events = here.sum()
            value += score[here].sum() - n_events * np.log(s0)
            gradient += X[here].sum(axis=0) - n_events * mean
            information += n_events * (square - np.outer(mean, mean))
    # A step that was far too long compares as one that does not raise the likelihood.
    return (value if np.isfinite(value) else -np.inf), gradient, information


def _solve(information: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    try:
        direction = np.linalg.solve(information, gradient)
    except np.linalg.LinAlgError as error:
        raise ValueError(_no_maximum()) from error
    if not np.isfinite(direction).all() or np.linalg.cond(information) > 1e14:
        raise ValueError(_no_maximum())
    return direction


def _no_maximum() -> str:
    return (
        "X should leave the partial likelihood a maximum, and it has none: a covariate is constant, a combination of "
        "others, or separates the early events from the late ones. Drop it."
    )
