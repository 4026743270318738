"""The Remission data: four trees and their leaf medians, five-fold scores, a Cox model, and the figure of the trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.model_selection import StratifiedKFold

from dipolar.curves import life_table
from dipolar.datasets import load_remission
from dipolar.plotting import plot_split_surface
from dipolar_reproduction.comparison import Comparison, compare, comparison_frame, comparison_table
from dipolar_reproduction.cox import fit_cox
from dipolar_reproduction.models import TREES, model_settings, remission_models
from dipolar_reproduction.printed import printed_medians, printed_remission_scores
from dipolar_reproduction.score_tables import all_scores_table
from dipolar_reproduction.scores import Rows
from dipolar_reproduction.study import Results, Study, Unit, seed_of
from dipolar_reproduction.table import Table, number
from dipolar_reproduction.trial import Stopwatch, average_trials, run_trial

REGIONS, FOLDS, COX = "regions", "folds", "cox"
N_FOLDS = 5
COX_TERMS = ("TR", "logWBC", "TR x logWBC")
PRINTED_COX = (2.356, 1.830, -0.342)
# The trees of the regions prune by the bootstrap too, with this seed.
REGION_SEED = 0
FOLD_SPREAD = "standard deviations over our shuffles, since none are printed"


class RemissionStudy(Study):
    """Leaf medians, cross-validated scores over many shuffles into folds, and the Cox model."""

    name = "remission"
    title = "Remission data"
    sources = (REGIONS, COX, FOLDS)
    default_runs = 100

    def models_of(self, source: str) -> tuple[str, ...]:
        return (COX,) if source == COX else TREES

    def replicates(self, source: str, runs: int | None) -> int:
        return super().replicates(source, runs) if source == FOLDS else 1

    def settings(self) -> dict[str, Any]:
        return {"folds": N_FOLDS, "region_seed": REGION_SEED, "models": model_settings(remission_models())}

    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        if unit.source == REGIONS:
            return run_regions(unit.model)
        return run_cox() if unit.source == COX else run_folds(unit, seed)

    def tables(self, results: Results) -> list[Table]:
        comparisons = self.comparisons(results)
        tables = [median_table(results)]
        tables.append(comparison_table(comparisons, "Five-fold scores", "data", spread=FOLD_SPREAD))
        tables.append(all_scores_table(_of_folds(results), "data"))
        return [*tables, *cox_tables(results)]

    def comparisons(self, results: Results) -> list[Comparison]:
        return compare(_of_folds(results), printed_remission_scores(), {FOLDS: (FOLDS,)})

    def frame(self, results: Results) -> pd.DataFrame:
        return comparison_frame(self.comparisons(results))


class RemissionFigure(Study):
    """The regions of the four trees."""

    name = "fig-remission"
    title = "Regions of the trees on the Remission data"
    sources = (REGIONS,)
    models = TREES

    def settings(self) -> dict[str, Any]:
        return {"region_seed": REGION_SEED, "models": model_settings(remission_models())}

    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        return run_regions(unit.model)

    def tables(self, results: Results) -> list[Table]:
        return [median_table(results)]

    def figures(self, results: Results) -> dict[str, Callable[[], Figure]]:
        return {self.name: draw_regions}


# Leaf medians.


class Node(NamedTuple):
    """A node of a tree as it is recorded."""

    way: str  # from the root, l for left and r for right
    n: int
    median: float
    leaf: bool


def run_regions(model: str) -> dict[str, Any]:
    """Return all nodes but the root of a tree on all rows, pruned by either rule."""
    watch = Stopwatch()
    with watch.stage("growing"):
        X, y = load_remission(return_X_y=True)
        trees = {rule: fit_remission_tree(model, rule) for rule in ("bootstrap", "fixed")}
        nodes = {rule: _nodes(tree.tree_, np.asarray(X, dtype=np.float64), y) for rule, tree in trees.items()}
    return {"regions": nodes, "seconds": watch.record()}


def fit_remission_tree(name: str, rule: str = "fixed") -> Any:
    """Return a tree on all rows, pruned by one of the two rules."""
    model = remission_models()[name]
    X, y = load_remission(return_X_y=True)
    if rule == "fixed":
        return model.make(REGION_SEED, pruning=None).fit(X, y).prune(model.fixed_alpha)
    return model.make(REGION_SEED).fit(X, y)


def _nodes(tree: Any, X: np.ndarray, y: np.ndarray) -> list[Node]:
    leaf_of_row = tree.apply(X)
    nodes = []
    for node in range(1, tree.n_nodes):
        rows = np.array([node in tree.path_to(leaf) for leaf in leaf_of_row])
        median = life_table(y["time"][rows], y["event"][rows]).median("mean")
        nodes.append(Node(way_to(tree, node), int(rows.sum()), round(median, 6), bool(tree.left[node] < 0)))
    return sorted(nodes)


def way_to(tree: Any, node: int) -> str:
    """Return the way from the root to a node."""
    path = tree.path_to(node)
    return "".join("l" if tree.left[parent] == child else "r" for parent, child in pairwise(path))


def median_table(results: Results) -> Table:
    """Return the printed leaf medians next to those of our trees under both rules of pruning."""
    regions = [(unit.model, record["regions"]) for unit, record in results.items() if unit.source == REGIONS]
    rows = [row for model, nodes in regions for row in _median_rows(model, nodes)]
    notes = [
        "Median survival time in weeks; where a curve does not reach 1/2, the mean of the observed times. A node is "
        "named by the way to it, l for left. In brackets: the node is there, and is split once more. One row lies on "
        "the surface of the linear tree: 24.25 or 22.22 depends on the side that it goes to.",
    ]
    columns = ["tree", "node", "printed", "fixed pruning", "bootstrap pruning", "rows", "agrees"]
    return Table("medians", "Medians in the leaves", columns, rows, notes, texts=["agrees"])


def _median_rows(model: str, regions: Mapping[str, Sequence[Sequence[Any]]]) -> list[list[str]]:
    printed = printed_medians(model)
    nodes = {rule: {node.way: node for node in (Node(*values) for values in found)} for rule, found in regions.items()}
    leaves = [node.way for found in nodes.values() for node in found.values() if node.leaf]
    rows = []
    for way in sorted({*printed, *leaves}):
        wanted = printed.get(way)
        here = {rule: nodes[rule].get(way) for rule in ("fixed", "bootstrap")}
        n_rows = next((str(node.n) for node in here.values() if node), "-")
        shown = "-" if wanted is None else f"{wanted:g}"
        rows.append([model, way, shown, *map(_median_cell, here.values()), n_rows, _agreement(wanted, here)])
    return rows


def _median_cell(node: Node | None) -> str:
    if node is None:
        return "-"
    return f"{node.median:g}" if node.leaf else f"({node.median:g})"


def _agreement(wanted: float | None, here: Mapping[str, Node | None]) -> str:
    """Say by which rules a printed leaf is one of ours with the same median."""
    if wanted is None:
        return "not printed"
    agree = [rule for rule, node in here.items() if node and node.leaf and math.isclose(node.median, wanted)]
    return "both" if len(agree) == 2 else (agree[0] if agree else "neither")


def draw_regions() -> Figure:
    """Draw the regions of the four trees, pruned at the fixed price that gives the printed medians."""
    X, y = load_remission(return_X_y=True)
    figure = Figure(figsize=(10.5, 10.0), layout="constrained")
    for axis, name in zip(figure.subplots(2, 2).flat, TREES):
        tree = fit_remission_tree(name)
        plot_split_surface(tree, X, y, features=["logWBC", "TR"], ax=axis)
        _name_leaves(axis, tree.tree_)
        axis.set_title(f"{name} tree: ways to the leaves, and their medians")
    return figure


def _name_leaves(axis: Axes, tree: Any) -> None:
    """Call the regions as the paper does, by the way from the root, and write their medians below."""
    names = {
        f"leaf {leaf}": f"{way_to(tree, int(leaf))}\n{table.median('mean'):g}"
        for leaf, table in zip(tree.leaves, tree.tables)
    }
    for text in axis.texts:
        text.set_text(names.get(text.get_text(), text.get_text()))


# Five folds.


def run_folds(unit: Unit, base: int) -> dict[str, Any]:
    """Return the means over the folds of one shuffle."""
    seed = seed_of(FOLDS, unit.replicate, base)
    X, y = load_remission(return_X_y=True, as_frame=False)
    model = remission_models()[unit.model]
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed % 2**31).split(X, y["event"])
    trials = [run_trial(model, Rows(X[train], y[train]), Rows(X[test], y[test]), seed) for train, test in folds]
    return {"seed": seed, **average_trials(trials)}


def _of_folds(results: Results) -> Results:
    return {unit: record for unit, record in results.items() if unit.source == FOLDS}


# The Cox model.


def run_cox() -> dict[str, Any]:
    """Return the Cox model of treatment, white blood cells and their product."""
    watch = Stopwatch()
    with watch.stage("growing"):
        X, y = load_remission(return_X_y=True)
        treatment, log_wbc = X["TR"].to_numpy(float), X["logWBC"].to_numpy(float)
        fit = fit_cox(np.column_stack([treatment, log_wbc, treatment * log_wbc]), y)
    return {
        "coefficients": [round(float(value), 6) for value in fit.coefficients],
        "standard_errors": [round(float(value), 6) for value in fit.standard_errors],
        "seconds": watch.record(),
    }


def cox_tables(results: Results) -> list[Table]:
    """Return the printed coefficients next to ours."""
    record = results.get(Unit(COX, 0, COX))
    if record is None:
        return []
    ours = zip(COX_TERMS, PRINTED_COX, record["coefficients"], record["standard_errors"])
    rows = [[term, number(printed, 3), number(value, 4), number(error, 4)] for term, printed, value, error in ours]
    notes = ["Breslow's rule for ties. No rule gives the printed 1.830; 1.803 with two digits swapped does."]
    return [Table("cox", "Cox model with interaction", ["term", "printed", "ours", "SE"], rows, notes, left=1)]
