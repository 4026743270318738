"""`plot_split_surface`: the splits of a tree or of one SVM over two covariates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize, to_rgb
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from scipy.ndimage import binary_dilation, distance_transform_edt
from sklearn.utils.validation import check_is_fitted

from dipolar.kernels import is_precomputed
from dipolar.node_svm.svm import DipoleSVM
from dipolar.parameters import check_number
from dipolar.plotting.curves import short_number
from dipolar.plotting.glyphs import GLUE, font_families, legible
from dipolar.plotting.style import (
    BLUE,
    INK,
    ORANGE,
    RISK_MAP,
    RISK_RANGE,
    SMALL_SIZE,
    TEXT_SIZE,
    figure_of,
    make_axes,
    name_label,
    ordered_colors,
    plain_axes,
    quiet,
    size_in_inches,
)
from dipolar.plotting.text_fit import Ruler
from dipolar.survival import Survival, check_outcome
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.tree.export import covariate_names
from dipolar.validation import check_predict_data

__all__ = ["plot_split_surface"]

STEPS = 220
FEW_VALUES = 5
MOST_TOLD = 6  # covariates at their medians that the title names
MOST_LISTED = 12  # names in an error
TINT = 0.28  # how much of a leaf's colour its region has
DASHES = ("solid", (0, (5, 1.6)), (0, (2.5, 1.5)), (0, (1, 1.2)))


def plot_split_surface(
    model: BaseSurvivalTree | DipoleSVM,
    X: Any,
    y: Any,
    *,
    features: Sequence[str | int] | None = None,
    fixed: Mapping[str | int, float] | None = None,
    feature_names: list[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw where a tree or an SVM parts the plane of two covariates, and the rows on it.

    Rows are coloured by their time, dark for long, and are dots where the event was seen and triangles where the row
    was censored. Regions have the colours of the leaves in :func:`plot_tree`; lines show the splits, those near the
    root thickest. Other covariates are held at values that the title tells; the rows are drawn whatever their values
    there. Rows of a covariate with up to five values are moved a little apart.

    Parameters
    ----------
    model : fitted survival tree or DipoleSVM
    X : array-like of shape (n_samples, n_features)
        The rows to draw, with the columns that the model was fitted on.
    y : outcomes in any accepted form
    features : sequence of two names or column numbers, default=None
        The covariates on the axes; None takes the two most important ones of a tree, and the two of an SVM on two.
    fixed : mapping from name or column number to value, default=None
        Values of other covariates; those not given are held at their medians in X.
    feature_names : sequence of str, default=None
        Names of the covariates; None takes those of the training data.
    ax : Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    ax : Axes
    """
    _check_model(model)
    names = list(covariate_names(model, feature_names))
    outcome = check_outcome(y, require_event=False)
    plane = _make_plane(model, names, X, features, fixed)
    if len(outcome) != len(plane.rows):
        raise ValueError(f"X and y should have the same number of rows, got {len(plane.rows)} and {len(outcome)}.")

    ax = make_axes(ax, (5.6, 5.2))
    plain_axes(ax)
    parts = _tree_parts(model, plane) if isinstance(model, BaseSurvivalTree) else _svm_parts(model, plane)
    _draw_regions(ax, plane, parts)
    depths = _draw_lines(ax, plane, parts)
    _draw_rows(ax, plane, outcome)
    ax.set(xlim=plane.x1[0, [0, -1]], ylim=plane.x2[[0, -1], 0])
    quiet(ax, x=name_label(names[plane.columns[0]]), y=name_label(names[plane.columns[1]]))
    _write_title(ax, plane.held)
    _draw_keys(ax, depths)
    _name_regions(ax, parts)
    return ax


@dataclass(frozen=True)
class Plane:
    """A grid over two covariates, the rows, and what the other covariates are held at."""

    columns: tuple[int, int]
    x1: np.ndarray  # (STEPS, STEPS)
    x2: np.ndarray
    grid: np.ndarray | pd.DataFrame  # (STEPS ** 2, n_features), as the model wants it
    rows: np.ndarray  # (n_samples, 2)
    held: list[str]  # "name = value", with spaces that do not break


@dataclass(frozen=True)
class Parts:
    """Regions and lines on the grid."""

    region: np.ndarray  # (STEPS, STEPS) number of the region
    names: list[str]
    colors: list[Any]
    lines: dict[int, list[np.ndarray]]  # by depth: scores on the grid, NaN away from the node


def _check_model(model: Any) -> None:
    if not isinstance(model, BaseSurvivalTree | DipoleSVM):
        raise TypeError(
            f"model should be a fitted survival tree or DipoleSVM, got a {type(model).__name__}. Of a pipeline or a "
            "search, pass the tree inside it; of a forest, one of its trees, forest.tree(0), or the one that stands "
            "for it, forest.summary_tree(X, y).tree."
        )
    check_is_fitted(model)
    if isinstance(model, DipoleSVM) and is_precomputed(model.kernel):
        raise ValueError(
            "model has kernel='precomputed' and knows no covariates to draw. Pass the kernel as a function."
        )


def _make_plane(model: Any, names: list[str], X: Any, features: Any, fixed: Any) -> Plane:
    values = check_predict_data(model, X, allow_nan=True)
    columns = _choose_columns(model, names, features)
    for column in columns:
        if np.isnan(values[:, column]).all():
            raise ValueError(f"X has no value of {names[column]!r}, which is to be on an axis. Choose other features.")
    fixed_at = _fixed_values(names, columns, fixed)
    at = _held_values(model, names, values, columns, fixed_at)
    rows = np.column_stack([_spread_out(values[:, column]) for column in columns])
    low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    pad = 0.05 * np.where(high > low, high - low, 1.0)
    x1, x2 = np.meshgrid(*np.linspace(low - pad, high + pad, STEPS).T)
    grid: Any = np.tile(at, (x1.size, 1))
    grid[:, columns[0]], grid[:, columns[1]] = x1.ravel(), x2.ravel()
    if hasattr(model, "feature_names_in_"):
        grid = pd.DataFrame(grid, columns=model.feature_names_in_)
    return Plane(columns, x1, x2, grid, rows, _held_texts(model, names, at, columns, fixed_at))


def _spread_out(x: np.ndarray) -> np.ndarray:
    """Move the rows of a covariate with few values a little apart, in a fixed order: they would hide each other."""
    levels = np.unique(x[np.isfinite(x)])
    if not 2 <= len(levels) <= FEW_VALUES:
        return x
    golden = np.arange(len(x)) * 0.618034 % 1.0
    return x + 0.15 * np.diff(levels).min() * (golden - 0.5)


def _choose_columns(model: Any, names: list[str], features: Any) -> tuple[int, int]:
    if features is None:
        if len(names) == 2:
            return 0, 1
        if len(names) < 2 or not isinstance(model, BaseSurvivalTree):
            raise ValueError(
                f"features should name the two covariates to draw, of the {len(names)} that the model was fitted on."
            )
        first, second = np.argsort(-model.feature_importances_, kind="stable")[:2]
        return int(first), int(second)
    given = features if isinstance(features, Iterable) and not isinstance(features, str) else [features]
    columns = [_column(feature, names, "features") for feature in given]
    if len(columns) != 2 or columns[0] == columns[1]:
        raise ValueError(f"features should name two different covariates, got {features!r}.")
    return columns[0], columns[1]


def _column(feature: Any, names: list[str], argument: str) -> int:
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if isinstance(feature, Integral) and 0 <= int(feature) < len(names):
        return int(feature)
    raise ValueError(f"{argument} names {feature!r}, which is no covariate; there are {_listed(names)}.")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return f"{', '.join(map(repr, names[:MOST_LISTED]))}{more}"


def _fixed_values(names: list[str], columns: tuple[int, int], fixed: Any) -> dict[int, float]:
    """Return what a user holds other covariates at, by column."""
    if not isinstance(fixed, Mapping | None):
        raise TypeError(f"fixed should map names of covariates to values, got {fixed!r}. {{'age': 60}} is an example.")
    found: dict[int, float] = {}
    for feature, value in (fixed or {}).items():
        column = _column(feature, names, "fixed")
        if column in columns:
            raise ValueError(f"fixed names {feature!r}, which is on an axis. Fix other covariates, or change features.")
        if column in found:
            raise ValueError(f"fixed names {names[column]!r} twice, by name and by number. Leave one out.")
        is_missing = isinstance(value, float) and np.isnan(value)
        hint = "A tree that knows missing values takes NaN."
        found[column] = np.nan if is_missing else check_number(f"fixed[{feature!r}]", value, hint=hint)
    return found


def _held_values(
    model: Any, names: list[str], values: np.ndarray, columns: tuple[int, int], fixed: dict[int, float]
) -> np.ndarray:
    """Return the values at which covariates are held: those asked for, and medians."""
    at = np.full(len(names), np.nan)
    known = ~np.isnan(values).all(axis=0)
    at[known] = np.nanmedian(values[:, known], axis=0)
    at[list(fixed)] = list(fixed.values())
    unknown = [names[column] for column in np.flatnonzero(np.isnan(at)) if column not in columns]
    if unknown and not getattr(model, "_allow_nan", False):
        raise ValueError(
            f"{_listed(unknown)} cannot be held at a missing value: this model needs all covariates. Say in fixed "
            "what to hold them at."
        )
    return at


def _held_texts(
    model: Any, names: list[str], at: np.ndarray, columns: tuple[int, int], asked: dict[int, float]
) -> list[str]:
    """Say what the other covariates are held at: all that were asked for, and the most important ones of the rest."""
    shares = getattr(model, "feature_importances_", np.zeros(len(names)))
    others = [column for column in range(len(names)) if column not in columns]
    ranked = sorted(others, key=lambda column: (column not in asked, -shares[column]))
    told = sorted(ranked[: max(MOST_TOLD, len(asked))])
    values = ["missing" if np.isnan(at[column]) else f"{at[column]:.4g}" for column in told]
    texts = [f"{name_label(names[column], 30)}{GLUE}={GLUE}{value}" for column, value in zip(told, values)]
    n_untold = len(others) - len(told)
    untold = f"{n_untold}{GLUE}other{'s' if n_untold > 1 else ''}{GLUE}at{GLUE}the{GLUE}median"
    return [*texts, untold] if n_untold else texts


def _tree_parts(tree: BaseSurvivalTree, plane: Plane) -> Parts:
    record = tree.tree_
    grid = np.asarray(plane.grid, dtype=np.float64)
    shape = plane.x1.shape
    leaf = tree.tree_.leaf_of(grid).reshape(shape)
    passed = tree.decision_path(plane.grid).tocsc()
    lines: dict[int, list[np.ndarray]] = {}
    for node in np.flatnonzero(record.is_split):
        here = binary_dilation(passed[:, [node]].toarray().reshape(shape))
        scores = record.splits.score(grid, int(node)).reshape(shape)
        lines.setdefault(int(record.depth[node]), []).append(np.where(here, scores, np.nan))
    names = [f"leaf {node}" for node in record.leaves]
    return Parts(leaf, names, ordered_colors(tree.leaf_risk_), lines)


def _svm_parts(svm: DipoleSVM, plane: Plane) -> Parts:
    scores = svm.decision_function(plane.grid).reshape(plane.x1.shape)
    return Parts((scores >= 0).astype(int), ["left", "right"], [to_rgb(BLUE), to_rgb(ORANGE)], {0: [scores]})


def _draw_regions(ax: Axes, plane: Plane, parts: Parts) -> None:
    tints = [1 - TINT * (1 - np.array(to_rgb(color))) for color in parts.colors]
    ax.pcolormesh(
        plane.x1, plane.x2, parts.region, cmap=ListedColormap(tints), vmin=-0.5, vmax=len(tints) - 0.5,
        shading="nearest", rasterized=True, zorder=0,
    )  # fmt: skip


def _draw_lines(ax: Axes, plane: Plane, parts: Parts) -> list[int]:
    """Draw the splits, and return the depths of those that this plane meets."""
    met = set()
    for depth, surfaces in parts.lines.items():
        for scores in surfaces:
            # A split that is nowhere in this plane has no line, and contour would warn about it.
            if np.isfinite(scores).any() and np.nanmin(scores) < 0 < np.nanmax(scores):
                met.add(depth)
                ax.contour(plane.x1, plane.x2, np.ma.masked_invalid(scores), levels=[0.0], colors=INK, zorder=2,
                           linewidths=_line_width(depth), linestyles=[_dashes(depth)])  # fmt: skip
    return sorted(met)


def _dashes(depth: int) -> Any:
    return DASHES[min(depth, len(DASHES) - 1)]


def _line_width(depth: int) -> float:
    return max(2.4 - 0.6 * depth, 0.8)


def _draw_rows(ax: Axes, plane: Plane, outcome: Survival) -> None:
    """Draw the rows, the colour by the rank of the time, and a bar that tells times."""
    order = np.argsort(np.argsort(-outcome.time, kind="stable"), kind="stable") / max(len(outcome) - 1, 1)
    low, high = RISK_RANGE
    colors = mpl.colormaps[RISK_MAP](low + (high - low) * order)
    for rows, marker, size in ((outcome.event, "o", 16), (~outcome.event, "^", 23)):
        x, y = plane.rows[rows].T
        ax.scatter(x, y, c=colors[rows], s=size, marker=marker, edgecolors="white", linewidths=0.4,
                   zorder=3)  # fmt: skip
    bar_map = ListedColormap(mpl.colormaps[RISK_MAP](np.linspace(high, low, 128)))
    bar = ax.figure.colorbar(ScalarMappable(Normalize(0, 1), bar_map), ax=ax, shrink=0.7, aspect=28, pad=0.02)
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    bar.set_ticks(list(shares), labels=[short_number(time) for time in np.quantile(outcome.time, shares)])
    bar.ax.tick_params(labelsize=SMALL_SIZE)
    bar.set_label("observed time, by rank", fontsize=TEXT_SIZE, color=INK)
    bar.outline.set_visible(False)


def _write_title(ax: Axes, held: list[str]) -> None:
    """Say what the other covariates are held at, in as many lines as it takes."""
    if not held:
        return
    title = "where " + ", ".join(held)
    width = size_in_inches(ax)[0]
    lines = Ruler(figure_of(ax)).wrap(legible(title), 0.98 * width, SMALL_SIZE)
    ax.set_title("\n".join(lines), fontsize=SMALL_SIZE, color=INK, family=font_families(title))


def _draw_keys(ax: Axes, depths: list[int]) -> None:
    dot: dict[str, Any] = {"linestyle": "none", "color": "0.45", "markeredgecolor": "white"}
    keys = [
        Line2D([], [], marker="o", markersize=5, label="event", **dot),
        Line2D([], [], marker="^", markersize=6, label="censored", **dot),
    ]
    last = len(DASHES) - 1
    for depth in sorted({min(depth, last) for depth in depths}):
        deeper = " and deeper" if depth == last and max(depths) > last else ""
        label = "split" if depths == [0] else f"split at depth {depth}{deeper}"
        keys.append(Line2D([], [], color=INK, linewidth=_line_width(depth), linestyle=_dashes(depth), label=label))
    below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.11), "ncols": 3}
    ax.legend(handles=keys, **below, frameon=False, fontsize=SMALL_SIZE, handlelength=2.6, columnspacing=1.2)


def _name_regions(ax: Axes, parts: Parts) -> None:
    """Write names where a region is widest, if they fit there."""
    width, height = size_in_inches(ax)
    step = np.array([height, width]) * figure_of(ax).dpi / STEPS  # pixels between grid points
    for number, name in enumerate(parts.names):
        inside = np.pad(parts.region == number, 1)
        depth = distance_transform_edt(inside, sampling=step)[1:-1, 1:-1]
        row, column = np.unravel_index(np.argmax(depth), depth.shape)
        place = (column + 0.5) / STEPS, (row + 0.5) / STEPS
        text = ax.text(*place, name, transform=ax.transAxes, ha="center", va="center", fontsize=TEXT_SIZE, color=INK,
                       zorder=4, path_effects=[withStroke(linewidth=2.5, foreground="white")])  # fmt: skip
        box = text.get_window_extent()
        if depth[row, column] < 0.55 * np.hypot(box.width, box.height):
            text.remove()
