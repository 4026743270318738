"""The figure of tuning: concordance and integrated Brier score over eta on MGUS, and their correlation: `fig-kappa`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.exceptions import FitFailedWarning

from dipolar.metrics import TruncationWarning
from dipolar.plotting import plot_kappa_path
from dipolar.plotting.style import figure_of
from dipolar_reproduction.models import KERNELS, model_settings
from dipolar_reproduction.real import complete_rows, real_models
from dipolar_reproduction.study import Results, Study, Unit, seed_of
from dipolar_reproduction.table import Table, number
from dipolar_reproduction.trial import Stopwatch

DATA = "mgus"
# Four steps further down than the paper's grid, to see where its concordance ends.
ETAS = tuple(float(eta) for eta in np.arange(-8.0, 4.25, 0.5))
SCORES = ("concordance_paper", "concordance", "neg_ibs", "neg_ibs_paper", "neg_ibs_authors")
DRAWN = SCORES[:3]
PRINTED = {"linear": -0.65, "quadratic": -0.86, "gaussian": -0.41}
COLUMNS = ("tree", "printed", "IBS paper", "IBS scripts", "IBS Graf", "paper's grid only", "Harrell's C, IBS Graf")


class KappaFigure(Study):
    """Five-fold scores of the three dipole trees over eta."""

    name = "fig-kappa"
    title = "Tuning on MGUS"
    sources = (DATA,)
    models = tuple(KERNELS)

    def settings(self) -> dict[str, Any]:
        return {"etas": list(ETAS), "scores": list(SCORES), "models": model_settings(real_models())}

    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        watch, own_seed = Stopwatch(), seed_of(DATA, 0, seed)
        search = real_models()[unit.model].make_search(own_seed, ETAS, SCORES)
        with watch.stage("tuning"), warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)
            warnings.simplefilter("ignore", FitFailedWarning)
            table = search.fit(*complete_rows(DATA)).cv_results_
        columns = ["mean_n_leaves", *(f"{part}_test_{name}" for name in SCORES for part in ("mean", "std"))]
        values = {column: [round(float(value), 5) for value in table[column]] for column in columns}
        return {"seed": own_seed, "path": values, "seconds": watch.record()}

    def tables(self, results: Results) -> list[Table]:
        frame = self.frame(results)
        rows = [
            [model, number(PRINTED[model], 2), *_correlations(model, frame[frame["kernel"] == model])]
            for model in dict.fromkeys(frame["kernel"])
        ]
        notes = [
            f"Correlation over eta of the mean concordance and the mean IBS of five folds, eta from {ETAS[0]:g} to "
            f"{ETAS[-1]:g}; the paper's C but in the last column. The paper publishes neither settings nor range.",
        ]
        return [Table("correlation", "Concordance against IBS over eta, MGUS", COLUMNS, rows, notes, left=1)]

    def frame(self, results: Results) -> pd.DataFrame:
        """Return one row per tree and eta, with means and standard deviations of the scores over the folds."""
        paths = [pd.DataFrame({"kernel": u.model, "eta": ETAS, **record["path"]}) for u, record in results.items()]
        return pd.concat(paths, ignore_index=True)

    def figures(self, results: Results) -> dict[str, Callable[[], Figure]]:
        return {self.name: lambda: figure_of(plot_kappa_path(self.frame(results), scores=DRAWN)[0])}


def _correlations(model: str, table: pd.DataFrame) -> list[str]:
    in_grid = table[table["eta"] >= min(real_models()[model].etas)]
    pairs = [
        *((table, "concordance_paper", score) for score in ("neg_ibs_paper", "neg_ibs_authors", "neg_ibs")),
        (in_grid, "concordance_paper", "neg_ibs_paper"),
        (table, "concordance", "neg_ibs"),
    ]
    return [number(_correlation(rows, concordance, brier), 2) for rows, concordance, brier in pairs]


def _correlation(table: pd.DataFrame, concordance: str, negated_brier: str) -> float:
    return -float(np.corrcoef(table[f"mean_test_{concordance}"], table[f"mean_test_{negated_brier}"])[0, 1])
