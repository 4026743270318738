"""Log-rank statistics: of one given split, and of every cut of a covariate at once.

All cuts of a covariate cost O(n log n). Rows enter the left group one by one, in the order of the covariate,
and both parts of the statistic U^2 / V are kept up to date:

    U = sum_k W_k (d_Lk - Y_Lk d_k / Y_k)                    a sum over the rows of the left group
    V = sum_k v_k y_k - sum_k v_k y_k^2,   y_k = Y_Lk / Y_k   the first part is such a sum as well

A row that enters raises Y_Lk at every event time up to its own, so the second part grows by a sum of Y_Lk
over a prefix of the event times, which a Fenwick tree over those times answers in O(log n).

Glossary
--------
k            index of a distinct event time of the node, 1 to m
d_k, Y_k     weight of the events at time k, and of the rows at risk just before it
W_k          weight of time k, by the family: Y_k^a S(t_k-)^rho (1 - S(t_k-))^gamma
v_k          W_k^2 d_k (Y_k - d_k) / (Y_k - 1), the hypergeometric variance without y_k (1 - y_k)
position     number of distinct event times up to and including a row's time: its last k at risk
near, far    the group that is being filled, and the rest; the statistic does not care which of them is left
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dipolar._core.compiling import compiled

__all__ = [
    "FAMILIES",
    "LOGRANK",
    "Family",
    "best_cut",
    "is_logrank",
    "two_sample_logrank",
]


class Family(NamedTuple):
    """A statistic of two groups: the log-rank test with the weights below, or the exponential likelihood ratio."""

    at_risk: float = 0.0  # the exponents of Y_k, ...
    rho: float = 0.0  # ... of S(t_k-) ...
    gamma: float = 0.0  # ... and of 1 - S(t_k-)
    is_exponential: bool = False


LOGRANK = Family()

# By name. `dipolar.weightings` adds to them, and gives the Fleming-Harrington family its exponents.
FAMILIES = {
    "logrank": LOGRANK,
    "gehan": Family(at_risk=1.0),
    "tarone-ware": Family(at_risk=0.5),
    "fleming-harrington": Family(),
    "exponential": Family(is_exponential=True),
}

# A variance that is this small beside its first part is zero in exact arithmetic.
ZERO_VARIANCE = 1e-10

# Statistics that differ by less are equal up to rounding, and the cut that is met first is kept. Without this
# rule a row of weight two and the same row twice could give two trees.
TIE = 1e-10

# A chi-square below this is rounding: the groups do not differ at all.
ZERO_GAIN = 1e-12

# The slots of the array that `best_cut` overwrites.
GAIN, FEATURE, THRESHOLD, MISSING_LEFT = 0, 1, 2, 3


@compiled()
def is_logrank(family):
    """Whether the statistic is the log-rank test itself, in which all event times weigh the same."""
    return family.at_risk == 0.0 and family.rho == 0.0 and family.gamma == 0.0 and not family.is_exponential


@compiled()
def _time_weight(family, at_risk, survival_before):
    """W_k; an exponent of 0 leaves its factor out, whatever that is."""
    factor = at_risk**family.at_risk if family.at_risk != 0.0 else 1.0
    if family.rho != 0.0:
        factor *= survival_before**family.rho
    if family.gamma != 0.0:
        factor *= (1.0 - survival_before) ** family.gamma
    return factor


@compiled()
def _fill_terms(rows, time, event, weight, family, position, residual, spread, grid):
    """Overwrite `position`, `residual` and `spread` of the node's rows; return the number of event times.

    `rows` are sorted by time, in any order among equal times. `grid` is scratch; its row 0 ends as the prefix
    sums of v_k / Y_k^2, which is what the Fenwick tree is loaded with.
    """
    n_times = 0
    first = 0
    for i in range(1, len(rows) + 1):
        if i < len(rows) and time[rows[i]] == time[rows[first]]:
            continue
        seen = False
        for k in range(first, i):  # a group of equal times
            seen = seen or event[rows[k]]
        n_times += 1 if seen else 0
        for k in range(first, i):
            position[rows[k]] = n_times
        first = i

    curvature, at_risk, deaths, hazard, share = grid[0], grid[1], grid[2], grid[3], grid[4]
    for k in range(n_times + 1):
        at_risk[k] = 0.0
        deaths[k] = 0.0
    for i in range(len(rows)):
        row = rows[i]
        at_risk[position[row]] += weight[row]
        if event[row]:
            deaths[position[row]] += weight[row]
    # Summed from the last time backwards, Y_k >= d_k holds in floating point too.
    for k in range(n_times - 1, 0, -1):
        at_risk[k] += at_risk[k + 1]

    curvature[0] = 0.0
    hazard[0] = 0.0
    share[0] = 0.0
    survival = 1.0
    for k in range(1, n_times + 1):
        d, y = deaths[k], at_risk[k]
        factor = _time_weight(family, y, survival)
        variance = factor * factor * d * (y - d) / (y - 1.0) if y > 1.0 else 0.0
        hazard[k] = hazard[k - 1] + factor * d / y
        share[k] = share[k - 1] + variance / y
        curvature[k] = curvature[k - 1] + variance / (y * y)
        survival *= 1.0 - d / y
        deaths[k] = factor  # from here on, this slot holds W_k

    for i in range(len(rows)):
        row = rows[i]
        k = position[row]
        counts = deaths[k] if event[row] else 0.0
        residual[row] = weight[row] * (counts - hazard[k])
        spread[row] = weight[row] * share[k]
    return n_times


@compiled()
def _enter(row, weight, position, curvature, n_times, tree, total):
    """Let a row enter the near group; return by how much sum_k v_k y_k^2 grows. `tree` is updated.

    `tree` holds two Fenwick trees side by side: of w C(position) and of w, where C is `curvature`. For a row
    at position k, sum_{j<=k} (v_j / Y_j^2) Y_Lj = sum over near rows of w C(min(their position, k)).
    """
    k = position[row]
    if k == 0:
        return 0.0
    w = weight[row]
    c = curvature[k]
    loaded = 0.0
    below = 0.0
    j = k
    while j > 0:
        loaded += tree[j, 0]
        below += tree[j, 1]
        j &= j - 1
    growth = w * (2.0 * (loaded + c * (total - below)) + w * c)
    j = k
    while j <= n_times:
        tree[j, 0] += w * c
        tree[j, 1] += w
        j += j & -j
    return growth


@compiled()
def _exponential_gain(near_events, near_exposure, events, exposure):
    """Likelihood ratio of two exponential rates against one: 2 sum_g D_g log((D_g / E_g) / (D / E))."""
    gain = 0.0
    far_events = events - near_events
    far_exposure = exposure - near_exposure
    if near_events > 0.0 and near_exposure > 0.0:
        gain += near_events * math.log(near_events / near_exposure * (exposure / events))
    if far_events > 0.0 and far_exposure > 0.0:
        gain += far_events * math.log(far_events / far_exposure * (exposure / events))
    return 2.0 * gain


@compiled()
def _middle(a, b):
    """Return a threshold t with min(a, b) <= t < max(a, b), half way where floating point allows it."""
    low, high = min(a, b), max(a, b)
    middle = 0.5 * low + 0.5 * high
    if middle >= high or middle < low:
        middle = low
    return middle


@compiled()
def _scan_side(
    column, feature, rows, n_present, step, missing_left, weight_total, events_total, exposure_total, limits,
    family, n_times, event, weight, exposure, position, residual, spread, curvature, tree, best,
):  # fmt: skip
    """Try the cuts whose near group, filled from one end of `rows`, holds at most half of the weight.

    The near group is the left one for step = 1 and the right one for step = -1: a small group is never the
    difference of two large sums, so that no digit is lost. `best` is overwritten where a cut is better.
    """
    min_weight, min_events = limits[0], limits[1]
    n_rows = len(rows)
    for k in range(n_times + 1):
        tree[k, 0] = 0.0
        tree[k, 1] = 0.0
    near_weight = near_events = near_exposure = at_risk_near = 0.0
    numerator = first = second = 0.0

    # Missing rows come last in `rows`. They enter ahead of all others if they belong to the near group.
    n_missing = n_rows - n_present
    missing_near = (step == 1) == missing_left
    n_ahead = n_missing if missing_near else 0
    start = 0 if step == 1 else n_present - 1
    for i in range(n_ahead + n_present):
        present = i - n_ahead
        row = rows[n_present + i] if present < 0 else rows[start + step * present]
        w = weight[row]
        near_weight += w
        if near_weight > 0.5 * weight_total * (1.0 + 1e-9):
            return
        near_events += w * event[row]
        if family.is_exponential:
            near_exposure += exposure[row]
        else:
            numerator += residual[row]
            first += spread[row]
            second += _enter(row, weight, position, curvature, n_times, tree, at_risk_near)
            if position[row] > 0:
                at_risk_near += w

        if i < n_ahead - 1:
            continue
        if present < 0:
            # All missing rows against all present ones: tried once, as "present <= inf goes left".
            if not (step == -1 and not missing_left):
                continue
            threshold = np.inf
        elif present == n_present - 1:
            if not (step == 1 and n_missing > 0 and not missing_left):
                continue
            threshold = np.inf
        else:
            value = column[row]
            following = column[rows[start + step * (present + 1)]]
            if value == following:
                continue
            threshold = _middle(value, following)

        if near_weight < min_weight or weight_total - near_weight < min_weight:
            continue
        if near_events < min_events or events_total - near_events < min_events:
            continue
        gain = 0.0
        if family.is_exponential:
            gain = _exponential_gain(near_events, near_exposure, events_total, exposure_total)
        else:
            variance = first - second
            if variance > ZERO_VARIANCE * first:
                gain = numerator * numerator / variance
        if gain > best[GAIN] * (1.0 + TIE):
            best[GAIN] = gain
            best[FEATURE] = feature
            best[THRESHOLD] = threshold
            best[MISSING_LEFT] = missing_left


@compiled()
def _pick(order, inside, rows):
    """Overwrite `rows` with those of an order that are inside."""
    k = 0
    for row in order:
        if inside[row]:
            rows[k] = row
            k += 1


@compiled()
def best_cut(
    columns, orders, start, stop, features, max_tried, time, event, weight, exposure, limits, family,
    position, residual, spread, grid, tree, best, everyone, inside, line,
):  # fmt: skip
    """Find the cut of a node with the largest statistic over the given covariates.

    Parameters
    ----------
    columns : float64 array (n_features, n)
        Covariates, one row per feature; NaN where missing.
    orders : int32 array (n_features + 1, n)
        `orders[f, start:stop]` are the rows of the node sorted by feature f, missing ones last; the last row
        sorts them by time, in any order among equal times. With `everyone` only this last one is there.
    start, stop : int
        The node's slice.
    features : int64 array
        The covariates to try, in this order.
    max_tried : int
        How many covariates that vary in the node are tried; more only while none of them has an admissible cut.
    time, event, weight : arrays (n,)
        Outcomes and frequencies of all rows.
    exposure : float64 array (n,)
        Weight times baseline cumulative hazard; read by the exponential statistic only.
    limits : float64 array (2,)
        Smallest weight of rows and of events in a child.
    family : Family
    position, residual, spread : int32, float64, float64 arrays (n,)
        Scratch, overwritten.
    grid, tree : float64 arrays (5, n + 2), (n + 2, 2)
        Scratch, overwritten.
    best : float64 array (4,)
        Overwritten: gain, feature, threshold, 1.0 where missing values go left.
    everyone : int32 array (n_features + 1, n), or (0, 0)
        All rows sorted by each feature, or nothing. Of many features few are tried in a node, and for these its rows
        are picked from here, instead of being kept sorted by all of them.
    inside, line : bool and int32 arrays (n,), or (0,)
        Which rows are the node's, and scratch.

    Returns
    -------
    found : bool
        Whether any admissible cut has a positive statistic.
    """
    by_time = orders[-1, start:stop]
    best[GAIN] = ZERO_GAIN
    best[FEATURE] = -1.0
    weight_total = events_total = exposure_total = 0.0
    for i in range(len(by_time)):
        row = by_time[i]
        weight_total += weight[row]
        events_total += weight[row] * event[row]
        exposure_total += exposure[row]
    n_times = 0
    if not family.is_exponential:
        n_times = _fill_terms(by_time, time, event, weight, family, position, residual, spread, grid)
    if events_total == 0.0:
        return False

    n_tried = 0
    for f in range(len(features)):
        if n_tried >= max_tried and best[FEATURE] >= 0.0:
            break
        feature = features[f]
        column = columns[feature]
        rows = orders[feature, start:stop] if len(everyone) == 0 else line[: stop - start]
        if len(everyone) > 0:
            _pick(everyone[feature], inside, rows)
        n_present = len(rows)
        while n_present > 0 and np.isnan(column[rows[n_present - 1]]):
            n_present -= 1
        if n_present == 0 or (n_present == len(rows) and column[rows[0]] == column[rows[n_present - 1]]):
            continue
        n_tried += 1
        for side in range(2 if n_present < len(rows) else 1):
            for turn in range(2):
                step = 1 - 2 * turn
                _scan_side(
                    column, feature, rows, n_present, step, side == 1,
                    weight_total, events_total, exposure_total, limits, family, n_times,
                    event, weight, exposure, position, residual, spread, grid[0], tree, best,
                )  # fmt: skip
    return best[FEATURE] >= 0.0


@compiled()
def two_sample_logrank(time, event, weight, goes_left):
    """Return the log-rank chi-square (1 degree of freedom) between two groups.

    The arrays are sorted by time, in any order among equal times, and `weight` counts rows. The statistic is
    zero where its variance is: an empty group, no events, or groups that are never at risk together.
    """
    numerator = variance = scale = 0.0
    at_risk = left_at_risk = 0.0
    stop = len(time)
    while stop > 0:
        # One group of equal times, from the last one backwards.
        start = stop
        deaths = left_deaths = 0.0
        while start > 0 and (start == stop or time[start - 1] == time[stop - 1]):
            start -= 1
            w = weight[start]
            at_risk += w
            deaths += w * event[start]
            if goes_left[start]:
                left_at_risk += w
                left_deaths += w * event[start]
        stop = start
        if deaths > 0.0:
            share = left_at_risk / at_risk
            numerator += left_deaths - deaths * share
            if at_risk > 1.0:
                factor = deaths * (at_risk - deaths) / (at_risk - 1.0)
                variance += factor * share * (1.0 - share)
                scale += factor * min(share, 1.0 - share)
    if variance <= ZERO_VARIANCE * scale:
        return 0.0
    return numerator * numerator / variance
