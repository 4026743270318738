"""The figure of tuning: concordance and integrated Brier score over eta on MGUS, and their correlation: `fig-kappa`."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.exceptions import FitFailedWarning

from dipolar.metrics import TruncationWarning
from dipolar.model_selection import DipoleSurvivalTreeCV
from dipolar.studies.models import KERNELS, paper_models
from dipolar.studies.real import MAX_RANK, complete_rows
from dipolar.studies.study import Study
from dipolar.studies.summary import Results
from dipolar.studies.table import Table, number
from dipolar.studies.unit import Unit, seed_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["KappaFigure", "kappa_frame"]

DATA = "mgus"
# Four steps further down than the paper's grid, to see where its concordance ends.
ETAS = tuple(float(eta) for eta in np.arange(-8.0, 4.25, 0.5))
SCORES = ("concordance_paper", "concordance", "neg_ibs", "neg_ibs_paper", "neg_ibs_authors")
PRINTED = {"linear": -0.65, "quadratic": -0.86, "gaussian": -0.41}


class KappaFigure(Study):
    """Five-fold scores of the three dipole trees over eta."""

    name = "fig-kappa"
    title = "Tuning on MGUS"
    needs_figures = True

    @property
    def sources(self) -> tuple[str, ...]:
        return (DATA,)

    def models_of(self, source: str) -> tuple[str, ...]:
        return tuple(KERNELS)

    def settings(self) -> dict[str, Any]:
        models = {name: model.settings() for name, model in paper_models(max_rank=MAX_RANK).items()}
        return {"etas": list(ETAS), "scores": list(SCORES), "models": models}

    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        start = time.perf_counter()
        own_seed = seed_of(DATA, 0, seed)
        model = paper_models(max_rank=MAX_RANK)[unit.model]
        search = DipoleSurvivalTreeCV(
            kernel=KERNELS[unit.model],
            eta=ETAS,
            max_depth=None,
            estimator=model.make(own_seed, pruning="fixed", alpha=model.fixed_alpha),
            scoring=SCORES,
            random_state=own_seed % 2**31,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruncationWarning)
            warnings.simplefilter("ignore", FitFailedWarning)
            table = search.fit(*complete_rows(DATA)).cv_results_
        columns = ["mean_n_leaves", *(f"{part}_test_{name}" for name in SCORES for part in ("mean", "std"))]
        values = {column: [round(float(value), 5) for value in table[column]] for column in columns}
        return {"seed": own_seed, "path": values, "seconds": {"tuning": round(time.perf_counter() - start, 4)}}

    def tables(self, results: Results) -> list[Table]:
        frame = kappa_frame(results)
        rows = [
            [model, number(PRINTED[model], 2), *_correlations(frame[frame["kernel"] == model])]
            for model in dict.fromkeys(frame["kernel"])
        ]
        columns = [
            "tree",
            "printed",
            "IBS paper",
            "IBS scripts",
            "IBS Graf",
            "paper's grid only",
            "Harrell's C, IBS Graf",
        ]
        notes = [
            f"Correlation over eta of the mean concordance and the mean IBS of five folds, eta from {ETAS[0]:g} to "
            f"{ETAS[-1]:g}; the paper's C but in the last column. The paper publishes neither settings nor range.",
        ]
        return [Table("correlation", "Concordance against IBS over eta, MGUS", columns, rows, notes, left=1)]

    def frame(self, results: Results) -> pd.DataFrame:
        return kappa_frame(results)

    def figures(self, results: Results) -> dict[str, Callable[[], Figure]]:
        return {"kappa": lambda: _draw(results)}


def kappa_frame(results: Results) -> pd.DataFrame:
    """Return one row per tree and eta, with means and standard deviations of the scores over the folds."""
    frames = [
        pd.DataFrame({"kernel": unit.model, "eta": ETAS, **record["path"]})
        for unit, record in results.items()
    ]  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def _correlations(table: pd.DataFrame) -> list[str]:
    in_grid = table[table["eta"] >= min(paper_models()[table["kernel"].iloc[0]].etas)]
    pairs = [
        *((table, "concordance_paper", score) for score in ("neg_ibs_paper", "neg_ibs_authors", "neg_ibs")),
        (in_grid, "concordance_paper", "neg_ibs_paper"),
        (table, "concordance", "neg_ibs"),
    ]
    return [number(_correlation(rows, concordance, brier), 2) for rows, concordance, brier in pairs]


def _correlation(table: pd.DataFrame, concordance: str, negated_brier: str) -> float:
    return -float(np.corrcoef(table[f"mean_test_{concordance}"], table[f"mean_test_{negated_brier}"])[0, 1])


def _draw(results: Results) -> Figure:
    from dipolar.studies.drawing.kappa_picture import draw_kappa

    return draw_kappa(kappa_frame(results))
