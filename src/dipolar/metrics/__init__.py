"""Scores of survival predictions: ranking, squared error, calibration, and log-rank tests."""

from dipolar.metrics.auc import DynamicAUC, cumulative_dynamic_auc
from dipolar.metrics.brier import BrierScore, brier_score, integrated_brier_score
from dipolar.metrics.calibration import DCalibration, calibration_curve, d_calibration
from dipolar.metrics.concordance import concordance_index, concordance_index_ipcw
from dipolar.metrics.grids import TruncationWarning, time_grid
from dipolar.metrics.logrank import LogRankTest, logrank_test
from dipolar.metrics.scorers import SCORER_NAMES, SurvivalScorer, get_scorer, scorers

__all__ = [
    "SCORER_NAMES",
    "BrierScore",
    "DCalibration",
    "DynamicAUC",
    "LogRankTest",
    "SurvivalScorer",
    "TruncationWarning",
    "brier_score",
    "calibration_curve",
    "concordance_index",
    "concordance_index_ipcw",
    "cumulative_dynamic_auc",
    "d_calibration",
    "get_scorer",
    "integrated_brier_score",
    "logrank_test",
    "scorers",
    "time_grid",
]
