"""Where everything in a picture of a tree goes: boxes that never touch, whatever the tree.

Leaves stand side by side in slots of equal width, in the order in which the tree parts them; a split stands half-way
between its children. Two splits of the same depth are then at least two slots apart, and the line from a split down to
a leaf passes other splits at a distance of one and a half slots: boxes narrower than two slots touch nothing.

    down                                right

          [ rule ]                            slot 0 .......... leaf
        yes |  | no                    [ rule ]
      [ rule ]  \\                             [ rule ] -- leaf
        |   |    |                                   ` -- leaf
      leaf leaf leaf
"""

from __future__ import annotations

from dataclasses import dataclass

from dipolar.plotting.text_fit import Box
from dipolar.tree.record import Tree

__all__ = [
    "LONG_RULE",
    "PICTURE",
    "TreeLayout",
    "TreeShape",
    "lay_out_down",
    "lay_out_right",
    "preferred_size",
    "shape_of",
]

# Preferred sizes in inches.
DOWN_SLOT, DOWN_LEVEL, DOWN_LEAF, DOWN_MARGIN = 1.55, 0.95, 1.95, 0.45
RIGHT_SLOT, RIGHT_LEVEL, RIGHT_LEAF, RIGHT_MARGIN = 0.66, 1.8, 3.4, 0.5
PICTURE, LONG_RULE = 0.75, 0.22  # what a level needs more where splits are drawn, and where rules are long


@dataclass(frozen=True)
class TreeShape:
    """The nodes that are shown, and their places in slots and levels."""

    nodes: list[int]  # parents before children
    slot: dict[int, float]  # centre: leaves at 0.5, 1.5, ...
    depth: dict[int, int]
    ends: list[int]  # leaves, and splits whose branches are not shown, from left to right
    splits: list[int]
    n_levels: int


@dataclass(frozen=True)
class TreeLayout:
    """Boxes and lines of a picture, in inches."""

    rules: dict[int, Box]  # the most room that a split may take, around the same middle
    headers: dict[int, Box]  # name of a leaf
    panels: dict[int, Box]  # curve of a leaf
    captions: dict[int, Box]  # size and median of a leaf
    answers: dict[int, Box]  # "yes" or "no" on the way to a child
    lines: list[list[tuple[float, float]]]
    time_label: Box
    survival_label: Box | None  # upright, beside the first panel
    with_time_ticks: list[int]  # leaves that carry numbers on their axes
    with_survival_ticks: list[int]


def shape_of(tree: Tree, limit: float) -> TreeShape:
    """Place the nodes down to a depth in slots; deeper branches become one end each."""
    ends, splits, pending = [], [], [0]
    while pending:
        node = pending.pop()
        if tree.left[node] < 0 or tree.depth[node] >= limit:
            ends.append(node)
            continue
        splits.append(node)
        left = int(tree.left[node])
        pending += [left + 1, left]
    slot = {node: number + 0.5 for number, node in enumerate(ends)}
    for node in sorted(splits, reverse=True):
        left = int(tree.left[node])
        slot[node] = (slot[left] + slot[left + 1]) / 2
    nodes = sorted(slot)
    depth = {node: int(tree.depth[node]) for node in nodes}
    n_levels = 1 + max((depth[node] for node in splits), default=-1)
    return TreeShape(nodes, slot, depth, ends, sorted(splits), n_levels)


def preferred_size(shape: TreeShape, orientation: str, extra: float = 0.0) -> tuple[float, float]:
    """Return width and height in inches at which text has its normal size; `extra` is for each level."""
    n_ends = len(shape.ends)
    if orientation == "down":
        return max(n_ends * DOWN_SLOT, 2.2) + DOWN_MARGIN, shape.n_levels * (DOWN_LEVEL + extra) + DOWN_LEAF
    return shape.n_levels * RIGHT_LEVEL + RIGHT_LEAF, max(n_ends, 2) * (RIGHT_SLOT + extra / 2) + RIGHT_MARGIN


def lay_out_down(shape: TreeShape, tree: Tree, width: float, height: float) -> TreeLayout:
    """Root on top, leaves in one row at the bottom."""
    wanted_width, wanted_height = preferred_size(shape, "down")
    margin = DOWN_MARGIN * min(1.0, width / wanted_width)
    slot = (width - margin) / len(shape.ends)
    leaf = min(DOWN_LEAF, DOWN_LEAF * height / wanted_height)
    unit = leaf / DOWN_LEAF
    level = (height - leaf) / max(shape.n_levels, 1)

    def across(node: int) -> float:
        return margin + shape.slot[node] * slot

    def top(depth: int) -> float:
        return height - depth * level

    box_height, widest = 0.62 * level, min(1.84 * slot, 3.2)
    rules = {}
    for node in shape.splits:
        half = min(widest / 2, across(node), width - across(node))
        rules[node] = Box(across(node) - half, top(shape.depth[node]) - box_height, 2 * half, box_height)
    panel_bottom, panel_height = 0.82 * unit, 0.86 * unit
    panels, headers, captions = {}, {}, {}
    for end in shape.ends:
        x, half = across(end), 0.43 * slot
        panels[end] = Box(x - half, panel_bottom, 2 * half, panel_height)
        headers[end] = Box(x - half, panel_bottom + panel_height + 0.02 * unit, 2 * half, 0.17 * unit)
        captions[end] = Box(x - 0.48 * slot, 0.2 * unit, 0.96 * slot, 0.42 * unit)

    answers, lines = {}, []
    for node in shape.splits:
        bend = rules[node].bottom - 0.32 * (level - box_height)
        for child, side in ((int(tree.left[node]), -1), (int(tree.left[node]) + 1, 1)):
            end_y = rules[child].middle[1] if child in rules else headers[child].top + 0.02 * unit
            x = across(child)
            lines.append([(across(node), rules[node].middle[1]), (across(node), bend), (x, bend), (x, end_y)])
            label_width, label_height, apart = min(0.4 * slot, 0.4), 0.6 * (level - box_height), min(0.05 * slot, 0.05)
            left = x - label_width - apart if side < 0 else x + apart
            answers[child] = Box(left, bend - 1.02 * label_height, label_width, label_height)
    return TreeLayout(
        rules, headers, panels, captions, answers, lines,
        time_label=Box(margin, 0.0, width - margin, 0.18 * unit),
        survival_label=Box(0.0, panel_bottom, 0.42 * margin, panel_height),
        with_time_ticks=shape.ends,
        with_survival_ticks=shape.ends[:1],
    )  # fmt: skip


def lay_out_right(shape: TreeShape, tree: Tree, width: float, height: float) -> TreeLayout:
    """Root on the left, leaves in one column on the right: for trees with many leaves."""
    wanted_width, wanted_height = preferred_size(shape, "right")
    margin = RIGHT_MARGIN * min(1.0, height / wanted_height)
    slot = (height - margin) / max(len(shape.ends), 1)
    leaf = min(RIGHT_LEAF, RIGHT_LEAF * width / wanted_width)
    unit = leaf / RIGHT_LEAF
    level = (width - leaf) / max(shape.n_levels, 1)

    def up(node: int) -> float:
        return height - shape.slot[node] * slot

    box_width, box_height = 0.76 * level, min(1.7 * slot, 1.3)
    rules = {
        node: Box(shape.depth[node] * level, up(node) - box_height / 2, box_width, box_height) for node in shape.splits
    }
    first = shape.n_levels * level
    panels, headers, captions = {}, {}, {}
    for end in shape.ends:
        y, half = up(end), 0.4 * slot
        panels[end] = Box(first + 0.42 * unit, y - half, 1.3 * unit, 2 * half)
        headers[end] = Box(first + 1.82 * unit, y + 0.34 * half, 1.56 * unit, 0.66 * half)
        captions[end] = Box(first + 1.82 * unit, y - half, 1.56 * unit, 1.32 * half)

    answers, lines = {}, []
    for node in shape.splits:
        gap = level - box_width
        bend = rules[node].right + 0.25 * gap
        for child, side in ((int(tree.left[node]), 1), (int(tree.left[node]) + 1, -1)):
            end_x = rules[child].middle[0] if child in rules else first + 0.1 * unit
            y = up(child)
            lines.append([(rules[node].middle[0], up(node)), (bend, up(node)), (bend, y), (end_x, y)])
            label_height = min(0.17, 0.25 * slot)
            bottom = y + 0.06 * label_height if side > 0 else y - 1.06 * label_height
            answers[child] = Box(bend + 0.03 * gap, bottom, 0.7 * gap, label_height)
    return TreeLayout(
        rules, headers, panels, captions, answers, lines,
        time_label=Box(first + 0.2 * unit, 0.0, 1.74 * unit, 0.4 * margin),
        survival_label=None,
        with_time_ticks=shape.ends[-1:],
        with_survival_ticks=shape.ends[-1:],
    )  # fmt: skip
