"""Growing a tree, all nodes of a level at once.

A tree has many small nodes, and a call from Python for each of them would cost more than the search itself. Here a call
finds the splits of all new nodes, and another one divides the rows of all nodes that are split. With a limit on the
number of leaves one node is split at a time, the one with the largest gain first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from dipolar._core.growth import divide_nodes
from dipolar.curves import tabulate
from dipolar.rows import TrainingRows
from dipolar.survival import Survival
from dipolar.tree.limits import GrowthLimits
from dipolar.tree.record import NODE_FIELDS, Tree
from dipolar.tree.splits import Splits

__all__ = ["Finder", "Splitter", "grow_on", "grow_tree"]


class Splitter(Protocol):
    """How the nodes of trees are split; small, and sent to every worker."""

    @property
    def events_first(self) -> bool:
        """Whether events come first among rows of equal times, or censorings."""
        ...

    def check(self) -> None:
        """Raise ValueError if a parameter is wrong."""
        ...

    def prepare(self, rows: TrainingRows, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return what all trees on these rows, or on samples of them, share; it is sent to every worker once."""
        ...

    def finder(
        self, survival: Survival, weight: np.ndarray, limits: GrowthLimits, rng: np.random.Generator, *prepared: Any
    ) -> Finder:
        """Return what finds the splits of the tree of one sample: how often each row is in it is its weight."""
        ...


class Finder(Protocol):
    """What growing asks of whoever finds the splits of one tree."""

    #: (n_lines, n_sampled) int32, the rows of the sample; the last line in time order. Nodes own slices of all lines.
    orders: np.ndarray
    #: (n,) bool, marked for the rows of every node whose split has been found.
    goes_left: np.ndarray

    @property
    def n_unconverged(self) -> int:
        """In how many nodes a problem was not solved to its tolerance."""
        ...

    def find(self, start: np.ndarray, stop: np.ndarray, parent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the splits of some nodes; return their gains, 0 where there is none, and log-rank statistics.

        The finder keeps what it found, numbered in the order of all calls; `parent` are the numbers of what it found
        for the parents, -1 for the root.
        """
        ...

    def freeze(self, found: np.ndarray) -> Splits:
        """Return the record of the splits, given the number of the find of every node (-1 in leaves)."""
        ...


class _Nodes:
    """The growing tree: room for as many nodes as there can be."""

    def __init__(self, capacity: int) -> None:
        self.n_nodes = 0
        self.left = np.full(capacity, -1, np.int32)
        self.parent = np.full(capacity, -1, np.int32)
        self.depth = np.zeros(capacity, np.int32)
        self.n_samples, self.n_events = np.empty(capacity), np.empty(capacity)
        self.gain, self.logrank = np.zeros(capacity), np.zeros(capacity)
        self.found = np.full(capacity, -1, np.int64)
        self.start, self.stop = np.empty(capacity, np.int64), np.empty(capacity, np.int64)

    def add(self, count: int) -> np.ndarray:
        """Return the numbers of new nodes."""
        new = np.arange(self.n_nodes, self.n_nodes + count)
        self.n_nodes += count
        return new


def grow_tree(
    finder: Finder,
    survival: Survival,
    weight: np.ndarray,
    limits: GrowthLimits,
    progress: Callable[[int, int], None] | None = None,
) -> Tree:
    """Grow a survival tree.

    Parameters
    ----------
    finder : Finder
        Finds the splits of nodes of this sample.
    survival : Survival
        Outcomes of all rows, sorted by time.
    weight : ndarray of shape (n_samples,)
        How often each row is in the sample; rows of weight zero are not.
    limits : GrowthLimits
        When branches end.
    progress : callable, optional
        Called after each level with the number of nodes made and the number of leaves that wait to be split.
    """
    n_sampled = finder.orders.shape[1]
    nodes = _Nodes(2 * n_sampled - 1)
    fresh = nodes.add(1)
    nodes.start[0], nodes.stop[0] = 0, n_sampled
    nodes.n_samples[0], nodes.n_events[0] = weight.sum(), weight @ survival.event

    waiting = np.empty(0, np.int64)  # nodes whose split is found and not carried out
    buffer = np.empty(n_sampled, np.int32)
    n_leaves = 1
    n_found = 0
    while True:
        asked = fresh[_may_split(nodes, fresh, limits)]
        if len(asked):
            above = nodes.parent[asked]
            parent = np.where(above >= 0, nodes.found[above], -1)
            gain, logrank = finder.find(nodes.start[asked], nodes.stop[asked], parent)
            usable = (gain > 0) & (logrank >= limits.min_logrank)
            found = asked[usable]
            nodes.gain[found], nodes.logrank[found] = gain[usable], logrank[usable]
            nodes.found[found] = n_found + np.flatnonzero(usable)
            n_found += len(asked)
            waiting = np.concatenate((waiting, found))
        if progress is not None:
            progress(nodes.n_nodes, len(waiting))
        if not len(waiting) or n_leaves >= limits.max_leaf_nodes:
            break
        chosen, waiting = _choose(nodes, waiting, best_first=np.isfinite(limits.max_leaf_nodes))
        fresh = _divide(nodes, chosen, finder, survival, weight, buffer)
        n_leaves += len(chosen)
    return _freeze(nodes, finder, survival, weight)


def grow_on(
    rows: TrainingRows,
    splitter: Splitter,
    limits: GrowthLimits,
    rng: np.random.Generator,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Tree, Finder]:
    """Grow a single tree on all of some rows; return it, and what has found its splits."""
    prepared = splitter.prepare(rows, rng)
    finder = splitter.finder(rows.survival, rows.weight, limits, rng, *prepared)
    return grow_tree(finder, rows.survival, rows.weight, limits, progress), finder


def _may_split(nodes: _Nodes, fresh: np.ndarray, limits: GrowthLimits) -> np.ndarray:
    return (
        (nodes.depth[fresh] < limits.max_depth)
        & (nodes.n_samples[fresh] >= max(limits.min_samples_split, 2 * limits.min_samples_leaf))
        & (nodes.n_events[fresh] >= 2 * limits.min_events_leaf)
        & (nodes.n_events[fresh] > 0)
        & (nodes.stop[fresh] - nodes.start[fresh] > 1)
    )


def _choose(nodes: _Nodes, waiting: np.ndarray, best_first: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes to split now, and those that go on waiting."""
    if not best_first:
        return waiting, waiting[:0]
    best = int(np.argmax(nodes.gain[waiting]))
    return waiting[best : best + 1], np.delete(waiting, best)


def _divide(
    nodes: _Nodes, chosen: np.ndarray, finder: Finder, survival: Survival, weight: np.ndarray, buffer: np.ndarray
) -> np.ndarray:
    """Carry the splits of some nodes out; return their children."""
    start, stop = nodes.start[chosen], nodes.stop[chosen]
    middle, left_weight, left_events = np.empty_like(start), np.empty(len(chosen)), np.empty(len(chosen))
    divide_nodes(
        finder.orders, start, stop, finder.goes_left, weight, survival.event, buffer, middle, left_weight, left_events
    )
    children = nodes.add(2 * len(chosen))
    left, right = children[::2], children[1::2]
    nodes.left[chosen] = left
    nodes.parent[left] = nodes.parent[right] = chosen
    nodes.depth[left] = nodes.depth[right] = nodes.depth[chosen] + 1
    nodes.start[left], nodes.stop[left] = start, middle
    nodes.start[right], nodes.stop[right] = middle, stop
    nodes.n_samples[left], nodes.n_events[left] = left_weight, left_events
    nodes.n_samples[right] = nodes.n_samples[chosen] - left_weight
    nodes.n_events[right] = nodes.n_events[chosen] - left_events
    return children


def _freeze(nodes: _Nodes, finder: Finder, survival: Survival, weight: np.ndarray) -> Tree:
    """Turn the nodes into the record, and tabulate the outcomes of every leaf."""
    n = nodes.n_nodes
    is_split = nodes.left[:n] >= 0
    nodes.gain[:n][~is_split] = nodes.logrank[:n][~is_split] = 0.0
    leaves = np.flatnonzero(~is_split)
    sizes = (nodes.stop - nodes.start)[leaves]
    in_order = np.argsort(nodes.start[leaves])
    group = np.empty(finder.orders.shape[1], np.int64)
    group[:] = np.repeat(in_order, sizes[in_order])
    rows = finder.orders[-1]
    tables = tabulate(survival.take(rows), weight[rows], group, len(leaves))
    arrays = {name: getattr(nodes, name)[:n].astype(dtype) for name, dtype in NODE_FIELDS.items()}
    return Tree(**arrays, splits=finder.freeze(np.where(is_split, nodes.found[:n], -1)), tables=tables)
