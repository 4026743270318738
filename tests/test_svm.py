"""The estimator: scikit-learn's own checks, what it promises in its docstring, and what it refuses."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from dipolar import DipoleSVM, survival_outcome
from dipolar.datasets import load_mgus, load_remission, load_whas500
from dipolar.kernels import make_kernel
from dipolar.simulation import simulate

KERNELS = ["linear", "quadratic", "polynomial", "rbf", "laplacian", "sigmoid"]


@parametrize_with_checks(
    [DipoleSVM(), DipoleSVM(kernel="linear", init="quartile"), DipoleSVM(kernel="quadratic", standardize=True)]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def planar():
    data = simulate("planar-2", 150, random_state=0)
    return data.X, data.y
