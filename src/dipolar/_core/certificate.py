"""The certificate of a solution of the node problem: its intercept, its value, and a lower bound of the optimum."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def certify(by_score, upward, downward, kappa, margin, weights, mu_up, mu_down, scores, net):
    """Give a surface its intercept and dual variables their feasibility.

    `scores` come without an intercept and leave with it; `net` is overwritten with feasible mu+ - mu-. Returns the
    intercept, the primal value, and the sum of the feasible dual variables.
    """
    intercept = middle_intercept(scores, by_score, upward, downward, margin)
    for j in range(len(scores)):
        scores[j] += intercept
    primal = primal_value(scores, upward, downward, kappa, margin, weights)
    return intercept, primal, feasible_net(mu_up, mu_down, upward, downward, kappa, net)


@njit(cache=True, nogil=True, error_model="numpy")
def middle_intercept(scores, by_score, upward, downward, margin):
    """Middle of the set of b that minimise the sum of the hinges of `scores + b`.

    That sum is piecewise linear and convex in b. Its slope rises by `upward[j]` at b = margin - s_j and by
    `downward[j]` at b = -margin - s_j; `by_score` sorts the scores, so both lists of kinks are sorted as well, and
    one merge of the two walks along the slope. Both sums of costs have to be positive.
    """
    n = len(scores)
    slope = 0.0
    flat = 0.0
    for j in range(n):
        slope -= upward[j]
        flat += 1e-12 * (upward[j] + downward[j])

    i = n - 1  # next kink of the upward hinges, highest score first
    k = n - 1  # next kink of the downward hinges
    left_end = np.nan
    while True:
        while i >= 0 and upward[by_score[i]] <= 0.0:
            i -= 1
        while k >= 0 and downward[by_score[k]] <= 0.0:
            k -= 1
        next_up = margin - scores[by_score[i]] if i >= 0 else np.inf
        next_down = -margin - scores[by_score[k]] if k >= 0 else np.inf
        kink = min(next_up, next_down)
        if not np.isnan(left_end):
            return 0.5 * (left_end + kink)
        if next_up <= next_down:
            slope += upward[by_score[i]]
            i -= 1
        else:
            slope += downward[by_score[k]]
            k -= 1
        if slope > flat:
            return kink
        if slope >= -flat:
            left_end = kink


@njit(cache=True, nogil=True, error_model="numpy")
def primal_value(scores, upward, downward, kappa, margin, weights):
    """Value of the objective for a surface with these weights and scores."""
    loss = 0.0
    for j in range(len(scores)):
        loss += upward[j] * max(0.0, margin - scores[j]) + downward[j] * max(0.0, margin + scores[j])
    ridge = 0.0
    for a in range(len(weights)):
        ridge += weights[a] * weights[a]
    return 0.5 * ridge + kappa * loss


@njit(cache=True, nogil=True, error_model="numpy")
def feasible_net(mu_up, mu_down, upward, downward, kappa, net):
    """Clip the dual variables into their bounds and scale the heavier side down to the weight of the lighter.

    Overwrites `net` with their difference and returns the sum of both.
    """
    weight_up = 0.0
    weight_down = 0.0
    for j in range(len(net)):
        weight_up += min(max(mu_up[j], 0.0), kappa * upward[j])
        weight_down += min(max(mu_down[j], 0.0), kappa * downward[j])
    shrink_up = weight_down / weight_up if weight_up > weight_down else 1.0
    shrink_down = weight_up / weight_down if weight_down > weight_up else 1.0
    for j in range(len(net)):
        up = shrink_up * min(max(mu_up[j], 0.0), kappa * upward[j])
        down = shrink_down * min(max(mu_down[j], 0.0), kappa * downward[j])
        net[j] = up - down
    return 2.0 * min(weight_up, weight_down)
