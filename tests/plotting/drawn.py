"""What the tests of pictures share: what is drawn where, what touches what, and names that are hard to draw."""

import itertools
import re

import pandas as pd
import pytest
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text

from dipolar.plotting.glyphs import GLUE

LONG = [
    "the name of this covariate has eighty characters, as exported by someone's tool",
    "diastolic_blood_pressure_at_admission_in_millimetres_of_mercury_measured_lying_x",
    "🫀🩺 bmi 💊",
    "<script>alert('x')</script> & <b>",
    "$cost$ in \\$ 年齢\nsecond line",
]


NUMBER = re.compile(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?")


def visible_texts(figure):
    """Every text that is drawn, with its place in pixels."""
    drawn = []

    def draw(text, renderer, *rest, **options):
        if text.get_visible() and text.get_text().strip():
            drawn.append((text, text.get_window_extent(renderer)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", draw)
        figure.draw_without_rendering()
    return drawn


def overlap(a, b, slack=0.5):
    """Whether two boxes share more than a sliver."""
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.y1, b.y1) - max(a.y0, b.y0)
    return width > slack and height > slack


def assert_nothing_collides(figure):
    texts = visible_texts(figure)
    for (first, a), (second, b) in itertools.combinations(texts, 2):
        assert not overlap(a, b), f"{first.get_text()!r} runs into {second.get_text()!r}"
    for text, box in texts:
        assert box.x0 >= -1 and box.y0 >= -1, f"{text.get_text()!r} is cut off"
        assert box.x1 <= figure.bbox.x1 + 1 and box.y1 <= figure.bbox.y1 + 1, f"{text.get_text()!r} is cut off"
    return texts


def assert_tree_is_clear(ax):
    """No text touches another, a curve, or a frame that is not its own; every rule is inside its frame."""
    figure = ax.figure.figure if not hasattr(ax.figure, "draw_without_rendering") else ax.figure
    texts = assert_nothing_collides(figure)
    panels = [panel.get_window_extent() for panel in ax.child_axes]
    frames = [patch.get_window_extent() for patch in ax.findobj(FancyBboxPatch)]
    own = [(text, box) for text, box in texts if text.axes is ax]
    for a, b in itertools.combinations(panels + frames, 2):
        assert not overlap(a, b)
    for text, box in own:
        assert not any(overlap(box, panel) for panel in panels), f"{text.get_text()!r} runs into a curve"
        for frame in frames:
            inside = box.x0 >= frame.x0 and box.x1 <= frame.x1 and box.y0 >= frame.y0 and box.y1 <= frame.y1
            assert inside or not overlap(box, frame), f"{text.get_text()!r} leaves its frame"
    return texts


def words(ax):
    return " ".join(text.get_text().replace("\n", " ").replace(GLUE, " ") for text in ax.findobj(Text))


def cv_table():
    rows = [
        (kernel, eta, 0.7 + 0.01 * k - 0.002 * (eta + 3) ** 2, 0.02, -0.16 - 0.002 * k - 0.0005 * (eta + 2) ** 2, 0.01)
        for k, kernel in enumerate(["linear", "quadratic", "rbf"])
        for eta in range(-6, 4)
    ]
    scores = ["mean_test_concordance", "std_test_concordance", "mean_test_neg_ibs", "std_test_neg_ibs"]
    return pd.DataFrame(rows, columns=["kernel", "eta", *scores])
