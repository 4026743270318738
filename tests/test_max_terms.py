"""Splits of few covariates: which ones are kept, and the round numbers of their rules."""

import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from dipolar import DipoleSurvivalTree, DipoleSVM, SurvivalTreeCV, survival_outcome
from dipolar.datasets import load_whas500
from dipolar.kernels import PolynomialKernel
from dipolar.tree.export import to_dict
from dipolar.tree.record import Tree
from dipolar.tree.rounding import ROUNDING, _round, _threshold, round_plane
from dipolar.tree.surface_finder import SurfaceSplitter
from tests.models import partition

KERNELS = {
    "linear": "linear",
    "degree 1": PolynomialKernel(1),
    "quadratic": "quadratic",
    "cubic": "polynomial",
    "rbf": "rbf",
    "sigmoid": "sigmoid",
}
LINEAR = ("linear", "degree 1")


def sample(n=120, p=6, seed=0):
    """Rows in which the later covariates matter less and less."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 4, p) + 3.0
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    time = rng.exponential(np.exp(Z @ 0.7 ** np.arange(p)))
    return X, survival_outcome(time, rng.random(n) < 0.7)


def names(p):
    return [f"x{column}" for column in range(p)]


def eliminate(X, y, svm, max_terms):
    """Return the rows left of a root and its covariates, by machines that are fitted from outside."""
    columns = list(range(X.shape[1]))
    while True:
        own = X[:, columns]
        machine = clone(svm).fit(own, y)
        score = machine.decision_function(own)
        if len(columns) <= max_terms:
            return score < 0, columns
        effect = []
        for place in range(len(columns)):
            flat = own.copy()
            flat[:, place] = own[:, place].mean()
            effect.append(np.abs(machine.decision_function(flat) - score).mean())
        columns.pop(int(np.argmin(effect)))


@pytest.mark.parametrize("name", ["linear", "quadratic", "rbf"])
@pytest.mark.parametrize("cut", ["svm", "logrank"])
@pytest.mark.parametrize("max_terms", [1, 3])
def test_the_root_is_that_of_elimination_from_outside(name, cut, max_terms):
    X, y = sample(64)
    svm = DipoleSVM(KERNELS[name], cut=cut)
    left, columns = eliminate(X, y, svm, max_terms)
    tree = DipoleSurvivalTree(svm, max_terms=max_terms, max_depth=1, min_samples_leaf=1).fit(X, y)
    assert tree.tree_.splits.columns(0).tolist() == columns
    np.testing.assert_array_equal(tree.split_scores(X, 0) < 0, left)


def test_many_are_dropped_at_once_and_few_one_by_one():
    def sizes(p, max_terms):
        return SurfaceSplitter((DipoleSVM(),), p, max_terms=max_terms).sizes

    assert sizes(5, 2) == [5, 4, 3, 2]
    assert sizes(100, 14) == [100, 50, 25, 16, 15, 14]
    assert sizes(100, 40) == [100, 50, 40]
    assert sizes(5, 5) == sizes(5, 9) == [5]
    assert len(sizes(20_000, 1)) < 30


@pytest.mark.parametrize("name", list(KERNELS))
@pytest.mark.parametrize("max_terms", [1, 2])
def test_no_split_has_more_covariates(name, max_terms):
    X, y = sample(200)
    tree = DipoleSurvivalTree(DipoleSVM(KERNELS[name]), max_terms=max_terms, min_samples_leaf=5).fit(X, y)
    assert tree.n_leaves_ > 2
    record = tree.tree_
    for node in np.flatnonzero(record.is_split):
        assert len(record.splits.columns(node)) == max_terms
        assert len(set(re.findall(r"x\d", record.splits.rule(node, names(6))))) <= max_terms
        assert np.count_nonzero(record.splits.feature_shares(node, 6)) <= max_terms
    leaf, counts = np.unique(tree.apply(X), return_counts=True)
    np.testing.assert_array_equal(counts, record.n_samples[leaf])
    record.check(6)


@pytest.mark.parametrize("name", list(KERNELS))
@pytest.mark.parametrize("max_terms", [6, 7, 10**30])
def test_as_many_terms_as_covariates_are_no_limit(name, max_terms):
    X, y = sample()
    tree = DipoleSurvivalTree(DipoleSVM(KERNELS[name]), max_depth=2)
    assert clone(tree).set_params(max_terms=max_terms).fit(X, y).tree_ == tree.fit(X, y).tree_


def test_surfaces_of_few_covariates_are_not_inherited():
    X, y = sample()
    trees = [DipoleSurvivalTree(max_terms=2, inherit=inherit).fit(X, y).tree_ for inherit in (0.0, 5.0)]
    assert trees[0] == trees[1]


def test_constant_covariates_are_dropped_first():
    X, y = sample()
    X[:, [0, 2, 4, 5]] = 7.0
    tree = DipoleSurvivalTree(max_terms=3, max_depth=1).fit(X, y)
    assert set(np.flatnonzero(tree.feature_importances_)) == {1, 3}
    assert set(re.findall(r"x\d", tree.tree_.splits.rule(0, names(6)))) == {"x1", "x3"}


def test_a_kernel_without_features_on_many_covariates_has_them_on_few():
    """A cubic of 12 covariates is a sum over rows, one of 3 is not."""
    X, y = sample(150, 12)
    tree = DipoleSurvivalTree(DipoleSVM("polynomial"), max_terms=3, max_depth=2).fit(X, y)
    assert not len(tree.tree_.splits.basis)
    assert tree.tree_.splits.is_round is False


# Round numbers.


def sums_of(rule, X):
    """Return the sums that a rule of a linear split writes, its sign and its threshold, in exact decimals."""
    said, sign, bound = re.fullmatch(r"(.+) ([<>]) (\S+)", rule).groups()
    sums = [Decimal(0)] * len(X)
    for minus, number, column in re.findall(r"(-?) ?(?:(\d\S*) )?x(\d+)", said):
        weight = Decimal(number or "1") * (-1 if minus else 1)
        sums = [total + weight * Decimal(repr(float(x))) for total, x in zip(sums, X[:, int(column)])]
    return np.array(sums), sign, Decimal(bound)


def goes_left(rule, X):
    sums, sign, bound = sums_of(rule, X)
    return sums < bound if sign == "<" else sums > bound


@st.composite
def coarse_rows(draw):
    """Rows on grids, so that sums often meet thresholds, in any units."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, p = draw(st.integers(40, 120)), draw(st.integers(2, 4))
    grid = 10.0 ** rng.integers(-3, 5, p)
    X = np.array([[float(f"{x:.6g}") for x in row] for row in rng.integers(-20, 20, (n, p)) * grid])
    time = rng.exponential(np.exp((X / grid).sum(axis=1) / 10))
    return X, survival_outcome(time, rng.random(n) < 0.8), grid, rng


@given(
    coarse_rows(), st.sampled_from(["linear", PolynomialKernel(1)]), st.booleans(), st.sampled_from(["svm", "logrank"])
)
def test_rules_say_what_the_model_computes(rows, kernel, standardize, cut):
    X, y, grid, rng = rows
    svm = DipoleSVM(kernel, standardize=standardize, cut=cut, kappa=100 if standardize else 1)
    tree = DipoleSurvivalTree(svm, max_terms=max(1, X.shape[1] - 1), min_samples_leaf=3).fit(X, y)
    new = np.array([[float(f"{x:.6g}") for x in row] for row in rng.integers(-30, 30, (50, X.shape[1])) * grid])
    record = tree.tree_
    for node in np.flatnonzero(record.is_split):
        rule = record.splits.rule(node, names(X.shape[1]))
        for at in (X, new):
            np.testing.assert_array_equal(record.splits.goes_left(at, node), goes_left(rule, at))
    leaf, counts = np.unique(tree.apply(X), return_counts=True)
    np.testing.assert_array_equal(counts, record.n_samples[leaf])


def is_parted(X, left, coefficients):
    sums, sizes = X @ coefficients, np.abs(X) @ np.abs(coefficients)
    return sums[~left].min() - sums[left].max() > 4 * ROUNDING * sizes.max()


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(4, 200))
def test_no_number_can_lose_a_digit(seed, p, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p) + rng.normal()
    slopes = rng.normal(size=p) / X.std(axis=0)
    scores = X @ slopes
    left = scores < np.median(scores)
    plane = round_plane(X, left, slopes)
    sums = X @ plane.coefficients
    np.testing.assert_array_equal(sums < plane.threshold - plane.tolerance, left)
    assert is_parted(X, left, plane.coefficients)
    lead = np.argmax(np.abs(slopes) * np.abs(X - X.mean(axis=0)).mean(axis=0))
    assert abs(plane.coefficients[lead]) == 1
    exact = slopes / abs(slopes[lead])
    for column, value in enumerate(plane.coefficients):
        if value == 0:
            continue
        digits = next(d for d in range(1, 16) if _round(exact[column], d) == value)
        for fewer in range(1, digits):
            trial = plane.coefficients.copy()
            trial[column] = _round(exact[column], fewer)
            assert not is_parted(X, left, trial)
    below, above = Decimal(sums[left].max()), Decimal(sums[~left].min())
    digits = len(Decimal(repr(plane.threshold)).normalize().as_tuple().digits)
    if digits > 1:  # no number with a digit less lies between the sides
        size = max(abs(below), abs(above)).adjusted()
        for exponent in range(size - 25, size + 2):
            unit = Decimal(1).scaleb(exponent)
            first = (below / unit).to_integral_value(rounding="ROUND_FLOOR") + 1
            between = first * unit
            if between < above and between != 0:
                assert len(between.normalize().as_tuple().digits) >= digits
                break


def test_sides_that_doubles_cannot_tell_are_no_split():
    X = np.array([[1.0, 0.0], [1.0 + 1e-15, 0.0], [1.0, 1.0]])
    assert round_plane(X[:2], np.array([True, False]), np.array([1.0, 0.0])) is None
    assert round_plane(X[[0, 2]], np.array([True, False]), np.array([0.0, 2.0])) is not None


def test_thresholds_may_be_values_of_the_data():
    """Ages of 64 are left and those of 65 are not: 65 is shorter than 64.5."""
    plane = round_plane(np.array([[60.0], [64.0], [65.0], [70.0]]), np.array([True, True, False, False]), np.ones(1))
    assert (plane.coefficients.tolist(), plane.threshold) == ([1.0], 65.0)
    plane = round_plane(-np.array([[60.0], [64.0], [65.0], [70.0]]), ~np.array([True, True, False, False]), np.ones(1))
    assert plane.threshold == -64.0


def test_thresholds_are_no_rounding_error():
    assert _threshold(-1.0, 1.0 + 2.0**-52, 1e-12) == 0.0
    assert _threshold(-0.1, 0.3, 1e-12) == 0.1


def test_rules_write_all_digits_and_no_more():
    X, y = load_whas500(return_X_y=True)
    tree = DipoleSurvivalTree(max_terms=3, max_depth=2).fit(X, y)
    splits = tree.tree_.splits
    for node in np.flatnonzero(tree.tree_.is_split):
        terms = splits.terms(node)
        numbers = [
            Decimal(number) for number in re.findall(r"[\d.]+(?:e[+-]?\d+)?", splits.rule(node, ["a"] * X.shape[1]))
        ]
        told = [abs(weight) for product, weight in terms.items() if product and weight not in (0, 1, -1)]
        assert numbers == [Decimal(repr(float(value))) for value in [*told, abs(terms[()])]]


# The rest of the library.


def test_one_column_in_the_plain_form_and_the_file(tmp_path):
    X, y = sample()
    for kernel in ("linear", "quadratic", "rbf"):
        tree = DipoleSurvivalTree(DipoleSVM(kernel), max_terms=2).fit(X, y)
        tree.save(tmp_path / "tree.dipolar")
        again = DipoleSurvivalTree.load(tmp_path / "tree.dipolar")
        assert again.max_terms == 2
        assert again.tree_ == tree.tree_
        np.testing.assert_array_equal(again.split_scores(X), tree.split_scores(X))
        assert [again.tree_.splits.rule(0, names(6))] == [tree.tree_.splits.rule(0, names(6))]
        splits = [node["split"] for node in to_dict(tree)["nodes"] if not node["is_leaf"]]
        assert all(len(split["columns"]) == 2 and split["is_round"] is (kernel == "linear") for split in splits)


@pytest.mark.parametrize("tree", [DipoleSurvivalTree(), DipoleSurvivalTree(DipoleSVM("rbf"), max_terms=2)])
def test_a_file_cannot_call_other_surfaces_round(tree):
    X, y = sample()
    record = tree.fit(X, y).tree_
    damaged = Tree.from_arrays(record.to_arrays(), "surface", record.splits.settings() | {"is_round": True})
    with pytest.raises(ValueError, match="no hyperplanes of the covariates as they were given"):
        damaged.check(6)


def test_the_plain_form_computes_what_the_rule_says():
    X, y = sample()
    plain = to_dict(DipoleSurvivalTree(max_terms=2).fit(X, y))
    assert set(plain["mean"]) == {0.0}
    assert set(plain["scale"]) == {1.0}
    for node in plain["nodes"]:
        if not node["is_leaf"]:
            split = node["split"]
            score = split["intercept"] + X[:, split["columns"]] @ split["coefficients"]
            np.testing.assert_array_equal(score < split["boundary"], goes_left(node["rule"], X))


@pytest.mark.parametrize("pruning", ["bootstrap", "validation"])
def test_pruning_weights_and_workers(pruning):
    X, y = sample(100)
    weight = np.random.default_rng(0).integers(1, 3, len(X))
    tree = DipoleSurvivalTree(
        max_terms=2, min_samples_leaf=5, pruning=pruning, alpha=2.0, n_bootstraps=4, random_state=0
    )
    one = clone(tree).fit(X, y, weight)
    two = clone(tree).set_params(n_jobs=2).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert one.tree_ == two.tree_


def test_leaves_first_and_cutting_back():
    X, y = sample(200)
    best = DipoleSurvivalTree(max_terms=1, max_leaf_nodes=4, max_depth=None).fit(X, y)
    assert best.n_leaves_ == 4
    deep = DipoleSurvivalTree(max_terms=2).fit(X, y)
    shallow = DipoleSurvivalTree(max_terms=2, max_depth=2).fit(X, y)
    assert deep.cut_back(2).tree_ == shallow.tree_


def test_tuning():
    X, y = sample(150)
    search = SurvivalTreeCV(
        DipoleSurvivalTree(), max_depth=(1, 2), param_grid={"max_terms": [1, 2, None]}, cv=3, random_state=0
    ).fit(X, y)
    assert search.best_estimator_.max_terms in (1, 2, None)


@pytest.mark.parametrize("init", ["median", "quartile", "positive"])
def test_every_start(init):
    X, y = sample(60, 4)
    svm = DipoleSVM(init=init, pure_weight=1.0)
    tree = DipoleSurvivalTree(svm, max_terms=2, max_depth=1, min_samples_leaf=1).fit(X, y)
    left, columns = eliminate(X, y, svm, 2)
    assert tree.tree_.splits.columns(0).tolist() == columns
    np.testing.assert_array_equal(partition(tree.apply(X)), partition(left))
