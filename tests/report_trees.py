"""Trees of every kind, and rows to send down them, for the tests of the report."""

import functools

import numpy as np
import pandas as pd
from sklearn.base import clone

from dipolar import (
    CovariateEncoder,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalTree,
    make_pipeline,
    survival_outcome,
)
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
        # With these all kernels are drawn for some node.
        settings = {"random_state": 1, "min_samples_leaf": 5} if kind == "member mixed" else {"random_state": 0}
        forest = forest_of(2, kernel=MEMBERS[kind.removeprefix("member ")], max_features=3, **settings)
        return X, forest.fit(X, y).tree(1)
    if kind == "quadratic of rows":  # 350 monomials are too many to be listed
        X, y = random_rows(n=80, n_features=25)
    return X, paper_tree(min_samples_split=40, min_samples_leaf=3, **SETTINGS[kind]).fit(X, y)


def clinic(n=300, seed=0):
    """A table as people have it: categories, an order, booleans, dates, two values, rare levels, and gaps."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(40, 90, n).astype(float),
            "sex": rng.choice(["f", "m"], n),
            "stage": rng.choice(["I", "II", "III"], n),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True),
            "smoker": rng.random(n) < 0.4,
            "admitted": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
            "code": rng.choice(["1", "2", "3", "17", "18"], n, p=[0.4, 0.3, 0.26, 0.02, 0.02]),
            "arm": rng.choice([3.0, 5.0], n),
        }
    )
    for column, share in (("age", 0.15), ("sex", 0.02), ("admitted", 0.05)):
        X.loc[rng.random(n) < share, column] = None
    score = X["age"].fillna(65) / 15 + (X["stage"] == "III") + 0.8 * (X["sex"] == "m") + 0.5 * X["smoker"]
    score += (X["arm"] == 5) + 0.002 * (X["admitted"] - X["admitted"].min()).dt.days.fillna(300)
    return X, survival_outcome(np.round(rng.exponential(np.exp(10 - score)), 2), rng.random(n) < 0.7)


ENCODED = {
    "univariate": LogRankSurvivalTree(max_depth=4),
    "univariate, gaps": LogRankSurvivalTree(max_depth=4),
    "linear": DipoleSurvivalTree(max_depth=3, random_state=0),
    "few terms": DipoleSurvivalTree(max_terms=2, max_depth=3, random_state=0),
    "gaussian": DipoleSurvivalTree(DipoleSVM("rbf"), max_depth=2, random_state=0),
}


def clinic_encoder(kind):
    missing = "keep" if kind.endswith("gaps") else "fill"
    return CovariateEncoder(dates="days", missing=missing, min_frequency=0.1, categorical=["code"])


@functools.cache
def encoded(kind):
    """A table, its outcome, and a pipeline of an encoder and a tree."""
    X, y = clinic()
    return X, y, make_pipeline(clinic_encoder(kind), clone(ENCODED[kind])).fit(X, y)


def clinic_people(n=200, seed=3):
    """People within the range, beyond it, with gaps, and with categories that nobody had."""
    rng = np.random.default_rng(seed)
    X, _ = clinic(n, seed)
    X["age"] = np.where(rng.random(n) < 0.2, rng.normal(65, 60, n), X["age"])
    X["arm"] = np.where(rng.random(n) < 0.1, 4.5, X["arm"])
    X["grade"] = X["grade"].astype(object)
    X["smoker"] = X["smoker"].astype(object)
    for column in X:
        X.loc[rng.random(n) < 0.1, column] = None
    for column, cell in (("stage", "IV"), ("code", "99"), ("grade", "none")):
        X.loc[rng.random(n) < 0.1, column] = cell
    return X


def as_cells(X):
    """Cells as JSON has them."""
    return [[None if pd.isna(cell) else _cell(cell) for cell in row] for row in X.astype(object).to_numpy()]


def _cell(cell):
    return str(cell)[:10] if isinstance(cell, pd.Timestamp) else cell


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
