"""Pictures of trees: nothing touches, nothing is cut off, and the numbers are right."""

import itertools
import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import FancyBboxPatch

from dipolar import LogRankSurvivalTree
from dipolar.datasets import load_leuksurv
from dipolar.plotting import (
    plot_leaf_curves,
    plot_tree,
)
from dipolar.plotting.glyphs import GLUE
from dipolar.plotting.style import ink_of, ordered_colors
from tests.models import paper_tree
from tests.plotting.drawn import (
    LONG,
    NUMBER,
    assert_nothing_collides,
    assert_tree_is_clear,
    overlap,
    visible_texts,
    words,
)


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
        else paper_tree(kernel=kernel, kappa=0.1, standardize=True, max_depth=2, max_rank=40)
    )
    ax = plot_tree(tree.fit(X, y), orientation=orientation)
    texts = assert_tree_is_clear(ax)
    assert min(text.get_fontsize() for text, _ in texts) >= 5.5, "readable"


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
        else paper_tree(kernel=kernel, kappa=0.1, standardize=True, max_rank=30, random_state=0, **size)
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


def test_names_that_look_like_sums_and_lists_are_names(data):
    """Lines end between the parts of a rule, and nothing in a name makes one."""
    X, y = data
    names = ["0.5 mg a - b", "Gaussian score of x (57%), y", "a <= b", "3 - 2 + 1", "f(x) < 0"]
    tree = LogRankSurvivalTree(max_leaf_nodes=6, min_samples_leaf=5).fit(X, y)
    splits = tree.tree_.splits
    said = [GLUE.join(rule) for *rule, _ in lines_in_frames(plot_tree(tree, feature_names=names))]
    wanted = [
        f"{names[splits.feature[node]]} ≤ {splits.threshold[node]:.6g}".replace(" ", GLUE)
        for node in np.flatnonzero(tree.tree_.is_split)
    ]
    assert sorted(said) == sorted(wanted)
