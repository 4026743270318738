"""A forest on the Worcester Heart Attack Study: its out-of-bag scores, what matters to it, a tree that stands for it.

Run `python examples/plot_forest.py`; it writes docs/images/forest_importance.png and docs/images/forest_summary.png.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

from dipolar import DipoleSurvivalForest
from dipolar.datasets import load_whas500
from dipolar.plotting import plot_importance, plot_tree

IMAGES = Path(__file__).parent.parent / "docs" / "images"


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    X, y = load_whas500(return_X_y=True, covariates="all")
    forest = DipoleSurvivalForest(n_estimators=200, oob_score=True, random_state=0).fit(X, y)
    print(f"out of bag: Harrell's C {forest.oob_score_:.3f}, integrated Brier score {forest.oob_brier_:.4f}")

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    plot_importance(forest.importance(X, y, kind="permute", n_repeats=5, random_state=0), ax=axes[0])
    plot_importance(forest.importance(X, y, kind="negate"), ax=axes[1])
    figure.savefig(IMAGES / "forest_importance.png", dpi=110)

    summary = forest.summary_tree(X, y, max_leaf_nodes=6, random_state=0)
    print(
        f"the tree that stands for it has {summary.tree.n_leaves_} leaves and an agreement of {summary.agreement:.2f}"
    )
    plot_tree(summary.tree, time_label="days after the heart attack").figure.savefig(
        IMAGES / "forest_summary.png", dpi=110, bbox_inches="tight"
    )


if __name__ == "__main__":
    main()
