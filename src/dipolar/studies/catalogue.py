"""The studies by name."""

from __future__ import annotations

from types import MappingProxyType

from dipolar.studies.kappa import KappaFigure
from dipolar.studies.real import RealStudy
from dipolar.studies.remission import RemissionFigure, RemissionStudy
from dipolar.studies.sigma import SigmaFigure
from dipolar.studies.simulated import SimulationStudy
from dipolar.studies.splits import SplitFigure
from dipolar.studies.study import Study
from dipolar.studies.unit import StudyError

__all__ = ["STUDIES", "get_study"]

STUDIES = MappingProxyType(
    {
        study.name: study
        for study in (
            SimulationStudy(2),
            SimulationStudy(4),
            SimulationStudy(7),
            RemissionStudy(),
            RealStudy(),
            SplitFigure(),
            RemissionFigure(),
            KappaFigure(),
            SigmaFigure(),
        )
    }
)


def get_study(name: str) -> Study:
    """Return a study by its name."""
    if name not in STUDIES:
        raise StudyError(f"there is no study {name!r}. There are {', '.join(STUDIES)}.")
    return STUDIES[name]
