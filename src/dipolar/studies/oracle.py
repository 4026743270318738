"""The scores of the true model: what no tree can be expected to beat."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from dipolar.simulation import Simulation
from dipolar.studies.scores import brier_scores, concordances

__all__ = ["score_truth"]


def score_truth(sample: Simulation, train: slice, test: slice) -> dict[str, Any]:
    """Return the concordances and Brier scores of the true hazard and survival functions on the test rows.

    All designs have proportional hazards, so that rows are ranked by their linear predictors; no two of them are
    equal, and the concordances differ by what tied times count for.
    """
    start = time.perf_counter()
    risk = sample.linear_predictor[test]
    curves = np.array([partial(_true_curve, sample, row) for row in np.arange(len(sample))[test]], dtype=object)
    scores = [
        *concordances(sample.y[test], risk, risk),
        *brier_scores(sample.y[train], sample.y[test], curves),
    ]
    return {"truth": scores, "seconds": {"scoring": round(time.perf_counter() - start, 4)}}


def _true_curve(sample: Simulation, row: int, times: Any) -> np.ndarray:
    """Return exp(-H0(t) exp(lin)) of one row."""
    log_hazard = sample.design.baseline.log_cumulative_hazard(np.asarray(times)) + sample.linear_predictor[row]
    with np.errstate(over="ignore"):  # a hazard too large for a float leaves no survivor
        return np.exp(-np.exp(log_hazard))
