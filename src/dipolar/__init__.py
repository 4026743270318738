"""Survival trees whose nodes are split by kernel support vector machines."""

from dipolar.model_selection import DipoleSurvivalTreeCV
from dipolar.survival import survival_outcome
from dipolar.svm import DipoleSVM
from dipolar.trees import DipoleSurvivalTree, LogRankSurvivalTree

__version__ = "0.1.0"

__all__ = ["DipoleSVM", "DipoleSurvivalTree", "DipoleSurvivalTreeCV", "LogRankSurvivalTree", "survival_outcome"]
