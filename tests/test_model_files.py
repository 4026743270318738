"""Hostile model files: one error for all of them, in proportion to their size, and nothing that misbehaves later."""

import io
import json
import os
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import dipolar
from dipolar import (
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalForest,
    LogRankSurvivalTree,
    ModelFileError,
)
from dipolar.model_file import EXPANSION, add_note, read_note
from dipolar.records import rules_of
from dipolar.tree.surfaces import Surfaces
from tests.models import paper_tree
from tests.mutants import (
    FITTED,
    JSON_VALUES,
    Contents,
    array_header,
    ask_everything,
    change_header,
    encode,
    encode_array,
    make_subjects,
    mutant,
    outcome,
    wrapped_offsets,
    zipped,
)


@pytest.fixture(scope="module")
def subjects(tmp_path_factory):
    return {subject.name: subject for subject in make_subjects(tmp_path_factory.mktemp("fitted"))}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.dipolar"


def refusal(subject, path, data):
    """Load a file that has to be refused; return why it was."""
    path.write_bytes(data)
    with pytest.raises(ModelFileError) as caught:
        subject.estimator.load(path)
    return str(caught.value)


def with_arrays(subject, **arrays):
    """The file of a model with other arrays; double underscores stand for dots."""
    changed = {name.replace("__", "."): np.asarray(values) for name, values in arrays.items()}
    assert changed.keys() <= subject.contents.arrays.keys()
    return encode(Contents(subject.contents.header, subject.contents.arrays | changed))


def with_header(subject, **entries):
    return encode(Contents(subject.contents.header | entries, subject.contents.arrays))


def entries_of(subject):
    with zipfile.ZipFile(io.BytesIO(subject.data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


# Every kind of model comes back, and answers.


@pytest.mark.parametrize("name", FITTED)
def test_every_kind_of_model_comes_back(subjects, name, path):
    path.write_bytes(subjects[name].data)
    loaded = subjects[name].estimator.load(path)
    ask_everything(loaded)
    for record in ("tree_", "grown_", "pruning_path_", "forest_"):
        assert getattr(loaded, record, None) == getattr(FITTED[name], record, None)


@pytest.mark.parametrize("first", range(0, 330, 30))
def test_mutants_are_refused_or_predict(subjects, first, path):
    """A slice of `python -m tests.mutants`."""
    every = list(subjects.values())
    for case in range(first, first + 30):
        subject, kind, data = mutant(every, case)
        assert outcome(subject, data, path) in ("refused", "loaded"), (case, subject.name, kind)


def test_changed_headers_leave_the_values_that_they_are_made_of_alone(subjects):
    before = repr(JSON_VALUES)
    for case in range(300):
        change_header(subjects["tuned"], np.random.default_rng(case))
    assert repr(JSON_VALUES) == before


def test_there_is_one_public_error():
    assert issubclass(dipolar.ModelFileError, ValueError)


# Offsets are compared, and their differences, which wrap around, never taken.


OFFSETS = [
    ("cuts", "tree.tables.offset"),
    ("rbf", "tree.tables.offset"),
    ("rbf", "tree.splits.column_offset"),
    ("rbf", "tree.splits.offset"),
    ("rbf", "tree.splits.basis_offset"),
    ("forest of kernels", "all.offset"),
    ("forest of cuts", "tables.offset"),
    ("forest of kernels", "splits.column_offset"),
    ("forest of kernels", "splits.offset"),
    ("forest of kernels", "splits.basis_offset"),
    ("tuned", "tree.tables.offset"),
    ("tuned", "tree.splits.column_offset"),
    ("tuned", "tree.splits.offset"),
    ("tuned", "tree.splits.basis_offset"),
]


@pytest.mark.parametrize(("name", "array"), OFFSETS)
def test_offsets_that_wrap_around_are_refused(subjects, name, array, path):
    subject = subjects[name]
    values = subject.contents.arrays[array].copy()
    # In a forest, those of the first tree.
    n = int(subject.contents.arrays.get(f"length.{array}", [len(values)])[0])
    wrapped = wrapped_offsets(n, int(values[n - 1]))
    if n > 3:
        assert (np.diff(wrapped) > 0).all() and wrapped[-1] == values[n - 1]
    values[:n] = wrapped
    assert "offsets that ascend" in refusal(subject, path, with_arrays(subject, **{array.replace(".", "__"): values}))


@pytest.mark.parametrize("lengths", [[2**62] * 4, [-1, 1, 0, 0], [2**63 - 1, 2**63 - 1, 2, 0]])
def test_lengths_that_wrap_around_are_refused(subjects, lengths, path):
    subject = subjects["forest of cuts"]
    assert "length" in refusal(subject, path, with_arrays(subject, length__left=lengths))


def test_every_index_has_a_rule():
    """What `_core` reads as a place of an array is an offset or an index, of a width that holds all places."""
    for name, rule in rules_of(Surfaces).items():
        if np.dtype(rule.dtype).kind == "i" and name != "kernel":
            assert rule.into is not None


# What would misbehave later.


def put(values, place, value):
    values = values.copy()
    values.reshape(-1)[place] = value
    return values


SINGLE = [
    ("cuts", "tree.tables.at_risk", 0, 0.0, "at_risk should hold numbers from"),
    ("cuts", "tree.tables.at_risk", 0, -1.0, "at_risk should hold numbers from"),
    ("cuts", "tree.tables.at_risk", 0, np.nan, "at_risk should hold numbers from"),
    ("cuts", "tree.tables.at_risk", 0, 1e17, "at_risk should hold numbers from"),
    ("cuts", "tree.tables.at_risk", 1, 1000.0, "the rows at risk in a life table"),
    ("cuts", "tree.tables.events", 0, -1.0, "events should hold numbers from"),
    ("cuts", "tree.tables.censored", 0, -1.0, "censored should hold numbers from"),
    ("cuts", "tree.tables.censored", 0, 1000.0, "the rows at risk in a life table"),
    ("tuned", "tree.tables.censored", 0, np.nan, "censored should hold numbers from"),
    ("cuts", "tree.tables.events", 0, 1000.0, "the rows at risk in a life table"),
    ("cuts", "tree.tables.time", 0, np.inf, "time should hold numbers from"),
    ("cuts", "tree.tables.time", 0, 1e9, "the times of a life table do not ascend"),
    ("cuts", "tree.tables.time", 0, 1e-9, "a time that no training row has"),
    ("cuts", "tree.n_samples", 0, 1e6, "sizes of the nodes"),
    ("cuts", "tree.n_events", -1, 1e6, "sizes of the nodes"),
    ("cuts", "tree.depth", 2, 7, "depth of a node"),
    ("cuts", "tree.parent", 2, -1, "do not form a tree"),
    ("cuts", "tree.left", 0, 0, "child outside the tree"),
    ("cuts", "tree.left", 0, 2**31 - 1, "left should hold integers from -1"),
    ("cuts", "tree.logrank", 0, np.inf, "logrank should hold numbers from"),
    ("cuts", "tree.gain", -1, 1.0, "a leaf has the statistic of a split"),
    ("cuts", "tree.splits.feature", 0, 4, "feature should hold integers from -1 to 3"),
    ("cuts", "tree.splits.feature", 0, -1, "a split has no covariate"),
    ("cuts", "tree.splits.threshold", 0, np.nan, "a split has no covariate or no threshold"),
    ("cuts", "tree.splits.threshold", 0, -np.inf, "threshold should hold numbers from"),
    ("cuts", "path.alphas", 0, 1.0, "do not ascend from 0"),
    ("cuts", "path.n_splits", 0, 1000, "sizes or statistics of the pruning path"),
    ("cuts", "path.statistics", 0, 1e6, "sizes or statistics of the pruning path"),
    ("cuts", "path.honest_statistics", 0, np.nan, "some members of the pruning path"),
    ("cuts", "path.removed_at", 0, 10_000, "removed_at should hold integers from 0"),
    ("cuts", "unique_times", 0, 1e9, "unique_times should hold ascending values"),
    ("cuts", "event_times", 0, -1.0, "event_times should hold numbers from"),
    ("rbf", "tree.splits.coefficient", 0, 1e300, "coefficient should hold numbers from"),
    ("rbf", "tree.splits.basis_row", 0, 10_000, "basis_row should hold integers from 0"),
    ("rbf", "tree.splits.basis", 0, 1e300, "basis should hold numbers from"),
    ("rbf", "tree.splits.intercept", 0, np.nan, "intercept should hold numbers from"),
    ("rbf", "tree.splits.boundary", 0, np.inf, "boundary should hold numbers from"),
    ("rbf", "tree.splits.share", 0, 0.9999, "shares of a surface do not sum to 1"),
    ("rbf", "tree.splits.share", -1, -0.1, "share should hold numbers from"),
    ("rbf", "tree.splits.basis_row", 0, -1, "basis_row should hold integers from 0"),
    ("rbf", "tree.splits.column", 0, -1, "column should hold integers from 0 to 3"),
    ("polynomial", "tree.splits.basis", 0, 1e70, "the kernel is larger than"),
    ("planes", "tree.splits.scale", 0, 0.0, "scale should hold numbers from"),
    ("planes", "tree.splits.mean", 0, np.inf, "mean should hold numbers from"),
    ("planes", "tree.splits.split", 0, -1, "do not belong to the nodes"),
    ("forest of kernels", "splits.kernel", 0, 3, "a kernel that is not there"),
    ("forest of kernels", "splits.kernel", 0, 100, "kernel should hold integers from 0 to 99"),
    ("forest of kernels", "splits.kernel", 0, -1, "kernel should hold integers from 0 to 99"),
    ("tuned", "tree.splits.kernel", 0, 1, "a kernel that is not there"),
    ("tuned", "tree.splits.coefficient", 0, np.nan, "coefficient should hold numbers from"),
    ("tuned", "tree.splits.mean", 0, np.inf, "mean should hold numbers from"),
    ("tuned", "tree.splits.scale", 0, 0.0, "scale should hold numbers from"),
    ("tuned cuts", "tree.splits.threshold", 0, np.nan, "a split has no covariate or no threshold"),
    ("forest of kernels", "splits.column", 0, 4, "column should hold integers from 0 to 3"),
    ("forest of kernels", "splits.coefficient", 0, np.inf, "coefficient should hold numbers from"),
    ("forest of kernels", "splits.scale", -1, -1.0, "scale should hold numbers from"),
    ("forest of cuts", "times", -1, 1e101, "the time grid should hold numbers from 0 to 1e+100"),
    ("forest of cuts", "times", 0, 9.0, "the time grid should hold ascending values"),
    ("forest of cuts", "all.at_risk", 0, 1.0, "the rows at risk in a life table"),
    ("forest of cuts", "tables.time", 0, 1e-9, "a time that no training row has"),
]


@pytest.mark.parametrize(("name", "array", "place", "value", "why"), SINGLE)
def test_a_single_number_that_cannot_be_is_refused(subjects, name, array, place, value, why, path):
    subject = subjects[name]
    values = put(subject.contents.arrays[array], place, value)
    assert why in refusal(subject, path, with_arrays(subject, **{array.replace(".", "__"): values}))


def test_a_covariate_twice_in_a_surface_is_refused(subjects, path):
    subject = subjects["forest of kernels"]
    same = np.zeros_like(subject.contents.arrays["splits.column"])
    assert "a covariate twice" in refusal(subject, path, with_arrays(subject, splits__column=same))


@pytest.mark.parametrize(
    ("name", "array"), [("rbf", "tree.splits.basis_row"), ("forest of kernels", "splits.basis_row")]
)
def test_a_basis_row_twice_in_a_surface_is_refused(subjects, name, array, path):
    """Were it not, a small file could ask for the kernel of millions of rows."""
    same = np.zeros_like(subjects[name].contents.arrays[array])
    arrays = {array.replace(".", "__"): same}
    assert "a basis row twice" in refusal(subjects[name], path, with_arrays(subjects[name], **arrays))


@pytest.mark.parametrize(
    ("name", "array"), [("forest of planes", "splits.coefficient"), ("rbf", "tree.splits.coefficient")]
)
def test_a_surface_without_a_slope_is_refused(subjects, name, array, path):
    """One of them is enough: the first."""
    arrays = subjects[name].contents.arrays
    values = arrays[array].copy()
    values[: arrays[array.removesuffix("coefficient") + "offset"][1]] = 0.0
    changed = {array.replace(".", "__"): values}
    assert "all 0" in refusal(subjects[name], path, with_arrays(subjects[name], **changed))


def test_a_surface_without_coefficients_is_refused(subjects, path):
    """The first split gives its coefficients to the second; none of them is one of a kernel's."""
    subject = subjects["planes"]
    offset = put(subject.contents.arrays["tree.splits.offset"], 1, 0)
    assert "offsets that ascend" in refusal(subject, path, with_arrays(subject, tree__splits__offset=offset))


@pytest.mark.parametrize("name", ["planes", "quadratic", "rbf"])
def test_coefficients_of_another_number_than_the_kernel_needs_are_refused(subjects, name, path):
    subject = subjects[name]
    offset = put(subject.contents.arrays["tree.splits.offset"], 1, 1)
    why = refusal(subject, path, with_arrays(subject, tree__splits__offset=offset))
    assert "has not the coefficients" in why


def polynomial(**parameters):
    return {"name": "PolynomialKernel", "parameters": {"degree": 3, "coef0": 1.0} | parameters}


def gaussian(**parameters):
    return {"name": "GaussianKernel", "parameters": parameters}


@pytest.mark.parametrize(
    ("name", "kernels", "why"),
    [
        ("quadratic", [polynomial(degree=300)], "degree must be"),
        ("polynomial", [polynomial(degree=300)], "degree must be"),
        ("polynomial", [polynomial(degree=3.5)], "degree must be"),
        ("polynomial", [polynomial(degree=None)], "degree must be"),
        ("polynomial", [polynomial(degree=True)], "degree must be"),
        ("polynomial", [polynomial(degree=20, coef0=1e30)], "power of 20"),
        ("polynomial", [polynomial(degree=20, coef0=10**30)], "power of 20"),
        ("polynomial", [polynomial(degree=3, coef0=1e-300)], "power of 3"),
        ("polynomial", [polynomial(coef0=-1.0)], "coef0 must be"),
        ("polynomial", [polynomial(coef0=10**400)], "coef0 must be"),
        ("quadratic", [polynomial()], "the coefficients"),
        ("quadratic", [gaussian(sigma2=1.0)], "the coefficients"),
        ("planes", [polynomial(degree=2)], "the coefficients"),
        ("rbf", [gaussian(sigma2=0.0)], "sigma2 must be"),
        ("rbf", [gaussian(sigma2="1")], "sigma2 must be"),
        ("rbf", [gaussian(sigma2=[1.0])], "sigma2 must be"),
        ("rbf", [gaussian(sigma2=None)], "was not learnt"),
        ("rbf", [gaussian()], "has the parameters ['sigma2']"),
        ("rbf", [gaussian(sigma2=1.0, gamma=1.0)], "has the parameters ['sigma2']"),
        ("rbf", [{"name": "CallableKernel", "parameters": {"function": 1}}], "an unknown kernel"),
        ("rbf", [{"name": "PrecomputedKernel", "parameters": {}}], "an unknown kernel"),
        ("rbf", [{"name": ["GaussianKernel"], "parameters": {}}], "an unknown kernel"),
        ("rbf", [{"name": "GaussianKernel", "parameters": []}], "a name and its parameters"),
        ("rbf", ["GaussianKernel"], "a name and its parameters"),
        ("rbf", [], "no list of kernels"),
        ("rbf", [gaussian(sigma2=1.0)] * 101, "no list of kernels"),
        ("rbf", {"name": "GaussianKernel"}, "no list of kernels"),
        ("rbf", None, "no list of kernels"),
        ("laplacian", [{"name": "LaplacianKernel", "parameters": {"gamma": -1.0}}], "gamma must be"),
        ("sigmoid", [{"name": "SigmoidKernel", "parameters": {"gamma": 1.0, "coef0": 1e300}}], "coef0 must be"),
        ("tuned", [gaussian(sigma2=-1.0)], "sigma2 must be"),
    ],
)
def test_kernels_that_cannot_be_are_refused(subjects, name, kernels, why, path):
    subject = subjects[name]
    changed = {"settings": {"kernels": kernels}}
    if "tree" in subject.contents.header:
        changed = {"tree": subject.contents.header["tree"] | changed}
    assert why in refusal(subject, path, with_header(subject, **changed))


def test_settings_are_an_object(subjects, path):
    assert "splits are of the kind" in refusal(subjects["rbf"], path, with_header(subjects["rbf"], settings=[]))


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ({"estimator": "LogRankSurvivalTree"}, "its tree is a 'LogRankSurvivalTree', not a 'DipoleSurvivalTree'"),
        ({"estimator": None}, "its tree is a None"),
        ({"n_features": 3}, "one of other covariates"),
        ({"feature_names": ["a", "b", "c", "d"]}, "one of other covariates"),
        ({"member": 10_000}, "member must be"),
        ({"splits": "axis"}, "splits are of the kind 'axis'"),
        ({"settings": None}, "splits are of the kind"),
        ({"parameters": None}, "has no parameters"),
        ({"parameters": {"alpha": -1.0}}, "alpha must be"),
        ({"parameters": {"svm": {"estimator": "LogRankSurvivalTree", "parameters": {}}}}, "svm must be a DipoleSVM"),
        ({"parameters": {"svm": {"estimator": "DipoleSVM", "parameters": {"kappa": -1.0}}}}, "kappa must be"),
    ],
)
def test_the_tree_of_a_tuned_tree_is_checked(subjects, entries, why, path):
    subject = subjects["tuned"]
    assert why in refusal(subject, path, with_header(subject, tree=subject.contents.header["tree"] | entries))


@pytest.mark.parametrize("tree", [None, [], "DipoleSurvivalTree", {}])
def test_a_tuned_tree_has_a_tree(subjects, tree, path):
    assert "its" in refusal(subjects["tuned"], path, with_header(subjects["tuned"], tree=tree))


def nested(depth):
    """The parameters of machines within machines."""
    value = None
    for _ in range(depth):
        value = {"estimator": "DipoleSVM", "parameters": {"kernel": value}}
    return value


@pytest.mark.parametrize(
    ("name", "parameter", "value", "why"),
    [
        ("rbf", "svm", {"estimator": "os.system", "parameters": {}}, "a parameter is"),
        ("rbf", "svm", {"estimator": "BaseSurvivalTree", "parameters": {}}, "a parameter is"),
        ("rbf", "svm", {"estimator": ["DipoleSVM"], "parameters": {}}, "a parameter is"),
        ("rbf", "svm", {"estimator": "DipoleSVM"}, "a parameter is"),
        ("rbf", "svm", {"estimator": "DipoleSVM", "parameters": {}, "more": 1}, "a parameter is"),
        ("rbf", "svm", {"estimator": "DipoleSVM", "parameters": {"nonsense": 1}}, "nonsense"),
        ("rbf", "svm", {"estimator": "LogRankSurvivalTree", "parameters": {}}, "svm must be a DipoleSVM"),
        ("rbf", "svm", {"kernel": gaussian(sigma2=1.0)}, "svm must be a DipoleSVM"),
        ("rbf", "svm", {"kernel": "rbf"}, "a name and its parameters"),
        ("rbf", "svm", {"mapping": []}, "a parameter is"),
        ("rbf", "svm", {"unheard": "of"}, "a parameter is"),
        ("rbf", "svm", nested(3), "kernel must be one of"),
        ("rbf", "svm", nested(5000), "nested deeper"),
        ("forest of planes", "svm", [], "svm must be a DipoleSVM"),
        ("forest of planes", "svm", [nested(1), None], "svm must be a DipoleSVM"),
        ("tuned", "estimator", {"estimator": "BaseSurvivalTree", "parameters": {}}, "a parameter is"),
        ("tuned", "estimator", {"estimator": "SurvivalTreeCV", "parameters": {}}, "estimator must be"),
        ("tuned", "estimator", nested(1), "estimator must be"),
        ("tuned", "estimator", {"estimator": "LogRankSurvivalTree", "parameters": {}}, "param_grid must name"),
        ("tuned cuts", "estimator", None, "its tree is a 'LogRankSurvivalTree'"),
        ("tuned", "param_grid", {"mapping": {"nonsense": [1]}}, "param_grid must name"),
        ("tuned", "param_grid", {"mapping": {"svm__kappa": 1.0}}, "param_grid must be"),
        ("tuned", "param_grid", [1], "param_grid must be"),
        ("tuned", "max_depth", "deep", "max_depth must be"),
        ("tuned", "max_depth", [-1], "max_depth must be"),
        ("tuned", "scoring", "nonsense", "scoring must be"),
        ("tuned", "tolerance", -1, "tolerance must be"),
        ("tuned", "level", 2, "level must lie"),
        ("tuned", "cv", 1, "cv must be"),
        ("tuned", "n_jobs", 0, "n_jobs must be"),
    ],
)
def test_nested_parameters_that_cannot_be_are_refused(subjects, name, parameter, value, why, path):
    parameters = subjects[name].contents.header["parameters"] | {parameter: "PLACE"}
    header = subjects[name].contents.header | {"parameters": parameters}
    entries = dict(entries_of(subjects[name])) | {
        "header.json": plain_json(header).replace('"PLACE"', plain_json(value)).encode()
    }
    assert why in refusal(subjects[name], path, zipped(list(entries.items()), zipfile.ZIP_STORED))


def plain_json(value):
    """Return JSON of values that may be nested deeper than `json` itself goes."""
    opened = 0
    while isinstance(value, dict) and value.keys() == {"estimator", "parameters"} and opened < 10_000:
        inner = value["parameters"].get("kernel", value)
        if value["parameters"].keys() != {"kernel"}:
            break
        value, opened = inner, opened + 1
    begin = '{"estimator": "DipoleSVM", "parameters": {"kernel": '
    return begin * opened + json.dumps(value) + "}}" * opened


def test_a_huge_grid_is_not_spelled_out(subjects, path):
    """Loading asks whether its names are parameters, and makes no candidate."""
    subject = subjects["tuned"]
    names = ["min_samples_leaf", "min_samples_split", "min_events_leaf", "min_logrank", "alpha", "svm__kappa"]
    grid = {"mapping": {name: list(range(1, 101)) for name in names}}
    parameters = subject.contents.header["parameters"] | {"param_grid": grid}
    path.write_bytes(with_header(subject, parameters=parameters))
    start = time.process_time()
    subject.estimator.load(path)
    assert time.process_time() - start < 2.0


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ({"feature_names": ["a", "b", "c"]}, "feature_names are not 4 strings"),
        ({"feature_names": ["a", "b", "c", "d", "e"]}, "feature_names are not 4 strings"),
        ({"feature_names": ["a", "b", "c", 4]}, "feature_names are not 4 strings"),
        ({"feature_names": "abcd"}, "feature_names are not 4 strings"),
        ({"n_features": 0}, "n_features must be"),
        ({"n_features": True}, "n_features must be"),
        ({"n_features": 2**62}, "n_features must be"),
        ({"member": -1}, "member must be"),
        ({"member": None}, "member must be"),
        ({"splits": "surface"}, "not one of ('axis',)"),
        ({"splits": "drawn_surface"}, "not one of ('axis',)"),
        ({"parameters": None}, "has no parameters"),
        ({"version": True}, "format version True"),
    ],
)
def test_headers_that_cannot_be_are_refused(subjects, entries, why, path):
    assert why in refusal(subjects["cuts"], path, with_header(subjects["cuts"], **entries))


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("cuts", "pruning", "nonsense"),
        ("cuts", "min_samples_split", -1),
        ("cuts", "max_features", 5),
        ("cuts", "criterion", None),
        ("cuts", "n_jobs", 0),
        ("cuts", "n_jobs", 10**9),
        ("cuts", "random_state", -1),
        ("cuts", "max_depth", 10**400),
        ("forest of cuts", "n_estimators", 0),
        ("rbf", "inherit", -1.0),
        ("rbf", "max_terms", 0),
        ("rbf", "dipole_scope", "nonsense"),
        ("rbf", "svm", "rbf"),
        ("forest of planes", "max_node_samples", 1),
    ],
)
def test_parameters_are_those_that_fit_would_take(subjects, name, parameter, value, path):
    parameters = subjects[name].contents.header["parameters"] | {parameter: value}
    assert parameter in refusal(subjects[name], path, with_header(subjects[name], parameters=parameters))


@pytest.mark.parametrize("name", ["rbf", "forest of planes"])
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("cut", "nonsense"),
        ("factor_tol", 2.0),
        ("kernel", "nonsense"),
        ("kappa", -1.0),
        ("mixed_quantile", 0.1),
        ("margin", "wide"),
        ("margin", {"distance_quantile": 2.0}),
        ("margin", {"distance_quantile": "half"}),
        ("max_rank", 0),
        ("init", None),
        ("standardize", 1),
    ],
)
def test_parameters_of_machines_are_those_that_fit_would_take(subjects, name, parameter, value, path):
    parameters = json.loads(json.dumps(subjects[name].contents.header["parameters"]))
    machine = parameters["svm"][0] if isinstance(parameters["svm"], list) else parameters["svm"]
    machine["parameters"][parameter] = value
    assert parameter in refusal(subjects[name], path, with_header(subjects[name], parameters=parameters))


def test_parameters_that_fit_would_refuse_are_not_saved(path):
    X = np.arange(40.0).reshape(-1, 1)
    model = LogRankSurvivalTree().fit(X, X[:, 0] + 1).set_params(min_samples_leaf=0)
    with pytest.raises(ValueError, match="min_samples_leaf must be"):
        model.save(path)
    assert not path.exists()


def test_more_machines_than_a_file_can_number_are_refused_before():
    X = np.arange(40.0).reshape(-1, 1)
    with pytest.raises(ValueError, match="at most 100 machines, got 101"):
        DipoleSurvivalForest([DipoleSVM()] * 101, 1).fit(X, X[:, 0] + 1)


def test_more_events_than_rows_at_risk_are_refused_be_it_by_rounding(subjects, path):
    arrays = subjects["leaf"].contents.arrays
    at_risk = arrays["tree.tables.at_risk"].copy()
    last = arrays["tree.tables.events"].copy()
    last[-1] += arrays["tree.tables.censored"][-1]
    none = put(arrays["tree.tables.censored"], -1, 0.0)
    at_risk[-1] = np.nextafter(last[-1], 0.0)
    changed = {"tree__tables__events": last, "tree__tables__censored": none, "tree__tables__at_risk": at_risk}
    assert "more events than rows at risk" in refusal(subjects["leaf"], path, with_arrays(subjects["leaf"], **changed))


def test_arrays_that_nothing_reads_are_refused(subjects, path):
    more = subjects["cuts"].contents.arrays | {"tree.more": np.zeros(3)}
    assert "tree.more" in refusal(subjects["cuts"], path, encode(Contents(subjects["cuts"].contents.header, more)))


# The file itself.


@pytest.mark.parametrize(
    ("array", "why"),
    [
        (array_header("'|O'", "(3,)"), "not an array of numbers"),
        (array_header("'<f8'", "(999999999999999,)"), "too many or too few for shape"),
        (array_header("'<f8'", "(99999999, 99999999, 99999999)"), "too many or too few for shape"),
        (array_header("'<f8'", "(-1,)"), "not an array of numbers"),
        (array_header("'<f8'", "(3,)").replace("False", "True"), "not an array of numbers"),
        ("(" * 5000, "not an array of numbers"),
        ("__import__('os').abort()", "not an array of numbers"),
    ],
)
def test_headers_of_arrays_are_not_evaluated(subjects, array, why, path):
    entries = dict(entries_of(subjects["cuts"]))
    text = array.encode() + b"\n"
    entries["arrays/tree.gain.npy"] = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(8)
    assert why in refusal(subjects["cuts"], path, zipped(list(entries.items()), zipfile.ZIP_STORED))


def test_truth_values_are_0_or_1(subjects, path):
    entries = dict(entries_of(subjects["cuts"]))
    entries["arrays/tree.splits.missing_left.npy"] = entries["arrays/tree.splits.missing_left.npy"][:-1] + b"\x02"
    why = refusal(subjects["cuts"], path, zipped(list(entries.items()), zipfile.ZIP_STORED))
    assert "neither 0 nor 1" in why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"[" * 100_000, "nested deeper"),
        (b'{"a":' * 100_000, "nested deeper"),
        (b'"' + b'\\"' * 100_000, "not JSON"),
        (b'{"format": NaN}', "NaN is no number"),
        (b"9" * 5000, "not JSON"),
        (b"\xff", "utf-8"),
        (b"null", "does not say that it is one"),
    ],
)
def test_json_is_read_within_limits(subjects, text, why, path):
    entries = dict(entries_of(subjects["cuts"])) | {"header.json": text}
    assert why in refusal(subjects["cuts"], path, zipped(list(entries.items()), zipfile.ZIP_STORED))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_is_refused(subjects, method, path):
    assert "compressed in another way" in refusal(subjects["cuts"], path, zipped(entries_of(subjects["cuts"]), method))


@pytest.mark.parametrize("bit", [0, 6])
def test_encrypted_entries_are_refused(subjects, bit, path):
    data = bytearray(subjects["cuts"].data)
    data[data.index(b"PK\x01\x02") + 8] |= 1 << bit
    assert "encrypted" in refusal(subjects["cuts"], path, bytes(data))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("header.json", "entries, of"),
        ("evil", "not a model's"),
        ("../evil.json", "not a model's"),
        ("arrays/x/y.npy", "not a model's"),
        ("note.exe", "not a model's"),
    ],
)
def test_odd_entries_are_refused(subjects, name, why, path):
    entries = [*entries_of(subjects["cuts"]), (name, b"{}")]
    assert why in refusal(subjects["cuts"], path, zipped(entries, zipfile.ZIP_DEFLATED))


def test_thousands_of_entries_are_refused(subjects, path):
    entries = [*entries_of(subjects["cuts"]), *(("a" * k + ".json", b"{}") for k in range(1, 500))]
    assert "entries, of" in refusal(subjects["cuts"], path, zipped(entries, zipfile.ZIP_STORED))


BOMBS = {
    "an array": ("arrays/tree.gain.npy", encode_array(np.zeros(30_000_000)), zipfile.ZIP_DEFLATED),
    "a header": ("header.json", b'{"a": [' + b"[]," * 5_000_000 + b"0]}", zipfile.ZIP_DEFLATED),
    "a note": ("note.json", b" " * 50_000_000, zipfile.ZIP_DEFLATED),
    "a deep header": ("header.json", b"[" * 1_000_000, zipfile.ZIP_STORED),
    "quotes": ("header.json", b'"' + b'\\"' * 1_000_000, zipfile.ZIP_STORED),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_time_and_memory_are_in_proportion_to_the_file(subjects, bomb, path):
    subject = subjects["cuts"]
    name, content, method = BOMBS[bomb]
    data = zipped(list((dict(entries_of(subject)) | {name: content}).items()), method)
    path.write_bytes(data)
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(ModelFileError):
        subject.estimator.load(path)
    seconds, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000 + 40 * len(data)
    assert seconds < 2.0


def test_what_compresses_too_well_is_written_plain_and_comes_back(path):
    """One-hot covariates: rows of zeros in the basis, hundreds of columns of them."""
    rng = np.random.default_rng(0)
    X = np.zeros((120, 700))
    X[np.arange(120), rng.integers(700, size=120)] = 1.0
    X[:, 0] = rng.normal(size=120)
    model = paper_tree(max_depth=1, random_state=0).fit(X, rng.exponential(size=120))
    model.save(path)
    loaded = DipoleSurvivalTree.load(path)
    assert len(model.grown_.splits.basis) > 10
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with zipfile.ZipFile(path) as archive:
        assert sum(info.file_size for info in archive.infolist()) <= EXPANSION * path.stat().st_size
        assert all(info.compress_type == zipfile.ZIP_STORED for info in archive.infolist())


def test_what_is_no_regular_file_is_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(ModelFileError, match="not a regular file"):
            LogRankSurvivalTree.load(path)
    with pytest.raises(IsADirectoryError):
        LogRankSurvivalTree.load(tmp_path)


def test_messages_are_short_whatever_is_in_the_file(subjects, path):
    for entries in ({"estimator": "x" * 100_000}, {"splits": "x" * 100_000}, {"version": 10**4000}):
        assert len(refusal(subjects["cuts"], path, with_header(subjects["cuts"], **entries))) < 700


def test_a_time_grid_may_end_anywhere(path):
    X = np.arange(40.0).reshape(-1, 1)
    forest = LogRankSurvivalForest(2, time_grid=(1.0, 1e100), random_state=0).fit(X, X[:, 0] + 1)
    forest.save(path)
    np.testing.assert_array_equal(LogRankSurvivalForest.load(path).predict_rmst(X), forest.predict_rmst(X))


def test_notes_travel_with_a_model(subjects, path):
    path.write_bytes(subjects["cuts"].data)
    assert read_note(path, "note") is None
    add_note(path, "note", {"unit": "days"})
    assert read_note(path, "note") == {"unit": "days"}
    LogRankSurvivalTree.load(path)
    data = json.dumps({"unit": 1}).encode()
    path.write_bytes(zipped([*entries_of(subjects["cuts"]), ("note.json", b"[" * 100 + data)], zipfile.ZIP_STORED))
    with pytest.raises(ModelFileError, match="nested deeper"):
        read_note(path, "note")
