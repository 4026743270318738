"""Surfaces whose kernel has explicit features: what is learnt from, what came out, and which way it sends a row.

The features of a row z are monomials of some of its (scaled) covariates, and a *table* lists them:

    feature k = size[k] * z[columns[factor[k, 0]]] * z[columns[factor[k, 1]]] * ...     (-1 in `factor` stands for 1)

There is one table for each number of columns, all below each other; that for m columns begins at `table_start[m]` and
has `table_size[m]` lines. Coefficients of surfaces come times `size`, so that a score is a sum of products.

Inheritance: where a node inherits, the score f of its parent's surface is one more feature, centred and scaled to the
standard deviation `inherit`; what it is worth to the new surface is then added to that surface, which has the same
columns.
"""

from __future__ import annotations

import math

import numpy as np

from dipolar._core.compiling import compiled
from dipolar._core.logrank import FEATURE, GAIN, LOGRANK, THRESHOLD, best_cut, two_sample_logrank
from dipolar._core.search import fill_levels, take

__all__ = [
    "NO_SPREAD",
    "best_shift",
    "cut_at_zero",
    "cut_surfaces",
    "prepare_nodes",
    "route_surfaces",
    "sample_rows",
    "take_columns",
]

# Fractional weights that are summed in another order may miss a limit by this much.
SLACK_OF_LIMITS = 1.0 - 1e-9

# Scores of which these shares are their standard deviation differ by rounding only.
NO_SPREAD = 1e-9

# Rows of a node that are looked at to share its gain among the covariates.
ROWS_FOR_SHARES = 64


@compiled()
def sample_rows(order, start, stop, first, max_rows, row_offset, rows):
    """Overwrite `rows` with at most `max_rows` of each node, evenly spread, and `row_offset` with where they begin."""
    end = 0
    row_offset[0] = 0
    for k in range(len(start)):
        stride = max(1, (stop[k] - start[k] + max_rows - 1) // max_rows)
        for i in range(start[k] + int(first[k] * stride), stop[k], stride):
            rows[end] = order[i]
            end += 1
        row_offset[k + 1] = end


@compiled()
def take_columns(Z, rows, row_offset, drawn, max_features, column, n_columns):
    """Overwrite `column` with the first drawn covariates that vary among the rows of each node."""
    for k in range(len(n_columns)):
        m = 0
        for f in range(drawn.shape[1]):
            if m == max_features:
                break
            candidate = drawn[k, f]
            first = Z[rows[row_offset[k]], candidate]
            for i in range(row_offset[k] + 1, row_offset[k + 1]):
                if Z[rows[i], candidate] != first:
                    column[k, m] = candidate
                    m += 1
                    break
        n_columns[k] = m


@compiled()
def prepare_nodes(
    Z, rows, row_offset, column, n_columns, table_start, table_size, factor, size, carried, inherit, feature_offset,
    features, centre, scores,
):  # fmt: skip
    """Overwrite `features` with the centred features of the nodes, `centre` with what was subtracted.

    With `inherit` > 0 the scores `carried` by the rows are the last feature, and `scores` starts as them; `centre` ends
    with their mean and what they were multiplied by.
    """
    for k in range(len(n_columns)):
        m, n = n_columns[k], row_offset[k + 1] - row_offset[k]
        own = rows[row_offset[k] : row_offset[k + 1]]
        begin = feature_offset[k]
        for c in range(table_size[m]):
            line = table_start[m] + c
            total = 0.0
            for i in range(n):
                product = size[line]
                for f in factor[line]:
                    if f >= 0:
                        product *= Z[own[i], column[k, f]]
                features[begin + i] = product
                total += product
            centre[k, c] = total / n
            _shift(features[begin : begin + n], centre[k, c])
            begin += n
        if inherit > 0.0:
            last = table_size[m]
            centre[k, last], centre[k, last + 1] = _inherit(
                carried, own, inherit, features[begin : begin + n], scores[row_offset[k] : row_offset[k + 1]]
            )


@compiled()
def _shift(values, mean):
    """Subtract a mean; a constant becomes exactly zero, whatever the rounding of its mean."""
    constant = True
    for i in range(1, len(values)):
        constant = constant and values[i] == values[0]
    for i in range(len(values)):
        values[i] = 0.0 if constant else values[i] - mean


@compiled()
def _inherit(carried, rows, inherit, feature, scores):
    """Overwrite `scores` with the carried ones, centred, and `feature` with them, scaled; return mean and factor."""
    n = len(rows)
    mean = square = largest = 0.0
    for i in range(n):
        mean += carried[rows[i]] / n
        largest = max(largest, abs(carried[rows[i]]))
    for i in range(n):
        scores[i] = carried[rows[i]] - mean
        square += scores[i] * scores[i] / n
    deviation = math.sqrt(square)
    times = inherit / deviation if deviation > NO_SPREAD * largest else 0.0
    for i in range(n):
        feature[i] = times * scores[i]
    return mean, times


@compiled()
def fill_scores(Z, rows, columns, factor, coefficients, intercept, scores):
    """Overwrite `scores` with those of some rows, computed as `route_surfaces` computes them."""
    for i in range(len(rows)):
        scores[i] = _score(Z[rows[i]], columns, factor, coefficients, intercept)


@compiled()
def _score(z, columns, factor, coefficients, intercept):
    score = intercept
    if factor.shape[1] == 1:
        for k in range(len(coefficients)):
            score += coefficients[k] * z[columns[k]]
        return score
    for k in range(len(coefficients)):
        product = coefficients[k]
        for f in factor[k]:
            if f >= 0:
                product *= z[columns[f]]
        score += product
    return score


@compiled()
def cut_surfaces(
    Z, order, start, stop, time, event, weight, limits, shifts, tolerance, has_surface, column, n_columns,
    table_start, table_size, factor, size, centre, weights, inherits, parent_coefficient, parent_intercept, carries,
    carried, goes_left, coefficient, intercept, boundary, share, logrank,
):  # fmt: skip
    """Turn what a search found into surfaces, cut each node along its own, and mark the rows on the left.

    With `shifts` a surface is moved to where the log-rank statistic along its score is largest. It is True or None: for
    None the scan is not even compiled.

    `coefficient`, `intercept`, `boundary`, `share`, `logrank` (0 where there is no admissible cut) are overwritten, and
    for the rows of nodes with a surface `goes_left` and, if their children are to inherit, `carried`.
    """
    for k in range(len(start)):
        logrank[k] = 0.0
        if not has_surface[k]:
            continue
        m = n_columns[k]
        n_own, table = table_size[m], factor[table_start[m] : table_start[m] + table_size[m]]
        columns, coefficients = column[k, :m], coefficient[k, :n_own]
        for c in range(n_own):
            coefficients[c] = weights[k, c] * size[table_start[m] + c]
            intercept[k] -= centre[k, c] * weights[k, c]
        if inherits:
            worth = weights[k, n_own] * centre[k, n_own + 1]
            intercept[k] += worth * (parent_intercept[k] - centre[k, n_own])
            for c in range(n_own):
                coefficients[c] += worth * parent_coefficient[k, c]
        rows = order[start[k] : stop[k]]
        scores = np.empty(len(rows))
        fill_scores(Z, rows, columns, table, coefficients, intercept[k], scores)
        own_time, own_event, own_weight = np.empty(len(rows)), np.empty(len(rows), np.bool_), np.empty(len(rows))
        take(time, rows, own_time)
        take(event, rows, own_event)
        take(weight, rows, own_weight)
        if shifts is None:
            boundary[k], logrank[k] = cut_at_zero(scores, own_time, own_event, own_weight, limits, tolerance)
        else:
            boundary[k] = 0.0
            shift, logrank[k] = best_shift(scores, own_time, own_event, own_weight, limits)
            intercept[k] -= shift
            fill_scores(Z, rows, columns, table, coefficients, intercept[k], scores)
        n_left = 0
        for i in range(len(rows)):
            goes_left[rows[i]] = scores[i] < boundary[k]
            n_left += 1 if goes_left[rows[i]] else 0
        if n_left == 0 or n_left == len(rows):  # scores whose differences are lost in rounding
            logrank[k] = 0.0
        if carries:
            for i in range(len(rows)):
                carried[rows[i]] = scores[i]
        if logrank[k] > 0.0:
            _fill_shares(Z, rows, columns, table, coefficients, scores, intercept[k], share[k, :m])


@compiled()
def cut_at_zero(scores, time, event, weight, limits, tolerance):
    """Leave a surface where it is; return its boundary and the log-rank chi-square.

    The boundary, plus or minus the tolerance, says to which side rows on the surface go. The statistic is 0 where a
    child would be smaller than the limits (weight of rows and of events).
    """
    boundary = find_boundary(scores, tolerance)
    left = np.empty(len(scores), np.bool_)
    for i in range(len(scores)):
        left[i] = scores[i] < boundary
    logrank = two_sample_logrank(time, event, weight, left) if _children_allowed(event, weight, left, limits) else 0.0
    return boundary, logrank


@compiled()
def find_boundary(scores, tolerance):
    """Say to which side rows on the surface go: to the nearer of their neighbours, so that the wider gap is cut.

    Returns minus the tolerance, which sends scores around 0 right, or plus the tolerance, which sends them left. They
    go right if no training row is there to ask.
    """
    gap_left = gap_right = np.inf
    on_surface = False
    for s in scores:
        if abs(s) <= tolerance:
            on_surface = True
        elif s < 0.0:
            gap_left = min(gap_left, -s)
        else:
            gap_right = min(gap_right, s)
    return tolerance if on_surface and gap_left < gap_right else -tolerance


@compiled()
def best_shift(scores, time, event, weight, limits):
    """Return the threshold with the largest log-rank statistic along the scores, and the statistic (0 if none)."""
    k = len(scores)
    level = np.empty((1, k))
    fill_levels(scores, level[0])
    orders = np.empty((2, k), np.int32)
    by_level = np.argsort(level[0])
    for i in range(k):
        orders[0, i] = by_level[i]
        orders[1, i] = i
    best = np.empty(4)
    found = best_cut(
        level, orders, 0, k, np.zeros(1, np.int64), 1, time, event, weight, np.zeros(k), limits, LOGRANK,
        np.empty(k, np.int32), np.empty(k), np.empty(k), np.empty((5, k + 2)), np.empty((k + 2, 2)), best,
        np.empty((0, 0), np.int32), np.empty(0, np.bool_), np.empty(0, np.int32),
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


@compiled()
def _fill_shares(Z, rows, columns, factor, coefficients, scores, intercept, share):
    """Share a split among its covariates by how much the score changes, in the mean, when one is set to its mean.

    Of curved surfaces at most 64 rows or so, evenly spread, are looked at. `share` is overwritten; it sums to 1.
    """
    n, m = len(rows), len(columns)
    step = 1 if factor.shape[1] == 1 else max(1, n // ROWS_FOR_SHARES)
    position = np.arange(m)  # columns by their place in z below
    z = np.empty(m)
    total = 0.0
    for a in range(m):
        mean = count = 0.0
        for i in range(0, n, step):
            mean += Z[rows[i], columns[a]]
            count += 1.0
        mean /= count
        share[a] = 0.0
        for i in range(0, n, step):
            if factor.shape[1] == 1:
                share[a] += abs(coefficients[a] * (Z[rows[i], columns[a]] - mean))
                continue
            for b in range(m):
                z[b] = mean if b == a else Z[rows[i], columns[b]]
            share[a] += abs(_score(z, position, factor, coefficients, intercept) - scores[i])
        total += share[a]
    for a in range(m):
        share[a] = share[a] / total if total > 0.0 else 1.0 / m


@compiled()
def route_surfaces(
    Z, left, split, table_of, column_offset, column, offset, coefficient, intercept, boundary, table_offset, factor,
    leaf,
):  # fmt: skip
    """Send every row of Z down to its leaf; `leaf` is overwritten with node numbers.

    Split s has the lines `table_offset[table_of[s]]` and following of `factor`.
    """
    for i in range(len(Z)):
        node = 0
        while left[node] >= 0:
            s = split[node]
            line, use, begin, end = table_offset[table_of[s]], column_offset[s], offset[s], offset[s + 1]
            score = intercept[s]
            if factor.shape[1] == 1:  # the same sum as in `_score`, without slices
                for k in range(end - begin):
                    score += coefficient[begin + k] * Z[i, column[use + k]]
            else:
                for k in range(end - begin):
                    product = coefficient[begin + k]
                    for f in factor[line + k]:
                        if f >= 0:
                            product *= Z[i, column[use + f]]
                    score += product
            node = left[node] if score < boundary[s] else left[node] + 1
        leaf[i] = node
