"""Fitted trees to draw, and figures that are closed behind every test."""

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import pytest

from dipolar import LogRankSurvivalTree
from dipolar.datasets import load_whas500
from tests.models import paper_tree


@pytest.fixture(autouse=True)
def close_figures():
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before, "drawing changes no settings"


@pytest.fixture(scope="session")
def data():
    return load_whas500(return_X_y=True)


@pytest.fixture(scope="session")
def plane(data):
    X, y = data
    return X[["hr", "bmi"]][:300], y[:300]


@pytest.fixture(scope="session")
def trees(data):
    """Trees of known sizes."""
    grown = {n: LogRankSurvivalTree(max_leaf_nodes=n, min_samples_leaf=5).fit(*data) for n in (2, 3, 8, 40)}
    grown[1] = LogRankSurvivalTree(min_logrank=1e9).fit(*data)
    assert all(tree.n_leaves_ == n for n, tree in grown.items())
    return grown


@pytest.fixture(scope="session")
def linear(data):
    return paper_tree(kernel="linear", kappa=0.1, standardize=True, max_depth=2).fit(*data)


@pytest.fixture(scope="session")
def curved(plane):
    return paper_tree(kernel="quadratic", standardize=True, max_depth=2).fit(*plane)


@pytest.fixture(scope="session")
def pruned(data):
    tree = LogRankSurvivalTree(pruning="leblanc-crowley", n_bootstraps=5, min_samples_leaf=10, random_state=0)
    return tree.fit(*data)
