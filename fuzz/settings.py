"""Parameters of estimators: ordinary values, extreme ones that are allowed, and now and then a wrong one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dipolar import (
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalForest,
    LogRankSurvivalTree,
    SurvivalTreeCV,
)
from dipolar.kernels import GaussianKernel, LaplacianKernel, PolynomialKernel, SigmoidKernel
from dipolar.node_svm.learning import DistanceQuantile
from fuzz.draw import Draw

__all__ = ["KINDS", "PARAMETERS", "draw_estimator", "draw_mistaken"]

Table = dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]]

# What no parameter should choke on.
WRONG: tuple[Any, ...] = (
    None,
    -1,
    0,
    1.5,
    True,
    float("nan"),
    float("inf"),
    10**400,
    "nonsense",
    [],
    {"a": 1},
    np.ones(2),
    object(),
)

# Shares of the cases: how often a parameter is not left at its default, and how often one of them is wrong.
GIVEN, MISTAKEN = 0.3, 0.04


def inner_product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A kernel that is passed as a function."""
    return np.clip(A, -1e100, 1e100) @ np.clip(B, -1e100, 1e100).T + 1.0


def broken_kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A kernel that a user got wrong."""
    return np.full((len(A), len(B)), np.nan)


SVM: Table = {
    "kernel": (
        ("linear", "linear", "quadratic", "polynomial", "rbf", "laplacian", "sigmoid", inner_product),
        (
            "gaussian", "poly", "precomputed", broken_kernel, GaussianKernel(1e-12), GaussianKernel(1e300),
            LaplacianKernel(1e-300), LaplacianKernel(1e12), PolynomialKernel(6, 0.0), PolynomialKernel(4, 1e10),
            SigmoidKernel(1e12, 0.5), PolynomialKernel(300), GaussianKernel(-1.0),
        ),
    ),
    "kappa": ((0.01, 1.0, 100.0), (1e-12, 1e-6, 1e6, 1e12, 1e-300, 1e300)),
    "kappa_scale": (("mean", "sum"), ()),
    "pure_quantile": ((0.25, 0.5), (0.0, 1e-12, 0.99)),
    "mixed_quantile": ((0.75, 0.6), (1.0, 1e-9, 0.999999)),
    "pure_weight": ((1.0, 0.1), (0.0, 1e-300, 1e12, 1e308)),
    "cutoff_rule": (("text", "scripts"), ()),
    "margin": ((1.0, DistanceQuantile()), (1e-300, 1e-12, 1e12, 1e300, DistanceQuantile(0.0), DistanceQuantile(1.0))),
    "standardize": ((True, False), ()),
    "init": (("hazard", "median", "quartile", "positive"), ()),
    "cut": (("svm", "logrank"), ()),
    "solver": (("interior_point",) * 9 + ("osqp",), ()),
    "tol": ((0.01, 1e-3), (1e-12, 0.99, 1e-300)),
    "solver_tol": ((1e-6, 1e-2), (1e-12, 1.0, 1e-300)),
    "max_reorientations": ((0, 1, 5, 250), ()),
    "factor_tol": ((1e-4, 1e-2), (0.0, 1.0, 1e-16)),
    "max_rank": ((500, 16), (1, 2, None)),
}  # fmt: skip
LIMITS: Table = {
    "max_depth": ((None, 3), (1, 1000)),
    "max_leaf_nodes": ((None, 4), (2, 10**9)),
    "min_samples_split": ((6, 20), (2, 2.5, 1e6, 1e300)),
    "min_samples_leaf": ((1, 3, 10), (1.5, 1e6, 1e300)),
    "min_events_leaf": ((0, 2), (0.5, 1e6)),
    "min_logrank": ((0.0, 3.84), (1e-300, 1e6, 1e300)),
}
PRUNING: Table = {
    "pruning": ((None, "fixed", "validation", "bootstrap"), ()),
    "alpha": ((4.0, 2.0), (0.0, 1e-300, 1e6, 1e300)),
    "n_bootstraps": ((1, 2, 5), ()),
    "validation_fraction": ((0.3, 0.5), (1e-9, 0.999999)),
    "random_state": ((0, 1), (None,)),
}
FAMILIES: Table = {
    "criterion": (("logrank", "gehan", "tarone-ware", "fleming-harrington", "exponential"), ()),
    "fleming_harrington": (((1.0, 0.0), (0.5, 1.0)), ((0.0, 0.0), (1e-300, 1e300), (100.0, 100.0))),
}
MAX_FEATURES = ((None, "sqrt", "log2", 0.5), (1, 1e-9, 1.0))
LOGRANK_TREE: Table = FAMILIES | LIMITS | PRUNING | {"max_features": MAX_FEATURES}
DIPOLE_TREE: Table = (
    LIMITS
    | PRUNING
    | {
        "dipole_scope": (("root", "node"), ()),
        "inherit": ((0.0, 5.0), (1e-300, 1e-6, 1e6)),
        "max_terms": ((1, 2, 3), (10**30,)),
    }
)
FOREST: Table = LIMITS | {
    "n_estimators": ((1, 3, 8), ()),
    "max_features": MAX_FEATURES,
    "bootstrap": ((True, False), ()),
    "max_samples": ((None, 0.5), (1, 1e-9, 1.0)),
    "time_grid": ((None, 10), (1, 10**6, (1.0, 2.0, 5.0), (0.0,), (1e-300, 1e300), (5.0, 1.0, 1.0))),
    "oob_score": ((True, False), ()),
    "tune": (
        (False, {"min_samples_leaf": [3, 10]}),
        (True, {}, [{"min_logrank": [0.0, 1e300]}, {"bootstrap": [False]}]),
    ),
    "random_state": ((0, 1), (None,)),
}
LOGRANK_FOREST: Table = FOREST | FAMILIES
DIPOLE_FOREST: Table = FOREST | {"max_node_samples": ((256, 20, None), (2, 3, 10**6))}
CV: Table = {
    "estimator": (
        (None, LogRankSurvivalTree(), DipoleSurvivalTree(DipoleSVM("rbf"))), (DipoleSurvivalTree(pruning="fixed"),)
    ),
    "max_depth": (("auto", (0, 1, 2), None), (1, 0, (1000, 1))),
    "param_grid": (({}, {"min_samples_leaf": [3, 10]}), ({"pruning": ["fixed", None]}, {"min_logrank": [1e300]})),
    "cv": ((2, 3), (5,)),
    "scoring": (("concordance", "neg_ibs", ("concordance_ipcw", "auc")), ("concordance_paper", "neg_ibs_authors")),
    "tolerance": ((0, 0.5, 1), (0.0, 100)),
    "level": ((0.005, None), (0.5,)),
    "random_state": ((0, 1), (None,)),
}  # fmt: skip

# The solver that is there for reference is slow: it is asked for one problem, or two.
WITH_OSQP = {"init": "positive", "max_reorientations": 1, "solver_tol": 1e-2}

# The estimators, what is drawn for them, and what keeps a case cheap and the same each time where nothing is drawn.
ESTIMATORS: Mapping[str, tuple[type, Table, Mapping[str, Any]]] = {
    "svm": (DipoleSVM, SVM, {}),
    "logrank tree": (LogRankSurvivalTree, LOGRANK_TREE, {"random_state": 0, "n_bootstraps": 3}),
    "dipole tree": (DipoleSurvivalTree, DIPOLE_TREE, {"random_state": 0, "n_bootstraps": 2}),
    "tuned tree": (SurvivalTreeCV, CV, {"random_state": 0, "param_grid": {"min_samples_leaf": [3]}, "cv": 2}),
    "logrank forest": (LogRankSurvivalForest, LOGRANK_FOREST, {"random_state": 0, "n_estimators": 5}),
    "dipole forest": (DipoleSurvivalForest, DIPOLE_FOREST, {"random_state": 0, "n_estimators": 5}),
}
KINDS = tuple(ESTIMATORS)

# The names of all parameters.
PARAMETERS = frozenset({"sigma2", "gamma", "degree", "coef0"}).union(
    *(estimator().get_params() for estimator, _, _ in ESTIMATORS.values())
)


def draw_estimator(draw: Draw, kind: str) -> Any:
    """Return an unfitted estimator of a kind."""
    estimator, table, fixed = ESTIMATORS[kind]
    settings = _draw_settings(draw, table, **fixed)
    if kind in ("dipole tree", "dipole forest") and draw.chance(0.9):
        n_machines = draw.one_of((1, 1, 2)) if kind == "dipole forest" else 1
        machines = [DipoleSVM(**_draw_settings(draw, SVM, name=f"svm {number}")) for number in range(n_machines)]
        settings["svm"] = machines if n_machines > 1 else machines[0]
    return estimator(**settings)


def draw_mistaken(draw: Draw) -> tuple[Any, str]:
    """Return an estimator with one parameter that is probably wrong, and the name of that."""
    estimator, _, fixed = ESTIMATORS[draw.note("kind", draw.one_of(KINDS))]
    names = [name for name in estimator().get_params() if name not in ("n_jobs", "verbose")]
    name, value = draw.note("mistaken", draw.one_of(names)), draw.note("value", draw.one_of(WRONG))
    return estimator(**{**fixed, name: value}), name


def _draw_settings(draw: Draw, table: Table, name: str = "settings", **fixed: Any) -> dict[str, Any]:
    """Return parameters; those in `fixed` are given unless another value is drawn."""
    settings = dict(fixed)
    for parameter, (ordinary, wild) in table.items():
        if draw.chance(0.9 if parameter in ("kernel", "pruning", "criterion") else GIVEN):
            settings[parameter] = draw.ordinary_or_wild(ordinary, wild)
    if settings.get("solver") == "osqp":
        settings |= {key: value for key, value in WITH_OSQP.items() if key in table}
    if not draw.is_tame and draw.chance(MISTAKEN):
        settings[draw.note("mistaken", draw.one_of(list(table)))] = draw.one_of(WRONG)
    return draw.note(name, settings)
