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
not exist: `PRESENT` is 0 for it and 1 for all others, and multiplying by that instead of asking keeps the loops over
the hinges free of branches, so that they run several hinges at a time.

Features come as `columns`, one contiguous row for each feature.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Rows of the array of hinges: the quantities, their steps, and the reciprocals that a step needs.
PRICE, LEFT, ROOM, SLACK = 0, 1, 2, 3
D_PRICE, D_ROOM, D_SLACK = 4, 5, 6
PER_PRICE, PER_LEFT, PER_ROOM, PER_SLACK, EASE = 7, 8, 9, 10, 11
PRESENT = 12
N_HINGE_ROWS = 13

# Fraction of the way to the boundary that a step may go.
STEP_FRACTION = 0.995

# Steps in a row that may fail to bring the gap and the linear conditions a tenth closer before the method gives up.
PATIENCE = 10

# A pivot below this fraction of its diagonal element is rounding, and gets this value instead.
ROUNDING = 1e-15
BLOCKED = 1e50

# Rows that are taken together in loops over all features, so that they stay in the fastest cache.
ROW_BLOCK = 256

# Sums may be taken in any order, which is what lets them run on several numbers at a time. The order is the compiler's
# choice, and it may choose anew for each function that it compiles such a sum into; of copies with the same name a
# process then runs the one that it happened to load first. So all functions with such sums, and compiled ones that
# call them, are inlined into what Python calls: that has one compiled form, whatever was compiled or loaded before.
ANY_ORDER = {"reassoc", "contract", "nsz"}

# The same for loops that look for a largest value among numbers.
ANY_ORDER_OF_NUMBERS = {"reassoc", "contract", "nsz", "nnan"}


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER, forceinline=True)
def interior_point(
    columns,
    scale,
    cost,
    tol,
    enough,
    max_iter,
    hinge,
    matrix,
    vectors,
    rows,
    solution,
    scores,
):
    """Minimise the node problem; returns the number of steps.

    `solution` (w, b) and `scores` start as zeros and end as the solution; `hinge` is overwritten, and `hinge[PRICE]`
    ends as the dual one. The arrays between `hinge` and `solution` are scratch. Stops when the complementarity gap and
    the unmet linear conditions are below `tol` times the objective, when the optimum is seen to lie above `enough`,
    when steps no longer help, or after `max_iter` steps.
    """
    rank, n = columns.shape
    residual, direction, column = vectors[0], vectors[1], vectors[2]
    curvature, pulls, moved = rows[0], rows[1], rows[2]
    weighted = np.empty((4, ROW_BLOCK))
    n_products = 2.0 * central_hinges(cost, hinge)

    best = np.inf
    fruitless = 0
    iteration = 0
    while True:
        gap, loss = measure_hinges(hinge, cost, pulls)
        gather(columns, scale, pulls, residual)
        objective, bound, unmet, off = measure_surface(gap, loss, hinge, solution, residual)
        fruitless = 0 if off < 0.9 * best else fruitless + 1
        best = off if off < best else best
        done = has_converged(gap, objective, unmet, tol) or bound > enough
        if done or iteration >= max_iter or fruitless > PATIENCE:
            return iteration

        prepare_step(hinge, curvature)
        newton_matrix(columns, scale, curvature, weighted, matrix, column)
        factorise(matrix, column, direction)

        # Predictor: straight at complementarity. Corrector: as central as the predictor got far, bent as it was.
        target = 0.0
        length = 0.0
        for corrector in range(2):
            plan_prices(hinge, scores, target, float(corrector), pulls)
            gather(columns, scale, pulls, direction)
            for a in range(rank + 1):
                direction[a] += residual[a]
            substitute(matrix, direction)
            spread(columns, scale, direction, moved)
            length, gap_after = follow_scores(hinge, moved, gap)
            left_over = gap_after / gap
            target = left_over * left_over * gap_after / n_products

        advance(hinge, length)
        for a in range(rank + 1):
            solution[a] += length * direction[a]
        for j in range(n):
            scores[j] += length * moved[j]
        iteration += 1


@njit(cache=True, nogil=True, error_model="numpy")
def has_converged(gap, objective, unmet, tol):
    """Whether to stop: the gap and the unmet linear conditions are small, or rounding rules.

    Once the gap is rather small and the linear conditions are worse, that is rounding, and further steps add to it.
    A gap that is not a number stops as well.
    """
    rounding_rules = gap < unmet and gap < 1e3 * tol * objective
    return rounding_rules or not gap + unmet > tol * objective


@njit(cache=True, nogil=True)
def central_hinges(cost, hinge):
    """Overwrite `hinge` with a point for w = b = 0 at which price * room = left * slack; returns the number of hinges.

    The quantities of a hinge without a cost stay 1 or 2: they are divided by, but count for nothing.
    """
    n_present = 0.0
    for k in range(len(cost)):
        present = cost[k] > 0.0
        n_present += present
        hinge[PRESENT, k] = present
        hinge[PRICE, k] = cost[k] * (2.0 / 3.0) if present else 1.0
        hinge[LEFT, k] = cost[k] * (1.0 / 3.0) if present else 1.0
        hinge[ROOM, k] = 1.0
        hinge[SLACK, k] = 2.0
        hinge[D_PRICE, k] = 0.0
        hinge[D_ROOM, k] = 0.0
        hinge[D_SLACK, k] = 0.0
    return n_present


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER, inline="always")
def measure_hinges(hinge, cost, pulls):
    """Return the complementarity gap and the loss; overwrite `pulls` with the net price of each row."""
    n = len(pulls)
    price, left, room, slack, present = hinge[PRICE], hinge[LEFT], hinge[ROOM], hinge[SLACK], hinge[PRESENT]
    gap = 0.0
    loss = 0.0
    for k in range(2 * n):
        gap += present[k] * (price[k] * room[k] + left[k] * slack[k])
        loss += cost[k] * slack[k]
    for j in range(n):
        pulls[j] = present[j] * price[j] - present[n + j] * price[n + j]
    return gap, loss


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER, inline="always")
def measure_surface(gap, loss, hinge, solution, residual):
    """Return the objective, the dual value, how much the unmet linear conditions may change it, and their size.

    `residual` comes as (F'(y price), sum of y price) and leaves as what the linear conditions lack:
    (F'(y price) - w, sum of y price). The dual value is that of prices whose sum is not yet zero: nearly a lower
    bound of the optimum.
    """
    rank = len(solution) - 1
    price, present = hinge[PRICE], hinge[PRESENT]
    bound = 0.0
    for k in range(len(price)):
        bound += present[k] * price[k]
    objective = loss
    off = gap + abs(residual[rank])
    unmet = abs(residual[rank] * solution[rank])
    for a in range(rank):
        bound -= 0.5 * residual[a] * residual[a]
        objective += 0.5 * solution[a] * solution[a]
        residual[a] -= solution[a]
        off += abs(residual[a])
        unmet += abs(residual[a] * solution[a])
    return objective, bound, unmet, off


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER, inline="always")
def prepare_step(hinge, curvature):
    """Overwrite the reciprocals a step needs, and the curvature of each row: sum of 1 / (room/price + slack/left)."""
    n = len(curvature)
    price, left, room, slack, present = hinge[PRICE], hinge[LEFT], hinge[ROOM], hinge[SLACK], hinge[PRESENT]
    per_price, per_left, per_room, per_slack = hinge[PER_PRICE], hinge[PER_LEFT], hinge[PER_ROOM], hinge[PER_SLACK]
    ease = hinge[EASE]
    for k in range(2 * n):
        per_price[k] = 1.0 / price[k]
        per_left[k] = 1.0 / left[k]
        per_room[k] = 1.0 / room[k]
        per_slack[k] = 1.0 / slack[k]
        ease[k] = present[k] / (room[k] * per_price[k] + slack[k] * per_left[k])
    for j in range(n):
        curvature[j] = ease[j] + ease[n + j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER, inline="always")
def plan_prices(hinge, scores, target, bend, pulls):
    """Price change of each hinge if its score stood still; `pulls` is overwritten with its sum per row, signed.

    `target` is the wanted product of both complementary pairs. With `bend` = 1 the predictor's step is expected in
    `hinge` and its products are made up for; with 0 they are not. The planned changes replace it there.
    """
    n = len(scores)
    room, slack, present, ease = hinge[ROOM], hinge[SLACK], hinge[PRESENT], hinge[EASE]
    per_price, per_left = hinge[PER_PRICE], hinge[PER_LEFT]
    d_price, d_room, d_slack = hinge[D_PRICE], hinge[D_ROOM], hinge[D_SLACK]
    for k in range(2 * n):
        bent = bend * d_price[k]
        d_room[k] = present[k] * ((target - bent * d_room[k]) * per_price[k] - room[k])
        d_slack[k] = present[k] * ((target + bent * d_slack[k]) * per_left[k] - slack[k])
        d_price[k] = (d_room[k] - d_slack[k] + 1.0 + room[k] - slack[k]) * ease[k]
    for j in range(n):
        d_price[j] -= scores[j] * ease[j]
        d_price[n + j] += scores[j] * ease[n + j]
        pulls[j] = d_price[j] - d_price[n + j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER_OF_NUMBERS, forceinline=True)
def follow_scores(hinge, moved, gap):
    """Complete the planned steps for the score changes `moved`.

    Returns the length that keeps every quantity positive, and the complementarity gap behind such a step.
    """
    n = len(moved)
    price, left, room, slack = hinge[PRICE], hinge[LEFT], hinge[ROOM], hinge[SLACK]
    per_price, per_left, per_room, per_slack = hinge[PER_PRICE], hinge[PER_LEFT], hinge[PER_ROOM], hinge[PER_SLACK]
    d_price, d_room, d_slack, ease = hinge[D_PRICE], hinge[D_ROOM], hinge[D_SLACK], hinge[EASE]
    for j in range(n):
        d_price[j] -= moved[j] * ease[j]
        d_price[n + j] += moved[j] * ease[n + j]

    first_order = 0.0
    second_order = 0.0
    for k in range(2 * n):
        d_room[k] -= room[k] * per_price[k] * d_price[k]
        d_slack[k] += slack[k] * per_left[k] * d_price[k]
        first_order += d_price[k] * (room[k] - slack[k]) + price[k] * d_room[k] + left[k] * d_slack[k]
        second_order += d_price[k] * (d_room[k] - d_slack[k])

    # The largest relative fall among all quantities says how far a step may go.
    steepest = STEP_FRACTION
    for k in range(2 * n):
        steepest = max(steepest, -d_price[k] * per_price[k])
        steepest = max(steepest, d_price[k] * per_left[k])
        steepest = max(steepest, -d_room[k] * per_room[k])
        steepest = max(steepest, -d_slack[k] * per_slack[k])
    length = STEP_FRACTION / steepest
    return length, gap + length * (first_order + length * second_order)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER, inline="always")
def advance(hinge, length):
    """Take a step of this length."""
    price, left, room, slack = hinge[PRICE], hinge[LEFT], hinge[ROOM], hinge[SLACK]
    d_price, d_room, d_slack = hinge[D_PRICE], hinge[D_ROOM], hinge[D_SLACK]
    for k in range(hinge.shape[1]):
        price[k] += length * d_price[k]
        left[k] -= length * d_price[k]
        room[k] += length * d_room[k]
        slack[k] += length * d_slack[k]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER, inline="always")
def four_products(first, second, third, fourth, other):
    """Inner products of four vectors with a fifth, which is read once for all of them."""
    sum_1 = sum_2 = sum_3 = sum_4 = 0.0
    for j in range(len(other)):
        value = other[j]
        sum_1 += first[j] * value
        sum_2 += second[j] * value
        sum_3 += third[j] * value
        sum_4 += fourth[j] * value
    return sum_1, sum_2, sum_3, sum_4


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER, inline="always")
def newton_matrix(columns, scale, curvature, weighted, matrix, column):
    """Overwrite the lower triangle of `matrix` with [[I + F'CF, F'C1], [1'CF, 1'C1]].

    `weighted` (four rows of ROW_BLOCK) and `column` are scratch, and so is the upper triangle. The features are taken
    four at a time; where their number is no multiple of four, the last one stands in for those that are missing.
    """
    rank, n = columns.shape
    for a in range(rank):
        for b in range(rank):
            matrix[a, b] = 0.0
    for first in range(0, n, ROW_BLOCK):
        last = min(n, first + ROW_BLOCK)
        part = curvature[first:last]
        one, two = weighted[0, : last - first], weighted[1, : last - first]
        three, four = weighted[2, : last - first], weighted[3, : last - first]
        for a in range(0, rank, 4):
            for i in range(4):
                feature = columns[min(a + i, rank - 1), first:last]
                for j in range(last - first):
                    weighted[i, j] = part[j] * feature[j]
            for b in range(min(a + 4, rank)):
                products = four_products(one, two, three, four, columns[b, first:last])
                for i in range(min(4, rank - a)):
                    matrix[a + i, b] += products[i]

    gather(columns, scale, curvature, column)
    for a in range(rank):
        for b in range(a + 1):
            matrix[a, b] *= scale * scale
        matrix[a, a] += 1.0
    for a in range(rank + 1):
        matrix[rank, a] = column[a]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER, inline="always")
def factorise(matrix, column, floor):
    """Cholesky factor of a positive definite matrix, in its lower triangle; column by column, four rows at a time.

    A direction whose pivot rounding has eaten is blocked: the step does not go there. `column` and `floor` are
    scratch.
    """
    n = len(matrix)
    for k in range(n):
        floor[k] = ROUNDING * matrix[k, k]
    for k in range(n):
        known = matrix[k, :k]
        for i in range(k, n, 4):
            one, two = matrix[i, :k], matrix[min(i + 1, n - 1), :k]
            three, four = matrix[min(i + 2, n - 1), :k], matrix[min(i + 3, n - 1), :k]
            products = four_products(one, two, three, four, known)
            for m in range(min(4, n - i)):
                column[i + m] = matrix[i + m, k] - products[m]
        pivot = np.sqrt(column[k]) if column[k] > floor[k] else BLOCKED
        matrix[k, k] = pivot
        for i in range(k + 1, n):
            matrix[i, k] = column[i] / pivot


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER, inline="always")
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER, inline="always")
def spread(columns, scale, direction, scores):
    """Overwrite `scores` with F w + b, `direction` being (w, b)."""
    rank, n = columns.shape
    for first in range(0, n, ROW_BLOCK):
        part = scores[first : min(n, first + ROW_BLOCK)]
        part[:] = direction[rank]
        for a in range(rank):
            feature = columns[a, first : first + len(part)]
            weight = scale * direction[a]
            for j in range(len(part)):
                part[j] += weight * feature[j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER, inline="always")
def gather(columns, scale, rows, result):
    """Overwrite `result` with (F' rows, sum of rows)."""
    rank, n = columns.shape
    for a in range(rank):
        feature = columns[a]
        total = 0.0
        for j in range(n):
            total += feature[j] * rows[j]
        result[a] = scale * total
    total = 0.0
    for j in range(n):
        total += rows[j]
    result[rank] = total
