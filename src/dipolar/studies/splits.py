"""Split detection: surfaces that the SVM finds where the shape of the hazard is known: `fig-splits`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from dipolar.simulation import Simulation, simulate
from dipolar.studies.scores import rounded
from dipolar.studies.study import Study
from dipolar.studies.summary import Results
from dipolar.studies.table import Table, number
from dipolar.studies.unit import Unit
from dipolar.svm import DipoleSVM

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["N_ROWS", "PANELS", "Panel", "SplitFigure", "fit_panel"]

N_ROWS = 180
FIGURE_SEED = 10  # a sample in which all six succeed; the table says how often they do

# A surface follows the shape of the hazard if it is told by the true hazard, with this area under the ROC curve, on
# which side of the surface a row lies.
FOUND = 0.9


@dataclass(frozen=True)
class Panel:
    """One hazard and one kernel, with the settings of the paper's figure; the last eta is the paper's."""

    name: str
    title: str
    design: str
    kernel: str
    margin_quantile: float
    etas: tuple[int, int, int] = (-6, -3, 3)


PANELS = (
    Panel("linear", "Linear hazard, linear kernel", "figure-planar", "linear", 0.40),
    Panel("parabola", "Parabola, quadratic kernel", "figure-parabola", "quadratic", 0.20),
    Panel("ellipse", "Ellipse, quadratic kernel", "figure-ellipse", "quadratic", 0.23),
    Panel("hyperbola", "Hyperbola, quadratic kernel", "figure-hyperbola", "quadratic", 0.23),
    Panel("parabola-gaussian", "Parabola, Gaussian kernel", "figure-parabola", "rbf", 0.20),
    Panel("ellipse-gaussian", "Ellipse, Gaussian kernel", "figure-ellipse-gaussian", "rbf", 0.25, etas=(0, 3, 6)),
)


def fit_panel(panel: Panel, eta: float, sample: Simulation) -> DipoleSVM:
    """Return the surface of one value of eta."""
    svm = DipoleSVM(
        panel.kernel,
        kappa=math.exp(eta),
        pure_quantile=0.35,
        mixed_quantile=0.65,
        margin_quantile=panel.margin_quantile,
        init="quartile",
    )
    return svm.fit(sample.X, sample.y)


class SplitFigure(Study):
    """Six panels of surfaces for several kappa, and how often the shape of the hazard is found in other samples."""

    name = "fig-splits"
    title = "Splits of rows with a known hazard"
    default_runs = 50
    needs_figures = True

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(panel.name for panel in PANELS)

    def models_of(self, source: str) -> tuple[str, ...]:
        return (_panel(source).kernel,)

    def settings(self) -> dict[str, Any]:
        panels = [[p.name, p.design, p.kernel, p.margin_quantile, list(p.etas)] for p in PANELS]
        return {"rows": N_ROWS, "panels": panels}

    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        """Fit the surfaces of a panel to one sample, whose seed is its number."""
        start = time.perf_counter()
        panel = _panel(unit.source)
        sample = simulate(panel.design, N_ROWS, random_state=seed + unit.replicate)
        cells = []
        for eta in panel.etas:
            right = fit_panel(panel, eta, sample).decision_function(sample.X) >= 0
            cells.append([eta, *_judge(right, sample.linear_predictor)])
        return {"surfaces": cells, "seconds": {"growing": round(time.perf_counter() - start, 4)}}

    def tables(self, results: Results) -> list[Table]:
        frame = self.frame(results)
        rows = []
        for (panel, eta), group in frame.groupby(["panel", "eta"], sort=False):
            found = group["auc"] > FOUND
            share = group.loc[found, "long_lived_share"].mean()
            cells = [number(group["auc"].median(), 3), f"{found.sum()} of {len(group)}", number(share, 2)]
            rows.append([_panel(str(panel)).title, f"{eta:g}", *cells])
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
        return {"splits": _draw}


def _panel(name: str) -> Panel:
    return next(panel for panel in PANELS if panel.name == name)


def _judge(right: np.ndarray, hazard: np.ndarray) -> tuple[float | None, float | None]:
    """Return the area under the ROC curve and the share of rows on the side of the smaller hazard."""
    n_right = int(right.sum())
    if n_right in (0, len(right)):
        return 0.5, None
    area = (rankdata(hazard)[right].sum() - n_right * (n_right + 1) / 2) / (n_right * (len(right) - n_right))
    long_lived = ~right if area >= 0.5 else right
    return rounded(max(area, 1 - area)), rounded(long_lived.mean())


def _draw() -> Figure:
    from dipolar.studies.drawing.split_picture import draw_splits

    return draw_splits(FIGURE_SEED)
