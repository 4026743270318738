"""Explain a forest with SHAP: which covariates raise or lower the risk of a patient, and survival at two years.

Run `pip install shap`, then `python examples/shap_forest.py`; it takes seconds and writes to docs/images.

SHAP asks a model for many rows at a time, which is what `predict` is quick at. What costs is the background: each
explanation averages over its rows. A few dozen of them, chosen to stand for all by k-means, say nearly the same as all.
"""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib.pyplot as plt
import shap

from dipolar import DipoleSurvivalForest
from dipolar.datasets import load_whas500

IMAGES = Path(__file__).parent.parent / "docs" / "images"
N_BACKGROUND = 30
TWO_YEARS = 730.0


def main() -> None:
    X, y = load_whas500(return_X_y=True, covariates="all")
    X = X.astype(float)
    forest = DipoleSurvivalForest(random_state=0).fit(X.to_numpy(), y)
    background = shap.kmeans(X.to_numpy(), N_BACKGROUND).data
    asked = {
        "risk": forest.predict,
        "survival": lambda rows: forest.predict_survival_function(rows, times=[TWO_YEARS])[:, 0],
    }
    for name, predict in asked.items():
        start = time.perf_counter()
        explainer = shap.PermutationExplainer(predict, background, feature_names=list(X.columns), seed=0)
        explanation = explainer(X.to_numpy()[:100])
        print(f"{name}: 100 patients explained in {time.perf_counter() - start:.1f} s")
        shap.plots.beeswarm(explanation, show=False)
        plt.savefig(IMAGES / f"shap_{name}.png", dpi=90, bbox_inches="tight")
        plt.close()


if __name__ == "__main__":
    main()
