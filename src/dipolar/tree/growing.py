"""Growing: ask the splitter for one node after the other, without recursion, and freeze what came out."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dipolar.curves import tabulate
from dipolar.survival import Survival
from dipolar.tree.record import NODE_FIELDS, Tree
from dipolar.tree.splitter import GrowthLimits, NodeRows, Split, Splitter

__all__ = ["grow_tree"]

# Fractional weights that are summed in another order may miss a limit by this much.
ROUNDING = 1e-9


@dataclass
class _Nodes:
    """The growing tree: one list per field of the record, and what only growing needs."""

    left: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    n_samples: list[float] = field(default_factory=list)
    n_events: list[float] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)
    logrank: list[float] = field(default_factory=list)
    cut: list[Any] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    stop: list[int] = field(default_factory=list)

    def add(self, parent: int, start: int, stop: int, n_samples: float, n_events: float) -> int:
        """Append a leaf that owns rows start to stop; return its number."""
        self.left.append(-1)
        self.parent.append(parent)
        self.depth.append(0 if parent < 0 else self.depth[parent] + 1)
        self.n_samples.append(n_samples)
        self.n_events.append(n_events)
        self.gain.append(0.0)
        self.logrank.append(0.0)
        self.cut.append(None)
        self.start.append(start)
        self.stop.append(stop)
        return len(self.left) - 1


class _Frontier:
    """Leaves that can be split: the last one made comes first, or the one with the largest gain."""

    def __init__(self, best_first: bool) -> None:
        self._best_first = best_first
        self._items: list[tuple[float, int, Split]] = []

    def __len__(self) -> int:
        return len(self._items)

    def push(self, node: int, split: Split) -> None:
        if self._best_first:
            # Node numbers are unique, so that two splits are never compared.
            heapq.heappush(self._items, (-split.gain, node, split))
        else:
            self._items.append((0.0, node, split))

    def pop(self) -> tuple[int, Split]:
        _, node, split = heapq.heappop(self._items) if self._best_first else self._items.pop()
        return node, split


class _Grower:
    """One tree in the making.

    `order` holds every training row once, and a node owns one slice of it:

        before   . . | a b c d e f | . .       goes_left = [1 0 0 1 0 1]
        after    . . | a d f|b c e | . .

    The order inside each child is kept, so that one seed gives one tree.
    """

    def __init__(
        self, X: np.ndarray, survival: Survival, weight: np.ndarray, splitter: Splitter, limits: GrowthLimits,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self.survival, self.weight = survival, weight
        self.event_weight = weight * survival.event
        self.splitter, self.limits, self.rng = splitter, limits, rng
        self.order = np.arange(len(weight))
        self.nodes = _Nodes()
        self.frontier = _Frontier(best_first=np.isfinite(limits.max_leaf_nodes))
        splitter.begin(X, survival, weight, limits, rng)
        root = self.nodes.add(-1, 0, len(weight), float(weight.sum()), float(self.event_weight.sum()))
        self.consider(root)

    def rows_of(self, node: int) -> NodeRows:
        start, stop = self.nodes.start[node], self.nodes.stop[node]
        return NodeRows(start, stop, self.order[start:stop], self.nodes.depth[node])

    def consider(self, node: int) -> None:
        """Put a leaf on the frontier if the limits allow a split and the splitter finds one."""
        if not self.may_split(node):
            return
        split = self.splitter.find(self.rows_of(node), self.rng)
        if split is not None and split.logrank >= self.limits.min_logrank and self.children_allowed(node, split):
            self.frontier.push(node, split)

    def may_split(self, node: int) -> bool:
        limits, nodes = self.limits, self.nodes
        return (
            nodes.depth[node] < limits.max_depth
            and nodes.n_samples[node] >= max(limits.min_samples_split, 2 * limits.min_samples_leaf)
            and nodes.n_events[node] >= 2 * limits.min_events_leaf
            and nodes.n_events[node] > 0
            and nodes.stop[node] - nodes.start[node] > 1
        )

    def children_allowed(self, node: int, split: Split) -> bool:
        """Tell whether both children are large enough, for splitters that do not look at the limits."""
        n_left, events_left = self.left_sums(node, split)
        smaller = min(n_left, self.nodes.n_samples[node] - n_left)
        fewer = min(events_left, self.nodes.n_events[node] - events_left)
        slack = 1.0 - ROUNDING
        return smaller >= slack * self.limits.min_samples_leaf and fewer >= slack * self.limits.min_events_leaf

    def left_sums(self, node: int, split: Split) -> tuple[float, float]:
        rows = self.order[self.nodes.start[node] : self.nodes.stop[node]][split.goes_left]
        return float(self.weight[rows].sum()), float(self.event_weight[rows].sum())

    def divide(self, node: int, split: Split) -> None:
        """Carry a split out: partition the rows, make both children, and consider them."""
        nodes = self.nodes
        here = self.rows_of(node)
        self.splitter.descend(here, split)
        n_left, events_left = self.left_sums(node, split)
        left_rows, right_rows = here.rows[split.goes_left], here.rows[~split.goes_left]
        middle = here.start + len(left_rows)
        self.order[here.start : middle] = left_rows
        self.order[middle : here.stop] = right_rows

        nodes.cut[node], nodes.gain[node], nodes.logrank[node] = split.cut, split.gain, split.logrank
        left = nodes.add(node, here.start, middle, n_left, events_left)
        right = nodes.add(
            node, middle, here.stop, nodes.n_samples[node] - n_left, nodes.n_events[node] - events_left
        )  # fmt: skip
        nodes.left[node] = left
        # The last one pushed is the next one popped: the left branch is grown first.
        self.consider(right)
        self.consider(left)

    def freeze(self) -> Tree:
        """Turn the lists into the record, and tabulate the outcomes of every leaf."""
        nodes = self.nodes
        arrays = {name: np.array(getattr(nodes, name), dtype) for name, dtype in NODE_FIELDS.items()}
        leaves = np.flatnonzero(arrays["left"] < 0)
        group = np.empty(len(self.order), dtype=np.int64)
        for number, leaf in enumerate(leaves):
            group[self.order[nodes.start[leaf] : nodes.stop[leaf]]] = number
        tables = tabulate(self.survival, self.weight, group, len(leaves))
        return Tree(**arrays, splits=self.splitter.freeze(nodes.cut), tables=tables)


def grow_tree(
    X: np.ndarray,
    survival: Survival,
    weight: np.ndarray,
    splitter: Splitter,
    limits: GrowthLimits,
    rng: np.random.Generator,
    progress: Callable[[int, int], None] | None = None,
) -> Tree:
    """Grow a survival tree.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Covariates.
    survival : Survival
        Outcomes.
    weight : ndarray of shape (n_samples,)
        How often each row counts; positive.
    splitter : Splitter
        Finds the split of one node.
    limits : GrowthLimits
        When branches end. With a limit on the number of leaves, the leaf with the largest gain is split
        first.
    rng : numpy.random.Generator
        Passed on to the splitter.
    progress : callable, optional
        Called after each split with the number of nodes made and the number of leaves that wait to be split.
    """
    grower = _Grower(X, survival, weight, splitter, limits, rng)
    n_leaves = 1
    while len(grower.frontier) and n_leaves < limits.max_leaf_nodes:
        grower.divide(*grower.frontier.pop())
        n_leaves += 1
        if progress is not None:
            progress(len(grower.nodes.left), len(grower.frontier))
    return grower.freeze()
