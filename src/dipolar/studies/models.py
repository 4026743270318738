"""The four trees of the paper with its settings, as far as they are known.

The text leaves open what the authors' scripts settle: cut-offs by R's quantile, starts at the quartiles, a node is
split if it has more than 20 rows. The price of a split is 2.8; the scripts compare it, for the univariate tree, with
half the log-rank statistic, so that it acts there as 5.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from dipolar.trees import DipoleSurvivalTree, LogRankSurvivalTree

__all__ = ["KERNELS", "TREES", "TRUTH", "Model", "paper_models"]

# As kernels are called in this library, by the name of their tree.
KERNELS = {"linear": "linear", "quadratic": "quadratic", "gaussian": "rbf"}
TREES = ("univariate", *KERNELS)

# The model that knows the hazard.
TRUTH = "truth"

# What the scripts make of the price of a split in a univariate tree, whose statistics they halve.
HALVED = 2.0


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
        parameters = {k: list(v) if isinstance(v, tuple) else v for k, v in parameters.items()}
        return {
            "estimator": type(self.tree).__name__,
            "parameters": parameters,
            "etas": list(self.etas),
            "fixed_alpha": self.fixed_alpha,
        }

    def make(self, seed: int, **changes: Any) -> Any:
        """Return the unfitted tree."""
        return clone(self.tree).set_params(random_state=seed % 2**31, **changes)


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
    univariate = Model("univariate", LogRankSurvivalTree(**shared), (), HALVED * alpha)
    models = {"univariate": univariate}
    for name, kernel in KERNELS.items():
        tree = DipoleSurvivalTree(
            kernel=kernel,
            kappa=1.0 if kappa is None else kappa,
            cutoff_rule="scripts",
            init="quartile",
            **shared,
            **svm,
        )
        models[name] = Model(name, tree, _etas(name) if kappa is None else (), alpha)
    return models


def _etas(name: str) -> tuple[float, ...]:
    """The values of log(kappa) that the paper chooses from."""
    first = -2.0 if name == "gaussian" else -4.0
    return tuple(float(eta) for eta in np.arange(first, 4.25, 0.5))
