"""Survival trees whose nodes are split by kernel support vector machines."""

from importlib import import_module

# The public names are loaded when they are first asked for: `import dipolar` costs nothing by itself, and the command
# line can answer Ctrl-C before numba and scikit-learn are there.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from dipolar.forest.dipole_forest import DipoleSurvivalForest
    from dipolar.forest.logrank_forest import LogRankSurvivalForest
    from dipolar.model_file import ModelFileError
    from dipolar.model_selection import SurvivalTreeCV
    from dipolar.node_svm.svm import DipoleSVM
    from dipolar.pipeline import make_pipeline
    from dipolar.preparation import CovariateEncoder
    from dipolar.saving import load, save
    from dipolar.survival import survival_outcome
    from dipolar.tree.dipole_tree import DipoleSurvivalTree
    from dipolar.tree.logrank_tree import LogRankSurvivalTree
    from dipolar.warming import warm_up

__version__ = "0.1.0"

__all__ = [
    "CovariateEncoder",
    "DipoleSVM",
    "DipoleSurvivalForest",
    "DipoleSurvivalTree",
    "LogRankSurvivalForest",
    "LogRankSurvivalTree",
    "ModelFileError",
    "SurvivalTreeCV",
    "load",
    "make_pipeline",
    "save",
    "survival_outcome",
    "warm_up",
]

_HOME = {
    "CovariateEncoder": "preparation",
    "DipoleSVM": "node_svm.svm",
    "DipoleSurvivalForest": "forest.dipole_forest",
    "DipoleSurvivalTree": "tree.dipole_tree",
    "SurvivalTreeCV": "model_selection",
    "LogRankSurvivalForest": "forest.logrank_forest",
    "LogRankSurvivalTree": "tree.logrank_tree",
    "ModelFileError": "model_file",
    "load": "saving",
    "make_pipeline": "pipeline",
    "save": "saving",
    "survival_outcome": "survival",
    "warm_up": "warming",
}

_MODULES = ("datasets", "metrics", "plotting", "preparation", "simulation")


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
