"""`plot_tree`: the whole tree with a survival curve in every leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from dipolar.curves import LifeTable
from dipolar.parameters import check_choice, check_share
from dipolar.plotting.curves import draw_band, draw_curve, short_number
from dipolar.plotting.glyphs import GLUE
from dipolar.plotting.style import (
    GREY,
    INK,
    TEXT_SIZE,
    check_axes,
    check_label,
    figure_of,
    ink_of,
    ordered_colors,
    plain_axes,
    round_ticks,
    size_in_inches,
)
from dipolar.plotting.surface_picture import SurfacePictures
from dipolar.plotting.text_fit import POINTS, SMALLEST, Box, Ruler, draw_text, fit_text, place_text
from dipolar.plotting.tree_layout import (
    LONG_RULE,
    PICTURE,
    TreeLayout,
    TreeShape,
    lay_out_down,
    lay_out_right,
    preferred_size,
    shape_of,
)
from dipolar.tree.described import describe
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.tree.export import depth_limit, leaves_below
from dipolar.tree.frame import node_tables
from dipolar.tree.record import Tree
from dipolar.tree.rules import Condition, shorten
from dipolar.tree.surfaces import Surfaces

__all__ = ["plot_tree"]

ORIENTATIONS = ("auto", "down", "right")

# Trees with more leaves are drawn from left to right: curves in one column need less room than in one row.
MOST_LEAVES_DOWN = 10

# Around the tree in a figure of its own, in inches.
MARGIN = 0.1

# Width over height of a split that is drawn.
PICTURE_SHAPE = 1.7

# Characters that a name may have before levels are set farther apart.
LONG_NAME = 30

# Lengths of rules that are tried, the fullest first.
RULE_WIDTHS = (160, 110, 80, 60, 45, 32, 24, 16, 10)


def plot_tree(
    tree: Any,
    *,
    ax: Axes | None = None,
    feature_names: Sequence[str] | None = None,
    max_depth: int | None = None,
    orientation: str = "auto",
    time_label: str = "time",
    level: float = 0.95,
    X: Any = None,
) -> Axes:
    """Draw a tree: the rule of every split, and the Kaplan-Meier curve of every leaf with its confidence band.

    A row for which the rule holds goes the way marked "yes". Leaves are coloured by risk, from dark (low) to light
    (high), with the colours of :func:`plot_leaf_curves` and :func:`plot_split_surface`. Under each curve stand
    the number of rows, the events and the median survival time; "(1 row left)" marks a median that rests on one row. As
    in :func:`plot_leaf_curves`, curves and bands are optimistic: they are made of the rows that grew the tree.

    Parameters
    ----------
    tree : fitted survival tree, or pipeline of a CovariateEncoder and one
    ax : Axes, default=None
        Where to draw; text is set smaller where the axes are small, and left out below 2 points. None makes a figure
        as large as the tree needs.
    feature_names : sequence of str, default=None
        Names of the covariates; None takes those of the training data.
    max_depth : int, default=None
        How many levels of splits to draw; a branch below is drawn as one leaf with the curve of all its rows.
    orientation : {"auto", "down", "right"}, default="auto"
        Where the leaves are: in a row at the bottom, or in a column on the right, which "auto" takes from 11 leaves on.
    time_label : str, default="time"
        What the time axis says, for example "days".
    level : float, default=0.95
        Level of the pointwise confidence bands (log-log, Greenwood's variance).
    X : array-like of shape (n_samples, 2), default=None
        Rows for small pictures of the splits instead of their rules; for trees on two covariates.

    Returns
    -------
    ax : Axes
        The axes, in which one unit is an inch; the curves are on its child axes.

    Examples
    --------
    >>> from dipolar import LogRankSurvivalTree
    >>> from dipolar.datasets import load_whas500
    >>> from dipolar.plotting import plot_tree
    >>> tree = LogRankSurvivalTree(max_depth=2).fit(*load_whas500(return_X_y=True))
    >>> ax = plot_tree(tree, time_label="days")
    >>> ax.figure.savefig("tree.pdf")  # doctest: +SKIP
    """
    (tree, names, _), limit = describe(tree, feature_names), depth_limit(max_depth)
    record = tree.tree_
    check_choice("orientation", orientation, ORIENTATIONS)
    check_share("level", level, hint="0.95 is common.")
    time_label = check_label("time_label", time_label)
    pictures = None if X is None else SurfacePictures(tree, names, X)

    shape = shape_of(record, limit)
    if orientation == "auto":
        orientation = "down" if len(shape.ends) <= MOST_LEAVES_DOWN else "right"
    wanted = preferred_size(shape, orientation, _room_for_splits(record, names, pictures))
    ax, size = _canvas(ax, wanted)
    lay_out = lay_out_down if orientation == "down" else lay_out_right
    layout = lay_out(shape, record, *size)

    ruler = Ruler(figure_of(ax))
    font = TEXT_SIZE * min(1.0, size[0] / wanted[0], size[1] / wanted[1])
    _draw_lines(ax, layout)
    if pictures is None:
        _draw_splits(ax, ruler, layout, tree, names, font)
    else:
        _draw_pictures(ax, ruler, layout, tree, pictures, font)
    _draw_answers(ax, ruler, layout, tree, font)
    _draw_leaves(ax, ruler, layout, _leaves(tree, shape), _end_of_axis(tree), level, font, orientation)
    place_text(ax, ruler, layout.time_label, [time_label, shorten(time_label, 12)], size=font, smallest=0.7 * font)
    if layout.survival_label is not None and font > SMALLEST:
        ax.text(*layout.survival_label.middle, "survival", rotation=90, fontsize=0.9 * font, color=INK, ha="center",
                va="center", in_layout=False)  # fmt: skip
    return ax


def _room_for_splits(record: Tree, names: Sequence[str], pictures: SurfacePictures | None) -> float:
    """What each level needs more than a short rule does."""
    if pictures is not None:
        return PICTURE
    is_long = isinstance(record.splits, Surfaces) or max(map(len, names)) > LONG_NAME
    return LONG_RULE if is_long else 0.0


@dataclass(frozen=True)
class Leaf:
    """What is shown of a leaf, or of a branch that is drawn as one."""

    node: int
    title: str
    table: LifeTable
    sizes: list[str]  # rows and events, shorter and shorter
    color: Any


def _leaves(tree: BaseSurvivalTree, shape: TreeShape) -> list[Leaf]:
    record, tables = tree.tree_, node_tables(tree.tree_)
    hazards = [float(_hazard_sum(tables[node], tree.event_times_)) for node in shape.ends]
    return [
        Leaf(
            node,
            f"leaf {node}" if record.left[node] < 0 else f"{leaves_below(record, node)} leaves",
            tables[node],
            _sizes(record, node),
            color,
        )
        for node, color in zip(shape.ends, ordered_colors(hazards))
    ]


def _hazard_sum(table: LifeTable, times: np.ndarray) -> float:
    return float(np.sum(table.cumulative_hazard_function()(times)))


def _canvas(ax: Axes | None, wanted: tuple[float, float]) -> tuple[Axes, tuple[float, float]]:
    """Return axes whose data units are inches, and their size."""
    if ax is None:
        whole = wanted[0] + 2 * MARGIN, wanted[1] + 2 * MARGIN
        place = MARGIN / whole[0], MARGIN / whole[1], wanted[0] / whole[0], wanted[1] / whole[1]
        ax, size = plt.figure(figsize=whole).add_axes(place), wanted
    else:
        size = size_in_inches(check_axes(ax))
    ax.set(xlim=(0, size[0]), ylim=(0, size[1]))
    ax.set_axis_off()
    return ax, size


def _draw_lines(ax: Axes, layout: TreeLayout) -> None:
    for line in layout.lines:
        ax.plot(*np.array(line).T, color="0.6", linewidth=1.0, solid_joinstyle="round", zorder=1, clip_on=False)


def _draw_splits(
    ax: Axes, ruler: Ruler, layout: TreeLayout, tree: BaseSurvivalTree, names: Sequence[str], font: float
) -> None:
    """Write the rules, each into a frame that is no larger than it takes."""
    record = tree.tree_
    for node, box in layout.rules.items():
        inside = _padded(box)
        foot, body = _foot_and_body(inside)
        rule = fit_text(ruler, body, _rules(tree, node, names), size=font, smallest=0.82 * font)
        size = fit_text(ruler, foot, _sizes(record, node), size=0.82 * font, smallest=0.7 * font)
        width, height = max(rule.width, size.width), rule.height + size.height + 0.3 * font / POINTS
        frame = box.shrunk(max(inside.width - width, 0.0) / 2, max(inside.height - height, 0.0) / 2)
        ax.add_patch(_frame(frame))
        inside = _padded(box, frame)
        draw_text(ax, inside, rule, vertical="top")
        draw_text(ax, inside, size, vertical="bottom", color=GREY)


def _draw_pictures(
    ax: Axes, ruler: Ruler, layout: TreeLayout, tree: BaseSurvivalTree, pictures: SurfacePictures, font: float
) -> None:
    """Draw the splits of a tree on two covariates."""
    for node, box in layout.rules.items():
        box = box.shrunk(max(box.width - PICTURE_SHAPE * box.height, 0.0) / 2, 0.0)
        ax.add_patch(_frame(box))
        foot, body = _foot_and_body(_padded(box))
        pictures.draw(ax, ruler, node, body, font)
        place_text(ax, ruler, foot, _sizes(tree.tree_, node), size=0.82 * font, smallest=0.7 * font, color=GREY)


def _padded(box: Box, frame: Box | None = None) -> Box:
    """What may be written on inside a frame; the padding depends on the box that the frame was shrunk from."""
    return (frame or box).shrunk(min(0.08, 0.05 * box.width), min(0.05, 0.06 * box.height))


def _foot_and_body(inside: Box) -> tuple[Box, Box]:
    foot = Box(inside.left, inside.bottom, inside.width, min(0.28 * inside.height, 0.17))
    return foot, Box(inside.left, foot.top, inside.width, inside.height - foot.height)


def _rules(tree: BaseSurvivalTree, node: int, names: Sequence[str]) -> Iterator[str]:
    """The rule, shorter and shorter; a line may end between its parts only."""
    for asked in dict.fromkeys(tree.tree_.splits.condition(node, names, width) for width in RULE_WIDTHS):
        *parts, last = asked.parts
        end = Condition((last,), "≤" if asked.sign == "<=" else asked.sign, asked.bound)
        yield " ".join(str(part).replace(" ", GLUE) for part in (*parts, end))


def _draw_answers(ax: Axes, ruler: Ruler, layout: TreeLayout, tree: BaseSurvivalTree, font: float) -> None:
    for child, box in layout.answers.items():
        is_left = tree.tree_.left[tree.tree_.parent[child]] == child
        sideways = box.width > 1.6 * box.height and len(layout.with_time_ticks) == 1
        align = "left" if sideways or not is_left else "right"
        place_text(
            ax, ruler, box, "yes" if is_left else "no", size=0.82 * font, align=align, color=GREY,
            vertical="center",
        )  # fmt: skip


def _draw_leaves(
    ax: Axes,
    ruler: Ruler,
    layout: TreeLayout,
    leaves: list[Leaf],
    last_time: float,
    level: float,
    font: float,
    orientation: str,
) -> None:
    tick = _last_tick(last_time)
    align = "center" if orientation == "down" else "left"
    for leaf in leaves:
        box = layout.panels[leaf.node]
        panel = ax.inset_axes((box.left, box.bottom, box.width, box.height), transform=ax.transData)
        panel.set_in_layout(False)
        plain_axes(panel, size=0.78 * font)
        panel.axhline(0.5, color="0.85", linewidth=0.6, zorder=0)
        draw_band(panel, leaf.table, leaf.color, level)
        draw_curve(panel, leaf.table, leaf.color, linewidth=1.5, zorder=3, clip_on=False)  # also along the axes
        panel.set(xlim=(0, last_time), ylim=(0, 1.03), xticks=[0, tick], yticks=[0, 0.5, 1])
        _label_ticks(panel, leaf.node in layout.with_time_ticks, leaf.node in layout.with_survival_ticks)
        median = leaf.table.median()
        told = f"median {short_number(median)}" if np.isfinite(median) else "median not reached"
        told += " (1 row left)" if leaf.table.median_rests_on_one else ""
        captions = [f"{size}\n{told}" for size in leaf.sizes]
        look: dict[str, Any] = {"size": 0.9 * font, "smallest": 0.75 * font, "align": align}
        place_text(
            ax, ruler, layout.headers[leaf.node], leaf.title, vertical="bottom", color=ink_of(leaf.color), **look
        )
        place_text(ax, ruler, layout.captions[leaf.node], captions, vertical="top", **look)


def _label_ticks(panel: Axes, with_time: bool, with_survival: bool) -> None:
    """Number the axes; the first and last time are set inside, where they cannot meet those of the next panel."""
    is_legible = panel.xaxis.get_tick_params()["labelsize"] > SMALLEST
    with_time, with_survival = with_time and is_legible, with_survival and is_legible
    panel.set_xticklabels(["0", short_number(panel.get_xticks()[-1])] if with_time else ["", ""])
    first, last = panel.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
    panel.set_yticklabels(["0", "", "1"] if with_survival else ["", "", ""])


def _end_of_axis(tree: BaseSurvivalTree) -> float:
    """The last time; an axis needs a length, also where everybody left at time 0."""
    return float(tree.unique_times_[-1]) or 1.0


def _last_tick(last_time: float) -> float:
    """A round time near the end of the axis."""
    return float(round_ticks(last_time, 3)[-1]) or last_time


def _sizes(record: Tree, node: int) -> list[str]:
    n, events = short_number(record.n_samples[node]), short_number(record.n_events[node])
    return [f"n = {n}, {events} events", f"n = {n}\n{events} events", f"{n}/{events}"]


def _frame(box: Box) -> FancyBboxPatch:
    rounding = min(0.06, 0.2 * box.height)
    inner = box.shrunk(rounding, rounding)
    return FancyBboxPatch(
        (inner.left, inner.bottom), inner.width, inner.height,
        boxstyle=f"round,pad={rounding},rounding_size={rounding}",
        facecolor="#F6F6F6", edgecolor=INK, linewidth=0.8, zorder=2, clip_on=False,
    )  # fmt: skip
