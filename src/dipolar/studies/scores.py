"""The scores that the paper may have printed, all of them, for one fitted tree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from dipolar.metrics import concordance_index, integrated_brier_score
from dipolar.metrics.brier import VARIANTS

__all__ = ["SCORES", "Rows", "brier_scores", "concordances", "rounded", "score_tree"]

# In the order in which a results file has them. The Brier scores of the training rows are here since the printed ones
# may be of these.
SCORES = (
    "c_paper",
    "c_harrell",
    *(f"ibs_{variant}" for variant in VARIANTS),
    *(f"train_ibs_{variant}" for variant in VARIANTS),
)
DIGITS = 5


class Rows(NamedTuple):
    """Covariates and outcomes."""

    X: np.ndarray
    y: np.ndarray


def score_tree(tree: Any, train: Rows, test: Rows) -> list[float | None]:
    """Return the `SCORES` of a fitted tree; None where a fold is too small for one.

    The paper's concordance ranks rows by the medians of their leaves (or the mean of the observed times, where a
    median is not reached) and leaves pairs of equal medians out; Harrell's ranks them by the risks of their leaves and
    counts pairs of equal risks 1/2.
    """
    medians = tree.predict_median(test.X, unreached="mean")
    curves, train_curves = tree.predict_survival_function(test.X), tree.predict_survival_function(train.X)
    return [
        *concordances(test.y, -medians, tree.predict(test.X)),
        *brier_scores(train.y, test.y, curves),
        *brier_scores(train.y, train.y, train_curves),
    ]


def concordances(y: np.ndarray, paper_risk: np.ndarray, risk: np.ndarray) -> list[float | None]:
    """Return the paper's concordance of one risk and Harrell's of another."""
    with warnings.catch_warnings():
        # A tree of one leaf orders nothing: 1/2.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        paper = _defined(concordance_index, y, paper_risk, ties="exclude", tied_times="exclude")
        return [paper, _defined(concordance_index, y, risk)]


def brier_scores(
    y_train: np.ndarray, y: np.ndarray, curves: Any, variants: Sequence[str] = VARIANTS
) -> list[float | None]:
    """Return the integrated Brier score in its variants."""
    return [_defined(integrated_brier_score, y_train, y, curves, variant=variant) for variant in variants]


def _defined(metric: Callable[..., float], *args: Any, **options: Any) -> float | None:
    """Return a score, or None for rows that it is not defined on, such as a fold without a pair to compare."""
    try:
        return rounded(metric(*args, **options))
    except ValueError:
        return None


def rounded(value: float, digits: int = DIGITS) -> float | None:
    """Return a number as it is written to a results file; what is not finite is None."""
    return round(float(value), digits) if np.isfinite(value) else None
