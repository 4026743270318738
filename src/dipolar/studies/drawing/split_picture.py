"""The figure of split detection."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dipolar.plotting.style import BLUE, GREEN, ORANGE
from dipolar.simulation import Simulation, simulate
from dipolar.studies.splits import N_ROWS, PANELS, Panel, fit_panel

__all__ = ["draw_splits"]

# A dash pattern beside each colour.
STYLES: tuple[tuple[str, Any], ...] = ((BLUE, (0, (1, 1))), (GREEN, (0, (4, 1.5))), (ORANGE, "solid"))
LOOK: Any = {"font.size": 9, "axes.titlesize": 10}
COMPACT: dict[str, Any] = {"frameon": False, "handlelength": 2.1, "handletextpad": 0.4, "columnspacing": 1.0}


def draw_splits(seed: int) -> Figure:
    """Draw the six panels: rows of one sample, the level set of the true hazard that halves them, fitted surfaces."""
    with plt.rc_context(LOOK):
        figure, axes = plt.subplots(2, 3, figsize=(10.2, 7.4), layout="constrained")
        for axis, panel in zip(axes.flat, PANELS):
            points = _draw_panel(axis, panel, simulate(panel.design, N_ROWS, random_state=seed))
        bar = figure.colorbar(points, ax=axes, shrink=0.6, aspect=35, pad=0.015, ticks=[0.02, 0.5, 0.98])
        bar.ax.set_yticklabels(["shortest", "median", "longest"])
        bar.set_label("observed time, by rank")
        figure.legend(handles=_common_keys(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def _draw_panel(axis: Axes, panel: Panel, sample: Simulation) -> Any:
    points = _draw_rows(axis, sample)
    x1, x2, grid = _make_grid(sample.X)
    above_median = sample.design.linear_predictor(grid) - np.median(sample.linear_predictor)
    axis.contour(x1, x2, above_median.reshape(x1.shape), levels=[0.0], colors="black", linewidths=1.1)
    for eta, (color, dashes) in zip(panel.etas, STYLES):
        scores = fit_panel(panel, eta, sample).decision_function(grid)
        look: dict[str, Any] = {"colors": color, "linestyles": [dashes], "linewidths": 2.2}
        axis.contour(x1, x2, scores.reshape(x1.shape), levels=[0.0], **look)
    keys = [
        Line2D([], [], color=color, linestyle=dashes, linewidth=2.2, label=rf"$\kappa = e^{{{eta}}}$")
        for eta, (color, dashes) in zip(panel.etas, STYLES)
    ]
    axis.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, **COMPACT)
    axis.set(title=panel.title, ylabel="$x_2$")
    axis.set_xlabel("$x_1$", labelpad=0)
    return points


def _draw_rows(axis: Axes, sample: Simulation) -> Any:
    rank = np.argsort(np.argsort(sample.y["time"])) / (len(sample) - 1)
    look: dict[str, Any] = {"vmin": 0, "vmax": 1, "edgecolors": "0.35", "linewidths": 0.4, "clip_on": False}
    for rows, marker, size in ((sample.y["event"], "o", 15), (~sample.y["event"], "^", 26)):
        x1, x2 = sample.X[rows].T
        points = axis.scatter(x1, x2, c=rank[rows], s=size, marker=marker, **look)
    return points


def _make_grid(X: np.ndarray, steps: int = 120) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a grid over the rows, as two matrices and as a list of points."""
    low, high = X.min(axis=0), X.max(axis=0)
    pad = 0.05 * (high - low)
    x1, x2 = np.meshgrid(*np.linspace(low - pad, high + pad, steps).T)
    return x1, x2, np.column_stack([x1.ravel(), x2.ravel()])


def _common_keys() -> list[Line2D]:
    dot: dict[str, Any] = {"linestyle": "none", "color": "0.6", "markeredgecolor": "0.35"}
    return [
        Line2D([], [], marker="o", markersize=4.5, label="event", **dot),
        Line2D([], [], marker="^", markersize=6, label="censored", **dot),
        Line2D([], [], color="black", linewidth=1.1, label="level of the true hazard that halves the rows"),
    ]
