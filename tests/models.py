"""Models as the paper has them, and forests of one kernel: short ways to write what many tests need."""

from dataclasses import fields

import numpy as np

from dipolar import DipoleSurvivalForest, DipoleSurvivalTree, DipoleSVM
from dipolar.kernels import GaussianKernel, LaplacianKernel, PolynomialKernel, SigmoidKernel, make_kernel
from dipolar.node_svm.learning import DistanceQuantile

KERNELS = {
    "rbf": GaussianKernel,
    "gaussian": GaussianKernel,
    "laplacian": LaplacianKernel,
    "polynomial": PolynomialKernel,
    "poly": PolynomialKernel,
    "sigmoid": SigmoidKernel,
}

# How the paper's text has it; the library's defaults differ in each of them.
PAPER_SVM = {
    "kappa_scale": "sum",
    "pure_weight": 1.0,
    "margin": DistanceQuantile(0.23),
    "standardize": False,
    "init": "median",
    "max_reorientations": 250,
}
PAPER_TREE = {"inherit": 0.0, "dipole_scope": "root", "max_depth": None, "min_samples_leaf": 1, "min_samples_split": 20}


def paper_svm(kernel="rbf", kappa=1.0, **settings):
    """Return a machine with the paper's settings; those of the kernel may stand beside its name."""
    own = {name: settings.pop(name) for name in ("sigma2", "gamma", "degree", "coef0") if name in settings}
    if "margin_quantile" in settings:
        settings["margin"] = DistanceQuantile(settings.pop("margin_quantile"))
    if isinstance(kernel, str) and own and kernel in KERNELS:
        kernel = KERNELS[kernel](**{key: value for key, value in own.items() if key in _fields(KERNELS[kernel])})
    return DipoleSVM(kernel, kappa, **PAPER_SVM | settings)


def paper_tree(kernel="rbf", kappa=1.0, **settings):
    """Return a tree with the paper's settings; those of its machine may stand beside its own."""
    known = DipoleSurvivalTree().get_params(deep=False)
    own = {name: value for name, value in settings.items() if name in known}
    svm = paper_svm(kernel, kappa, **{name: value for name, value in settings.items() if name not in known})
    return DipoleSurvivalTree(svm, **PAPER_TREE | own)


def forest_of(n_estimators=100, *, kernel="linear", **settings):
    """Return a dipole forest; settings of its machine may stand beside its own, and several kernels in a tuple."""
    known = DipoleSurvivalForest().get_params(deep=False)
    own = {name: value for name, value in settings.items() if name in known}
    of_svm = {"kappa": 300.0, "pure_weight": 1.0, "cut": "logrank", "max_reorientations": 1, "solver_tol": 1e-2}
    of_svm |= {name: value for name, value in settings.items() if name not in known}
    kernels = kernel if isinstance(kernel, tuple) else (kernel,)
    return DipoleSurvivalForest([DipoleSVM(name, **of_svm) for name in kernels], n_estimators, **own)


def partition(labels):
    """Return which rows are together, whatever the labels: each by the first row that it is with."""
    return np.unique(labels, return_index=True, return_inverse=True)[1][np.unique(labels, return_inverse=True)[1]]


def kernel_of(name, X, weight, **parameters):
    """Return a kernel by its name, with these parameters and the others learnt from the rows."""
    kernel = make_kernel(name)
    if name in KERNELS:
        kernel = KERNELS[name](**{key: value for key, value in parameters.items() if key in _fields(kernel)})
    return kernel.fit(np.asarray(X, dtype=float), weight)


def _fields(kernel):
    return {field.name for field in fields(kernel)}
