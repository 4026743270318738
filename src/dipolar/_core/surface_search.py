"""The search for split surfaces (see `surfaces`), in many nodes at once.

The search is that of `node_svm`: dipoles, orientation, interior-point solve, re-orientation; only that it runs in one
call for all nodes of a level, on at most `max_rows` rows of each, and weighs the *mean* loss of a dipole by kappa, so
that a node's surface does not get stiffer as nodes get smaller.

Glossary
--------
k, n         rows of a node, and how many of them the surface is learnt from
m, rank      drawn columns, and features that the kernel makes of them
upward, downward, mixed and pure dipoles, level        as in `dipolar.dipoles`
"""

from __future__ import annotations

import math

import numpy as np

from dipolar._core.certificate import middle_intercept
from dipolar._core.compiling import compiled
from dipolar._core.dipoles import SLOTS, gap_after, gap_bounds, n_tree_nodes, orient, weight_of_gaps
from dipolar._core.interior_point import N_PAIR_ROWS, gather, interior_point, measure_pairs, measure_surface
from dipolar._core.logrank import FEATURE, GAIN, LOGRANK, THRESHOLD, best_cut, two_sample_logrank
from dipolar._core.surfaces import GAUSSIAN, LINEAR, ROOT_TWO, fill_scores, n_coefficients

__all__ = ["UNCONVERGED", "cut_surfaces", "settle_surfaces"]

# How the search in a node ended; only a node whose problem was solved is split.
NO_SPLIT, FOUND, UNCONVERGED = 0, 1, 2

# Scores are compared on a grid of this many levels, as in `dipolar.dipoles`.
SCORE_LEVELS = 2.0**22
TINY = 1e-290

# Newton steps of one solve, and the fraction of the tolerance that the method aims at.
MAX_NEWTON_STEPS = 60
OVERSHOOT = 1e-3

# Fractional weights that are summed in another order may miss a limit by this much.
SLACK_OF_LIMITS = 1.0 - 1e-9

# How often a problem is posed, with a tenth of kappa each time, before a node is given up.
MAX_TRIALS = 3

# The search ends when a round lowers the criterion by less than this share.
SETTLED = 1e-2

# A Gaussian factor ends when the worst row is represented up to this share of its length.
FACTOR_TOLERANCE = 1e-3


@compiled()
def _take_columns(Z, rows, drawn, max_features, columns):
    """Overwrite `columns` with the first drawn covariates that vary among the rows; return how many there are."""
    m = 0
    for f in range(len(drawn)):
        if m == max_features:
            break
        column = drawn[f]
        first = Z[rows[0], column]
        for row in rows:
            if Z[row, column] != first:
                columns[m] = column
                m += 1
                break
    return m


@compiled()
def _fill_features(kernel, Z, rows, columns, features):
    """Overwrite `features` with the explicit features of the linear or quadratic kernel."""
    m = len(columns)
    for i in range(len(rows)):
        z = Z[rows[i]]
        if kernel == LINEAR:
            for a in range(m):
                features[i, a] = z[columns[a]]
            continue
        k = m
        for a in range(m):
            za = z[columns[a]]
            features[i, a] = ROOT_TWO * za
            features[i, k] = za * za
            k += 1
            for b in range(a + 1, m):
                features[i, k] = ROOT_TWO * za * z[columns[b]]
                k += 1


@compiled()
def _gaussian_factor(Z, rows, columns, features, triangle, basis):
    """Pivoted incomplete Cholesky of the Gaussian kernel; returns the rank.

    `features` (n, max_rank) and `triangle` are overwritten with the factor and its rows at the pivots, `basis` with
    the covariates of the pivots.
    """
    n, max_rank = features.shape
    m = len(columns)
    remainder = np.ones(n)
    pivots = np.empty(max_rank, np.int64)
    for rank in range(max_rank):
        pivot = np.argmax(remainder)
        if remainder[pivot] <= FACTOR_TOLERANCE:
            return rank
        root = math.sqrt(remainder[pivot])
        pivots[rank] = pivot
        for a in range(m):
            basis[rank * m + a] = Z[rows[pivot], columns[a]]
        for i in range(n):
            square = 0.0
            for a in range(m):
                gap = Z[rows[i], columns[a]] - basis[rank * m + a]
                square += gap * gap
            value = math.exp(-0.5 / m * square)
            for c in range(rank):
                value -= features[i, c] * features[pivot, c]
            features[i, rank] = value / root
            remainder[i] -= features[i, rank] * features[i, rank]
        for c in range(rank + 1):
            triangle[rank, c] = features[pivot, c]
        for c in range(rank + 1):
            remainder[pivots[c]] = 0.0
    return max_rank


@compiled()
def _centre(features, centre):
    """Subtract the column means, which `centre` is overwritten with."""
    n, rank = features.shape
    for c in range(rank):
        total = 0.0
        for i in range(n):
            total += features[i, c]
        centre[c] = total / n
        for i in range(n):
            features[i, c] -= centre[c]


@compiled()
def _hazard_scores(event, weight, features, scores):
    """Overwrite `scores` with those of the steepest ascent of Cox's partial likelihood at zero.

    The direction is the sum of martingale residuals times features; rows are sorted by time, and ties are taken in
    their order, which is good enough to start from.
    """
    n, rank = features.shape
    at_risk = 0.0
    for i in range(n):
        at_risk += weight[i]
    direction = np.zeros(rank)
    hazard = 0.0
    for i in range(n):
        if event[i]:
            hazard += weight[i] / at_risk
        residual = weight[i] * ((1.0 if event[i] else 0.0) - hazard)
        at_risk = max(at_risk - weight[i], TINY)
        for c in range(rank):
            direction[c] += residual * features[i, c]
    for i in range(n):
        total = 0.0
        for c in range(rank):
            total += features[i, c] * direction[c]
        scores[i] = total


@compiled()
def _fill_levels(scores, level):
    """Overwrite `level` with the scores as whole numbers, as `dipolar.dipoles.score_levels`."""
    largest = 0.0
    for s in scores:
        largest = max(largest, abs(s))
    for i in range(len(scores)):
        level[i] = np.rint(scores[i] * (SCORE_LEVELS / largest)) if largest > TINY else 0.0


@compiled()
def _replace(old, new):
    """Overwrite an array with another one of its length; return whether they differed.

    As a loop, like other copies here: numpy's own brings the texts of its errors, which take seconds to compile.
    """
    differed = False
    for k in range(len(old)):
        differed = differed or old[k] != new[k]
        old[k] = new[k]
    return differed


@compiled(inline="always")
def _settle(time, event, weight, features, quantiles, prices, kappa, tol, max_reorientations, weights):
    """Find the surface of one node; returns the status, and the intercept for centred features.

    `weights` (rank) is overwritten with those of the features. A solve that misses its tolerance is not used: the
    surface of the round before is kept and, in the first round, kappa lowered.
    """
    n, rank = features.shape
    pure_below, mixed_from = _find_bounds(time, event, weight, quantiles)
    scores, level, flat = np.empty(n), np.empty(n), np.empty(n)
    size = rank + 4 - rank % 4  # for (b, w), a multiple of four
    cost, last, solution, lifted = np.empty(2 * n), np.zeros(2 * n), np.empty(size), np.zeros((size, n))
    _hazard_scores(event, weight, features, scores)

    status = NO_SPLIT
    intercept, criterion = 0.0, np.inf
    for _ in range(max_reorientations + 1):
        _fill_levels(scores, level)
        largest, total = _fill_costs(time, event, weight, level, pure_below, mixed_from, prices, cost)
        if total == 0.0 or not _replace(last, cost):
            break
        objective = np.inf
        for _ in range(MAX_TRIALS if status == NO_SPLIT else 1):
            scale = math.sqrt(kappa * largest / total)
            _lift(features, scale, lifted)
            objective = _solve(lifted, cost, tol, solution, flat)
            if objective < np.inf:
                break
            kappa *= 0.1
        if objective == np.inf and status == NO_SPLIT:
            return UNCONVERGED, 0.0
        if not objective * largest < criterion:
            break
        for c in range(rank):
            weights[c] = scale * solution[1 + c]
        intercept = middle_intercept(flat, np.argsort(flat), cost[:n], cost[n:], 1.0)
        for i in range(n):
            scores[i] = flat[i] + intercept
        status = FOUND
        if criterion - objective * largest <= SETTLED * criterion:
            break
        criterion = objective * largest
    return status, intercept


@compiled()
def _find_bounds(time, event, weight, quantiles):
    """Return below which gap a pair is pure and from which on it is mixed, as `dipolar.dipoles` by the text's rule."""
    cumulative = np.empty(len(time) + 1)
    cumulative[0] = 0.0
    for i in range(len(time)):
        cumulative[i + 1] = cumulative[i] + weight[i]
    n_pairs = weight_of_gaps(time, event, cumulative, np.inf)[0]
    pure_cut = gap_after(time, event, cumulative, max(0.0, quantiles[0] * n_pairs - 1.0))
    mixed_cut = gap_after(time, event, cumulative, max(0.0, quantiles[1] * n_pairs - 1.0))
    return gap_bounds(pure_cut, mixed_cut, time[-1], False)


@compiled()
def _fill_costs(time, event, weight, level, pure_below, mixed_from, prices, cost):
    """Overwrite `cost` with the pulls up and down, scaled to a maximum of 1; return that maximum, and their sum.

    Both are zero where nothing pulls one of the two ways.
    """
    n = len(time)
    for k in range(2 * n):
        cost[k] = 0.0
    orient(
        time, event, weight, level, np.argsort(level), pure_below, mixed_from, 0, prices[0], prices[1],
        np.empty((2, n), np.int32), np.empty((2, n)), np.zeros((2, n_tree_nodes(n), SLOTS)), cost[:n], cost[n:],
    )  # fmt: skip
    up = down = total = 0.0
    for i in range(n):
        up, down = max(up, cost[i]), max(down, cost[n + i])
        total += cost[i] + cost[n + i]
    if up == 0.0 or down == 0.0:
        return 0.0, 0.0
    largest = max(up, down)
    for k in range(2 * n):
        cost[k] /= largest
    return largest, total


@compiled()
def _lift(features, scale, lifted):
    """Overwrite `lifted` (zeros beyond the rank) with a row of ones and the scaled features, one in each row."""
    n, rank = features.shape
    for i in range(n):
        lifted[0, i] = 1.0
        for c in range(rank):
            lifted[1 + c, i] = scale * features[i, c]


@compiled(inline="always")
def _solve(lifted, cost, tol, solution, flat):
    """Minimise 1/2 |w|^2 + cost of the hinges; return the objective, or infinity if the gap exceeds `tol`.

    `solution` is overwritten with (b, w), `flat` with the scores without b.
    """
    size, n = lifted.shape
    pairs = np.zeros((N_PAIR_ROWS, 4 * n))
    matrix, vectors, rows = np.empty((size, size)), np.empty((3, size)), np.empty((3, n))
    for c in range(size):
        solution[c] = 0.0
    for i in range(n):
        flat[i] = 0.0
    interior_point(
        lifted, cost, OVERSHOOT * tol, np.inf, MAX_NEWTON_STEPS, pairs, matrix, vectors, rows, solution, flat
    )
    gap, loss, prices = measure_pairs(pairs, cost, rows[0])
    gather(lifted, rows[0], vectors[0])
    objective, _, unmet, _ = measure_surface(gap, loss, prices, solution, vectors[0])
    for i in range(n):
        flat[i] -= solution[0]
    return objective if gap + unmet <= tol * objective else np.inf


@compiled()
def _cut_by_logrank(scores, time, event, weight, limits):
    """Return the threshold with the largest log-rank statistic along the scores, and the statistic (0 if none)."""
    k = len(scores)
    level = np.empty((1, k))
    _fill_levels(scores, level[0])
    orders = np.empty((2, k), np.int32)
    by_level = np.argsort(level[0])
    for i in range(k):
        orders[0, i] = by_level[i]
        orders[1, i] = i
    best = np.empty(4)
    found = best_cut(
        level, orders, 0, k, np.zeros(1, np.int64), 1, time, event, weight, np.zeros(k), limits, LOGRANK, 0.0, 0.0,
        np.empty(k, np.int32), np.empty(k), np.empty(k), np.empty((5, k + 2)), np.empty((k + 2, 2)), best,
    )  # fmt: skip
    if not found or best[FEATURE] < 0.0:
        return 0.0, 0.0
    below, above = -np.inf, np.inf
    for i in range(k):
        if level[0, i] <= best[THRESHOLD]:
            below = max(below, scores[i])
        else:
            above = min(above, scores[i])
    return 0.5 * below + 0.5 * above, best[GAIN]


@compiled()
def settle_surfaces(
    Z, order, start, stop, drawn, first, max_features, max_rows, max_rank, time, event, weight, quantiles, prices,
    kappa, tol, max_reorientations, kernel, n_columns, column, n_found, coefficient, basis, intercept, status,
):  # fmt: skip
    """Find the surface of some nodes.

    Parameters
    ----------
    Z : float64 array (n, n_features)
        Standardised covariates, one row after the other.
    order : int32 array
        Rows of the sample; a node owns `order[start:stop]`, which is sorted by time, events first among equal times.
    drawn : int64 array (n_nodes, n_features)
        For each node the covariates in the order in which they are taken.
    first : float64 array (n_nodes,)
        In [0, 1): where the rows that a surface is learnt from begin, if not all of them are taken.
    max_features, max_rows, max_rank : int
        Largest number of columns, of rows to learn from, and of basis rows of a Gaussian surface.
    time, event, weight : arrays (n,)
        Outcomes and frequencies of all rows.
    quantiles, prices : float64 arrays (2,)
        Of pure and mixed dipoles.
    kappa, tol, max_reorientations : float, float, int
        Of the node problem, its solution, and the search.
    kernel : int64 array (n_nodes,)
        Kernel of each node.
    n_columns, column, n_found, coefficient, basis, intercept, status : arrays (n_nodes, ...)
        Overwritten with the surfaces, and with how the search ended.
    """
    for node in range(len(start)):
        rows = order[start[node] : stop[node]]
        status[node] = NO_SPLIT
        n_found[node] = 0
        m = _take_columns(Z, rows, drawn[node], max_features, column[node])
        n_columns[node] = m
        if m == 0:
            continue
        stride = max(1, (len(rows) + max_rows - 1) // max_rows)
        sample = rows[int(first[node] * stride) :: stride]
        rank = n_coefficients(kernel[node], m, min(max_rank, len(sample)))
        features, triangle = np.empty((len(sample), rank)), np.empty((rank, rank))
        if kernel[node] == GAUSSIAN:
            rank = _gaussian_factor(Z, sample, column[node, :m], features, triangle, basis[node])
            features = features[:, :rank].copy()
        else:
            _fill_features(kernel[node], Z, sample, column[node, :m], features)
        centre = np.empty(rank)
        _centre(features, centre)
        coefficients = coefficient[node, :rank]
        status[node], intercept[node] = _settle(
            time[sample], event[sample], weight[sample], features, quantiles, prices, kappa, tol, max_reorientations,
            coefficients,
        )  # fmt: skip
        n_found[node] = rank
        if status[node] != FOUND:
            continue
        for c in range(rank):
            intercept[node] -= centre[c] * coefficients[c]
        if kernel[node] == GAUSSIAN:
            _solve_transposed(triangle, coefficients)


@compiled()
def _solve_transposed(triangle, vector):
    """Overwrite `vector` with the solution of triangle' x = vector, the triangle being a lower one."""
    for c in range(len(vector) - 1, -1, -1):
        for d in range(c + 1, len(vector)):
            vector[c] -= triangle[d, c] * vector[d]
        vector[c] /= triangle[c, c]


@compiled()
def cut_surfaces(
    Z, order, start, stop, time, event, weight, limits, by_logrank, goes_left,
    kernel, n_columns, column, n_found, coefficient, basis, intercept, status, logrank,
):  # fmt: skip
    """Cut the surfaces of some nodes at 0 or where the log-rank statistic is largest, and mark the rows on the left.

    `intercept` is moved so that the cut is at score 0; `goes_left` (of all rows), `status` and `logrank` are
    overwritten. A cut that leaves a child too small by the `limits` (weight of rows, weight of events) is none.
    """
    for node in range(len(start)):
        logrank[node] = 0.0
        if status[node] != FOUND:
            continue
        rows = order[start[node] : stop[node]]
        k, m = len(rows), n_columns[node]
        columns, coefficients = column[node, :m], coefficient[node, : n_found[node]]
        scores, left = np.empty(k), np.empty(k, np.bool_)
        fill_scores(kernel[node], Z, rows, columns, coefficients, basis[node], intercept[node], scores)
        node_time, node_event, node_weight = time[rows], event[rows], weight[rows]
        if by_logrank:
            threshold, logrank[node] = _cut_by_logrank(scores, node_time, node_event, node_weight, limits)
            intercept[node] -= threshold
            fill_scores(kernel[node], Z, rows, columns, coefficients, basis[node], intercept[node], scores)
        for i in range(k):
            left[i] = scores[i] < 0.0
            goes_left[rows[i]] = left[i]
        if not by_logrank and _children_allowed(node_event, node_weight, left, limits):
            logrank[node] = two_sample_logrank(node_time, node_event, node_weight, left)
        if logrank[node] <= 0.0:
            status[node] = NO_SPLIT


@compiled()
def _children_allowed(event, weight, left, limits):
    """Tell whether both children have rows, and as many rows and events as the limits ask for."""
    n_left = n_right = events_left = events_right = 0.0
    for i in range(len(left)):
        if left[i]:
            n_left += weight[i]
            events_left += weight[i] * event[i]
        else:
            n_right += weight[i]
            events_right += weight[i] * event[i]
    smaller, fewer = min(n_left, n_right), min(events_left, events_right)
    return smaller > 0.0 and smaller >= SLACK_OF_LIMITS * limits[0] and fewer >= SLACK_OF_LIMITS * limits[1]
