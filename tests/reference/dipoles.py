"""Dipoles by listing every pair of rows, copies of weighted rows included."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from tests.dipoles import score_levels


def repeat_rows(weight):
    """Row numbers with every row as often as its (whole) weight says."""
    return np.repeat(np.arange(len(weight)), np.asarray(weight, dtype=int))


def dipole_order(time, event, cutoff_rule):
    """First by time; among equal times events come first in the text's rule, last in the scripts'."""
    tie = ~event if cutoff_rule == "text" else event
    return sorted(range(len(time)), key=lambda row: (time[row], tie[row], row))


def comparable_pairs(time, event, cutoff_rule):
    """Pairs (earlier, later) whose smaller time is an event."""
    for a, b in combinations(dipole_order(time, event, cutoff_rule), 2):
        tied = time[a] == time[b]
        if tied and event[a] != event[b]:
            if cutoff_rule == "text":
                yield (a, b) if event[a] else (b, a)
        elif event[a]:
            yield a, b


def cutoffs(time, event, pure_quantile, mixed_quantile, cutoff_rule):
    gaps = np.sort([time[b] - time[a] for a, b in comparable_pairs(time, event, cutoff_rule)])
    if not len(gaps):
        return math.nan, math.nan
    if cutoff_rule == "scripts":
        return tuple(np.quantile(gaps, q, method="linear") for q in (pure_quantile, mixed_quantile))
    return tuple(gaps[max(1, math.floor(q * len(gaps))) - 1] for q in (pure_quantile, mixed_quantile))


def orient(time, event, scores, pure_cut, mixed_cut, pure_weight, mixed_weight, cutoff_rule):
    """Upward and downward weights of every row."""
    level = score_levels(scores)
    upward, downward = np.zeros(len(time)), np.zeros(len(time))
    for a, b in comparable_pairs(time, event, cutoff_rule):
        gap = time[b] - time[a]
        mixed = gap >= mixed_cut
        pure = gap < pure_cut or (cutoff_rule == "scripts" and gap == pure_cut)
        if mixed:
            earlier_up = level[a] > level[b] or (level[a] == level[b] and cutoff_rule == "text")
            up, down = (a, b) if earlier_up else (b, a)
            upward[up] += mixed_weight
            downward[down] += mixed_weight
        elif pure and event[b]:
            leans_up = level[a] + level[b] > 0 or (level[a] + level[b] == 0 and cutoff_rule == "text")
            side = upward if leans_up else downward
            side[a] += pure_weight
            side[b] += pure_weight
    return upward, downward
