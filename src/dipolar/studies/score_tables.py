"""All scores of all trees side by side, the truth below them, and sizes at several prices of a split."""

from __future__ import annotations

import pandas as pd

from dipolar.studies.models import TRUTH
from dipolar.studies.scores import SCORES
from dipolar.studies.summary import Results, summarise, trial_frame, truth_frame
from dipolar.studies.table import Table, number
from dipolar.studies.trial import THRESHOLDS

__all__ = ["all_scores_table", "threshold_table"]

HEADINGS = {
    "c_paper": "paper's C",
    "c_harrell": "Harrell's C",
    "ibs_graf": "IBS Graf",
    "ibs_paper": "IBS paper",
    "ibs_authors": "IBS scripts",
    "train_ibs_graf": "training: Graf",
    "train_ibs_paper": "paper",
    "train_ibs_authors": "scripts",
}


def all_scores_table(results: Results, source_name: str) -> Table:
    """Return the means of every score, for the tree pruned by either rule, and of the true model."""
    trials, truths = trial_frame(results), truth_frame(results)
    means = _means(trials, [f"{rule}.{name}" for rule in ("bootstrap", "fixed") for name in ("nodes", *SCORES)])
    true_means = _means(truths, SCORES[:5])
    rows = []
    for source in dict.fromkeys([*trials["source"], *truths["source"]]):
        rows += [
            [
                source,
                model,
                rule,
                number(values[f"{rule}.nodes"], 2),
                *(number(values[f"{rule}.{s}"], 3) for s in SCORES),
            ]
            for (_, model), values in means[means.index.get_level_values("source") == source].iterrows()
            for rule in ("bootstrap", "fixed")
        ]
        if (source, TRUTH) in true_means.index:
            values = true_means.loc[(source, TRUTH)]
            rows.append([source, "true hazard", "", "", *(number(values[s], 3) for s in SCORES[:5]), "", "", ""])
    notes = [
        "Means. C and the first three IBS are of the test rows, the last three of the rows that the tree was grown on. "
        "The paper's C leaves pairs with equal predictions out, Harrell's counts them 1/2.",
    ]
    columns = [source_name, "tree", "pruning", "nodes", *HEADINGS.values()]
    return Table("scores", "All scores", columns, rows, notes, left=3, in_terminal=False)


def threshold_table(results: Results, source_name: str) -> Table:
    """Return the mean sizes of trees pruned at several fixed prices of a split."""
    trials = trial_frame(results)
    columns = [f"nodes_at_{price:g}" for price in THRESHOLDS]
    means = _means(trials, ["grown.nodes", *columns, "bootstrap.nodes", "eta"])
    rows = [
        [source, model, *(number(value, 2) for value in values)]
        for (source, model), values in means.iterrows()
    ]  # fmt: skip
    headings = ["unpruned", *(f"price {price:g}" for price in THRESHOLDS), "bootstrap at 2.8", "mean eta"]
    notes = ["Mean number of nodes. A price is on the scale of a log-rank chi-square."]
    title = "Sizes by the price of a split"
    return Table("sizes", title, [source_name, "tree", *headings], rows, notes, in_terminal=False)


def _means(frame: pd.DataFrame, columns: list[str] | tuple[str, ...]) -> pd.DataFrame:
    return summarise(frame, columns).xs("mean", axis=1, level=1)
