"""`plot_kappa_path` and `plot_pruning_path`: scores along the choices that a tree offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from dipolar.plotting.glyphs import legible
from dipolar.plotting.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SERIES,
    SMALL_SIZE,
    check_axes,
    make_axes,
    plain_axes,
    quiet,
)
from dipolar.tree.described import describe
from dipolar.tree.estimator import BaseSurvivalTree

__all__ = ["plot_kappa_path", "plot_pruning_path"]

MEAN, SPREAD, NEGATED = "mean_test_", "std_test_", "neg_"

# Values of eta from which on spreads are bands.
MOST_BARS = 12

# What the scorers of dipolar.metrics are called on an axis.
SCORE_LABELS = {
    "concordance": "concordance (higher is better)",
    "concordance_exclude": "concordance, ties left out (higher is better)",
    "concordance_paper": "concordance, paper's (higher is better)",
    "concordance_ipcw": "Uno's concordance (higher is better)",
    "auc": "mean AUC (higher is better)",
    "neg_ibs": "integrated Brier score (lower is better)",
    "neg_ibs_paper": "integrated Brier score, paper's (lower is better)",
    "neg_ibs_authors": "integrated Brier score, authors' (lower is better)",
}


def plot_kappa_path(
    cv_results: Any,
    *,
    scores: Sequence[str] | None = None,
    ax: Axes | Sequence[Axes] | None = None,
) -> np.ndarray:
    """Draw cross-validated scores over eta = log(kappa), one line per kernel, one panel per score.

    Error bars are one standard deviation over the folds, bands where bars would stand too close, and a ring marks the
    best eta of each kernel. Scores whose names begin with `neg_` are drawn with their sign turned, so that a Brier
    score reads as one.

    Parameters
    ----------
    cv_results : SurvivalTreeCV, GridSearchCV, or a table
        A fitted search, its `cv_results_`, or any table with the columns `eta` or `kappa`, `kernel` if there are
        several, and `mean_test_<score>` and `std_test_<score>` for each score. Parameters may be called as searches
        call them: `svm__kappa`, `param_svm__kappa`. Of several candidates with one kernel and eta, of other depths for
        example, the best one by the first score is drawn.
    scores : sequence of str, default=None
        Which scores; None takes all that the columns name.
    ax : Axes or sequence of Axes, default=None
        One for each score. None makes a figure with a panel for each.

    Returns
    -------
    axes : ndarray of Axes
        One per score.
    """
    results = _table(cv_results)
    names = _score_names(results, scores)
    results = _best_of_each(results, names[0])
    axes = _panels(ax, len(names))
    for panel, name in zip(axes, names):
        plain_axes(panel)
        _draw_score(panel, results, name)
    if results["kernel"].iloc[0] != "":
        outside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
        axes[-1].legend(frameon=False, fontsize=SMALL_SIZE, title="kernel", title_fontsize=SMALL_SIZE, **outside)
    return axes


def plot_pruning_path(tree: BaseSurvivalTree, *, ax: Axes | None = None) -> Axes:
    """Draw the log-rank statistics of the nested subtrees of a tree over their sizes, and the one that was taken.

    Drawn are the sum over the splits on the rows that grew the tree; where the pruning rule judged honestly, the sum
    on held-out rows or corrected by the bootstrap; and, under a pruning rule, what the rule maximises: the sum less the
    price `alpha` of each split.

    Parameters
    ----------
    tree : fitted survival tree
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    ax : Axes
    """
    tree = describe(tree).tree
    path = tree.pruning_path_
    ax = make_axes(ax, (5.6, 3.6))
    plain_axes(ax)
    judged, label = path.statistics, "on training rows"
    _draw_path(ax, path.n_leaves, judged, 0, label)
    if np.isfinite(path.honest_statistics).any():
        judged = path.honest_statistics
        label = "on held-out rows" if tree.pruning == "validation" else "corrected by bootstrap"
        _draw_path(ax, path.n_leaves, judged, 1, label)
    if tree.pruning is not None:
        worth = judged - tree.alpha * path.n_splits
        judged, label = worth, f"less {tree.alpha:g} per split"
        _draw_path(ax, path.n_leaves, worth, 2, label)
    taken = path.n_leaves[tree.member_]
    ax.axvline(taken, color=GREY, linewidth=0.8, linestyle=(0, (2, 2)), zorder=0)
    ax.plot(taken, judged[tree.member_], "o", markersize=10, markerfacecolor="none", markeredgecolor="black",
            label=f"taken: {taken:g} {'leaf' if taken == 1 else 'leaves'}", zorder=4)  # fmt: skip
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(*_padded(path.n_leaves))
    quiet(ax, x="number of leaves", y="sum of log-rank chi-squares")
    ax.legend(frameon=False, fontsize=SMALL_SIZE, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def _table(cv_results: Any) -> pd.DataFrame:
    """Return a search or its table as a DataFrame with the columns `eta` and `kernel`; "" is one kernel for all."""
    table = getattr(cv_results, "cv_results_", cv_results)
    if not isinstance(table, pd.DataFrame | Mapping):
        raise TypeError(
            f"cv_results should be a fitted search or its table, got a {type(cv_results).__name__}. "
            "SurvivalTreeCV(...).fit(X, y) is such a search."
        )
    results = pd.DataFrame(table)
    kernel, kappa = (_tuned(results, name) for name in ("kernel", "kappa"))
    if "eta" not in results and kappa is not None:
        results = results.assign(eta=np.log(results[kappa].astype(float)))
    return results.assign(kernel="" if kernel is None else results[kernel])


def _tuned(results: pd.DataFrame, name: str) -> str | None:
    """Return the column of a parameter, which may be one of a tree's machine: `kappa`, `param_svm__kappa`."""
    names = [str(column) for column in results.columns]
    return next((column for column in names if column.removeprefix("param_").split("__")[-1] == name), None)


def _best_of_each(results: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return one row for every kernel and eta: the one with the best mean, and the first where all are NaN."""
    ranked = results.sort_values(MEAN + name, ascending=False, kind="stable", na_position="last")
    return ranked.drop_duplicates(["kernel", "eta"]).sort_index()


def _score_names(results: pd.DataFrame, scores: Sequence[str] | None) -> list[str]:
    found = [column.removeprefix(MEAN) for column in results.columns.astype(str) if column.startswith(MEAN)]
    if isinstance(scores, str):
        raise TypeError(f"scores should be a list of names, got the text {scores!r}. Pass [{scores!r}].")
    names = found if scores is None else list(scores)
    wanted = {"eta", *(MEAN + name for name in names), *(SPREAD + name for name in names)}
    missing = sorted(wanted - set(results.columns.astype(str)))
    if missing or not names or not len(results):
        raise ValueError(
            "cv_results should have rows and the columns eta or kappa, mean_test_<score> and std_test_<score>; "
            f"missing are {missing or ('scores' if len(results) else 'rows')}, and its scores are {found}."
        )
    return names


def _panels(ax: Any, n_panels: int) -> np.ndarray:
    if ax is None:
        size = (4.1 * n_panels + 0.9, 3.4)
        return plt.subplots(1, n_panels, figsize=size, layout="constrained", squeeze=False)[1][0]
    axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if len(axes) != n_panels:
        raise ValueError(
            f"ax should hold one Axes for each of the {n_panels} scores, got {len(axes)}. scores= chooses fewer."
        )
    for one in axes:
        check_axes(one)
    return axes


def _draw_score(ax: Axes, results: pd.DataFrame, name: str) -> None:
    kernels = list(dict.fromkeys(results["kernel"]))
    etas = np.unique(results["eta"].to_numpy(float))
    step = np.diff(etas).min() if len(etas) > 1 else 1.0
    sign = -1.0 if name.startswith(NEGATED) else 1.0
    for number, kernel in enumerate(kernels):
        rows = results[results["kernel"] == kernel].sort_values("eta")
        eta, mean, spread = (rows[column].to_numpy(float) for column in ("eta", MEAN + name, SPREAD + name))
        look = SERIES[number % len(SERIES)]
        line: dict[str, Any] = {"label": legible(str(kernel)), "linewidth": 1.4, "markersize": 4.5, **look}
        if len(etas) > MOST_BARS:
            ax.fill_between(
                eta, sign * mean - spread, sign * mean + spread, color=look["color"], alpha=0.14, linewidth=0
            )
            ax.plot(eta, sign * mean, **line)
        else:
            # Side by side, so that no bar hides another.
            eta = eta + 0.12 * step * (number - (len(kernels) - 1) / 2) / max(len(kernels) / 3, 1)
            ax.errorbar(eta, sign * mean, spread, capsize=2, elinewidth=0.8, **line)
        if np.isfinite(mean).any():
            best = np.nanargmax(mean)
            ax.plot(eta[best], sign * mean[best], "o", markersize=10, markerfacecolor="none",
                    markeredgecolor=look["color"], zorder=4)  # fmt: skip
    label = SCORE_LABELS.get(name, name.removeprefix(NEGATED))
    quiet(ax, x="eta = log(kappa)", y=label)


def _draw_path(ax: Axes, n_leaves: np.ndarray, values: np.ndarray, number: int, label: str) -> None:
    color, marker = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "D"))[number]
    ax.plot(n_leaves, values, color=color, marker=marker, markersize=3.5, linewidth=1.4, label=label)


def _padded(values: np.ndarray) -> tuple[float, float]:
    pad = max(0.04 * float(values.max() - values.min()), 0.5)
    return float(values.min()) - pad, float(values.max()) + pad
