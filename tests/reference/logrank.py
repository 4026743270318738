"""The log-rank family, straight from the definition: one two-by-two table per event time."""

import math

import numpy as np


def statistic(time, event, weight, left, family="logrank", rho=1.0, gamma=0.0):
    """U^2 / V of the (weighted) log-rank test; `weight` counts rows, `left` marks the first group.

    The family is a name, or a function of the number at risk and the survival curve before.
    """
    numerator = variance = 0.0
    survival = 1.0
    for t in sorted(set(time[event])):
        at_risk = time >= t
        dies = event & (time == t)
        y, y_left = weight[at_risk].sum(), weight[at_risk & left].sum()
        d, d_left = weight[dies].sum(), weight[dies & left].sum()
        weights = {
            "logrank": lambda Y, S: 1.0,
            "gehan": lambda Y, S: Y,
            "tarone-ware": lambda Y, S: math.sqrt(Y),
            "fleming-harrington": lambda Y, S: S**rho * (1 - S) ** gamma,
        }
        factor = weights.get(family, family)(y, survival)
        numerator += factor * (d_left - d * y_left / y)
        if y > 1:
            variance += factor**2 * d * (y - d) / (y - 1) * (y_left / y) * (1 - y_left / y)
        survival *= 1 - d / y
    return numerator**2 / variance if variance > 1e-12 else 0.0


def exponential_ratio(event, exposure, weight, left):
    """Twice the gain in log-likelihood from two exponential rates instead of one."""

    def log_likelihood(group):
        deaths, total = (weight * event)[group].sum(), (weight * exposure)[group].sum()
        return deaths * math.log(deaths / total) - deaths if deaths > 0 else 0.0

    return 2 * (log_likelihood(left) + log_likelihood(~left) - log_likelihood(left | ~left))


def baseline_hazard(time, event, weight):
    """Nelson-Aalen estimate at each row's own time."""
    return np.array(
        [
            sum(weight[event & (time == s)].sum() / weight[time >= s].sum() for s in sorted(set(time[event])) if s <= t)
            for t in time
        ]
    )


def all_cuts(x):
    """Every way to cut a covariate, missing values on either side: boolean masks of the left group."""
    missing = np.isnan(x)
    values = sorted(set(x[~missing]))
    for value in values[:-1]:
        yield x <= value
        if missing.any():
            yield (x <= value) | missing
    if missing.any() and values:
        yield ~missing


def best_statistic(X, time, event, weight, min_weight=1, min_events=0, family="logrank", rho=1.0, gamma=0.0):
    """The largest statistic over all admissible cuts of all covariates."""
    exposure = baseline_hazard(time, event, weight) if family == "exponential" else None
    best = 0.0
    for x in X.T:
        for left in all_cuts(x):
            sizes = weight[left].sum(), weight[~left].sum()
            deaths = (weight * event)[left].sum(), (weight * event)[~left].sum()
            if min(sizes) < min_weight or min(deaths) < min_events:
                continue
            if family == "exponential":
                value = exponential_ratio(event, exposure, weight, left)
            else:
                value = statistic(time, event, weight, left, family, rho, gamma)
            best = max(best, value)
    return best
