"""Squared errors of predicted survival curves, summed over the rows of every curve in one pass.

Glossary
--------
position    number of grid times before a row's own time: at earlier ones it is a control, from there on a case
case        weight of a row at the times when its event has happened; its error is S(t)^2
control     weight of a row at the times when it is still followed; its error is (1 - S(t))^2
"""

from __future__ import annotations

from dipolar._core.compiling import compiled

__all__ = ["add_squared_errors", "group_rows"]


@compiled()
def group_rows(curve, offset, rows):
    """List the rows of every curve: curve c owns `rows[offset[c]:offset[c + 1]]`.

    `curve` is the number of the curve of every row; `offset` (number of curves + 1) and `rows` are overwritten.
    """
    for c in range(len(offset)):
        offset[c] = 0
    for i in range(len(curve)):
        offset[curve[i] + 1] += 1
    for c in range(1, len(offset)):
        offset[c] += offset[c - 1]
    # Filling moves every start to the next curve's start; afterwards they are moved back.
    for i in range(len(curve)):
        rows[offset[curve[i]]] = i
        offset[curve[i]] += 1
    for c in range(len(offset) - 1, 0, -1):
        offset[c] = offset[c - 1]
    offset[0] = 0


@compiled()
def add_squared_errors(table, offset, rows, position, case, control, case_at, control_at, cases, controls):
    """Add the weighted squared errors of some curves to `cases` and `controls`, one entry per time.

    `table` holds the curves at the times, and `offset` and `rows` their rows. `case_at` and `control_at` (number
    of times + 1) are scratch.
    """
    n_times = table.shape[1]
    for c in range(len(table)):
        if offset[c] == offset[c + 1]:
            continue
        for k in range(n_times + 1):
            case_at[k] = 0.0
            control_at[k] = 0.0
        for j in range(offset[c], offset[c + 1]):
            i = rows[j]
            case_at[position[i]] += case[i]
            control_at[position[i]] += control[i]
        happened = 0.0
        for k in range(n_times):
            happened += case_at[k]
            cases[k] += happened * table[c, k] * table[c, k]
        # Summed from the last time backwards, no weight is a difference of sums.
        followed = 0.0
        for k in range(n_times - 1, -1, -1):
            followed += control_at[k + 1]
            controls[k] += followed * (1.0 - table[c, k]) * (1.0 - table[c, k])
