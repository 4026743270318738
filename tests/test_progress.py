"""What fits tell of their progress, and to whom."""

import doctest

import numpy as np
import pytest

import dipolar.progress
from dipolar import DipoleSurvivalForest, DipoleSurvivalTree, LogRankSurvivalForest, LogRankSurvivalTree, SurvivalTreeCV
from dipolar.progress import Step, telling

MODELS = {
    "tree": LogRankSurvivalTree(pruning="bootstrap", n_bootstraps=3, random_state=0),
    "oblique": DipoleSurvivalTree(min_samples_leaf=5),
    "forest": LogRankSurvivalForest(4, random_state=0),
    "oblique forest": DipoleSurvivalForest(n_estimators=4, random_state=0),
    "tuned": SurvivalTreeCV(LogRankSurvivalTree(), param_grid={"min_samples_leaf": [5, 10]}, cv=2, random_state=0),
}
LAST_OF = {"tree": ("pruning", 3), "forest": ("growing", 4), "oblique forest": ("growing", 4), "tuned": ("tuning", 4)}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    return X, rng.exponential(np.exp(X[:, 0]))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_tells_its_steps_to_a_listener_and_prints_nothing(name, rows, capsys):
    steps = []
    with telling(steps.append):
        MODELS[name].fit(*rows)
    assert steps and all(isinstance(step, Step) for step in steps)
    for step in steps:
        assert step.total is None or (0 <= step.done <= step.total and f"{step.done} of {step.total}" in step.text)
    if name in LAST_OF:
        stage, total = LAST_OF[name]
        counted = [step.done for step in steps if step.text.startswith(stage) and step.total == total]
        assert counted == sorted(counted) and counted[-1] == total
    assert capsys.readouterr().out == ""


def test_candidates_of_a_search_are_silent_and_the_chosen_tree_is_not(rows):
    steps = []
    with telling(steps.append):
        MODELS["tuned"].fit(*rows)
    stages = [step.text.split(":")[0] for step in steps]
    assert stages[:4] == ["tuning"] * 4 and set(stages[4:]) == {"growing"}


def test_nobody_is_told_outside_of_the_block(rows):
    steps, inner = [], []
    with telling(steps.append):
        with telling(inner.append):
            MODELS["oblique"].fit(*rows)
        assert inner and not steps
        with telling(None):
            MODELS["oblique"].fit(*rows)
        assert not steps
    MODELS["oblique"].fit(*rows)
    assert not steps


def test_a_listener_changes_no_model(rows):
    silent = MODELS["tree"].fit(*rows).tree_
    with telling(lambda step: None):
        assert MODELS["tree"].fit(*rows).tree_ == silent


def test_the_example_of_the_module():
    failed, tried = doctest.testmod(dipolar.progress)
    assert tried == 6 and not failed
