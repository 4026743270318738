"""The certificate of a solution of the node problem: its intercept, its value, and a lower bound of the optimum."""

from __future__ import annotations

import numpy as np

from dipolar._core.compiling import compiled


@compiled(error_model="numpy")
def certify(by_score, upward, downward, kappa, margin, mu_up, mu_down, scores, net):
    """Give a surface its intercept and dual variables their feasibility.

    `scores` come without an intercept and leave with it; `net` is overwritten with feasible mu+ - mu-. Returns the
    intercept, the loss (kappa times the sum of the hinges), and margin times the sum of the feasible dual variables.
    """
    intercept = middle_intercept(scores, by_score, upward, downward, margin)
    loss = 0.0
    for j in range(len(scores)):
        scores[j] += intercept
        if scores[j] < margin:
            loss += upward[j] * (margin - scores[j])
        if scores[j] > -margin:
            loss += downward[j] * (margin + scores[j])
    return intercept, kappa * loss, margin * feasible_net(mu_up, mu_down, upward, downward, kappa, net)


@compiled(error_model="numpy", inline="always")
def middle_intercept(scores, by_score, upward, downward, margin):
    """Middle of the set of b that minimise the sum of the hinges of `scores + b`.

    That sum is piecewise linear and convex in b. Its slope rises by `upward[j]` at b = margin - s_j and by
    `downward[j]` at b = -margin - s_j; `by_score` sorts the scores, so both lists of kinks are sorted as well, and
    one merge of the two walks along the slope. Both sums of costs have to be positive. Every turn of the loop passes a
    kink, so that it ends whatever the numbers are.
    """
    slope = 0.0
    flat = 0.0
    for j in range(len(scores)):
        slope -= upward[j]
        flat += 1e-12 * (upward[j] + downward[j])

    i = len(scores) - 1  # next kink of the upward hinges, highest score first
    k = i  # next kink of the downward hinges
    left_end = np.inf
    for _ in range(2 * len(scores) + 1):
        while i >= 0 and upward[by_score[i]] <= 0.0:
            i -= 1
        while k >= 0 and downward[by_score[k]] <= 0.0:
            k -= 1
        if i < 0 and k < 0:
            break  # one side is so light that the slope was flat from the last kink of the other on
        next_up = margin - scores[by_score[i]] if i >= 0 else np.inf
        next_down = -margin - scores[by_score[k]] if k >= 0 else np.inf
        if k < 0 or (i >= 0 and next_up <= next_down):
            kink = next_up
            rise = upward[by_score[i]]
            i -= 1
        else:
            kink = next_down
            rise = downward[by_score[k]]
            k -= 1
        if left_end < kink:
            return 0.5 * (left_end + kink)
        slope += rise
        if slope > flat:
            return kink
        if slope >= -flat:
            left_end = kink
    return left_end


@compiled(error_model="numpy", inline="always")
def feasible_net(mu_up, mu_down, upward, downward, kappa, net):
    """Clip the dual variables into their bounds, in place, and scale the heavier side down to the lighter one.

    Overwrites `net` with their difference and returns the sum of both.
    """
    weight_up = 0.0
    weight_down = 0.0
    for j in range(len(net)):
        up = mu_up[j] if mu_up[j] > 0.0 else 0.0
        down = mu_down[j] if mu_down[j] > 0.0 else 0.0
        mu_up[j] = up if up < kappa * upward[j] else kappa * upward[j]
        mu_down[j] = down if down < kappa * downward[j] else kappa * downward[j]
        weight_up += mu_up[j]
        weight_down += mu_down[j]
    lighter = weight_up if weight_up < weight_down else weight_down
    shrink_up = lighter / weight_up if weight_up > 0.0 else 0.0
    shrink_down = lighter / weight_down if weight_down > 0.0 else 0.0
    for j in range(len(net)):
        net[j] = shrink_up * mu_up[j] - shrink_down * mu_down[j]
    return 2.0 * lighter
