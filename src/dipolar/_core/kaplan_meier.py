"""Life tables of many groups of rows in one pass, and the two estimators that follow from them.

Glossary
--------
d_k, Y_k     weight of the events at the k-th distinct time of a group, and of its rows at risk just before it
S, H         Kaplan-Meier: S(t) = prod_{t_k <= t} (1 - d_k / Y_k); Nelson-Aalen: H(t) = sum_{t_k <= t} d_k /
Y_k
"""

from __future__ import annotations

from dipolar._core.compiling import compiled

__all__ = ["fill_life_tables", "fill_product_limit"]


@compiled()
def fill_life_tables(group, time, event, weight, table_time, events, censored, at_risk, offset):
    """Tabulate the distinct times of every group; return how many there are in all.

    The rows are sorted by group (0, 1, ...; each with at least one row) and then by time. `table_time`,
    `events`, `censored` and `at_risk` (length n) and `offset` (number of groups + 1) are overwritten; group g
    owns the entries offset[g] to offset[g + 1].
    """
    n_entries = 0
    previous = -1
    for i in range(len(time)):
        new_group = group[i] != previous
        if new_group:
            offset[group[i]] = n_entries
            previous = group[i]
        if new_group or time[i] != table_time[n_entries - 1]:
            table_time[n_entries] = time[i]
            events[n_entries] = 0.0
            censored[n_entries] = 0.0
            n_entries += 1
        if event[i]:
            events[n_entries - 1] += weight[i]
        else:
            censored[n_entries - 1] += weight[i]
    offset[previous + 1] = n_entries

    # Whoever leaves at a time or later is at risk at it.
    for g in range(len(offset) - 1):
        beyond = 0.0
        for k in range(offset[g + 1] - 1, offset[g] - 1, -1):
            beyond += events[k] + censored[k]
            at_risk[k] = beyond
    return n_entries


@compiled()
def fill_product_limit(offset, events, at_risk, survival, hazard):
    """Overwrite `survival` with Kaplan-Meier and `hazard` with Nelson-Aalen estimates, group by group."""
    for g in range(len(offset) - 1):
        s = 1.0
        h = 0.0
        for k in range(offset[g], offset[g + 1]):
            s *= 1.0 - events[k] / at_risk[k]
            h += events[k] / at_risk[k]
            survival[k] = s
            hazard[k] = h
