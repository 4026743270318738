"""Right-censored samples from known hazards: the paper's designs, and your own."""

from dipolar.simulation.design import Design
from dipolar.simulation.distributions import (
    EXPONENTIAL,
    Gompertz,
    NormalCovariates,
    QuadraticPredictor,
    Weibull,
    WeibullCensoring,
)
from dipolar.simulation.paper import get_design, list_designs
from dipolar.simulation.sampling import Simulation, simulate

__all__ = [
    "EXPONENTIAL",
    "Design",
    "Gompertz",
    "NormalCovariates",
    "QuadraticPredictor",
    "Simulation",
    "Weibull",
    "WeibullCensoring",
    "get_design",
    "list_designs",
    "simulate",
]
