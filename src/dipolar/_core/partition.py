"""Rows of a node: kept sorted while they move down the tree, and sent down a finished one."""

from __future__ import annotations

import numpy as np

from dipolar._core.compiling import compiled

__all__ = ["partition_orders", "route_axis_cuts"]


@compiled()
def partition_orders(orders, start, stop, goes_left, buffer):
    """Partition one slice of every order in place and keep the order inside both children.

        before   . . | a b c d e f | . .       goes_left: a, d, f
        after    . . | a d f|b c e | . .

    `goes_left` is indexed by row number, `buffer` (length n) is scratch.
    """
    for f in range(len(orders)):
        order = orders[f]
        n_left = start
        n_right = 0
        for i in range(start, stop):
            row = order[i]
            if goes_left[row]:
                order[n_left] = row
                n_left += 1
            else:
                buffer[n_right] = row
                n_right += 1
        for i in range(n_right):
            order[n_left + i] = buffer[i]


@compiled()
def route_axis_cuts(X, left, feature, threshold, missing_left, leaf):
    """Send every row of X down to its leaf; `leaf` is overwritten with node numbers.

    `left` is -1 in leaves, and the right child is the node after the left one.
    """
    for i in range(len(X)):
        node = 0
        while left[node] >= 0:
            x = X[i, feature[node]]
            goes_left = missing_left[node] if np.isnan(x) else x <= threshold[node]
            node = left[node] if goes_left else left[node] + 1
        leaf[i] = node
