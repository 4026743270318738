"""`plot_calibration`: predicted against observed survival."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.stats import norm

from dipolar.parameters import check_share
from dipolar.plotting.style import BLUE, GREY, INK, SMALL_SIZE, make_axes, plain_axes, quiet

__all__ = ["plot_calibration"]

COLUMNS = ("predicted", "observed", "std_error", "n_samples")
LARGEST = 120.0  # area of the dot of the largest group, in square points


def plot_calibration(curve: pd.DataFrame, *, ax: Axes | None = None, level: float = 0.95) -> Axes:
    """Draw predicted survival probabilities against Kaplan-Meier estimates, group by group.

    The area of a dot grows with its group, and bars are confidence limits of the estimate. On the diagonal the
    predictions are right; below it they are too optimistic.

    Parameters
    ----------
    curve : DataFrame
        What :func:`dipolar.metrics.calibration_curve` returned. Groups that were not followed up to its time have no
        estimate; they are left out, and the title says how many.
    ax : Axes, default=None
        Where to draw; None makes a figure.
    level : float, default=0.95
        Level of the confidence limits.

    Returns
    -------
    ax : Axes
    """
    if not isinstance(curve, pd.DataFrame):
        raise TypeError(
            f"curve should be what dipolar.metrics.calibration_curve returned, got a {type(curve).__name__}. Of a "
            "model, pass calibration_curve(y, model.predict_survival_function(X), time)."
        )
    missing = [name for name in COLUMNS if name not in curve]
    if missing or not len(curve):
        fault = f"the columns {missing} are missing" if missing else "it has no rows"
        raise ValueError(f"curve should be what dipolar.metrics.calibration_curve returned; {fault}.")
    half = norm.ppf(0.5 + check_share("level", level, hint="0.95 is common.") / 2)
    known = curve[np.isfinite(curve["observed"])]
    ax = make_axes(ax, (4.2, 4.2))
    plain_axes(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    low = known["observed"] - np.maximum(known["observed"] - half * known["std_error"], 0)
    high = np.minimum(known["observed"] + half * known["std_error"], 1) - known["observed"]
    ax.errorbar(known["predicted"], known["observed"], [low, high], fmt="none", ecolor=BLUE, elinewidth=0.9, capsize=2,
                zorder=2)  # fmt: skip
    area = LARGEST * known["n_samples"] / curve["n_samples"].max()
    ax.scatter(known["predicted"], known["observed"], s=np.maximum(area, 8), color=BLUE, edgecolors="white",
               linewidths=0.6, zorder=3, clip_on=False)  # fmt: skip
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    quiet(ax, x="predicted survival", y="observed survival (Kaplan-Meier)")
    n_unknown = len(curve) - len(known)
    if n_unknown:
        groups = "1 group is" if n_unknown == 1 else f"{n_unknown} groups are"
        ax.set_title(f"{groups} not followed long enough", fontsize=SMALL_SIZE, color=INK)
    return ax
