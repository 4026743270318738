"""Dipoles without a list of pairs: cut-offs by counting, orientation by sweeping.

All functions work on rows in *dipole order*: sorted by time and, among equal times, so that a
pair (i, j) with i < j is comparable exactly when row i is an event. (Events first makes an event
comparable with a censoring at the same time, censorings first does not.)

Two facts make every pair sum a sweep:

    mixed partners of event i      a suffix of the rows:     time[j] - time[i] >= mixed_cut
    pure partners of event i       a window of the events:   |time[j] - time[i]| < pure_cut

and inside such a range, the partners on one side of a score are a prefix of the score ranks,
which a Fenwick tree answers in O(log n).

A row of weight w stands for w copies of itself. Two copies of one event are a pair with gap 0,
so a row holds w (w - 1) / 2 pairs of its own; a weight below 1 holds none.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Sums of fractional weights that should vanish are taken as zero below this fraction of their terms.
RESIDUE = 1e-12


@njit(cache=True, nogil=True)
def own_pairs(weight):
    """Number of pairs among the copies of one row."""
    return max(0.0, 0.5 * weight * (weight - 1.0))


@njit(cache=True, nogil=True)
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
        own = own_pairs(weight)
        total += weight * (cumulative[end] - cumulative[i + 1]) + own
        if own > 0.0 and largest_inside < 0.0:
            largest_inside = 0.0
        if end > i + 1 and time[end - 1] - time[i] > largest_inside:
            largest_inside = time[end - 1] - time[i]
        if end < n and time[end] - time[i] < smallest_outside:
            smallest_outside = time[end] - time[i]
    return total, largest_inside, smallest_outside


@njit(cache=True, nogil=True)
def gap_after(time, event, cumulative, target):
    """Smallest gap such that the pairs up to it weigh more than `target`; NaN where there is none.

    Narrowing the range of gaps, with both ends moved to the nearest gap that exists, ends at the exact one. The next
    gap to try is by turns the one that the weights at both ends suggest, which is often close, and the middle, which
    halves the range.
    """
    above, high, _ = weight_of_gaps(time, event, cumulative, np.inf)
    if above <= target:
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


@njit(cache=True, nogil=True)
def leans_up(sum_of_levels, strict):
    """Whether a pure pair leans up; a sum of exactly zero does unless `strict`."""
    return sum_of_levels > 0.0 or (sum_of_levels == 0.0 and not strict)


@njit(cache=True, nogil=True)
def rank_levels(level, by_level, strict, rank, mirror):
    """Dense ranks of the score levels, from 1; returns the number of distinct levels.

    `by_level` sorts the rows by level. `rank` and `mirror` are overwritten: `mirror[i]` is the number
    of distinct levels below `-level[i]`, so that the ranks above it are the partners with
    `level[i] + level[k] >= 0`, or `> 0` when `strict`.
    """
    n = len(level)
    n_levels = 0
    for k in range(n):
        row = by_level[k]
        if k == 0 or level[row] != level[by_level[k - 1]]:
            n_levels += 1
        rank[row] = n_levels

    # -level falls as level rises: one walk up meets one walk down.
    below = n
    for k in range(n):
        row = by_level[k]
        while below > 0 and leans_up(level[row] + level[by_level[below - 1]], strict):
            below -= 1
        mirror[row] = rank[by_level[below - 1]] if below > 0 else 0
    return n_levels


@njit(cache=True, nogil=True)
def add_weight(fenwick, position, weight):
    """Add `weight` at a position (from 1) of a Fenwick tree."""
    while position < len(fenwick):
        fenwick[position] += weight
        position += position & -position


@njit(cache=True, nogil=True)
def weight_up_to(fenwick, position):
    """Sum of the weights at positions 1 to `position`."""
    total = 0.0
    while position > 0:
        total += fenwick[position]
        position -= position & -position
    return total


@njit(cache=True, nogil=True)
def share_out(row, factor, up_part, total, upward, downward):
    """Give `factor * up_part` to `upward[row]` and the rest of `factor * total` to `downward[row]`."""
    residue = RESIDUE * total
    if up_part > residue:
        upward[row] += factor * up_part
    if total - up_part > residue:
        downward[row] += factor * (total - up_part)


@njit(cache=True, nogil=True)
def orient_mixed(time, event, weight, rank, fenwick, mixed_cut, strict, price, upward, downward):
    """Add the weights of the mixed dipoles: the higher score goes up.

    In a tie the earlier time goes up, or the later one when `strict`. `fenwick` is scratch of n_levels + 1 zeros;
    `upward` and `downward` are added to.
    """
    n = len(time)
    ties_of_later = 1 if strict else 0
    ties_of_earlier = 1 - ties_of_later

    # The earlier member i of each pair: its partners are the rows from `start` on.
    start = n
    total = 0.0
    for i in range(n - 1, -1, -1):
        while start - 1 > i and time[start - 1] - time[i] >= mixed_cut:
            start -= 1
            add_weight(fenwick, rank[start], weight[start])
            total += weight[start]
        if event[i] and total > 0.0:
            beaten = weight_up_to(fenwick, rank[i] - 1 + ties_of_earlier)
            share_out(i, price * weight[i], beaten, total, upward, downward)

    # The later member j: its partners are the events before `end`.
    fenwick[:] = 0.0
    end = 0
    total = 0.0
    for j in range(n):
        while end < j and time[j] - time[end] >= mixed_cut:
            if event[end]:
                add_weight(fenwick, rank[end], weight[end])
                total += weight[end]
            end += 1
        if total > 0.0:
            beaten = weight_up_to(fenwick, rank[j] - 1 + ties_of_later)
            share_out(j, price * weight[j], beaten, total, upward, downward)

    if mixed_cut <= 0.0:
        for i in range(n):
            if event[i]:
                upward[i] += price * own_pairs(weight[i])
                downward[i] += price * own_pairs(weight[i])


@njit(cache=True, nogil=True)
def orient_pure(time, event, weight, rank, mirror, fenwick, pure_cut, closed, price, upward, downward):
    """Add the weights of the pure dipoles: both members go where the sum of their scores points.

    A gap equal to `pure_cut` is inside when `closed`. `fenwick` is scratch of n_levels + 1 zeros.
    """
    n = len(time)
    start = 0
    end = 0
    total = 0.0
    for i in range(n):
        if not event[i]:
            continue
        while end < n and (time[end] - time[i] < pure_cut or (closed and time[end] - time[i] == pure_cut)):
            if event[end]:
                add_weight(fenwick, rank[end], weight[end])
                total += weight[end]
            end += 1
        while start < end and not (time[i] - time[start] < pure_cut or (closed and time[i] - time[start] == pure_cut)):
            if event[start]:
                add_weight(fenwick, rank[start], -weight[start])
                total -= weight[start]
            start += 1
        if end <= i:
            continue  # the window is empty: not even the row itself is closer than the cut-off

        up_part = total - weight_up_to(fenwick, mirror[i])
        own = 2.0 * own_pairs(weight[i])
        if rank[i] > mirror[i]:  # the row would lean up with a copy of itself
            up_part -= weight[i]
            upward[i] += price * own
        else:
            downward[i] += price * own
        share_out(i, price * weight[i], up_part, total - weight[i], upward, downward)


@njit(cache=True, nogil=True)
def orient(
    time,
    event,
    weight,
    level,
    by_level,
    pure_cut,
    closed,
    mixed_cut,
    strict,
    pure_price,
    mixed_price,
    upward,
    downward,
):
    """Add to `upward` and `downward` (zeros) the weights of each row under these score levels.

    All arrays are in dipole order. A cut-off that is NaN has no dipoles.
    """
    n = len(time)
    rank = np.empty(n, dtype=np.int64)
    mirror = np.empty(n, dtype=np.int64)
    fenwick = np.zeros(rank_levels(level, by_level, strict, rank, mirror) + 1)
    if mixed_cut >= 0.0:
        orient_mixed(time, event, weight, rank, fenwick, mixed_cut, strict, mixed_price, upward, downward)
    if pure_cut >= 0.0:
        fenwick[:] = 0.0
        orient_pure(time, event, weight, rank, mirror, fenwick, pure_cut, closed, pure_price, upward, downward)
