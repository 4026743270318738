"""Pictures: nothing touches, nothing is cut off, the numbers are right, and they look as they did.

The pictures in `images` are small; `DIPOLAR_UPDATE_IMAGES=1 python -m pytest tests/test_plotting.py` draws them again.
Look at them before they are kept.
"""

import itertools
import os
import re
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from sklearn.model_selection import GridSearchCV

from dipolar import DipoleSurvivalTree, DipoleSurvivalTreeCV, DipoleSVM, LogRankSurvivalTree
from dipolar.datasets import load_leuksurv, load_whas500
from dipolar.metrics import calibration_curve, logrank_test
from dipolar.plotting import (
    glyphs,
    plot_calibration,
    plot_importance,
    plot_kappa_path,
    plot_leaf_curves,
    plot_pruning_path,
    plot_split_surface,
    plot_tree,
)
from dipolar.plotting.glyphs import GLUE, font_families, legible
from dipolar.plotting.style import ink_of, ordered_colors
from dipolar.plotting.text_fit import GOOD_BREAKS, Box, Ruler, fit_text
from dipolar.plotting.tree_layout import lay_out_down, lay_out_right, preferred_size, shape_of

IMAGES = Path(__file__).parent / "images"
UPDATE = os.environ.get("DIPOLAR_UPDATE_IMAGES") == "1"
DPI = 45
TOLERANCE = 4.0  # of 255, after averaging over blocks of pixels

LONG = [
    "the name of this covariate has eighty characters, as exported by someone's tool",
    "diastolic_blood_pressure_at_admission_in_millimetres_of_mercury_measured_lying_x",
    "🫀🩺 bmi 💊",
    "<script>alert('x')</script> & <b>",
    "$cost$ in \\$ 年齢\nsecond line",
]


@pytest.fixture(autouse=True)
def close_figures():
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before, "drawing changes no settings"


@pytest.fixture(scope="module")
def data():
    return load_whas500(return_X_y=True)


@pytest.fixture(scope="module")
def plane(data):
    X, y = data
    return X[["hr", "bmi"]][:300], y[:300]


@pytest.fixture(scope="module")
def trees(data):
    """Trees of known sizes."""
    grown = {n: LogRankSurvivalTree(max_leaf_nodes=n, min_samples_leaf=5).fit(*data) for n in (2, 3, 8, 40)}
    grown[1] = LogRankSurvivalTree(min_logrank=1e9).fit(*data)
    assert all(tree.n_leaves_ == n for n, tree in grown.items())
    return grown


@pytest.fixture(scope="module")
def linear(data):
    return DipoleSurvivalTree(kernel="linear", kappa=0.1, standardize=True, max_depth=2).fit(*data)


@pytest.fixture(scope="module")
def curved(plane):
    return DipoleSurvivalTree(kernel="quadratic", standardize=True, max_depth=2).fit(*plane)


@pytest.fixture(scope="module")
def pruned(data):
    return LogRankSurvivalTree(pruning="bootstrap", n_bootstraps=5, min_samples_leaf=10, random_state=0).fit(*data)


def cv_table():
    rows = [
        (kernel, eta, 0.7 + 0.01 * k - 0.002 * (eta + 3) ** 2, 0.02, -0.16 - 0.002 * k - 0.0005 * (eta + 2) ** 2, 0.01)
        for k, kernel in enumerate(["linear", "quadratic", "rbf"])
        for eta in range(-6, 4)
    ]
    scores = ["mean_test_concordance", "std_test_concordance", "mean_test_neg_ibs", "std_test_neg_ibs"]
    return pd.DataFrame(rows, columns=["kernel", "eta", *scores])


# What touches what


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


def test_collisions_are_found():
    figure = plt.figure()
    figure.text(0.5, 0.5, "here")
    assert len(assert_nothing_collides(figure)) == 1
    figure.text(0.51, 0.51, "there")
    with pytest.raises(AssertionError, match="'here' runs into 'there'"):
        assert_nothing_collides(figure)
    other = plt.figure()
    other.text(-0.01, 0.5, "beyond")
    with pytest.raises(AssertionError, match="'beyond' is cut off"):
        assert_nothing_collides(other)


def words(ax):
    return " ".join(text.get_text().replace("\n", " ").replace(GLUE, " ") for text in ax.findobj(Text))


@pytest.mark.parametrize("n_leaves", [1, 2, 3, 8, 40])
def test_trees_of_any_size_are_clear_and_complete(trees, n_leaves):
    tree = trees[n_leaves]
    ax = plot_tree(tree, time_label="days")
    texts = assert_tree_is_clear(ax)
    assert min(text.get_fontsize() for text, _ in texts) >= 5.5, "readable"
    said = words(ax)
    frame = tree.node_frame()
    for node, row in frame[frame["is_leaf"]].iterrows():
        assert f"leaf {node} " in said
        median = "median not reached" if np.isinf(row["median"]) else "median "
        assert re.search(rf"n = {row['n']:g}, {row['events']:g} events {median}", said)
    for rule in frame["rule"][~frame["is_leaf"]]:
        assert rule.replace("<=", "≤") in said
    assert len(ax.child_axes) == n_leaves and "days" in said


@pytest.mark.parametrize("orientation", ["down", "right"])
@pytest.mark.parametrize("n_leaves", [2, 8, 40])
@pytest.mark.parametrize("size", [(4, 3), (9, 5)])
def test_trees_in_axes_of_any_size_are_clear(trees, n_leaves, orientation, size):
    ax = plt.figure(figsize=size, dpi=300).subplots()
    assert plot_tree(trees[n_leaves], ax=ax, orientation=orientation) is ax
    assert_tree_is_clear(ax)


@pytest.mark.parametrize("orientation", ["down", "right"])
@pytest.mark.parametrize("kernel", [None, "linear", "rbf"])
def test_long_and_strange_names_are_clear(data, kernel, orientation):
    X, y = data
    X = X.set_axis(LONG, axis=1)
    tree = (
        LogRankSurvivalTree(max_leaf_nodes=8)
        if kernel is None
        else DipoleSurvivalTree(kernel=kernel, kappa=0.1, standardize=True, max_depth=2, max_rank=40)
    )
    ax = plot_tree(tree.fit(X, y), orientation=orientation)
    texts = assert_tree_is_clear(ax)
    assert min(text.get_fontsize() for text, _ in texts) >= 5.5, "readable"


# Numbers on their lines

NUMBER = re.compile(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?")


@pytest.fixture(scope="module")
def places():
    """Covariates with fifteen decimals."""
    X, y = load_leuksurv(return_X_y=True, covariates="all")
    return X[:400], y[:400]


def lines_in_frames(ax):
    """The lines of text in every frame, from the top."""
    texts = [(text, box) for text, box in visible_texts(ax.figure) if text.axes is ax]
    for patch in ax.findobj(FancyBboxPatch):
        frame = patch.get_window_extent()
        inside = [(text, box) for text, box in texts if frame.x0 < box.x0 and box.x1 < frame.x1
                  and frame.y0 < box.y0 and box.y1 < frame.y1]  # fmt: skip
        yield [text.get_text() for text, _ in sorted(inside, key=lambda pair: -pair[1].y1)]


def numbers_in(text):
    return [float(number) for number in NUMBER.findall(text.replace(GLUE, " ").replace("- ", "-").replace("+ ", "+"))]


@pytest.mark.parametrize("kernel", [None, "linear", "rbf"])
@pytest.mark.parametrize("n_leaves", [2, 8, 20, 40])
def test_numbers_are_never_broken(places, kernel, n_leaves):
    size = {"max_leaf_nodes": n_leaves, "min_samples_leaf": 3}
    tree = (
        LogRankSurvivalTree(**size)
        if kernel is None
        else DipoleSurvivalTree(kernel=kernel, kappa=0.1, standardize=True, max_rank=30, random_state=0, **size)
    ).fit(*places)
    names = list(places[0])
    ax = plot_tree(tree)
    texts = assert_tree_is_clear(ax)
    assert min(text.get_fontsize() for text, _ in texts) >= 5.5, "readable"
    told = []
    for *rule, _ in lines_in_frames(ax):
        # Each line is read alone; a number that goes on in the next line would be read as two others.
        told.append([number for line in rule for number in numbers_in(line)])
        assert not any(re.search(rf"[-+<>≤]{GLUE}?$", line) for line in rule), "a sign stands before its number"
    rules = [
        [numbers_in(tree.tree_.splits.rule(int(node), names, width)) for width in (None, 160, 110, 80, 60, 45, 32, 24)]
        for node in np.flatnonzero(tree.tree_.is_split)
    ]
    assert len(told) == len(rules) > 0
    for numbers in told:
        assert any(numbers in ways for ways in rules), f"{numbers} are in no rule"


def test_text_is_set_smaller_before_a_word_is_broken_and_broken_before_it_is_cut():
    ruler = WRAPPING_RULER
    text = f"ycoord{GLUE}≤{GLUE}0.249724"
    width = ruler.width(text, 9)
    whole, smaller, broken = (
        fit_text(ruler, Box(0, 0, share * width, 0.4), [text, "short"], size=9, smallest=7) for share in (1, 0.9, 0.7)
    )
    assert whole.lines == smaller.lines == [text]
    assert whole.size == 9 > smaller.size >= 7
    assert broken.lines == ["ycoord", f"≤{GLUE}0.249724"] and broken.size == 9
    assert fit_text(ruler, Box(0, 0, 0.7 * width, 0.16), [text, "short"], size=9, smallest=7).lines == ["short"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("blood_pressure_lying", ["blood_", "pressure_", "lying"]),
        ("bloodPressureLying", ["blood", "Pressure", "Lying"]),
        ("blood.pressure-lying", ["blood.", "pressure-", "lying"]),
        (f"+{GLUE}0.1234{GLUE}pressure", [f"+{GLUE}0.1234", "pressure"]),
        (f"pressure{GLUE}<{GLUE}-1.2e-05", ["pressure", f"<{GLUE}-1.2e-05"]),
        ("年齢年齢年齢年齢年齢", ["年齢年齢年", "齢年齢年齢"]),
    ],
)
def test_words_are_broken_where_a_part_ends(text, lines):
    # As if all characters were equally wide: a line takes eleven, or five that are twice as wide.
    ruler = Ruler(mpl.figure.Figure())
    ruler._character = lambda character: 0.2 if character < "\u3000" else 0.4
    assert ruler.wrap(text, ruler.width("pressure_<<", 9), 9, GOOD_BREAKS) == lines


def test_trees_in_parts_of_figures_and_under_layout_engines(trees):
    figure = plt.figure(figsize=(12, 6), layout="constrained")
    left, right = figure.subfigures(1, 2)
    axes = left.subplots(), right.subplots()
    axes[0].set_title("a title")
    for ax in axes:
        plot_tree(trees[3], ax=ax)
    assert_nothing_collides(figure)
    boxes = [panel.get_window_extent() for ax in axes for panel in ax.child_axes]
    assert not any(overlap(a, b) for a, b in itertools.combinations(boxes, 2))


def test_a_tree_down_to_a_depth(trees):
    tree = trees[40]
    ax = plot_tree(tree, max_depth=2)
    assert_tree_is_clear(ax)
    assert len(ax.child_axes) == 4
    said = words(ax)
    below = [int(n) for n in re.findall(r"(\d+) leaves", said)]
    assert sum(below) + len(re.findall(r"leaf \d+", said)) == 40
    # The curve of a branch is that of all its rows.
    node = tree.node_frame()
    assert f"n = {node.loc[tree.tree_.left[tree.tree_.left[0]], 'n']:g}," in said
    assert len(plot_tree(tree, max_depth=0).child_axes) == 1


def test_the_curves_are_the_leaves_curves(trees, data):
    tree = trees[3]
    ax = plot_tree(tree)
    leaves = [int(re.search(r"\d+", t.get_text())[0]) for t in ax.texts if t.get_text().startswith("leaf")]
    for panel, leaf in zip(ax.child_axes, leaves):
        time, survival = panel.lines[-1].get_data()
        table = tree.tree_.tables[int(np.searchsorted(tree.tree_.leaves, leaf))]
        np.testing.assert_array_equal(time, np.append(0, table.time))
        np.testing.assert_array_equal(survival, np.append(1, table.survival))


def test_pictures_of_splits(curved, plane):
    ax = plot_tree(curved, X=plane[0])
    assert_nothing_collides(ax.figure)
    assert len(ax.child_axes) == curved.tree_.n_nodes
    n_dots = [len(panel.lines[0].get_xdata()) for panel in ax.child_axes if len(panel.lines) == 1]
    assert n_dots == curved.tree_.n_samples[curved.tree_.is_split].tolist()


def test_strange_but_legal_data():
    """Everybody leaves at time 0; rows weigh fractions; a covariate is missing or constant."""
    X = np.column_stack([np.arange(12.0), np.ones(12)])
    still = LogRankSurvivalTree().fit(X, np.zeros(12))
    assert_tree_is_clear(plot_tree(still))
    plot_leaf_curves(still)
    X[:3, 1] = np.nan
    tree = LogRankSurvivalTree(max_depth=2).fit(X, np.arange(12.0), sample_weight=np.linspace(0.5, 1.6, 12))
    assert_nothing_collides(plot_tree(tree, X=X).figure)
    assert_nothing_collides(plot_leaf_curves(tree).figure)


def test_pictures_need_two_covariates(linear, data):
    with pytest.raises(ValueError, match="need a tree on two covariates; this one has 5"):
        plot_tree(linear, X=data[0])


# The layout alone, on trees of every shape


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


# Text


def test_characters_that_the_font_lacks_are_spelled_out():
    assert legible("age ≥ 40 é") == "age ≥ 40 é"
    assert legible("🫀 rate") == f":anatomical{GLUE}heart: rate"
    assert legible("🩺💉") == ":stethoscope: :syringe:"
    assert legible("🇩🇪💉👍🏽") == f"DE :syringe: :thumbs{GLUE}up{GLUE}sign:"
    assert legible("年齢") == "U+5E74 U+9F62"
    assert legible("a\N{VARIATION SELECTOR-17}b") == "ab"
    assert legible("$x^2$") == r"\$x^2\$"
    figure = plt.figure()
    figure.text(0, 0, legible("🫀 年 $x^2$ $"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.draw_without_rendering()
    assert not caught


def test_another_font_is_asked_for_its_own_characters():
    with mpl.rc_context({"font.family": ["no such font", "DejaVu Sans Mono"]}):
        assert legible("年 é") == "U+5E74 é"


@pytest.fixture
def emoji_font(tmp_path):
    """A font of the name that is looked for, with one glyph, as if it were installed."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    for step, corner in ((pen.moveTo, (0, 0)), (pen.lineTo, (0, 900)), (pen.lineTo, (900, 0))):
        step(corner)
    pen.closePath()
    builder = FontBuilder(1000)
    builder.setupGlyphOrder([".notdef", "heart"])
    builder.setupCharacterMap({ord("🫀"): "heart"})
    builder.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "heart": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (500, 0), "heart": (1000, 0)})
    builder.setupHorizontalHeader(ascent=900, descent=-100)
    builder.setupNameTable({"familyName": "Noto Emoji", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=900, usWinAscent=900, usWinDescent=100)
    builder.setupPost()
    builder.save(tmp_path / "NotoEmoji.ttf")
    manager = mpl.font_manager.fontManager
    installed = list(manager.ttflist)
    manager.addfont(tmp_path / "NotoEmoji.ttf")
    for cached in (glyphs._family_of, glyphs._font_file):
        cached.cache_clear()
    yield
    manager.ttflist = installed
    for cached in (glyphs._family_of, glyphs._font_file, manager._findfont_cached):
        cached.cache_clear()


def test_an_emoji_font_is_used_where_there_is_one(emoji_font, data, tmp_path):
    assert legible("🫀 rate 💊") == "🫀 rate :pill:"
    assert font_families("rate") == [*mpl.rcParams["font.family"]]
    assert font_families("🫀 rate") == [*mpl.rcParams["font.family"], "Noto Emoji"]
    assert Ruler(plt.figure()).width("🫀", 10) == pytest.approx(1.04 * 10 / 72, rel=0.05), "as wide as its glyph"
    X, y = data
    tree = LogRankSurvivalTree(max_leaf_nodes=4).fit(X.set_axis([f"🫀 {name}" for name in X], axis=1), y)
    ax = plot_tree(tree)
    assert_tree_is_clear(ax)
    assert "🫀" in words(ax)
    assert "🫀" in words(plot_importance(tree))
    for suffix in ("png", "pdf", "svg"):
        ax.figure.savefig(tmp_path / f"tree.{suffix}")  # a missing glyph would be a warning


def test_names_of_leaves_can_be_read_on_white():
    def luminance(color):
        return sum(
            share * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
            for share, c in zip((0.2126, 0.7152, 0.0722), color)
        )

    for color in ordered_colors(range(9)):
        ink = ink_of(color)
        assert 1.05 / (luminance(ink) + 0.05) >= 4.5
        is_dark = 1.05 / (luminance(color[:3]) + 0.05) >= 4.5
        assert not is_dark or ink == pytest.approx(color[:3])


def test_the_ruler_measures_what_is_drawn():
    figure = plt.figure(dpi=100)
    ruler = Ruler(figure)
    for text in ("survival", "WWWWWW iiiiii", r"\$ 12.5 \$"):
        drawn = figure.text(0, 0, text, fontsize=11).get_window_extent().width / 100
        assert drawn <= ruler.width(text, 11) <= 1.12 * drawn


@given(st.text("ab $iW", max_size=60), st.floats(0.1, 3.0))
@settings(max_examples=40)
def test_wrapping_loses_nothing_and_stays_inside(text, width):
    ruler = WRAPPING_RULER
    lines = ruler.wrap(text.replace("$", r"\$"), width, 9)
    assert "".join(lines).replace(" ", "") == text.replace("$", r"\$").replace(" ", "")
    assert all(ruler.width(line, 9) <= width or len(line.replace("\\", "").strip()) <= 1 for line in lines)


PARTS = st.sampled_from(
    ["age", " ", GLUE, "_", "<", "-", "+", "0.249724", "-1.5e-07", "12", "1,234.5", "(57%)", "aB.c"]
)


@given(st.lists(PARTS, max_size=12), st.floats(0.1, 1.0))
@settings(max_examples=100)
def test_wrapping_breaks_no_number(parts, width):
    text = "".join(parts)
    lines = WRAPPING_RULER.wrap(text, width, 9)
    assert re.sub(rf"[ {GLUE}]", "", "".join(lines)) == re.sub(rf"[ {GLUE}]", "", text)
    whole = [number for word in text.split(" ") for number in NUMBER.findall(word)]
    assert [number for line in lines for number in NUMBER.findall(line.replace(" ", "\n"))] == whole


WRAPPING_RULER = Ruler(mpl.figure.Figure())


def test_vector_files_hold_text_that_is_only_text(data, tmp_path):
    X, y = data
    tree = LogRankSurvivalTree(max_leaf_nodes=4).fit(X.set_axis([f"<script>{name}" for name in X], axis=1), y)
    ax = plot_tree(tree)
    with mpl.rc_context({"svg.fonttype": "none"}):
        ax.figure.savefig(tmp_path / "tree.svg")
    ax.figure.savefig(tmp_path / "tree.pdf")
    root = ET.parse(tmp_path / "tree.svg").getroot()
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    assert any("<script>chf" in (element.text or "") for element in root.iter())
    assert (tmp_path / "tree.pdf").read_bytes().startswith(b"%PDF")


# Curves


def test_the_test_of_the_leaves_needs_no_rows(trees, data):
    X, y = data
    tree = trees[8]
    expected = logrank_test(y, tree.apply(X)).p_value
    assert expected < 1e-4
    assert plot_leaf_curves(tree).get_title(loc="right") == "log-rank p < 0.0001 (training rows)"
    # On rows whose outcomes were shuffled the leaves do not differ, and the p-value is printed.
    shuffled = np.random.default_rng(3).permutation(y)
    p = logrank_test(shuffled, tree.apply(X), method="auto").p_value
    assert plot_leaf_curves(tree, X, shuffled).get_title(loc="right") == f"log-rank p = {p:.2g}"


def test_bands_of_the_training_rows_are_called_optimistic(trees, data):
    X, y = data
    title = plot_leaf_curves(trees[8], bands=True, level=0.9).get_title(loc="right")
    assert title == "log-rank p < 0.0001, 0.9 bands (training rows: optimistic)"
    assert "optimistic" in plot_leaf_curves(trees[3]).get_title(loc="right")
    assert "optimistic" not in plot_leaf_curves(trees[3], X, y).get_title(loc="right")


def test_numbers_at_risk(trees, data):
    X, y = data
    tree = trees[3]
    ax = plot_leaf_curves(tree)
    table = ax.figure.axes[1]
    leaf = tree.apply(X)
    rows = [text.get_text() for text in table.texts]
    ticks = [float(tick) for tick in ax.get_xticks()]
    expected = ["at risk"]
    for node in tree.tree_.leaves[np.argsort(tree.leaf_risk_)]:
        expected += [f"leaf {node}", *(str(((leaf == node) & (y["time"] >= tick)).sum()) for tick in ticks)]
    assert rows == expected


def test_leaves_without_rows_are_left_out(trees, data):
    X, y = data
    tree = trees[3]
    one = tree.apply(X) == tree.tree_.leaves[0]
    ax = plot_leaf_curves(tree, X[one], y[one], at_risk=False)
    assert len(ax.lines) == 1 and ax.get_title(loc="right") == ""
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [f"leaf {tree.tree_.leaves[0]}"]


def test_leaf_curves_in_given_axes_keep_their_place(trees):
    figure, axes = plt.subplots(1, 2, figsize=(9, 4))
    before = axes[1].get_position().bounds
    place = axes[0].get_position()
    assert plot_leaf_curves(trees[8], ax=axes[0]) is axes[0]
    assert axes[1].get_position().bounds == before
    table = figure.axes[2].get_position()
    assert table.y0 >= place.y0 - 1e-9 and axes[0].get_position().y1 <= place.y1 + 1e-9
    loose = plt.figure().add_axes((0.2, 0.1, 0.7, 0.8))
    plot_leaf_curves(trees[3], ax=loose)
    assert_nothing_collides(loose.figure)


def test_rows_and_outcomes_come_together(trees, data):
    with pytest.raises(ValueError, match="X and y should be given together"):
        plot_leaf_curves(trees[3], data[0])
    with pytest.raises(ValueError, match="the same number of rows, got 461 and 5"):
        plot_leaf_curves(trees[3], data[0], data[1][:5])


@pytest.mark.parametrize(("bands", "expected"), [(None, 3), (True, 3), (False, 0)])
def test_bands(trees, bands, expected):
    assert len(plot_leaf_curves(trees[3], bands=bands).collections) == expected
    assert len(plot_leaf_curves(trees[8]).collections) == 0


# Surfaces


def test_regions_are_the_leaves(curved, plane):
    ax = plot_split_surface(curved, *plane)
    mesh = ax.collections[0]
    corners = mesh.get_coordinates()
    centres = ((corners[:-1, :-1] + corners[1:, 1:]) / 2).reshape(-1, 2)
    leaf = curved.apply(pd.DataFrame(centres, columns=plane[0].columns))
    positions = np.searchsorted(curved.tree_.leaves, leaf)
    assert (np.asarray(mesh.get_array()).ravel() == positions).mean() > 0.999
    assert_nothing_collides(ax.figure)


def test_other_covariates_are_held_where_the_title_says(linear, data):
    X, y = data
    ax = plot_split_surface(linear, X, y, features=["bmi", "hr"], fixed={"chf": 1})
    title = ax.get_title().replace("\n", " ").replace(GLUE, " ")
    assert title == f"where diasbp = {X['diasbp'].median():.4g}, gender = 0, chf = 1"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("bmi", "hr")
    mesh = ax.collections[0]
    corners = mesh.get_coordinates()
    grid = pd.DataFrame(np.tile(X.median().to_numpy(float), (mesh.get_array().size, 1)), columns=X.columns)
    grid["chf"] = 1.0
    grid[["bmi", "hr"]] = ((corners[:-1, :-1] + corners[1:, 1:]) / 2).reshape(-1, 2)
    positions = np.searchsorted(linear.tree_.leaves, linear.apply(grid))
    assert (np.asarray(mesh.get_array()).ravel() == positions).mean() > 0.999


def test_of_many_covariates_the_important_ones_and_those_asked_for_are_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 12))
    tree = LogRankSurvivalTree(max_leaf_nodes=6, min_samples_leaf=5).fit(X, rng.exponential(np.exp(X[:, 3] - X[:, 7])))
    importance = np.argsort(-tree.feature_importances_, kind="stable")
    fixed = {int(column): 0.5 for column in importance[[-1, -2]]}
    title = plot_split_surface(tree, X, np.ones(120), fixed=fixed).get_title().replace("\n", " ").replace(GLUE, " ")
    told = {int(column) for column in re.findall(r"x(\d+) =", title)}
    assert told == {*map(int, importance[2:6]), *fixed}
    assert title.count("= 0.5") == 2 and title.endswith("4 others at the median")


def test_rows_are_dots_and_triangles(curved, plane):
    ax = plot_split_surface(curved, *plane)
    events, censored = (np.asarray(c.get_offsets()) for c in ax.collections if len(c.get_offsets()) > 10)
    event = plane[1]["event"]
    np.testing.assert_array_equal(events, plane[0][event])
    np.testing.assert_array_equal(censored, plane[0][~event])


def test_one_split_and_univariate_trees(plane):
    X, y = plane
    svm = DipoleSVM(kernel="rbf", standardize=True).fit(X, y)
    said = words(plot_split_surface(svm, X, y))
    assert "left" in said and "right" in said and "split" in said
    tree = LogRankSurvivalTree(max_leaf_nodes=5).fit(X.to_numpy(), y)
    ax = plot_split_surface(tree, X.to_numpy(), y)
    assert ax.get_xlabel() == "x0"
    assert_nothing_collides(ax.figure)
    alone = LogRankSurvivalTree(min_logrank=1e9).fit(X, y)
    assert "leaf 0" in words(plot_split_surface(alone, X, y))


def test_missing_values_do_not_hide_the_rest(plane):
    X, y = plane[0].to_numpy(float).copy(), plane[1]
    X[:40, 0] = np.nan
    tree = LogRankSurvivalTree(max_leaf_nodes=4).fit(X, y)
    ax = plot_split_surface(tree, X, y)
    assert np.isfinite(ax.get_xlim()).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ["hr"]}, "two different covariates"),
        ({"features": ["hr", "hr"]}, "two different covariates"),
        ({"features": ["hr", "age"]}, "names 'age', which is no covariate"),
        ({"features": [0, 9]}, "names 9, which is no covariate"),
        ({"features": ["hr", "bmi"], "fixed": {"hr": 1}}, "which is on an axis"),
        ({"fixed": {"age": 1}}, "names 'age', which is no covariate"),
        ({"feature_names": ["a"]}, "one name for each of the 5"),
    ],
)
def test_bad_planes_are_refused(linear, data, options, message):
    with pytest.raises(ValueError, match=message):
        plot_split_surface(linear, *data, **options)


def test_an_svm_on_many_covariates_asks_which(data):
    svm = DipoleSVM(kernel="linear", standardize=True).fit(*data)
    with pytest.raises(ValueError, match="features should name the two covariates"):
        plot_split_surface(svm, *data)
    with pytest.raises(ValueError, match="the 5 columns that the model was fitted on"):
        plot_split_surface(svm, data[0][["hr", "bmi"]], data[1], features=[0, 1])
    with pytest.raises(ValueError, match="the same number of rows, got 461 and 9"):
        plot_split_surface(svm, data[0], data[1][:9], features=[0, 1])


# Paths, calibration, importance


def test_kappa_path_draws_scores_and_spreads():
    table = cv_table()
    axes = plot_kappa_path(table)
    assert [ax.get_ylabel() for ax in axes] == [
        "concordance (higher is better)",
        "integrated Brier score (lower is better)",
    ]
    for ax, score, sign in ((axes[0], "concordance", 1), (axes[1], "neg_ibs", -1)):
        for container, (kernel, rows) in zip(ax.containers, table.groupby("kernel")):
            assert container.get_label() == kernel
            np.testing.assert_allclose(container.lines[0].get_ydata(), sign * rows[f"mean_test_{score}"])
            (bars,) = container.lines[2]
            lengths = [segment[1, 1] - segment[0, 1] for segment in bars.get_segments()]
            np.testing.assert_allclose(lengths, 2 * rows[f"std_test_{score}"])
    assert_nothing_collides(axes[0].figure)


def test_spreads_of_many_values_of_eta_are_bands():
    eta = np.linspace(-8, 4, 25)
    table = pd.DataFrame({"kernel": "linear", "eta": eta, "mean_test_auc": eta / 20, "std_test_auc": 0.1})
    (ax,) = plot_kappa_path(table)
    assert not ax.containers and len(ax.collections) == 1
    corners = ax.collections[0].get_paths()[0].vertices
    for value in eta:
        here = corners[np.isclose(corners[:, 0], value), 1]
        np.testing.assert_allclose([here.min(), here.max()], [value / 20 - 0.1, value / 20 + 0.1])
    np.testing.assert_allclose(ax.lines[0].get_xydata(), np.column_stack([eta, eta / 20]))


def test_kappa_path_takes_searches(plane):
    X, y = plane[0][:120], plane[1][:120]
    search = DipoleSurvivalTreeCV(
        param_grid={},
        kernel="linear",
        eta=[-4, 0],
        max_depth=(1, 2),
        cv=2,
        scoring=("concordance", "concordance_exclude"),
        random_state=0,
    ).fit(X, y)
    assert len(search.cv_results_) == 4
    axes = plot_kappa_path(search)
    best = search.cv_results_.groupby("eta")["mean_test_concordance"].max()
    np.testing.assert_array_equal(axes[0].containers[0].lines[0].get_ydata(), best)
    np.testing.assert_allclose(axes[0].containers[0].lines[0].get_xdata(), [-4, 0], atol=1e-12)
    chosen = search.cv_results_.loc[search.cv_results_.groupby("eta")["mean_test_concordance"].idxmax()]
    drawn = axes[1].containers[0].lines[0].get_ydata()
    np.testing.assert_array_equal(drawn, chosen["mean_test_concordance_exclude"])
    grid = {"kernel": ["linear"], "kappa": [0.1, 1.0]}
    searched = GridSearchCV(DipoleSurvivalTree(max_depth=1, standardize=True), grid, cv=2).fit(X, y)
    (ax,) = plot_kappa_path(searched)
    np.testing.assert_allclose(ax.containers[0].lines[0].get_xdata(), np.log([0.1, 1.0]), atol=1e-12)


def test_kappa_path_takes_axes_and_scores():
    table = cv_table()
    ax = plt.figure().subplots()
    assert plot_kappa_path(table, scores=["neg_ibs"], ax=ax)[0] is ax
    with pytest.raises(ValueError, match="one Axes for each of the 2 scores, got 1"):
        plot_kappa_path(table, ax=ax)
    with pytest.raises(ValueError, match=r"missing are \['mean_test_auc', 'std_test_auc'\]"):
        plot_kappa_path(table, scores=["auc"])
    with pytest.raises(ValueError, match="missing are"):
        plot_kappa_path(table.drop(columns="eta"))


def test_pruning_path_marks_the_member_that_was_taken(pruned):
    ax = plot_pruning_path(pruned)
    path = pruned.pruning_path_
    lines = {line.get_label(): line for line in ax.lines}
    np.testing.assert_array_equal(lines["on training rows"].get_ydata(), path.statistics)
    np.testing.assert_array_equal(lines["corrected by bootstrap"].get_ydata(), path.honest_statistics)
    worth = lines["less 4 per split"].get_ydata()
    (x,), (y,) = lines[f"taken: {pruned.n_leaves_} leaves"].get_data()
    assert x == pruned.n_leaves_ and y == worth.max() == worth[pruned.member_]
    assert_nothing_collides(ax.figure)


def test_pruning_path_of_trees_without_pruning(trees):
    for n_leaves in (1, 2, 40):
        ax = plot_pruning_path(trees[n_leaves])
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert labels == ["on training rows", f"taken: {n_leaves} {'leaf' if n_leaves == 1 else 'leaves'}"]


def test_calibration(trees, data):
    X, y = data
    curve = calibration_curve(y, trees[8].predict_survival_function(X), 1000, groups=trees[8].apply(X))
    curve.loc[2, ["observed", "std_error"]] = np.nan
    ax = plot_calibration(curve)
    known = curve.dropna()
    np.testing.assert_allclose(ax.collections[-1].get_offsets(), known[["predicted", "observed"]])
    assert ax.get_title() == "1 group is not followed long enough"
    segments = ax.containers[0].lines[2][0].get_segments()
    half = 1.959964 * known["std_error"]
    np.testing.assert_allclose([s[0, 1] for s in segments], np.maximum(known["observed"] - half, 0), atol=1e-6)
    np.testing.assert_allclose([s[1, 1] for s in segments], np.minimum(known["observed"] + half, 1), atol=1e-6)
    assert_nothing_collides(ax.figure)
    with pytest.raises(ValueError, match=r"columns \['std_error'\] are missing"):
        plot_calibration(curve.drop(columns="std_error"))


def test_importance(linear, data):
    ax = plot_importance(linear, max_features=3)
    shares = np.sort(linear.feature_importances_)[::-1]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], shares[:3])
    names = data[0].columns[np.argsort(-linear.feature_importances_)][:3]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(names)
    assert_nothing_collides(ax.figure)
    long = plot_importance(linear, feature_names=LONG)
    assert_nothing_collides(long.figure)
    with pytest.raises(ValueError, match="max_features must be an integer"):
        plot_importance(linear, max_features=0)


def test_importance_counts_what_it_does_not_draw(trees, linear):
    shares = trees[2].feature_importances_
    assert np.count_nonzero(shares) == 1
    ax = plot_importance(trees[2])
    assert len(ax.patches) == 1 and ax.get_xlabel().endswith("(not shown: 4 without any)")
    assert plot_importance(linear, max_features=2).get_xlabel().endswith("(not shown: 3 smaller)")
    assert "not shown" not in plot_importance(linear).get_xlabel()


def test_a_tree_without_splits_has_no_importance(trees):
    assert [bar.get_width() for bar in plot_importance(trees[1]).patches] == [0] * 5


@pytest.mark.parametrize("plot", [plot_tree, plot_leaf_curves, plot_pruning_path, plot_importance])
def test_other_models_are_refused(data, plot):
    with pytest.raises(TypeError, match="tree should be a fitted LogRankSurvivalTree or DipoleSurvivalTree"):
        plot(DipoleSVM(kernel="linear").fit(*data))


# Looks

PICTURES = {
    "tree": lambda d: plot_tree(d.trees[8], time_label="days"),
    "tree_right": lambda d: plot_tree(d.trees[8], orientation="right"),
    "tree_oblique": lambda d: plot_tree(d.linear, time_label="days"),
    "tree_pictures": lambda d: plot_tree(d.curved, X=d.plane[0]),
    "leaf_curves": lambda d: plot_leaf_curves(d.trees[8], time_label="days"),
    "surface": lambda d: plot_split_surface(d.curved, *d.plane),
    "kappa_path": lambda d: plot_kappa_path(cv_table())[0],
    "pruning_path": lambda d: plot_pruning_path(d.pruned),
    "calibration": lambda d: plot_calibration(
        calibration_curve(d.data[1], d.trees[8].predict_survival_function(d.data[0]), 1000, groups="curves")
    ),
    "importance": lambda d: plot_importance(d.linear),
}


def coarse(path):
    """A picture in grey and colour, averaged over blocks, so that one font renderer's pixels do not matter."""
    pixels = 255 * plt.imread(path)[..., :3]
    rows, columns = pixels.shape[0] // 4 * 4, pixels.shape[1] // 4 * 4
    return pixels[:rows, :columns].reshape(rows // 4, 4, columns // 4, 4, 3).mean(axis=(1, 3))


def difference(first, second):
    """Root mean square of the differences; infinite for pictures of other sizes."""
    a, b = coarse(first), coarse(second)
    return float(np.sqrt(np.mean((a - b) ** 2))) if a.shape == b.shape else np.inf


@pytest.mark.parametrize("name", list(PICTURES))
def test_pictures_look_as_they_did(name, tmp_path, trees, linear, curved, pruned, plane, data):
    fitted = SimpleNamespace(trees=trees, linear=linear, curved=curved, pruned=pruned, plane=plane, data=data)
    ax = PICTURES[name](fitted)
    path = (IMAGES if UPDATE else tmp_path) / f"{name}.png"
    ax.figure.savefig(path, dpi=DPI, metadata={"Software": None})
    assert difference(path, IMAGES / f"{name}.png") < TOLERANCE


def test_other_pictures_are_told_apart(trees, tmp_path):
    """The comparison refuses a tree with one more leaf and a picture without its bands."""
    without = plot_leaf_curves(trees[8], bands=True, time_label="days")
    without.figure.savefig(tmp_path / "bands.png", dpi=DPI)
    assert difference(tmp_path / "bands.png", IMAGES / "leaf_curves.png") > 1.5 * TOLERANCE
    plot_tree(trees[8], time_label="days", orientation="right").figure.savefig(tmp_path / "tree.png", dpi=DPI)
    assert difference(tmp_path / "tree.png", IMAGES / "tree.png") > 1.5 * TOLERANCE
