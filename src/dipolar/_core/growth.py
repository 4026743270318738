"""Growing a tree of a forest: many nodes in one call, rows kept in time order.

Rows are numbered by time, events first among equal times, so that the rows of a node, in ascending order, are
sorted by time. `orders` holds the rows of the sample: its last line in time order, and for univariate cuts one line
before it for each covariate. A node owns one slice of all lines. Whoever finds the split of a node marks its rows in
`goes_left`; nodes that wait to be split share no row, so that the marks stay until they are needed.
"""

from __future__ import annotations

import numpy as np

from dipolar._core.compiling import compiled
from dipolar._core.logrank import FEATURE, GAIN, MISSING_LEFT, THRESHOLD, best_cut, is_logrank, two_sample_logrank
from dipolar._core.partition import partition_orders

__all__ = ["CUT_FIELDS", "CUT_LOGRANK", "MISSING_SEEN", "divide_nodes", "find_axis_cuts", "keep_sampled"]

# The columns of the array of cuts: the four of `best_cut`, then the log-rank statistic and whether values were missing.
CUT_LOGRANK, MISSING_SEEN = 4, 5
CUT_FIELDS = 6


@compiled()
def keep_sampled(orders, weight, sampled):
    """Overwrite the lines of `sampled` with those rows of `orders` that have a positive weight, in their order."""
    for f in range(len(orders)):
        k = 0
        for i in range(orders.shape[1]):
            row = orders[f, i]
            if weight[row] > 0.0:
                sampled[f, k] = row
                k += 1


@compiled()
def divide_nodes(orders, start, stop, goes_left, weight, event, buffer, middle, left_weight, left_events):
    """Partition the slices of some nodes; `middle` and the sums over the left children are overwritten."""
    for node in range(len(start)):
        n_left = 0
        weight_sum = 0.0
        event_sum = 0.0
        for i in range(start[node], stop[node]):
            row = orders[-1, i]
            if goes_left[row]:
                n_left += 1
                weight_sum += weight[row]
                event_sum += weight[row] * event[row]
        partition_orders(orders, start[node], stop[node], goes_left, buffer)
        middle[node] = start[node] + n_left
        left_weight[node] = weight_sum
        left_events[node] = event_sum


@compiled()
def _mark(rows, inside, value):
    """Say of some rows whether they are inside."""
    for row in rows:
        inside[row] = value


@compiled()
def find_axis_cuts(
    columns, orders, start, stop, drawn, max_tried, time, event, weight, exposure, limits, family,
    position, residual, spread, grid, tree, everyone, inside, line, goes_left, cuts,
):  # fmt: skip
    """Find the best cut of some nodes, and mark the rows that it sends left.

    Parameters
    ----------
    columns, orders, time, event, weight, exposure, limits, family
        As for `best_cut`.
    start, stop : int64 arrays (n_nodes,)
        The slices of the nodes.
    drawn : int64 array (n_nodes, n_features)
        For each node the covariates in the order in which they are tried.
    max_tried : int
        How many covariates that vary in the node are tried.
    position, residual, spread, grid, tree
        Scratch, as for `best_cut`.
    everyone, inside, line
        As for `best_cut`; `inside` comes and goes as all False.
    goes_left : bool array (n,)
        Overwritten for the rows of nodes that have a cut.
    cuts : float64 array (n_nodes, 6)
        Overwritten: gain, feature (-1 where there is no cut), threshold, whether missing values go left, the log-rank
        chi-square, whether missing values were seen.
    """
    for node in range(len(start)):
        cut = cuts[node]
        if len(everyone) > 0:
            _mark(orders[-1, start[node] : stop[node]], inside, True)
        found = best_cut(
            columns, orders, start[node], stop[node], drawn[node], max_tried, time, event, weight, exposure, limits,
            family, position, residual, spread, grid, tree, cut[:4], everyone, inside, line,
        )  # fmt: skip
        if len(everyone) > 0:
            _mark(orders[-1, start[node] : stop[node]], inside, False)
        cut[CUT_LOGRANK] = cut[GAIN]
        cut[MISSING_SEEN] = 0.0
        if found:
            rows = orders[-1, start[node] : stop[node]]
            _mark_rows(columns[int(cut[FEATURE])], rows, weight, cut, goes_left)
            if not is_logrank(family):
                cut[CUT_LOGRANK] = two_sample_logrank(time[rows], event[rows], weight[rows], goes_left[rows])


@compiled()
def _mark_rows(column, rows, weight, cut, goes_left):
    """Mark the rows that a cut sends left; where no value is missing, one follows the larger child later on."""
    balance = 0.0
    missing_seen = False
    for row in rows:
        x = column[row]
        if np.isnan(x):
            goes_left[row] = cut[MISSING_LEFT] == 1.0
            missing_seen = True
        else:
            goes_left[row] = x <= cut[THRESHOLD]
        balance += weight[row] if goes_left[row] else -weight[row]
    if missing_seen:
        cut[MISSING_SEEN] = 1.0
    else:
        cut[MISSING_LEFT] = 1.0 if balance > 0.0 else 0.0
