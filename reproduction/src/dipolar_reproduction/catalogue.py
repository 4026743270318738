"""The studies by name."""

from __future__ import annotations

from dipolar.cli.messages import UserError, suggestion
from dipolar_reproduction.kappa import KappaFigure
from dipolar_reproduction.real import RealStudy
from dipolar_reproduction.remission import RemissionFigure, RemissionStudy
from dipolar_reproduction.sigma import SigmaFigure
from dipolar_reproduction.simulated import SimulationStudy
from dipolar_reproduction.splits import SplitFigure
from dipolar_reproduction.study import Study

_ALL: tuple[Study, ...] = (
    *(SimulationStudy(p) for p in (2, 4, 7)),
    RemissionStudy(),
    RealStudy(),
    SplitFigure(),
    RemissionFigure(),
    KappaFigure(),
    SigmaFigure(),
)
STUDIES = {study.name: study for study in _ALL}


def find_study(name: str) -> Study:
    """Return a study by its name."""
    if name not in STUDIES:
        hint = suggestion(name, STUDIES) or f" There are {', '.join(STUDIES)}."
        raise UserError(f"there is no study {name!r}.{hint} dipolar-reproduce list says what they are.")
    return STUDIES[name]
