"""Draw the surfaces that DipoleSVM finds where the shape of the hazard is known, for several kappa.

Run `python examples/plot_split_detection.py`; it writes docs/images/split_detection.png and .svg.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

from dipolar import DipoleSVM
from dipolar.simulation import Simulation, simulate

IMAGES = Path(__file__).parent.parent / "docs" / "images"
N_ROWS = 180
SEED = 10  # a sample in which all six succeed; docs/svm.md says how often they do

# Colours that stay apart under the common kinds of colour blindness (Okabe and Ito), and a dash pattern each.
STYLES = (("#0072B2", (0, (1, 1))), ("#009E73", (0, (4, 1.5))), ("#D55E00", "solid"))
LOOK = {"font.size": 9, "axes.titlesize": 10, "svg.fonttype": "none", "svg.hashsalt": "dipolar"}

COMPACT = {"frameon": False, "handlelength": 2.1, "handletextpad": 0.4, "columnspacing": 1.0}


@dataclass(frozen=True)
class Panel:
    """One hazard and one kernel, with the settings of the paper's figure; the last eta is the paper's."""

    title: str
    design: str
    kernel: str
    margin_quantile: float
    etas: tuple[int, int, int] = (-6, -3, 3)


PANELS = (
    Panel("Linear hazard, linear kernel", "figure-planar", "linear", 0.40),
    Panel("Parabola, quadratic kernel", "figure-parabola", "quadratic", 0.20),
    Panel("Ellipse, quadratic kernel", "figure-ellipse", "quadratic", 0.23),
    Panel("Hyperbola, quadratic kernel", "figure-hyperbola", "quadratic", 0.23),
    Panel("Parabola, Gaussian kernel", "figure-parabola", "rbf", 0.20),
    Panel("Ellipse, Gaussian kernel", "figure-ellipse-gaussian", "rbf", 0.25, etas=(0, 3, 6)),
)


def main() -> None:
    plt.rcParams.update(LOOK)
    figure, axes = plt.subplots(2, 3, figsize=(10.2, 7.4), layout="constrained")
    for axis, panel in zip(axes.flat, PANELS):
        points = draw_panel(axis, panel)
    bar = figure.colorbar(points, ax=axes, shrink=0.6, aspect=35, pad=0.015, ticks=[0.02, 0.5, 0.98])
    bar.ax.set_yticklabels(["shortest", "median", "longest"])
    bar.set_label("observed time, by rank")
    figure.legend(handles=common_keys(), loc="outside lower center", ncols=3, frameon=False)
    IMAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(IMAGES / "split_detection.png", dpi=130)
    figure.savefig(IMAGES / "split_detection.svg", metadata={"Date": None})


def draw_panel(axis, panel: Panel):
    """Draw the rows, the level set of the true hazard that halves them, and the fitted surfaces."""
    sample = simulate(panel.design, N_ROWS, random_state=SEED)
    points = draw_rows(axis, sample)
    x1, x2, grid = make_grid(sample.X)
    above_median = sample.design.linear_predictor(grid) - np.median(sample.linear_predictor)
    axis.contour(x1, x2, above_median.reshape(x1.shape), levels=[0.0], colors="black", linewidths=1.1)
    for eta, (color, dashes) in zip(panel.etas, STYLES):
        scores = fit(panel, eta, sample).decision_function(grid)
        axis.contour(x1, x2, scores.reshape(x1.shape), levels=[0.0], colors=color, linestyles=[dashes], linewidths=2.2)
    keys = [
        Line2D([], [], color=color, linestyle=dashes, linewidth=2.2, label=rf"$\kappa = e^{{{eta}}}$")
        for eta, (color, dashes) in zip(panel.etas, STYLES)
    ]
    axis.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, **COMPACT)
    axis.set(title=panel.title, ylabel="$x_2$")
    axis.set_xlabel("$x_1$", labelpad=0)
    return points


def fit(panel: Panel, eta: float, sample: Simulation) -> DipoleSVM:
    svm = DipoleSVM(
        panel.kernel,
        kappa=np.exp(eta),
        pure_quantile=0.35,
        mixed_quantile=0.65,
        margin_quantile=panel.margin_quantile,
        init="quartile",
    )
    return svm.fit(sample.X, sample.y)


def draw_rows(axis, sample: Simulation):
    rank = np.argsort(np.argsort(sample.y["time"])) / (len(sample) - 1)
    look = {"vmin": 0, "vmax": 1, "edgecolors": "0.35", "linewidths": 0.4, "clip_on": False}
    for rows, marker, size in ((sample.y["event"], "o", 15), (~sample.y["event"], "^", 26)):
        points = axis.scatter(*sample.X[rows].T, c=rank[rows], s=size, marker=marker, **look)
    return points


def make_grid(X: np.ndarray, steps: int = 120) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A grid over the rows, as two matrices and as a list of points."""
    low, high = X.min(axis=0), X.max(axis=0)
    pad = 0.05 * (high - low)
    x1, x2 = np.meshgrid(*np.linspace(low - pad, high + pad, steps).T)
    return x1, x2, np.column_stack([x1.ravel(), x2.ravel()])


def common_keys() -> list[Line2D]:
    dot = {"linestyle": "none", "color": "0.6", "markeredgecolor": "0.35"}
    return [
        Line2D([], [], marker="o", markersize=4.5, label="event", **dot),
        Line2D([], [], marker="^", markersize=6, label="censored", **dot),
        Line2D([], [], color="black", linewidth=1.1, label="level of the true hazard that halves the rows"),
    ]


if __name__ == "__main__":
    main()
