"""A primal-dual interior-point method for the node problem, on a low-rank factor of the kernel.

The problem, with unit margin and costs of at most 1:

    minimise  1/2 |w|^2 + sum_j ( upward_j * max(0, 1 - s_j) + downward_j * max(0, 1 + s_j) )
    with      s = F w + b,   F = scale * features

Each of the 2 n hinges with a positive cost c is a constraint and its slack; with y = +1 for the upward ones and
y = -1 for the downward ones:

    y s = 1 + room - slack,   room >= 0,  slack >= 0,   0 <= price <= c,  left = c - price
    price * room = 0,  left * slack = 0,   w = F'(y price),   sum of y price = 0

`price` is the dual variable mu of the paper. A Newton step eliminates all of them and leaves one positive
definite system in (dw, db) of the factor's rank, so an iteration costs O(n rank^2) time and O(n) memory. Keeping w
as an unknown of its own (rather than through the Woodbury identity) is what keeps the step accurate when kappa is
large.

Arrays over the hinges hold the n upward ones first and then the n downward ones. A hinge whose cost is zero does
not exist: its room stays zero, and that is how it is told.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Rows of the array of hinges: the quantities, their steps, and the reciprocals that a step needs.
PRICE, LEFT, ROOM, SLACK = 0, 1, 2, 3
D_PRICE, D_ROOM, D_SLACK = 4, 5, 6
PER_PRICE, PER_LEFT, EASE = 7, 8, 9
N_HINGE_ROWS = 10

# Fraction of the way to the boundary that a step may go.
STEP_FRACTION = 0.995

# Steps in a row that may fail to bring the gap and the linear conditions a tenth closer before the method gives up.
PATIENCE = 10

# A pivot below this fraction of its diagonal element is rounding, and gets this value instead.
ROUNDING = 1e-15
BLOCKED = 1e100

# Rows that are folded into the Newton matrix together: the matrix is then read and written once per group.
ROW_GROUP = 4


@njit(cache=True, nogil=True)
def interior_point(
    features,
    scale,
    cost,
    tol,
    max_iter,
    hinge,
    matrix,
    column,
    residual,
    direction,
    curvature,
    pulls,
    moved,
    solution,
    scores,
):
    """Minimise the node problem from a positive `hinge`; returns the number of steps.

    `solution` (w, b) and `scores` start as zeros and end as the solution, `hinge[PRICE]` ends as the dual one. The
    arrays between `hinge` and `solution` are scratch. Stops when the complementarity gap and the unmet linear
    conditions are below `tol` times the objective, when steps no longer help, or after `max_iter` steps.
    """
    n, rank = features.shape
    n_products = 0
    for k in range(2 * n):
        if cost[k] > 0.0:
            n_products += 2

    best = np.inf
    fruitless = 0
    iteration = 0
    while True:
        gap, objective, unmet = measure(features, scale, cost, hinge, solution, pulls, residual)
        off = gap
        for a in range(rank + 1):
            off += abs(residual[a])
        fruitless = 0 if off < 0.9 * best else fruitless + 1
        best = off if off < best else best
        if has_converged(gap, objective, unmet, tol) or iteration >= max_iter or fruitless > PATIENCE:
            return iteration

        prepare_step(hinge, curvature)
        newton_matrix(features, scale, curvature, matrix, column)
        factorise(matrix, column, direction)

        # Predictor: straight at complementarity. Corrector: as central as the predictor got far, bent as it was.
        target = 0.0
        length = 0.0
        for corrector in range(2):
            plan_prices(hinge, scores, target, corrector == 1, pulls)
            gather(features, scale, pulls, direction)
            for a in range(rank + 1):
                direction[a] += residual[a]
            substitute(matrix, direction)
            spread(features, scale, direction, moved)
            length, gap_after = follow_scores(hinge, moved, gap)
            left_over = gap_after / gap
            target = left_over * left_over * gap_after / n_products

        advance(hinge, length)
        for a in range(rank + 1):
            solution[a] += length * direction[a]
        for j in range(n):
            scores[j] += length * moved[j]
        iteration += 1


@njit(cache=True, nogil=True)
def has_converged(gap, objective, unmet, tol):
    """Whether to stop: the gap and the unmet linear conditions are small, or rounding rules.

    Once the gap is rather small and the linear conditions are worse, that is rounding, and further steps add to it.
    A gap that is not a number stops as well.
    """
    rounding_rules = gap < unmet and gap < 1e3 * tol * objective
    return rounding_rules or not gap + unmet > tol * objective


@njit(cache=True, nogil=True)
def measure(features, scale, cost, hinge, solution, pulls, residual):
    """Return the complementarity gap, the objective, and how much the unmet linear conditions may change it.

    Overwrites `residual` with what the linear conditions lack: (F'(y price) - w, sum of y price).
    """
    n, rank = features.shape
    gap = 0.0
    objective = 0.0
    for k in range(2 * n):
        gap += hinge[PRICE, k] * hinge[ROOM, k] + hinge[LEFT, k] * hinge[SLACK, k]
        objective += cost[k] * hinge[SLACK, k]
    for j in range(n):
        pulls[j] = hinge[PRICE, j] - hinge[PRICE, n + j]
    gather(features, scale, pulls, residual)
    unmet = abs(residual[rank] * solution[rank])
    for a in range(rank):
        objective += 0.5 * solution[a] * solution[a]
        residual[a] -= solution[a]
        unmet += abs(residual[a] * solution[a])
    return gap, objective, unmet


@njit(cache=True, nogil=True)
def prepare_step(hinge, curvature):
    """Overwrite the reciprocals a step needs, and the curvature of each row: sum of 1 / (room/price + slack/left)."""
    n = len(curvature)
    for j in range(n):
        curvature[j] = 0.0
    for side in range(2):
        for j in range(n):
            k = side * n + j
            if hinge[ROOM, k] > 0.0:
                per_price = 1.0 / hinge[PRICE, k]
                per_left = 1.0 / hinge[LEFT, k]
                ease = 1.0 / (hinge[ROOM, k] * per_price + hinge[SLACK, k] * per_left)
                hinge[PER_PRICE, k] = per_price
                hinge[PER_LEFT, k] = per_left
                hinge[EASE, k] = ease
                curvature[j] += ease


@njit(cache=True, nogil=True)
def plan_prices(hinge, scores, target, corrector, pulls):
    """Price change of each hinge if its score stood still; `pulls` is overwritten with its sum per row, signed.

    `target` is the wanted product of both complementary pairs. The corrector expects the predictor's step in
    `step` and makes up for its products. The planned changes replace it there.
    """
    n = len(scores)
    for j in range(n):
        pulls[j] = 0.0
    for side in range(2):
        y = 1.0 - 2.0 * side
        for j in range(n):
            k = side * n + j
            if hinge[ROOM, k] > 0.0:
                wanted_room = target
                wanted_slack = target
                if corrector:
                    wanted_room -= hinge[D_PRICE, k] * hinge[D_ROOM, k]
                    wanted_slack += hinge[D_PRICE, k] * hinge[D_SLACK, k]
                d_room = wanted_room * hinge[PER_PRICE, k] - hinge[ROOM, k]
                d_slack = wanted_slack * hinge[PER_LEFT, k] - hinge[SLACK, k]
                infeasible = y * scores[j] - 1.0 - hinge[ROOM, k] + hinge[SLACK, k]
                d_price = (d_room - d_slack - infeasible) * hinge[EASE, k]
                hinge[D_PRICE, k] = d_price
                hinge[D_ROOM, k] = d_room
                hinge[D_SLACK, k] = d_slack
                pulls[j] += y * d_price


@njit(cache=True, nogil=True)
def follow_scores(hinge, moved, gap):
    """Complete the planned steps for the score changes `moved`.

    Returns the length that keeps every quantity positive, and the complementarity gap behind such a step.
    """
    n = len(moved)
    longest = 1.0 / STEP_FRACTION
    first_order = 0.0
    second_order = 0.0
    for side in range(2):
        y = 1.0 - 2.0 * side
        for j in range(n):
            k = side * n + j
            room, slack = hinge[ROOM, k], hinge[SLACK, k]
            if room > 0.0:
                price, left = hinge[PRICE, k], hinge[LEFT, k]
                d_price = hinge[D_PRICE, k] - y * moved[j] * hinge[EASE, k]
                d_room = hinge[D_ROOM, k] - room * hinge[PER_PRICE, k] * d_price
                d_slack = hinge[D_SLACK, k] + slack * hinge[PER_LEFT, k] * d_price
                hinge[D_PRICE, k] = d_price
                hinge[D_ROOM, k] = d_room
                hinge[D_SLACK, k] = d_slack
                first_order += d_price * (room - slack) + price * d_room + left * d_slack
                second_order += d_price * (d_room - d_slack)
                if price + longest * d_price < 0.0:
                    longest = -price / d_price
                if left - longest * d_price < 0.0:
                    longest = left / d_price
                if room + longest * d_room < 0.0:
                    longest = -room / d_room
                if slack + longest * d_slack < 0.0:
                    longest = -slack / d_slack
    length = STEP_FRACTION * longest
    return length, gap + length * (first_order + length * second_order)


@njit(cache=True, nogil=True)
def advance(hinge, length):
    """Take a step of this length."""
    for k in range(hinge.shape[1]):
        hinge[PRICE, k] += length * hinge[D_PRICE, k]
        hinge[LEFT, k] -= length * hinge[D_PRICE, k]
        hinge[ROOM, k] += length * hinge[D_ROOM, k]
        hinge[SLACK, k] += length * hinge[D_SLACK, k]


@njit(cache=True, nogil=True)
def newton_matrix(features, scale, curvature, matrix, column):
    """Overwrite the lower triangle of `matrix` with [[I + F'CF, F'C1], [1'CF, 1'C1]]."""
    n, rank = features.shape
    for a in range(rank):
        for b in range(a + 1):
            matrix[a, b] = 0.0
    j = 0
    while j + ROW_GROUP <= n:
        for a in range(rank):
            c0 = curvature[j] * features[j, a]
            c1 = curvature[j + 1] * features[j + 1, a]
            c2 = curvature[j + 2] * features[j + 2, a]
            c3 = curvature[j + 3] * features[j + 3, a]
            for b in range(a + 1):
                matrix[a, b] += (
                    c0 * features[j, b] + c1 * features[j + 1, b] + c2 * features[j + 2, b] + c3 * features[j + 3, b]
                )
        j += ROW_GROUP
    while j < n:
        for a in range(rank):
            for b in range(a + 1):
                matrix[a, b] += curvature[j] * features[j, a] * features[j, b]
        j += 1

    gather(features, scale, curvature, column)
    for a in range(rank):
        for b in range(a + 1):
            matrix[a, b] *= scale * scale
        matrix[a, a] += 1.0
    for a in range(rank + 1):
        matrix[rank, a] = column[a]


@njit(cache=True, nogil=True)
def factorise(matrix, column, floor):
    """Cholesky factor of a positive definite matrix, in its lower triangle.

    A direction whose pivot rounding has eaten is blocked: the step does not go there. `column` and `floor` are
    scratch.
    """
    n = len(matrix)
    for k in range(n):
        floor[k] = ROUNDING * matrix[k, k]
    for k in range(n):
        if not matrix[k, k] > floor[k]:
            matrix[k, k] = BLOCKED
        pivot = np.sqrt(matrix[k, k])
        matrix[k, k] = pivot
        for i in range(k + 1, n):
            matrix[i, k] /= pivot
            column[i] = matrix[i, k]
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                matrix[i, j] -= column[i] * column[j]


@njit(cache=True, nogil=True)
def substitute(lower, vector):
    """Overwrite `vector` with the solution of (lower lower') x = vector."""
    n = len(vector)
    for i in range(n):
        for k in range(i):
            vector[i] -= lower[i, k] * vector[k]
        vector[i] /= lower[i, i]
    for i in range(n - 1, -1, -1):
        vector[i] /= lower[i, i]
        for k in range(i):
            vector[k] -= lower[i, k] * vector[i]


@njit(cache=True, nogil=True)
def spread(features, scale, direction, scores):
    """Overwrite `scores` with F w + b, `direction` being (w, b)."""
    rank = features.shape[1]
    for j in range(len(scores)):
        total = 0.0
        for a in range(rank):
            total += features[j, a] * direction[a]
        scores[j] = scale * total + direction[rank]


@njit(cache=True, nogil=True)
def gather(features, scale, rows, result):
    """Overwrite `result` with (F' rows, sum of rows)."""
    rank = features.shape[1]
    for a in range(rank + 1):
        result[a] = 0.0
    for j in range(len(rows)):
        for a in range(rank):
            result[a] += rows[j] * features[j, a]
        result[rank] += rows[j]
    for a in range(rank):
        result[a] *= scale


@njit(cache=True, nogil=True)
def middle_intercept(scores, by_score, cost):
    """Middle of the set of b that minimise the sum of the hinges of `scores + b`.

    That sum is piecewise linear and convex in b. Its slope rises by `upward[j]` at b = 1 - s_j and by
    `downward[j]` at b = -1 - s_j; `by_score` sorts the scores, so both lists of kinks are sorted as well, and
    one merge of the two walks along the slope. Both sums of costs have to be positive.
    """
    n = len(scores)
    slope = 0.0
    flat = 0.0
    for j in range(n):
        slope -= cost[j]
        flat += 1e-12 * (cost[j] + cost[n + j])

    i = n - 1  # next kink of the upward hinges, highest score first
    k = n - 1  # next kink of the downward hinges
    left_end = np.nan
    while True:
        while i >= 0 and cost[by_score[i]] <= 0.0:
            i -= 1
        while k >= 0 and cost[n + by_score[k]] <= 0.0:
            k -= 1
        next_up = 1.0 - scores[by_score[i]] if i >= 0 else np.inf
        next_down = -1.0 - scores[by_score[k]] if k >= 0 else np.inf
        kink = min(next_up, next_down)
        if not np.isnan(left_end):
            return 0.5 * (left_end + kink)
        if next_up <= next_down:
            slope += cost[by_score[i]]
            i -= 1
        else:
            slope += cost[n + by_score[k]]
            k -= 1
        if slope > flat:
            return kink
        if slope >= -flat:
            left_end = kink
