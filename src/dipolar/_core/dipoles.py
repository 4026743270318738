"""Dipoles without a list of pairs: cut-offs by counting, orientation by sweeping.

All functions work on rows in *dipole order*: sorted by time and, among equal times, so that a
pair (i, j) with i < j is comparable exactly when row i is an event. (Events first makes an event
comparable with a censoring at the same time, censorings first does not.)

Two facts make every pair sum a sweep:

    mixed partners of event i      a suffix of the rows:     time[j] - time[i] >= mixed_from
    pure partners of event i       a window of the events:   |time[j] - time[i]| < pure_below

and inside such a range, the partners on one side of a score are a prefix of the score ranks,
which a tree of sums answers in O(log n).

A row of weight w stands for w copies of itself. Two copies of one event are a pair with gap 0,
so a row holds w (w - 1) / 2 pairs of its own; a weight below 1 holds none.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from dipolar._core.compiling import compiled

# Gaps that differ by less than this share of the largest time are equal up to rounding: 7 / 12 - 4 / 12 and 3 / 12.
GAP_ROUNDING = 2.0**-40

# Sums of n fractional weights, and their differences, are taken as zero below this fraction, times n, of all weight;
# but never one that a single row may have made.
RESIDUE = 1e-15


@compiled()
def weight_of_gaps(time, event, cumulative, gap):
    """Weigh the comparable pairs whose time gap is at most `gap`.

    Returns their weight, the largest gap up to `gap` and the smallest gap beyond it (-inf and inf where
    there is none). `cumulative[k]` is the weight of the first k rows, `cumulative[0] = 0`.
    """
    n = len(time)
    total = 0.0
    largest_inside = -np.inf
    smallest_outside = np.inf
    end = 0
    for i in range(n):
        if end < i + 1:
            end = i + 1
        while end < n and time[end] - time[i] <= gap:
            end += 1
        if not event[i]:
            continue
        weight = cumulative[i + 1] - cumulative[i]
        if end > i + 1:
            total += weight * (cumulative[end] - cumulative[i + 1])
        if weight > 1.0:  # the pairs among its own copies
            total += 0.5 * weight * (weight - 1.0)
            largest_inside = 0.0 if largest_inside < 0.0 else largest_inside
        if end > i + 1 and time[end - 1] - time[i] > largest_inside:
            largest_inside = time[end - 1] - time[i]
        if end < n and time[end] - time[i] < smallest_outside:
            smallest_outside = time[end] - time[i]
    return total, largest_inside, smallest_outside


@compiled()
def gap_after(time, event, cumulative, target):
    """Smallest gap such that the pairs up to it weigh more than `target`; NaN where there is none.

    Narrowing the range of gaps, with both ends moved to the nearest gap that exists, ends at the exact one. The next
    gap to try is by turns the one that the weights at both ends suggest, which is often close, and the middle, which
    halves the range.
    """
    above, high, _ = weight_of_gaps(time, event, cumulative, np.inf)
    if above <= target or above <= 0.0:
        return np.nan
    below = 0.0
    low = 0.0
    halve = False
    while low < high:
        share = 0.5 if halve else (target - below) / (above - below)
        halve = not halve
        trial = low + share * (high - low)
        if trial >= high:  # neighbouring doubles: it was rounded up
            trial = low
        weight, inside, outside = weight_of_gaps(time, event, cumulative, trial)
        if weight > target:
            high, above = inside, weight
        else:
            low, below = outside, weight
    return high


@compiled()
def find_cutoffs(time, event, weight, pure_quantile, mixed_quantile, is_scripts):
    """Return the exact pure and mixed cut-offs of the time gaps of all comparable pairs; NaN where there is no pair.

    By the text they are order statistics number floor(quantile * n_pairs), at least the first; by the scripts
    interpolated quantiles (R's type 7).
    """
    cumulative = np.empty(len(time) + 1)
    cumulative[0] = 0.0
    for i in range(len(time)):
        cumulative[i + 1] = cumulative[i] + weight[i]
    n_pairs = weight_of_gaps(time, event, cumulative, np.inf)[0]
    cutoffs = np.empty(2)
    for k in range(2):
        quantile = pure_quantile if k == 0 else mixed_quantile
        if is_scripts:
            position = max(0.0, quantile * (n_pairs - 1.0))
            lower = gap_after(time, event, cumulative, position)
            upper = gap_after(time, event, cumulative, max(0.0, min(position + 1.0, n_pairs - 0.5)))
            cutoffs[k] = lower + (position - np.floor(position)) * (upper - lower)
        else:
            cutoffs[k] = gap_after(time, event, cumulative, max(0.0, quantile * n_pairs - 1.0))
    return cutoffs[0], cutoffs[1]


@compiled()
def gap_bounds(pure_cut, mixed_cut, largest_time, is_scripts):
    """Return below which gap two events are a pure pair and from which on a pair is mixed, and then it is not pure.

    Both keep away from the gaps that are the cut-off up to rounding: those are mixed if the cut-off is that of mixed
    dipoles, and pure by the scripts' rule alone, which has <= for the text's <.
    """
    rounding = GAP_ROUNDING * largest_time
    mixed_from = mixed_cut - rounding
    pure_below = pure_cut + rounding if is_scripts else pure_cut - rounding
    return min(pure_below, mixed_from) if mixed_from == mixed_from else pure_below, mixed_from


@compiled()
def find_bounds(time, event, weight, rules):
    """Return the bounds (pure_below, mixed_from) that the rules give, or those of these rows."""
    if rules.is_bounded:
        return rules.pure_below, rules.mixed_from
    pure, mixed = find_cutoffs(
        time, event, weight, rules.pure_quantile, rules.mixed_quantile, rules.is_scripts
    )  # fmt: skip
    return gap_bounds(pure, mixed, time[-1], rules.is_scripts)


@compiled()
def has_mixed_dipoles(time, event, bounds):
    """Whether a single pair of rows ought to part."""
    for i in range(len(time) - 1):
        if event[i]:
            return time[-1] - time[i] >= bounds[1]
    return False


@compiled(inline="always")
def rank_levels(level, by_level, least, rank, mirror):
    """Dense ranks of the score levels, from 0; returns the number of distinct levels.

    `by_level` sorts the rows by level. `rank` and `mirror` are overwritten: `mirror[i]` is the number of distinct
    levels whose sum with that of row i is below `least`.
    """
    n = len(level)
    n_levels = 0
    last = 0.0
    for k in range(n):
        row = by_level[k]
        if k == 0 or level[row] != last:
            n_levels += 1
            last = level[row]
        rank[row] = n_levels - 1

    # The higher the level of a row, the lower those that are high enough for it: one walk up meets one walk down.
    lowest = n_levels
    below = n
    for k in range(n):
        row = by_level[k]
        while below > 0 and level[row] + level[by_level[below - 1]] >= least:
            below -= 1
            lowest = rank[by_level[below]]
        mirror[row] = lowest
    return n_levels


# Weights by rank, to be summed over all ranks below a limit: a tree whose nodes have 16 slots, each of which holds
# the weight of its node up to and including itself. The leaves come first, then the nodes with a slot for each leaf,
# and so on up to one root. That is a quarter of the levels of a binary tree, and a node is written in two strokes.
#
#     ranks     0 ... 15 | 16 ... 31 | ...       rank = 16 * leaf + slot
#     leaves    [      ]   [       ]   ...       leaf = 16 * node above + slot there, and so on
SLOTS = 16
BITS = 4


@register_jitable
def n_tree_nodes(n_ranks):
    """Room for the nodes of a tree of ranks up to `n_ranks`; what is added covers the rounding up on each level."""
    n_leaves = (n_ranks >> BITS) + 1
    return n_leaves + n_leaves // (SLOTS - 1) + 16


@compiled()
def add_weight(tree, n_leaves, rank, weight):
    """Add a weight at a rank."""
    n_slots = tree.shape[1]  # not SLOTS: loops whose length the compiler knows are not run on several numbers at a time
    first = 0
    level = n_leaves
    while True:
        slot = rank & (SLOTS - 1)
        rank >>= BITS
        node = first + rank
        for k in range(n_slots):
            tree[node, k] += weight if k >= slot else 0.0
        if level == 1:
            break
        first += level
        level = (level + SLOTS - 1) >> BITS


@compiled()
def weight_below(tree, n_leaves, rank):
    """Sum of the weights at all ranks below this one, which has to be below 16 * n_leaves itself."""
    total = 0.0
    first = 0
    level = n_leaves
    while True:
        slot = rank & (SLOTS - 1)
        rank >>= BITS
        if slot > 0:
            total += tree[first + rank, slot - 1]
        if level == 1:
            break
        first += level
        level = (level + SLOTS - 1) >> BITS
    return total


@compiled()
def share_out(row, factor, up_part, total, residue, upward, downward):
    """Give `factor * up_part` to `upward[row]` and the rest of `factor * total` to `downward[row]`."""
    if up_part > residue:
        upward[row] += factor * up_part
    if total - up_part > residue:
        downward[row] += factor * (total - up_part)


@compiled(inline="always")
def orient_earlier(time, event, weight, rank, tree, n_leaves, mixed_from, ties, residue, upward, downward):
    """Add the weights of the earlier members of mixed dipoles; their partners are the rows from `start` on.

    The higher score goes up, and in a tie the earlier time if `ties` is 1, not if it is 0. `tree` is empty.
    """
    start = len(time)
    total = 0.0
    for i in range(len(time) - 1, -1, -1):
        while start - 1 > i and time[start - 1] - time[i] >= mixed_from:
            start -= 1
            add_weight(tree, n_leaves, rank[start], weight[start])
            total += weight[start]
        if event[i] and total > 0.0:
            beaten = weight_below(tree, n_leaves, rank[i] + ties)
            share_out(i, weight[i], beaten, total, residue, upward, downward)


@compiled(inline="always")
def orient_by_events(
    time, event, weight, rank, mirror, tree, n_leaves, pure_below, mixed_from, ties, pure_weight, residue, before,
    too_low, upward, downward,
):  # fmt: skip
    """Add the weights of the later members of mixed dipoles, and those of pure dipoles.

    The partners of the later member of mixed dipoles are the events before the first that is not far enough. Those of
    an event in pure dipoles, itself among them, are a window: the events before its end without those before its
    start; both members go where the sum of their scores points. `tree` is empty. `before` and `too_low` are scratch:
    the weight of the events before the window of a row, and of those of them that do not lean up with it.
    """
    n = len(time)
    later = 0
    start = end = 0 if pure_below > 0.0 else n
    total = 0.0
    for k in range(n + 1):  # the tree holds the events before row k, which weigh `total`
        while later < n and (later <= k or not time[later] - time[k] >= mixed_from):
            if total > 0.0:
                beaten = weight_below(tree, n_leaves, rank[later] + 1 - ties)
                share_out(later, weight[later], beaten, total, residue, upward, downward)
            later += 1
        while end < k and (k == n or time[k] - time[end] >= pure_below):
            if event[end]:
                others = total - before[end] - weight[end]
                up_part = others - (weight_below(tree, n_leaves, mirror[end]) - too_low[end])
                up_part += weight[end] if rank[end] < mirror[end] else 0.0  # the row is itself among the too low ones
                share_out(end, pure_weight * weight[end], up_part, others, residue, upward, downward)
            end += 1
        if k == n:
            break
        while start < n and time[start] - time[k] < pure_below:
            if event[start]:
                before[start] = total
                too_low[start] = weight_below(tree, n_leaves, mirror[start])
            start += 1
        if event[k]:
            add_weight(tree, n_leaves, rank[k], weight[k])
            total += weight[k]


@compiled()
def orient_rows(time, event, weight, level, bounds, pure_weight, is_scripts, upward, downward):
    """Add to `upward` and `downward` (zeros) the weights of each row under these score levels.

    All arrays are in dipole order. A pair of events is pure if its gap is below the first of the bounds, any comparable
    pair is mixed if it is at least the second (see `gap_bounds`); a bound that is NaN has no dipoles. Levels are whole
    numbers. A pure pair leans up when the sum of its levels is not negative, and the earlier member of a mixed pair
    goes up when the difference is not; by the scripts' rule both have to be positive.
    """
    n = len(time)
    pure_below, mixed_from = bounds
    least = 1 if is_scripts else 0
    ranks, windows, trees = np.empty((2, n), np.int32), np.empty((2, n)), np.zeros((2, n_tree_nodes(n), SLOTS))
    by_level = np.argsort(level)
    total = 0.0
    smallest = np.inf
    for i in range(n):
        total += weight[i]
        smallest = weight[i] if 0.0 < weight[i] < smallest else smallest
    residue = RESIDUE * n * total
    residue = residue if residue < 0.5 * smallest else 0.5 * smallest
    rank, mirror = ranks[0], ranks[1]
    n_leaves = (rank_levels(level, by_level, least, rank, mirror) >> BITS) + 1
    ties = 1 - least
    orient_earlier(time, event, weight, rank, trees[0], n_leaves, mixed_from, ties, residue, upward, downward)
    orient_by_events(
        time, event, weight, rank, mirror, trees[1], n_leaves, pure_below, mixed_from, ties, pure_weight, residue,
        windows[0], windows[1], upward, downward,
    )  # fmt: skip

    # The pairs among the copies of a row.
    for i in range(n):
        if event[i] and weight[i] > 1.0:
            copies = weight[i] * (weight[i] - 1.0)
            if mixed_from <= 0.0:
                upward[i] += 0.5 * copies
                downward[i] += 0.5 * copies
            elif pure_below > 0.0 and rank[i] >= mirror[i]:
                upward[i] += pure_weight * copies
            elif pure_below > 0.0:
                downward[i] += pure_weight * copies
