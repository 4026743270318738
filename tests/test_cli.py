"""The commands: what they print, write and refuse."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from rich.progress import Progress
from typer.testing import CliRunner

from dipolar import (
    CovariateEncoder,
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalForest,
    LogRankSurvivalTree,
    SurvivalTreeCV,
    __version__,
    load,
    save,
)
from dipolar.cli import model as model_module
from dipolar.cli import options
from dipolar.cli.app import app
from dipolar.cli.terminal import Terminal
from dipolar.datasets import load_cost, load_remission
from dipolar.metrics import concordance_index
from tests.models import paper_tree
from tests.report_trees import clinic

QUICK = ("--model", "univariate", "--pruning", "fixed")
QUICK_FIT = (*QUICK, "--no-scores")


def dipolar(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "100", "NO_COLOR": "1"})


def refused(*args):
    """Run a command that has to fail as bad input does; return its line."""
    result = dipolar(*args)
    assert result.exit_code == 2, result.output
    assert result.stdout == "" and result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    return result.stderr


def process(*args, **settings):
    command = [sys.executable, "-m", "dipolar", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **settings)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "remission.dipolar"
    assert dipolar("fit", "remission", *QUICK_FIT, "--output", path, "--quiet").output == ""
    return path


def write_patients(path, n=60, seed=0):
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(40, 90, n), rng.choice(["m", "f"], n)
    frame = pd.DataFrame({"time": rng.exponential(np.exp(5 - age / 30)), "event": rng.integers(0, 2, n)})
    frame["age"], frame["sex"], frame["stage"] = age, sex, rng.choice(["I", "II", "III"], n)
    frame.to_csv(path, index=False)
    return path


# Fit.


def test_fit_prints_the_leaves():
    result = dipolar("fit", "remission", *QUICK_FIT, "--max-depth", 1, "--min-leaf", 10)
    assert result.exit_code == 0 and result.stderr == ""
    assert "42 rows, 30 events (71 %)" in result.stdout
    assert "logWBC <= 3.23" in result.stdout and "logWBC > 3.23" in result.stdout
    assert "median weeks" in result.stdout


def test_fit_as_json_agrees_with_python():
    result = dipolar(
        "fit", "remission", *QUICK_FIT, "--json", "--seed", 3, "--min-leaf", 5, "--alpha", 3, "--max-depth", 2
    )
    document = json.loads(result.stdout)
    X, y = load_remission(return_X_y=True)
    parameters = document["parameters"]
    tree = LogRankSurvivalTree(**parameters).fit(X, y)
    chosen = {"random_state": 3, "min_samples_leaf": 5, "alpha": 3.0, "max_depth": 2, "pruning": "fixed", "verbose": 0}
    assert {name: parameters[name] for name in chosen} == chosen
    assert [leaf["node"] for leaf in document["leaves"]] == tree.tree_.leaves[np.argsort(tree.leaf_risk_)].tolist()
    assert sum(leaf["n"] for leaf in document["leaves"]) == 42
    assert document["harrell_c_on_training_rows"] == tree.score(X, y)


@pytest.mark.parametrize("kind", ["univariate", "linear", "quadratic", "gaussian"])
def test_without_options_a_tree_is_the_library_s_own(kind):
    model = ("--model", "univariate") if kind == "univariate" else ("--kernel", kind)
    document = json.loads(dipolar("fit", "remission", *model, "--no-scores", "--json").stdout)
    own = LogRankSurvivalTree() if kind == "univariate" else DipoleSurvivalTree(DipoleSVM(kind))
    expected = own.get_params() | {"random_state": 0, "n_jobs": 1}
    expected.pop("svm", None)
    assert document["parameters"] == json.loads(json.dumps(expected))
    tree = own.fit(*load_remission(return_X_y=True))
    assert [leaf["risk"] for leaf in document["leaves"]] == sorted(tree.leaf_risk_)


def test_the_tree_that_is_fitted_without_a_word_is_the_recommended_one():
    document = json.loads(dipolar("fit", "cost", "--no-scores", "--json").stdout)
    tree = DipoleSurvivalTree().fit(*load_cost(return_X_y=True))
    assert document["model"] == "tree" and document["scores"] is None and document["n_leaves"] == tree.n_leaves_
    assert [leaf["risk"] for leaf in document["leaves"]] == sorted(tree.leaf_risk_)


OPTIONS = {
    "--kappa": ("svm__kappa", 7.0),
    "--no-standardize": ("svm__standardize", False),
    "--max-depth": ("max_depth", 1),
    "--max-terms": ("max_terms", 1),
    "--min-split": ("min_samples_split", 25),
    "--min-leaf": ("min_samples_leaf", 12),
    "--pruning": ("pruning", "bootstrap"),
    "--alpha": ("alpha", 2.0),
    "--bootstraps": ("n_bootstraps", 3),
    "--seed": ("random_state", 5),
    "--jobs": ("n_jobs", 2),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_sets_one_parameter_and_leaves_the_others(option):
    name, value = OPTIONS[option]
    words = [option] if value is False else [option, value]
    needed = ["--pruning", "bootstrap"] if option in ("--alpha", "--bootstraps") else []
    usual = DipoleSurvivalTree(DipoleSVM()).get_params() | {"random_state": 0, "n_jobs": 1}
    usual |= {"pruning": "bootstrap"} if needed else {}
    parameters = json.loads(dipolar("fit", "remission", *needed, *words, "--no-scores", "--json").stdout)["parameters"]
    assert parameters[name] == value != usual[name]
    del usual["svm"]
    assert parameters == usual | {name: value}


def test_help_tells_the_library_s_own_defaults():
    told = " ".join(dipolar("fit", "--help").stdout.replace("│", " ").split())
    for text in options.USUAL.values():
        assert f"Default: {text}." in told
    single, cuts, forest = DipoleSurvivalTree(DipoleSVM()), LogRankSurvivalTree(), DipoleSurvivalForest()
    usual = single.get_params() | {"kappa": single.svm.kappa, "standardize": single.svm.standardize}
    usual["n_estimators"] = forest.n_estimators
    assert usual["standardize"] is True and usual["pruning"] is None and usual["max_depth"] == "auto"
    for name in ("kappa", "min_samples_split", "min_samples_leaf", "alpha", "n_bootstraps", "n_estimators"):
        assert options.USUAL[name] == f"{usual[name]:g}"
    assert {name: usual[name] for name in options.USUAL if hasattr(cuts, name)} == {
        name: getattr(cuts, name) for name in options.USUAL if hasattr(cuts, name)
    }
    assert LogRankSurvivalForest().n_estimators == forest.n_estimators


def test_tuned_trees_are_those_of_python(tmp_path):
    path = tmp_path / "m.dipolar"
    args = ("fit", "remission", "--model", "univariate", "--tune", "--no-scores", "--seed", 2, "-o", path)
    result = dipolar(*args)
    tuned = SurvivalTreeCV(LogRankSurvivalTree(), random_state=2).fit(*load_remission(return_X_y=True))
    chosen = f"--min-leaf {tuned.best_params_['min_samples_leaf']} --max-depth {tuned.best_params_['max_depth']}"
    assert f"Cross-validation chose {chosen} among {len(tuned.cv_results_)} candidates." in " ".join(
        result.stdout.split()
    )
    document = json.loads(dipolar(*args, "--force", "--json").stdout)
    assert document["tuned"] == tuned.best_params_
    assert LogRankSurvivalTree.load(path).tree_ == tuned.best_estimator_.tree_


def test_a_bar_follows_what_a_fit_tells(monkeypatch):
    bars = []
    terminal = Terminal()
    terminal.err = Console(file=io.StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr(Progress, "update", lambda self, task, **now: bars.append(now))
    with terminal.progress_of_fit("growing the tree"):
        LogRankSurvivalTree(pruning="bootstrap", n_bootstraps=2).fit(*load_remission(return_X_y=True))
    assert bars[-1] == {"completed": 2, "total": 2, "description": "pruning: 2 of 2 bootstrap trees"}
    assert any(bar["total"] is None and bar["description"].startswith("growing: ") for bar in bars)


def test_splits_by_surfaces_are_listed_under_letters():
    document = json.loads(dipolar("fit", "cost", "--pruning", "none", "--max-depth", 2, "--no-scores", "--json").stdout)
    letters = {split["letter"] for split in document["splits"]}
    used = {part.split(":")[0] for leaf in document["leaves"] for part in leaf["rule"].split(", ") if ":" in part}
    assert letters and used == letters


def test_a_surface_between_two_values_is_told_in_words(tmp_path):
    frame = pd.DataFrame({"time": [*range(1, 31), *range(101, 131)], "event": 1, "ill": [5] * 30 + [3] * 30})
    frame.to_csv(tmp_path / "data.csv", index=False)
    result = dipolar("fit", tmp_path / "data.csv", "--max-depth", 1, "--no-scores", "--json")
    document = json.loads(result.stdout)
    assert [leaf["rule"] for leaf in document["leaves"]] == ["ill is 3", "ill is 5"] and document["splits"] == []


@pytest.mark.parametrize(
    ("asked", "advice"),
    [
        (("--model", "univariate", "--pruning", "fixed", "--alpha", 1000), "Try a lower --alpha"),
        (("--max-depth", 0), "That is what --max-depth 0 asks for."),
        (("--min-split", 50), "A node needs 50 rows to be split (--min-split, --min-leaf), and there are 42."),
        (("--min-leaf", 21), "No split that leaves 21 rows on both sides was found. Try a smaller --min-leaf"),
        (
            ("--model", "univariate", "--tune", "--drop", "logWBC", "--drop", "TR", "--only", "noise"),
            "leave out --tune",
        ),
    ],
)
def test_a_tree_of_one_leaf_says_so_and_what_to_try(tmp_path, asked, advice):
    X, y = load_remission(return_X_y=True)
    frame = X.assign(time=y["time"], event=y["event"].astype(int), noise=np.arange(42) % 5)
    frame.to_csv(tmp_path / "data.csv", index=False)
    drops = ("--no-scores", *(() if "noise" in asked else ("--drop", "noise")))
    result = dipolar("fit", tmp_path / "data.csv", *asked, *drops)
    told = " ".join(result.stdout.split())
    assert result.exit_code == 0 and "everybody" in told
    assert "One leaf: this tree tells no two people apart." in told and advice in told
    document = json.loads(dipolar("fit", tmp_path / "data.csv", *asked, *drops, "--json").stdout)
    assert [leaf["rule"] for leaf in document["leaves"]] == ["everybody"] and advice in document["advice"]


def test_of_many_leaves_the_first_and_the_last_are_shown():
    large = ("fit", "cost", "--model", "univariate", "--min-leaf", "3", "--max-depth", "20", "--no-scores")
    document = json.loads(dipolar(*large, "--json").stdout)
    told = dipolar(*large).stdout
    n = document["n_leaves"]
    assert n == len(document["leaves"]) > 20 and f"{n - 20} more (--json has them)" in told
    shown = [line for line in told.splitlines() if line.startswith("│") and line.split("│")[1].strip().isdigit()]
    nodes = [leaf["node"] for leaf in document["leaves"]]
    assert [int(line.split("│")[1]) for line in shown] == nodes[:10] + nodes[-10:]
    assert "Try --max-depth 3, --pruning bootstrap or --tune." in told


def test_splits_that_may_be_chance_are_counted():
    document = json.loads(dipolar("fit", "cost", "--no-scores", "--json").stdout)
    record = DipoleSurvivalTree().fit(*load_cost(return_X_y=True)).tree_
    statistics = record.logrank[record.is_split]
    n_weak = (statistics < 4).sum()
    assert 1 < n_weak < len(statistics)
    assert document["advice"].startswith(f"{n_weak} of {len(statistics)} splits have a log-rank statistic below 4")
    assert document["advice"] in " ".join(dipolar("fit", "cost", "--no-scores").stdout.split())
    pruned = json.loads(dipolar("fit", "cost", *QUICK_FIT, "--json").stdout)
    assert pruned["advice"] is None


def test_fit_writes_model_and_report(tmp_path):
    data, output, page = write_patients(tmp_path / "p.csv"), tmp_path / "p.dipolar", tmp_path / "p.html"
    result = dipolar("fit", data, *QUICK_FIT, "--output", output, "--report", page)
    assert result.exit_code == 0 and f"Model saved to {output}" in result.stdout
    assert "<html" in page.read_text(encoding="utf-8").lower()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.csv", "p.dipolar", "p.html"]


def test_warnings_of_the_library_are_told_on_stderr(monkeypatch):
    monkeypatch.setattr(LogRankSurvivalTree, "_warn_about", lambda *_: warnings.warn("badly\nscaled", stacklevel=2))
    result = dipolar("fit", "remission", *QUICK_FIT)
    assert result.exit_code == 0 and result.stderr == "warning: badly scaled\n"
    result = dipolar("fit", "remission", *QUICK_FIT, "--json")
    assert json.loads(result.stdout)["warnings"] == ["badly\nscaled"] and result.stderr == ""


# Predict.


def test_predictions_agree_with_python(model, tmp_path):
    output = tmp_path / "predicted.csv"
    assert dipolar("predict", model, "remission", "--at", 10, "--keep", "TR", "-o", output).exit_code == 0
    X, _ = load_remission(return_X_y=True)
    tree = LogRankSurvivalTree.load(model)
    frame = pd.read_csv(output)
    assert list(frame) == ["row", "TR", "leaf", "risk", "median", "survival_at_10"]
    assert np.allclose(frame["risk"], tree.predict(X), rtol=1e-12)
    assert np.allclose(frame["median"], tree.predict_median(X, unreached="nan"), equal_nan=True)
    assert np.allclose(frame["survival_at_10"], [curve(10) for curve in tree.predict_survival_function(X)])
    document = json.loads(dipolar("predict", model, "remission", "--json").stdout)
    assert [row["leaf"] for row in document["predictions"]] == tree.apply(X).tolist()


def test_new_data_in_another_shape_gives_the_same_predictions(tmp_path):
    data, output = write_patients(tmp_path / "p.csv"), tmp_path / "p.dipolar"
    dipolar("fit", data, *QUICK_FIT, "--output", output)
    expected = json.loads(dipolar("predict", output, data, "--json").stdout)["predictions"]
    frame = pd.read_csv(data)[["stage", "sex", "age"]].assign(bed="B")
    frame.to_csv(tmp_path / "other.csv", index=False, sep=";", encoding="utf-16")
    frame.to_parquet(tmp_path / "other.parquet")
    frame.to_excel(tmp_path / "other.xlsx", index=False)
    for name in ("other.csv", "other.parquet", "other.xlsx"):
        document = json.loads(dipolar("predict", output, tmp_path / name, "--json").stdout)
        assert document["predictions"] == expected
        assert any("bed" in note for note in document["notes"])


def test_unseen_categories_and_missing_columns(tmp_path):
    data, output = write_patients(tmp_path / "p.csv"), tmp_path / "p.dipolar"
    dipolar("fit", data, *QUICK_FIT, "--output", output)
    new = tmp_path / "new.csv"
    new.write_text("age,sex,stage\n50,x,IV\n")
    result = dipolar("predict", output, new)
    assert result.exit_code == 0 and "'IV'" in result.stdout and "'x'" in result.stdout
    new.write_text("age,sx\n50,m\n60,f\n")
    assert "'sex', 'stage'" in refused("predict", output, new)
    assert dipolar("predict", output, new, "--fill-columns").exit_code == 0


def test_trees_saved_by_python_predict_from_plain_columns(tmp_path):
    X, y = load_remission(return_X_y=True)
    paper_tree(kernel="linear", max_depth=1).fit(X, y).save(tmp_path / "m.dipolar")
    result = dipolar("predict", tmp_path / "m.dipolar", "remission", "--json")
    assert len(json.loads(result.stdout)["predictions"]) == 42
    assert "'TR'" in refused("predict", tmp_path / "m.dipolar", write_patients(tmp_path / "p.csv"))
    tuned = SurvivalTreeCV(max_depth=[1], param_grid={"svm__kappa": [10]}, cv=2).fit(X, y)
    tuned.save(tmp_path / "tuned.dipolar")
    document = json.loads(dipolar("predict", tmp_path / "tuned.dipolar", "remission", "--json").stdout)
    assert [row["leaf"] for row in document["predictions"]] == tuned.apply(X).tolist()
    LogRankSurvivalTree(max_depth=1).fit(X.to_numpy(), y).save(tmp_path / "unnamed.dipolar")
    assert "by number only" in refused("predict", tmp_path / "unnamed.dipolar", "remission")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_predictions_are_written_as_the_suffix_says(model, tmp_path, suffix):
    path = tmp_path / f"out.{suffix}"
    assert dipolar("predict", model, "remission", "-o", path).exit_code == 0
    readers = {"csv": pd.read_csv, "parquet": pd.read_parquet, "xlsx": pd.read_excel}
    assert len(readers[suffix](path)) == 42


# Evaluate.


def test_evaluate_scores_all_models_on_the_same_folds():
    args = ("evaluate", "remission", "--folds", 3, "--repeats", 2, "--trees", 5, "--json", "--seed", 1)
    document = json.loads(dipolar(*args).stdout)
    names = ["tree", "univariate tree", "forest", "univariate forest", "Cox", "Kaplan-Meier"]
    assert [model["model"] for model in document["models"]] == names
    for model in document["models"]:
        assert 0 < model["harrell_c"]["mean"] < 1 and model["harrell_c"]["se"] >= 0
        assert 0 < model["ibs"]["mean"] < 0.5
        has_leaves = model["model"].endswith("tree")
        assert (model["leaves"]["mean"] is not None) == has_leaves and (not has_leaves or model["leaves"]["mean"] >= 1)
    assert document["best"].startswith("Best by Harrell's C: ")
    assert document["models"][-1]["harrell_c"] == {"mean": 0.5, "se": 0.0}


def test_evaluate_agrees_with_a_loop_by_hand_and_not_with_its_workers():
    from sklearn.model_selection import StratifiedKFold

    args = ("evaluate", "remission", *QUICK, "--folds", 3, "--seed", 5, "--json")
    document = json.loads(dipolar(*args).stdout)
    assert json.loads(dipolar(*args, "--jobs", 2).stdout) == document
    X, y = load_remission(return_X_y=True)
    scores = []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=np.random.RandomState(5)).split(X, y["event"]):
        tree = LogRankSurvivalTree(pruning="fixed")
        tree.fit(X.iloc[train], y[train])
        scores.append(concordance_index(y[test], tree.predict(X.iloc[test])))
    row = document["models"][0]
    assert row["model"] == "univariate tree" and np.isclose(row["harrell_c"]["mean"], np.mean(scores))
    assert np.isclose(row["harrell_c"]["se"], np.std(scores, ddof=1) * np.sqrt(1 / 3 + 1 / 2))


def test_evaluate_needs_events_in_every_fold(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("time,event,x\n" + "".join(f"{i},{int(i < 3)},{i % 4}\n" for i in range(30)))
    assert "--folds" in refused("evaluate", path, *QUICK)


# The small commands.


def test_datasets_and_designs():
    assert "whas500_full" in dipolar("datasets").stdout
    assert json.loads(dipolar("datasets", "--json").stdout)["datasets"][0]["n"] == 42
    assert "weibull-ellipse-2-text" in dipolar("simulate").stdout


def test_simulate_writes_csv(tmp_path):
    from dipolar.simulation import simulate

    shown = dipolar("simulate", "planar-2", "-n", 5, "--seed", 7).stdout
    path = tmp_path / "rows.csv"
    assert dipolar("simulate", "planar-2", "-n", 5, "--seed", 7, "-o", path).exit_code == 0
    assert path.read_text() == shown
    frame = pd.read_csv(path)
    sample = simulate("planar-2", 5, random_state=7)
    assert np.allclose(frame[["x1", "x2"]], sample.X) and np.allclose(frame["time"], sample.y["time"])
    assert "Did you mean 'planar-2'" in refused("simulate", "planar2")


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_plot_draws_the_type_of_its_suffix(model, tmp_path, suffix):
    path = tmp_path / f"tree.{suffix}"
    assert dipolar("plot", model, "-o", path).exit_code == 0
    assert path.read_bytes().startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix])


def test_report_asks_for_the_columns_of_the_table(tmp_path):
    data, model, page = tmp_path / "clinic.csv", tmp_path / "m.dipolar", tmp_path / "m.html"
    X, y = clinic(120)
    X.assign(time=y["time"], event=y["event"].astype(int)).to_csv(data, index=False)
    assert dipolar("fit", data, *QUICK, "--output", model).exit_code == 0
    assert dipolar("report", model, "--data", data, "-o", page).exit_code == 0
    text = page.read_text()
    assert '"name":"stage"' in text and '"levels":["I","II","III"]' in text and '"cross_validated":{' in text
    assert dipolar("report", model, "--data", data, "--scores", "training", "-o", page, "--force").exit_code == 0
    assert '"cross_validated":null' in page.read_text()


def test_report_scores_other_rows(model, tmp_path):
    page = tmp_path / "r.html"
    result = dipolar("report", model, "-o", page, "--data", "remission", "--title", "Remission", "--json")
    assert json.loads(result.stdout) == {"command": "report", "output": str(page)}
    assert "Remission" in page.read_text(encoding="utf-8")


def test_every_help_screen_names_its_options():
    for command in ("fit", "predict", "evaluate", "report", "plot", "datasets", "simulate"):
        result = dipolar(command, "--help")
        assert result.exit_code == 0 and "--json" in result.stdout and "\x1b" not in result.stdout
    assert dipolar("--version").stdout == f"dipolar {__version__}\n"


# Refusals.


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("fit", "nowhere.csv"), "no file nowhere.csv"),
        (("fit", "whas50"), "'whas500'"),
        (("fit", "."), "folder"),
        (("fit",), "DATA"),
        (("fit", "remission", "--model", "oak"), "'oak'"),
        (("fit", "remission", "--kappa", "-1"), "kappa"),
        (("fit", "remission", "--alpha", "-1"), "alpha"),
        (("fit", "remission", "--min-leaf", "0"), "min_samples"),
        (("fit", "remission", "--max-depth", "-1"), "max_depth"),
        (("fit", "remission", "--model", "univariate", "--kappa", "1"), "--kappa"),
        (("fit", "remission", "--model", "univariate", "--no-standardize"), "--standardize"),
        (("fit", "remission", "--alpha", "2"), "--alpha"),
        (("fit", "remission", "--pruning", "none", "--alpha", "2"), "--alpha"),
        (("fit", "remission", "--bootstraps", "2"), "--bootstraps"),
        (("fit", "remission", "--tune", "--kappa", "2"), "--tune chooses --kappa"),
        (("evaluate", "remission", "--tune", "--max-depth", "2"), "--tune chooses --max-depth"),
        (("fit", "remission", "--pruning", "fixed", "--bootstraps", "2"), "--bootstraps"),
        (("fit", "remission", "--time", "tme"), "--time"),
        (("fit", "remission", "--drop", "x"), "--drop"),
        (("fit", "remission", "--output", "no/such/folder/m"), "does not exist"),
        (("fit", "remission", "--report", "no/such/folder/m"), "does not exist"),
        (("evaluate", "remission", "--folds", "1"), "--folds"),
        (("predict", "nothing.dipolar", "remission"), "nothing.dipolar"),
        (("report", "nothing.dipolar"), "nothing.dipolar"),
        (("plot", "nothing.dipolar", "-o", "tree.doc"), ".svg"),
        (("simulate", "planar-2", "-n", "0"), "--rows"),
        (("simulate", "planar-2", "-o", "rows.txt"), ".csv"),
        (("dance",), "dance"),
    ],
)
def test_bad_input_is_one_line(tmp_path, monkeypatch, args, words):
    monkeypatch.chdir(tmp_path)
    assert words in refused(*args)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("time,event,x\n", "no rows"),
        ("time\n1\n2\n", "1 column"),
        ("time,event,x\n1,0,1\n2,0,2\n", "no row has an event"),
        ("time,event,x\n1,1,1\n2,0,1\n", "no covariate is left"),
        ("time,event,x\n1,3,1\n2,4,2\n", "--event-value"),
        ("a,b,c\n1,3,1\n", "--time"),
    ],
)
def test_tables_that_cannot_be_fitted(tmp_path, text, words):
    path = tmp_path / "data.csv"
    path.write_text(text)
    assert words in refused("fit", path)


def test_existing_files_are_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr("dipolar.cli.data.read_data", lambda *_: pytest.fail("the work has begun"))
    monkeypatch.setattr("dipolar.cli.table.read_table", lambda *_: pytest.fail("the work has begun"))
    old = tmp_path / "old.csv"
    old.write_text("old")
    for args in (("fit", "remission", "-o"), ("fit", "remission", "--report"), ("predict", "model", "data", "-o")):
        assert "--force" in refused(*args, old)
    assert "named twice" in refused("fit", old, "-o", old, "--force")
    assert "named twice" in refused("fit", "remission", "-o", tmp_path / "a", "--report", tmp_path / "a")
    assert old.read_text() == "old"


def test_force_replaces(tmp_path):
    path = tmp_path / "m.dipolar"
    path.write_text("old")
    assert dipolar("fit", "remission", *QUICK_FIT, "-o", path, "--force").exit_code == 0
    assert zipfile.is_zipfile(path)


def test_read_only_folders_are_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr("dipolar.cli.data.read_data", lambda *_: pytest.fail("the work has begun"))
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    # The administrator may write anywhere but here.
    folder = Path("/proc") if os.geteuid() == 0 else closed
    assert "cannot be written" in refused("fit", "remission", "-o", folder / "m.dipolar")


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    def save_half(tree, stream):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LogRankSurvivalTree, "save", save_half)
    assert "No space left" in refused("fit", "remission", *QUICK_FIT, "-o", tmp_path / "m.dipolar")
    assert list(tmp_path.iterdir()) == []


# Model files.


def edit(path, target, **entries):
    """Copy a model with some entries replaced, or left out where they are None."""
    with zipfile.ZipFile(path) as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    kept |= {name.replace("_json", ".json"): content for name, content in entries.items()}
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in kept.items():
            if content is not None:
                archive.writestr(name, content)
    return target


def test_a_model_is_the_tree_with_one_more_entry(model, tmp_path):
    loaded = model_module.load_model(model)
    assert loaded.tree.tree_ == LogRankSurvivalTree.load(model).tree_
    assert [feature.name for feature in loaded.features] == ["TR", "logWBC"] and loaded.time_unit == "weeks"
    assert loaded.outcome.time is not None and loaded.outcome.start is None
    bare = model_module.load_model(edit(model, tmp_path / "m", preparation_json=None, outcome_json=None))
    assert bare.encoder is None and bare.outcome is None


def test_python_opens_the_file_as_a_pipeline(tmp_path):
    data, path = write_patients(tmp_path / "p.csv"), tmp_path / "p.dipolar"
    dipolar("fit", data, *QUICK_FIT, "--output", path)
    pipeline = load(path)
    X = pd.read_csv(data)[["age", "sex", "stage"]]
    document = json.loads(dipolar("predict", path, data, "--json").stdout)
    assert [row["risk"] for row in document["predictions"]] == pipeline.predict(X).tolist()
    save(pipeline, tmp_path / "q.dipolar")
    again = json.loads(dipolar("predict", tmp_path / "q.dipolar", data, "--json").stdout)
    assert again["predictions"] == document["predictions"]


def test_forests_of_python_predict_too(tmp_path):
    X, y = load_remission(return_X_y=True)
    forest = LogRankSurvivalForest(n_estimators=2, random_state=0).fit(X, y)
    forest.save(tmp_path / "f.dipolar")
    document = json.loads(dipolar("predict", tmp_path / "f.dipolar", "remission", "--json").stdout)
    assert [row["risk"] for row in document["predictions"]] == forest.predict(X).tolist()
    assert "leaf" not in document["predictions"][0]


def test_times_from_dates_and_a_covariate_in_disguise(tmp_path):
    rng = np.random.default_rng(0)
    days, path = rng.integers(1, 900, 60), tmp_path / "p.csv"
    entry = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, 60), "D")
    frame = pd.DataFrame({"entry": entry, "exit": entry + pd.to_timedelta(days, "D")})
    frame["OS_STATUS"] = rng.choice(["0:LIVING", "1:DECEASED"], 60)
    frame["age"], frame["lived"] = rng.integers(40, 90, 60), (days / 30.4).round(1)
    frame.to_csv(path, index=False)
    span = ("--start", "entry", "--stop", "exit")
    result = dipolar("fit", path, *QUICK_FIT, *span, "-o", tmp_path / "m.dipolar")
    assert result.exit_code == 0 and result.stderr.count("\n") == 1
    assert "lived may be the time in disguise (rank correlation 1.00)" in result.stderr
    assert "--drop 'lived'" in result.stderr and "Time is 'exit - entry' in days" in result.stdout
    document = json.loads(dipolar("fit", path, *QUICK_FIT, *span, "--drop", "lived", "--json").stdout)
    assert document["warnings"] == [] and document["covariates"] == ["age"]
    assert document["data"]["time_unit"] == "days" and document["data"]["event_codes"] == ["1:deceased"]
    evaluated = dipolar("evaluate", path, *span, *QUICK, "--folds", 2, "--json")
    assert "in disguise" in json.loads(evaluated.stdout)["warnings"][0]
    page = tmp_path / "m.html"
    assert dipolar("report", tmp_path / "m.dipolar", "--data", path, "-o", page).exit_code == 0 and page.exists()


# Sound, and of other covariates.
OTHER_PREPARATION = json.dumps(CovariateEncoder().fit(pd.DataFrame({"a": [1, 2]})).to_json()).encode()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "preparation.json is not JSON"),
        (b"[" * 10_000, "preparation.json is nested"),
        (b"[]", "does not say"),
        (b'{"format": "dipolar-preparation", "version": 99}', "version 99"),
        (b'{"format": "dipolar-preparation", "version": 1}', "version 1"),
        (b'{"format": "dipolar-preparation", "version": 2}', "damaged"),
        (OTHER_PREPARATION, "another model"),
    ],
)
def test_damaged_models_are_refused(model, tmp_path, content, words):
    assert words in refused("predict", edit(model, tmp_path / "m", preparation_json=content), "remission")


@pytest.mark.parametrize("content", [b"[]", b"{}", b'{"time": 1}', b'{"time": 3, "event": "a", "start": "b"}'])
def test_damaged_outcomes_are_refused(model, tmp_path, content):
    damaged = edit(model, tmp_path / "m", outcome_json=content)
    assert "its outcome is damaged" in refused("predict", damaged, "remission")


def test_other_files_are_no_models(model, tmp_path):
    whole = model.read_bytes()
    for content in (b"", b"time,event\n1,2\n", whole[: len(whole) // 2]):
        path = tmp_path / "m.dipolar"
        path.write_bytes(content)
        assert "not a complete saved dipolar model" in refused("predict", path, "remission")
    header = json.loads(zipfile.ZipFile(model).read("header.json")) | {"estimator": "os.system"}
    assert "os.system" in refused(
        "predict", edit(model, tmp_path / "m.dipolar", header_json=json.dumps(header)), "remission"
    )
    assert "folder" in refused("predict", tmp_path, "remission")


# Real processes.


def test_stdout_is_one_json_document_and_errors_go_to_stderr(tmp_path):
    done = process("fit", write_patients(tmp_path / "p.csv"), *QUICK_FIT, "--json")
    assert done.returncode == 0 and done.stderr == ""
    assert json.loads(done.stdout)["command"] == "fit"
    done = process("fit", tmp_path / "nothing.csv", "--json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_an_interrupted_command_says_so_in_one_line(tmp_path):
    """The command waits for a pipe; once it has opened it, it is at work and is interrupted."""
    pipe, output = tmp_path / "pipe.csv", tmp_path / "m.dipolar"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "dipolar", "fit", str(pipe), "-o", str(output)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with running, open(pipe, "w"):
        running.send_signal(signal.SIGINT)
        stdout, stderr = running.communicate(timeout=60)
    assert (running.returncode, stdout, stderr) == (130, "", "error: interrupted.\n")
    assert not output.exists()


def test_every_command_that_reads_rows_takes_a_sheet(tmp_path):
    patients = pd.read_csv(write_patients(tmp_path / "patients.csv"))
    book, model = tmp_path / "book.xlsx", tmp_path / "m.dipolar"
    with pd.ExcelWriter(book) as file:
        pd.DataFrame({"note": ["read me"]}).to_excel(file, sheet_name="notes", index=False)
        patients.to_excel(file, sheet_name="patients", index=False)
    sheet = ("--sheet", "patients")
    assert "time" in refused("fit", book, *QUICK_FIT)
    fitted = json.loads(dipolar("fit", book, *QUICK_FIT, *sheet, "-o", model, "--json").stdout)
    assert fitted["data"]["rows"] == 60 and "sheet 'patients'" in fitted["notes"]
    predicted = json.loads(dipolar("predict", model, book, *sheet, "--json").stdout)
    assert len(predicted["predictions"]) == 60
    evaluated = json.loads(dipolar("evaluate", book, *sheet, *QUICK, "--folds", 2, "--json").stdout)
    assert evaluated["data"]["rows"] == 60
    page = tmp_path / "m.html"
    assert dipolar("report", model, "--data", book, *sheet, "-o", page).exit_code == 0 and page.exists()
    assert "Give them with --data" in refused("report", model, *sheet, "-o", tmp_path / "n.html")


INTERRUPTED_WHILE_LOADING = """
import os, signal, sys

class Interrupter:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupter())
from dipolar.cli import main
assert sys.argv[1] not in sys.modules
sys.argv = ["dipolar", "datasets"]
main()
"""


@pytest.mark.parametrize("module", ["numpy", "sklearn.base", "typer"])
def test_a_command_that_is_interrupted_while_it_loads_says_so_in_one_line(module):
    command = [sys.executable, "-c", INTERRUPTED_WHILE_LOADING.replace("sys.argv[1]", repr(module))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: interrupted.\n")


def test_interrupts_are_ignored_where_the_caller_ignores_them():
    """As under nohup."""
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + INTERRUPTED_WHILE_LOADING
    command = [sys.executable, "-c", code.replace("sys.argv[1]", "'typer'")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def living(session, seconds=0.0):
    """The processes of a session that have not ended, and have used so much CPU time."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = stat.parent.name, stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        used = (int(rest[11]) + int(rest[12])) / os.sysconf("SC_CLK_TCK")
        if int(rest[3]) == session and rest[0] != "Z" and used >= seconds:
            found.append(int(pid))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs a list of processes")
def test_an_interrupt_ends_the_workers_too():
    """Ctrl-C reaches every process of the terminal; it comes when there are two workers and more.

    They are left to start up: what Python prints when it is interrupted before it runs our code is not ours to say.
    """
    command = [sys.executable, "-m", "dipolar", "evaluate", "leuksurv", "--repeats", "100", "--jobs", "2"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **streams) as running:
        while running.poll() is None and len(living(running.pid, seconds=3.0)) < 2:
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        stdout, stderr = running.communicate(timeout=60)
    assert (running.returncode, stdout, stderr) == (130, "", "error: interrupted.\n")
    patience = time.monotonic() + 10
    while living(running.pid) and time.monotonic() < patience:
        time.sleep(0.05)
    assert living(running.pid) == []


KILLED_WHILE_WRITING = """
import os, signal, sys
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
from dipolar.cli import main
sys.argv[0] = "dipolar"
main()
"""


def test_a_killed_command_leaves_the_old_file(tmp_path):
    output = tmp_path / "m.dipolar"
    output.write_text("old")
    args = ["fit", "remission", *QUICK_FIT, "--output", str(output), "--force"]
    done = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, *args], capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert output.read_text() == "old"


def test_faults_of_our_own_are_one_line_too(monkeypatch):
    def fault(*_):
        raise RuntimeError("this cannot be")

    monkeypatch.setattr("dipolar.cli.data.read_data", fault)
    result = dipolar("fit", "remission")
    assert result.exit_code == 70 and result.stderr.count("\n") == 1 and "this cannot be" in result.stderr
    monkeypatch.setenv("DIPOLAR_DEBUG", "1")
    assert isinstance(dipolar("fit", "remission").exception, RuntimeError)
