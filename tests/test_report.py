"""The report as a file: what it holds, what it leaves out, and how it is written. The page itself runs in Chromium."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold

import dipolar
from dipolar import DipoleSurvivalTree, DipoleSVM, LogRankSurvivalTree, survival_outcome
from dipolar.datasets import load_whas500
from dipolar.metrics import concordance_index, integrated_brier_score
from dipolar.report import render_report, write_report
from dipolar.report.columns import rounded_range
from dipolar.report.page import report_data
from dipolar.tree.export import to_dict
from tests.models import paper_tree
from tests.report_trees import encoded

NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def data_of(page):
    """The JSON inside the page, as the browser would read it."""
    return json.loads(re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page, re.S)[1])


def random_rows(n=200, n_features=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    time = rng.exponential(np.exp(-X[:, 0])) * 100
    return X, survival_outcome(time, rng.random(n) < 0.7)


@pytest.fixture(scope="module")
def whas():
    X, y = load_whas500(return_X_y=True)
    return X, y, LogRankSurvivalTree(min_samples_leaf=15, pruning="fixed", alpha=12).fit(X, y)


class Counter(HTMLParser):
    """Counts elements and collects attributes as a browser would see them."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


def test_the_page_is_one_file_that_asks_for_nothing(whas):
    X, y, tree = whas
    page = render_report(tree, X=X, y=y)
    counter = Counter()
    counter.feed(page)
    assert counter.tags.count("script") == 2
    assert not {"img", "iframe", "object", "embed"} & set(counter.tags)
    loads = [value for name, value in counter.attributes if name in ("src", "href", "action", "srcset")]
    assert all(value.startswith(("#", "data:,")) for value in loads)
    assert not re.findall(r"url\(|@import|fetch\(|XMLHttpRequest|WebSocket|sendBeacon", page)
    policies = [value for name, value in counter.attributes if name == "content" and "default-src" in value]
    assert len(policies) == 1 and policies[0].startswith("default-src 'none';")
    assert "unsafe" not in policies[0]


def test_the_tree_of_the_page_is_the_grown_tree(whas):
    _, _, tree = whas
    data = data_of(render_report(tree))
    grown, path = tree.grown_, tree.pruning_path_
    nodes = data["tree"]["nodes"]
    assert [node.get("left", -1) for node in nodes] == grown.left.tolist()
    assert [node["n"] for node in nodes] == grown.n_samples.tolist()
    times = [time for node in nodes if node["is_leaf"] for time in node["curve"]["time"]]
    assert times == grown.tables.time.tolist()
    assert data["path"]["n_leaves"] == path.n_leaves.tolist()
    assert data["path"]["removed_at"] == path.removed_at.tolist()
    assert data["member"] == tree.member_
    assert path.n_leaves[data["member"]] == tree.n_leaves_ > 1
    assert data["path"]["honest"] is None
    assert data["covariates"] is None and data["given"] is None and data["rows"] is None


@pytest.mark.parametrize("predict_form", [True, False])
@pytest.mark.parametrize("options", [None, {"kernel": "linear"}, {"kernel": "rbf", "standardize": True}])
def test_a_tree_that_is_not_pruned_is_embedded_in_its_plain_form(options, predict_form):
    X, y = random_rows()
    limits = {"max_depth": 3, "pruning": None}
    tree = LogRankSurvivalTree(**limits) if options is None else paper_tree(**limits, **options)
    embedded = data_of(render_report(tree.fit(X, y), predict_form=predict_form))["tree"]
    assert embedded == to_dict(tree, rows=predict_form)


def test_honest_statistics_are_told_where_a_rule_made_them():
    X, y = random_rows()
    tree = LogRankSurvivalTree(pruning="validation", random_state=0).fit(X, y)
    assert data_of(render_report(tree))["path"]["honest"] == tree.pruning_path_.honest_statistics.tolist()


def test_summaries_of_covariates_and_outcomes(whas):
    X, y, tree = whas
    data = report_data(tree, X=X, y=y, title="WHAS", time_unit="days")
    assert (data["title"], data["time_unit"]) == ("WHAS", "days")
    for column, summary in zip(X, data["covariates"]):
        values = X[column]
        if values.nunique() > 2:
            assert summary["quartiles"] == pytest.approx(values.quantile([0.25, 0.5, 0.75]).tolist())
            assert summary["mean"] == pytest.approx(values.mean())
            assert summary["deviation"] == pytest.approx(values.std())
        else:
            assert summary["shares"] == pytest.approx(values.value_counts(normalize=True).sort_index().tolist())
    assert data["training"]["n"] == len(X)
    assert data["training"]["events"] == y["event"].sum()
    assert data["training"]["total_time"] == pytest.approx(y["time"].sum())
    assert data["given"]["label"] == "training data"


def test_weights_of_summaries_count_rows():
    X, y = random_rows(60)
    tree = LogRankSurvivalTree(max_depth=2).fit(X, y)
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    twice = np.repeat(np.arange(len(X)), weight)
    weighted, repeated = report_data(tree, X=X, y=y, sample_weight=weight), report_data(tree, X=X[twice], y=y[twice])
    for key in ("covariates", "given", "scores"):
        flat, expected = (json.dumps(data[key]) for data in (weighted, repeated))
        assert NUMBER.sub("", flat) == NUMBER.sub("", expected)
        assert [*map(float, NUMBER.findall(flat))] == pytest.approx([*map(float, NUMBER.findall(expected))])
    assert weighted["given"]["label"] == "data given"


def test_missing_values_are_counted():
    X, y = random_rows(80)
    X[:10, 1] = np.nan
    X[:, 2] = np.nan
    tree = LogRankSurvivalTree(max_depth=2).fit(X, y)
    covariates = report_data(tree, X=X, y=y)["covariates"]
    assert [summary["missing"] for summary in covariates] == [0, 10, 80]
    assert covariates[1]["quartiles"][1] == pytest.approx(np.nanmedian(X[:, 1]))
    assert "quartiles" not in covariates[2] and "levels" not in covariates[2]


def test_scores_on_training_rows_need_no_rows(whas):
    X, y, tree = whas
    (scores,) = report_data(tree)["scores"]
    assert scores["label"] == "training data"
    assert scores["harrell"]["value"] == pytest.approx(concordance_index(y, tree.predict(X)))
    medians = tree.predict_median(X, unreached="mean")
    paper = concordance_index(y, -medians, ties="exclude", tied_times="exclude")
    assert scores["paper"]["value"] == pytest.approx(paper)
    expected = integrated_brier_score(y, y, tree.predict_survival_function(X))
    assert scores["ibs"]["value"] == pytest.approx(expected)


def test_scores_on_other_rows_stand_beside_them(whas):
    X, y, _ = whas
    tree = LogRankSurvivalTree(max_depth=2).fit(X[::2], y[::2])
    training, given = report_data(tree, X=X[1::2], y=y[1::2])["scores"]
    assert (training["label"], given["label"]) == ("training data", "data given")
    assert given["n"] == len(X[1::2])
    assert given["harrell"]["value"] == pytest.approx(tree.score(X[1::2], y[1::2]))
    curves = tree.predict_survival_function(X[1::2])
    assert given["ibs"]["value"] == pytest.approx(integrated_brier_score(y[::2], y[1::2], curves))
    assert len(report_data(tree, X=X[::2], y=y[::2])["scores"]) == 1


def test_a_score_that_does_not_exist_says_why():
    X, y = random_rows(30)
    tree = LogRankSurvivalTree(min_samples_leaf=30).fit(X, y)
    (scores,) = report_data(tree)["scores"]
    assert scores["harrell"]["value"] == 0.5
    assert scores["paper"]["value"] is None and scores["paper"]["reason"]


def test_parameters_tell_what_was_set(whas):
    _, _, tree = whas
    parameters = {entry["name"]: entry for entry in report_data(tree)["parameters"]}
    assert set(parameters) == set(tree.get_params())
    assert {name for name, entry in parameters.items() if not entry["is_default"]} == {
        "pruning", "alpha",
    }  # fmt: skip
    assert parameters["alpha"]["value"] == "12"


def test_parameters_of_the_machine_are_among_those_of_the_tree():
    tree = DipoleSurvivalTree(DipoleSVM(kappa=10.0), max_depth=1).fit(*random_rows(60))
    told = {entry["name"]: entry for entry in report_data(tree)["parameters"]}
    assert set(told) == set(tree.get_params()) - {"svm"}
    assert {name for name, entry in told.items() if not entry["is_default"]} == {"svm__kappa", "max_depth"}
    assert told["svm__kappa"]["value"] == "10.0"


def test_a_default_may_be_written_as_another_number():
    X, y = random_rows(40)
    tree = LogRankSurvivalTree(alpha=4, verbose=False, max_depth=1).fit(X, y)
    parameters = {entry["name"]: entry["is_default"] for entry in report_data(tree)["parameters"]}
    assert parameters["alpha"] and not parameters["verbose"] and not parameters["max_depth"]


NAMES = ["</script><script>alert(1)</script>", "<!-- &amp; \u2028\u2029 \"'`", "👩‍⚕️ Größe\x00\ud800"]


def test_names_and_titles_cannot_leave_their_place():
    X, y = random_rows(60)
    tree = LogRankSurvivalTree(max_depth=2).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    tree.feature_names_in_ = np.array(NAMES, dtype=object)
    page = render_report(tree, title="</title><script>alert(2)</script>", time_unit="<b>days</b>")
    counter = Counter()
    counter.feed(page)
    assert counter.tags.count("script") == 2 and counter.tags.count("title") == 1 and "b" not in counter.tags
    body = re.search(r'id="report-data">(.*?)</script>', page, re.S)[1]
    assert not set("<>&\u2028\u2029") & set(body) and body.isascii()
    data = data_of(page)
    assert data["tree"]["feature_names"][:2] == NAMES[:2]
    assert data["tree"]["feature_names"][2] == "👩‍⚕️ Größe\x00?"
    assert data["title"] == "</title><script>alert(2)</script>"


def numbers_in(page):
    return set(map(float, NUMBER.findall(page)))


def test_no_covariate_of_a_row_is_in_the_page_unless_asked_for():
    X, y = random_rows(200)
    tree = LogRankSurvivalTree(min_samples_leaf=10).fit(X, y)
    values = set(X.ravel().tolist())
    assert not numbers_in(render_report(tree, X=X, y=y)) & values
    assert numbers_in(render_report(tree, X=X, y=y, include_rows=True)) >= values


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_basis_rows_are_in_the_page_only_with_the_form(kernel):
    X, y = random_rows(120)
    tree = paper_tree(kernel=kernel, max_depth=2).fit(X, y)
    basis = set(tree.grown_.splits.basis.ravel().tolist())
    assert basis and basis <= set(X.ravel().tolist())
    with_form, without = render_report(tree, X=X, y=y), render_report(tree, X=X, y=y, predict_form=False)
    assert numbers_in(with_form) >= basis
    assert not numbers_in(without) & set(X.ravel().tolist())
    assert data_of(without)["form"] is False and data_of(without)["tree"]["basis"] is None


@pytest.mark.parametrize(
    ("settings", "shape"),
    [
        ({"kernel": "linear"}, (120, 3)),
        ({"kernel": "quadratic"}, (120, 3)),
        ({"kernel": "linear"}, (50, 80)),  # more columns than rows: the machine sees kernel values
        ({"kernel": "quadratic"}, (60, 20)),
        ({"kernel": "polynomial", "degree": 3, "coef0": 0.0}, (60, 8)),
    ],
)
def test_sums_of_few_monomials_hold_no_rows(settings, shape):
    X, y = random_rows(*shape)
    tree = paper_tree(max_depth=2, standardize=True, kappa=0.01, min_samples_leaf=5, **settings).fit(X, y)
    splits, plain = tree.grown_.splits, data_of(render_report(tree))["tree"]
    assert tree.n_leaves_ > 1 and plain["basis"] == []
    z = (X - plain["mean"]) / np.array(plain["scale"])
    for node in np.flatnonzero(tree.grown_.is_split):
        split = plain["nodes"][node]["split"]
        assert split["basis_rows"] == []
        features = np.column_stack([np.prod(z[:, columns], axis=1) for columns in split["monomials"]])
        scores = features @ split["coefficients"] + split["intercept"]
        np.testing.assert_allclose(scores, splits.score(X, node), rtol=1e-9, atol=1e-9)


def test_equations_are_in_original_units():
    X, y = random_rows(150)
    X = X * [1.0, 20.0, 300.0] + [5.0, -7.0, 100.0]
    tree = paper_tree(kernel="quadratic", kappa=0.1, standardize=True, max_depth=1).fit(X, y)
    terms = report_data(tree, predict_form=False)["tree"]["nodes"][0]["split"]["terms"]
    scores = sum(term["coefficient"] * np.prod(X[:, term["columns"]], axis=1) for term in terms)
    np.testing.assert_allclose(scores, tree.split_scores(X, 0), rtol=1e-9, atol=1e-9)


def test_a_kernel_that_a_page_cannot_compute():
    X, y = random_rows(60)
    tree = paper_tree(kernel=lambda A, B: A @ B.T, max_depth=2, standardize=True).fit(X, y)
    with pytest.raises(ValueError, match="predict_form=False"):
        render_report(tree)
    data = data_of(render_report(tree, predict_form=False))
    kernel = {"name": "CallableKernel", "parameters": {}, "word": "kernel"}
    assert data["tree"]["nodes"][0]["split"]["kernel"] == kernel


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"X": "X"}, "X without y"),
        ({"y": "y"}, "y without X"),
        ({"include_rows": True}, "include_rows"),
        ({"sample_weight": np.ones(30)}, "sample_weight"),
        ({"X": "X", "y": "y", "sample_weight": np.zeros(30)}, "zero in every row"),
        ({"X": "X", "y": "short"}, "30 and 29"),
        ({"X": "narrow", "y": "y"}, "features"),
    ],
)
def test_wrong_options_are_named(options, message):
    X, y = random_rows(30)
    values = {"X": X, "y": y, "short": y[:-1], "narrow": X[:, :2]}
    tree = LogRankSurvivalTree(max_depth=1).fit(X, y)
    options = {name: values[value] if isinstance(value, str) else value for name, value in options.items()}
    with pytest.raises(ValueError, match=message):
        render_report(tree, **options)


def test_an_unfitted_tree_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        LogRankSurvivalTree().to_html(tmp_path / "tree.html")
    assert not list(tmp_path.iterdir())


def test_to_html_passes_everything_on(whas, tmp_path):
    X, y, tree = whas
    path = tree.to_html(str(tmp_path / "tree.html"), X=X, y=y, title="A & B", include_rows=True, predict_form=False)
    assert path.read_text(encoding="utf-8") == render_report(
        tree, X=X, y=y, title="A & B", include_rows=True, predict_form=False
    )  # fmt: skip
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file(whas, tmp_path, monkeypatch):
    _, _, tree = whas
    path = tmp_path / "tree.html"
    path.write_text("old")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_report(tree, path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_the_same_tree_gives_the_same_file(whas):
    X, y, tree = whas
    assert render_report(tree, X=X, y=y) == render_report(tree, X=X, y=y)


def test_a_loaded_model_gives_the_same_report(whas, tmp_path):
    _, _, tree = whas
    tree.save(tmp_path / "model")
    assert render_report(LogRankSurvivalTree.load(tmp_path / "model")) == render_report(tree)


def test_the_version_is_told(whas):
    assert report_data(whas[2])["version"] == dipolar.__version__


def test_a_pipeline_has_a_report_of_its_columns(tmp_path):
    X, y, model = encoded("linear")
    data = report_data(model, X=X, y=y, units={"age": "years"}, scores="training")
    assert [column["name"] for column in data["columns"]] == list(X)
    assert data["columns"][0]["unit"] == "years" and data["columns"][1]["unit"] is None
    ends = [column["features"] for column in data["columns"]]
    assert ends[0][0] == 0 and ends[-1][1] == model[-1].n_features_in_
    assert [first[1] for first in ends[:-1]] == [second[0] for second in ends[1:]]
    assert [name for name, _ in data["importances"]] == list(X)
    assert [decision["column"] for decision in data["decisions"]] == list(X)
    assert model.to_html(tmp_path / "a.html", X=X, y=y).read_text() == render_report(model, X=X, y=y)


def test_columns_are_summed_up_as_they_were():
    X, y, model = encoded("linear")
    data = report_data(model, X=X, y=y, scores="training", include_rows=True)
    told = dict(zip(X, data["covariates"]))
    for name in X:
        assert told[name]["missing"] == X[name].isna().sum()
    shares = X["stage"].value_counts(normalize=True)
    assert dict(zip(told["stage"]["levels"], told["stage"]["shares"])) == pytest.approx(shares.to_dict())
    assert told["smoker"]["levels"] == ["no", "yes"] and told["grade"]["levels"] == ["low", "mid", "high"]
    assert told["age"]["range"] == [40, 90] and told["arm"]["levels"] == [3, 5]
    assert told["admitted"]["range"][0] <= str(X["admitted"].min())[:10] <= told["admitted"]["quartiles"][0]
    for row, (_, cells) in zip(data["rows"]["X"], X.iloc[:20].iterrows()):
        assert row[2] == cells["stage"] and row[4] == ("yes" if cells["smoker"] else "no")
        assert (row[0] is None) == np.isnan(cells["age"]) and row[0] in (None, cells["age"])


@pytest.mark.parametrize(
    ("ends", "expected"),
    [((21, 80), (20, 80)), ((18, 95), (15, 95)), ((0.53, 11.9), (0, 12)), ((5, 5), (5, 5)), ((-3.3, 3.3), (-3.5, 3.5))],
)
def test_ranges_are_rounded_outwards(ends, expected):
    assert rounded_range(*ends) == expected


def test_cross_validated_scores_are_those_of_folds_by_hand():
    X, y, model = encoded("univariate")
    found = report_data(model, X=X, y=y)["cross_validated"]
    scores = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y["event"]):
        refitted = clone(model).fit(X.iloc[train], y[train])
        scores.append(refitted.score(X.iloc[test], y[test]))
    assert found["harrell"]["value"] == pytest.approx(np.mean(scores))
    assert found["harrell"]["error"] == pytest.approx(np.std(scores, ddof=1) / np.sqrt(5))
    assert found["ibs"]["value"] < found["ibs_of_one_curve"]["value"]


def test_there_is_no_cross_validation_without_the_training_rows(whas):
    X, y, tree = whas
    assert report_data(tree)["cross_validated"] is None
    assert report_data(tree, X=X[::2], y=y[::2])["cross_validated"] is None
    assert report_data(tree, X=X, y=y, scores="training")["cross_validated"] is None
    assert report_data(tree, X=X, y=y)["cross_validated"]["folds"] == 5


def test_a_tree_pruned_by_hand_is_validated_at_its_price(whas):
    X, y, tree = whas
    small = tree.prune(1000.0)
    assert report_data(small, X=X, y=y)["cross_validated"]["harrell"]["value"] == pytest.approx(0.5, abs=0.05)


def test_folds_that_cannot_be_scored_say_why():
    X, y = random_rows(12)
    y["event"][3:] = False
    tree = LogRankSurvivalTree(min_samples_leaf=3).fit(X, y)
    found = report_data(tree, X=X, y=y)["cross_validated"]
    assert found["harrell"]["value"] is None and found["harrell"]["reason"]


def test_units_of_columns_that_are_not_there_are_refused():
    _, _, model = encoded("linear")
    with pytest.raises(ValueError, match="units names a column that the model does not use: 'bmi'"):
        report_data(model, units={"bmi": "kg/m2"})
    with pytest.raises(ValueError, match="scores"):
        report_data(model, scores="best")
