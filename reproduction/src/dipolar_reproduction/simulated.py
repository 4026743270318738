"""The simulation tables: `sim-p2`, `sim-p4` and `sim-p7`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from dipolar.simulation import simulate
from dipolar_reproduction.comparison import Comparison, compare, comparison_frame, comparison_table, reading_table
from dipolar_reproduction.models import INNER_FOLDS, TREES, TRUTH, Model, model_settings, paper_models
from dipolar_reproduction.printed import printed_simulations
from dipolar_reproduction.score_tables import all_scores_table, threshold_table
from dipolar_reproduction.scores import Rows, score_truth
from dipolar_reproduction.sizes import draw_sizes, size_table
from dipolar_reproduction.study import Results, Study, Unit, seed_of
from dipolar_reproduction.table import Table
from dipolar_reproduction.trial import Stopwatch, run_trial

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

    models = (*TREES, TRUTH)
    default_runs = 1000

    def __init__(self, p: int) -> None:
        self.p = p
        self.name = f"sim-p{p}"
        self.title = f"Simulations with {p} covariates"
        self.sources = tuple(design for designs in DESIGNS[p].values() for design in designs)

    def settings(self) -> dict[str, Any]:
        sizes = {"n_train": N_TRAIN, "n_test": N_TEST, "inner_folds": INNER_FOLDS}
        return {**sizes, "models": model_settings(_trees())}

    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        """Draw the rows of the replicate, the same for all models, and run one of them."""
        # The scripts' designs hide columns of the same rows.
        own_seed = seed_of(unit.source.removesuffix("-scripts"), unit.replicate, seed)
        sample = simulate(unit.source, N_TRAIN + N_TEST, random_state=own_seed)
        train, test = slice(0, N_TRAIN), slice(N_TRAIN, None)
        if unit.model == TRUTH:
            watch = Stopwatch()
            with watch.stage("scoring"):
                truth = score_truth(sample, train, test)
            return {"seed": own_seed, "truth": truth, "seconds": watch.record()}
        seen, unseen = (Rows(sample.X[part], sample.y[part]) for part in (train, test))
        return {"seed": own_seed, **run_trial(_trees()[unit.model], seen, unseen, own_seed)}

    def comparisons(self, results: Results) -> list[Comparison]:
        return compare(results, printed_simulations(self.p), DESIGNS[self.p])

    def tables(self, results: Results) -> list[Table]:
        comparisons = self.comparisons(results)
        return [
            comparison_table(comparisons, "Printed and reproduced", "design"),
            reading_table(comparisons),
            all_scores_table(results, "design"),
            threshold_table(results, "design"),
            size_table(results, "design"),
        ]

    def frame(self, results: Results) -> pd.DataFrame:
        return comparison_frame(self.comparisons(results))

    def figures(self, results: Results) -> dict[str, Callable[[], Figure]]:
        return {f"{self.name}-size": lambda: draw_sizes(results)}


def _trees() -> dict[str, Model]:
    return paper_models(max_rank=MAX_RANK)
