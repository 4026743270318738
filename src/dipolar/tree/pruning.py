"""Split-complexity pruning: the path of nested trees, and which of its members to take.

A tree is worth G(T) - alpha |S|: the sum of the log-rank statistics of its splits, minus a price for each of
them. As alpha rises, the best subtree shrinks along a path T_0 > T_1 > ... > root that does not depend on the
choice made later.

Glossary
--------
G            sum of log-rank chi-squares over the splits of a tree
|S|          number of splits
alpha_k      the price from which on member k of the path is the best subtree; alpha_0 = 0, the whole tree

References
----------
LeBlanc, M. and Crowley, J. (1993). Survival trees by goodness of split. Journal of the American Statistical
Association 88, 457-467.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from joblib import delayed

from dipolar._core.logrank import two_sample_logrank
from dipolar._core.pruning import cut_weakest_links
from dipolar.curves import ROUNDING_OF_SUMS
from dipolar.parallel import run_tasks
from dipolar.records import Record, index, reals, wholes
from dipolar.resampling import draw_with_replacement, draw_without_replacement
from dipolar.rows import TrainingRows
from dipolar.survival import Survival
from dipolar.tree.growing import Splitter, grow_on
from dipolar.tree.limits import GrowthLimits
from dipolar.tree.record import Tree

__all__ = [
    "PRUNING_RULES",
    "PruningPath",
    "PruningRule",
    "bootstrap_statistics",
    "choose_member",
    "pruning_path",
    "split_statistics",
]

PRUNING_RULES = (None, "fixed", "validation", "bootstrap", "leblanc-crowley")

# Of what trees on resamples are too optimistic by, the share that counts. A resample doubles the noise of a statistic
# that a cut is chosen by: where noise is all there is, with m its expected maximum, a tree is too optimistic by m - 1,
# and one on a resample, judged on the rows that were resampled, by 3/2 m - 1/2.
SHARE_OF_RESAMPLES = 2 / 3

COUNTS = wholes("members", low=0, high=np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class PruningPath(Record):
    """The nested trees of weakest-link pruning, from the whole tree (member 0) to the root (the last one)."""

    alphas: Annotated[np.ndarray, reals("members", low=0)]  # k is best for alphas[k] <= alpha < alphas[k + 1]
    n_leaves: Annotated[np.ndarray, COUNTS]
    n_splits: Annotated[np.ndarray, COUNTS]
    statistics: Annotated[np.ndarray, reals("members", low=0)]  # G on the rows that grew the tree
    # G on held-out rows or corrected by bootstrap; NaN without either.
    honest_statistics: Annotated[np.ndarray, reals("members", may_be_missing=True)]
    removed_at: Annotated[np.ndarray, index("nodes", into="members")]  # the first member in which a node is not split

    def __len__(self) -> int:
        return len(self.alphas)

    def member_at(self, alpha: float) -> int:
        """Return the smallest member that maximises G - alpha |S|."""
        return int(np.searchsorted(self.alphas, alpha, side="right")) - 1

    def splits_of(self, member: int) -> np.ndarray:
        """Return which nodes of the whole tree are still split in a member."""
        return self.removed_at > member

    def totals(self, values: np.ndarray) -> np.ndarray:
        """Return, for every member, the sum over its splits of one value per node."""
        splits = self.removed_at > 0
        lost = np.bincount(self.removed_at[splits], weights=values[splits], minlength=len(self) + 1)
        return np.cumsum(lost[::-1])[::-1][1 : len(self) + 1]

    def with_honest(self, statistics: np.ndarray) -> PruningPath:
        """Return the path with the statistics by which a member is chosen."""
        return replace(self, honest_statistics=statistics)

    def check(self, tree: Tree) -> None:
        """Raise ValueError unless this can be a pruning path of the tree (used on files)."""
        self.check_arrays(nodes=tree.n_nodes)
        if self.alphas[0] != 0 or (self.alphas[1:] < self.alphas[:-1]).any():
            raise ValueError("the prices of the pruning path do not ascend from 0")
        if not np.array_equal(self.removed_at > 0, tree.is_split):
            raise ValueError("the pruning path belongs to another tree")
        if (self.removed_at[1:] > self.removed_at[tree.parent[1:]]).any():
            raise ValueError("the members of the pruning path are not nested")
        n_splits, statistics = self.totals(np.ones(tree.n_nodes)), self.totals(tree.logrank)
        counts_fit = np.array_equal(self.n_splits, n_splits) and np.array_equal(self.n_leaves, n_splits + 1)
        if not counts_fit or (np.abs(self.statistics - statistics) > ROUNDING_OF_SUMS * statistics[0]).any():
            raise ValueError("sizes or statistics of the pruning path are not those of its members")
        if np.isnan(self.honest_statistics).any() and not np.isnan(self.honest_statistics).all():
            raise ValueError("some members of the pruning path have honest statistics and some have not")


@dataclass(frozen=True)
class PruningRule:
    """How a member of the path is chosen."""

    kind: str | None  # one of PRUNING_RULES
    alpha: float = 4.0
    n_bootstraps: int = 25
    validation_fraction: float = 0.3
    n_jobs: int | None = None

    def hold_out(self, weight: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return with which weight each row grows the tree, and with which it only judges it."""
        if self.kind != "validation":
            return weight, np.zeros(len(weight))
        held = draw_without_replacement(weight, self.validation_fraction, rng)
        if (held == weight).all():
            raise ValueError(
                f"validation_fraction={self.validation_fraction} of {weight.sum():g} rows leaves none to grow the "
                "tree. Use more rows, or another pruning rule such as pruning='fixed'."
            )
        return weight - held, held

    def assess(
        self,
        grown: Tree,
        splitter: Splitter,
        limits: GrowthLimits,
        rows: TrainingRows,
        held_out: np.ndarray,
        rng: np.random.Generator,
        progress: Callable[[int, int], None] | None = None,
    ) -> PruningPath:
        """Return the path of a grown tree, with honest statistics where the rule needs them.

        `held_out` is the weight with which rows count under the validation rule.
        """
        path = pruning_path(grown)
        if self.kind == "validation":
            chosen = np.flatnonzero(held_out)
            on_held_out = split_statistics(grown, rows.X[chosen], rows.survival.take(chosen), held_out[chosen])
            return path.with_honest(path.totals(on_held_out))
        if self.kind in ("bootstrap", "leblanc-crowley"):
            honest = bootstrap_statistics(
                path, splitter, limits, rows, self.n_bootstraps, rng, self.n_jobs, progress,
                as_published=self.kind == "leblanc-crowley",
            )  # fmt: skip
            return path.with_honest(honest)
        return path

    def choose(self, path: PruningPath) -> int:
        """Return the member to take."""
        if self.kind is None:
            return 0
        if self.kind == "fixed":
            return path.member_at(self.alpha)
        return choose_member(path, self.alpha)


def pruning_path(tree: Tree) -> PruningPath:
    """Cut the weakest link of a tree again and again.

    The link of node h is as strong as the mean statistic of its branch, g(h) = G(T_h) / |S_h|. Links that are
    equally weak are cut together, so that the alphas ascend strictly.
    """
    n = tree.n_nodes
    n_slots = 1 << max(1, (n - 1).bit_length())
    removed_at, alphas = np.empty(n, dtype=np.int32), np.empty(n + 1)
    branch_size, stack = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    n_steps = cut_weakest_links(
        tree.left.astype(np.int64), tree.parent.astype(np.int64), tree.logrank, n_slots,
        np.empty(n), branch_size, stack,
        np.empty(2 * n_slots), removed_at, alphas,
    )  # fmt: skip
    unknown = np.full(n_steps + 1, np.nan)
    path = PruningPath(alphas[: n_steps + 1].copy(), unknown, unknown, unknown, unknown, removed_at)
    n_splits = path.totals(np.ones(n)).astype(np.int64)
    return PruningPath(path.alphas, n_splits + 1, n_splits, path.totals(tree.logrank), unknown, removed_at)


def choose_member(path: PruningPath, alpha: float) -> int:
    """Return the member that maximises the honest G - alpha |S|; the smallest of equals."""
    worth = path.honest_statistics - alpha * path.n_splits
    return len(worth) - 1 - int(np.argmax(worth[::-1]))


def split_statistics(tree: Tree, X: np.ndarray, survival: Survival, weight: np.ndarray) -> np.ndarray:
    """Return the log-rank statistic of every split on new rows that are sent down the tree; 0 in leaves."""
    statistics = np.zeros(tree.n_nodes)
    # Rows sorted by time once stay sorted in every branch.
    pending = [(0, np.argsort(survival.time, kind="stable"))]
    while pending:
        node, rows = pending.pop()
        if tree.left[node] < 0 or len(rows) < 2:
            continue
        goes_left = tree.splits.rows_go_left(X, rows, node)
        statistics[node] = two_sample_logrank(
            survival.time[rows], survival.event[rows], weight[rows], goes_left
        )  # fmt: skip
        pending.append((tree.left[node] + 1, rows[~goes_left]))
        pending.append((tree.left[node], rows[goes_left]))
    return statistics


def bootstrap_statistics(
    path: PruningPath,
    splitter: Splitter,
    limits: GrowthLimits,
    rows: TrainingRows,
    n_bootstraps: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    *,
    as_published: bool = False,
) -> np.ndarray:
    """Return G of every member minus its optimism, from what trees on resamples gain by being fitted.

    The gain of a subtree of such a tree is its G on the resample minus its G on the original rows. The optimism of a
    member is two thirds of the mean gain of subtrees with as many splits.

    `as_published` takes the whole gain of the subtree that is best at the same price instead: member k stands for the
    prices around alpha'_k = sqrt(alpha_k alpha_{k+1}) (LeBlanc and Crowley 1993). At one price the subtrees of
    resamples have more splits than the member.

    Each resample has its own generator, so that the result does not depend on `n_jobs`.
    """
    compare = _at_prices if as_published else _at_sizes
    points = np.append(np.sqrt(path.alphas[:-1] * path.alphas[1:]), np.inf) if as_published else path.n_splits
    tasks = [delayed(_optimism)(splitter, limits, rows, compare, points, child) for child in rng.spawn(n_bootstraps)]
    total = np.zeros(len(path))
    # Threads: the work is in compiled code that releases the interpreter, and none outlives an interrupt.
    for done, optimism in enumerate(run_tasks(tasks, n_jobs, prefer="threads"), start=1):
        total += optimism
        if progress is not None:
            progress(done, n_bootstraps)
    return path.statistics - total / n_bootstraps


def _optimism(
    splitter: Splitter,
    limits: GrowthLimits,
    rows: TrainingRows,
    compare: Callable[[PruningPath, np.ndarray, np.ndarray], np.ndarray],
    points: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    counts = draw_with_replacement(rows.weight, 1.0, rng)
    tree, _ = grow_on(rows.take(np.flatnonzero(counts), counts), splitter, limits, rng)
    path = pruning_path(tree)
    on_all = split_statistics(tree, rows.X, rows.survival, rows.weight)
    gap = path.totals(tree.logrank) - path.totals(on_all)
    return compare(path, gap, points)


def _at_prices(path: PruningPath, gain: np.ndarray, prices: np.ndarray) -> np.ndarray:
    return gain[[path.member_at(price) for price in prices]]


def _at_sizes(path: PruningPath, gain: np.ndarray, n_splits: np.ndarray) -> np.ndarray:
    """Return two thirds of the gain of subtrees with so many splits, between members and beyond the largest in line."""
    sizes = path.n_splits[::-1]
    found = np.interp(n_splits, sizes, gain[::-1])
    beyond = n_splits > sizes[-1]
    found[beyond] *= n_splits[beyond] / max(sizes[-1], 1)
    return SHARE_OF_RESAMPLES * found
