"""Kaplan-Meier curves as steps with bands."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from dipolar.curves import LifeTable
from dipolar.tree.confidence import confidence_limits

__all__ = ["draw_band", "draw_censorings", "draw_curve", "short_number"]


def draw_curve(ax: Axes, table: LifeTable, color: Any, **look: Any) -> Any:
    """Draw the curve from time 0 to the last follow-up time."""
    time = np.concatenate([[0.0], table.time])
    survival = np.concatenate([[1.0], table.survival])
    return ax.plot(time, survival, drawstyle="steps-post", color=color, solid_joinstyle="miter", **look)[0]


def draw_censorings(ax: Axes, table: LifeTable, color: Any) -> None:
    """Mark on the curve when rows were censored, by a short upright line."""
    when = table.censored > 0
    ax.plot(table.time[when], table.survival[when], linestyle="none", marker="|", markersize=4.5,
            markeredgewidth=0.8, color=color)  # fmt: skip


def draw_band(ax: Axes, table: LifeTable, color: Any, level: float, alpha: float = 0.22) -> None:
    """Fill the pointwise confidence limits, up to where the curve reaches 0."""
    lower, upper = (np.concatenate([[1.0], limit]) for limit in confidence_limits(table, level))
    time = np.concatenate([[0.0], table.time])
    ended = np.flatnonzero(np.isnan(lower))
    if len(ended):  # the last limits hold until the curve drops to 0
        lower[ended[0]], upper[ended[0]] = lower[ended[0] - 1], upper[ended[0] - 1]
        time, lower, upper = (values[: ended[0] + 1] for values in (time, lower, upper))
    ax.fill_between(time, lower, upper, step="post", color=color, alpha=alpha, linewidth=0)


def short_number(value: float) -> str:
    """Write a count or a time in at most about six characters."""
    return f"{value:.0f}" if 100 <= abs(value) < 1e6 else f"{value:.3g}"
