"""What a study computes and what it makes of it: trials, the truth, printed tables, marks, sizes, speed."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from dipolar import DipoleSurvivalTree, DipoleSVM, LogRankSurvivalTree
from dipolar.cli.messages import UserError
from dipolar.kernels import GaussianKernel
from dipolar.metrics import concordance_index, integrated_brier_score
from dipolar.node_svm import DistanceQuantile
from dipolar.simulation import simulate
from dipolar.simulation.paper import DESIGNS as ALL_DESIGNS
from dipolar_reproduction.catalogue import STUDIES, find_study
from dipolar_reproduction.comparison import (
    MARKS,
    READINGS,
    Comparison,
    compare_summary,
    distance,
    mark,
    reading_table,
)
from dipolar_reproduction.models import TREES, paper_models, remission_models
from dipolar_reproduction.printed import (
    MEASURES,
    Printed,
    _read,
    printed_medians,
    printed_real,
    printed_remission_scores,
    printed_simulations,
    reasons,
)
from dipolar_reproduction.scores import SCORES, Rows, score_truth
from dipolar_reproduction.sigma import width_of
from dipolar_reproduction.simulated import DESIGNS
from dipolar_reproduction.sizes import size_frame
from dipolar_reproduction.speed import duration, speed_table, wall_seconds
from dipolar_reproduction.study import Unit
from dipolar_reproduction.summary import VALUES, summarise, trial_frame
from dipolar_reproduction.table import Table
from dipolar_reproduction.trial import PATH_SIZES, RULES, THRESHOLDS, average_trials, run_trial

# What the study sets on purpose, since the library recommends something else.
PAPER_SVM = {
    "kappa_scale": "sum",
    "pure_weight": 1.0,
    "margin": DistanceQuantile(0.23),
    "standardize": False,
    "init": "quartile",
    "cutoff_rule": "scripts",
}
PAPER_TREE = {"inherit": 0.0, "dipole_scope": "root", "max_depth": None, "min_samples_leaf": 1}


@pytest.fixture(scope="module")
def halves():
    sample = simulate("planar-2", 500, random_state=4)
    return Rows(sample.X[:250], sample.y[:250]), Rows(sample.X[250:], sample.y[250:])


@pytest.fixture(scope="module")
def univariate(halves):
    return run_trial(paper_models()["univariate"], *halves, seed=7)


# Models and trials.


def test_the_settings_of_the_papers_trees():
    models = paper_models()
    assert tuple(models) == TREES == ("univariate", "linear", "quadratic", "gaussian")
    assert models["linear"].etas == tuple(np.arange(-4, 4.5, 0.5))
    assert models["gaussian"].etas == tuple(np.arange(-2, 4.5, 0.5))
    assert models["univariate"].fixed_alpha == 5.6 and models["quadratic"].fixed_alpha == 2.8
    tree = models["gaussian"].make(2**40 + 3)
    expected = PAPER_TREE | {"min_samples_split": 21, "pruning": "leblanc-crowley", "alpha": 2.8, "n_bootstraps": 25}
    expected |= {f"svm__{name}": value for name, value in PAPER_SVM.items()}
    expected |= {"svm__kernel": "rbf", "svm__pure_quantile": 0.25, "svm__mixed_quantile": 0.75, "svm__tol": 1e-2}
    assert {name: tree.get_params()[name] for name in expected} == expected and tree.random_state == 3
    assert remission_models()["gaussian"].tree.svm.kernel == GaussianKernel(1.0)
    for model in (*models.values(), *remission_models().values()):
        assert json.loads(json.dumps(model.settings())) == model.settings()


def test_a_trial_records_what_the_estimators_and_metrics_say(halves, univariate):
    train, test = halves
    tree = LogRankSurvivalTree(
        min_samples_split=21, min_samples_leaf=1, pruning="leblanc-crowley", alpha=2.8, random_state=7
    ).fit(*train)
    trees = {"grown": tree.prune(0.0), "bootstrap": tree, "fixed": tree.prune(5.6)}
    assert univariate["eta"] is None and set(univariate["seconds"]) == {"tuning", "growing", "pruning", "scoring"}
    for rule in RULES:
        fitted = trees[rule]
        assert univariate["nodes"][rule] == 2 * fitted.n_leaves_ - 1
        curves, medians = fitted.predict_survival_function(test.X), fitted.predict_median(test.X, unreached="mean")
        expected = {
            "c_paper": concordance_index(test.y, -medians, ties="exclude", tied_times="exclude"),
            "c_harrell": concordance_index(test.y, fitted.predict(test.X)),
            "ibs_graf": integrated_brier_score(train.y, test.y, curves),
            "ibs_paper": integrated_brier_score(train.y, test.y, curves, variant="paper"),
            "ibs_authors": integrated_brier_score(None, test.y, curves, variant="authors"),
            "train_ibs_authors": integrated_brier_score(
                None, train.y, fitted.predict_survival_function(train.X), variant="authors"
            ),
        }
        found = dict(zip(SCORES, univariate["scores"][rule]))
        assert {name: found[name] for name in expected} == pytest.approx(expected, abs=6e-6)
    assert univariate["nodes_at"] == [tree.prune(price).tree_.n_nodes for price in THRESHOLDS]


def test_the_path_of_a_trial_goes_from_the_root_to_the_whole_tree(univariate):
    leaves = [point[0] for point in univariate["path"]]
    assert leaves == sorted(set(leaves)) and leaves[0] == 1
    assert leaves[-1] == (univariate["nodes"]["grown"] + 1) // 2 <= PATH_SIZES[-1]
    assert univariate["path"][0][1:3] == [0.5, 0.5]
    whole = univariate["scores"]["grown"]
    assert univariate["path"][-1][1:] == whole[:3]


def test_a_dipole_tree_is_tuned_by_the_papers_concordance(halves):
    train, test = halves
    model = paper_models(n_bootstraps=2)["linear"]
    few = type(model)(model.name, model.tree, (-4.0, 0.0), model.fixed_alpha)
    record = run_trial(few, Rows(train.X[:120], train.y[:120]), test, seed=1)
    assert record["eta"] in (-4.0, 0.0) and record["unconverged"] == 0
    again = run_trial(few, Rows(train.X[:120], train.y[:120]), test, seed=1)
    assert {**record, "seconds": 0} == {**again, "seconds": 0}
    tree = DipoleSurvivalTree(DipoleSVM("linear", math.exp(record["eta"]), **PAPER_SVM), **PAPER_TREE)
    tree.set_params(min_samples_split=21).fit(train.X[:120], train.y[:120])
    assert record["nodes"]["grown"] == tree.tree_.n_nodes
    assert record["nodes"]["fixed"] == tree.prune(2.8).tree_.n_nodes
    assert all(seconds > 0 for seconds in record["seconds"].values())


def test_folds_are_averaged_over_the_scores_they_define(univariate):
    other = json.loads(json.dumps(univariate))
    other["nodes"] = dict.fromkeys(RULES, 1)
    other["scores"]["fixed"] = [None, *other["scores"]["fixed"][1:]]
    mean = average_trials([univariate, other])
    assert mean["nodes"]["grown"] == (univariate["nodes"]["grown"] + 1) / 2
    assert mean["scores"]["fixed"] == pytest.approx(univariate["scores"]["fixed"])
    assert mean["seconds"]["pruning"] == pytest.approx(2 * univariate["seconds"]["pruning"])


@pytest.mark.parametrize("design", ["planar-2", "weibull-planar-2", "ellipse-7-scripts"])
def test_the_truth_scores_the_true_survival_functions(design):
    sample = simulate(design, 60, random_state=3)
    train, test = slice(0, 30), slice(30, None)
    scores = score_truth(sample, train, test)
    shape = sample.design.baseline.shape
    curves = [
        lambda t, lin=lin: np.exp(-(np.asarray(t) ** shape) * np.exp(lin)) for lin in sample.linear_predictor[test]
    ]
    expected = [concordance_index(sample.y[test], sample.linear_predictor[test])] * 2
    expected += [
        integrated_brier_score(sample.y[train], sample.y[test], curves, variant=variant)
        for variant in ("graf", "paper", "authors")
    ]
    assert scores == pytest.approx(expected, abs=6e-6)


def test_models_of_a_replicate_see_the_same_rows():
    study = find_study("sim-p7")
    record = study.run(Unit("ellipse-7", 3, "truth"), 0)
    assert record["seed"] == study.run(Unit("ellipse-7-scripts", 3, "truth"), 0)["seed"]
    assert record["truth"] == study.run(Unit("ellipse-7-scripts", 3, "truth"), 0)["truth"]
    assert record["seed"] != study.run(Unit("ellipse-7", 4, "truth"), 0)["seed"]
    assert record["seed"] != study.run(Unit("ellipse-7", 3, "truth"), 1)["seed"]


# Printed tables.


def test_printed_tables_are_complete():
    assert [len(printed_simulations(p)) for p in (2, 4, 7)] == [4 * 4 * 4, 2 * 4 * 4, 2 * 4 * 4]
    assert len(printed_real()) == 5 * 4 * 4 and len(printed_remission_scores()) == 4 * 3
    for row in (*printed_simulations(2), *printed_simulations(4), *printed_simulations(7), *printed_real()):
        assert row.model in TREES and row.measure in MEASURES and row.sd >= 0
    wanted = Printed("sim-p2", "Wbl", "linear", "pruned_nodes", 16.89, 4.65, 2)
    assert wanted in printed_simulations(2) and wanted.text == "16.89 (4.65)"
    assert Printed("sim-p4", "Ell", "linear", "nodes", 10.2, 2.27, 1) in printed_simulations(4)
    assert printed_medians("univariate") == {"llll": 26, "lllr": 23, "llr": 12, "lr": 10, "r": 3.5}


def test_every_printed_hazard_has_designs():
    for p, hazards in DESIGNS.items():
        assert set(hazards) == {row.source for row in printed_simulations(p)}
        assert all(design in ALL_DESIGNS for designs in hazards.values() for design in designs)


def test_every_reason_is_about_a_printed_row():
    printed = [*printed_simulations(2), *printed_simulations(4), *printed_simulations(7), *printed_real()]
    told = {reason for row in printed for reason in reasons(row, missed=True)}
    assert told == {row["reason"] for row in _read("reasons.csv")} and all(text.endswith(".") for text in told)
    always = {reason for row in printed for reason in reasons(row, missed=False)}
    assert 0 < len(always) < len(told)


# Marks.


def row(mean=0.80, sd=0.02, digits=2):
    return Printed("sim-p2", "Par", "linear", "ci", mean, sd, digits)


@pytest.mark.parametrize(
    ("ours", "expected"),
    [(0.80, 0), (0.825, 0), (0.8251, 1), (0.775, 0), (0.845, 1), (0.846, 2), (0.75, 2), (0.76, 1)],
)
def test_marks_count_printed_standard_deviations_and_allow_for_rounding(ours, expected):
    assert mark(ours, row()) == MARKS[expected]


def test_marks_without_a_spread():
    assert mark(3.004, row(3.00, 0.0)) == MARKS[0]
    assert mark(3.02, row(3.00, 0.0)) == MARKS[2]
    assert distance(3.02, row(3.00, 0.0)) == math.inf
    assert mark(float("nan"), row()) == "not known"
    assert mark(0.82, row(sd=None)) == "not known"
    assert mark(0.82, row(sd=None), our_sd=0.03) == MARKS[0]


def comparison(text, scripts, *others, measure="ci"):
    printed = Printed("sim-p2", "Par", "linear", measure, 0.80, 0.02, 2)
    readings = READINGS[measure]
    means = [text, scripts, *others]
    columns = {reading.column: mean for reading, mean in zip(readings, means + [9.0] * len(readings))}
    index = pd.MultiIndex.from_tuples([("parabola-2", "linear")])
    cells = {}
    for column, mean in columns.items():
        cells |= {(column, "mean"): [mean], (column, "std"): [0.1], (column, "count"): [5]}
    summary = pd.DataFrame(cells, index=index)
    (found,) = compare_summary(summary, [printed], {"Par": ("parabola-2",)})
    return found


def test_a_comparison_says_which_reading_fits():
    assert comparison(0.80, 0.81).fits() == "both"
    assert comparison(0.80, 0.90).fits() == "text"
    assert comparison(0.90, 0.80).fits() == "scripts"
    assert comparison(0.90, 0.90).fits() == "none"
    other = comparison(0.90, 0.90, 0.81, 0.802)
    assert other.fits() == "another" and other.remark() == "Fits Harrell's C, fixed pruning: 0.802."
    assert isinstance(other, Comparison) and other.text.n == 5


def test_the_first_readings_are_the_texts_and_the_scripts():
    assert [reading.column for reading in READINGS["ibs"][:2]] == ["bootstrap.ibs_paper", "fixed.train_ibs_authors"]
    assert len(READINGS["ibs"]) == 12 == len({reading.column for reading in READINGS["ibs"]})
    known = set(VALUES)
    assert all(reading.column in known for readings in READINGS.values() for reading in readings)


def test_readings_are_counted_over_all_rows():
    table = reading_table([comparison(0.80, 0.90), comparison(0.83, 0.80), comparison(0.90, 0.84)])
    assert table.rows[0] == ["C", "paper's C, bootstrap pruning", "1", "1", "1"]
    assert table.rows[1] == ["C", "paper's C, fixed pruning", "1", "1", "1"]
    assert table.rows[2][2:] == ["0", "0", "3"] and len(table.rows) == 4


def test_sizes_have_one_reading():
    found = comparison(0.81, 0.0, measure="nodes")
    assert found.text is found.scripts and found.fits() == "yes"
    assert comparison(0.90, 0.0, measure="nodes").fits() == "no"


def test_a_reason_is_told_where_a_row_does_not_come_out():
    printed = next(
        r for r in printed_simulations(2) if (r.source, r.model, r.measure) == ("Par", "univariate", "nodes")
    )
    ours = comparison(57.0, 0.0, measure="nodes").ours
    assert "no known setting gives 76" in Comparison(printed, "parabola-2", ours).remark()
    fine = tuple(value._replace(mark=MARKS[0]) for value in ours)
    assert Comparison(printed, "parabola-2", fine).remark() == ""


# Tables.


@pytest.fixture(scope="module")
def results():
    """Made-up results of two trees on one design."""
    rng = np.random.default_rng(0)
    made = {}
    for replicate in range(4):
        for model, largest in (("univariate", 5), ("linear", 3)):
            scores = {rule: [*rng.random(7).round(3), None if replicate == 0 else 0.1] for rule in RULES}
            path = [[leaves, *rng.random(3).round(3)] for leaves in range(1, largest + 1)]
            made[Unit("planar-2", replicate, model)] = {
                "eta": None,
                "nodes": {"grown": 2 * largest - 1, "bootstrap": 3, "fixed": 5},
                "nodes_at": [5, 5, 3, 1],
                "scores": scores,
                "path": path,
                "seconds": {"tuning": 1.0, "growing": 0.5, "pruning": 0.25, "scoring": 0.25},
                "session": replicate // 2,
                "wall": 10.0 + replicate,
            }
        truth = {
            "truth": [0.9, 0.9, 0.1, 0.1, 0.1],
            "seconds": {"scoring": 0.0},
            "session": replicate // 2,
            "wall": 1.0,
        }
        made[Unit("planar-2", replicate, "truth")] = truth
    return made


def test_means_and_deviations_leave_out_what_is_not_defined(results):
    summary = summarise(trial_frame(results))
    values = [record["scores"]["fixed"][0] for unit, record in results.items() if unit.model == "linear"]
    found = summary.loc[("planar-2", "linear")]
    assert found["fixed.c_paper", "mean"] == pytest.approx(np.mean(values))
    assert found["fixed.c_paper", "std"] == pytest.approx(np.std(values, ddof=1))
    assert found["fixed.train_ibs_authors", "count"] == 3 and found["fixed.train_ibs_authors", "mean"] == pytest.approx(
        0.1
    )


def test_sizes_against_a_slow_twin(results):
    frame = size_frame(results)
    for _, line in frame.iterrows():
        points = []
        for unit, record in results.items():
            if unit.model == line["model"]:
                allowed = [point for point in record["path"] if point[0] <= line["size"]]
                points.append(allowed[-1])
        assert line["leaves"] == np.mean([point[0] for point in points])
        assert line["c_harrell"] == pytest.approx(np.mean([point[2] for point in points]))
    assert list(frame[frame["model"] == "linear"]["size"]) == [1, 2, 3]
    assert list(frame[frame["model"] == "univariate"]["size"]) == [1, 2, 3, 4, 6]


def test_speed_adds_up_runs_and_extrapolates(results):
    assert wall_seconds(results) == 11.0 + 13.0
    table = speed_table([results], 1000)
    assert table.rows[0] == ["univariate", "4", "2.000", "50 %", "25 %", "12 %", "12 %"]
    assert table.rows[-1][:3] == ["all", "8", "2.000"]
    # 16 seconds of work in 24 seconds; a replicate is 4 seconds of work.
    assert "8 fits in 24 s: 0.33 per second, with 0.67 units at a time" in table.notes[0]
    assert "1000 replicates of these 1 designs take 1 h 40 min" in table.notes[1]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59, "59 s"), (90, "2 min"), (3600, "1 h 00 min"), (86400, "24 h 00 min"), (260000, "3.0 days")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_tables_as_markdown():
    table = Table("t", "Title", ["a", "b", "c"], [["x|y", "z", "1"]], ["A note."])
    assert table.markdown() == "## Title\n\n| a | b | c |\n| --- | --- | ---: |\n| x\\|y | z | 1 |\n\nA note.\n"


def test_every_study_tells_its_settings_as_json():
    for study in STUDIES.values():
        header = study.header(0)
        assert json.loads(json.dumps(header)) == header
        assert study.sources and all(study.models_of(source) for source in study.sources)
    with pytest.raises(UserError, match="there is no study 'x'"):
        find_study("x")


def test_the_width_of_the_figure():
    assert width_of("formula", "1") == pytest.approx(140.67, abs=0.01)
    assert width_of("scripts", "1") == pytest.approx(2558.11, abs=0.01)
    assert width_of("formula", "1/100") == pytest.approx(1.4067, abs=1e-4)


def test_figures_without_replicates_take_no_runs():
    with pytest.raises(UserError, match="fig-sigma has no replicates"):
        find_study("fig-sigma").units(3)
    assert len(find_study("real").units()) == 4 * (10 + 20 + 20 + 10 + 10)
