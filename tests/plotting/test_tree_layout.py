"""The layout of trees alone, on trees of every shape."""

import itertools
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.transforms import Bbox

from dipolar.plotting.text_fit import Box
from dipolar.plotting.tree_layout import lay_out_down, lay_out_right, preferred_size, shape_of
from tests.plotting.drawn import overlap


@st.composite
def tree_shapes(draw):
    """The children and depths of a random tree, as a record holds them."""
    left, depth, leaves = [-1], [0], [0]
    for _ in range(draw(st.integers(0, 25))):
        node = leaves.pop(draw(st.integers(0, len(leaves) - 1)))
        left[node] = len(left)
        leaves += [len(left), len(left) + 1]
        left += [-1, -1]
        depth += [depth[node] + 1] * 2
    return SimpleNamespace(left=np.array(left), depth=np.array(depth))


def as_bbox(box: Box) -> Bbox:
    return Bbox.from_bounds(box.left, box.bottom, box.width, box.height)


@settings(max_examples=30)
@given(tree_shapes(), st.sampled_from(["down", "right"]), st.floats(0.2, 2.0), st.floats(0.2, 2.0))
def test_boxes_never_touch_and_lines_pass_between_them(tree, orientation, wider, taller):
    shape = shape_of(tree, np.inf)
    width, height = preferred_size(shape, orientation)
    width, height = width * wider, height * taller
    layout = (lay_out_down if orientation == "down" else lay_out_right)(shape, tree, width, height)
    named = {
        (kind, node): as_bbox(box)
        for kind in ("rules", "headers", "panels", "captions", "answers")
        for node, box in getattr(layout, kind).items()
    }
    for (first, a), (second, b) in itertools.combinations(named.items(), 2):
        assert not overlap(a, b, 1e-9), (first, second)
    for box in named.values():
        assert box.x0 >= -1e-9 and box.y0 >= -1e-9 and box.x1 <= width + 1e-9 and box.y1 <= height + 1e-9
    for line in layout.lines:
        ends = {
            name
            for name, box in named.items()
            if name[0] == "rules" and any(box.contains(*p) for p in (line[0], line[-1]))
        }
        for (x0, y0), (x1, y1) in itertools.pairwise(line):
            segment = Bbox([[min(x0, x1), min(y0, y1)], [max(x0, x1), max(y0, y1)]])
            for name, box in named.items():
                crossed = (
                    segment.x0 < box.x1 - 1e-9 and segment.x1 > box.x0 + 1e-9
                    and segment.y0 < box.y1 - 1e-9 and segment.y1 > box.y0 + 1e-9
                )  # fmt: skip
                assert name in ends or not crossed, (name, line)
