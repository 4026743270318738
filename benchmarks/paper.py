"""Machines and trees with the settings of the paper, for the benchmarks that measure those."""

from __future__ import annotations

from dipolar import DipoleSurvivalTree, DipoleSVM
from dipolar.node_svm import DistanceQuantile

SVM = {
    "kappa_scale": "sum",
    "pure_weight": 1.0,
    "margin": DistanceQuantile(0.23),
    "standardize": False,
    "init": "median",
    "max_reorientations": 250,
}
TREE = {"inherit": 0.0, "dipole_scope": "root", "max_depth": None, "min_samples_leaf": 1, "min_samples_split": 20}


def paper_svm(kernel: str = "rbf", kappa: float = 1.0, **changes) -> DipoleSVM:
    """The machine of the paper's text."""
    return DipoleSVM(kernel, kappa, **SVM | changes)


def paper_tree(svm: DipoleSVM, **changes) -> DipoleSurvivalTree:
    """A tree as in the paper, with this machine."""
    return DipoleSurvivalTree(svm, **TREE | changes)
