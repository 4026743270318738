"""The search for the surface of a node: cut-offs, orientation, start, solve, re-orientation, stop.

It is the paper's algorithm 1, and stands here once. `settle_nodes` runs it for many nodes in one call; kernels reach it
as a factor, a table of centred features. `settle` is the search in one node. It is written without loops over rows, so
that it also runs as plain Python around a solver that compiled code cannot call (see `node_svm.search`).

Orienting by a surface never raises its criterion, and neither does solving for that orientation, so the values of the
criterion fall from round to round and the search ends.

Glossary
--------
n, rank          rows that the surface is learnt from, and features of each
cost             the pulls upward and then those downward, scaled to a maximum of 1; `largest` is that maximum
kappa            weight of the sum of all losses; with `per_dipole` it is given for their mean, and for features whose
                 mean square is 1
unit             margin * kappa * largest: the criterion of one unit of the scaled objective
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dipolar._core.certificate import certify
from dipolar._core.compiling import compiled
from dipolar._core.dipoles import find_bounds, has_mixed_dipoles, orient_rows
from dipolar._core.interior_point import N_PAIR_ROWS, PRICE, gather, interior_point

__all__ = [
    "CONSTANT",
    "GIVEN",
    "HAZARD",
    "INTERRUPTED",
    "MEDIAN",
    "NO_MIXED_DIPOLES",
    "ONE_SIDED",
    "POSITIVE",
    "QUARTILE",
    "REORIENTATION_LIMIT",
    "SETTLED",
    "UNCONVERGED",
    "SearchRules",
    "fill_levels",
    "settle",
    "settle_nodes",
    "take",
    "value_cuts",
]

# How a search ended. The first three leave a surface that is proven.
SETTLED, REORIENTATION_LIMIT, INTERRUPTED, UNCONVERGED, NO_MIXED_DIPOLES, ONE_SIDED, CONSTANT = range(7)

# Where a search starts.
HAZARD, MEDIAN, QUARTILE, POSITIVE, GIVEN = range(5)

# Scores are compared on a grid: the largest of them is this many levels high, and two scores on one level are tied. The
# grid is coarser than what a solver leaves uncertain and finer than any difference that matters: rows that support the
# surface from both sides have scores of exactly plus and minus the margin.
SCORE_LEVELS = 2.0**22

# Of the start: the ridge, as a fraction of the mean variance of a feature; and the steps of its solution.
START_RIDGE, START_TOLERANCE, START_STEPS = 0.1, 1e-5, 50

# Scores that are all smaller than this are all zero.
TINY = 1e-290

# Newton steps of one solve; the method has never been seen to need half as many.
MAX_NEWTON_STEPS = 100

# The method aims at this fraction of the tolerance. Its last steps gain several digits each, so the better scores are
# nearly free, and what rounding takes from them at extreme kappa does not matter.
OVERSHOOT = 1e-3

# Bounds seen on the way are not quite exact; the method stops when one is clearly above what is enough.
CLEARLY = 1.002

# The criterion counts as settled when it falls by less than this fraction of `tol`, whatever its size.
ABSOLUTE_FRACTION = 0.1


class SearchRules(NamedTuple):
    """All that decides what a search finds, besides the rows: plain numbers, as compiled code takes them."""

    pure_quantile: float
    mixed_quantile: float
    pure_weight: float  # of a pure dipole, that of a mixed one being 1
    is_scripts: bool  # whether quantiles and ties are read as the authors' scripts do
    pure_below: float  # the bounds of the time gaps (see `gap_bounds`) ...
    mixed_from: float
    is_bounded: bool  # ... if they are given, and not those of the node's own rows
    kappa: float
    per_dipole: bool  # whether kappa weighs the mean loss of a dipole, on features of mean square 1
    margin: float
    init: int
    tol: float
    solver_tol: float
    max_reorientations: int


@compiled()
def hazard_scores(time, event, weight, features, scores):
    """Overwrite `scores` with minus the features along one Newton step of Cox's partial likelihood from zero.

    The gradient is the sum of martingale residuals, event minus Nelson-Aalen cumulative hazard, times features; the
    curvature is taken for the covariance of the features, plus a ridge. Rows with high scores are expected to live
    long.
    """
    rank, n = features.shape
    at_risk = 0.0
    for i in range(n):
        at_risk += weight[i]
    hazard = 0.0
    last = 0
    for i in range(n + 1):
        if i < n and time[i] == time[last]:
            continue
        seen = gone = 0.0
        for k in range(last, i):  # a group of equal times
            gone += weight[k]
            seen += weight[k] if event[k] else 0.0
        hazard += seen / max(at_risk, TINY)
        for k in range(last, i):
            scores[k] = weight[k] * ((1.0 if event[k] else 0.0) - hazard)
        at_risk -= gone
        last = i
    direction = np.empty(rank)
    for c in range(rank):
        total = 0.0
        for i in range(n):
            total += scores[i] * features[c, i]
        direction[c] = -total
    step = np.zeros(rank)
    ridge = START_RIDGE * mean_square(features, weight) / rank
    solve_by_covariance(features, weight, ridge, direction, step, scores)
    score_rows(features, step, scores)


@compiled()
def score_rows(features, direction, scores):
    """Overwrite `scores` with the features along a direction."""
    rank, n = features.shape
    for i in range(n):
        scores[i] = 0.0
    for c in range(rank):
        for i in range(n):
            scores[i] += direction[c] * features[c, i]


@compiled()
def solve_by_covariance(features, weight, ridge, residual, solution, scores):
    """Overwrite `solution` (zeros) with (covariance of the features + ridge)^-1 `residual`, nearly.

    Some steps of conjugate gradients: none of them makes a matrix, and what is left of directions that hardly vary is
    no loss. `residual` and `scores` are scratch.
    """
    rank, n = features.shape
    size = 0.0
    for i in range(n):
        size += weight[i]
    direction, image = np.empty(rank), np.empty(rank)
    left = 0.0
    for c in range(rank):
        direction[c] = residual[c]
        left += residual[c] * residual[c]
    enough = START_TOLERANCE * START_TOLERANCE * left
    for _ in range(START_STEPS):
        if not left > enough:
            break
        score_rows(features, direction, scores)
        mean = 0.0
        for i in range(n):
            mean += weight[i] * scores[i] / size
        along = 0.0
        for c in range(rank):
            total = 0.0
            for i in range(n):
                total += weight[i] * (scores[i] - mean) * features[c, i]
            image[c] = total / size + ridge * direction[c]
            along += image[c] * direction[c]
        if not along > 0.0:
            break
        length, before, left = left / along, left, 0.0
        for c in range(rank):
            solution[c] += length * direction[c]
            residual[c] -= length * image[c]
            left += residual[c] * residual[c]
        for c in range(rank):
            direction[c] = residual[c] + (left / before) * direction[c]


@compiled()
def take(values, rows, taken):
    """Overwrite `taken` with the values of some rows; as a loop, which compiles in a tenth of the time of an index."""
    for i in range(len(rows)):
        taken[i] = values[rows[i]]


@compiled()
def cut_scores(X, rows, cut, scores):
    """Overwrite `scores` with those of the hyperplane that cuts one covariate of some rows: (column, value)."""
    column = int(cut[0])
    for i in range(len(scores)):
        scores[i] = X[rows[i], column] - cut[1]


@compiled()
def fill_levels(scores, level):
    """Overwrite `level` with the scores as whole numbers on a grid of `max |score| / 2**22`, on which ties are exact.

    Rounding makes the sum of the scores of two mirrored points a tiny number of either sign. On the grid it is zero,
    for this and every other comparison of scores, whatever computed them.
    """
    largest = 0.0
    for s in scores:
        largest = max(largest, abs(s))
    for i in range(len(scores)):
        level[i] = np.rint(scores[i] * (SCORE_LEVELS / largest)) if largest > TINY else 0.0


@compiled()
def fill_costs(time, event, weight, scores, bounds, rules, cost):
    """Overwrite `cost` with the pulls up and down under these scores, scaled to a maximum of 1.

    Returns that maximum and the sum of all pulls; both are zero where nothing pulls one of the two ways.
    """
    n = len(time)
    level = np.empty(n)
    fill_levels(scores, level)
    for k in range(2 * n):
        cost[k] = 0.0
    orient_rows(time, event, weight, level, bounds, rules.pure_weight, rules.is_scripts, cost[:n], cost[n:])
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
def copy_to(new, old):
    """Overwrite `old` with `new`.

    As a loop, like others here: numpy's own copies bring the texts of their errors, which take seconds to compile.
    """
    for k in range(len(old)):
        old[k] = new[k]


@compiled()
def clear(values):
    """Overwrite an array with zeros."""
    for k in range(len(values)):
        values[k] = 0.0


@compiled()
def differs(one, other):
    """Whether two arrays of one length differ."""
    different = False
    for k in range(len(one)):
        different = different or one[k] != other[k]
    return different


@compiled()
def is_zero(features):
    """Whether all rows have the same (centred) features."""
    rank, n = features.shape
    for c in range(rank):
        for i in range(n):
            if features[c, i] != 0.0:
                return False
    return True


@compiled()
def mean_square(features, weight):
    """The mean squared distance of the rows from their mean; 1 where they are all the same."""
    rank, n = features.shape
    size = 0.0
    for i in range(n):
        size += weight[i]
    square = 0.0
    for c in range(rank):
        first = second = 0.0
        for i in range(n):
            first += weight[i] * features[c, i]
            second += weight[i] * features[c, i] * features[c, i]
        square += max(0.0, second / size - (first / size) * (first / size))
    return square if square > TINY else 1.0


@compiled()
def least_loss(cost):
    """A lower bound, in units, of what an orientation costs, next to nothing to compute.

    A row that is pulled both ways pays at least twice the smaller pull wherever its score is.
    """
    n = len(cost) // 2
    total = 0.0
    for i in range(n):
        total += 2.0 * min(cost[i], cost[n + i])
    return total


@compiled()
def hinge_loss(scores, cost, margin):
    """The loss, in units, of these scores as they are."""
    n = len(scores)
    total = 0.0
    for i in range(n):
        total += cost[i] * max(0.0, 1.0 - scores[i] / margin) + cost[n + i] * max(0.0, 1.0 + scores[i] / margin)
    return total


@compiled()
def lift(features, scale, lifted):
    """Overwrite `lifted` (zeros beyond the rank) with a row of ones and the scaled features, one in each row."""
    rank, n = features.shape
    for i in range(n):
        lifted[0, i] = 1.0
    for c in range(rank):
        for i in range(n):
            lifted[1 + c, i] = scale * features[c, i]


@compiled()
def value_cuts(time, event, weight, X, rows, cuts, rules, values):
    """Overwrite `values` with what each cut of a node is worth as a start.

    Where a search starts at medians, that is the criterion of the hyperplane itself (its normal is a unit vector, so
    that the ridge term is the same for all); else a lower bound of the optimum of the orientation that it gives, with
    `per_dipole` on features of mean square 1.
    """
    bounds = find_bounds(time, event, weight, rules)
    scores, cost = np.empty(len(time)), np.empty(2 * len(time))
    for k in range(len(cuts)):
        cut_scores(X, rows, cuts[k], scores)
        largest, total = fill_costs(time, event, weight, scores, bounds, rules, cost)
        if rules.init == MEDIAN:
            values[k] = largest * hinge_loss(scores, cost, rules.margin)
        elif total > 0.0:
            kappa = rules.kappa / total if rules.per_dipole else rules.kappa
            values[k] = rules.margin * kappa * largest * least_loss(cost)
        else:
            values[k] = 0.0


@compiled(inline="always")
def solve(features, cost, largest, kappa, margin, tol, enough, weights, scores):
    """Minimise the criterion of one orientation; return its value, a lower bound of it, and the intercept.

    `weights` and `scores` are overwritten with those of the surface. Once the optimum is certain to lie above `enough`
    the method stops, and the surface is not optimal. The lower bound proves how nearly it is.
    """
    rank, n = features.shape
    scale, unit = math.sqrt(kappa * largest / margin), margin * kappa * largest
    lifted = np.zeros((rank + 4 - rank % 4, n))  # for (b, w), a multiple of four
    lift(features, scale, lifted)
    size = len(lifted)
    pairs, solution, net = np.zeros((N_PAIR_ROWS, 4 * n)), np.zeros(size), np.empty(n)
    matrix, vectors, rows = np.empty((size, size)), np.empty((3, size)), np.empty((3, n))
    for i in range(n):
        scores[i] = 0.0
    interior_point(
        lifted, cost, OVERSHOOT * tol, CLEARLY * enough / unit, MAX_NEWTON_STEPS, pairs, matrix, vectors, rows,
        solution, scores,
    )  # fmt: skip
    for i in range(n):
        scores[i] -= solution[0]
    prices = pairs[PRICE]
    intercept, primal, dual = certify(
        np.argsort(scores), cost[:n], cost[n:], 1.0, 1.0, prices[:n], prices[n : 2 * n], scores, net
    )
    gather(lifted, net, vectors[0])
    for c in range(rank):
        primal += 0.5 * solution[1 + c] * solution[1 + c]
        dual -= 0.5 * vectors[0, 1 + c] * vectors[0, 1 + c]
        weights[c] = margin * scale * solution[1 + c]
    for i in range(n):
        scores[i] *= margin
    return unit * primal, unit * dual, margin * intercept


@compiled(inline="always")
def settle(time, event, weight, features, X, rows, cuts, floors, rules, weights, scores, path):
    """Find the surface of one node.

    Parameters
    ----------
    time, event, weight : arrays (n,)
        Outcomes and frequencies, in dipole order (see `_core.dipoles`).
    features : float64 array (rank, n)
        Centred factor of the kernel.
    X, rows : float64 array (n_samples, n_columns), int32 array (n,)
        Covariates, and which of their rows the node has.
    cuts, floors : float64 arrays (n_cuts, 2), (n_cuts,)
        The univariate cuts (column, value) that the search starts from if there are some, the best one by the optimum
        of its orientation, and a lower bound of each of these optima (see `value_cuts`).
    rules : SearchRules
    weights, scores : float64 arrays (rank,), (n,)
        Overwritten with the surface and its scores, intercept included. With `init` GIVEN the search starts from
        `scores`, which are the last of the features, on another scale.
    path : float64 array (max_reorientations + 1,)
        Overwritten with the optimum of each orientation that was solved; they fall.

    Returns
    -------
    status, n_solved, intercept, dual : int, int, float, float
        How the search ended, how many optima are in `path`, and the lower bound that proves the last one.
    """
    bounds = find_bounds(time, event, weight, rules)
    if not has_mixed_dipoles(time, event, bounds):
        return NO_MIXED_DIPOLES, 0, 0.0, 0.0
    if is_zero(features):
        return CONSTANT, 0, 0.0, 0.0
    n, rank = len(time), len(features)
    cost, last, new_weights, new_scores = np.empty(2 * n), np.zeros(2 * n), np.empty(rank), np.empty(n)
    if rules.init == HAZARD:
        hazard_scores(time, event, weight, features, scores)
    elif rules.init == POSITIVE:
        clear(scores)
    # An inherited score, the last of the features, has a scale of its own.
    own = features[: rank - 1] if rules.init == GIVEN else features
    reach = 1.0 / mean_square(own, weight) if rules.per_dipole else 1.0
    order = np.argsort(floors)
    n_starts = max(1, len(floors))

    # First the starts, the most promising one first: one that a bound rules out is not solved, nor are those after it.
    # Then the rounds, each from the scores of the one before.
    criterion = dual = intercept = unproven = np.inf
    n_tried = n_solved = winner = 0
    while True:
        is_start = n_tried < n_starts and (n_tried == 0 or not reach * floors[order[n_tried]] > criterion)
        number = order[n_tried] if is_start and len(cuts) > 0 else 0
        n_tried = n_tried + 1 if is_start else n_starts
        if not is_start and criterion == np.inf:
            path[0] = unproven
            return UNCONVERGED, 1 if unproven < np.inf else 0, intercept, dual
        if n_solved > rules.max_reorientations and not is_start:
            # One solve may be all that was asked for.
            return REORIENTATION_LIMIT if rules.max_reorientations > 0 else SETTLED, n_solved, intercept, dual
        if is_start and len(cuts) > 0:
            cut_scores(X, rows, cuts[number], new_scores)
        else:
            copy_to(scores, new_scores)
        largest, total = fill_costs(time, event, weight, new_scores, bounds, rules, cost)
        if total == 0.0 and criterion == np.inf:
            return ONE_SIDED, 0, 0.0, 0.0
        if total == 0.0 or not (is_start or differs(cost, last)):
            return SETTLED, n_solved, intercept, dual

        kappa = reach * rules.kappa / total if rules.per_dipole else rules.kappa
        enough = criterion if is_start else np.inf
        while True:
            value, bound, b = solve(
                features, cost, largest, kappa, rules.margin, rules.solver_tol, enough, new_weights, new_scores
            )
            is_proven = value - bound <= rules.solver_tol * value
            if is_proven or bound > enough or enough == np.inf:
                break
            enough = np.inf  # it was stopped by a bound that was not quite one
        is_better = value < criterion or (is_start and value == criterion and number < winner)
        if is_better and is_proven:
            fall = criterion - value
            copy_to(new_weights, weights)
            copy_to(new_scores, scores)
            copy_to(cost, last)
            n_solved = 1 if is_start else n_solved + 1
            path[n_solved - 1] = value
            settled = fall <= rules.tol * max(criterion, ABSOLUTE_FRACTION)
            criterion, dual, intercept, winner = value, bound, b, number
            if settled and not is_start:
                return SETTLED, n_solved, intercept, dual
        elif is_start:
            # One that is not proven is kept as long as there is no other.
            if criterion == np.inf and value < unproven:
                unproven, dual, intercept = value, bound, b
                copy_to(new_weights, weights)
                copy_to(new_scores, scores)
        else:
            # A round that is not better, up to the precision of the solves, is the end.
            return INTERRUPTED if is_better else SETTLED, n_solved, intercept, dual


@compiled()
def settle_nodes(
    time, event, weight, rows, row_offset, features, feature_offset, ranks, X, cuts, floors, cut_offset, rules,
    weights, scores, path, status, n_solved, intercept, dual,
):  # fmt: skip
    """Find the surfaces of some nodes.

    Parameters
    ----------
    time, event, weight : arrays (n_samples,)
        Outcomes and frequencies of all rows, in dipole order.
    rows, row_offset : int32 array, int64 array (n_nodes + 1,)
        Node k learns from `rows[row_offset[k]:row_offset[k + 1]]`, in ascending order.
    features, feature_offset, ranks : float64 array, int64 array (n_nodes + 1,), int64 array (n_nodes,)
        Its centred features, feature after feature, begin at `feature_offset[k]`.
    X, cuts, floors, cut_offset : float64 arrays (n_samples, n_columns), (n_cuts, 2), (n_cuts,), int64 (n_nodes + 1,)
        Covariates of all rows, and the cuts that each node starts from, if there are some.
    rules : SearchRules
    weights, scores, path, status, n_solved, intercept, dual : arrays
        Overwritten with the surfaces, the scores of the rows, and how the searches ended (see `settle`): weights at
        `weights[k, :ranks[k]]`, scores where `rows` has its rows.
    """
    for k in range(len(ranks)):
        first, last = row_offset[k], row_offset[k + 1]
        own, n = rows[first:last], last - first
        own_time, own_event, own_weight = np.empty(n), np.empty(n, np.bool_), np.empty(n)
        take(time, own, own_time)
        take(event, own, own_event)
        take(weight, own, own_weight)
        table = features[feature_offset[k] : feature_offset[k] + ranks[k] * n].reshape((ranks[k], n))
        begin, end = cut_offset[k], cut_offset[k + 1]
        status[k], n_solved[k], intercept[k], dual[k] = settle(
            own_time, own_event, own_weight, table, X, own, cuts[begin:end], floors[begin:end], rules,
            weights[k, : ranks[k]], scores[first:last], path[k],
        )  # fmt: skip
