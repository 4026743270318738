"""A kernel of one's own: one class in one file, and all that a tree does works with it."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from dipolar import DipoleSurvivalTree, survival_outcome
from dipolar.kernels import KERNELS, Kernel, register_kernel
from dipolar.report import render_report
from dipolar.tree.export import export_text, to_dict
from tests.models import paper_tree
from tests.rational_quadratic import RationalQuadraticKernel


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    time = rng.exponential(np.exp(X[:, 0] ** 2 - X[:, 1])) * 100
    return X, survival_outcome(time, rng.random(150) < 0.7)


@pytest.fixture(scope="module")
def tree(data):
    return paper_tree(kernel=RationalQuadraticKernel(1.5, 2.0), max_depth=2, standardize=True).fit(*data)


def test_a_tree_grows_and_its_rules_name_the_kernel(tree):
    assert tree.n_leaves_ > 2
    assert export_text(tree).startswith("rational quadratic score of x")


def test_its_plain_form_has_the_parameters(tree):
    plain = json.loads(json.dumps(to_dict(tree)))
    for kernel in [node["split"]["kernel"] for node in plain["nodes"] if not node["is_leaf"]]:
        assert kernel["name"] == "RationalQuadraticKernel" and kernel["word"] == "rational quadratic"
        assert kernel["parameters"] == {"power": 1.5, "width": 2.0}
        assert Kernel.from_dict(kernel) == tree.svm.kernel


def test_a_saved_tree_comes_back(tree, data, tmp_path):
    tree.save(tmp_path / "model")
    loaded = DipoleSurvivalTree.load(tmp_path / "model")
    assert loaded.svm.kernel == tree.svm.kernel and loaded.tree_ == tree.tree_
    np.testing.assert_array_equal(loaded.predict(data[0]), tree.predict(data[0]))


def test_the_page_computes_it_with_the_code_of_the_class(tree):
    assert RationalQuadraticKernel.javascript in render_report(tree)
    assert RationalQuadraticKernel.javascript not in render_report(tree, predict_form=False)


@dataclass(frozen=True)
class SilentKernel(Kernel):
    """The linear kernel without a word about itself."""

    def block(self, A, B):
        return A @ B.T

    def diagonal(self, A):
        return (A * A).sum(axis=1)


def test_a_kernel_that_says_nothing_about_itself_still_grows_a_tree(data, tmp_path):
    tree = paper_tree(kernel=SilentKernel(), max_depth=1).fit(*data)
    assert export_text(tree).startswith("kernel score of x")
    with pytest.raises(ValueError, match="registered kernels"):
        tree.save(tmp_path / "model")
    with pytest.raises(ValueError, match="javascript"):
        render_report(tree)
    assert '"SilentKernel"' in render_report(tree, predict_form=False)


def test_two_kernels_of_one_name_are_not_registered():
    other = type("RationalQuadraticKernel", (SilentKernel,), {"__module__": "elsewhere"})
    with pytest.raises(ValueError, match=r"RationalQuadraticKernel of elsewhere has the name of a kernel of tests"):
        register_kernel(other)
    assert KERNELS["RationalQuadraticKernel"] is RationalQuadraticKernel
    assert register_kernel(RationalQuadraticKernel) is RationalQuadraticKernel


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ("GaussianKernel", "a name and its parameters"),
        ({"name": "GaussianKernel"}, "a name and its parameters"),
        ({"name": "os.system", "parameters": {}}, "unknown kernel 'os.system'"),
        ({"name": "GaussianKernel", "parameters": {}}, r"has the parameters \['sigma2'\].* got {}"),
        ({"name": "GaussianKernel", "parameters": {"sigma2": 1.0, "gamma": 1.0}}, "has the parameters"),
        ({"name": "GaussianKernel", "parameters": {"sigma2": "1"}}, "sigma2 must be a number"),
        ({"name": "GaussianKernel", "parameters": {"sigma2": float("nan")}}, "sigma2 must be a number"),
    ],
)
def test_what_is_no_kernel_is_refused(plain, message):
    with pytest.raises(ValueError, match=message):
        Kernel.from_dict(plain)
