"""What the pictures refuse, and what they say then: the argument, what was passed, and the way out, in few words."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

from dipolar import LogRankSurvivalTree
from dipolar.kernels import PrecomputedKernel
from dipolar.plotting import (
    export_dot,
    export_text,
    plot_calibration,
    plot_importance,
    plot_kappa_path,
    plot_leaf_curves,
    plot_pruning_path,
    plot_split_surface,
    plot_tree,
    to_dict,
)
from dipolar.report import render_report
from tests.models import forest_of, paper_svm

OF_TREES = [plot_tree, plot_leaf_curves, plot_pruning_path, export_text, export_dot, to_dict, render_report]
WRONG = {
    "None": None,
    "text": "tree",
    "class": LogRankSurvivalTree,
    "array": np.zeros((300, 3)),
    "table": pd.DataFrame({"a": np.zeros(300)}),
    "bunch": Bunch(importances=np.zeros((300, 5)), importances_std=np.zeros(300)),
}


@pytest.mark.parametrize("kind", list(WRONG))
@pytest.mark.parametrize("function", OF_TREES)
def test_what_is_no_tree_is_named_and_not_printed(function, kind):
    with pytest.raises(
        TypeError, match=r"^tree should be a fitted LogRankSurvivalTree or DipoleSurvivalTree, got a "
    ) as e:
        function(WRONG[kind])
    assert type(WRONG[kind]).__name__ in str(e.value) and len(str(e.value)) < 300


@pytest.mark.parametrize("function", [*OF_TREES, plot_split_surface])
def test_of_a_forest_the_way_to_a_tree_is_told(function, data):
    X, y = data
    forest = forest_of(2, random_state=0).fit(X, y)
    with pytest.raises(TypeError, match=r"got a DipoleSurvivalForest.*forest\.tree\(0\).*forest\.summary_tree"):
        function(forest, X, y) if function is plot_split_surface else function(forest)
    function(forest.tree(0), X, y) if function is plot_split_surface else function(forest.tree(0))


@pytest.mark.parametrize("kind", list(WRONG))
def test_what_has_no_importances_is_refused(kind, data):
    message = r"^model should be a fitted survival tree or forest, or what forest.importance\(X, y\) returned, got a "
    for wrong in (WRONG[kind], paper_svm(kernel="linear").fit(*data)):
        with pytest.raises(TypeError, match=message) as error:
            plot_importance(wrong)
        assert len(str(error.value)) < 250


@pytest.mark.parametrize("kind", list(WRONG))
def test_what_has_no_surface_is_refused(kind, data):
    with pytest.raises(TypeError, match=r"^model should be a fitted survival tree or DipoleSVM, got a "):
        plot_split_surface(WRONG[kind], *data)


@pytest.mark.parametrize("kernel", ["precomputed", PrecomputedKernel()])
def test_a_kernel_matrix_has_no_covariates_to_draw(data, kernel):
    X = data[0].to_numpy(float)
    gram = X @ X.T / 1e4
    svm = paper_svm(kernel).fit(gram, data[1])
    with pytest.raises(ValueError, match="knows no covariates to draw"):
        plot_split_surface(svm, gram, data[1], features=[0, 1])


@pytest.mark.parametrize("wrong", [plt.figure, lambda: plt.subplots(1, 2)[1], lambda: 3])
def test_one_axes_is_needed(trees, data, wrong):
    curve = pd.DataFrame({"predicted": [0.5], "observed": [0.5], "std_error": [0.1], "n_samples": [9]})
    for plot in (
        lambda ax: plot_tree(trees[3], ax=ax),
        lambda ax: plot_leaf_curves(trees[3], ax=ax),
        lambda ax: plot_importance(trees[3], ax=ax),
        lambda ax: plot_pruning_path(trees[3], ax=ax),
        lambda ax: plot_calibration(curve, ax=ax),
        lambda ax: plot_split_surface(trees[3], *data, ax=ax),
    ):
        with pytest.raises(TypeError, match="ax should be one matplotlib Axes, got a"):
            plot(wrong())


@pytest.mark.parametrize("plot", [plot_tree, plot_leaf_curves])
@pytest.mark.parametrize("label", [None, 3])
def test_labels_are_text(trees, plot, label):
    with pytest.raises(TypeError, match="time_label should be a string, got"):
        plot(trees[3], time_label=label)


@pytest.mark.parametrize("names", ["abcde", 5])
def test_names_are_a_list(trees, names):
    with pytest.raises(ValueError, match=f"one name for each of the 5 covariates, got {names!r}"):
        plot_tree(trees[3], feature_names=names)


def test_pictures_need_values(plane):
    X, y = plane
    tree = LogRankSurvivalTree(max_depth=1).fit(X, y)
    with pytest.raises(ValueError, match="X should have values of both covariates"):
        plot_tree(tree, X=X.assign(hr=np.nan))


def test_tables_are_asked_for(trees):
    with pytest.raises(TypeError, match=r"curve should be what dipolar.metrics.calibration_curve returned, got a Log"):
        plot_calibration(trees[3])
    with pytest.raises(ValueError, match="it has no rows"):
        plot_calibration(pd.DataFrame({"predicted": [], "observed": [], "std_error": [], "n_samples": []}))
    with pytest.raises(TypeError, match="cv_results should be a fitted search or its table, got a LogRankSurvivalTree"):
        plot_kappa_path(trees[3])
    with pytest.raises(TypeError, match=r"scores should be a list of names, got the text 'auc'. Pass \['auc'\]"):
        plot_kappa_path(pd.DataFrame({"kernel": ["a"]}), scores="auc")
