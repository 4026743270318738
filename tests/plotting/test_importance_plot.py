"""Importances of trees and forests as bars."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.utils import Bunch

from dipolar.plotting import (
    plot_importance,
)
from tests.models import forest_of
from tests.plotting.drawn import LONG, assert_nothing_collides


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


@pytest.fixture(scope="module")
def forest(data):
    return forest_of(30, random_state=0).fit(*data)


def test_importance_of_a_forest(forest, data):
    ax = plot_importance(forest)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], np.sort(forest.feature_importances_)[::-1])
    assert ax.get_xlabel() == "share of the log-rank statistics"
    with pytest.raises(NotFittedError):
        plot_importance(forest_of())


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({}, "loss of concordance, values shuffled"),
        ({"kind": "negate", "scoring": "brier"}, "growth of the integrated Brier score, values mirrored at their mean"),
    ],
)
def test_importance_out_of_bag(forest, data, options, label):
    X, y = data
    found = forest.importance(X, y, random_state=0, **options)
    ax = plot_importance(found)
    order = np.argsort(-found.importances_mean)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], found.importances_mean[order])
    assert [text.get_text() for text in ax.get_yticklabels()] == list(X.columns[order])
    assert ax.get_xlabel() == label
    assert_nothing_collides(ax.figure)
    low, high = ax.get_xlim()
    assert low <= (found.importances_mean - found.importances_std).min()
    assert high >= (found.importances_mean + found.importances_std).max()
    bars = ax.containers[-1].errorbar
    if options:
        assert bars is None
    else:
        lengths = [np.ptp(segment[:, 0]) for segment in bars.lines[2][0].get_segments()]
        np.testing.assert_allclose(lengths, 2 * found.importances_std[order])


def test_importances_of_scikit_learn_are_drawn_and_named(forest, data):
    X, y = data
    found = permutation_importance(forest, X, y, n_repeats=2, random_state=0)
    assert {text.get_text() for text in plot_importance(found).get_yticklabels()} <= {
        f"x{column}" for column in range(5)
    }
    ax = plot_importance(found, feature_names=list("abcde"))
    assert {text.get_text() for text in ax.get_yticklabels()} <= set("abcde")
    with pytest.raises(ValueError, match="one name for each of the 5 covariates, got 2"):
        plot_importance(found, feature_names=["a", "b"])


def test_negative_importances_are_left_of_zero():
    found = Bunch(importances_mean=np.array([0.05, -0.02, 0.0]), importances_std=np.array([0.01, 0.01, 0.0]))
    ax = plot_importance(found, feature_names=["age", "noise", "unused"])
    assert [text.get_text() for text in ax.texts] == ["0.0500", "-0.0200"]
    assert ax.get_xlabel().endswith("(not shown: 1 without any)")
    assert_nothing_collides(ax.figure)
