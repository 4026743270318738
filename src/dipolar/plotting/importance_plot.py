"""`plot_importance`: how much each covariate matters to a tree or a forest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from sklearn.utils import Bunch

from dipolar.forest.estimator import BaseSurvivalForest
from dipolar.parameters import check_number
from dipolar.plotting.glyphs import font_families, legible
from dipolar.plotting.style import BLUE, GREY, INK, SMALL_SIZE, make_axes, name_label, plain_axes, quiet
from dipolar.tree.described import importances_by_column, parts_of
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.tree.names import check_names

__all__ = ["plot_importance"]

BAR_HEIGHT = 0.24  # inches

# What the forest loses, by the scoring that judged it, and when, by the kind of disturbance.
LOSSES = {"concordance": "loss of concordance", "brier": "growth of the integrated Brier score"}
DISTURBANCES = {"permute": "values shuffled", "negate": "values mirrored at their mean"}


def plot_importance(
    model: BaseSurvivalTree | BaseSurvivalForest | Bunch,
    *,
    ax: Axes | None = None,
    feature_names: Sequence[str] | None = None,
    max_features: int = 20,
) -> Axes:
    """Draw importances as bars, the largest on top; covariates that no split uses are counted below.

    Parameters
    ----------
    model : fitted survival tree or forest, or Bunch
        Of a tree or a forest `feature_importances_` is drawn, the shares in the log-rank statistics; of a pipeline of a
        CovariateEncoder and one of them, the sum for each column. What `forest.importance(X, y)` or scikit-learn's
        `permutation_importance` returned is drawn with the standard deviation over the repeats.
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
    found = _importances(model, feature_names)
    most = int(check_number("max_features", max_features, low=1, whole=True, hint="It is a number of bars."))
    n_used = int(np.count_nonzero(found.values)) or len(found.values)
    shown = np.argsort(-found.values, kind="stable")
    shown = shown[found.values[shown] != 0][:most] if found.values.any() else shown[:most]
    values, spread = found.values[shown], found.spread[shown]

    ax = make_axes(ax, (5.2, 0.9 + BAR_HEIGHT * len(shown)))
    plain_axes(ax)
    error = spread if spread.any() else None
    bars = ax.barh(range(len(shown)), values, xerr=error, color=BLUE, height=0.68,
                   error_kw={"elinewidth": 0.9, "ecolor": INK})  # fmt: skip
    texts = [found.text.format(value) for value in values]
    ax.bar_label(bars, texts, padding=3, fontsize=SMALL_SIZE, color=INK)
    labels = [name_label(found.names[column], 36) for column in shown]
    ax.set_yticks(range(len(shown)), labels=[legible(label) for label in labels])
    for label, tick in zip(labels, ax.get_yticklabels()):
        tick.set_fontfamily(font_families(label))
    low, high = min(float((values - spread).min()), 0.0), max(float((values + spread).max()), 0.0)
    room = (0.14 if low == 0 else 0.25) * max(high - low, 0.01)  # for the numbers beside the bars
    ax.set(xlim=(low - room if low < 0 else 0, high + room), ylim=(len(shown) - 0.4, -0.6))
    if low < 0:
        ax.axvline(0, color=GREY, linewidth=0.8, zorder=0)
        ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    quiet(ax, x=found.label + _left_out(n_used - len(shown), len(found.values) - n_used))
    return ax


@dataclass(frozen=True)
class _Importances:
    """What is drawn."""

    values: np.ndarray  # (n_features,)
    spread: np.ndarray  # (n_features,) standard deviations, 0 where there are none
    names: list[str]
    label: str  # of the axis
    text: str  # format of a value


def _importances(model: Any, feature_names: Sequence[str] | None) -> _Importances:
    if isinstance(parts_of(model)[1], BaseSurvivalTree | BaseSurvivalForest):
        names, shares = importances_by_column(model, feature_names)
        return _Importances(shares, np.zeros(len(shares)), names, "share of the log-rank statistics", "{:.1%}")
    if isinstance(model, Mapping) and "importances_mean" in model:
        values = np.asarray(model["importances_mean"], np.float64)
        spread = np.asarray(model.get("importances_std", np.zeros(len(values))), np.float64)
        names = check_names(model.get("feature_names") if feature_names is None else feature_names, len(values))
        loss, kind = LOSSES.get(str(model.get("scoring")), "loss of score"), model.get("kind", "permute")
        label = f"{loss}, {DISTURBANCES.get(kind, kind)}"
        largest = float(np.abs(values).max(initial=0.0))
        decimals = max(0, 2 - int(np.floor(np.log10(largest)))) if largest > 0 else 0
        return _Importances(values, spread, names, label, f"{{:.{decimals}f}}")
    raise TypeError(
        f"model should be a fitted survival tree or forest, or what forest.importance(X, y) returned, got a "
        f"{type(model).__name__}. Of another pipeline or search, pass the tree or forest inside it."
    )


def _left_out(n_smaller: int, n_unused: int) -> str:
    """Say how many covariates are not drawn, and why."""
    counts = [f"{n_smaller} smaller"] * (n_smaller > 0) + [f"{n_unused} without any"] * (n_unused > 0)
    return f"\n(not shown: {', '.join(counts)})" if counts else ""
