"""Split detection: surfaces that the SVM finds where the shape of the hazard is known: `fig-splits`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.stats import rankdata

from dipolar import DipoleSVM
from dipolar.plotting.style import BLUE, GREEN, ORANGE
from dipolar.simulation import Simulation, simulate
from dipolar_reproduction.models import split_svm
from dipolar_reproduction.scores import rounded
from dipolar_reproduction.study import Results, Study, Unit
from dipolar_reproduction.table import Table, number
from dipolar_reproduction.trial import Stopwatch

N_ROWS = 180
FIGURE_SEED = 10  # a sample in which all six succeed; the table says how often they do

# A surface follows the shape of the hazard if it is told by the true hazard, with this area under the ROC curve, on
# which side of the surface a row lies.
FOUND = 0.9

# A dash pattern beside each colour.
STYLES: tuple[tuple[str, Any], ...] = ((BLUE, (0, (1, 1))), (GREEN, (0, (4, 1.5))), (ORANGE, "solid"))
LOOK: Any = {"font.size": 9, "axes.titlesize": 10}
COMPACT: dict[str, Any] = {"frameon": False, "handlelength": 2.1, "handletextpad": 0.4, "columnspacing": 1.0}


@dataclass(frozen=True)
class Panel:
    """One hazard and one kernel, with the settings of the paper's figure; the last eta is the paper's."""

    name: str
    title: str
    design: str
    kernel: str
    margin_quantile: float
    etas: tuple[int, int, int] = (-6, -3, 3)

    def fit(self, eta: float, sample: Simulation) -> DipoleSVM:
        """Return the surface of one value of eta."""
        return split_svm(self.kernel, eta, self.margin_quantile).fit(sample.X, sample.y)


PANELS = {
    panel.name: panel
    for panel in (
        Panel("linear", "Linear hazard, linear kernel", "figure-planar", "linear", 0.40),
        Panel("parabola", "Parabola, quadratic kernel", "figure-parabola", "quadratic", 0.20),
        Panel("ellipse", "Ellipse, quadratic kernel", "figure-ellipse", "quadratic", 0.23),
        Panel("hyperbola", "Hyperbola, quadratic kernel", "figure-hyperbola", "quadratic", 0.23),
        Panel("parabola-gaussian", "Parabola, Gaussian kernel", "figure-parabola", "rbf", 0.20),
        Panel("ellipse-gaussian", "Ellipse, Gaussian kernel", "figure-ellipse-gaussian", "rbf", 0.25, etas=(0, 3, 6)),
    )
}


class SplitFigure(Study):
    """Six panels of surfaces for several kappa, and how often the shape of the hazard is found in other samples."""

    name = "fig-splits"
    title = "Splits of rows with a known hazard"
    sources = tuple(PANELS)
    default_runs = 50

    def models_of(self, source: str) -> tuple[str, ...]:
        return (PANELS[source].kernel,)

    def settings(self) -> dict[str, Any]:
        panels = [[p.name, p.design, p.kernel, p.margin_quantile, list(p.etas)] for p in PANELS.values()]
        return {"rows": N_ROWS, "panels": panels}

    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        """Fit the surfaces of a panel to one sample, whose seed is its number."""
        watch, panel = Stopwatch(), PANELS[unit.source]
        with watch.stage("growing"):
            sample = simulate(panel.design, N_ROWS, random_state=seed + unit.replicate)
            sides = [panel.fit(eta, sample).decision_function(sample.X) >= 0 for eta in panel.etas]
        surfaces = [[eta, *_agreement(right, sample.linear_predictor)] for eta, right in zip(panel.etas, sides)]
        return {"surfaces": surfaces, "seconds": watch.record()}

    def tables(self, results: Results) -> list[Table]:
        frame = self.frame(results)
        rows = []
        for (panel, eta), group in frame.groupby(["panel", "eta"], sort=False):
            found = group["auc"] > FOUND
            share = group.loc[found, "long_lived_share"].mean()
            cells = [number(group["auc"].median(), 3), f"{found.sum()} of {len(group)}", number(share, 2)]
            rows.append([PANELS[str(panel)].title, f"{eta:g}", *cells])
        notes = [
            "AUC: how well the true hazard tells the two sides of the surface apart, 1/2 where a surface splits "
            f"nothing. Found: samples of {N_ROWS} rows with more than {FOUND:g}. Long-lived: mean share of rows on "
            "that side in them.",
        ]
        columns = ["panel", "eta", "median AUC", "found", "long-lived"]
        return [Table("surfaces", "How often the shape is found", columns, rows, notes)]

    def frame(self, results: Results) -> pd.DataFrame:
        rows = [
            [unit.source, unit.replicate, eta, auc, share]
            for unit, record in results.items()
            for eta, auc, share in record["surfaces"]
        ]
        return pd.DataFrame(rows, columns=["panel", "sample", "eta", "auc", "long_lived_share"])

    def figures(self, results: Results) -> dict[str, Callable[[], Figure]]:
        return {self.name: draw_splits}


def _agreement(right: np.ndarray, hazard: np.ndarray) -> tuple[float | None, float | None]:
    """Return the area under the ROC curve and the share of rows on the side of the smaller hazard."""
    n_right = int(right.sum())
    if n_right in (0, len(right)):
        return 0.5, None
    area = (rankdata(hazard)[right].sum() - n_right * (n_right + 1) / 2) / (n_right * (len(right) - n_right))
    long_lived = ~right if area >= 0.5 else right
    return rounded(max(area, 1 - area)), rounded(long_lived.mean())


# The figure.


def draw_splits() -> Figure:
    """Draw the six panels: rows of one sample, the level set of the true hazard that halves them, fitted surfaces."""
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=(10.2, 7.4), layout="constrained")
        axes = figure.subplots(2, 3)
        for axis, panel in zip(axes.flat, PANELS.values()):
            points = _draw_panel(axis, panel, simulate(panel.design, N_ROWS, random_state=FIGURE_SEED))
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
    keys = []
    for eta, (color, dashes) in zip(panel.etas, STYLES):
        scores = panel.fit(eta, sample).decision_function(grid)
        look: dict[str, Any] = {"colors": color, "linestyles": [dashes], "linewidths": 2.2}
        axis.contour(x1, x2, scores.reshape(x1.shape), levels=[0.0], **look)
        keys.append(Line2D([], [], color=color, linestyle=dashes, linewidth=2.2, label=rf"$\kappa = e^{{{eta}}}$"))
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
