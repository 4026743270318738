"""`plot_importance`: the covariates of a tree by their share in its log-rank statistics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from dipolar.parameters import check_number
from dipolar.plotting.glyphs import font_families, legible
from dipolar.plotting.style import BLUE, INK, SMALL_SIZE, make_axes, name_label, plain_axes, quiet
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.tree.export import covariate_names, fitted_record

__all__ = ["plot_importance"]

BAR_HEIGHT = 0.24  # inches


def plot_importance(
    tree: BaseSurvivalTree,
    *,
    ax: Axes | None = None,
    feature_names: Sequence[str] | None = None,
    max_features: int = 20,
) -> Axes:
    """Draw `feature_importances_` as bars, the largest on top; covariates that no split uses are counted below.

    Parameters
    ----------
    tree : fitted survival tree
    ax : Axes, default=None
        Where to draw; None makes a figure.
    feature_names : sequence of str, default=None
        Names of the covariates; None takes those of the training data.
    max_features : int, default=20
        How many covariates to draw at most.

    Returns
    -------
    ax : Axes
    """
    fitted_record(tree)
    names = covariate_names(tree, feature_names)
    most = int(check_number("max_features", max_features, low=1, whole=True, hint="It is a number of bars."))
    shares = tree.feature_importances_
    n_used = int(np.count_nonzero(shares)) or len(shares)
    shown = np.argsort(-shares, kind="stable")[: min(most, n_used)]
    ax = make_axes(ax, (5.2, 0.9 + BAR_HEIGHT * len(shown)))
    plain_axes(ax)
    bars = ax.barh(range(len(shown)), shares[shown], color=BLUE, height=0.68)
    ax.bar_label(bars, [f"{100 * share:.1f}%" for share in shares[shown]], padding=3, fontsize=SMALL_SIZE, color=INK)
    labels = [name_label(names[column], 36) for column in shown]
    ax.set_yticks(range(len(shown)), labels=[legible(label) for label in labels])
    for label, tick in zip(labels, ax.get_yticklabels()):
        tick.set_fontfamily(font_families(label))
    ax.set(xlim=(0, 1.14 * max(float(shares.max()), 0.01)), ylim=(len(shown) - 0.4, -0.6))
    ax.tick_params(axis="y", length=0)
    quiet(ax, x="share of the log-rank statistics" + _left_out(n_used - len(shown), len(shares) - n_used))
    return ax


def _left_out(n_smaller: int, n_unused: int) -> str:
    """Say how many covariates are not drawn, and why."""
    counts = [f"{n_smaller} smaller"] * (n_smaller > 0) + [f"{n_unused} without any"] * (n_unused > 0)
    return f"\n(not shown: {', '.join(counts)})" if counts else ""
