"""What the page computes, in Node: the tests of `tests/js`, on models and predictions that Python writes for them."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import erfc

from dipolar import CovariateEncoder, LogRankSurvivalTree, make_pipeline, survival_outcome
from dipolar.kernels import (
    KERNELS,
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    SigmoidKernel,
)
from dipolar.metrics import logrank_test
from dipolar.preparation.columns import read_column
from dipolar.report.model import kernel_module
from dipolar.report.page import report_data
from dipolar.tree.rules import threshold_texts
from tests.node import run_node
from tests.rational_quadratic import RationalQuadraticKernel
from tests.report_trees import (
    KINDS,
    as_cells,
    as_json,
    clinic,
    clinic_encoder,
    clinic_people,
    fitted,
    people,
    random_rows,
)

TESTS = sorted((Path(__file__).parent / "js").glob("*.test.mjs"))

KERNEL_EXAMPLES = (
    LinearKernel(),
    PolynomialKernel(2, 1.0),
    PolynomialKernel(3, 0.0),
    PolynomialKernel(5, 0.7),
    GaussianKernel(0.8),
    LaplacianKernel(0.3),
    SigmoidKernel(0.2, -0.5),
    RationalQuadraticKernel(0.7, 2.0),
)


def model_and_predictions(tree, rows):
    """The data of a page, rows, and what Python says about them."""
    grown = tree.grown_
    last = tree.unique_times_[-1]
    times = np.sort(np.concatenate(([0.0], tree.unique_times_, tree.unique_times_ + 0.01, [2 * last])))
    survival, hazard = tree.predict_survival_function(rows), tree.predict_cumulative_hazard_function(rows)
    return {
        "data": report_data(tree),
        "rows": as_json(rows),
        "times": times.tolist(),
        "leaf": tree.apply(rows).tolist(),
        "risk": tree.predict(rows).tolist(),
        "median": as_json(tree.predict_median(rows, "nan")),
        "restrictedMean": tree.predict_rmst(rows).tolist(),
        "survival": [curve(times).tolist() for curve in survival],
        "hazard": [curve(times).tolist() for curve in hazard],
        "splits": [
            {
                "node": int(node),
                "score": as_json(grown.splits.score(rows, node)),
                "left": grown.splits.goes_left(rows, node).tolist(),
            }
            for node in np.flatnonzero(grown.is_split)
        ],
        "members": [member_of(tree, alpha, rows) for alpha in tree.pruning_path_.alphas],
    }


def member_of(tree, alpha, rows):
    pruned = tree.prune(alpha)
    return {"leaf": pruned.apply(rows).tolist(), "risk": pruned.predict(rows).tolist()}


def on_the_cuts(tree, X):
    """Rows that lie on a threshold of the tree, and one step to either side of it."""
    cuts = tree.grown_.splits
    nodes = np.flatnonzero(tree.grown_.is_split)
    rows = np.repeat(np.nanmean(X, axis=0)[None, :], 3 * len(nodes), axis=0)
    for k, node in enumerate(nodes):
        at = cuts.threshold[node]
        rows[3 * k : 3 * k + 3, cuts.feature[node]] = [np.nextafter(at, -np.inf), at, np.nextafter(at, np.inf)]
    return rows


def logrank_tests():
    """Every pair of leaves of a tree, by its grown nodes, with the statistic and the p-value of Python."""
    X, tree = fitted("univariate")
    y = random_rows()[1]
    node = tree.grown_.leaves[tree.grown_.leaf_of(X)]
    found = []
    for a, b in combinations(tree.grown_.leaves.tolist(), 2):
        both = np.isin(node, (a, b))
        if y["event"][both].any():
            test = logrank_test(y[both], node[both])
            found.append({"a": a, "b": b, "statistic": float(test.statistic), "p": float(test.p_value)})
    return found


def thresholds():
    rng = np.random.default_rng(0)
    halves = [123456.5, -123456.5, 1235.005, 2.0000005, -0.0001234565, 1e-7, 40.0, 0.0]
    values = [*halves, *(rng.normal(size=200) * 10.0 ** rng.integers(-8, 9, 200))]
    return [{"value": float(value), "text": threshold_texts(value)[0] if value else "0"} for value in values]


def erfc_values():
    return [{"x": x, "value": float(erfc(x))} for x in (0.0, 0.01, 0.5, 1.0, 1.999999, 2.0, 2.1, 5.0, 10.0, 25.0)]


def kernel_values():
    rng = np.random.default_rng(1)
    u, v = rng.normal(size=(12, 3)), rng.normal(size=(12, 3))
    return [
        {**kernel.to_dict(), "u": u.tolist(), "v": v.tolist(), "value": kernel.block(u, v).tolist()}
        for kernel in KERNEL_EXAMPLES
    ]


def encoders():
    """People and what encoders of several kinds make of them."""
    people = clinic_people()
    cells = as_cells(people)
    return [encoder_case(kind, people, cells) for kind in ("fill", "gaps")] + [text_case()]


def encoder_case(kind, people, cells):
    encoder = clinic_encoder(kind).fit(clinic()[0])
    pipeline = make_pipeline(encoder, LogRankSurvivalTree(max_depth=1)).fit(*clinic())
    return told(kind, pipeline, people, cells)


def told(name, pipeline, people, cells):
    data, encoder = report_data(pipeline), pipeline[0]
    odd = [[k for k, recipe in enumerate(encoder.recipes_) if is_odd(recipe, row)] for _, row in people.iterrows()]
    rows = np.concatenate([encoder.prepare(people.iloc[[i]]).X.to_numpy() for i in range(len(people))])
    return {"name": name, "columns": data["columns"], "keeps_gaps": data["keeps_gaps"], "people": cells,
            "rows": as_json(rows), "odd": odd}  # fmt: skip


def is_odd(recipe, row):
    return bool(recipe.encode(read_column(recipe.name, row[[recipe.name]])).odd)


def text_case():
    """Cells of text: numbers with slips, and words for gaps."""
    rng = np.random.default_rng(0)
    words = ["1", "2", "+3", "2.0", "1e1", "-4.5", "007", " 5 ", "NA", "", "?", "-", "x", "n/a", "12,5"]
    X = pd.DataFrame({"lab": [str(k % 17) for k in range(120)], "site": rng.choice(["1", "2", "12"], 120)})
    people = pd.DataFrame({"lab": rng.choice(words, 80), "site": rng.choice(words, 80)})
    y = survival_outcome(rng.exponential(size=120), np.ones(120, dtype=bool))
    encoder = CovariateEncoder(categorical=["site"], add_indicator=True)
    pipeline = make_pipeline(encoder, LogRankSurvivalTree(max_depth=1)).fit(X, y)
    return told("text", pipeline, people, people.to_numpy().tolist())


def test_every_kernel_that_a_file_may_name_is_among_the_examples():
    examples = {type(kernel) for kernel in KERNEL_EXAMPLES}
    assert {cls for cls in KERNELS.values() if cls.__module__ == "dipolar.kernels"} <= examples


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where Python's part of the tests is: one model per kind of split, kernels, log-rank tests and thresholds."""
    folder = tmp_path_factory.mktemp("models")
    for kind in KINDS:
        X, tree = fitted(kind)
        rows = people(X)
        if kind == "univariate":
            rows = np.concatenate((rows, on_the_cuts(tree, X)))
        model = model_and_predictions(tree, rows)
        name = kind.replace(" ", "-")
        (folder / f"{name}.model.json").write_text(json.dumps(model, allow_nan=False))
        (folder / f"{name}.kernels.mjs").write_text(kernel_module(tree.grown_, predict_form=True))
    code = ",\n".join(f"  {type(k).__name__}: {k.javascript}" for k in {type(k): k for k in KERNEL_EXAMPLES}.values())
    (folder / "examples.mjs").write_text(f"export const kernels = {{\n{code},\n}};\n")
    for write in (encoders, kernel_values, logrank_tests, thresholds, erfc_values):
        (folder / f"{write.__name__}.json").write_text(json.dumps(write(), allow_nan=False))
    return folder


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_in_node(path, folder):
    run_node("--test", str(path), env={"REPORT_MODELS": str(folder)})


def test_a_failure_in_node_is_a_failure_here(tmp_path):
    """The test above can fail."""
    (tmp_path / "bad.test.mjs").write_text(
        'import test from "node:test";\ntest("no", () => { throw new Error("no"); });\n'
    )
    with pytest.raises(AssertionError, match="fail 1"):
        run_node("--test", str(tmp_path / "bad.test.mjs"))
