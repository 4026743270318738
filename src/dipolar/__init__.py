"""Survival trees whose nodes are split by kernel support vector machines."""

from dipolar.forests import DipoleSurvivalForest, LogRankSurvivalForest
from dipolar.model_selection import DipoleSurvivalTreeCV
from dipolar.survival import survival_outcome
from dipolar.svm import DipoleSVM
from dipolar.trees import DipoleSurvivalTree, LogRankSurvivalTree

__version__ = "0.1.0"

__all__ = [
    "DipoleSVM",
    "DipoleSurvivalForest",
    "DipoleSurvivalTree",
    "DipoleSurvivalTreeCV",
    "LogRankSurvivalForest",
    "LogRankSurvivalTree",
    "survival_outcome",
]
