"""Splits over two covariates: regions are leaves, and the title says what the rest is held at."""

import re

import numpy as np
import pandas as pd
import pytest

from dipolar import LogRankSurvivalTree
from dipolar.plotting import (
    plot_split_surface,
)
from dipolar.plotting.glyphs import GLUE
from tests.models import forest_of, paper_svm
from tests.plotting.drawn import (
    assert_nothing_collides,
    words,
)


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
    svm = paper_svm(kernel="rbf", standardize=True).fit(X, y)
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
    X[:, 0] = np.nan
    with pytest.raises(ValueError, match="X has no value of 'x0', which is to be on an axis"):
        plot_split_surface(tree, X, y)


def test_a_covariate_that_is_never_known_is_held_at_missing(data):
    X, y = data[0].to_numpy(float), data[1]
    X[::7, 4] = np.nan
    tree = LogRankSurvivalTree(max_leaf_nodes=4).fit(X, y)
    X[:, 4] = np.nan
    assert "x4 = missing" in plot_split_surface(tree, X, y, features=[0, 2]).get_title().replace(GLUE, " ")


@pytest.mark.parametrize("kernel", ["linear", "quadratic", "rbf"])
def test_trees_of_forests_have_their_regions(plane, kernel):
    X, y = plane
    tree = forest_of(1, kernel=kernel, max_features=None, random_state=0).fit(X, y).tree(0)
    ax = plot_split_surface(tree, X, y)
    assert len(np.unique(np.asarray(ax.collections[0].get_array()))) == tree.n_leaves_ > 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ["hr"]}, "two different covariates"),
        ({"features": ["hr", "hr"]}, "two different covariates"),
        ({"features": ["hr", "age"]}, "names 'age', which is no covariate"),
        ({"features": [0, 9]}, "names 9, which is no covariate"),
        ({"features": ["hr", "bmi"], "fixed": {"hr": 1}}, "which is on an axis"),
        ({"fixed": {"age": 1}}, "names 'age', which is no covariate"),
        ({"features": "hr"}, "two different covariates, got 'hr'"),
        ({"features": 3}, "two different covariates, got 3"),
        ({"fixed": ["chf"]}, "fixed should map names"),
        ({"fixed": {"gender": "yes"}}, r"fixed\['gender'\] must be a number, and finite, got 'yes'"),
        ({"fixed": {"gender": np.nan}}, "'gender' cannot be held at a missing value"),
        ({"features": [0, 1], "fixed": {"chf": 0, 4: 1}}, "fixed names 'chf' twice"),
        ({"feature_names": ["a"]}, "one name for each of the 5"),
    ],
)
def test_bad_planes_are_refused(linear, data, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        plot_split_surface(linear, *data, **options)


def test_an_svm_on_many_covariates_asks_which(data):
    svm = paper_svm(kernel="linear", standardize=True).fit(*data)
    with pytest.raises(ValueError, match="features should name the two covariates"):
        plot_split_surface(svm, *data)
    with pytest.raises(ValueError, match="feature names should match"):
        plot_split_surface(svm, data[0][["hr", "bmi"]], data[1], features=[0, 1])
    with pytest.raises(ValueError, match="must be in the same order"):
        plot_split_surface(svm, data[0][data[0].columns[::-1]], data[1], features=[0, 1])
    with pytest.raises(ValueError, match="the same number of rows, got 461 and 9"):
        plot_split_surface(svm, data[0], data[1][:9], features=[0, 1])
