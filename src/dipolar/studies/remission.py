"""The Remission data: four trees and their leaf medians, five-fold scores, a Cox model, and the figure of the trees."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from dipolar.curves import life_table
from dipolar.datasets import load_remission
from dipolar.studies.comparison import Comparison, compare, comparison_table, long_frame
from dipolar.studies.cox import fit_cox
from dipolar.studies.models import TREES, Model, paper_models
from dipolar.studies.printed import printed_medians, printed_remission_scores
from dipolar.studies.score_tables import all_scores_table
from dipolar.studies.scores import Rows
from dipolar.studies.study import Study
from dipolar.studies.summary import Results, summarise, trial_frame, value_columns
from dipolar.studies.table import Table, number
from dipolar.studies.trial import average_trials, run_trial
from dipolar.studies.unit import Unit, seed_of
from dipolar.tree.record import Tree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["RemissionFigure", "RemissionStudy", "fit_remission_tree", "remission_models", "way_to"]

REGIONS, FOLDS, COX = "regions", "folds", "cox"
N_FOLDS = 5
COX_TERMS = ("TR", "logWBC", "TR x logWBC")
PRINTED_COX = (2.356, 1.830, -0.342)
# The trees of the regions prune by the bootstrap too, with this seed.
REGION_SEED = 0


def remission_models() -> dict[str, Model]:
    """Return the four trees with the settings of the Remission figure."""
    svm: dict[str, Any] = {
        "kappa": math.exp(3),
        "pure_quantile": 0.15,
        "mixed_quantile": 0.55,
        "margin_quantile": 0.10,
        "sigma2": 1.0,
    }
    return paper_models(alpha=2.2, min_samples_split=11, **svm)


def fit_remission_tree(name: str, rule: str = "fixed") -> Any:
    """Return a tree on all rows, pruned by one of the two rules."""
    model = remission_models()[name]
    X, y = load_remission(return_X_y=True)
    if rule == "fixed":
        return model.make(REGION_SEED, pruning=None).fit(X, y).prune(model.fixed_alpha)
    return model.make(REGION_SEED).fit(X, y)


class RemissionStudy(Study):
    """Leaf medians, cross-validated scores over many shuffles into folds, and the Cox model."""

    name = "remission"
    title = "Remission data"
    default_runs = 100

    @property
    def sources(self) -> tuple[str, ...]:
        return REGIONS, COX, FOLDS

    def models_of(self, source: str) -> tuple[str, ...]:
        return (COX,) if source == COX else TREES

    def replicates(self, source: str, runs: int | None) -> int:
        return super().replicates(source, runs) if source == FOLDS else 1

    def settings(self) -> dict[str, Any]:
        models = {name: model.settings() for name, model in remission_models().items()}
        return {"folds": N_FOLDS, "region_seed": REGION_SEED, "models": models}

    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        if unit.source == REGIONS:
            return _run_regions(unit.model)
        if unit.source == COX:
            return _run_cox()
        return _run_folds(unit, seed_of(FOLDS, unit.replicate, seed))

    def tables(self, results: Results) -> list[Table]:
        folds = {unit: record for unit, record in results.items() if unit.source == FOLDS}
        tables = [median_table(results), _fold_table(self.comparisons(folds)), all_scores_table(folds, "data")]
        return [*tables, *_cox_tables(results)]

    def frame(self, results: Results) -> pd.DataFrame:
        return long_frame(self.comparisons(results))

    def comparisons(self, results: Results) -> list[Comparison]:
        """Return the printed five-fold scores with ours."""
        folds = {unit: record for unit, record in results.items() if unit.source == FOLDS}
        summary = summarise(trial_frame(folds), value_columns())
        return compare(summary, printed_remission_scores(), {FOLDS: (FOLDS,)})


class RemissionFigure(Study):
    """The regions of the four trees."""

    name = "fig-remission"
    title = "Regions of the trees on the Remission data"
    needs_figures = True

    @property
    def sources(self) -> tuple[str, ...]:
        return (REGIONS,)

    def models_of(self, source: str) -> tuple[str, ...]:
        return TREES

    def settings(self) -> dict[str, Any]:
        models = {name: model.settings() for name, model in remission_models().items()}
        return {"region_seed": REGION_SEED, "models": models}

    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        return _run_regions(unit.model)

    def tables(self, results: Results) -> list[Table]:
        return [median_table(results)]

    def figures(self, results: Results) -> dict[str, Callable[[], Figure]]:
        return {"regions": _draw_regions}


def _draw_regions() -> Figure:
    from dipolar.studies.drawing.region_picture import draw_regions

    return draw_regions()


# Leaf medians.


def _run_regions(model: str) -> dict[str, Any]:
    start = time.perf_counter()
    X, y = load_remission(return_X_y=True)
    trees = {rule: fit_remission_tree(model, rule) for rule in ("bootstrap", "fixed")}
    nodes = {rule: _node_medians(tree.tree_, np.asarray(X, dtype=np.float64), y) for rule, tree in trees.items()}
    return {"regions": nodes, "seconds": {"growing": round(time.perf_counter() - start, 4)}}


def _node_medians(tree: Tree, X: np.ndarray, y: np.ndarray) -> list[list[Any]]:
    """Return way from the root (l, r), number of rows, median, and whether it is a leaf, of every node but the root."""
    leaf_of_row = tree.apply(X)
    nodes = []
    for node in range(1, tree.n_nodes):
        rows = np.array([node in tree.path_to(leaf) for leaf in leaf_of_row])
        median = life_table(y["time"][rows], y["event"][rows]).median("mean")
        nodes.append([way_to(tree, node), int(rows.sum()), round(median, 6), bool(tree.left[node] < 0)])
    return sorted(nodes)


def way_to(tree: Tree, node: int) -> str:
    """Return the way from the root to a node, l for left and r for right."""
    path = tree.path_to(node)
    return "".join("l" if tree.left[parent] == child else "r" for parent, child in pairwise(path))


def median_table(results: Results) -> Table:
    """Return the printed leaf medians next to those of our trees under both rules of pruning."""
    rows = []
    for unit, record in results.items():
        if unit.source == REGIONS:
            rows += _median_rows(unit.model, record["regions"])
    notes = [
        "Median survival time in weeks; where a curve does not reach 1/2, the mean of the observed times. A node is "
        "named by the way to it, l for left. In brackets: the node is there, and is split once more. One row lies on "
        "the surface of the linear tree: 24.25 or 22.22 depends on the side that it goes to.",
    ]
    columns = ["tree", "node", "printed", "fixed pruning", "bootstrap pruning", "rows", "agrees"]
    title = "Medians in the leaves"
    return Table("medians", title, columns, rows, notes, texts=frozenset(["agrees"]))


def _median_rows(model: str, regions: Mapping[str, Sequence[Sequence[Any]]]) -> list[list[str]]:
    printed = printed_medians(model)
    nodes = {rule: {way: (n, median, leaf) for way, n, median, leaf in found} for rule, found in regions.items()}
    leaves = [way for found in nodes.values() for way, (_, _, leaf) in found.items() if leaf]
    rows = []
    for way in sorted({*printed, *leaves}):
        fixed, bootstrap = (nodes[rule].get(way) for rule in ("fixed", "bootstrap"))
        present = fixed or bootstrap
        wanted = printed.get(way)
        rows.append(
            [
                model,
                way,
                "-" if wanted is None else f"{wanted:g}",
                _median_cell(fixed),
                _median_cell(bootstrap),
                "-" if present is None else str(present[0]),
                _agreement(wanted, fixed, bootstrap),
            ]
        )
    return rows


def _median_cell(node: tuple[int, float, bool] | None) -> str:
    if node is None:
        return "-"
    return f"{node[1]:g}" if node[2] else f"({node[1]:g})"


def _agreement(
    wanted: float | None, fixed: tuple[int, float, bool] | None, bootstrap: tuple[int, float, bool] | None
) -> str:
    """Say by which rules a printed leaf is one of ours with the same median."""
    if wanted is None:
        return "not printed"
    agree = [
        name
        for name, node in (("fixed", fixed), ("bootstrap", bootstrap))
        if node is not None and node[2] and math.isclose(node[1], wanted)
    ]
    return "both" if len(agree) == 2 else (agree[0] if agree else "neither")


# Five folds.


def _run_folds(unit: Unit, seed: int) -> dict[str, Any]:
    X, y = load_remission(return_X_y=True, as_frame=False)
    model = remission_models()[unit.model]
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed % 2**31).split(X, y["event"])
    trials = [run_trial(model, Rows(X[train], y[train]), Rows(X[test], y[test]), seed) for train, test in folds]
    return {"seed": seed, **average_trials(trials)}


def _fold_table(comparisons: list[Comparison]) -> Table:
    return comparison_table(
        comparisons, "Five-fold scores", "data", spread="standard deviations over our shuffles, since none are printed"
    )


# The Cox model.


def _run_cox() -> dict[str, Any]:
    start = time.perf_counter()
    X, y = load_remission(return_X_y=True)
    treatment, log_wbc = X["TR"].to_numpy(float), X["logWBC"].to_numpy(float)
    fit = fit_cox(np.column_stack([treatment, log_wbc, treatment * log_wbc]), y)
    return {
        "coefficients": [round(float(value), 6) for value in fit.coefficients],
        "standard_errors": [round(float(value), 6) for value in fit.standard_errors],
        "seconds": {"growing": round(time.perf_counter() - start, 4)},
    }


def _cox_tables(results: Results) -> list[Table]:
    record = results.get(Unit(COX, 0, COX))
    if record is None:
        return []
    rows = [
        [term, number(printed, 3), number(value, 4), number(error, 4)]
        for term, printed, value, error in zip(
            COX_TERMS, PRINTED_COX, record["coefficients"], record["standard_errors"]
        )
    ]
    notes = ["Breslow's rule for ties. No rule gives the printed 1.830; 1.803 with two digits swapped does."]
    return [Table("cox", "Cox model with interaction", ["term", "printed", "ours", "SE"], rows, notes, left=1)]
