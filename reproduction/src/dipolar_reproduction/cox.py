"""A Cox model, fitted exactly: the paper checks its Remission trees against one.

Glossary
--------
b           coefficients; the hazard of a row is h0(t) exp(<b, x>)
risk set    rows that are still followed just before a time
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

MAX_STEPS = 50
TOLERANCE = 1e-10
WORST_CONDITION = 1e14

# A hazard that changes by more than exp(20) over one standard deviation of a covariate is on its way to infinity.
MOST_PER_SD = 20.0


class CoxFit(NamedTuple):
    """Coefficients that maximise the partial likelihood, and how sure they are."""

    coefficients: np.ndarray  # (p,)
    standard_errors: np.ndarray  # (p,)
    log_likelihood: float


def fit_cox(X: np.ndarray, y: Any) -> CoxFit:
    r"""Maximise the partial likelihood with Breslow's rule for tied times, by Newton's method.

    .. math:: \ell(b) = \sum_{i: \delta_i = 1} \Big\{ \langle b, x_i \rangle - \log \sum_{j: t_j \ge t_i}
              e^{\langle b, x_j \rangle} \Big\}

    is concave; a step that does not raise it is halved.

    References
    ----------
    Breslow, N. (1974). Covariance analysis of censored survival data. Biometrics 30, 89-99.
    """
    X = X - X.mean(axis=0)  # changes neither b nor the likelihood, and keeps exponents small
    b = np.zeros(X.shape[1])
    value, gradient, information = _partial_likelihood(b, X, y)
    for _ in range(MAX_STEPS):
        if np.linalg.cond(information) > WORST_CONDITION or (np.abs(b) * X.std(axis=0) > MOST_PER_SD).any():
            break
        step = np.linalg.solve(information, gradient)
        if step @ gradient <= TOLERANCE * (1 + abs(value)):
            # This near to the maximum a step squares what is left.
            value, _, information = _partial_likelihood(b + step, X, y)
            return CoxFit(b + step, np.sqrt(np.diag(np.linalg.inv(information))), value)
        while (raised := _partial_likelihood(b + step, X, y))[0] < value:
            step /= 2
        b, (value, gradient, information) = b + step, raised
    raise ValueError(
        "X should leave the partial likelihood a maximum, and it has none: a covariate is constant, a combination of "
        "others, or separates the early events from the late ones. Drop it."
    )


def _partial_likelihood(b: np.ndarray, X: np.ndarray, y: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the log partial likelihood, its gradient, and minus its second derivative."""
    score = X @ b
    value, gradient, information = 0.0, np.zeros(len(b)), np.zeros((len(b), len(b)))
    for t in np.unique(y["time"][y["event"]]):
        at_risk, here = y["time"] >= t, (y["time"] == t) & y["event"]
        top = score[at_risk].max()
        risk = np.exp(score[at_risk] - top)  # the largest is 1, so that no sum is 0 or infinite
        total = risk.sum()
        mean = risk @ X[at_risk] / total
        square = (risk[:, None] * X[at_risk]).T @ X[at_risk] / total
        n_events = here.sum()
        value += score[here].sum() - n_events * (np.log(total) + top)
        gradient += X[here].sum(axis=0) - n_events * mean
        information += n_events * (square - np.outer(mean, mean))
    return float(value), gradient, information
