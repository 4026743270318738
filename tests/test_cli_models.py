"""Models of the command line: trees, forests, their options, times, pictures, and how quickly help is there."""

import json
import subprocess
import sys

import numpy as np
import pytest

from dipolar import DipoleSurvivalForest, LogRankSurvivalForest, load
from dipolar.cli.times import usual_times
from dipolar.datasets import load_remission
from tests.test_cli import QUICK_FIT, dipolar, refused

FOREST = ("--model", "univariate-forest", "--trees", 5, "--no-scores")


@pytest.fixture(scope="module")
def forest(tmp_path_factory):
    path = tmp_path_factory.mktemp("forest") / "f.dipolar"
    assert dipolar("fit", "remission", *FOREST, "-o", path, "--quiet").output == ""
    return path


@pytest.mark.parametrize("kind", [DipoleSurvivalForest, LogRankSurvivalForest])
def test_forests_are_those_of_python(kind, tmp_path):
    name = "forest" if kind is DipoleSurvivalForest else "univariate-forest"
    path = tmp_path / "f.dipolar"
    args = ("fit", "remission", "--model", name, "--trees", 7, "--no-scores", "--seed", 2)
    document = json.loads(dipolar(*args, "-o", path, "--json").stdout)
    X, y = load_remission(return_X_y=True)
    own = kind(n_estimators=7, random_state=2, n_jobs=1).fit(X, y)
    assert document["tuned"] is None and document["model"] == name and document["parameters"]["n_estimators"] == 7
    assert load(path).predict(X).tolist() == own.predict(X).tolist()
    found = own.importance(X, y, random_state=2).importances_mean
    told = {each["covariate"]: each["loss"] for each in document["importance"]}
    assert [told[name] for name in X.columns] == found.tolist()


def test_tuned_forests_say_what_they_have_chosen():
    args = ("fit", "remission", *FOREST, "--tune")
    document = json.loads(dipolar(*args, "--json").stdout)
    X, y = load_remission(return_X_y=True)
    own = LogRankSurvivalForest(n_estimators=5, tune=True, random_state=0).fit(X, y)
    assert document["tuned"] == own.best_params_
    assert all(name in dipolar(*args).stdout for name in own.best_params_)


def test_people_read_what_matters_to_a_forest():
    told = " ".join(dipolar("fit", "remission", *FOREST).stdout.split())
    assert "Univariate forest, 2 covariates: 5 trees." in told and "What matters to it" in told and "logWBC" in told


def test_forests_are_drawn_and_reported(forest, tmp_path):
    picture, page = tmp_path / "f.svg", tmp_path / "f.html"
    assert dipolar("plot", forest, "-o", picture).exit_code == 0 and "log-rank" in picture.read_text()
    assert dipolar("plot", forest, "-o", tmp_path / "t.svg", "--data", "remission").exit_code == 0
    assert "a forest keeps no rows" in refused("report", forest, "-o", page)
    assert dipolar("report", forest, "-o", page, "--data", "remission").exit_code == 0
    assert "the tree that agrees best with the forest (explains" in page.read_text(encoding="utf-8")
    direct = tmp_path / "direct.html"
    assert dipolar("fit", "remission", *FOREST, "--report", direct).exit_code == 0
    assert "agrees best" in direct.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--model", "univariate", "--kernel", "linear"), "--kernel does not apply to --model univariate"),
        (("--model", "forest", "--max-depth", 2), "choose --model tree or univariate"),
        (("--trees", 10), "choose --model forest or univariate-forest"),
        (("--model", "univariate", "--max-terms", 2), "--max-terms does not apply"),
        (("--max-terms", 0), "--max-terms"),
        (("--kernel", "oak"), "'oak'"),
    ],
)
def test_options_of_other_models_are_refused(args, words):
    assert words in refused("fit", "remission", *args)


def test_each_kernel_that_is_named_is_a_tree_of_its_own():
    args = ("evaluate", "remission", "--model", "tree", "--kernel", "quadratic", "--kernel", "gaussian", "--folds", 2)
    document = json.loads(dipolar(*args, "--json").stdout)
    assert [model["model"] for model in document["models"][:2]] == ["quadratic tree", "gaussian tree"]


# Times.


@pytest.mark.parametrize(
    ("quartiles", "unit", "expected"),
    [
        ((88, 352, 1110), "days", [90, 365, 1095]),
        ((11, 25, 60), "months", [12, 24, 60]),
        ((413, 624, 1213), None, [400, 600, 1200]),
        ((0.0031, 0.0048, 0.011), None, [0.003, 0.005, 0.012]),
        ((5, 5, 5), None, [5]),
        ((0, 0, 0), "days", [0]),
    ],
)
def test_times_are_round_and_near_the_quartiles(quartiles, unit, expected):
    time = np.repeat(quartiles, 4).astype(float)
    time = np.append(time, time.max() * 2)
    event = np.arange(len(time)) < len(time) - 1
    assert usual_times(time, event, unit) == expected
    assert usual_times(time, event, unit, np.full(len(time), 2.0)) == expected


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e300])
def test_times_of_any_size_are_finite_and_within_the_data(scale):
    found = usual_times(np.array([1.0, 2.0, 3.0]) * scale, np.array([True, True, False]))
    assert found and all(0 <= time <= 3 * scale for time in found)
    assert usual_times(np.array([1.0]), np.array([False])) == []


def test_fit_and_predict_tell_survival_at_the_same_times(tmp_path):
    path = tmp_path / "m.dipolar"
    document = json.loads(dipolar("fit", "remission", *QUICK_FIT, "-o", path, "--json").stdout)
    assert document["survival_at"] == [6, 8, 13] and len(document["leaves"][0]["survival"]) == 3
    row = json.loads(dipolar("predict", path, "remission", "--json").stdout)["predictions"][0]
    assert [name for name in row if name.startswith("survival")] == [f"survival_at_{time}" for time in (6, 8, 13)]
    leaf = next(leaf for leaf in document["leaves"] if leaf["node"] == row["leaf"])
    told = {time: share for time, share in zip((6, 8, 13), leaf["survival"]) if share is not None}
    assert told and {time: row[f"survival_at_{time}"] for time in told} == told


# Help.

HEAVY = {"numpy", "numba", "scipy", "sklearn", "pandas", "joblib", "matplotlib"}


@pytest.mark.parametrize(
    "args",
    [["--help"], ["--version"], ["fit", "oak", "--kernel", "oak"]]
    + [
        [command, "--help"]
        for command in ("fit", "predict", "evaluate", "report", "plot", "datasets", "simulate", "warm-up")
    ],
)
def test_help_loads_nothing_that_is_slow(args):
    code = "import sys, atexit\natexit.register(lambda: print(sorted(sys.modules), file=sys.stderr))\n"
    code += f"sys.argv = ['dipolar', *{args!r}]\nfrom dipolar.cli import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    loaded = {name.split(".")[0].strip(" '[]") for name in done.stderr.splitlines()[-1].split(",")}
    assert "typer" in loaded and not loaded & HEAVY
