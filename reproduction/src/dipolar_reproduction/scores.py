"""The scores that the paper may have printed, all of them, for a fitted tree and for the truth."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from dipolar.metrics import concordance_index, integrated_brier_score
from dipolar.metrics.brier import VARIANTS
from dipolar.simulation import Simulation

# In the order in which results have them; a truth has those of the test rows. The Brier scores of the training rows are
# here since the printed ones may be of these.
TEST_SCORES = ("c_paper", "c_harrell", *(f"ibs_{variant}" for variant in VARIANTS))
SCORES = (*TEST_SCORES, *(f"train_ibs_{variant}" for variant in VARIANTS))
DIGITS = 5


class Rows(NamedTuple):
    """Covariates and outcomes."""

    X: np.ndarray
    y: np.ndarray


def score_tree(tree: Any, train: Rows, test: Rows) -> list[float | None]:
    """Return the `SCORES` of a fitted tree; None where a fold is too small for one."""
    curves, train_curves = (tree.predict_survival_function(rows.X) for rows in (test, train))
    return [
        *tree_concordances(tree, test),
        *brier_scores(train.y, test.y, curves),
        *brier_scores(train.y, train.y, train_curves),
    ]


def score_truth(sample: Simulation, train: slice, test: slice) -> list[float | None]:
    """Return the `TEST_SCORES` of the true hazard and survival functions: what no tree can be expected to beat.

    All designs have proportional hazards, so that rows are ranked by their linear predictors; no two of them are
    equal, and the concordances differ by what tied times count for.
    """
    risk = sample.linear_predictor[test]
    curves = np.array([partial(_true_curve, sample, row) for row in np.arange(len(sample))[test]], dtype=object)
    return [*_concordances(sample.y[test], risk, risk), *brier_scores(sample.y[train], sample.y[test], curves)]


def _true_curve(sample: Simulation, row: int, times: Any) -> np.ndarray:
    """Return exp(-H0(t) exp(lin)) of one row."""
    log_hazard = sample.design.baseline.log_cumulative_hazard(np.asarray(times)) + sample.linear_predictor[row]
    with np.errstate(over="ignore"):  # a hazard too large for a float leaves no survivor
        return np.exp(-np.exp(log_hazard))


def tree_concordances(tree: Any, test: Rows) -> list[float | None]:
    """Return the paper's concordance and Harrell's.

    The paper's ranks rows by the medians of their leaves (or the mean of the observed times, where a median is not
    reached) and leaves pairs of equal medians out; Harrell's ranks them by the risks of their leaves and counts pairs
    of equal risks 1/2.
    """
    return _concordances(test.y, -tree.predict_median(test.X, unreached="mean"), tree.predict(test.X))


def _concordances(y: np.ndarray, paper_risk: np.ndarray, risk: np.ndarray) -> list[float | None]:
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
    """Return a number as it is kept; what is not finite is None."""
    return round(float(value), digits) if np.isfinite(value) else None
