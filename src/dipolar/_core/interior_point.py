"""A primal-dual interior-point method for the node problem, on a low-rank factor of the kernel.

The problem, with unit margin and costs of at most 1:

    minimise  1/2 |w|^2 + sum_j ( upward_j * max(0, 1 - s_j) + downward_j * max(0, 1 + s_j) )
    with      s = F w + b

Each of the 2 n hinges with a positive cost c is a constraint and its slack; with y = +1 for the upward ones and
y = -1 for the downward ones:

    y s = 1 + room - slack,   room >= 0,  slack >= 0,   0 <= price <= c,  left = c - price
    price * room = 0,  left * slack = 0,   w = F'(y price),   sum of y price = 0

`price` is the dual variable mu of the paper. A Newton step eliminates all of them and leaves one positive
definite system in (b, w) of the factor's rank plus 1, so an iteration costs O(n rank^2) time and O(n) memory. Keeping w
as an unknown of its own (rather than through the Woodbury identity) is what keeps the step accurate when kappa is
large.

Arrays over the hinges hold the n upward ones first and then the n downward ones. A hinge has two pairs whose product
is to vanish, (price, room) and (left, slack), and both are treated alike, so they stand in the same rows of `pairs`:

    pairs[PRICE]   price of the 2 n hinges, then what is left of their costs
    pairs[ROOM]    room of the 2 n hinges, then their slack

A hinge whose cost is zero does not exist: its quantities are zero and stay so. Taking the reciprocal of zero as
zero does that without a question in the loops over the hinges, so that they run several hinges at a time.

`lifted` has a row of ones, whose weight is b, and then the features, one in each row: s = lifted' (b, w). Rows of zeros
make their number a multiple of four, because loops over pairs of features take four of them at a time.
"""

from __future__ import annotations

import numpy as np

from dipolar._core.compiling import compiled

# Rows of `pairs`: the quantities, their steps, their reciprocals; and, in its first half, one number for each hinge.
PRICE, ROOM = 0, 1
D_PRICE, D_ROOM = 2, 3
PER_PRICE, PER_ROOM = 4, 5
EASE = 6
N_PAIR_ROWS = 7

# Product of every pair at the start, where the largest cost is 1.
CENTRE = 1.0 / 3.0

# Fraction of the way to the boundary that a step may go: the first where the predictor could not move, the second
# where nothing was in its way.
LEAST_REACH = 0.9
MOST_REACH = 0.9995

# The corrector makes up for the products of the predictor's step, at most for this many times the fraction of that step
# that could be taken. If it always makes up for all of them, as is common, it may go in circles.
TRUST = 1.4

# A step is fruitful if it brings the gap and the linear conditions below this fraction of the best so far; the method
# gives up after this many in a row that are not.
FRUITFUL = 0.99
PATIENCE = 20

# A pivot below this fraction of its diagonal element is rounding, and its reciprocal gets this value instead.
ROUNDING = 1e-15
BLOCKED = 1e-50

# Sums and maxima may be taken in any order, which is what lets them run on several numbers at a time. The order is the
# compiler's choice, and it may choose anew for each function that it compiles such a sum into; of copies with the same
# name a process then runs the one that it happened to load first. So all functions with such sums, and compiled ones
# that call them, are inlined into what Python calls: that has one compiled form, whatever was compiled or loaded
# before. Nothing may ask here whether a number is one ("nnan"); the caller does.
ANY_ORDER = {"reassoc", "contract", "nsz", "nnan"}


@compiled(error_model="numpy", fastmath=ANY_ORDER, forceinline=True)
def interior_point(lifted, cost, tol, enough, max_iter, pairs, matrix, vectors, rows, solution, scores):
    """Minimise the node problem; returns the number of steps.

    `pairs`, `solution` (b, w) and `scores` start as zeros. `solution` and `scores` end as the solution, the first half
    of `pairs[PRICE]` as the dual one; the arrays between are scratch. Stops when the complementarity gap and the unmet
    linear conditions are below `tol` times the objective, when the optimum is seen to lie above `enough`, when steps
    no longer help, or after `max_iter` steps.
    """
    residual, direction, column = vectors[0], vectors[1], vectors[2]
    curvature, pulls, moved = rows[0], rows[1], rows[2]
    n_pairs = central_pairs(cost, pairs)

    best = np.inf
    fruitless = 0
    iteration = 0
    while True:
        gap, loss, prices = measure_pairs(pairs, cost, pulls)
        gather(lifted, pulls, residual)
        objective, bound, unmet, off = measure_surface(gap, loss, prices, solution, residual)
        fruitless = 0 if off < FRUITFUL * best else fruitless + 1
        best = off if off < best else best
        done = has_converged(gap, objective, unmet, tol) or bound > enough
        if done or iteration >= max_iter or fruitless > PATIENCE:
            return iteration

        prepare_step(pairs, curvature)
        newton_matrix(lifted, curvature, matrix)
        factorise(matrix, column)

        # Predictor: straight at complementarity. Corrector: the more central and the less bent, the less far that got.
        target = 0.0
        bend = 0.0
        length = 0.0
        reach = 1.0
        for _ in range(2):
            plan_prices(pairs, scores, target, bend, pulls)
            gather(lifted, pulls, direction)
            for a in range(len(direction)):
                direction[a] += residual[a]
            substitute(matrix, direction)
            spread(lifted, direction, moved)
            length, gap_after = follow_scores(pairs, moved, gap, reach)
            reach = LEAST_REACH + (MOST_REACH - LEAST_REACH) * length
            target = (gap_after / gap) ** 2 * gap_after / n_pairs
            bend = TRUST * length if TRUST * length < 1.0 else 1.0

        advance(pairs, length)
        for a in range(len(direction)):
            solution[a] += length * direction[a]
        for j in range(len(scores)):
            scores[j] += length * moved[j]
        iteration += 1


@compiled(error_model="numpy", fastmath=ANY_ORDER, inline="always")
def has_converged(gap, objective, unmet, tol):
    """Whether to stop: the gap and the unmet linear conditions are small, or rounding rules.

    Once the gap is rather small and the linear conditions are worse, that is rounding, and further steps add to it.
    """
    rounding_rules = gap < unmet and gap < 1e3 * tol * objective
    return rounding_rules or gap + unmet <= tol * objective


@compiled(error_model="numpy", inline="always")
def central_pairs(cost, pairs):
    """Fill zeros with a point for w = b = 0 at which all products of pairs are CENTRE; returns the number of pairs.

    With slack = 1 + room, that is the root of CENTRE / room + CENTRE / (1 + room) = cost. Were the products as unequal
    as the costs may be, those of the smallest would be in the way of every step.
    """
    n_hinges = len(cost)
    n_pairs = 0.0
    for k in range(n_hinges):
        if cost[k] > 0.0:
            excess = cost[k] - 2.0 * CENTRE
            room = (np.sqrt(excess * excess + 4.0 * cost[k] * CENTRE) - excess) / (2.0 * cost[k])
            pairs[PRICE, k] = CENTRE / room
            pairs[PRICE, n_hinges + k] = CENTRE / (1.0 + room)
            pairs[ROOM, k] = room
            pairs[ROOM, n_hinges + k] = 1.0 + room
            n_pairs += 2.0
    return n_pairs


@compiled(error_model="numpy", fastmath=ANY_ORDER, inline="always")
def measure_pairs(pairs, cost, pulls):
    """Return the complementarity gap, the loss and the sum of prices; overwrite `pulls` with each row's net price."""
    n = len(pulls)
    gap = 0.0
    loss = 0.0
    prices = 0.0
    for k in range(2 * n):
        slack = pairs[ROOM, 2 * n + k]
        gap += pairs[PRICE, k] * pairs[ROOM, k] + pairs[PRICE, 2 * n + k] * slack
        loss += cost[k] * slack
        prices += pairs[PRICE, k]
    for j in range(n):
        pulls[j] = pairs[PRICE, j] - pairs[PRICE, n + j]
    return gap, loss, prices


@compiled(error_model="numpy", fastmath=ANY_ORDER, inline="always")
def measure_surface(gap, loss, prices, solution, residual):
    """Return the objective, the dual value, how much the unmet linear conditions may change it, and their size.

    `residual` comes as (sum of y price, F'(y price)) and leaves as what the linear conditions lack:
    (sum of y price, F'(y price) - w). The dual value is that of prices whose sum is not yet zero: nearly a lower
    bound of the optimum.
    """
    objective = loss
    bound = prices
    off = gap + abs(residual[0])
    unmet = abs(residual[0] * solution[0])
    for a in range(1, len(solution)):
        bound -= 0.5 * residual[a] * residual[a]
        objective += 0.5 * solution[a] * solution[a]
        residual[a] -= solution[a]
        off += abs(residual[a])
        unmet += abs(residual[a] * solution[a])
    return objective, bound, unmet, off


@compiled(error_model="numpy", fastmath=ANY_ORDER, inline="always")
def prepare_step(pairs, curvature):
    """Overwrite the reciprocals a step needs, and the curvature of each row: sum of 1 / (room/price + slack/left)."""
    n = len(curvature)
    for k in range(4 * n):
        price, room = pairs[PRICE, k], pairs[ROOM, k]
        pairs[PER_PRICE, k] = 1.0 / price if price > 0.0 else 0.0
        pairs[PER_ROOM, k] = 1.0 / room if room > 0.0 else 0.0
    for k in range(2 * n):
        left = 2 * n + k
        stiffness = pairs[ROOM, k] * pairs[PER_PRICE, k] + pairs[ROOM, left] * pairs[PER_PRICE, left]
        pairs[EASE, k] = 1.0 / stiffness if stiffness > 0.0 else 0.0
    for j in range(n):
        curvature[j] = pairs[EASE, j] + pairs[EASE, n + j]


@compiled(error_model="numpy", fastmath=ANY_ORDER, inline="always")
def plan_prices(pairs, scores, target, bend, pulls):
    """Price change of each hinge if its score stood still; `pulls` is overwritten with its sum per row, signed.

    `target` is the wanted product of every pair. The predictor's step is expected in `pairs`, and the fraction `bend`
    of its products is made up for. The planned changes replace it there.
    """
    n = len(scores)
    for k in range(4 * n):
        product = target - bend * pairs[D_PRICE, k] * pairs[D_ROOM, k]
        pairs[D_ROOM, k] = product * pairs[PER_PRICE, k] - pairs[ROOM, k]
    for k in range(2 * n):
        left = 2 * n + k
        short = 1.0 + pairs[ROOM, k] - pairs[ROOM, left] + pairs[D_ROOM, k] - pairs[D_ROOM, left]
        pairs[D_PRICE, k] = short * pairs[EASE, k]
    for j in range(n):
        pairs[D_PRICE, j] -= scores[j] * pairs[EASE, j]
        pairs[D_PRICE, n + j] += scores[j] * pairs[EASE, n + j]
        pulls[j] = pairs[D_PRICE, j] - pairs[D_PRICE, n + j]


@compiled(error_model="numpy", fastmath=ANY_ORDER, inline="always")
def follow_scores(pairs, moved, gap, reach):
    """Complete the planned steps for the score changes `moved`.

    Returns the length, at most 1, that takes no quantity farther than the fraction `reach` of its way to zero, and the
    complementarity gap behind such a step.
    """
    n = len(moved)
    for j in range(n):
        pairs[D_PRICE, j] -= moved[j] * pairs[EASE, j]
        pairs[D_PRICE, n + j] += moved[j] * pairs[EASE, n + j]
    for k in range(2 * n):
        pairs[D_PRICE, 2 * n + k] = -pairs[D_PRICE, k]

    first_order = 0.0
    second_order = 0.0
    for k in range(4 * n):
        price, room, d_price = pairs[PRICE, k], pairs[ROOM, k], pairs[D_PRICE, k]
        d_room = pairs[D_ROOM, k] - room * pairs[PER_PRICE, k] * d_price
        pairs[D_ROOM, k] = d_room
        first_order += d_price * room + price * d_room
        second_order += d_price * d_room

    # The largest relative fall among all quantities says how far a step may go.
    steepest = reach
    for k in range(4 * n):
        fall = -pairs[D_PRICE, k] * pairs[PER_PRICE, k]
        fall_of_room = -pairs[D_ROOM, k] * pairs[PER_ROOM, k]
        fall = fall_of_room if fall_of_room > fall else fall
        steepest = fall if fall > steepest else steepest
    length = reach / steepest
    return length, gap + length * (first_order + length * second_order)


@compiled(error_model="numpy", fastmath=ANY_ORDER, inline="always")
def advance(pairs, length):
    """Take a step of this length."""
    for k in range(pairs.shape[1]):
        pairs[PRICE, k] += length * pairs[D_PRICE, k]
        pairs[ROOM, k] += length * pairs[D_ROOM, k]


@compiled(error_model="numpy", fastmath=ANY_ORDER, inline="always")
def newton_matrix(lifted, curvature, matrix):
    """Overwrite the lower triangle of `matrix` with lifted C lifted', and 1 added for each feature.

    Four features meet two at a time, so that what is read is used several times. The upper triangle is scratch.
    """
    size, n = lifted.shape
    for a in range(0, size, 4):
        for b in range(0, a + 4, 2):
            sum_0 = sum_1 = sum_2 = sum_3 = 0.0
            next_0 = next_1 = next_2 = next_3 = 0.0
            for j in range(n):
                value = curvature[j] * lifted[b, j]
                next_value = curvature[j] * lifted[b + 1, j]
                sum_0 += lifted[a, j] * value
                sum_1 += lifted[a + 1, j] * value
                sum_2 += lifted[a + 2, j] * value
                sum_3 += lifted[a + 3, j] * value
                next_0 += lifted[a, j] * next_value
                next_1 += lifted[a + 1, j] * next_value
                next_2 += lifted[a + 2, j] * next_value
                next_3 += lifted[a + 3, j] * next_value
            matrix[a, b], matrix[a, b + 1] = sum_0, next_0
            matrix[a + 1, b], matrix[a + 1, b + 1] = sum_1, next_1
            matrix[a + 2, b], matrix[a + 2, b + 1] = sum_2, next_2
            matrix[a + 3, b], matrix[a + 3, b + 1] = sum_3, next_3
    for a in range(1, size):
        matrix[a, a] += 1.0


@compiled(error_model="numpy", fastmath=ANY_ORDER, inline="always")
def factorise(matrix, floor):
    """Overwrite the lower triangle of a positive definite matrix with R, also a lower one: matrix = R'R.

    From the last row to the first, four rows at a time; beginning at the end makes all loops along rows begin at 0. The
    diagonal holds the reciprocals of R's. A direction whose pivot rounding has eaten is blocked: the step does not go
    there. `floor` is scratch.
    """
    size = len(matrix)
    for k in range(size):
        floor[k] = ROUNDING * matrix[k, k]
    for last in range(size - 1, 0, -4):
        first = last - 3
        for k in range(last, first - 1, -1):
            per_pivot = 1.0 / np.sqrt(matrix[k, k]) if matrix[k, k] > floor[k] else BLOCKED
            for j in range(k):
                matrix[k, j] *= per_pivot
            matrix[k, k] = per_pivot
            for i in range(first, k):
                factor = matrix[k, i]
                for j in range(i + 1):
                    matrix[i, j] -= factor * matrix[k, j]
        for i in range(first):
            factor_0, factor_1 = matrix[first, i], matrix[first + 1, i]
            factor_2, factor_3 = matrix[first + 2, i], matrix[first + 3, i]
            for j in range(i + 1):
                known = factor_0 * matrix[first, j] + factor_1 * matrix[first + 1, j]
                matrix[i, j] -= known + factor_2 * matrix[first + 2, j] + factor_3 * matrix[first + 3, j]


@compiled(error_model="numpy", fastmath=ANY_ORDER, inline="always")
def substitute(lower, vector):
    """Overwrite `vector` with the solution of R'R x = vector, given what `factorise` made."""
    size = len(vector)
    for k in range(size - 1, -1, -1):
        value = vector[k] * lower[k, k]
        vector[k] = value
        for j in range(k):
            vector[j] -= lower[k, j] * value
    for k in range(size):
        total = vector[k]
        for j in range(k):
            total -= lower[k, j] * vector[j]
        vector[k] = total * lower[k, k]


@compiled(error_model="numpy", fastmath=ANY_ORDER, inline="always")
def spread(lifted, direction, scores):
    """Overwrite `scores` with lifted' direction."""
    size, n = lifted.shape
    for j in range(n):
        scores[j] = direction[0]
    for a in range(1, size):
        weight = direction[a]
        for j in range(n):
            scores[j] += weight * lifted[a, j]


@compiled(error_model="numpy", fastmath=ANY_ORDER, inline="always")
def gather(lifted, rows, result):
    """Overwrite `result` with lifted rows."""
    for a in range(len(lifted)):
        total = 0.0
        for j in range(len(rows)):
            total += lifted[a, j] * rows[j]
        result[a] = total
