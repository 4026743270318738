"""Scores straight from their definitions, one row, pair and time after the other."""

import numpy as np

from tests.reference.kaplan_meier import survival_at


def censoring_at(t, time, event, weight, *, strict=False, events_first=True):
    """Product over the censoring times up to t (before t, if strict) of the share that is not censored."""
    value = 1.0
    for s in sorted(set(time[~event])):
        if s < t or (s == t and not strict):
            exposed = weight[time > s].sum() + weight[(time == s) & ~event].sum()
            if not events_first:
                exposed += weight[(time == s) & event].sum()
            value *= 1 - weight[(time == s) & ~event].sum() / exposed
    return max(value, 0.0)


def uno(train, test, risk, weight, tau, strict):
    """Uno's concordance index by looking at every pair."""
    time, event = test
    above = below = 0.0
    for i in range(len(time)):
        if not event[i] or time[i] >= tau:
            continue
        g = censoring_at(time[i], *train, strict=strict)
        for j in range(len(time)):
            if time[i] < time[j] or (time[i] == time[j] and not event[j]):
                pair = weight[i] * weight[j] / g**2
                above += pair * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
                below += pair
    return above / below


def auc(train, test, risk, weight, t, strict):
    """Area under the ROC curve at one time by looking at every case and control."""
    time, event = test
    above = below = 0.0
    for i in np.flatnonzero(event & (time <= t)):
        g = censoring_at(time[i], *train, strict=strict)
        for j in np.flatnonzero(time > t):
            pair = weight[i] * weight[j] / g
            above += pair * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
            below += pair
    return above / below


def brier(train, test, probability, weight, t, variant, strict=False):
    """Brier score at one time; `train` and `test` are (time, event, weight) and (time, event)."""
    time, event = test
    source, first = ((*test, weight), False) if variant == "authors" else (train, True)

    def positive(g):
        steps = [censoring_at(s, *source, events_first=first) for s in source[0]]
        return g if g > 1e-12 else min([1.0] + [s for s in steps if s > 1e-12])

    total = 0.0
    for i in range(len(time)):
        own = positive(censoring_at(time[i], *source, strict=strict, events_first=first))
        if time[i] <= t and event[i]:
            total += weight[i] * probability[i] ** 2 / own
        if time[i] > t:
            g = own if variant == "paper" else censoring_at(t, *source, events_first=first)
            total += weight[i] * (1 - probability[i]) ** 2 / g
    return total / weight.sum()


def bin_counts(probability, event, weight, n_bins):
    """Weight in each bin of D-calibration; a censored row is spread evenly over [0, its probability]."""
    counts = np.zeros(n_bins)
    for p, observed, w in zip(probability, event, weight):
        own = min(int(np.floor(p * n_bins)), n_bins - 1)
        if observed or p == 0:
            counts[own] += w
            continue
        for k in range(n_bins):
            overlap = max(0.0, min(p, (k + 1) / n_bins) - k / n_bins)
            counts[k] += w * overlap / p
    return counts


def logrank(time, event, weight, group, time_weight):
    """U and V of the k-sample log-rank test, one event time and pair of groups after the other."""
    names = sorted(set(group))
    U, V = np.zeros(len(names)), np.zeros((len(names), len(names)))
    for s in sorted(set(time[event])):
        Y, d = weight[time >= s].sum(), weight[event & (time == s)].sum()
        W = time_weight(Y, survival_before(s, time, event, weight))
        for g, name in enumerate(names):
            mine = group == name
            Yg = weight[(time >= s) & mine].sum()
            U[g] += W * (weight[event & (time == s) & mine].sum() - Yg * d / Y)
            for h, other in enumerate(names):
                Yh = weight[(time >= s) & (group == other)].sum()
                if Y > 1:
                    V[g, h] += W**2 * d * (Y - d) / (Y - 1) * Yg / Y * ((g == h) - Yh / Y)
    return U, V


def survival_before(t, time, event, weight):
    """Kaplan-Meier estimate just before t."""
    earlier = time[event & (time < t)]
    return survival_at(earlier.max(), time, event, weight) if len(earlier) else 1.0
