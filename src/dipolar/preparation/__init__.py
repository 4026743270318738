"""From tables as people have them to the covariates of a model: see :class:`CovariateEncoder`."""

from dipolar.preparation.decisions import Decision
from dipolar.preparation.disguise import Disguise, find_disguises
from dipolar.preparation.encoder import CovariateEncoder, Prepared
from dipolar.preparation.feature import Feature

__all__ = ["CovariateEncoder", "Decision", "Disguise", "Feature", "Prepared", "find_disguises"]
