"""All scores of all trees side by side, the truth below them, and sizes at several prices of a split."""

from __future__ import annotations

from dipolar_reproduction.models import TRUTH
from dipolar_reproduction.scores import SCORES, TEST_SCORES
from dipolar_reproduction.study import Results
from dipolar_reproduction.summary import means, trial_frame, truth_frame
from dipolar_reproduction.table import Table, number
from dipolar_reproduction.trial import THRESHOLDS

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
PRUNED = ("bootstrap", "fixed")


def all_scores_table(results: Results, source_name: str) -> Table:
    """Return the means of every score, for the tree pruned by either rule, and of the true model."""
    trials, truths = trial_frame(results), truth_frame(results)
    trees = means(trials, [f"{rule}.{name}" for rule in PRUNED for name in ("nodes", *SCORES)])
    true_means = means(truths, TEST_SCORES)
    rows = []
    for source in dict.fromkeys([*trials["source"], *truths["source"]]):
        rows += [
            [source, model, rule, number(tree[f"{rule}.nodes"], 2), *(number(tree[f"{rule}.{s}"], 3) for s in SCORES)]
            for (_, model), tree in trees[trees.index.get_level_values("source") == source].iterrows()
            for rule in PRUNED
        ]
        if (source, TRUTH) in true_means.index:
            truth = [number(value, 3) for value in true_means.loc[(source, TRUTH)]]
            rows.append([source, "true hazard", "", "", *truth, *[""] * (len(SCORES) - len(TEST_SCORES))])
    notes = [
        "Means. C and the first three IBS are of the test rows, the last three of the rows that the tree was grown on. "
        "The paper's C leaves pairs with equal predictions out, Harrell's counts them 1/2.",
    ]
    columns = [source_name, "tree", "pruning", "nodes", *HEADINGS.values()]
    return Table("scores", "All scores", columns, rows, notes, left=3, in_terminal=False)


def threshold_table(results: Results, source_name: str) -> Table:
    """Return the mean sizes of trees pruned at several fixed prices of a split."""
    columns = ["grown.nodes", *(f"nodes_at_{price:g}" for price in THRESHOLDS), "bootstrap.nodes", "eta"]
    sizes = means(trial_frame(results), columns)
    rows = [[*names, *(number(value, 2) for value in values)] for names, values in sizes.iterrows()]
    headings = ["unpruned", *(f"price {price:g}" for price in THRESHOLDS), "bootstrap at 2.8", "mean eta"]
    notes = ["Mean number of nodes. A price is on the scale of a log-rank chi-square."]
    title = "Sizes by the price of a split"
    return Table("sizes", title, [source_name, "tree", *headings], rows, notes, in_terminal=False)
