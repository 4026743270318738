"""Draw the pictures of docs/plotting.md, and the tree of the README, from the Worcester Heart Attack Study.

Run `python examples/plot_tree.py`; it writes to docs/images, and takes about a minute.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from dipolar import DipoleSurvivalTree, DipoleSVM, LogRankSurvivalTree, SurvivalTreeCV
from dipolar.datasets import load_whas500
from dipolar.metrics import calibration_curve
from dipolar.plotting import (
    plot_calibration,
    plot_importance,
    plot_kappa_path,
    plot_leaf_curves,
    plot_pruning_path,
    plot_split_surface,
    plot_tree,
)

IMAGES = Path(__file__).parent.parent / "docs" / "images"
NAMES = {"age": "age", "hr": "heart rate", "diasbp": "diastolic BP", "bmi": "BMI", "chf": "heart failure"}


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    X, y = load_whas500(return_X_y=True, covariates="all")
    X = X[list(NAMES)].rename(columns=NAMES)

    tree = fit_tree(X, y)
    save(plot_tree(tree, time_label="days after the heart attack"), "tree", dpi=130)
    save(plot_leaf_curves(tree, time_label="days"), "leaf_curves")
    grown = DipoleSurvivalTree(max_depth=None, min_samples_leaf=10, pruning="bootstrap", random_state=0)
    save(plot_pruning_path(grown.fit(X, y)), "pruning_path")
    save(plot_importance(tree), "importance")
    save(plot_split_surface(tree, X, y, features=["age", "BMI"], fixed={"heart failure": 0}), "split_surface")
    save(plot_calibration(held_out_calibration(X, y)), "calibration")

    pair = X[["heart rate", "BMI"]]
    curved = DipoleSurvivalTree(DipoleSVM("quadratic"), max_depth=2).fit(pair, y)
    save(plot_tree(curved, X=pair, time_label="days"), "tree_pictures")
    large = LogRankSurvivalTree(max_leaf_nodes=40, min_samples_leaf=5).fit(X, y)
    save(plot_tree(large, time_label="days"), "tree_large", dpi=80)
    save(plot_kappa_path(tune(X, y))[0], "kappa_path")


def fit_tree(X: pd.DataFrame, y) -> DipoleSurvivalTree:
    """An oblique tree of two covariates in a split."""
    return DipoleSurvivalTree(max_terms=2, max_depth=2).fit(X, y)


def held_out_calibration(X: pd.DataFrame, y) -> pd.DataFrame:
    """How a tree of one half predicts two-year survival in the other."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y["event"])
    tree = fit_tree(X_train, y_train)
    return calibration_curve(y_test, tree.predict_survival_function(X_test), 730, groups=tree.apply(X_test))


def tune(X: pd.DataFrame, y) -> SurvivalTreeCV:
    search = SurvivalTreeCV(
        param_grid={"svm__kernel": ["linear", "quadratic", "rbf"], "svm__kappa": np.exp(np.arange(-2.0, 11.0, 2.0))},
        max_depth=[3],
        scoring=("concordance", "neg_ibs"),
        random_state=0,
    )
    return search.fit(X, y)


def save(ax, name: str, dpi: int = 100) -> None:
    ax.figure.savefig(IMAGES / f"{name}.png", dpi=dpi, metadata={"Software": None})
    plt.close(ax.figure)


if __name__ == "__main__":
    main()
