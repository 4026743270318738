"""Kaplan-Meier and Nelson-Aalen at one time, straight from the definitions."""


def survival_at(t, time, event, weight):
    """Product over the event times up to t of the share that survives."""
    value = 1.0
    for s in sorted(set(time[event])):
        if s <= t:
            value *= 1 - weight[event & (time == s)].sum() / weight[time >= s].sum()
    return value


def hazard_at(t, time, event, weight):
    """Sum over the event times up to t of the share that dies."""
    return sum(weight[event & (time == s)].sum() / weight[time >= s].sum() for s in sorted(set(time[event])) if s <= t)
