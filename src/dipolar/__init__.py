"""Survival trees whose nodes are split by kernel support vector machines."""

from dipolar.survival import survival_outcome

__version__ = "0.1.0"

__all__ = ["survival_outcome"]
