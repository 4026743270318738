"""The paper's trees split the rows as they did before: partitions from `golden/paper_trees.json`.

Each entry is a tree with the paper's settings on the first rows of a data set that miss no covariate, and the leaf of
each of these rows, numbered in the order in which they are met. The file is not made anew when the code changes.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from dipolar.datasets import load_dataset
from tests.models import paper_tree

GOLDEN = json.loads((Path(__file__).parent / "golden" / "paper_trees.json").read_text(encoding="utf-8"))


def first_met(labels):
    """Number labels in the order in which they are met."""
    numbers = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def first_rows(name, n):
    X, y = load_dataset(name, return_X_y=True, as_frame=False)
    known = ~np.isnan(X).any(axis=1)
    return X[known][:n], y[known][:n]


def grow(case):
    X, y = first_rows(case["data"], case["rows"])
    tree = paper_tree(
        case["kernel"],
        math.exp(case["eta"]),
        init=case["init"],
        cutoff_rule=case["cutoff_rule"],
        min_samples_split=10 if case["data"] == "remission" else 20,
        random_state=0,
    )
    return tree.fit(X, y).apply(X)


def name_of(case):
    return "-".join(str(case[name]) for name in ("data", "kernel", "eta", "init", "cutoff_rule"))


@pytest.mark.parametrize("case", GOLDEN, ids=name_of)
def test_partitions_are_those_from_before(case):
    expected = [int(label) for label in case["leaves"].split()]
    assert first_met(grow(case)) == expected == first_met(expected)


def test_there_are_trees_of_all_kinds():
    """Data sets, kernels, starts and values of kappa, crossed; most of the trees have several leaves."""
    axes = ("data", "kernel", "eta", "init", "cutoff_rule")
    sizes = {name_of(case): len(set(case["leaves"].split())) for case in GOLDEN}
    assert len(sizes) == len(GOLDEN) == 96
    assert [len({case[axis] for case in GOLDEN}) for axis in axes] == [4, 3, 4, 2, 2]
    assert sum(size > 2 for size in sizes.values()) > len(sizes) / 2
