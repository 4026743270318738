"""Rules, text, DOT and plain data: what they say is what the tree does."""

import json
import math
import re
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lifelines import KaplanMeierFitter
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dipolar import DipoleSurvivalTree, DipoleSVM, LogRankSurvivalTree, survival_outcome
from dipolar.curves import life_table
from dipolar.datasets import load_whas500
from dipolar.tree.confidence import confidence_limits
from dipolar.tree.export import export_dot, export_text, to_dict
from dipolar.tree.rules import shorten, shorten_names, threshold_texts
from tests.models import forest_of, paper_tree

STRANGE = ["<script>alert(1)</script>", 'a "quoted" \\name', "two\nlines\tand tabs", "x" * 80, "🫀 💊"]
WIDTHS = (8, 12, 20, 33, 60, 120)

TREES = {
    "axis": lambda: LogRankSurvivalTree(max_leaf_nodes=7),
    "linear": lambda: paper_tree(kernel="linear", kappa=0.1, standardize=True, max_depth=2),
    "linear, raw": lambda: paper_tree(kernel="linear", kappa=1e-4, max_depth=2),
    "quadratic": lambda: paper_tree(kernel="quadratic", kappa=0.1, standardize=True, max_depth=2),
    "cubic": lambda: paper_tree(kernel="polynomial", degree=3, kappa=0.01, standardize=True, max_depth=1),
    "rbf": lambda: paper_tree(kernel="rbf", kappa=0.1, standardize=True, max_depth=2, max_rank=40),
    "laplacian": lambda: paper_tree(kernel="laplacian", kappa=0.1, standardize=True, max_depth=1, max_rank=40),
    "sigmoid": lambda: paper_tree(kernel="sigmoid", kappa=0.1, standardize=True, max_depth=1, max_rank=40),
    "threshold": lambda: paper_tree(kernel="rbf", cut="logrank", standardize=True, max_depth=1, max_rank=40),
    "heir, linear": lambda: DipoleSurvivalTree(),
    "heir, quadratic": lambda: DipoleSurvivalTree(DipoleSVM("quadratic", cut="logrank")),
    "heir, rbf": lambda: DipoleSurvivalTree(DipoleSVM("rbf", cut="logrank", max_rank=40)),
    "member, linear": lambda: Member("linear"),
    "member, quadratic": lambda: Member("quadratic"),
    "member, rbf": lambda: Member("rbf"),
    "member, mixed": lambda: Member(("linear", "quadratic", "rbf")),
}


class Member:
    """Fits to a tree of a forest."""

    def __init__(self, kernel):
        self.kernel = kernel

    def fit(self, X, y):
        forest = forest_of(2, kernel=self.kernel, max_features=3, min_logrank=0, random_state=0).fit(X, y)
        return forest.tree(1)


@pytest.fixture(scope="module")
def data():
    X, y = load_whas500(return_X_y=True)
    return X[:250], y[:250]


@pytest.fixture(scope="module")
def trees(data):
    return {name: make().fit(*data) for name, make in TREES.items()}


@pytest.fixture(params=list(TREES))
def tree(request, trees):
    return trees[request.param]


def split_nodes(tree):
    return [int(node) for node in np.flatnonzero(tree.tree_.is_split)]


# Confidence limits


def test_limits_equal_those_of_lifelines(data):
    _, y = data
    table = life_table(y["time"], y["event"])
    lower, upper = confidence_limits(table, 0.9)
    theirs = KaplanMeierFitter(alpha=0.1).fit(y["time"], y["event"]).confidence_interval_.loc[table.time].to_numpy()
    inner = (table.survival > 0) & (table.survival < 1)
    np.testing.assert_allclose(lower[inner], theirs[inner, 0], rtol=1e-9)
    np.testing.assert_allclose(upper[inner], theirs[inner, 1], rtol=1e-9)


def test_limits_at_the_ends_of_a_curve():
    lower, upper = confidence_limits(life_table([1, 2, 3, 4, 4], [0, 1, 1, 1, 1]))
    assert lower[0] == upper[0] == 1.0
    assert 0 < lower[1] < 0.75 < upper[1] < 1
    assert np.isnan([lower[-1], upper[-1]]).all()


def test_limits_of_rows_that_count_for_next_to_nothing_are_wide():
    """Their powers are beyond all floats, which is no reason for a warning."""
    lower, upper = confidence_limits(life_table([1, 2], [1, 0], [1e-12, 1e-6]))
    assert (lower == 0).all() and (upper == 1).all()


@given(st.lists(st.tuples(st.integers(1, 8), st.booleans()), min_size=1, max_size=30), st.floats(0.05, 0.99))
def test_limits_hold_the_curve(rows, level):
    table = life_table(*zip(*rows))
    lower, upper = confidence_limits(table, level)
    known = ~np.isnan(lower)
    assert (known == (table.survival > 0)).all()
    assert ((lower <= table.survival + 1e-12) & (table.survival <= upper + 1e-12) & (lower >= 0) & (upper <= 1))[
        known
    ].all()


# Rules


@pytest.mark.parametrize(
    "name",
    [
        *("linear", "linear, raw", "quadratic", "cubic"),
        *("heir, linear", "heir, quadratic", "member, linear", "member, quadratic"),
    ],
)
def test_terms_are_the_score_in_the_units_of_the_data(trees, data, name):
    tree, X = trees[name], data[0].to_numpy(float)
    for node in split_nodes(tree):
        terms = tree.tree_.splits.terms(node)
        total = sum(weight * np.prod(X[:, list(columns)], axis=1) for columns, weight in terms.items())
        scores = tree.tree_.splits.score(X, node)
        np.testing.assert_allclose(total, scores, atol=1e-8 * np.abs(scores).max())


def test_terms_of_polynomials_in_support_rows(data):
    """With more monomials than are listed the surface is kept in rows; its terms are the same function."""
    X, y = data
    X = np.random.default_rng(0).normal(5.0, 2.0, size=(60, 25))
    tree = paper_tree(kernel="quadratic", standardize=True, max_depth=1).fit(X, y[:60])
    splits = tree.tree_.splits
    assert len(splits.surface(0).rows)
    total = sum(weight * np.prod(X[:, list(columns)], axis=1) for columns, weight in splits.terms(0).items())
    np.testing.assert_allclose(total, splits.score(X, 0), atol=1e-7)


def test_a_linear_surface_with_its_parents_is_one_rule_on_the_covariates(trees, data):
    """What a node has of its parent's score is told as weights of covariates, each of them once."""
    tree, names = trees["heir, linear"], list(data[0].columns)
    below = [node for node in split_nodes(tree) if tree.tree_.depth[node] > 0]
    assert below
    for node in below:
        words = re.findall(r"[a-z_]\w*", tree.tree_.splits.rule(node, names))
        assert set(words) <= set(names) and len(words) == len(set(words)) > 1
        terms = to_dict(tree)["nodes"][node]["split"]["terms"]
        assert [term["columns"] for term in terms] == [[], *([column] for column in range(len(names)))]


def test_the_printed_sum_sends_rows_the_same_way(trees, data):
    """The text itself, read back with its four digits, agrees on rows that are not close to the surface."""
    tree, X = trees["linear"], data[0]
    rule = tree.tree_.splits.rule(0, list(X.columns))
    left, bound = rule.split(" < ")
    parts = re.findall(r"([-+]?) ?(\d[\d.e-]*) (\w+)", left)
    assert len(parts) >= 2
    total = sum(float(sign + number) * X[name].to_numpy() for sign, number, name in parts)
    score = tree.split_scores(X, node=0)
    far = np.abs(score) > 0.02 * np.abs(score).max()
    assert far.mean() > 0.8
    np.testing.assert_array_equal((total < float(bound))[far], (score < 0)[far])


def test_a_sum_of_one_term_is_a_cut(data):
    X, y = data
    tree = paper_tree(kernel="linear", standardize=True, max_depth=1).fit(X[["hr"]], y)
    rule = tree.tree_.splits.rule(0, ["hr"])
    name, sign, bound = rule.split()
    assert name == "hr"
    goes_left = tree.split_scores(X[["hr"]], node=0) < 0
    x = X["hr"].to_numpy()
    np.testing.assert_array_equal(x < float(bound) if sign == "<" else x > float(bound), goes_left)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("names", [["hr", "diasbp", "bmi", "gender", "chf"], STRANGE], ids=["plain", "strange"])
def test_rules_are_as_short_as_asked_for_and_on_one_line(tree, names, width):
    for node in split_nodes(tree):
        short, whole = (tree.tree_.splits.rule(node, names, w) for w in (width, None))
        assert 0 < len(short) <= width
        assert "\n" not in whole and "\t" not in whole
        assert short == whole or len(whole) > width


@pytest.mark.parametrize("width", [*WIDTHS, None])
def test_rules_are_their_conditions_in_words(tree, width):
    names = ["hr", "diasbp", "bmi", "gender", "chf"]
    for node in split_nodes(tree):
        condition = tree.tree_.splits.condition(node, names, width)
        assert tree.tree_.splits.rule(node, names, width) == str(condition)
        assert condition.sign in ("<=", "<", ">", "is", "") and bool(condition.sign) == bool(condition.bound)
        assert str(condition).split() == " ".join([*condition.parts, condition.sign, condition.bound]).split()
        if tree.tree_.splits.kind == "axis" and condition.sign == "<=":
            assert float(condition.bound) == pytest.approx(tree.tree_.splits.threshold[node], rel=0.01)


def test_the_parts_of_conditions(trees):
    names = ["hr", "diasbp", "bmi", "gender", "chf"]
    parts = trees["linear"].tree_.splits.condition(0, names).parts
    assert all(
        re.fullmatch(r"-?[\d.e-]+ \w+" if k == 0 else r"[-+] [\d.e-]+ \w+", part) for k, part in enumerate(parts)
    )
    listed = trees["rbf"].tree_.splits.condition(0, names)
    assert listed.parts[:2] == ("Gaussian", "score") and (listed.sign, listed.bound) == ("<", "0")
    assert all(part.endswith("%),") for part in listed.parts[2:-1]) and listed.parts[-1].endswith("%)")


def test_short_rules_keep_what_matters(trees):
    names = [f"a long name of covariate number {column}" for column in range(5)]
    axis = trees["axis"].tree_.splits
    assert axis.rule(0, names, 60).endswith(f"<= {axis.threshold[0]:.6g}")
    assert axis.rule(0, names, 25).endswith(f"<= {axis.threshold[0]:.4g}")
    for kind in ("linear", "quadratic", "rbf"):
        splits = trees[kind].tree_.splits
        shares = splits.feature_shares(0, 5)
        plain = ["v", "w", "x", "y", "z"]
        assert plain[int(np.argmax(shares))] in splits.rule(0, plain, 30)


@pytest.mark.parametrize("width", [*range(1, 40), None])
def test_thresholds_are_whole_at_any_width(trees, width):
    """Rounded, or left out, but never cut."""
    names = ["heart rate", "pressure", "body mass index", "gender", "complications"]
    splits = trees["axis"].tree_.splits
    for node in split_nodes(trees["axis"]):
        shown = re.findall(r"\d[\d.]*", splits.rule(node, names, width))
        assert shown in ([], *([f"{splits.threshold[node]:.{digits}g}"] for digits in (6, 4, 3)))
        assert shown or width < 20


@given(st.integers(-99999, 99999), st.integers(1, 2000), st.integers(0, 6))
def test_rounded_thresholds_part_the_same_values(low, gap, decimals):
    """Values on a grid of decimals, and the threshold half-way between neighbours `low` and `low + gap` of them."""
    unit = 10.0**-decimals
    low, high = round(low * unit, decimals), round((low + gap) * unit, decimals)
    threshold = (low + high) / 2
    texts = threshold_texts(threshold)
    assert all(len(shorter) < len(longer) for longer, shorter in pairwise(texts))
    for text in texts:
        shown = Decimal(text)
        last_digit = 10.0 ** (Decimal(repr(threshold)).adjusted() + 1 - len(shown.as_tuple().digits))
        if high - low >= 1.0001 * last_digit or float(text) == threshold:
            assert low <= float(text) < high


def test_halves_are_rounded_down():
    assert threshold_texts(1235.5) == ["1235.5", "1235"]
    assert threshold_texts(-1235.5) == ["-1235.5", "-1236"]
    assert threshold_texts(0.2497244) == ["0.249724", "0.2497", "0.25"]
    assert threshold_texts(0.0) == ["0"]


def test_missing_values_are_in_the_rule():
    rng = np.random.default_rng(0)
    x = np.repeat([1.0, 2.0, np.nan], 30)
    time = np.where(np.isnan(x), 1, 20) + rng.uniform(0, 5, 90)
    rule = export_text(LogRankSurvivalTree(max_depth=1).fit(x[:, None], time))
    assert rule.startswith("x0 is known")
    time = np.where(np.isnan(x) | (x < 1.5), 1, 20) + rng.uniform(0, 5, 90)
    rule = export_text(LogRankSurvivalTree(max_depth=1).fit(x[:, None], time))
    assert rule.startswith("x0 <= 1.5 or missing")


def test_prototypes_are_the_extreme_support_rows(trees, data):
    tree, X = trees["rbf"], data[0]
    splits = tree.tree_.splits
    surface = splits.surface(0)
    rule = splits.rule(0, list(X.columns), prototypes=True)
    rows = surface.rows * splits.scale + splits.mean
    scores = splits.score(rows, 0)
    for side, row in (("left", rows[np.argmin(scores)]), ("right", rows[np.argmax(scores)])):
        told = re.search(rf"farthest {side}: ([^;]*)", rule).group(1)
        for name, value in (part.rsplit(" ", 1) for part in told.split(", ")):
            assert float(value) == pytest.approx(row[X.columns.get_loc(name)], rel=1e-3)
        assert (np.abs(X.to_numpy() - row).max(axis=1) < 1e-9).any(), "a prototype is a row of the data"
    assert "farthest" not in splits.rule(0, list(X.columns))


def test_shorten():
    assert shorten("abcdefgh", 8) == "abcdefgh"
    assert shorten("abcdefgh", 5) == "ab…gh"
    assert shorten("abcdefgh", 1) == "…"
    assert shorten("abcdefgh", None) == "abcdefgh"


# Text


def test_text_has_a_line_per_node_with_its_numbers(tree):
    lines = export_text(tree).splitlines()
    frame = tree.node_frame()
    assert len(lines) == len(frame)
    leaves = {}
    for line in lines:
        found = re.search(r"leaf (\d+): n = (\S+), events = (\S+), median (.*?)( \(rests on one row\))?$", line)
        if found:
            leaves[int(found[1])] = float(found[2]), float(found[3]), found[4]
    assert set(leaves) == set(frame.index[frame["is_leaf"]])
    for node, (n, events, median) in leaves.items():
        assert (n, events) == (frame.loc[node, "n"], frame.loc[node, "events"])
        expected = frame.loc[node, "median"]
        assert median == ("not reached" if np.isinf(expected) else f"{expected:.4g}")


def test_text_nests_as_the_tree_does(trees):
    tree = trees["axis"]
    depths = [
        len(re.match(r"(?:[|` ](?:--|  ) (?:yes: |no:  |     ))*", line)[0]) // 9
        for line in export_text(tree).splitlines()
    ]
    pending, order = [0], []
    while pending:
        node = pending.pop()
        order.append(int(tree.tree_.depth[node]))
        if tree.tree_.left[node] >= 0:
            pending += [int(tree.tree_.left[node]) + 1, int(tree.tree_.left[node])]
    assert depths == order


def test_text_down_to_a_depth(trees):
    tree = trees["axis"]
    text = export_text(tree, max_depth=1)
    assert len(text.splitlines()) == 3
    below = [int(n) for n in re.findall(r"(\d+) leaves:", text)]
    assert sum(below) + text.count("leaf ") == tree.n_leaves_
    assert export_text(tree, max_depth=0).startswith(f"{tree.n_leaves_} leaves: n = 250")


def test_names_cannot_break_text_or_dot(trees):
    for tree in trees.values():
        text = export_text(tree, feature_names=STRANGE)
        assert len(text.splitlines()) == tree.tree_.n_nodes
        check_dot(export_dot(tree, feature_names=STRANGE, width=None), tree)


def check_dot(dot, tree):
    """Every statement is a node with one quoted string, or an edge."""
    first, second, *body, last = dot.rstrip("\n").split("\n")
    assert (first, last) == ("digraph tree {", "}") and second.strip().startswith("node [")
    node = re.compile(r'  (\d+) \[label="(?:[^"\\]|\\.)*"\];')
    edge = re.compile(r'  (\d+) -> (\d+) \[label="(yes|no)"\];')
    nodes = {int(found[1]) for line in body if (found := node.fullmatch(line))}
    edges = {(int(found[1]), int(found[2]), found[3]) for line in body if (found := edge.fullmatch(line))}
    assert len(nodes) + len(edges) == len(body)
    record = tree.tree_
    assert nodes == set(range(record.n_nodes))
    splits = np.flatnonzero(record.is_split)
    assert edges == {(n, record.left[n], "yes") for n in splits} | {(n, record.left[n] + 1, "no") for n in splits}


def test_dot_down_to_a_depth(trees):
    dot = export_dot(trees["axis"], max_depth=1)
    assert dot.count("->") == 2 and dot.count("[label=") == 5


# Plain data


def value_of_kernel(kernel, u, v):
    parameters = kernel["parameters"]
    dot = sum(a * b for a, b in zip(u, v))
    match kernel["name"]:
        case "LinearKernel":
            return dot
        case "PolynomialKernel":
            return (dot + parameters["coef0"]) ** parameters["degree"]
        case "GaussianKernel":
            return math.exp(-sum((a - b) ** 2 for a, b in zip(u, v)) / (2 * parameters["sigma2"]))
        case "LaplacianKernel":
            return math.exp(-parameters["gamma"] * sum(abs(a - b) for a, b in zip(u, v)))
        case "SigmoidKernel":
            return math.tanh(parameters["gamma"] * dot + parameters["coef0"])


def goes_left(data, split, row):
    """docs/plotting.md as a program."""
    if data["split_kind"] == "axis":
        x = row[split["feature"]]
        if x is None or math.isnan(x):
            return split["missing_left"]
        return split["threshold"] is None or x <= split["threshold"]
    z = [(x - mean) / scale for x, mean, scale in zip(row, data["mean"], data["scale"])]
    if split["monomials"] is None:
        columns, rows = split["columns"], [data["basis"][b] for b in split["basis_rows"]]
        values = [value_of_kernel(split["kernel"], [z[c] for c in columns], [row[c] for c in columns]) for row in rows]
    else:
        values = [math.prod(z[c] for c in columns) for columns in split["monomials"]]
    assert len(values) == len(split["coefficients"])
    return split["intercept"] + sum(c * v for c, v in zip(split["coefficients"], values)) < split["boundary"]


def leaf_of(data, row):
    node = data["nodes"][0]
    while not node["is_leaf"]:
        node = data["nodes"][node["left"] if goes_left(data, node["split"], row) else node["right"]]
    return node["id"]


def test_rows_find_their_leaves_by_the_data_alone(tree, data):
    X = data[0]
    plain = json.loads(json.dumps(to_dict(tree), allow_nan=False))
    found = [leaf_of(plain, row) for row in X.to_numpy(float).tolist()]
    np.testing.assert_array_equal(found, tree.apply(X))
    assert len(set(found)) == tree.n_leaves_ > 1


def test_missing_values_find_their_leaves_by_the_data_alone(data):
    X, y = data[0].to_numpy(float), data[1]
    X = np.where(np.random.default_rng(1).uniform(size=X.shape) < 0.2, np.nan, X)
    tree = LogRankSurvivalTree(max_leaf_nodes=12).fit(X, y)
    plain = json.loads(json.dumps(to_dict(tree), allow_nan=False))
    np.testing.assert_array_equal([leaf_of(plain, row) for row in X.tolist()], tree.apply(X))


def test_data_holds_the_nodes_and_curves(tree):
    plain = to_dict(tree, level=0.9)
    frame = tree.node_frame(unreached="nan")
    assert plain["confidence_level"] == 0.9 and plain["estimator"] == type(tree).__name__
    for node, row in zip(plain["nodes"], frame.itertuples()):
        assert (node["id"], node["depth"], node["n"], node["events"]) == (row.Index, row.depth, row.n, row.events)
        assert node["parent"] == (None if row.parent < 0 else row.parent)
        assert node["median"] == (None if np.isnan(row.median) else row.median)
        assert node["is_leaf"] == row.is_leaf
        if not row.is_leaf:
            assert (node["left"], node["right"], node["logrank"]) == (row.left, row.right, row.logrank)
    leaves = [node for node in plain["nodes"] if node["is_leaf"]]
    for position, leaf in enumerate(leaves):
        table, curve = tree.tree_.tables[position], leaf["curve"]
        assert leaf["leaf"] == position and leaf["risk"] == tree.leaf_risk_[position]
        np.testing.assert_array_equal(curve["time"], table.time)
        np.testing.assert_array_equal(curve["survival"], table.survival)
        np.testing.assert_array_equal(curve["at_risk"], table.at_risk)
        np.testing.assert_array_equal(curve["events"], table.events)
        np.testing.assert_array_equal(curve["censored"], table.censored)
        lower, upper = confidence_limits(table, 0.9)
        np.testing.assert_array_equal(np.array(curve["lower"], float), lower)
        np.testing.assert_array_equal(np.array(curve["upper"], float), upper)


def test_without_rows_no_row_of_the_data_is_left(trees):
    tree = trees["rbf"]
    assert tree.tree_.splits.basis.shape[0] > 0
    with_rows, without = to_dict(tree), to_dict(tree, rows=False)
    assert len(with_rows["basis"]) and without["basis"] is None
    assert "farthest" in with_rows["nodes"][0]["rule"] and "farthest" not in without["nodes"][0]["rule"]
    member = trees["member, rbf"]
    assert to_dict(member)["basis"] and to_dict(member, rows=False)["basis"] is None


def test_a_callable_kernel_is_named_and_no_more(data):
    tree = paper_tree(kernel=lambda A, B: A @ B.T, standardize=True, max_depth=1, max_rank=5).fit(*data)
    plain = to_dict(tree)
    assert plain["nodes"][0]["split"]["kernel"] == {"name": "CallableKernel", "parameters": {}, "word": "kernel"}
    json.dumps(plain, allow_nan=False)
    assert export_text(tree).startswith("kernel score of ")


def test_a_tree_without_splits(data):
    X, y = data
    tree = LogRankSurvivalTree(min_logrank=1e9).fit(X, y)
    n_events = int(y["event"].sum())
    assert export_text(tree).startswith(f"leaf 0: n = 250, events = {n_events}, median ")
    check_dot(export_dot(tree), tree)
    assert leaf_of(to_dict(tree), [0.0] * 5) == 0


# Refusals


@pytest.mark.parametrize("export", [export_text, export_dot, to_dict])
def test_names_have_to_fit(trees, export):
    with pytest.raises(ValueError, match="one name for each of the 5 covariates, got 2"):
        export(trees["axis"], feature_names=["a", "b"])


@pytest.mark.parametrize("export", [export_text, export_dot, to_dict])
def test_only_trees_are_exported(data, export):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), LogRankSurvivalTree(max_depth=1)).fit(X, y)
    with pytest.raises(TypeError, match="pass the tree inside it"):
        export(pipeline)
    assert export(pipeline[-1])


def test_depths_and_levels_are_checked(trees):
    with pytest.raises(ValueError, match="max_depth must be an integer"):
        export_text(trees["axis"], max_depth=-1)
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
        to_dict(trees["axis"], level=95)


def test_names_of_the_training_data_are_used():
    X = pd.DataFrame({"age": np.arange(20.0)})
    y = survival_outcome(np.arange(20.0, 0.0, -1.0), np.ones(20, bool))
    assert export_text(LogRankSurvivalTree(max_depth=1, min_samples_leaf=3).fit(X, y)).startswith("age <= ")
    assert export_text(LogRankSurvivalTree(max_depth=1, min_samples_leaf=3).fit(X.to_numpy(), y)).startswith("x0 <= ")


@given(st.lists(st.text("ab 1", min_size=1, max_size=40), min_size=2, max_size=6, unique=True), st.integers(6, 32))
def test_different_names_stay_different_when_they_are_cut(names, width):
    short = shorten_names(names, width)
    assert len(set(short)) == len(names)
    assert all(len(text) <= width for text in short)


def test_names_with_long_common_beginnings_and_ends_show_where_they_differ():
    names = [f"time since the {word} dose of the first study drug" for word in ("first", "second", "third")]
    assert shorten_names(names, 20) == ["…ince the first dos…", "…ince the second do…", "…ince the third dos…"]


def test_a_fitted_tree_prints_itself(trees):
    for tree in trees.values():
        assert str(tree) == export_text(tree)
    unfitted = LogRankSurvivalTree(max_depth=2)
    assert str(unfitted) == repr(unfitted) == "LogRankSurvivalTree(max_depth=2)"
