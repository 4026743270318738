"""What to try where a tree says nothing, too much to read, or what may be chance."""

from __future__ import annotations

from dipolar import DipoleSurvivalTree, SurvivalTreeCV
from dipolar.cli.estimators import SurvivalTree
from dipolar.cli.leaves import MOST_LEAVES_SHOWN
from dipolar.cli.messages import counted

__all__ = ["advice_on_tree"]

# Of more covariates than this, a split that weighs them all is hard to read.
MOST_TERMS_READ = 4


def advice_on_tree(tree: SurvivalTree, tuned: SurvivalTreeCV | None, n_rows: int) -> str | None:
    """Return what to try, or None where there is nothing to say."""
    if tree.n_leaves_ == 1:
        return f"One leaf: this tree tells no two people apart. {_why_one_leaf(tree, tuned, n_rows)}"
    if tree.n_leaves_ > MOST_LEAVES_SHOWN:
        return "These are more leaves than one can read. Try --max-depth 3, --pruning bootstrap or --tune."
    weak = _weak_splits(tree) if tree.pruning is None and tuned is None else None
    said = [words for words in (weak, _long_splits(tree)) if words]
    return " ".join(said) or None


def _weak_splits(tree: SurvivalTree) -> str | None:
    statistics = tree.tree_.logrank[tree.tree_.is_split]
    n_weak = int((statistics < tree.alpha).sum())
    if not n_weak:
        return None
    have = f"{n_weak} of {counted(len(statistics), 'split')} {'has' if n_weak == 1 else 'have'}"
    return (
        f"{have} a log-rank statistic below {tree.alpha:g}, the price of a split in pruning, and may be chance. "
        "Try --pruning bootstrap or --tune."
    )


def _long_splits(tree: SurvivalTree) -> str | None:
    if not isinstance(tree, DipoleSurvivalTree) or tree.max_terms is not None or tree.n_features_in_ <= MOST_TERMS_READ:
        return None
    return "For shorter questions, try --max-terms 2 or --model univariate."


def _why_one_leaf(tree: SurvivalTree, tuned: SurvivalTreeCV | None, n_rows: int) -> str:
    if tuned is not None:
        return (
            "Of no other candidate do held-out rows show that its risks mean anything. To see splits, leave out --tune."
        )
    if tree.max_depth == 0:
        return "That is what --max-depth 0 asks for."
    if tree.grown_.n_leaves > 1:
        return "No split is worth its price in pruning. Try a lower --alpha; --pruning none shows what was grown."
    needed = max(tree.min_samples_split, 2 * tree.min_samples_leaf)
    if n_rows < needed:
        return f"A node needs {needed} rows to be split (--min-split, --min-leaf), and there are {n_rows}."
    return (
        f"No split that leaves {tree.min_samples_leaf} rows on both sides was found. Try a smaller --min-leaf, "
        "another --model, --kernel or --kappa, or more columns."
    )
