"""All routines compiled ahead, by fitting every kind of model to a few rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dipolar._core.compiling import cache_folder
from dipolar.forest.dipole_forest import DipoleSurvivalForest
from dipolar.forest.logrank_forest import LogRankSurvivalForest
from dipolar.metrics import concordance_index, integrated_brier_score, logrank_test
from dipolar.model_selection import SurvivalTreeCV
from dipolar.node_svm.svm import DipoleSVM
from dipolar.survival import survival_outcome
from dipolar.tree.dipole_tree import DipoleSurvivalTree
from dipolar.tree.logrank_tree import LogRankSurvivalTree

__all__ = ["WarmUp", "warm_up"]

N_ROWS = 40


@dataclass(frozen=True)
class WarmUp:
    """How long it took, and where the compiled routines are."""

    seconds: float
    folder: Path | None  # None where they cannot be kept


def warm_up() -> WarmUp:
    """Compile all routines now, so that later processes load them within a second.

    Call it, or `dipolar warm-up`, where an image is built or a worker starts. What has been compiled before is only
    loaded. Where it is kept is numba's choice: `NUMBA_CACHE_DIR`, else beside the package, else in the user's cache.

    Returns
    -------
    result : WarmUp
        With `seconds`, and with `folder`, which is None where nothing can be kept.

    Examples
    --------
    >>> import dipolar
    >>> dipolar.warm_up().seconds  # doctest: +SKIP
    21.4
    """
    start = time.perf_counter()
    X, y = _few_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few rows say nothing about the models
        for model in _models():
            for rows in (X, np.asfortranarray(X)):  # tables of pandas are kept column by column
                _use(model.fit(rows, y), rows, y)
        for kernel in ("linear", "rbf"):
            DipoleSVM(kernel=kernel).fit(X, y["time"]).predict(X)
        logrank_test(y, X[:, 0] > 0)
    return WarmUp(time.perf_counter() - start, cache_folder())


def _few_rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    return X, survival_outcome(rng.exponential(np.exp(X[:, 0])), rng.random(N_ROWS) < 0.7)


def _models() -> list[Any]:
    """Return a model of every kind; together they use every routine."""
    pruned = {"pruning": "bootstrap", "n_bootstraps": 2, "random_state": 0}
    forest = {"n_estimators": 2, "oob_score": True, "random_state": 0}
    paper = {"kappa_scale": "sum", "standardize": False, "init": "median"}
    return [
        LogRankSurvivalTree(**pruned),
        LogRankSurvivalTree(criterion="exponential", max_features=1, random_state=0),
        DipoleSurvivalTree(**pruned),
        DipoleSurvivalTree(DipoleSVM("rbf", cut="logrank", **paper), dipole_scope="root", inherit=0.0),
        SurvivalTreeCV(cv=2, random_state=0),
        LogRankSurvivalForest(**forest),
        DipoleSurvivalForest(**forest),
        DipoleSurvivalForest([DipoleSVM("quadratic"), DipoleSVM("rbf")], **forest),
    ]


def _use(model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Ask a model for all that it predicts, and score it."""
    concordance_index(y, model.predict(X))
    model.predict_rmst(X)
    curves = model.predict_survival_function(X)
    times = np.quantile(y["time"], [0.2, 0.5, 0.8])
    integrated_brier_score(y, y, np.array([curve(times) for curve in curves]), times)
