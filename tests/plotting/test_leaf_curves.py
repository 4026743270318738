"""The curves of all leaves, their test, and the numbers at risk."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest

from dipolar import CovariateEncoder, LogRankSurvivalTree, make_pipeline
from dipolar.metrics import logrank_test
from dipolar.plotting import (
    plot_leaf_curves,
)
from tests.plotting.drawn import assert_nothing_collides


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
    assert len(ax.lines) == 2 and ax.get_title(loc="right") == ""  # the curve, and where rows were censored
    assert [text.get_text() for text in ax.texts] == [f"leaf {tree.tree_.leaves[0]}"]
    censored = np.unique(y["time"][one][~y["event"][one]])
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), censored)
    assert len(plot_leaf_curves(tree, X[one], y[one], censorings=False).lines) == 1


def test_many_curves_are_told_apart_and_their_names_do_not_touch(trees):
    ax = plot_leaf_curves(trees[8], censorings=False)
    styles = {(line.get_color(), line.get_linestyle()) for line in ax.lines}
    assert len(styles) == 8 and {style for _, style in styles} == {"-", "--"}
    ax.figure.draw_without_rendering()
    boxes = sorted((text.get_window_extent() for text in ax.texts), key=lambda box: box.y0)
    assert len(boxes) == 8 and all(low.y1 <= high.y0 + 2 for low, high in pairwise(boxes))


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


def test_a_pipeline_shows_its_tree(data):
    X, y = data
    X = X.assign(sex=np.where(X["gender"] > 0, "m", "f"))
    model = make_pipeline(CovariateEncoder(), LogRankSurvivalTree(max_leaf_nodes=3)).fit(X, y)
    ax, of_rows = plot_leaf_curves(model), plot_leaf_curves(model, X, y)
    for line, of_row in zip(ax.lines, of_rows.lines, strict=True):
        np.testing.assert_allclose(line.get_xydata(), of_row.get_xydata())
