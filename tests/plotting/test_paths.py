"""Scores along eta, and statistics along the pruning path."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

from dipolar import SurvivalTreeCV
from dipolar.kernels import GaussianKernel
from dipolar.plotting import (
    plot_kappa_path,
    plot_pruning_path,
)
from tests.models import paper_tree
from tests.plotting.drawn import assert_nothing_collides, cv_table


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
    scoring = ("concordance", "concordance_exclude")
    grid = {"svm__kappa": [0.1, 10.0]}
    search = SurvivalTreeCV(param_grid=grid, max_depth=(1, 2), cv=2, scoring=scoring, random_state=0).fit(X, y)
    assert len(search.cv_results_) == 4
    axes = plot_kappa_path(search)
    by_kappa = search.cv_results_.groupby("svm__kappa")["mean_test_concordance"]
    np.testing.assert_array_equal(axes[0].containers[0].lines[0].get_ydata(), by_kappa.max())
    np.testing.assert_allclose(axes[0].containers[0].lines[0].get_xdata(), np.log([0.1, 10.0]), atol=1e-12)
    drawn = axes[1].containers[0].lines[0].get_ydata()
    chosen = search.cv_results_.loc[by_kappa.idxmax()]
    np.testing.assert_array_equal(drawn, chosen["mean_test_concordance_exclude"])
    assert axes[1].get_legend() is None  # there is nothing to tell apart


def test_kappa_path_tells_the_kernels_of_a_grid_apart(plane):
    X, y = plane[0][:120], plane[1][:120]
    kernels = ["linear", GaussianKernel(sigma2=2.0)]
    grid = {"svm__kernel": kernels, "svm__kappa": [0.1, 1.0]}
    search = GridSearchCV(paper_tree(max_depth=1, standardize=True), grid, cv=2).fit(X, y)
    (ax,) = plot_kappa_path(search)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [str(kernel) for kernel in kernels]
    for container, kernel in zip(ax.containers, kernels, strict=True):
        mine = [str(one) == str(kernel) for one in search.cv_results_["param_svm__kernel"]]
        np.testing.assert_array_equal(container.lines[0].get_ydata(), search.cv_results_["mean_test_score"][mine])
        # Lines stand a little beside each other.
        np.testing.assert_allclose(container.lines[0].get_xdata(), np.log([0.1, 1.0]), atol=0.25)


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
