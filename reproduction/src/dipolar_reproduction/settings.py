"""What results depend on, by the names that kept results have for it, so that those can be continued.

Some of these names are not those of parameters any more. Whatever has no name in kept results is recorded by its own,
unless it has the value that all of them were made with: results with another one are then told apart, and so are those
with a parameter that does not exist yet.
"""

from __future__ import annotations

from typing import Any

from dipolar import DipoleSVM
from dipolar.kernels import GaussianKernel
from dipolar.node_svm import DistanceQuantile

# They change no result, or are those of a unit and not of a study.
NO_SETTINGS = ("n_jobs", "random_state", "verbose")

# With what all kept results were made, without naming it.
UNNAMED = {"kappa_scale": "sum", "cut": "svm", "inherit": 0.0, "max_terms": None}

# Values that kept results call by another name.
FORMERLY = {"leblanc-crowley": "bootstrap"}

# What kept results name and an SVM has no parameter for: mixed dipoles weigh 1, and no kernel of the paper takes the
# other two.
FIXED = {"mixed_weight": 1.0, "degree": 3, "coef0": 1.0}


def svm_settings(svm: DipoleSVM) -> dict[str, Any]:
    """Return the settings of an SVM as JSON types."""
    own = _parameters(svm)
    return {**FIXED, **own, **_kernel(own["kernel"]), **_margin(own["margin"])}


def tree_settings(tree: Any) -> dict[str, Any]:
    """Return the settings of a tree and, if it has one, of its SVM as JSON types."""
    own = _parameters(tree)
    svm = own.pop("svm", None)
    return own if svm is None else {"threshold": svm.cut, **svm_settings(svm), **own}


def _parameters(estimator: Any) -> dict[str, Any]:
    named = {name: value for name, value in estimator.get_params(deep=False).items() if name not in NO_SETTINGS}
    return {
        name: list(value) if isinstance(value, tuple) else FORMERLY.get(value, value) if name == "pruning" else value
        for name, value in named.items()
        if name not in UNNAMED or value != UNNAMED[name]
    }


def _kernel(kernel: Any) -> dict[str, Any]:
    return {"kernel": "rbf", "sigma2": kernel.sigma2} if isinstance(kernel, GaussianKernel) else {"kernel": kernel}


def _margin(margin: Any) -> dict[str, Any]:
    is_quantile = isinstance(margin, DistanceQuantile)
    return {"margin": "auto", "margin_quantile": margin.quantile} if is_quantile else {"margin": margin}
