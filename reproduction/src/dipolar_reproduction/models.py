"""Every estimator of the study, with the paper's settings as far as they are known; nothing else here makes one.

The text leaves open what the authors' scripts settle: cut-offs by R's quantile, starts at the quartiles, a node is
split if it has more than 20 rows. The price of a split is 2.8; the scripts compare it, for the univariate tree, with
half the log-rank statistic, so that it acts there as 5.6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from dipolar import DipoleSurvivalTree, DipoleSVM, LogRankSurvivalTree, SurvivalTreeCV
from dipolar.kernels import GaussianKernel, Kernel
from dipolar.node_svm import DistanceQuantile
from dipolar_reproduction.settings import tree_settings

# As kernels are called in this library, by the name of their tree.
KERNELS = {"linear": "linear", "quadratic": "quadratic", "gaussian": "rbf"}
TREES = ("univariate", *KERNELS)

# The model that knows the hazard.
TRUTH = "truth"

# What the scripts make of the price of a split in a univariate tree, whose statistics they halve.
HALVED = 2.0
INNER_FOLDS = 5


@dataclass(frozen=True)
class Model:
    """A tree, how it is tuned, and what its pruning costs under either rule."""

    name: str
    tree: LogRankSurvivalTree | DipoleSurvivalTree  # prunes by the bootstrap, as the text says
    etas: tuple[float, ...]  # to choose from by cross-validation; none: the tree is taken as it is
    fixed_alpha: float  # price on the scale of the log-rank chi-square, by which the scripts prune
    sigma2: float | None = None  # width of the study's Gaussian kernel; results have it with each of its dipole trees

    def settings(self) -> dict[str, Any]:
        """Return all that the result depends on, as JSON types."""
        return {
            "estimator": type(self.tree).__name__,
            "parameters": {**tree_settings(self.tree), **({} if self.sigma2 is None else {"sigma2": self.sigma2})},
            "etas": list(self.etas),
            "fixed_alpha": self.fixed_alpha,
        }

    def make(self, seed: int, **changes: Any) -> Any:
        """Return the unfitted tree."""
        return clone(self.tree).set_params(random_state=seed % 2**31, **changes)

    def make_tuned(self, seed: int, kappa: float) -> Any:
        """Return the unfitted tree with the kappa that a search has chosen."""
        return self.make(seed, svm__kappa=kappa)

    def make_search(self, seed: int, etas: Sequence[float], scoring: str | Sequence[str]) -> SurvivalTreeCV:
        """Return an unfitted search for eta by cross-validated scores of trees that are pruned at the fixed price."""
        return SurvivalTreeCV(
            self.make(seed, pruning="fixed", alpha=self.fixed_alpha),
            param_grid={"svm__kappa": [math.exp(eta) for eta in etas]},
            max_depth=None,
            cv=INNER_FOLDS,
            scoring=scoring,
            tolerance=0,
            level=None,
            random_state=seed % 2**31,
        )


def model_settings(models: dict[str, Model]) -> dict[str, Any]:
    """Return the settings of several models by name."""
    return {name: model.settings() for name, model in models.items()}


def paper_svm(kernel: str | Kernel, kappa: float, margin_quantile: float = 0.23, **others: Any) -> DipoleSVM:
    """Return an SVM as the paper has it, starting as the authors' scripts do; the library recommends another one."""
    return DipoleSVM(
        kernel,
        kappa,
        kappa_scale="sum",
        pure_weight=1.0,
        margin=DistanceQuantile(margin_quantile),
        standardize=False,
        init="quartile",
        max_reorientations=250,
        **others,
    )


def paper_models(
    *,
    alpha: float = 2.8,
    n_bootstraps: int = 25,
    min_samples_split: int = 21,
    kappa: float | None = None,
    sigma2: float | None = None,
    **svm: Any,
) -> dict[str, Model]:
    """Return the four trees by name, tuned over the paper's values of eta unless kappa is given."""
    shared: dict[str, Any] = {
        "max_depth": None,
        "min_samples_split": min_samples_split,
        "min_samples_leaf": 1,
        "pruning": "leblanc-crowley",
        "alpha": alpha,
        "n_bootstraps": n_bootstraps,
    }
    models = {"univariate": Model("univariate", LogRankSurvivalTree(**shared), (), HALVED * alpha)}
    for name in KERNELS:
        machine = paper_svm(_kernel(name, sigma2), 1.0 if kappa is None else kappa, cutoff_rule="scripts", **svm)
        tree = DipoleSurvivalTree(machine, inherit=0.0, dipole_scope="root", **shared)
        models[name] = Model(name, tree, _etas(name) if kappa is None else (), alpha, sigma2)
    return models


def _kernel(name: str, sigma2: float | None) -> str | Kernel:
    return GaussianKernel(sigma2) if name == "gaussian" and sigma2 is not None else KERNELS[name]


def _etas(name: str) -> tuple[float, ...]:
    """The values of log(kappa) that the paper chooses from."""
    first = -2.0 if name == "gaussian" else -4.0
    return tuple(float(eta) for eta in np.arange(first, 4.25, 0.5))


def remission_models() -> dict[str, Model]:
    """Return the four trees with the settings of the Remission figure."""
    quantiles: dict[str, Any] = {"pure_quantile": 0.15, "mixed_quantile": 0.55, "margin_quantile": 0.10}
    return paper_models(alpha=2.2, min_samples_split=11, kappa=math.exp(3), sigma2=1.0, **quantiles)


def split_svm(kernel: str, eta: float, margin_quantile: float) -> DipoleSVM:
    """Return a surface of the figure of split detection."""
    return paper_svm(kernel, math.exp(eta), margin_quantile, pure_quantile=0.35, mixed_quantile=0.65)


def width_svm(sigma2: float) -> DipoleSVM:
    """Return a surface of the figure of kernel widths."""
    return paper_svm(GaussianKernel(sigma2), math.exp(-3), cutoff_rule="scripts")
