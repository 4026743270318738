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

from dipolar import DipoleSurvivalTree, DipoleSurvivalTreeCV, DipoleSVM, LogRankSurvivalTree

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

    def settings(self) -> dict[str, Any]:
        """Return all that the result depends on, as JSON types."""
        parameters = {k: v for k, v in self.tree.get_params().items() if k not in ("n_jobs", "random_state", "verbose")}
        return {
            "estimator": type(self.tree).__name__,
            "parameters": {k: list(v) if isinstance(v, tuple) else v for k, v in parameters.items()},
            "etas": list(self.etas),
            "fixed_alpha": self.fixed_alpha,
        }

    def make(self, seed: int, **changes: Any) -> Any:
        """Return the unfitted tree."""
        return clone(self.tree).set_params(random_state=seed % 2**31, **changes)

    def make_tuned(self, seed: int, kappa: float) -> Any:
        """Return the unfitted tree with the kappa that a search has chosen."""
        return self.make(seed, kappa=kappa)

    def make_search(self, seed: int, etas: Sequence[float], scoring: str | Sequence[str]) -> DipoleSurvivalTreeCV:
        """Return an unfitted search for eta by cross-validated scores of trees that are pruned at the fixed price."""
        return DipoleSurvivalTreeCV(
            kernel=KERNELS[self.name],
            eta=etas,
            max_depth=None,
            estimator=self.make(seed, pruning="fixed", alpha=self.fixed_alpha),
            cv=INNER_FOLDS,
            scoring=scoring,
            random_state=seed % 2**31,
        )


def model_settings(models: dict[str, Model]) -> dict[str, Any]:
    """Return the settings of several models by name."""
    return {name: model.settings() for name, model in models.items()}


def paper_models(
    *,
    alpha: float = 2.8,
    n_bootstraps: int = 25,
    min_samples_split: int = 21,
    kappa: float | None = None,
    **svm: Any,
) -> dict[str, Model]:
    """Return the four trees by name, tuned over the paper's values of eta unless kappa is given."""
    shared: dict[str, Any] = {
        "min_samples_split": min_samples_split,
        "min_samples_leaf": 1,
        "pruning": "bootstrap",
        "alpha": alpha,
        "n_bootstraps": n_bootstraps,
    }
    models = {"univariate": Model("univariate", LogRankSurvivalTree(**shared), (), HALVED * alpha)}
    svm = {"kappa": 1.0 if kappa is None else kappa, "cutoff_rule": "scripts", "init": "quartile", **svm}
    for name, kernel in KERNELS.items():
        tree = DipoleSurvivalTree(kernel=kernel, **shared, **svm)
        models[name] = Model(name, tree, _etas(name) if kappa is None else (), alpha)
    return models


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
    return DipoleSVM(
        kernel,
        kappa=math.exp(eta),
        pure_quantile=0.35,
        mixed_quantile=0.65,
        margin_quantile=margin_quantile,
        init="quartile",
    )


def width_svm(sigma2: float) -> DipoleSVM:
    """Return a surface of the figure of kernel widths."""
    return DipoleSVM(
        "rbf",
        kappa=math.exp(-3),
        sigma2=sigma2,
        pure_quantile=0.25,
        mixed_quantile=0.75,
        margin_quantile=0.23,
        cutoff_rule="scripts",
        init="quartile",
    )
