"""`plot_leaf_curves`: the survival curves of all leaves on one pair of axes."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.gridspec import GridSpecFromSubplotSpec

from dipolar.curves import LifeTable, LifeTables, tabulate
from dipolar.metrics.logrank import logrank_test
from dipolar.parameters import check_share
from dipolar.plotting.curves import draw_band, draw_censorings, draw_curve, short_number
from dipolar.plotting.style import (
    GREY,
    INK,
    SMALL_SIZE,
    check_label,
    figure_of,
    ink_of,
    make_axes,
    ordered_colors,
    plain_axes,
    quiet,
    round_ticks,
    size_in_inches,
)
from dipolar.survival import check_outcome
from dipolar.tree.described import describe
from dipolar.tree.estimator import BaseSurvivalTree

__all__ = ["plot_leaf_curves"]

ROW_HEIGHT = 0.17  # inches
CURVES_HEIGHT = 3.4
LABEL_HEIGHT = 0.45  # numbers and label of the time axis

# Where a curve is named: a little before the end of the axis, at which curves may drop to 0 together.
NEAR_END = 0.97

# Colours of more leaves than this are too alike for solid lines alone.
MOST_SOLID = 6
DASHES = (0, (4, 1.5))


def plot_leaf_curves(
    tree: BaseSurvivalTree,
    X: Any = None,
    y: Any = None,
    *,
    ax: Axes | None = None,
    bands: bool | None = None,
    level: float = 0.95,
    censorings: bool = True,
    at_risk: bool = True,
    time_label: str = "time",
) -> Axes:
    """Draw the Kaplan-Meier curves of all leaves together, with the numbers at risk under them.

    Leaves have the colours of :func:`plot_tree`, are named at the ends of their curves, and stand in the table by
    ascending risk; of more than six, every second curve is dashed. Short upright lines mark censored rows. The
    p-value is that of the log-rank test of equal hazards in all leaves. On the training rows it is far too small,
    because the splits were chosen to make it so; on other rows it is an honest test, by permutations where leaves have
    few events.

    **On the training rows the curves and their bands are optimistic** for the same reason: leaves lie further apart
    than they do on new rows, and bands of 95 % hold the true curve less often (`python benchmarks/honesty.py` measures
    how often). Bands of other rows keep their level.

    Parameters
    ----------
    tree : fitted survival tree, or pipeline of a CovariateEncoder and one
    X, y : default=None
        Other rows, whose curves and test are drawn instead of those of the training rows. Leaves that no row reaches
        are left out.
    ax : Axes, default=None
        Where to draw; the table takes its room from these axes. None makes a figure.
    bands : bool, default=None
        Whether to draw pointwise confidence bands; None draws them for up to four leaves. See above for what they are
        worth on the training rows.
    level : float, default=0.95
        Level of the bands.
    censorings : bool, default=True
        Whether to mark when rows were censored.
    at_risk : bool, default=True
        Whether to draw the table.
    time_label : str, default="time"
        What the time axis says.

    Returns
    -------
    ax : Axes
        The axes with the curves.
    """
    tree, _, encoder = describe(tree)
    check_share("level", level, hint="0.95 is common.")
    time_label = check_label("time_label", time_label)
    tables, positions = _tables(tree, X if X is None or encoder is None else encoder.transform(X), y)
    order = np.argsort(tree.leaf_risk_[positions], kind="stable")
    colors = np.array(ordered_colors(tree.leaf_risk_))[positions]
    names = [f"leaf {tree.tree_.leaves[position]}" for position in positions]

    ax = make_axes(ax, (6.2, CURVES_HEIGHT + (ROW_HEIGHT * (len(order) + 1) if at_risk else 0.0)))
    below = _room_below(ax, len(order) + 1) if at_risk else None
    plain_axes(ax)
    last = float(tables.time.max()) or 1.0  # an axis needs a length, also where everybody left at time 0
    bands = len(order) <= 4 if bands is None else bands
    for place, group in reversed(list(enumerate(order))):
        table, color = tables[int(group)], tuple(colors[group])
        if bands:
            draw_band(ax, table, color, level, alpha=0.15)
        dashed = len(order) > MOST_SOLID and place % 2 == 1
        draw_curve(ax, table, color, linewidth=1.6, linestyle=DASHES if dashed else "solid")
        if censorings:
            draw_censorings(ax, table, color)
    ticks = round_ticks(last, 6)
    ax.set(xlim=(0, last), ylim=(0, 1.02), xticks=ticks)
    ax.set_xticks(ticks, labels=[short_number(tick) for tick in ticks])
    quiet(ax, x=time_label, y="survival")
    title = _test_text(tables) if X is not None else _training_text(tables, level if bands else None)
    ax.set_title(title, loc="right", fontsize=SMALL_SIZE, color=INK)
    _name_curves(ax, [(names[g], tuple(colors[g]), _value_at(tables[int(g)], NEAR_END * last)) for g in order])
    if below is not None:
        ordered = [(names[g], tuple(colors[g]), _at_risk(tables, int(g), ticks)) for g in order]
        _draw_table(below, ordered, ticks, last)
    return ax


def _tables(tree: BaseSurvivalTree, X: Any, y: Any) -> tuple[LifeTables, np.ndarray]:
    """Return the life tables of the leaves that have rows, and the positions of those leaves."""
    if (X is None) != (y is None):
        raise ValueError("X and y should be given together, or neither for the training rows.")
    if X is None:
        return tree.tree_.tables, np.arange(tree.tree_.n_leaves)
    outcome = check_outcome(y, require_event=False)
    leaf = np.searchsorted(tree.tree_.leaves, tree.apply(X))
    if len(leaf) != len(outcome):
        raise ValueError(f"X and y should have the same number of rows, got {len(leaf)} and {len(outcome)}.")
    positions, group = np.unique(leaf, return_inverse=True)
    return tabulate(outcome, np.ones(len(outcome)), group.reshape(-1), len(positions)), positions


def _training_text(tables: LifeTables, level: float | None) -> str:
    """The test of leaves on the rows that grew them, and what that means for it and the bands of this level."""
    test = _test_text(tables, method="chi2")
    if not test:
        return ""
    return f"{test} (training rows)" if level is None else f"{test}, {level:.3g} bands (training rows: optimistic)"


def _test_text(tables: LifeTables, method: str = "auto") -> str:
    """The log-rank test of all groups; life tables hold all that it needs."""
    if len(tables) < 2 or not tables.events.any():
        return ""
    outcome, weight, group = tables.rows()
    p_value = logrank_test(outcome, group, method=method, sample_weight=weight).p_value
    return f"log-rank p = {p_value:.2g}" if p_value >= 1e-4 else "log-rank p < 0.0001"


def _value_at(table: LifeTable, time: float) -> float:
    return float(np.append(1.0, table.survival)[np.searchsorted(table.time, time, side="right")])


def _name_curves(ax: Axes, curves: list[tuple[str, Any, float]]) -> None:
    """Write the name of each curve right of its end, moved up or down so that none covers another."""
    least = 1.25 * SMALL_SIZE / 72 / max(size_in_inches(ax)[1], 0.5)  # the height of a line, as a share of the axes
    wanted = sorted(((value, name, color) for name, color, value in curves), reverse=True, key=lambda curve: curve[0])
    places = np.array([value for value, *_ in wanted])
    for k in range(1, len(places)):
        places[k] = min(places[k], places[k - 1] - least)
    for k in range(len(places) - 1, -1, -1):  # those that were pushed below the axes push back
        lowest = 0.0 if k == len(places) - 1 else places[k + 1] + least
        places[k] = max(places[k], lowest)
    for place, (_, name, color) in zip(places, wanted):
        ax.annotate(name, (1.0, place), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points",
                    va="center", fontsize=SMALL_SIZE, color=ink_of(color), annotation_clip=False)  # fmt: skip


def _at_risk(tables: LifeTables, group: int, ticks: np.ndarray) -> list[str]:
    table = tables[group]
    later = np.searchsorted(table.time, ticks, side="left")
    return [short_number(number) for number in np.append(table.at_risk, 0.0)[later]]


def _room_below(ax: Axes, n_rows: int) -> Axes:
    """Split the place of the axes in two, and return new axes for a table in the lower one."""
    figure, height = figure_of(ax), size_in_inches(ax)[1]
    share = min(ROW_HEIGHT * n_rows / height, 0.7)
    spec = ax.get_subplotspec()
    if spec is not None:
        # A layout engine makes room for the axis label; without one the gap has to hold it.
        gap = 0.0 if figure.get_layout_engine() is not None else 2 * LABEL_HEIGHT / max(height - LABEL_HEIGHT, 0.1)
        parts = GridSpecFromSubplotSpec(2, 1, spec, height_ratios=[1 - share, share], hspace=gap)
        ax.set_subplotspec(parts[0])
        return ax.figure.add_subplot(parts[1])
    place = ax.get_position()
    gap = LABEL_HEIGHT / figure.get_figheight()
    ax.set_position((place.x0, place.y0 + share * place.height + gap, place.width, (1 - share) * place.height - gap))
    return ax.figure.add_axes((place.x0, place.y0, place.width, share * place.height))


def _draw_table(ax: Axes, rows: list[tuple[str, Any, list[str]]], ticks: np.ndarray, last: float) -> None:
    size = min(SMALL_SIZE, 0.72 * 72 * size_in_inches(ax)[1] / (len(rows) + 1))
    ax.set(xlim=(0, last), ylim=(len(rows) + 1, 0))
    ax.set_axis_off()
    look: dict[str, Any] = {"fontsize": size, "va": "center", "clip_on": False}
    side = ax.get_yaxis_transform()
    ax.text(0.0, 0.5, "at risk", transform=side, ha="left", color=GREY, **look)
    # The first counts are centred on time 0; the names end left of the longest of them.
    aside = -(0.33 * max(len(counts[0]) for _, _, counts in rows) + 1.0) * size
    for number, (name, color, counts) in enumerate(rows, start=1):
        ax.annotate(name, (0.0, number + 0.5), xycoords=side, xytext=(aside, 0), textcoords="offset points", ha="right",
                    color=ink_of(color), **look)  # fmt: skip
        for tick, count in zip(ticks, counts):
            ax.text(tick, number + 0.5, count, ha="center", color=INK, **look)
