"""The simulation tables: `sim-p2`, `sim-p4` and `sim-p7`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from dipolar.simulation import simulate
from dipolar.studies.comparison import Comparison, compare, comparison_table, long_frame, reading_table
from dipolar.studies.models import TREES, TRUTH, Model, paper_models
from dipolar.studies.oracle import score_truth
from dipolar.studies.printed import printed_simulations
from dipolar.studies.score_tables import all_scores_table, threshold_table
from dipolar.studies.scores import Rows
from dipolar.studies.sizes import size_frame, size_table
from dipolar.studies.study import Study
from dipolar.studies.summary import Results, summarise, trial_frame, value_columns
from dipolar.studies.table import Table
from dipolar.studies.trial import INNER_FOLDS, run_trial
from dipolar.studies.unit import Unit, seed_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SimulationStudy"]

N_TRAIN = N_TEST = 250

# Gaussian kernels of seven covariates have full rank on 250 rows; the factor is cut off here, which leaves out a few
# percent of their trace (and next to nothing with fewer covariates).
MAX_RANK = 100

# What stands for each printed hazard. The settings of the Weibull row are known in two blocks, one of them in two
# readings; of the ellipses the authors' scripts show a model the first covariates only.
DESIGNS = {
    2: {
        "Pla": ("planar-2",),
        "Par": ("parabola-2",),
        "Ell": ("ellipse-2",),
        "Wbl": ("weibull-planar-2", "weibull-ellipse-2", "weibull-ellipse-2-text"),
    },
    4: {"Pla": ("planar-4",), "Ell": ("ellipse-4", "ellipse-4-scripts")},
    7: {"Pla": ("planar-7",), "Ell": ("ellipse-7", "ellipse-7-scripts")},
}


class SimulationStudy(Study):
    """One simulation table: four trees, tuned and pruned on 250 rows of a design and scored on 250 others."""

    default_runs = 1000

    def __init__(self, p: int) -> None:
        self.p = p
        self.name = f"sim-p{p}"
        self.title = f"Simulations with {p} covariates"

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(design for designs in DESIGNS[self.p].values() for design in designs)

    def models_of(self, source: str) -> tuple[str, ...]:
        return (*TREES, TRUTH)

    def settings(self) -> dict[str, Any]:
        models = {name: model.settings() for name, model in self._trees().items()}
        return {"n_train": N_TRAIN, "n_test": N_TEST, "inner_folds": INNER_FOLDS, "models": models}

    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        """Draw the rows of the replicate, the same for all models, and run one of them."""
        # The scripts' designs hide columns of the same rows.
        own_seed = seed_of(unit.source.removesuffix("-scripts"), unit.replicate, seed)
        sample = simulate(unit.source, N_TRAIN + N_TEST, random_state=own_seed)
        train, test = slice(0, N_TRAIN), slice(N_TRAIN, None)
        if unit.model == TRUTH:
            return {"seed": own_seed, **score_truth(sample, train, test)}
        seen, unseen = (Rows(sample.X[part], sample.y[part]) for part in (train, test))
        return {"seed": own_seed, **run_trial(self._trees()[unit.model], seen, unseen, own_seed)}

    def comparisons(self, results: Results) -> list[Comparison]:
        """Return the printed numbers with ours."""
        summary = summarise(trial_frame(results), value_columns())
        return compare(summary, printed_simulations(self.p), DESIGNS[self.p])

    def tables(self, results: Results) -> list[Table]:
        return [
            comparison_table(self.comparisons(results), "Printed and reproduced", "design"),
            reading_table(self.comparisons(results)),
            all_scores_table(results, "design"),
            threshold_table(results, "design"),
            size_table(results, "design"),
        ]

    def frame(self, results: Results) -> pd.DataFrame:
        return long_frame(self.comparisons(results))

    def figures(self, results: Results) -> dict[str, Callable[[], Figure]]:
        return {"size": lambda: _draw_sizes(results)}

    def _trees(self) -> dict[str, Model]:
        return paper_models(max_rank=MAX_RANK)


def _draw_sizes(results: Results) -> Figure:
    from dipolar.studies.drawing.size_picture import draw_sizes

    return draw_sizes(size_frame(results), results)
