"""What is recorded of an estimator: by the names of kept results, and nothing is lost."""

import json

import pytest
from sklearn.base import clone

from dipolar.kernels import GaussianKernel
from dipolar.node_svm import DistanceQuantile
from dipolar_reproduction.models import paper_models, remission_models, width_svm
from dipolar_reproduction.settings import NO_SETTINGS, svm_settings, tree_settings

MODELS = paper_models()
TREES = {"dipole": MODELS["gaussian"].tree, "univariate": MODELS["univariate"].tree}

# Another value of each parameter that is no number.
OTHERS = {
    "kernel": "laplacian",
    "kappa_scale": "mean",
    "cutoff_rule": "text",
    "margin": DistanceQuantile(0.5),
    "standardize": True,
    "init": "hazard",
    "cut": "logrank",
    "solver": "osqp",
    "dipole_scope": "node",
    "pruning": None,
    "criterion": "fleming-harrington",
    "fleming_harrington": (0.0, 1.0),
    "max_depth": 4,
    "max_leaf_nodes": 4,
    "max_features": 4,
    "max_terms": 4,
    "svm": width_svm(2.0),
}


def other_value(name, value):
    return OTHERS[name] if name in OTHERS else value + 1


def parameters(estimator):
    return [name for name in estimator.get_params(deep=False) if name not in NO_SETTINGS]


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, tree in TREES.items() for name in parameters(tree)])
def test_no_parameter_of_a_tree_is_left_out(kind, name):
    tree = TREES[kind]
    other = clone(tree).set_params(**{name: other_value(name, tree.get_params()[name])})
    assert tree_settings(other) != tree_settings(tree) == tree_settings(clone(tree))
    json.dumps(tree_settings(other))


@pytest.mark.parametrize("name", parameters(width_svm(1.0)))
def test_no_parameter_of_an_svm_is_left_out(name):
    svm = width_svm(1.0)
    other = clone(svm).set_params(**{name: other_value(name, svm.get_params()[name])})
    assert svm_settings(other) != svm_settings(svm) == svm_settings(clone(svm))
    json.dumps(svm_settings(other))


def test_margins_and_widths_are_recorded_by_their_numbers():
    svm = width_svm(2.0)
    assert svm_settings(svm) == svm_settings(clone(svm).set_params(kernel=GaussianKernel(2.0)))
    assert svm_settings(svm)["sigma2"] == 2.0 and svm_settings(svm)["kernel"] == "rbf"
    quantile, fixed = (svm_settings(clone(svm).set_params(margin=m)) for m in (DistanceQuantile(0.4), 0.4))
    assert quantile["margin_quantile"] == 0.4 and fixed["margin"] == 0.4 and "margin_quantile" not in fixed


def test_the_width_of_a_study_is_recorded_with_each_of_its_dipole_trees():
    recorded = {name: model.settings()["parameters"].get("sigma2") for name, model in remission_models().items()}
    assert recorded == {"univariate": None, "linear": 1.0, "quadratic": 1.0, "gaussian": 1.0}
