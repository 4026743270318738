"""Averages over the trees of a forest.

A curve is the sum of its steps, so the mean of many curves on a time grid is the running sum of the mean steps: a row
costs as many additions per tree as its leaf has event times, whatever the length of the grid.
"""

from __future__ import annotations

from dipolar._core.compiling import compiled

__all__ = ["add_steps", "fill_areas", "sum_up"]


@compiled()
def add_steps(rows, leaf, offset, place, step, table):
    """Add the steps of each row's leaf to its line of `table`.

    Leaf number l has the steps offset[l] to offset[l + 1], each at a place of the grid. `rows` are the lines of `table`
    to which the entries of `leaf` belong.
    """
    for i in range(len(rows)):
        line = table[rows[i]]
        for k in range(offset[leaf[i]], offset[leaf[i] + 1]):
            line[place[k]] += step[k]


@compiled()
def sum_up(table, factor, start):
    """Overwrite each line of `table` with `start + factor[line]` times its running sum."""
    n, m = table.shape
    for i in range(n):
        total = 0.0
        for k in range(m):
            total += table[i, k]
            table[i, k] = start + factor[i] * total


@compiled()
def fill_areas(table, width, area):
    """Overwrite `area` with that under each line of `table`, a step function that is 1 for the first of the widths.

    A loop and no matrix product, whose rounding would depend on which lines are asked for together.
    """
    for i in range(len(table)):
        total = width[0]
        for k in range(table.shape[1]):
            total += table[i, k] * width[k + 1]
        area[i] = total
