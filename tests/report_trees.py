"""Trees of every kind, and rows to send down them, for the tests of the report."""

import functools

import numpy as np
import pandas as pd

from dipolar import DipoleSurvivalTree, DipoleSVM, LogRankSurvivalTree, survival_outcome
from dipolar.datasets import load_whas500
from tests.models import forest_of, paper_tree
from tests.rational_quadratic import RationalQuadraticKernel

SETTINGS = {
    "linear": {"kernel": "linear", "standardize": True},
    "quadratic": {"kernel": "quadratic", "kappa": 0.1, "standardize": True},
    "cubic": {"kernel": "polynomial", "degree": 3, "coef0": 0.5, "kappa": 0.01},
    "gaussian": {"kernel": "rbf", "standardize": True},
    "laplacian": {"kernel": "laplacian"},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.02, "standardize": True},
    "rational quadratic": {"kernel": RationalQuadraticKernel(power=1.5, width=0.7), "standardize": True},
    "quadratic of rows": {"kernel": "quadratic", "kappa": 0.01, "standardize": True},
}
# Trees whose nodes have the score of their parent as one more feature.
HEIRS = {kernel: DipoleSVM(kernel, cut="logrank") for kernel in ("linear", "quadratic", "rbf")}
MEMBERS = {
    "linear": "linear",
    "quadratic": "quadratic",
    "gaussian": "rbf",
    "mixed": ("linear", "quadratic", "polynomial", "rbf"),
}
KINDS = ["univariate", *SETTINGS, *(f"heir {kernel}" for kernel in HEIRS), *(f"member {kind}" for kind in MEMBERS)]


@functools.cache
def whas():
    """Rows of the Worcester Heart Attack Study, and a univariate tree."""
    X, y = load_whas500(return_X_y=True)
    return X, y, LogRankSurvivalTree(min_samples_leaf=15, pruning="fixed", alpha=12).fit(X, y)


def random_rows(n=200, n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * 3 + 1
    hazard = np.exp(0.4 * X[:, 0] - 0.1 * X[:, 1] ** 2 / 3)
    time = np.round(rng.exponential(100 / hazard), 1)
    return X, survival_outcome(time, rng.random(n) < 0.7)


@functools.cache
def fitted(kind):
    """Training rows and a tree, by the kind of its splits."""
    X, y = random_rows()
    if kind == "univariate":
        X[np.random.default_rng(3).random(X.shape) < 0.1] = np.nan
        return X, LogRankSurvivalTree(max_depth=None, min_samples_leaf=8).fit(X, y)
    if kind.startswith("heir "):
        return X, DipoleSurvivalTree(HEIRS[kind.removeprefix("heir ")], min_samples_leaf=8).fit(X, y)
    if kind.startswith("member "):
        seed = 2 if kind == "member mixed" else 0  # with which all kernels are drawn for some node
        forest = forest_of(2, kernel=MEMBERS[kind.removeprefix("member ")], max_features=3, random_state=seed)
        return X, forest.fit(X, y).tree(1)
    if kind == "quadratic of rows":  # 350 monomials are too many to be listed
        X, y = random_rows(n=80, n_features=25)
    return X, paper_tree(min_samples_split=40, min_samples_leaf=3, **SETTINGS[kind]).fit(X, y)


def people(X, n=200, seed=7):
    """Rows near and beyond the training rows, with missing values where these have some."""
    rng = np.random.default_rng(seed)
    rows = np.nanmean(X, axis=0) + 1.5 * np.nanstd(X, axis=0) * rng.normal(size=(n, X.shape[1]))
    if np.isnan(X).any():
        rows[rng.random(rows.shape) < 0.2] = np.nan
    return rows


def as_json(rows):
    """Numbers as JSON has them, in lists of lists: None for what is missing or infinite."""
    if np.ndim(rows) == 0:
        return float(rows) if np.isfinite(rows) else None
    return [as_json(row) for row in rows]


HOSTILE_NAMES = [
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror='window.hacked = 2'>",
    "👩‍⚕️ 🫀 " * 8,
    "a covariate with a very long name, measured twice at baseline and once later on",
]


def hostile_tree(seed=5, **settings):
    X, y = random_rows(240, seed=seed)
    return LogRankSurvivalTree(**{"max_depth": None} | settings).fit(pd.DataFrame(X, columns=HOSTILE_NAMES), y)
