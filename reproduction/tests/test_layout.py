"""Estimators are made in one module: a change of their parameters changes one file."""

import ast
import inspect
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import dipolar
import dipolar_reproduction

MODULES = sorted(Path(dipolar_reproduction.__file__).parent.glob("*.py"))
PUBLIC = {name: getattr(dipolar, name) for name in dipolar.__all__}
ESTIMATORS = {name for name, item in PUBLIC.items() if inspect.isclass(item) and issubclass(item, BaseEstimator)}


def called(source):
    """Names of everything that is called in a piece of code."""
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return {
        function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None) for function in calls
    }


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_estimators_are_made_by_models(path):
    made = ESTIMATORS & called(path.read_text(encoding="utf-8"))
    assert bool(made) == (path.stem == "models"), made


def test_the_rule_catches_what_it_forbids():
    assert {"DipoleSVM", "SurvivalTreeCV"} < ESTIMATORS and len(ESTIMATORS) > 4
    assert ESTIMATORS & called("import dipolar\ndipolar.DipoleSVM(kappa=1)") == {"DipoleSVM"}
