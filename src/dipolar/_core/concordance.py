"""Harrell's concordance counts in O(n log n).

A pair is comparable when the earlier time is an event; an event tied with a censoring comes first, two tied
events are not comparable. Rows are visited from the last time to the first, and a Fenwick tree over the ranks
of the predicted risks tells how much weight among the rows that live longer has a smaller, an equal or a
larger risk.
"""

from __future__ import annotations

import numpy as np

from dipolar._core.compiling import compiled

__all__ = ["concordance_counts", "count_pairs"]


@compiled()
def _add(tree, rank, w):
    j = rank + 1
    while j < len(tree):
        tree[j] += w
        j += j & -j


@compiled()
def _below(tree, rank):
    """Return the weight of the ranks smaller than `rank`."""
    total = 0.0
    j = rank
    while j > 0:
        total += tree[j]
        j &= j - 1
    return total


@compiled()
def count_pairs(time, event, weight, event_weight, rank, tree, at_rank, counts):
    """Overwrite `counts` with the weight of concordant, discordant and tied comparable pairs.

    The rows are sorted by time, in any order among equal times; `rank` (0, 1, ...) orders the predicted risks
    and is equal where they are equal. A pair counts `event_weight` of its earlier row times `weight` of its
    later one. `tree` (number of ranks + 1) and `at_rank` (number of ranks) are scratch.
    """
    for j in range(len(at_rank)):
        tree[j + 1] = 0.0
        at_rank[j] = 0.0
    for j in range(3):
        counts[j] = 0.0
    total = 0.0
    stop = len(time)
    while stop > 0:
        start = stop - 1
        while start > 0 and time[start - 1] == time[stop - 1]:
            start -= 1
        # Censored rows of this time outlive its events, so they are in the tree before the events look.
        for i in range(start, stop):
            if not event[i]:
                _add(tree, rank[i], weight[i])
                at_rank[rank[i]] += weight[i]
                total += weight[i]
        for i in range(start, stop):
            if event[i]:
                below = _below(tree, rank[i])
                equal = at_rank[rank[i]]
                counts[0] += event_weight[i] * below
                counts[1] += event_weight[i] * max(0.0, total - below - equal)
                counts[2] += event_weight[i] * equal
        for i in range(start, stop):
            if event[i]:
                _add(tree, rank[i], weight[i])
                at_rank[rank[i]] += weight[i]
                total += weight[i]
        stop = start


def concordance_counts(time, event, risk, weight, event_weight=None):
    """Return the weight of concordant, discordant and tied comparable pairs; rows may be in any order.

    A pair is concordant when the row with the earlier event has the higher `risk`. Harrell's C is
    (concordant + tied / 2) / (concordant + discordant + tied); with tied predictions left out it is
    concordant / (concordant + discordant). `event_weight` replaces the weight of a pair's earlier row, which is
    how inverse censoring weights enter.
    """
    event_weight = weight if event_weight is None else event_weight
    if (time[1:] < time[:-1]).any():
        order = np.argsort(time)
        time, event, risk = time[order], event[order], risk[order]
        weight, event_weight = weight[order], event_weight[order]
    levels, rank = np.unique(risk, return_inverse=True)
    counts = np.empty(3)
    tree, at_rank = np.empty(len(levels) + 1), np.empty(len(levels))
    count_pairs(time, event, weight, event_weight, rank.reshape(-1), tree, at_rank, counts)
    return float(counts[0]), float(counts[1]), float(counts[2])
